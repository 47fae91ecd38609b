-- Cancel a request that waits still, for its requester or the steward.
CREATE FUNCTION pganon.end_request(p_actor text, p_actor_id oid, p_id bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_state text;
BEGIN
    SELECT r.state INTO found_state
    FROM pganon_private.request AS r
    WHERE r.id = p_id AND (
        r.requester_id = p_actor_id AND r.requester = p_actor OR pganon.is_steward(p_actor_id)
    )
    FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('there is no request %s of "%s"', p_id, p_actor),
            HINT = 'SELECT * FROM pganon.requests';
    END IF;
    IF found_state <> 'waiting' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA409',
            MESSAGE = format('request %s does not wait any more: it is %s', p_id, found_state),
            HINT = 'only a request that waits can be cancelled';
    END IF;
    UPDATE pganon_private.request AS r
    SET state = 'cancelled', finished_at = clock_timestamp()
    WHERE r.id = p_id;
END
$$;

COMMENT ON FUNCTION pganon.end_request(text, oid, bigint) IS 'cancel a request that waits still';
