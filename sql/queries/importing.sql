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
