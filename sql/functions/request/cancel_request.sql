-- Take back a request that waits still: its requester, or the steward; see end_request.sql.
CREATE FUNCTION pganon.cancel_request(id bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pganon.act('cancel', p_request => $1);
END
$$;

COMMENT ON FUNCTION pganon.cancel_request(bigint) IS 'take back a request that waits still';
