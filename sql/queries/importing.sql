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
