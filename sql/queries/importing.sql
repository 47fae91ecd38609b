-- Queries of `pganon import`.

-- relation --
-- Kind of an existing relation, and whether its schema exists.
SELECT
    EXISTS (SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname = %(schema)s),
    (
        SELECT c.relkind::text
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = %(schema)s AND c.relname = %(name)s
    );

-- row_security --
-- Whether a table decides by row who may read it: row-level security, or policies for it.
SELECT c.relrowsecurity OR EXISTS (SELECT FROM pg_catalog.pg_policy AS p WHERE p.polrelid = c.oid)
FROM pg_catalog.pg_class AS c
WHERE c.oid = %(oid)s;

-- builtin_type --
-- A type of pg_catalog that is no pseudo-type, as the server writes it; NULL where there is none.
SELECT (
    SELECT pg_catalog.format_type(t.oid, NULL)
    FROM pg_catalog.pg_type AS t
    WHERE
        t.oid = pg_catalog.to_regtype(%(name)s) AND t.typnamespace = 'pg_catalog'::regnamespace
        AND t.typtype IN ('b', 'r', 'm')
);
