-- Refuse what a transaction has opened. `p_before` has the texts of beyond_policy.sql, of every schema,
-- from its beginning: what somebody else granted by intention stays. Event triggers can grant at every
-- command, and other sessions at any time, so this is asked last.
CREATE FUNCTION pganon.assert_unopened(p_before text[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    opened constant text[] := ARRAY(
        SELECT b.held
        FROM pganon.beyond_policy() AS b
        WHERE b.held NOT IN (SELECT unnest(p_before))
        ORDER BY b.held
    );
BEGIN
    IF opened <> '{}' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA103',
            MESSAGE = 'others may do more than the policies say: ' || array_to_string(opened[1:5], ', ')
                || CASE WHEN cardinality(opened) > 5
                    THEN format(' and %s more', cardinality(opened) - 5) ELSE '' END,
            HINT = 'the transaction was undone; an event trigger, or whom somebody let grant, has done that: have'
                ' it spare what pganon has and shows, or the role revoke it';
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.assert_unopened(text[]) IS 'refuse what a transaction has opened to others';
