-- Takes the views of a release from all readers. It waits for nobody who reads them, so committed by
-- itself it comes before what does wait. A reader can hold the privileges of a view as they are, by a GRANT
-- of nothing in an open transaction. Then its tables are closed.
CREATE FUNCTION pganon.close_views(p_release text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '500ms'
AS $$
DECLARE
    standing regclass;
BEGIN
    FOR standing IN SELECT s.view FROM pganon.standing_views(p_release) AS s LOOP
        BEGIN
            PERFORM pganon.seal(standing);
        -- An internal error: privileges that somebody changed meanwhile cannot be changed.
        EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error THEN
            PERFORM pganon.close_tables(standing);
        END;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.close_views(text) IS 'let nobody but the owner read the views of a release';
