-- Ask for a release and wait for it. See ask.sql for its form.
CREATE PROCEDURE pganon.release(
    release text, parameters jsonb DEFAULT '{}', wait interval DEFAULT '1 hour'
)
    LANGUAGE plpgsql
AS $$
DECLARE
    failed pg_catalog.text;
    said pg_catalog.text;
    hint pg_catalog.text;
BEGIN
    CALL pganon.ask(NULL, $1, $2, $3, failed, said, hint);
    IF failed IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = failed, MESSAGE = said, HINT = hint;
    END IF;
END
$$;

COMMENT ON PROCEDURE pganon.release(text, jsonb, interval) IS
    'ask for a release to be made, and wait for it';
