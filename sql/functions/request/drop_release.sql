-- Drop a release, with its views and stored tables; for the steward. See await_request.sql.
CREATE PROCEDURE pganon.drop_release(release text, wait interval DEFAULT '1 hour')
    LANGUAGE plpgsql
AS $$
DECLARE
    queued bigint;
BEGIN
    CALL pganon.assert_may_wait('drop_release', 'request_drop');
    queued := pganon.request_drop($1);
    COMMIT;
    CALL pganon.await_request(queued, $2);
END
$$;

COMMENT ON PROCEDURE pganon.drop_release(text, interval) IS
    'drop a release, with its views and stored tables; waits';
