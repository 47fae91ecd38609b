-- Stored tables that a view reads. Only views of releases read any: nobody else may use their schema.
CREATE FUNCTION pganon.stored_tables(p_view regclass) RETURNS TABLE (relation regclass)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT c.oid::regclass
    FROM pg_rewrite AS w
    JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
        AND d.refclassid = 'pg_class'::regclass
    JOIN pg_class AS c ON c.oid = d.refobjid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE w.ev_class = p_view AND n.nspname = 'pganon_data' AND c.relkind = 'r';
END
$$;

COMMENT ON FUNCTION pganon.stored_tables(regclass) IS 'stored tables that a view reads';
