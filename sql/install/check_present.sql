-- An extension of nothing would keep the name from who installs pganon.
DO $$
BEGIN
    IF to_regclass('pganon_private.migration') IS NULL OR to_regnamespace('pganon') IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA123',
            MESSAGE = 'pganon is not installed in this database',
            HINT = 'CREATE EXTENSION pganon, without a version';
    END IF;
END
$$;
