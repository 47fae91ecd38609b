-- Refuse a CALL that could not end its transaction, before it queues anything: a request that is not
-- committed reaches no worker. See await_request.sql for its form.
CREATE PROCEDURE pganon.assert_may_wait(p_call text, p_queue text)
    LANGUAGE plpgsql
AS $$
BEGIN
    COMMIT;
EXCEPTION WHEN invalid_transaction_termination THEN
    -- In a block with EXCEPTION it fails always, but elsewhere with another message.
    IF pganon.is_atomic(SQLERRM) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA405',
            MESSAGE = pg_catalog.format(
                'CALL pganon.%s(...) cannot wait inside a transaction', p_call
            ),
            HINT = pg_catalog.format(
                'call it in autocommit mode, or queue with SELECT pganon.%s(...)', p_queue
            );
    END IF;
END
$$;

COMMENT ON PROCEDURE pganon.assert_may_wait(text, text) IS
    'refuse a CALL inside a transaction, which could not wait';
