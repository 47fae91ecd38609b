-- Say what is wrong with a CALL that could not end its transaction, before it queues anything: a request
-- that is not committed reaches no worker. See ask.sql for its form.
CREATE PROCEDURE pganon.may_wait(p_change text, INOUT failed text, INOUT said text, INOUT hint text)
    LANGUAGE plpgsql
AS $$
BEGIN
    COMMIT;
EXCEPTION WHEN invalid_transaction_termination THEN
    -- In a block with EXCEPTION it fails always, but elsewhere with another message.
    IF pganon.is_atomic(SQLERRM) THEN
        failed := 'PA405';
        said := pg_catalog.format(
            'CALL pganon.%s(...) cannot wait inside a transaction',
            pg_catalog.concat_ws('_', p_change, 'release')
        );
        hint := pg_catalog.format(
            'call it in autocommit mode, or queue with SELECT pganon.request_%s(...)',
            coalesce(p_change, 'release')
        );
    END IF;
END
$$;

COMMENT ON PROCEDURE pganon.may_wait(text, text, text, text) IS
    'what is wrong with a CALL inside a transaction, which could not wait';
