-- Takes every member out of the extension, and drops what is left of it.
DO $$
DECLARE
    member record;
BEGIN
    FOR member IN
        SELECT e.oid AS extension, d.classid, d.objid, o.type, o.identity
        FROM pg_extension AS e
        JOIN pg_depend AS d
            ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
        CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) AS o
        WHERE e.extname = 'pganon'
        ORDER BY d.classid = 'pg_type'::regclass
    LOOP
        -- Row types leave with their tables, on most servers.
        IF EXISTS (
            SELECT
            FROM pg_depend AS d
            WHERE d.classid = member.classid AND d.objid = member.objid
                AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = member.extension
        ) THEN
            EXECUTE format('ALTER EXTENSION pganon DROP %s %s', member.type, member.identity);
        END IF;
    END LOOP;
    DROP EXTENSION pganon;
END
$$;
