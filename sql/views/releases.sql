-- The current version of every release whose view the caller may read.
-- By name and not by to_regclass: that raises where the caller may not use the schema. A name is
-- not enough, though: whoever owns the schema of the view may have put another one in its place. So
-- it must be a view of the owner that reads the stored tables of the version and nothing else.
-- Behind a fence: see pganon.requests.
CREATE VIEW pganon.releases AS
SELECT f.*
FROM pg_catalog.unnest(ARRAY(
    SELECT q
    FROM (
        SELECT
            v.release,
            v.version,
            v.method,
            (
                SELECT
                    pg_catalog.string_agg(s.item ->> 'requirement', ', ' ORDER BY s.place)
                    || pg_catalog.min(', against a reader ' || (s.item ->> 'reader')) || CASE
                        WHEN v.over_versions = 'finer' THEN ' and has no finer version'
                        WHEN v.over_versions = 'void'
                                OR pg_catalog.bool_or(s.item ->> 'over_versions' = 'readers of one version')
                            THEN ' and has no other version'
                        ELSE ''
                    END
                FROM pg_catalog.jsonb_array_elements(v.guarantee) WITH ORDINALITY AS s(item, place)
            ) AS guarantee,
            v.published_at
        FROM pganon_private.release AS r
        JOIN pganon_private.version AS v ON v.release = r.name AND v.version = r.current_version
        JOIN pg_catalog.pg_namespace AS n ON n.nspname = r.view_schema::pg_catalog.name
        JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = r.view_name::pg_catalog.name
        WHERE v.dropped_at IS NULL
            AND c.relkind = 'v'
            AND c.relowner = (SELECT p.nspowner FROM pg_catalog.pg_namespace AS p WHERE p.nspname = 'pganon')
            AND (
                SELECT bool_and(tn.nspname = 'pganon_data' AND v.relations @> pg_catalog.jsonb_build_array(
                    pg_catalog.jsonb_build_object('schema', tn.nspname, 'name', t.relname)
                ))
                FROM pg_catalog.pg_rewrite AS w
                JOIN pg_catalog.pg_depend AS d
                    ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
                JOIN pg_catalog.pg_class AS t
                    ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND t.oid = d.refobjid
                JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.relnamespace
                WHERE w.ev_class = c.oid AND t.oid <> c.oid
            )
            AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
            AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
    ) AS q
)) AS f(
    release text, version integer, method text, guarantee text, published_at timestamptz
);

COMMENT ON VIEW pganon.releases IS 'releases that you may read: version, method, guarantee';
COMMENT ON COLUMN pganon.releases.guarantee IS
    'models and parameters, and against whom they hold; pganon.guarantees has what is assumed of readers';
