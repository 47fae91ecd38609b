-- Show the version before the current one, or withdraw the release if there is none; for the
-- steward. See ask.sql.
CREATE PROCEDURE pganon.revert_release(release text, wait interval DEFAULT '1 hour')
    LANGUAGE plpgsql
AS $$
DECLARE
    failed pg_catalog.text;
    said pg_catalog.text;
    hint pg_catalog.text;
BEGIN
    CALL pganon.ask('revert', $1, NULL, $2, failed, said, hint);
    IF failed IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = failed, MESSAGE = said, HINT = hint;
    END IF;
END
$$;

COMMENT ON PROCEDURE pganon.revert_release(text, interval) IS
    'show the version before, or withdraw the release if there is none; waits';
