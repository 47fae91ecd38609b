-- The type in which values of a column are compared: one of the server's own, without length and scale.
-- Enums are published as texts, domains as what they are made from. Types of extensions would bring
-- their own operators and casts, and perhaps lie in schemas that the caller may not use.
CREATE FUNCTION pganon.plain_type(p_kind text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    RETURN (
        SELECT format_type(t.oid, -1) FROM pg_type AS t
        WHERE t.oid = CASE WHEN p_kind NOT LIKE '%.%' THEN to_regtype(p_kind) END
            AND t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b'
            AND t.typcategory IN ('N', 'D', 'T', 'S', 'B', 'U')
            AND t.typname NOT IN ('json', 'xml', 'name') AND t.typname NOT LIKE 'reg%'
    );

COMMENT ON FUNCTION pganon.plain_type(text) IS
    'the type in which pganon.estimate compares values of a column; NULL if it cannot';
