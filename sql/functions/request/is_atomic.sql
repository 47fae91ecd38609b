-- Whether a message is that of a COMMIT where none is possible, in a transaction block or in a
-- function. A function gets that one always, so it tries, and compares; messages have languages.
CREATE FUNCTION pganon.is_atomic(p_message text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    COMMIT;
    RETURN false;
EXCEPTION WHEN invalid_transaction_termination THEN
    RETURN SQLERRM = p_message;
END
$$;

COMMENT ON FUNCTION pganon.is_atomic(text) IS
    'whether this is the message of a COMMIT where no transaction can be ended';
