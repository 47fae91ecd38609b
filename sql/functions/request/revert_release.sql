-- Show the version before the current one, or withdraw the release if there is none; for the
-- steward. See release.sql.
CREATE PROCEDURE pganon.revert_release(release text, wait interval DEFAULT '1 hour')
    LANGUAGE plpgsql
AS $$
DECLARE
    queued bigint;
BEGIN
    BEGIN
        COMMIT;
    EXCEPTION WHEN invalid_transaction_termination THEN
        IF pganon.is_atomic(SQLERRM) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA405',
                MESSAGE = 'CALL pganon.revert_release(...) cannot wait inside a transaction',
                HINT = 'call it in autocommit mode, or queue with SELECT pganon.request_revert(...)';
        END IF;
    END;
    queued := pganon.request_revert($1);
    COMMIT;
    CALL pganon.await_request(queued, $2);
END
$$;

COMMENT ON PROCEDURE pganon.revert_release(text, interval) IS
    'show the version before, or withdraw the release if there is none; waits';
