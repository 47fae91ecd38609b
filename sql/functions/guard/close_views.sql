-- Takes the views of a release from all readers. It waits for nobody who reads them, so committed by
-- itself it comes before what does wait. A reader can hold the privileges of a view as they are, by a GRANT
-- of nothing in an open transaction. Then the owner loses SELECT on the stored tables of the view, which
-- nobody reads without it; see tidy_views.sql for its return.
CREATE FUNCTION pganon.close_views(p_release text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '500ms'
AS $$
DECLARE
    standing regclass;
    stored regclass;
BEGIN
    FOR standing IN SELECT s.view FROM pganon.standing_views(p_release) AS s LOOP
        BEGIN
            PERFORM pganon.seal(standing);
        -- An internal error: privileges that somebody changed meanwhile cannot be changed.
        EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error THEN
            FOR stored IN SELECT t.relation FROM pganon.stored_tables(standing) AS t LOOP
                EXECUTE format('REVOKE SELECT ON %s FROM %I', stored, (
                    SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = stored
                ));
            END LOOP;
        END;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.close_views(text) IS 'let nobody but the owner read the views of a release';
