-- Queries that read what the catalog says about a source. Everything is asked by name of the
-- namespace or by oid; pg_catalog is readable by every role.

-- relation --
-- The relation of that schema and name, and what the current role may do with it; whether it is in one of
-- the own schemas, or reads something there, through views at any depth; and columns of unique indexes that
-- bind all rows, in their order, with whether they are of the primary key, and alone. Those of a parent do
-- not bind its children.
SELECT
    c.oid,
    c.relkind::text,
    pg_catalog.pg_get_userbyid(c.relowner)::text AS owner,
    pg_catalog.row_security_active(c.oid) AS row_security,
    c.relispopulated AS populated,
    c.relpersistence = 't' AS temporary,
    pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS may_use_schema,
    pg_catalog.has_any_column_privilege(c.oid, 'SELECT') AS may_select,
    current_user::text AS role,
    EXISTS (
        WITH RECURSIVE read AS (
            SELECT c.oid
            UNION
            SELECT d.refobjid
            FROM read
            JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = read.oid
            JOIN pg_catalog.pg_depend AS d
                ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
                AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        )
        SELECT
        FROM read
        JOIN pg_catalog.pg_class AS o ON o.oid = read.oid
        JOIN pg_catalog.pg_namespace AS s ON s.oid = o.relnamespace
        WHERE s.nspname = ANY (%(own)s::text[])
    ) AS reads_own,
    (
        SELECT pg_catalog.jsonb_agg(
            pg_catalog.jsonb_build_array(a.attname, i.indisprimary AND i.indimmediate, i.indnkeyatts = 1)
            ORDER BY k.place
        )
        FROM pg_catalog.pg_index AS i
        CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        WHERE i.indrelid = c.oid
            AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
            AND k.place <= i.indnkeyatts
            AND (
                c.relkind = 'p'
                OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid)
            )
    ) AS keys
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname = %(name)s;

-- columns --
-- Columns in order, domains resolved. `not_null` only if every member of an inheritance tree has
-- an enforced, validated constraint; a domain's NOT NULL is not one, the server lets NULL in.
WITH RECURSIVE member AS (
    SELECT c.oid, c.relkind
    FROM pg_catalog.pg_class AS c
    WHERE c.oid = %(oid)s
    UNION
    SELECT c.oid, c.relkind
    FROM member AS m
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent = m.oid
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
),
type_chain AS (
    SELECT a.attnum, a.atttypid AS type, a.atttypmod AS modifier
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT c.attnum, t.typbasetype, t.typtypmod
    FROM type_chain AS c
    JOIN pg_catalog.pg_type AS t ON t.oid = c.type AND t.typtype = 'd'
)
SELECT
    a.attnum,
    a.attname::text,
    a.atttypid AS type_oid,
    pg_catalog.format_type(a.atttypid, a.atttypmod) AS type_name,
    t.oid AS base_oid,
    pg_catalog.format_type(t.oid, c.modifier) AS base,
    t.typname::text,
    t.typtype::text,
    n.nspname = 'pg_catalog' AS built_in,
    ARRAY(
        SELECT e.enumlabel::text
        FROM pg_catalog.pg_enum AS e
        WHERE e.enumtypid = t.oid
        ORDER BY e.enumsortorder
    ) AS labels,
    NOT EXISTS (
        SELECT
        FROM member AS m
        LEFT JOIN pg_catalog.pg_attribute AS o
            ON o.attrelid = m.oid AND o.attname = a.attname AND NOT o.attisdropped
        WHERE m.relkind NOT IN ('r', 'p')
            OR o.attnotnull IS NOT TRUE
            OR EXISTS (
                SELECT
                FROM pg_catalog.pg_constraint AS k
                WHERE k.conrelid = m.oid AND k.contype = 'n' AND NOT k.convalidated
                    AND k.conkey = ARRAY[o.attnum]
            )
    ) AS not_null,
    l.oid::pg_catalog.regcollation::text AS collation,
    COALESCE(l.collisdeterministic, true) AS collation_deterministic,
    pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable
FROM type_chain AS c
JOIN pg_catalog.pg_type AS t ON t.oid = c.type AND t.typtype <> 'd'
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = %(oid)s AND a.attnum = c.attnum
LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
ORDER BY a.attnum;

-- foreign_keys --
-- Foreign keys of these tables: the columns by number, and what they refer to. One of a partition
-- is a copy of its parent's.
SELECT DISTINCT ON (k.conrelid, k.conkey) k.conrelid AS oid, k.conkey::int[] AS columns,
    n.nspname::text, c.relname::text
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS c ON c.oid = k.confrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE k.contype = 'f' AND k.conrelid = ANY (%(oids)s::oid[])
ORDER BY k.conrelid, k.conkey, k.conparentid, n.nspname, c.relname;

-- references --
-- All foreign keys between tables that stay: columns by name in the order of the key, and those that they name.
SELECT n.nspname::text, c.relname::text, m.nspname::text, t.relname::text,
    pg_catalog.array_agg(a.attname::text ORDER BY p.place), pg_catalog.array_agg(b.attname::text ORDER BY p.place)
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid AND c.relpersistence <> 't' AND NOT c.relispartition
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class AS t ON t.oid = k.confrelid AND NOT t.relispartition
JOIN pg_catalog.pg_namespace AS m ON m.oid = t.relnamespace
CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(k.conkey::int2[]), pg_catalog.unnest(k.confkey::int2[]))
    WITH ORDINALITY AS p(own, named, place)
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = p.own
JOIN pg_catalog.pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = p.named
WHERE k.contype = 'f' AND k.conparentid = 0
    AND n.nspname <> ALL (%(own)s::text[]) AND m.nspname <> ALL (%(own)s::text[])
GROUP BY k.oid, n.nspname, c.relname, m.nspname, t.relname
ORDER BY n.nspname, c.relname, pg_catalog.min(k.conname);

-- rules --
-- How views are made, with 0, and generated columns, with their numbers, as the server keeps them.
SELECT w.ev_class, 0, w.ev_action::text
FROM pg_catalog.pg_rewrite AS w
JOIN pg_catalog.pg_class AS c ON c.oid = w.ev_class AND c.relkind IN ('v', 'm')
WHERE w.ev_class = ANY (%(oids)s::oid[]) AND w.ev_type = '1'
UNION ALL
SELECT d.adrelid, d.adnum::int, d.adbin::text
FROM pg_catalog.pg_attrdef AS d
JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated <> ''
WHERE d.adrelid = ANY (%(oids)s::oid[]);

-- base_columns --
-- Names of columns of tables, and their numbers, which a column keeps when it is renamed; with those of
-- the tables that these are partitions or children of. 0 is all columns of a table.
WITH RECURSIVE up AS (
    SELECT b.oid AS base, b.number, b.oid AS relation, a.attnum, a.attname
    FROM ROWS FROM (
        pg_catalog.unnest(%(oids)s::oid[]), pg_catalog.unnest(%(numbers)s::int[])
    ) AS b(oid, number)
    JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid = b.oid AND NOT a.attisdropped
        AND (a.attnum = b.number OR b.number = 0 AND a.attnum > 0)
    UNION
    SELECT u.base, u.number, h.inhparent, p.attnum, p.attname
    FROM up AS u
    JOIN pg_catalog.pg_inherits AS h ON h.inhrelid = u.relation
    JOIN pg_catalog.pg_attribute AS p ON p.attrelid = h.inhparent AND p.attname = u.attname
)
SELECT u.base, u.number, pg_catalog.array_agg(t.text)
FROM up AS u
JOIN pg_catalog.pg_class AS c ON c.oid = u.relation
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (VALUES
    (pg_catalog.format('%%I.%%I.%%I', n.nspname, c.relname, u.attname)),
    (pg_catalog.format('%%s#%%s', u.relation, u.attnum))
) AS t(text)
GROUP BY u.base, u.number;

-- opaque --
-- Those of functions and aggregates that may read tables which no rule names.
SELECT DISTINCT p.oid
FROM pg_catalog.pg_proc AS p
LEFT JOIN pg_catalog.pg_aggregate AS g ON g.aggfnoid = p.oid
JOIN pg_catalog.pg_proc AS f ON f.oid IN (p.oid, g.aggtransfn, g.aggfinalfn)
JOIN pg_catalog.pg_language AS l ON l.oid = f.prolang
WHERE p.oid = ANY (%(oids)s::oid[])
    AND (l.lanname NOT IN ('internal', 'c') OR f.proname ~ '(query|table|cursor|schema|database)_to_xml');

-- readable_relations --
-- Relations that the current role may read, for suggestions.
SELECT n.nspname::text, c.relname::text
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname
LIMIT 10000;

-- functions --
-- Functions of these names as the catalog has them now; one that is replaced has another row there.
SELECT p.oid, p.xmin::text
FROM ROWS FROM (
    pg_catalog.unnest(%(schemas)s::text[]), pg_catalog.unnest(%(names)s::text[])
) AS f(schema, name)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = f.schema
JOIN pg_catalog.pg_proc AS p ON p.pronamespace = n.oid AND p.proname = f.name
ORDER BY p.oid;

-- role_numbers --
-- Roles of these names, with their numbers.
SELECT r.rolname::text, r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = ANY (%(names)s::text[]);

-- role_names --
-- Roles with these numbers, and their names.
SELECT r.oid, r.rolname::text FROM pg_catalog.pg_roles AS r WHERE r.oid = ANY (%(numbers)s::oid[]);

-- untrusted_code --
-- Code that runs, or may run, when the current role reads relations or calls functions, and that
-- belongs neither to this role, nor to the session's, nor to a superuser, nor to a trusted role.
-- What a view uses runs with the rights of its reader. The planner computes constant expressions
-- of indexes, statistics, checks and partition keys. Defaults, triggers and policies do not run in
-- a SELECT under row_security = off; a materialized view is a table when it is read.
-- Of what is `distributed` the rows are read elsewhere, where this catalog says nothing: who owns a
-- table can give its shards other indexes, and its functions another body. Workers find objects by
-- name: who owns a schema can put others in their place, and who may create there, functions that
-- fit a call better. So these roles' code counts, whatever there is.
WITH RECURSIVE reached AS (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass::oid AS class, c.oid AS object
    FROM ROWS FROM (
        pg_catalog.unnest(%(relation_schemas)s::text[]), pg_catalog.unnest(%(relations)s::text[])
    ) AS r(schema, name)
    JOIN pg_catalog.pg_namespace AS n ON n.nspname = r.schema
    JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = r.name
    UNION
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass::oid, p.oid
    FROM ROWS FROM (
        pg_catalog.unnest(%(function_schemas)s::text[]), pg_catalog.unnest(%(functions)s::text[])
    ) AS f(schema, name)
    JOIN pg_catalog.pg_namespace AS n ON n.nspname = f.schema
    JOIN pg_catalog.pg_proc AS p ON p.pronamespace = n.oid AND p.proname = f.name
        AND pg_catalog.oidvectortypes(p.proargtypes) = 'text, integer'
    UNION
    SELECT s.class, s.object
    FROM reached AS r
    CROSS JOIN LATERAL (
        SELECT d.refclassid AS class, d.refobjid AS object
        FROM pg_catalog.pg_depend AS d
        WHERE d.classid = r.class AND d.objid = r.object
            AND (
                d.refclassid IN (
                    'pg_catalog.pg_proc'::pg_catalog.regclass,
                    'pg_catalog.pg_operator'::pg_catalog.regclass,
                    'pg_catalog.pg_type'::pg_catalog.regclass,
                    'pg_catalog.pg_foreign_server'::pg_catalog.regclass
                )
                OR d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                AND r.class IN (
                    'pg_catalog.pg_rewrite'::pg_catalog.regclass,
                    'pg_catalog.pg_proc'::pg_catalog.regclass
                )
            )
        UNION ALL
        SELECT 'pg_catalog.pg_rewrite'::pg_catalog.regclass, w.oid
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_class AS v ON v.oid = w.ev_class AND v.relkind = 'v'
        WHERE r.class = 'pg_catalog.pg_class'::pg_catalog.regclass
            AND w.ev_class = r.object AND w.ev_type = '1'
        UNION ALL
        SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, i.indexrelid
        FROM pg_catalog.pg_index AS i
        WHERE r.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND i.indrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, h.inhrelid
        FROM pg_catalog.pg_inherits AS h
        WHERE r.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND h.inhparent = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, x.oid
        FROM pg_catalog.pg_statistic_ext AS x
        WHERE r.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND x.stxrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_attrdef'::pg_catalog.regclass, g.oid
        FROM pg_catalog.pg_attrdef AS g
        JOIN pg_catalog.pg_attribute AS a
            ON a.attrelid = g.adrelid AND a.attnum = g.adnum AND a.attgenerated <> ''
        WHERE r.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND g.adrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid
        FROM pg_catalog.pg_constraint AS k
        WHERE k.contype = 'c'
            AND (
                r.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND k.conrelid = r.object
                OR r.class = 'pg_catalog.pg_type'::pg_catalog.regclass AND k.contypid = r.object
            )
        UNION ALL
        SELECT 'pg_catalog.pg_cast'::pg_catalog.regclass, t.oid
        FROM pg_catalog.pg_cast AS t
        WHERE r.class = 'pg_catalog.pg_type'::pg_catalog.regclass
            AND r.object IN (t.castsource, t.casttarget)
    ) AS s
),
named AS (
    SELECT r.class, r.object, o.owner, o.space, o.runs, o.elsewhere
    FROM reached AS r
    CROSS JOIN LATERAL (
        SELECT c.relowner AS owner, c.relnamespace AS space,
            -- The owner of a table can add statistics for the moment in which it is planned; no lock
            -- prevents that. A role that is or can become superuser has too much to lose.
            c.relkind = 'v' OR (c.relkind IN ('r', 'p', 'm', 'f') AND EXISTS (
                SELECT
                FROM pg_catalog.pg_roles AS s
                WHERE s.rolsuper AND pg_catalog.pg_has_role(session_user, s.oid, 'MEMBER')
            )) AS runs,
            c.oid = ANY (%(distributed)s::oid[]) AS elsewhere
        FROM pg_catalog.pg_class AS c
        WHERE r.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND c.oid = r.object
        UNION ALL
        SELECT p.proowner, p.pronamespace, true, true
        FROM pg_catalog.pg_proc AS p
        WHERE r.class = 'pg_catalog.pg_proc'::pg_catalog.regclass AND p.oid = r.object
        UNION ALL
        SELECT p.oprowner, p.oprnamespace, true, true
        FROM pg_catalog.pg_operator AS p
        WHERE r.class = 'pg_catalog.pg_operator'::pg_catalog.regclass AND p.oid = r.object
        UNION ALL
        SELECT t.typowner, t.typnamespace, t.typtype = 'd', true
        FROM pg_catalog.pg_type AS t
        WHERE r.class = 'pg_catalog.pg_type'::pg_catalog.regclass AND t.oid = r.object
        UNION ALL
        SELECT f.srvowner, NULL, true, false
        FROM pg_catalog.pg_foreign_server AS f
        WHERE r.class = 'pg_catalog.pg_foreign_server'::pg_catalog.regclass AND f.oid = r.object
    ) AS o
),
elsewhere AS (
    SELECT o.class, o.object, o.owner, n.oid AS space, n.nspowner, n.nspacl
    FROM named AS o
    JOIN pg_catalog.pg_namespace AS n ON n.oid = o.space
    WHERE o.elsewhere AND EXISTS (
        SELECT
        FROM named AS t
        WHERE t.elsewhere AND t.class = 'pg_catalog.pg_class'::pg_catalog.regclass
    )
),
owned AS (
    SELECT o.class, o.object, o.owner, NULL::text AS kind FROM named AS o WHERE o.runs
    UNION
    SELECT e.class, e.object, e.owner, NULL FROM elsewhere AS e
    UNION
    SELECT 'pg_catalog.pg_namespace'::pg_catalog.regclass, e.space, e.nspowner, NULL
    FROM elsewhere AS e
    UNION
    SELECT 'pg_catalog.pg_namespace'::pg_catalog.regclass, e.space, a.grantee,
        'right to create in schema'
    FROM elsewhere AS e
    CROSS JOIN LATERAL pg_catalog.aclexplode(e.nspacl) AS a
    WHERE e.class <> 'pg_catalog.pg_class'::pg_catalog.regclass AND a.privilege_type = 'CREATE'
        AND a.grantee <> e.nspowner
)
SELECT coalesce(o.kind, i.type::text) AS kind, i.identity::text AS name,
    coalesce(a.rolname::text, 'public') AS owner, current_user::text AS role
FROM owned AS o
JOIN pg_catalog.pg_database AS d ON d.datname = pg_catalog.current_database()
CROSS JOIN LATERAL (
    SELECT CASE WHEN o.owner = 'pg_database_owner'::pg_catalog.regrole
        THEN d.datdba ELSE o.owner END
) AS one(role)
LEFT JOIN pg_catalog.pg_roles AS a ON a.oid = one.role
CROSS JOIN LATERAL pg_catalog.pg_identify_object(o.class, o.object, 0) AS i
WHERE a.rolsuper IS NOT TRUE
    AND (a.rolname IN (current_user, session_user)) IS NOT TRUE
    AND one.role <> ALL (%(trusted)s::oid[])
ORDER BY a.rolname, i.type COLLATE "C", i.identity COLLATE "C";

-- virtual_columns --
-- Generated columns among these that are not stored, but computed whenever they are read.
SELECT a.attname::text
FROM pg_catalog.pg_attribute AS a
WHERE a.attrelid = %(oid)s AND a.attgenerated = 'v' AND a.attname::text = ANY (%(columns)s)
ORDER BY a.attnum;

-- estimated_rows --
-- As the planner does: rows per page of the last ANALYZE, and the pages that there are now.
SELECT c.reltuples::float8 / c.relpages
    * (pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::integer)
    AS rows
FROM pg_catalog.pg_class AS c
WHERE c.oid = %(oid)s AND c.relkind IN ('r', 'm') AND c.reltuples > 0 AND c.relpages > 0;

-- frequencies --
-- Of columns of a table by what ANALYZE saw: distinct values, negative for a share of the rows, and
-- the shares of the most common values and of NULL.
SELECT s.n_distinct::float8,
    pg_catalog.array_append(coalesce(s.most_common_freqs, '{}'), s.null_frac)::float8[]
FROM pg_catalog.pg_stats AS s
INNER JOIN pg_catalog.pg_namespace AS n ON n.nspname = s.schemaname
INNER JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = s.tablename
WHERE c.oid = %(oid)s AND s.attname = ANY (%(names)s::name[]) AND NOT s.inherited;

-- may_make_temporary --
-- Whether the session may have temporary tables; no session of a replica may.
SELECT NOT pg_catalog.pg_is_in_recovery()
    AND pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY');
