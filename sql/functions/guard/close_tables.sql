-- Takes SELECT on the stored tables of a view from their owner: without it nobody reads the view, nor
-- what anybody has built on it. See tidy_views.sql for its return.
CREATE FUNCTION pganon.close_tables(p_view regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    stored regclass;
BEGIN
    FOR stored IN SELECT t.relation FROM pganon.stored_tables(p_view) AS t LOOP
        EXECUTE format('REVOKE SELECT ON %s FROM %I', stored, (
            SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = stored
        ));
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.close_tables(regclass) IS
    'let nobody read a view, or what is built on it, until it is gone';
