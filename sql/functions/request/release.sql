-- Ask for a release and wait for it. See await_request.sql for its form.
CREATE PROCEDURE pganon.release(
    release text, parameters jsonb DEFAULT '{}', wait interval DEFAULT '1 hour'
)
    LANGUAGE plpgsql
AS $$
DECLARE
    queued bigint;
BEGIN
    CALL pganon.assert_may_wait('release', 'request_release');
    queued := pganon.request_release($1, $2);
    COMMIT;
    CALL pganon.await_request(queued, $3);
END
$$;

COMMENT ON PROCEDURE pganon.release(text, jsonb, interval) IS
    'ask for a release to be made, and wait for it';
