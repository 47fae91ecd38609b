-- What is reported of a release that waits, for who may decide about it. `pganon report --request` makes a
-- page of it.
CREATE FUNCTION pganon.request_evidence(id bigint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kept jsonb;
BEGIN
    SELECT h.evidence INTO kept FROM pganon.held_releases AS h WHERE h.request = $1;
    IF kept IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('there is no request %s about which "%s" may decide', $1, current_user),
            HINT = 'SELECT * FROM pganon.requests';
    END IF;
    RETURN kept;
END
$$;

COMMENT ON FUNCTION pganon.request_evidence(bigint) IS
    'what is reported of a release that waits for your approval, before you decide';
