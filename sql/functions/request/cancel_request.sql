-- Take back a request that waits still: its requester, or the steward; see end_request.sql.
CREATE FUNCTION pganon.cancel_request(id bigint) RETURNS bigint
    LANGUAGE sql VOLATILE
RETURN pganon.act('cancel', p_request => $1);

COMMENT ON FUNCTION pganon.cancel_request(bigint) IS 'take back a request that waits still; gives its number';
