-- Leaves a view its columns, on which objects of others depend, and nothing else: it reads no
-- relation any more. Who reads it, or what stands on it, gets an error with the text, whoever owns
-- that: no rows at all would look like an answer. The planner computes the condition, of every query.
CREATE FUNCTION pganon.refuse_view(p_view regclass) RETURNS void
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
    EXECUTE format(
        'CREATE OR REPLACE VIEW %s AS SELECT %s WHERE %L::text::boolean', p_view, columns,
        format('%s was withdrawn, or has other columns now', p_view)
    );
END
$$;

COMMENT ON FUNCTION pganon.refuse_view(regclass) IS 'make a view refuse whoever reads it, with the same columns';
