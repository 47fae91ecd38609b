-- Takes away the views of a release that its current version does not have; all of them, if it has no
-- current version. Gives what depends on them, see remove_view.sql.
CREATE FUNCTION pganon.remove_views(p_release text) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found regclass;
    dependents text[] := '{}';
BEGIN
    FOR found IN SELECT s.view FROM pganon.standing_views(p_release) AS s WHERE NOT s.shown LOOP
        dependents := dependents || pganon.remove_view(found);
    END LOOP;
    RETURN dependents;
END
$$;

COMMENT ON FUNCTION pganon.remove_views(text) IS
    'take away views of a release that its current version does not have; gives what depends on them';
