-- Queries of the installer. `pganon_data` holds published tables and outlives an uninstall.

-- lock --
-- One installer at a time, until the end of the transaction; no other role can take this lock.
LOCK TABLE pganon_private.migration IN SHARE ROW EXCLUSIVE MODE;

-- hold_releases --
-- Keep the lists of releases, guarantees and columns as they are until the transaction ends.
LOCK TABLE pganon.releases, pganon.guarantees, pganon.release_columns IN ACCESS SHARE MODE;

-- hold_actions --
-- Keep the view by which roles act, and its table, as they are until the transaction ends.
LOCK TABLE pganon.action IN ACCESS SHARE MODE;

-- hold_held --
-- Keep the list of releases that wait as it is until the transaction ends.
LOCK TABLE pganon.held_releases IN ACCESS SHARE MODE;

-- session --
-- Who logged in, and whether that role is a superuser or can become one. Any membership counts: with the
-- admin option it can be made one that allows that.
SELECT session_user::text, EXISTS (
    SELECT
    FROM pg_catalog.pg_roles AS r
    WHERE r.rolsuper AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
);

-- can_become --
-- Whether who logged in can take a role by SET ROLE. A membership without that, which there is from
-- PostgreSQL 16 on, does not count.
SELECT pg_catalog.pg_has_role(
    session_user, %(role)s::name,
    CASE
        WHEN pg_catalog.current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET'
    END
);

-- foreign_objects --
-- What stands in pganon's schemas and is not the owner's, or would run code of somebody else when
-- pganon reads or writes there. Asks the catalog alone: nothing of what it finds is executed.
WITH ours AS (
    SELECT n.oid, n.nspname
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname = ANY (%(schemas)s)
),
owner AS (
    SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = %(owner)s
),
relation AS (
    SELECT c.oid, c.relkind, c.relowner, c.relrowsecurity, o.nspname,
        c.relname ~ '^(r[0-9]+|set_aside)_' AS of_run
    FROM pg_catalog.pg_class AS c
    JOIN ours AS o ON o.oid = c.relnamespace
),
part(classid, objid, of_run) AS (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, r.oid, r.of_run FROM relation AS r
    UNION ALL
    SELECT 'pg_catalog.pg_rewrite'::pg_catalog.regclass, w.oid, r.of_run
    FROM pg_catalog.pg_rewrite AS w JOIN relation AS r ON r.oid = w.ev_class
    UNION ALL
    SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid, r.of_run
    FROM pg_catalog.pg_constraint AS k JOIN relation AS r ON r.oid = k.conrelid
    UNION ALL
    SELECT 'pg_catalog.pg_attrdef'::pg_catalog.regclass, d.oid, r.of_run
    FROM pg_catalog.pg_attrdef AS d JOIN relation AS r ON r.oid = d.adrelid
    UNION ALL
    SELECT 'pg_catalog.pg_trigger'::pg_catalog.regclass, t.oid, r.of_run
    FROM pg_catalog.pg_trigger AS t JOIN relation AS r ON r.oid = t.tgrelid
    WHERE NOT t.tgisinternal
    UNION ALL
    SELECT 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, x.oid, r.of_run
    FROM pg_catalog.pg_statistic_ext AS x JOIN relation AS r ON r.oid = x.stxrelid
),
found(classid, objid) AS (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, r.oid
    FROM relation AS r CROSS JOIN owner AS o
    WHERE r.relowner <> o.oid OR r.relrowsecurity
        OR NOT (
            r.relkind IN ('r', 'i', 'S')
            OR (r.relkind = 'v' AND (
                r.nspname = 'pganon' OR (r.nspname = 'pganon_private' AND r.of_run)
            ))
        )
    UNION
    -- Rows of children are rows of the parent.
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, r.oid
    FROM relation AS r JOIN pg_catalog.pg_inherits AS h ON r.oid IN (h.inhrelid, h.inhparent)
    UNION
    SELECT 'pg_catalog.pg_rewrite'::pg_catalog.regclass, w.oid
    FROM pg_catalog.pg_rewrite AS w JOIN relation AS r ON r.oid = w.ev_class
    WHERE r.relkind <> 'v' OR w.rulename <> '_RETURN'
    UNION
    SELECT 'pg_catalog.pg_trigger'::pg_catalog.regclass, t.oid
    FROM pg_catalog.pg_trigger AS t
    JOIN relation AS r ON r.oid = t.tgrelid
    JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
    CROSS JOIN owner AS o
    WHERE NOT t.tgisinternal
        AND (p.proowner <> o.oid OR p.pronamespace NOT IN (SELECT u.oid FROM ours AS u))
    UNION
    -- Changes here would reach tables of others.
    SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid
    FROM pg_catalog.pg_constraint AS k
    JOIN relation AS r ON r.oid = k.confrelid
    WHERE k.conrelid NOT IN (SELECT m.oid FROM relation AS m)
    UNION
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid
    FROM pg_catalog.pg_proc AS p
    -- Not a join: the planner would go through our schemas for each of thousands of functions.
    WHERE p.pronamespace = ANY (ARRAY(SELECT u.oid FROM ours AS u))
        AND p.proowner <> (SELECT o.oid FROM owner AS o)
    UNION
    SELECT 'pg_catalog.pg_type'::pg_catalog.regclass, t.oid
    FROM pg_catalog.pg_type AS t JOIN ours AS u ON u.oid = t.typnamespace CROSS JOIN owner AS o
    WHERE t.typowner <> o.oid
    UNION
    -- Built-in objects are pinned and have no entry. Not joins: to plan seven would take most of
    -- the time that a command spends here.
    SELECT d.classid, d.objid
    FROM part AS a
    JOIN pg_catalog.pg_depend AS d ON d.classid = a.classid AND d.objid = a.objid
    WHERE (SELECT o.oid FROM owner AS o) <> CASE d.refclassid
        WHEN 'pg_catalog.pg_proc'::pg_catalog.regclass
            THEN (SELECT p.proowner FROM pg_catalog.pg_proc AS p WHERE p.oid = d.refobjid)
        WHEN 'pg_catalog.pg_class'::pg_catalog.regclass
            THEN (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = d.refobjid)
        WHEN 'pg_catalog.pg_operator'::pg_catalog.regclass
            THEN (SELECT e.oprowner FROM pg_catalog.pg_operator AS e WHERE e.oid = d.refobjid)
        WHEN 'pg_catalog.pg_type'::pg_catalog.regclass
            THEN (
                SELECT t.typowner FROM pg_catalog.pg_type AS t
                WHERE t.oid = d.refobjid AND NOT a.of_run
            )
        END
)
SELECT pg_catalog.pg_describe_object(f.classid, f.objid, 0)
FROM found AS f
ORDER BY 1;

-- schemas --
-- Which of pganon's schemas exist, who owns them, and whether it is the one with the table of migrations;
-- asks the catalog, which everybody may read.
SELECT
    n.nspname::text, pg_catalog.pg_get_userbyid(n.nspowner)::text,
    n.nspname = 'pganon_private' AND EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c
        WHERE c.relnamespace = n.oid AND c.relname = 'migration' AND c.relkind = 'r'
    )
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname IN ('pganon', 'pganon_private', 'pganon_work', 'pganon_stage', 'pganon_data');

-- may_create --
-- Whether the current role may create schemas in this database.
SELECT pg_catalog.has_database_privilege(
    current_user, pg_catalog.current_database(), 'CREATE'
), pg_catalog.current_database()::text, current_user::text;

-- applied --
-- Applied migrations in order, and the set of repeatable objects that is in the database now.
SELECT
    (
        SELECT coalesce(jsonb_agg(
            jsonb_build_array(m.number, m.name, m.checksum, m.program_version) ORDER BY m.number
        ), '[]')
        FROM pganon_private.migration AS m
    ),
    s.checksum, s.manifest, s.program_version
FROM (VALUES (1)) AS one(n)
LEFT JOIN LATERAL (
    SELECT o.checksum, o.manifest, o.program_version
    FROM pganon_private.object_set AS o
    ORDER BY o.number DESC
    LIMIT 1
) AS s ON true;

-- add_migration --
-- Remember an applied migration.
INSERT INTO pganon_private.migration (number, name, checksum, program_version)
VALUES (%s, %s, %s, %s);

-- add_object_set --
-- Remember the set of repeatable objects that was just created.
INSERT INTO pganon_private.object_set (checksum, manifest, program_version)
VALUES (%s, %s, %s);

-- extension --
-- The version of the extension that schema pganon is a member of.
SELECT e.extversion
FROM pg_catalog.pg_extension AS e
JOIN pg_catalog.pg_depend AS d
    ON d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.refobjid = e.oid
    AND d.classid = 'pg_catalog.pg_namespace'::pg_catalog.regclass AND d.deptype = 'e'
JOIN pg_catalog.pg_namespace AS n ON n.oid = d.objid
WHERE e.extname = 'pganon' AND n.nspname = 'pganon';

-- extension_available --
-- Whether the server has files of the extension.
SELECT a.default_version
FROM pg_catalog.pg_available_extensions AS a
WHERE a.name = 'pganon';

-- extension_path --
-- How the server would update the extension from one version to another.
SELECT p.path
FROM pg_catalog.pg_extension_update_paths('pganon') AS p
WHERE p.source = %s AND p.target = %s AND p.path IS NOT NULL;

-- make_secret --
-- The secret of the installation. No migration makes it: a dump could not bring what the script of the
-- extension has made.
INSERT INTO pganon_private.installation_secret (key, seed_a, seed_b)
SELECT
    made.key,
    ('x' || encode(substr(sha256(made.key || 'seed a'::bytea), 1, 8), 'hex'))::bit(64)::bigint,
    ('x' || encode(substr(sha256(made.key || 'seed b'::bytea), 1, 8), 'hex'))::bit(64)::bigint
FROM (
    -- OFFSET keeps the planner from evaluating the random expression more than once.
    SELECT sha256(
        uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
        || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    ) AS key
    OFFSET 0
) AS made
ON CONFLICT DO NOTHING;

-- lacks_secret --
-- Whether nothing was published yet, and there is no secret of the installation. Another one than
-- that of the versions would make every copy of their sources a new source.
SELECT NOT EXISTS (SELECT FROM pganon_private.installation_secret)
    AND NOT EXISTS (SELECT FROM pganon_private.version);

-- foreign_privileges --
-- Statements that take from others what they may do with these schemas and their objects.
SELECT DISTINCT g.revoke FROM pganon.granted(%s::text[]) AS g;

-- harmless_view --
-- Whether reading a view runs nothing but immutable functions of the server and these: it is pganon's owner's, and
-- so are the plain tables that it reads, and it uses no object that anybody made but types of superusers, and views that the caller
-- has looked at before. Functions of the server are no dependencies, so they are looked up in the stored tree.
SELECT v.relkind = 'v'
    AND v.relowner = (SELECT p.nspowner FROM pg_catalog.pg_namespace AS p WHERE p.nspname = 'pganon')
    AND NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
        LEFT JOIN pg_catalog.pg_class AS c
            ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND c.oid = d.refobjid
        LEFT JOIN pg_catalog.pg_type AS t
            ON d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND t.oid = d.refobjid
        LEFT JOIN pg_catalog.pg_roles AS o ON o.oid = t.typowner
        WHERE w.ev_class = v.oid
            AND (c.oid = v.oid
                OR (c.relkind = 'r' AND c.relowner = v.relowner AND NOT c.relrowsecurity)
                OR (c.relkind = 'v' AND c.relnamespace = v.relnamespace
                    AND c.relname = ANY (%(reads)s::pg_catalog.name[]))
                OR o.rolsuper) IS NOT TRUE
    )
    AND NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_rewrite AS w
        CROSS JOIN LATERAL pg_catalog.regexp_matches(
            w.ev_action::pg_catalog.text, ':(?:funcid|aggfnoid|winfnoid) ([0-9]+)', 'g'
        ) AS m(parts)
        LEFT JOIN pg_catalog.pg_proc AS p ON p.oid = m.parts[1]::pg_catalog.oid
            AND p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
        WHERE w.ev_class = v.oid
            AND (p.provolatile = 'i' OR p.proname = ANY (%(functions)s::pg_catalog.name[])) IS NOT TRUE
    )
    -- The planner computes constants of indexes, statistics, checks and children of a table, and
    -- what makes JSON calls casts of the types of columns.
    AND NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid <> v.oid
        WHERE w.ev_class = v.oid AND (
            EXISTS (
                SELECT FROM pg_catalog.pg_index AS i
                WHERE i.indrelid = d.refobjid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
            )
            OR EXISTS (
                SELECT FROM pg_catalog.pg_statistic_ext AS x
                WHERE x.stxrelid = d.refobjid AND x.stxexprs IS NOT NULL
            )
            OR EXISTS (
                SELECT
                FROM pg_catalog.pg_constraint AS k
                JOIN pg_catalog.pg_depend AS u
                    ON u.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass
                    AND u.objid = k.oid AND u.refclassid IN (
                        'pg_catalog.pg_proc'::pg_catalog.regclass,
                        'pg_catalog.pg_operator'::pg_catalog.regclass
                    )
                WHERE k.conrelid = d.refobjid AND k.contype = 'c'
            )
            OR EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = d.refobjid)
            OR EXISTS (
                SELECT
                FROM pg_catalog.pg_attribute AS a
                JOIN pg_catalog.pg_type AS y ON y.oid = a.atttypid
                JOIN pg_catalog.pg_roles AS q ON q.oid = y.typowner
                WHERE a.attrelid = d.refobjid AND a.attnum > 0 AND NOT a.attisdropped
                    AND (NOT q.rolsuper OR a.attgenerated <> '')
            )
        )
    )
    -- Some nodes run functions that are recorded neither by a dependency nor by a number.
    AND NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_rewrite AS w
        CROSS JOIN LATERAL pg_catalog.regexp_matches(
            w.ev_action::pg_catalog.text, '[{]([A-Z_]+)', 'g'
        ) AS m(parts)
        WHERE w.ev_class = v.oid AND m.parts[1] <> ALL (%(nodes)s::pg_catalog.text[])
    )
FROM pg_catalog.pg_class AS v
JOIN pg_catalog.pg_namespace AS n ON n.oid = v.relnamespace
WHERE n.nspname = %(schema)s AND v.relname = %(name)s;

-- built_aside --
-- What others have built on views that were set aside.
SELECT DISTINCT pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, w.ev_class, 0)
    || ' depends on '
    || pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, c.oid, 0)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_depend AS d
    ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = c.oid
    AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
JOIN pg_catalog.pg_rewrite AS w ON w.oid = d.objid
WHERE n.nspname = 'pganon_private' AND c.relkind = 'v' AND w.ev_class <> c.oid
ORDER BY 1;

-- data_relations --
-- How many relations schema pganon_data holds.
SELECT pg_catalog.count(*)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'pganon_data' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S');

-- acts_as_owner --
-- Whether a row of pganon_private.action runs nothing with the rights of who writes it: no default, and
-- triggers that run as the owner.
SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_attrdef AS d WHERE d.adrelid = c.oid)
    AND NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_trigger AS t
        JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
        JOIN pg_catalog.pg_roles AS r ON r.oid = p.proowner
        WHERE t.tgrelid = c.oid AND NOT (p.prosecdef AND r.rolname = %(owner)s)
    )
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'pganon_private' AND c.relname = 'action';

-- role --
-- A role: whether it may anything of its own, whether it inherits, what it is a member of, and who is a member
-- of it. Whoever makes a role becomes one, from PostgreSQL 16 on, so the session's login does not count.
SELECT
    r.rolcanlogin OR r.rolsuper OR r.rolcreatedb OR r.rolcreaterole OR r.rolreplication
        OR r.rolbypassrls,
    r.rolinherit,
    ARRAY(
        SELECT g.rolname::text
        FROM pg_catalog.pg_auth_members AS m
        JOIN pg_catalog.pg_roles AS g ON g.oid = m.roleid
        WHERE m.member = r.oid
        ORDER BY 1
    ),
    ARRAY(
        SELECT g.rolname::text
        FROM pg_catalog.pg_auth_members AS m
        JOIN pg_catalog.pg_roles AS g ON g.oid = m.member
        WHERE m.roleid = r.oid AND g.rolname <> session_user
        ORDER BY 1
    )
FROM pg_catalog.pg_roles AS r
WHERE r.rolname = %(role)s;
