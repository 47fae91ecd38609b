-- Drop a release, with its views and stored tables; for the steward. See ask.sql.
CREATE PROCEDURE pganon.drop_release(release text, wait interval DEFAULT '1 hour')
    LANGUAGE plpgsql
AS $$
DECLARE
    failed pg_catalog.text;
    said pg_catalog.text;
    hint pg_catalog.text;
BEGIN
    CALL pganon.ask('drop', $1, NULL, $2, failed, said, hint);
    IF failed IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = failed, MESSAGE = said, HINT = hint;
    END IF;
END
$$;

COMMENT ON PROCEDURE pganon.drop_release(text, interval) IS
    'drop a release, with its views and stored tables; waits';
