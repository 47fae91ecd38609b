-- Points out a pganon that is here already, without being an extension.
DO $$
BEGIN
    IF to_regclass('pganon_private.migration') IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA123',
            MESSAGE = 'pganon is in this database already, and is not an extension',
            HINT = CASE WHEN to_regnamespace('pganon') IS NULL THEN 'run pganon init first; then ' ELSE '' END
                || 'CREATE EXTENSION pganon VERSION ''unpackaged''; ALTER EXTENSION pganon UPDATE';
    END IF;
END
$$;
