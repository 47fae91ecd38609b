-- Queries of publication. A relation is given by schema and name, as the catalog has them.

-- lock_releases --
-- One publication at a time; reading goes on.
LOCK TABLE pganon_private.release IN SHARE ROW EXCLUSIVE MODE;

-- release --
-- One release.
SELECT name, policy_source, view_schema, view_name, current_version, readers, reader_ids
FROM pganon_private.release
WHERE name = %(release)s;

-- versions --
-- All versions of a release, newest first.
SELECT
    version, run_id, method, guarantee, columns, views, relations, checks, row_count, suppressed,
    members_table, policy, policy_hash, partition_hash, measures, published_at, dropped_at, fingerprint,
    source_fingerprint, rows_fingerprint, partition, over_versions, increments, sources, source_columns,
    source_mark, trusted
FROM pganon_private.version
WHERE release = %(release)s
ORDER BY version DESC;

-- sources --
-- The names that a relation is remembered by as a source, given its oid.
SELECT pganon.sources_of(%(oid)s);

-- source_mark --
-- What the statistics of the server say of changes to relations: another text after a change, the
-- same where there was none. NULL where it does not count them, as on a replica. Before the bar stands
-- since when it counts: after pg_upgrade, a crash and pg_stat_reset() nothing follows from its counts.
-- Beside it whether there is Citus.
SELECT CASE WHEN count(*) > 0 AND bool_and(c.relkind <> 'f') AND NOT pg_is_in_recovery() THEN format(
    '%%s %%s|%%s',
    extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()),
    extract(epoch FROM pg_stat_get_db_stat_reset_time(
        (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    )),
    string_agg(
        format(
            '%%s:%%s:%%s', c.oid, c.relfilenode,
            pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid)
            + pg_stat_get_tuples_deleted(c.oid)
        ), ' ' ORDER BY c.oid
    )
) END, to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL
FROM unnest(%(sources)s::text[]) AS s(name)
-- Not to_regclass, which raises where the role may not use the schema of what a view reads.
JOIN pg_namespace AS n ON n.nspname = (parse_ident(s.name))[1]
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = (parse_ident(s.name))[2];

-- earlier --
-- Versions that were ever readable, the nearest first: those over any of these sources, of them those
-- of the release itself, then the newest. Without its secrets no version can be compared with
-- another.
SELECT
    v.release, v.version, v.run_id, v.partition,
    CASE WHEN EXISTS (SELECT FROM pganon_private.run_secret AS s WHERE s.run_id = v.run_id)
        THEN v.partition_hash END AS partition_hash,
    v.source_fingerprint, v.rows_fingerprint, v.population,
    o.is_over_source
FROM pganon_private.version AS v
CROSS JOIN LATERAL (
    SELECT %(sources)s::text[] && v.sources AS is_over_source
) AS o
WHERE v.manner IS NULL OR NOT v.manner ? 'forgotten'
ORDER BY o.is_over_source DESC, v.release = %(release)s DESC, v.run_id DESC;

-- add_version --
-- A new version, with its release, which is new or updated for it.
WITH put AS (
    INSERT INTO pganon_private.release (
        name, policy_source, view_schema, view_name, current_version, readers, reader_ids
    )
    VALUES (
        %(release)s, %(source)s, %(schema)s, %(view)s, %(version)s, %(readers)s, %(reader_ids)s::oid[]
    )
    ON CONFLICT (name) DO UPDATE SET
        view_schema = excluded.view_schema,
        view_name = excluded.view_name,
        current_version = excluded.current_version,
        readers = excluded.readers,
        reader_ids = excluded.reader_ids
)

INSERT INTO pganon_private.version (
    release, version, run_id, method, guarantee, columns, views, relations, checks, policy,
    policy_hash, partition, partition_hash, sources, measures, row_count, suppressed, fingerprint,
    source_fingerprint, rows_fingerprint, members_table, population, manner, over_versions, increments,
    source_columns, source_mark, trusted, evidence
)
VALUES (
    %(release)s, %(version)s, %(run_id)s, %(method)s, %(guarantee)s, %(columns)s, %(views)s,
    %(relations)s, %(checks)s, %(policy)s, %(policy_hash)s, %(partition)s, %(partition_hash)s,
    %(sources)s, %(measures)s, %(row_count)s, %(suppressed)s, %(fingerprint)s,
    %(source_fingerprint)s, %(rows_fingerprint)s, %(members_table)s, %(population)s, %(manner)s,
    %(over_versions)s, %(increments)s, %(source_columns)s, %(source_mark)s, %(trusted)s, %(evidence)s
);

-- print_views --
-- Remember how this server prints the views of a version, which it shows now.
UPDATE pganon_private.version AS v
SET views = (
    SELECT jsonb_agg(
        i.item || jsonb_build_object(
            'definition', pg_get_viewdef(
                to_regclass(format('%%I.%%I', i.item ->> 'schema', i.item ->> 'name'))
            ),
            'printed_by', (current_setting('server_version_num')::int / 10000)::text
        ) ORDER BY i.place
    )
    FROM jsonb_array_elements(v.views) WITH ORDINALITY AS i(item, place)
)
WHERE v.release = %(release)s AND v.version = %(version)s;

-- set_views --
-- Other comments of the views of a version, of which everything else stays as it is.
UPDATE pganon_private.version
SET views = %(views)s, columns = %(columns)s
WHERE release = %(release)s AND version = %(version)s;

-- view_stands --
-- Whether a view of a version is there as publication made it.
SELECT pganon.is_published_view(
    to_regclass(format('%%I.%%I', i.item ->> 'schema', i.item ->> 'name')), i.item, v.relations
)
FROM pganon_private.version AS v
CROSS JOIN LATERAL jsonb_array_elements(v.views) AS i(item)
WHERE v.release = %(release)s AND v.version = %(version)s;

-- set_readers --
-- The readers of a release.
UPDATE pganon_private.release
SET readers = %(readers)s, reader_ids = %(reader_ids)s::oid[]
WHERE name = %(release)s;

-- set_current --
-- Which version the views show; NULL for none.
UPDATE pganon_private.release
SET current_version = %(version)s, view_schema = %(schema)s, view_name = %(view)s
WHERE name = %(release)s;

-- mark_dropped --
-- The stored tables of these versions are gone.
UPDATE pganon_private.version
SET dropped_at = clock_timestamp()
WHERE release = %(release)s AND version = ANY (%(versions)s::int[]) AND dropped_at IS NULL;

-- kept_tables --
-- Tables of versions of a release that stay while these lose theirs.
SELECT r.item ->> 'schema', r.item ->> 'name'
FROM pganon_private.version AS v
CROSS JOIN LATERAL jsonb_array_elements(v.relations) AS r(item)
WHERE v.release = %(release)s AND v.dropped_at IS NULL AND v.version <> ALL (%(versions)s::int[]);

-- cohorts --
-- Cohorts of people of a population, oldest first: run, number, whether they are unfinished ones of
-- the release, its records that are out, whether their regions are known.
SELECT
    c.run_id, c.number, c.release = %(release)s AND c.finished_by IS NULL,
    CASE c.release WHEN %(release)s THEN c.records_out ELSE 0 END,
    EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = to_regclass('pganon_private.cohorts_' || c.run_id)
            AND a.attname = 'region' AND NOT a.attisdropped
    )
FROM pganon_private.cohorts AS c
WHERE c.population = %(population)s
ORDER BY c.run_id;

-- unfinished_cohorts --
-- Cohorts of people of a population that no run has decided on: run, whether they are the release's.
SELECT c.run_id, c.release = %(release)s
FROM pganon_private.cohorts AS c
WHERE c.population = %(population)s AND c.finished_by IS NULL
ORDER BY c.run_id;

-- finish_cohorts --
-- The unfinished cohorts of a release are published, or permanently suppressed.
UPDATE pganon_private.cohorts SET finished_by = %(run_id)s, records_out = %(records_out)s
WHERE release = %(release)s AND finished_by IS NULL
    AND population = (SELECT s.population FROM pganon_private.run_secret AS s WHERE s.run_id = %(run_id)s);

-- members_tables --
-- Tables that remember people of a population, of versions that were made at once.
SELECT v.members_table
FROM pganon_private.version AS v
WHERE v.members_table IS NOT NULL AND v.increments IS NULL AND v.population = %(population)s
ORDER BY v.run_id;

-- fingerprint --
-- Fingerprint of relations in this order; perhaps one to be compared with.
SELECT pganon.fingerprint(
    %(run_id)s,
    ARRAY(
        SELECT to_regclass(t.name)
        FROM unnest(%(relations)s::text[]) WITH ORDINALITY AS t(name, place)
        ORDER BY t.place
    ),
    %(compared)s
);

-- stamps --
-- Stamp and number of rows of these tables, in this order.
SELECT s.stamp, s.row_count
FROM unnest(%(relations)s::text[]) WITH ORDINALITY AS t(name, place)
CROSS JOIN LATERAL pganon.stamp(to_regclass(t.name)) AS s
ORDER BY t.place;

-- not_logged --
-- Those of these tables that a crash of the server would empty, or that are missing.
SELECT t.name
FROM unnest(%(relations)s::text[]) AS t(name)
LEFT JOIN pg_class AS c ON c.oid = to_regclass(t.name)
WHERE c.relpersistence IS DISTINCT FROM 'p' OR c.relkind <> 'r';

-- schemas --
-- Of each of these names whether such a schema exists; what the current role may do there or, if missing,
-- in the database; the owner of the schema, its number, and whether that role is the current one or a
-- superuser. In schema public it may be the pseudo-role of the owner of the database.
SELECT
    s.name,
    n.oid IS NOT NULL,
    coalesce(
        has_schema_privilege(n.oid, 'CREATE') AND has_schema_privilege(n.oid, 'USAGE'),
        has_database_privilege(current_database(), 'CREATE')
    ),
    coalesce(pg_has_role(n.nspowner, 'USAGE'), true)
        OR has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION'),
    o.rolname::text, o.oid, coalesce(o.rolname = current_user OR o.rolsuper, true)
FROM unnest(%(names)s::text[]) AS s(name)
JOIN pg_database AS d ON d.datname = current_database()
LEFT JOIN pg_namespace AS n ON n.nspname = s.name
LEFT JOIN pg_roles AS g ON g.oid = n.nspowner
LEFT JOIN pg_roles AS o
    ON o.oid = CASE g.rolname WHEN 'pg_database_owner' THEN d.datdba ELSE n.nspowner END
ORDER BY s.name;

-- rights --
-- What others may do beyond the policies: what it is counted under, role, text. `beside` are rights that are in
-- no list of privileges, by which others than the owner, its members and superusers may read or change what
-- is private: those of the server's own roles, replication, and publications, which may also name schemas
-- without a table. A member that may neither use nor take a role has none of its rights.
SELECT b.place, b.holder, b.held FROM pganon.beyond_policy() AS b
UNION ALL
SELECT 'beside', NULL, s.held
FROM (
    SELECT format('%%I has the rights of %%I', r.rolname, g.rolname) AS held
    FROM pg_roles AS r
    JOIN pg_roles AS g ON g.rolname IN (
        'pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files',
        'pg_execute_server_program'
    )
    WHERE NOT r.rolsuper AND r.rolname !~ '^pg_' AND NOT pg_has_role(r.oid, current_user, 'MEMBER')
        AND pganon.has_role(r.oid, g.oid)
    UNION ALL
    SELECT format('%%I has REPLICATION', r.rolname)
    FROM pg_roles AS r
    WHERE r.rolreplication AND NOT r.rolsuper AND NOT pg_has_role(r.oid, current_user, 'MEMBER')
    UNION ALL
    SELECT DISTINCT format('the publication %%I contains tables of schema %%I', p.pubname, n.nspname)
    FROM pg_namespace AS n
    JOIN pg_publication AS p ON p.puballtables
        OR EXISTS (
            SELECT FROM pg_publication_rel AS t JOIN pg_class AS c ON c.oid = t.prrelid
            WHERE t.prpubid = p.oid AND c.relnamespace = n.oid
        )
        OR EXISTS ( -- where PostgreSQL has FOR TABLES IN SCHEMA
            SELECT FROM pg_depend AS o JOIN pg_depend AS d ON d.classid = o.classid AND d.objid = o.objid
            WHERE o.classid = to_regclass('pg_catalog.pg_publication_namespace')
                AND o.refclassid = 'pg_publication'::regclass AND o.refobjid = p.oid
                AND d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid
        )
    WHERE n.nspname = ANY (%(private)s)
) AS s
ORDER BY held;

-- held_before --
-- The texts of what others may do beyond the policies, in every schema, and may still do afterwards.
-- What is private must be closed, except for a withdrawal.
SELECT ARRAY(
    SELECT b.held FROM pganon.beyond_policy(true) AS b WHERE %(withdraws)s OR b.place <> 'private schemas'
);

-- assert_unopened --
-- Refuse what others may do beyond that.
SELECT pganon.assert_unopened(%(before)s::text[]);

-- can_read --
-- Roles that can read any of these views, and why: role, reason, whether one can log in as it.
WITH reading AS (
    SELECT
        r.oid, r.rolname::text AS name, r.rolsuper AS super, r.rolcanlogin AS login,
        array_agg(c.oid) AS views, bool_or(r.oid = c.relowner) AS owns
    FROM unnest(%(schemas)s::text[], %(names)s::text[]) AS v(schema, name)
    JOIN pg_namespace AS n ON n.nspname = v.schema
    JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = v.name
    JOIN pg_roles AS r
        ON has_schema_privilege(r.oid, n.oid, 'USAGE')
        AND has_any_column_privilege(r.oid, c.oid, 'SELECT')
    GROUP BY r.oid, r.rolname, r.rolsuper, r.rolcanlogin
),

able AS (
    SELECT
        r.name,
        CASE
            WHEN r.owns THEN 'owner'
            WHEN r.name = ANY (%(readers)s::text[]) THEN 'reader'
            WHEN r.super THEN 'superuser'
            ELSE coalesce('through ' || (
                SELECT string_agg(DISTINCT g.name, ', ')
                FROM (
                    SELECT pg_get_userbyid(o.relowner)::text AS name, o.relowner AS oid
                    FROM pg_class AS o
                    WHERE o.oid = ANY (r.views)
                    UNION ALL
                    SELECT CASE acl.grantee WHEN 0 THEN 'public' ELSE h.rolname::text END, acl.grantee
                    FROM pg_class AS o
                    CROSS JOIN LATERAL (
                        SELECT o.relacl AS privileges
                        UNION ALL
                        SELECT a.attacl FROM pg_attribute AS a WHERE a.attrelid = o.oid
                    ) AS held
                    CROSS JOIN LATERAL aclexplode(held.privileges) AS acl
                    LEFT JOIN pg_roles AS h ON h.oid = acl.grantee
                    WHERE o.oid = ANY (r.views) AND acl.privilege_type = 'SELECT'
                ) AS g
                WHERE
                    g.oid = r.oid
                    OR CASE g.oid WHEN 0 THEN true ELSE pg_has_role(r.oid, g.oid, 'USAGE') END
            ), 'reads everything')
        END AS because,
        r.login
    FROM reading AS r
    UNION ALL
    -- A member that does not inherit reads after SET ROLE.
    SELECT
        r.rolname::text, 'can become ' || string_agg(h.name, ', ' ORDER BY h.name), r.rolcanlogin
    FROM pg_roles AS r
    JOIN reading AS h
        ON pg_has_role(
            r.oid, h.oid,
            CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END
        )
    WHERE r.oid NOT IN (SELECT k.oid FROM reading AS k)
    GROUP BY r.oid, r.rolname, r.rolcanlogin
)

-- Nobody logs in as one of the server's own roles; whom they are given to is listed.
SELECT a.name, a.because, a.login FROM able AS a WHERE a.name !~ '^pg_' ORDER BY 1;

-- members_of --
-- Roles that are or can become one of these, also by a membership that they may only give to themselves, but
-- for those that can read the source as well.
SELECT CASE
    WHEN 'public' = ANY (%(readers)s::text[]) THEN ARRAY['public']
    ELSE ARRAY(
        SELECT r.rolname::text
        FROM pg_roles AS r
        WHERE NOT r.rolsuper AND r.rolname !~ '^pg_'
            AND NOT pganon.has_role(r.oid, (SELECT o.oid FROM pg_roles AS o WHERE o.rolname = current_user))
            AND EXISTS (
                SELECT FROM pg_roles AS h
                WHERE h.rolname = ANY (%(readers)s::text[]) AND pg_has_role(r.oid, h.oid, 'MEMBER')
            )
        ORDER BY 1
    )
END;

-- unknown_readers --
-- Those of these roles of whom it is not known that they could ever read a version.
SELECT ARRAY(
    SELECT n.name
    FROM unnest(%(readers)s::text[]) AS n(name)
    LEFT JOIN pg_roles AS r ON r.rolname = n.name
    WHERE (n.name, coalesce(r.oid, 0)) NOT IN (SELECT * FROM unnest(v.readable_by, v.readable_ids))
    ORDER BY 1
)
FROM pganon_private.version AS v
WHERE v.release = %(release)s AND v.version = %(version)s;

-- remember_readers --
-- Add to those who could ever read a version.
WITH new AS (
    SELECT v.release, v.version, array_agg(n.name ORDER BY n.name) AS names,
        array_agg(coalesce(r.oid, 0) ORDER BY n.name) AS ids
    FROM pganon_private.version AS v
    CROSS JOIN unnest(%(readers)s::text[]) AS n(name)
    LEFT JOIN pg_roles AS r ON r.rolname = n.name
    WHERE v.release = %(release)s AND v.version = %(version)s
        AND (n.name, coalesce(r.oid, 0)) NOT IN (SELECT * FROM unnest(v.readable_by, v.readable_ids))
    GROUP BY v.release, v.version
)

UPDATE pganon_private.version AS v
SET readable_by = v.readable_by || n.names, readable_ids = v.readable_ids || n.ids
FROM new AS n
WHERE v.release = n.release AND v.version = n.version
RETURNING n.names;

-- lack_usage --
-- Those of these roles that may not use an existing schema.
SELECT r.name
FROM unnest(%(roles)s::text[]) AS r(name)
JOIN pg_namespace AS n ON n.nspname = %(schema)s
WHERE NOT has_schema_privilege(r.name::name, n.oid, 'USAGE');

-- lack_select --
-- Those of these roles that may not read a relation.
SELECT r.name
FROM unnest(%(roles)s::text[]) AS r(name)
JOIN pg_namespace AS n ON n.nspname = %(schema)s
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = %(name)s
WHERE NOT has_table_privilege(r.name::name, c.oid, 'SELECT');

-- relations --
-- What stands under each of these names: schema, name, oid, kind, whether it is the current role's, how
-- it can be written, what a view reads, columns and their types in order, and privileges of others than
-- the owner (column or NULL, role, privilege, grantable). Of a type alone, which a view needs for its row
-- type, there is no oid; array types give way.
SELECT
    t.schema, t.name, c.oid, c.relkind::text, pg_get_userbyid(c.relowner) = current_user,
    coalesce(pg_relation_is_updatable(c.oid, false), 0),
    ARRAY(
        SELECT DISTINCT rn.nspname || '.' || rc.relname
        FROM pg_rewrite AS w
        JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
        JOIN pg_class AS rc ON d.refclassid = 'pg_class'::regclass AND rc.oid = d.refobjid
        JOIN pg_namespace AS rn ON rn.oid = rc.relnamespace
        WHERE w.ev_class = c.oid AND rc.oid <> c.oid
        ORDER BY 1
    ),
    ARRAY(
        SELECT ARRAY[a.attname::text, format_type(a.atttypid, a.atttypmod)]
        FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attnum
    ),
    (
        SELECT coalesce(jsonb_agg(
            jsonb_build_array(g.column_name, g.role, g.privilege, g.grantable)
            ORDER BY g.column_name NULLS FIRST, g.role, g.privilege
        ), '[]')
        FROM (
            SELECT
                held.column_name,
                CASE acl.grantee WHEN 0 THEN 'public' ELSE r.rolname::text END AS role,
                acl.privilege_type AS privilege, bool_or(acl.is_grantable) AS grantable
            FROM (
                SELECT NULL::text AS column_name, c.relacl AS privileges
                UNION ALL
                SELECT a.attname::text, a.attacl
                FROM pg_attribute AS a
                WHERE a.attrelid = c.oid AND NOT a.attisdropped -- and of those of the system, such as ctid
            ) AS held
            CROSS JOIN LATERAL aclexplode(held.privileges) AS acl
            LEFT JOIN pg_roles AS r ON r.oid = acl.grantee
            WHERE acl.grantee <> c.relowner AND (acl.grantee = 0 OR r.oid IS NOT NULL)
            GROUP BY 1, 2, 3
        ) AS g
    )
FROM unnest(%(schemas)s::text[], %(names)s::text[]) AS t(schema, name)
JOIN pg_namespace AS n ON n.nspname = t.schema
LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = t.name
WHERE c.oid IS NOT NULL OR EXISTS (
    SELECT
    FROM pg_type AS y
    WHERE y.typnamespace = n.oid AND y.typname = t.name
        AND NOT EXISTS (SELECT FROM pg_type AS e WHERE e.typarray = y.oid)
);

-- remove_view --
-- Drop a view, or set it aside; gives what depends on it.
SELECT pganon.remove_view(%(oid)s::oid::regclass);

-- remove_views --
-- Take away the views of a release that its current version does not have; gives what depends on them.
SELECT pganon.remove_views(%(release)s);

-- close_views --
-- Let nobody but the owner read the views of a release.
SELECT pganon.close_views(%(release)s);

-- tidy_views --
-- Take away what is left of the views of a withdrawn release, or of all; gives what depends on them.
SELECT pganon.tidy_views(%(release)s::text);

-- dependents --
-- Objects that depend on a view or on its row type, not those that are part of it.
WITH target AS (
    SELECT 'pg_class'::regclass AS class, %(oid)s::oid AS oid
    UNION ALL
    SELECT 'pg_type'::regclass, t.oid
    FROM pg_type AS t
    JOIN pg_class AS c ON c.oid = %(oid)s AND t.oid = c.reltype
    UNION ALL
    SELECT 'pg_type'::regclass, t.typarray
    FROM pg_type AS t
    JOIN pg_class AS c ON c.oid = %(oid)s AND t.oid = c.reltype
)
SELECT DISTINCT
    CASE
        WHEN w.oid IS NOT NULL THEN pg_describe_object('pg_class'::regclass, w.ev_class, 0)
        ELSE pg_describe_object(d.classid, d.objid, d.objsubid)
    END
FROM target AS t
JOIN pg_depend AS d ON d.refclassid = t.class AND d.refobjid = t.oid
LEFT JOIN pg_rewrite AS w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
WHERE d.deptype = 'n' AND w.ev_class IS DISTINCT FROM %(oid)s::oid
ORDER BY 1;
