-- Ask for a release and wait for it. Finds out whether it may commit before it queues anything: a
-- request that is not committed reaches no worker. See await_request.sql for its form.
CREATE PROCEDURE pganon.release(
    release text, parameters jsonb DEFAULT '{}', wait interval DEFAULT '1 hour'
)
    LANGUAGE plpgsql
AS $$
DECLARE
    queued bigint;
BEGIN
    BEGIN
        COMMIT;
    EXCEPTION WHEN invalid_transaction_termination THEN
        -- In a block with EXCEPTION it fails always, but elsewhere with another message.
        IF pganon.is_atomic(SQLERRM) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA405',
                MESSAGE = 'CALL pganon.release(...) cannot wait inside a transaction',
                HINT = 'call it in autocommit mode, or queue with SELECT pganon.request_release(...)';
        END IF;
    END;
    queued := pganon.request_release($1, $2);
    COMMIT;
    CALL pganon.await_request(queued, $3);
END
$$;

COMMENT ON PROCEDURE pganon.release(text, jsonb, interval) IS
    'ask for a release to be made, and wait for it';
