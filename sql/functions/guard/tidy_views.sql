-- Takes away the views of a withdrawn release unless they are in use; of NULL, of all withdrawn
-- releases, and views that were set aside and on which nobody has built any more. Gives what depends on
-- them, see remove_view.sql.
CREATE FUNCTION pganon.tidy_views(p_release text) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '100ms'
AS $$
DECLARE
    withdrawn text;
    aside regclass;
    stored regclass;
    owner name;
    dependents text[] := '{}';
BEGIN
    BEGIN
        -- Excludes publications.
        LOCK TABLE pganon_private.release IN SHARE ROW EXCLUSIVE MODE;
    EXCEPTION WHEN lock_not_available THEN
        RETURN dependents;
    END;
    FOR withdrawn IN
        SELECT r.name
        FROM pganon_private.release AS r
        WHERE r.current_version IS NULL AND (p_release IS NULL OR r.name = p_release)
    LOOP
        BEGIN
            dependents := dependents || pganon.remove_views(withdrawn);
        EXCEPTION WHEN lock_not_available OR internal_error THEN
            -- Somebody has them open, or changed their privileges meanwhile. What the owner has built on
            -- them must not show them either.
            FOR aside IN SELECT s.view FROM pganon.standing_views(withdrawn) AS s LOOP
                PERFORM pganon.close_tables(aside);
            END LOOP;
        END;
    END LOOP;
    FOR aside IN
        SELECT c.oid
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE p_release IS NULL AND n.nspname = 'pganon_private' AND c.relkind = 'v'
            AND c.relname LIKE 'set\_aside\_%'
    LOOP
        BEGIN
            EXECUTE format('DROP VIEW %s', aside);
        EXCEPTION WHEN dependent_objects_still_exist OR lock_not_available THEN
            NULL;
        END;
    END LOOP;
    -- What close_tables.sql took from the owner, where the view is gone.
    FOR stored, owner IN
        SELECT c.oid, pg_get_userbyid(c.relowner)
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'pganon_data' AND c.relkind = 'r'
            AND NOT has_table_privilege(c.relowner, c.oid, 'SELECT')
            AND NOT EXISTS (
                SELECT
                FROM pg_depend AS d
                WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
                    AND d.refobjid = c.oid
            )
    LOOP
        EXECUTE format('GRANT SELECT ON %s TO %I', stored, owner);
    END LOOP;
    RETURN dependents;
END
$$;

COMMENT ON FUNCTION pganon.tidy_views(text) IS
    'take away the views of withdrawn releases unless they are in use; gives what depends on them';
