-- Applies a migration unless the database has it: %s are its number, text, name and checksum, and
-- the version of the program.
DO $pganon$
BEGIN
    IF NOT EXISTS (SELECT FROM pganon_private.migration AS m WHERE m.number = %s) THEN
        EXECUTE %s;
        INSERT INTO pganon_private.migration (number, name, checksum, program_version)
        VALUES (%s, %s, %s, %s);
    END IF;
END
$pganon$;
