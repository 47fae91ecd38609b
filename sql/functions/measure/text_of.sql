-- An expression for the text of another one, which is of the given type. Casts can be planted on
-- every type that is not the server's own by who owns it, output functions by superusers alone.
CREATE FUNCTION pganon.text_of(p_type oid, p_expression text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own_type boolean;
BEGIN
    WITH RECURSIVE base AS (
        SELECT p_type AS type
        UNION ALL
        SELECT t.typbasetype
        FROM base AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype = 'd'
    )
    SELECT t.typnamespace = 'pg_catalog'::regnamespace INTO own_type
    FROM base AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype <> 'd';
    RETURN format(
        CASE WHEN own_type THEN '(%1$s)::text'
            ELSE 'CASE WHEN num_nulls(%1$s) = 0 THEN format(''%%s'', %1$s) END' END,
        p_expression
    );
END
$$;

COMMENT ON FUNCTION pganon.text_of(oid, text) IS
    'an expression for the text of an expression, which runs no code of who owns its type';
