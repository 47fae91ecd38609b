-- Drop a release, with its views and stored tables; for the steward. See release.sql.
CREATE PROCEDURE pganon.drop_release(release text, wait interval DEFAULT '1 hour')
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
                MESSAGE = 'CALL pganon.drop_release(...) cannot wait inside a transaction',
                HINT = 'call it in autocommit mode, or queue with SELECT pganon.request_drop(...)';
        END IF;
    END;
    queued := pganon.request_drop($1);
    COMMIT;
    CALL pganon.await_request(queued, $2);
END
$$;

COMMENT ON PROCEDURE pganon.drop_release(text, interval) IS
    'drop a release, with its views and stored tables; waits';
