-- Queries of `pganon import`.

-- relation --
-- Whether a schema exists; the kind of a relation in it, its OID, and whether it decides by row who
-- may read it: by row-level security, or by policies for it.
SELECT
    n.oid IS NOT NULL,
    c.relkind::text,
    c.oid,
    c.relrowsecurity
    OR EXISTS (SELECT FROM pg_catalog.pg_policy AS p WHERE p.polrelid = c.oid)
FROM (SELECT) AS one
LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = %(schema)s
LEFT JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = %(name)s;

-- builtin_type --
-- A type of pg_catalog that is no pseudo-type, as the server writes it; NULL where there is none.
SELECT (
    SELECT pg_catalog.format_type(t.oid, NULL)
    FROM pg_catalog.pg_type AS t
    WHERE
        t.oid = pg_catalog.to_regtype(%(name)s) AND t.typnamespace = 'pg_catalog'::regnamespace
        AND t.typtype IN ('b', 'r', 'm')
);
