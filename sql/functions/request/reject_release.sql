-- Reject a release that waits for it, as a second person; see decide_request.sql.
CREATE FUNCTION pganon.reject_release(id bigint, reason text) RETURNS bigint
    LANGUAGE sql VOLATILE
RETURN pganon.act('reject', p_request => $1, p_reason => $2);

COMMENT ON FUNCTION pganon.reject_release(bigint, text) IS
    'reject a release that waits for a second person; gives the number of its request';
