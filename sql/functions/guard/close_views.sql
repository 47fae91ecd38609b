-- Takes the views of a release from all readers. It waits for nobody who reads them, so committed by
-- itself it comes before what does wait.
CREATE FUNCTION pganon.close_views(p_release text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pganon.seal(s.view) FROM pganon.standing_views(p_release) AS s;
END
$$;

COMMENT ON FUNCTION pganon.close_views(text) IS 'let nobody but the owner read the views of a release';
