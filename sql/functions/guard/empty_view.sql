-- Leaves a view its columns, on which objects of others depend, and nothing else: it reads no
-- relation any more, and has no row.
CREATE FUNCTION pganon.empty_view(p_view regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    columns text;
BEGIN
    SELECT string_agg(
        format('NULL::%s%s AS %I', format_type(a.atttypid, a.atttypmod),
            ' COLLATE ' || quote_ident(n.nspname) || '.' || quote_ident(o.collname), a.attname),
        ', ' ORDER BY a.attnum
    ) INTO columns
    FROM pg_attribute AS a
    LEFT JOIN pg_collation AS o ON o.oid = a.attcollation
    LEFT JOIN pg_namespace AS n ON n.oid = o.collnamespace
    WHERE a.attrelid = p_view AND a.attnum > 0;
    EXECUTE format('CREATE OR REPLACE VIEW %s AS SELECT %s WHERE false', p_view, columns);
END
$$;

COMMENT ON FUNCTION pganon.empty_view(regclass) IS 'make a view show nothing, with the same columns';
