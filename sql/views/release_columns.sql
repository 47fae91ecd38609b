-- The columns of those releases. Who may see them is decided by pganon.releases alone.
CREATE VIEW pganon.release_columns WITH (security_barrier) AS
SELECT
    r.release,
    r.version,
    c.described ->> 'view' AS view,
    c.position,
    c.described ->> 'name' AS column_name,
    c.described ->> 'type' AS type,
    c.described ->> 'comment' AS comment
FROM pganon.releases AS r
JOIN pganon_private.version AS v ON v.release = r.release AND v.version = r.version
CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(v.columns)
    WITH ORDINALITY AS c(described, position);

COMMENT ON VIEW pganon.release_columns IS
    'columns of the releases that you may read: view, type, what they hold';
