-- Ask for a release: queues a request for the newest revision of its policy, for a worker to
-- serve, and gives its number; see queue_request.sql. Inlined, so that errors have no line of it.
CREATE FUNCTION pganon.request_release(
    release text, parameters jsonb DEFAULT '{}', not_before timestamptz DEFAULT NULL
)
    RETURNS bigint
    LANGUAGE sql VOLATILE
RETURN pganon.act('request', p_release => $1, p_parameters => $2, p_not_before => $3);

COMMENT ON FUNCTION pganon.request_release(text, jsonb, timestamptz) IS
    'ask for a release to be made; gives the number of the request';
