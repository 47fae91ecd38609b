-- The type in which values of a column are compared: the server's own, or an enum; of a domain what it
-- is made from. Types of extensions and of others would bring their own operators and casts.
CREATE FUNCTION pganon.plain_type(p_kind text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    RETURN (
        WITH RECURSIVE base AS (
            SELECT to_regtype(p_kind)::oid AS type
            UNION ALL
            SELECT t.typbasetype
            FROM base AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype = 'd'
        )
        SELECT format_type(t.oid, -1)
        FROM base AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype <> 'd'
        WHERE t.typtype = 'e' OR (
            t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b'
            AND t.typcategory IN ('N', 'D', 'T', 'S', 'B', 'U')
            AND t.typname NOT IN ('json', 'xml', 'name') AND t.typname NOT LIKE 'reg%'
        )
    );

COMMENT ON FUNCTION pganon.plain_type(text) IS
    'the type in which pganon.estimate compares values of a column; NULL if it cannot';
