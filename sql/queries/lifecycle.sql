-- Queries over published releases.

-- readable --
-- Releases that the current role may read.
SELECT r.release, r.version, r.method, (
    SELECT coalesce(pg_catalog.jsonb_agg(g.details ORDER BY g.position), '[]')
    FROM pganon.guarantees AS g
    WHERE g.release = r.release
), (
    SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'view', c.view, 'name', c.column_name, 'type', c.type, 'comment', c.comment,
        'form', c.form, 'kind', c.kind, 'collation', c.collation, 'attained', c.attained,
        'part', c.part, 'bucket', c.bucket
    ) ORDER BY c.position), '[]')
    FROM pganon.release_columns AS c
    WHERE c.release = r.release
), r.published_at
FROM pganon.releases AS r
ORDER BY r.release;

-- names --
-- Every release, for the steward.
SELECT name FROM pganon_private.release ORDER BY name;

-- verify --
-- Measure the current version of a release again.
SELECT model, column_name, against, parameter::float8, measured::float8, holds
FROM pganon.verify(%(release)s);

-- writable --
-- Whether this transaction may write: on a read replica none may.
SELECT pg_catalog.current_setting('transaction_read_only') = 'off';

-- current_role --
-- Who the statements of this session act as.
SELECT current_user::text;

-- arrays --
-- Those of these types that are arrays.
SELECT t.oid::bigint
FROM pg_catalog.pg_type AS t
WHERE t.oid = ANY (%(oids)s::oid[]) AND t.typcategory = 'A';

-- open --
-- Whether everybody who may connect may read a view.
SELECT pg_catalog.has_schema_privilege('public', n.oid, 'USAGE')
    AND pg_catalog.has_table_privilege('public', c.oid, 'SELECT')
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname = %(name)s;
