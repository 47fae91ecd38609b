-- Take back a request that waits still: its requester, or the steward.
CREATE FUNCTION pganon.cancel_request(id bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    who text := pganon.caller();
    found_state text;
BEGIN
    SELECT r.state INTO found_state
    FROM pganon_private.request AS r
    WHERE r.id = $1 AND (r.requester = who OR pg_has_role(who, current_user, 'USAGE'))
    FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('there is no request %s of "%s"', $1, who),
            HINT = 'SELECT * FROM pganon.requests';
    END IF;
    IF found_state <> 'waiting' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA409',
            MESSAGE = format('request %s does not wait any more: it is %s', $1, found_state),
            HINT = 'only a request that waits can be cancelled';
    END IF;
    UPDATE pganon_private.request AS r
    SET state = 'cancelled', finished_at = clock_timestamp()
    WHERE r.id = $1;
END
$$;

COMMENT ON FUNCTION pganon.cancel_request(bigint) IS 'take back a request that waits still';
