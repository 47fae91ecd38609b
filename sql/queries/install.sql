-- Queries of the installer. `pganon_data` holds published tables and outlives an uninstall.

-- lock --
-- One installer at a time per database; released at the end of the transaction.
SELECT pg_catalog.pg_advisory_xact_lock(7161736300452069);

-- schemas --
-- Which of pganon's schemas exist, and who owns them.
SELECT n.nspname::text, pg_catalog.pg_get_userbyid(n.nspowner)::text
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname IN ('pganon', 'pganon_private', 'pganon_work', 'pganon_stage', 'pganon_data');

-- has_migrations --
-- Whether the table of migrations exists; asks the catalog, which everybody may read.
SELECT EXISTS (
    SELECT
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'pganon_private' AND c.relname = 'migration' AND c.relkind = 'r'
);

-- may_create --
-- Whether the current role may create schemas in this database.
SELECT pg_catalog.has_database_privilege(
    current_user, pg_catalog.current_database(), 'CREATE'
), pg_catalog.current_database()::text, current_user::text;

-- migrations --
-- Applied migrations in order.
SELECT m.number, m.name, m.checksum, m.program_version
FROM pganon_private.migration AS m
ORDER BY m.number;

-- add_migration --
-- Remember an applied migration.
INSERT INTO pganon_private.migration (number, name, checksum, program_version)
VALUES (%s, %s, %s, %s);

-- object_set --
-- The set of repeatable objects that is in the database now.
SELECT s.checksum, s.manifest, s.program_version
FROM pganon_private.object_set AS s
ORDER BY s.number DESC
LIMIT 1;

-- add_object_set --
-- Remember the set of repeatable objects that was just created.
INSERT INTO pganon_private.object_set (checksum, manifest, program_version)
VALUES (%s, %s, %s);

-- drop_function --
-- One DROP statement per function or procedure of this name in schema pganon.
SELECT pg_catalog.format(
    'DROP %%s %%s',
    CASE p.prokind WHEN 'p' THEN 'PROCEDURE' WHEN 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END,
    p.oid::pg_catalog.regprocedure
)
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = 'pganon' AND p.proname = %s;

-- drop_view --
-- The DROP statement of the view of this name in schema pganon.
SELECT pg_catalog.format('DROP VIEW %%s', c.oid::pg_catalog.regclass)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'pganon' AND c.relname = %s AND c.relkind = 'v';

-- foreign_privileges --
-- Privileges of others than the owner on pganon's schemas and what is in them, with their REVOKE.
WITH ours AS (
    SELECT n.oid, n.nspname, n.nspowner, n.nspacl
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname = ANY (%s)
),
held AS (
    SELECT 'SCHEMA' AS kind, pg_catalog.format('%%I', o.nspname) AS identity,
        o.nspowner AS owner, o.nspacl AS privileges
    FROM ours AS o
    UNION ALL
    SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
        c.oid::pg_catalog.regclass::text, c.relowner, c.relacl
    FROM pg_catalog.pg_class AS c JOIN ours AS o ON o.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
    UNION ALL
    SELECT 'TABLE', c.oid::pg_catalog.regclass::text, c.relowner, a.attacl
    FROM pg_catalog.pg_attribute AS a
    JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
    JOIN ours AS o ON o.oid = c.relnamespace
    WHERE a.attacl IS NOT NULL AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    UNION ALL
    SELECT 'ROUTINE', p.oid::pg_catalog.regprocedure::text, p.proowner,
        coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))
    FROM pg_catalog.pg_proc AS p JOIN ours AS o ON o.oid = p.pronamespace
)
SELECT DISTINCT
    pg_catalog.format('REVOKE ALL ON %%s %%s FROM %%s CASCADE', h.kind, h.identity, g.grantee),
    pg_catalog.format('%%s %%s to %%s', pg_catalog.lower(h.kind), h.identity, g.grantee)
FROM held AS h
CROSS JOIN LATERAL pg_catalog.aclexplode(h.privileges) AS acl
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = acl.grantee
CROSS JOIN LATERAL (
    SELECT CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.format('%%I', r.rolname) END AS grantee
) AS g
WHERE acl.grantee <> h.owner;

-- data_relations --
-- How many relations schema pganon_data holds.
SELECT pg_catalog.count(*)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'pganon_data' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S');
