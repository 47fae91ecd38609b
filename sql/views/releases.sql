-- The current version of every release whose view the caller may read.
-- By name and not by to_regclass: that raises where the caller may not use the schema.
CREATE VIEW pganon.releases WITH (security_barrier) AS
SELECT
    v.release,
    v.version,
    v.method,
    v.guarantee,
    v.columns,
    v.published_at
FROM pganon_private.release AS r
JOIN pganon_private.version AS v ON v.release = r.name AND v.version = r.current_version
JOIN pg_catalog.pg_namespace AS n ON n.nspname = r.view_schema::pg_catalog.name
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = r.view_name::pg_catalog.name
WHERE v.dropped_at IS NULL
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND pg_catalog.has_table_privilege(c.oid, 'SELECT');

COMMENT ON VIEW pganon.releases IS 'releases that you may read: version, method, guarantee, columns';
