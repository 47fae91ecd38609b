-- Makes what `pganon init` made members of the extension: %s are the number of migrations, the
-- checksum of functions and views, and the names of tables. Tables of runs are no members.
DO $$
DECLARE
    statement text;
BEGIN
    IF (SELECT count(*) FROM pganon_private.migration) <> %s
        OR (SELECT s.checksum FROM pganon_private.object_set AS s ORDER BY s.number DESC LIMIT 1) <> %s
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA124',
            MESSAGE = 'pganon in this database is of another version than the files of the extension',
            HINT = 'DROP EXTENSION pganon, which drops nothing else; run pganon upgrade; then anew';
    END IF;
    FOR statement IN
        SELECT format('ALTER EXTENSION pganon ADD %%s %%s', o.type, o.identity)
        FROM (
            SELECT 'pg_namespace'::regclass, n.oid
            FROM pg_namespace AS n
            WHERE n.nspname IN ('pganon', 'pganon_private', 'pganon_work', 'pganon_stage', 'pganon_data')
            UNION ALL
            SELECT 'pg_class'::regclass, c.oid
            FROM pg_class AS c
            WHERE c.relnamespace = 'pganon'::regnamespace AND c.relkind = 'v'
            UNION ALL
            SELECT 'pg_class'::regclass, t.oid
            FROM pg_class AS c
            -- Columns that number rows have sequences, which belong to the table.
            CROSS JOIN LATERAL (
                SELECT c.oid
                UNION ALL
                SELECT q.oid
                FROM pg_depend AS d
                JOIN pg_class AS q ON q.oid = d.objid AND q.relkind = 'S'
                WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
                    AND d.refobjid = c.oid AND d.deptype = 'i'
            ) AS t
            WHERE c.relnamespace = 'pganon_private'::regnamespace AND c.relname = ANY (%s::name[])
            UNION ALL
            SELECT 'pg_proc'::regclass, p.oid
            FROM pg_proc AS p
            WHERE p.pronamespace IN ('pganon'::regnamespace, 'pganon_private'::regnamespace)
        ) AS m(classid, objid)
        CROSS JOIN LATERAL pg_identify_object(m.classid, m.objid, 0) AS o
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
