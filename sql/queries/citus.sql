-- Queries about tables that the extension Citus distributes over servers.

-- installed --
-- Whether this database has Citus. Only a superuser can create anything in pg_catalog.
SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL;

-- distributed --
-- The tables of which Citus has the rows elsewhere, perhaps on this server, under another name.
SELECT coalesce(array_agg(p.logicalrelid::pg_catalog.oid), '{}') FROM pg_catalog.pg_dist_partition AS p;

-- role --
-- The current role, whether it may log in, and whether its sessions begin with a path on which the
-- server's own schemas are alone. Of settings that say so the one for this database counts.
SELECT a.rolname::text, a.rolcanlogin, (
    SELECT c.setting ~ '^search_path=(pg_catalog|pg_temp|"")(, (pg_catalog|pg_temp|""))*$'
    FROM pg_catalog.pg_db_role_setting AS s
    CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c(setting)
    LEFT JOIN pg_catalog.pg_database AS d ON d.oid = s.setdatabase
    WHERE s.setrole = a.oid AND pg_catalog.starts_with(c.setting, 'search_path=')
        AND (s.setdatabase = 0 OR d.datname = pg_catalog.current_database())
    ORDER BY s.setdatabase DESC
    LIMIT 1
) IS TRUE
FROM pg_catalog.pg_roles AS a WHERE a.rolname = current_user;

-- settings --
-- Whatever was set for this session, its role or its database, and what forms and texts depend on even where
-- nobody set it: another server may have another default. Without what its connections to workers have of
-- their own. Settings that no program defines, such as app.x, are in no list but that of what was set.
SELECT s.name, pg_catalog.current_setting(s.name)
FROM pg_catalog.pg_settings AS s
WHERE s.context = 'user' AND s.name <> 'search_path' AND s.name NOT LIKE 'citus.%' AND (
    s.source IN ('session', 'database', 'user', 'database user', 'global')
    OR s.category = 'Client Connection Defaults / Locale and Formatting'
    OR s.category LIKE 'Version and Platform Compatibility%'
)
UNION
SELECT n.name, pg_catalog.current_setting(n.name, true)
FROM pg_catalog.pg_db_role_setting AS s
CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c(setting)
CROSS JOIN LATERAL pg_catalog.split_part(c.setting, '=', 1) AS n(name)
WHERE n.name LIKE '%.%' AND n.name NOT LIKE 'citus.%'
    AND pg_catalog.current_setting(n.name, true) IS NOT NULL;

-- server --
-- What of a server changes the meaning of expressions, and cannot be passed on: the locale of its database,
-- and which settings that no program defines were set for the database or the role. The command is sent to
-- other servers, too, and has no operator of a search path.
SELECT pg_catalog.jsonb_build_object(
    'locale', (
        SELECT pg_catalog.jsonb_object_agg(k.key, k.value)
        FROM pg_catalog.jsonb_each_text(pg_catalog.to_jsonb(d)) AS k
        WHERE k.key OPERATOR(pg_catalog.~)
            '^(encoding|datcollate|datctype|datlocprovider|dat(icu)?locale|daticurules)$'
    ),
    'settings', (
        SELECT coalesce(pg_catalog.jsonb_agg(DISTINCT n.name), '[]')
        FROM pg_catalog.pg_db_role_setting AS s
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) s.setrole
        CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c(setting)
        CROSS JOIN LATERAL pg_catalog.split_part(c.setting, '=', 1) AS n(name)
        WHERE (s.setdatabase OPERATOR(pg_catalog.=) 0 OR s.setdatabase OPERATOR(pg_catalog.=) d.oid)
            AND (s.setrole OPERATOR(pg_catalog.=) 0 OR r.rolname OPERATOR(pg_catalog.=) current_user)
            AND n.name OPERATOR(pg_catalog.~) '[.]' AND n.name OPERATOR(pg_catalog.!~) '^citus[.]'
            AND pg_catalog.current_setting(n.name, true) IS NOT NULL
    )
)::text
FROM pg_catalog.pg_database AS d
WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();

-- tables --
-- The stored tables that a statement over these relations reads, through views and inheritance,
-- and in how many pieces: shards, or 1 for a table of this server. `locked_with` another: a parent,
-- so that only the parent has to be locked. Whether this role `may_lock` it against writers.
WITH RECURSIVE reached(oid, relkind, child) AS (
    SELECT c.oid, c.relkind, false
    FROM ROWS FROM (
        pg_catalog.unnest(%(schemas)s::text[]), pg_catalog.unnest(%(names)s::text[])
    ) AS r(schema, name)
    JOIN pg_catalog.pg_namespace AS n ON n.nspname = r.schema
    JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = r.name
    UNION
    SELECT c.oid, c.relkind, below.child
    FROM reached AS r
    CROSS JOIN LATERAL (
        SELECT d.refobjid, false
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        WHERE r.relkind = 'v' AND w.ev_class = r.oid
        UNION ALL
        SELECT i.inhrelid, true FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = r.oid
    ) AS below(oid, child)
    JOIN pg_catalog.pg_class AS c ON c.oid = below.oid
)
SELECT
    n.nspname::text AS schema, c.relname::text AS name,
    p.logicalrelid IS NOT NULL AS distributed,
    CASE WHEN p.logicalrelid IS NULL THEN (c.relkind <> 'p')::integer::bigint
        ELSE (
            SELECT count(*) FROM pg_catalog.pg_dist_shard AS s
            WHERE s.logicalrelid::pg_catalog.oid = c.oid
        ) END AS pieces,
    t.child AS locked_with,
    c.relkind IN ('r', 'p') AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
        AND pg_catalog.has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE') AS may_lock
FROM (
    SELECT r.oid, bool_and(r.child) AS child FROM reached AS r GROUP BY r.oid
) AS t
JOIN pg_catalog.pg_class AS c ON c.oid = t.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_dist_partition AS p ON p.logicalrelid::pg_catalog.oid = c.oid
WHERE c.relkind IN ('r', 'p', 'm', 'f')
ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C";

-- shards --
-- The column by whose hashes a table is distributed: no row without one, or in several copies.
SELECT pg_catalog.column_to_column_name(p.logicalrelid, p.partkey)
FROM pg_catalog.pg_dist_partition AS p
WHERE p.logicalrelid::pg_catalog.oid = %(table)s::pg_catalog.oid AND p.partmethod = 'h'
    AND p.colocationid > 0;

-- statistics --
-- Of a shard of a table in shards, which all have rows alike: rows, and of each of these columns what ANALYZE saw, as
-- `frequencies` of queries about the catalog; no row where its server does not answer. The command is
-- of literals alone and has no operator of a search path, as that of `changes`.
SELECT (a.result::jsonb ->> 0)::float8, a.result::jsonb -> 1
FROM (
    SELECT format(
        'SELECT pg_catalog.jsonb_build_array(c.reltuples, ('
        ' SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(s.n_distinct,'
        ' pg_catalog.array_append(coalesce(s.most_common_freqs, ''{}''), s.null_frac)))'
        ' FROM pg_catalog.pg_stats AS s'
        ' WHERE s.schemaname OPERATOR(pg_catalog.=) n.nspname'
        ' AND s.tablename OPERATOR(pg_catalog.=) c.relname AND NOT s.inherited'
        ' AND s.attname OPERATOR(pg_catalog.=) ANY (%%L::pg_catalog.name[])))'
        ' FROM pg_catalog.pg_class AS c'
        ' JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace'
        ' WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%%L)',
        %(names)s::name[],
        CASE WHEN n.nspname = 'public' THEN 'public.' ELSE '' END -- which it leaves out
            || pg_catalog.shard_name(c.oid, min(s.shardid))
    ) AS text
    FROM pg_catalog.pg_dist_shard AS s
    JOIN pg_catalog.pg_class AS c ON c.oid = s.logicalrelid::pg_catalog.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = %(table)s
    GROUP BY c.oid, n.nspname
) AS command
CROSS JOIN LATERAL pg_catalog.run_command_on_all_nodes(command.text) AS a
WHERE a.success AND a.result <> '';

-- others --
-- Who but the owner has privileges on a table in shards or on its columns, on any server, '' for
-- everybody; NULL where one does not answer. Default privileges of the server on which a shard is
-- made decide that. A trigger that one of them made there would see all rows, with the rights of
-- the owner: it is as a privilege of everybody that cannot be revoked. The command has no operator
-- and no type of a search path: it runs in a session of which pganon sets nothing. Shards have the
-- name of the table, and a number.
SELECT CASE WHEN bool_and(a.success) THEN
    coalesce(array_agg(DISTINCT g.name) FILTER (WHERE g.name IS NOT NULL), '{}') END
FROM pg_catalog.run_command_on_all_nodes(
    format(
        'SELECT pg_catalog.jsonb_agg(coalesce(r.rolname::pg_catalog.text, ''''))'
        ' FROM pg_catalog.pg_class AS c'
        ' CROSS JOIN LATERAL ('
        ' SELECT a.grantee FROM pg_catalog.aclexplode(c.relacl) AS a'
        ' UNION ALL'
        ' SELECT a.grantee FROM pg_catalog.pg_attribute AS t'
        ' CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a'
        ' WHERE t.attrelid OPERATOR(pg_catalog.=) c.oid'
        ' UNION ALL'
        ' SELECT 0 FROM pg_catalog.pg_trigger AS t'
        ' WHERE t.tgrelid OPERATOR(pg_catalog.=) c.oid AND NOT t.tgisinternal'
        ' ) AS a'
        ' LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) a.grantee'
        ' WHERE a.grantee OPERATOR(pg_catalog.<>) c.relowner'
        ' AND c.relname OPERATOR(pg_catalog.~) %%L AND c.relnamespace OPERATOR(pg_catalog.=)'
        ' (SELECT n.oid FROM pg_catalog.pg_namespace AS n'
        ' WHERE n.nspname OPERATOR(pg_catalog.=) %%L)',
        '^' || %(name)s::text || '(_[0-9]+)?$', %(schema)s::text
    )
) AS a
LEFT JOIN LATERAL pg_catalog.jsonb_array_elements_text(
    CASE WHEN a.success THEN nullif(a.result, '')::jsonb END
) AS g(name) ON true;

-- changes --
-- What the servers that have shards of relations count of changes to these: another text after a
-- change; empty if no relation has any, NULL where a server does not answer. The command is of
-- literals alone, since who owns a table chooses its name, and has no operator of a search path: it
-- runs in a session of which pganon sets nothing. A shard is on one server or on several.
WITH shard AS (
    SELECT format(
        '(%%s, pg_catalog.to_regclass(%%L))',
        s.shardid,
        CASE WHEN n.nspname = 'public' THEN 'public.' ELSE '' END -- which it leaves out
            || pg_catalog.shard_name(p.logicalrelid, s.shardid)
    ) AS found, s.shardid AS id
    FROM pg_catalog.unnest(%(sources)s::text[]) AS r(name)
    JOIN pg_catalog.pg_namespace AS n ON n.nspname = (pg_catalog.parse_ident(r.name))[1]
    JOIN pg_catalog.pg_class AS c
        ON c.relnamespace = n.oid AND c.relname = (pg_catalog.parse_ident(r.name))[2]
    JOIN pg_catalog.pg_dist_partition AS p ON p.logicalrelid::pg_catalog.oid = c.oid
    JOIN pg_catalog.pg_dist_shard AS s ON s.logicalrelid = p.logicalrelid
)
SELECT CASE WHEN count(*) = count(*) FILTER (WHERE a.success) THEN
    coalesce(string_agg(format(' %%s(%%s)', a.nodeid, a.result), '' ORDER BY a.nodeid), '') END
FROM (
    SELECT format(
        'SELECT pg_catalog.concat_ws('' '','
        ' pg_catalog.date_part(''epoch'', pg_catalog.pg_stat_get_bgwriter_stat_reset_time()),'
        ' pg_catalog.date_part(''epoch'', pg_catalog.pg_stat_get_db_stat_reset_time((SELECT d.oid'
        ' FROM pg_catalog.pg_database AS d'
        ' WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()))),'
        ' pg_catalog.string_agg(pg_catalog.concat_ws('':'', s.id,'
        ' pg_catalog.pg_relation_filenode(s.rel),'
        ' pg_catalog.pg_stat_get_tuples_inserted(s.rel),'
        ' pg_catalog.pg_stat_get_tuples_updated(s.rel),'
        ' pg_catalog.pg_stat_get_tuples_deleted(s.rel)), '' '' ORDER BY s.id))'
        ' FROM (VALUES %%s) AS s(id, rel) WHERE s.rel IS NOT NULL',
        string_agg(s.found, ', ' ORDER BY s.id)
    ) AS text
    FROM shard AS s
    HAVING count(*) > 0
) AS command
CROSS JOIN LATERAL pg_catalog.run_command_on_all_nodes(command.text) AS a;
