-- Put a request in the queue, or find an equal one of the same role that waits; gives its number.
-- Who inserts first is waited for, so an open transaction holds up its own role alone.
CREATE FUNCTION pganon.enqueue(
    p_release text,
    p_revision integer,
    p_kind text,
    p_origin text,
    p_parameters jsonb,
    p_requester_id oid,
    p_not_before timestamptz
)
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_id bigint;
BEGIN
    LOOP
        INSERT INTO pganon_private.request (
            release, revision, kind, origin, parameters, requester, requester_id, not_before, due_at
        )
        VALUES (
            p_release, p_revision, p_kind, p_origin, p_parameters, pg_get_userbyid(p_requester_id),
            p_requester_id, p_not_before, greatest(
                clock_timestamp(), p_not_before, CASE p_origin WHEN 'request' THEN
                    pganon.slowed_until(p_release, p_requester_id) END
            )
        )
        ON CONFLICT DO NOTHING
        RETURNING id INTO found_id;
        IF FOUND THEN
            RETURN found_id;
        END IF;
        found_id := pganon.waiting_request(
            p_release, p_revision, p_kind, p_parameters, p_requester_id, p_not_before
        );
        IF found_id IS NOT NULL THEN
            RETURN found_id;
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.enqueue(text, integer, text, text, jsonb, oid, timestamptz) IS
    'put a request in the queue, or find an equal one that waits';
