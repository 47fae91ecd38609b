-- Show the version before the current one, or withdraw the release if there is none; for the
-- steward. See await_request.sql.
CREATE PROCEDURE pganon.revert_release(release text, wait interval DEFAULT '1 hour')
    LANGUAGE plpgsql
AS $$
DECLARE
    queued bigint;
BEGIN
    CALL pganon.assert_may_wait('revert_release', 'request_revert');
    queued := pganon.request_revert($1);
    COMMIT;
    CALL pganon.await_request(queued, $2);
END
$$;

COMMENT ON PROCEDURE pganon.revert_release(text, interval) IS
    'show the version before, or withdraw the release if there is none; waits';
