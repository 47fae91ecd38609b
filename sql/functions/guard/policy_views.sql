-- Views of the versions that releases show, with the readers of these; and of withdrawn releases, without
-- readers, since views that were in use may stand.
CREATE FUNCTION pganon.policy_views() RETURNS TABLE (schema text, name text, readers text[])
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT i.item ->> 'schema', i.item ->> 'name',
        CASE WHEN r.current_version IS NULL THEN '{}' ELSE r.readers END
    FROM pganon_private.release AS r
    JOIN pganon_private.version AS v
        ON v.release = r.name AND v.version = coalesce(r.current_version, v.version)
    CROSS JOIN LATERAL jsonb_array_elements(v.views) AS i(item);
END
$$;

COMMENT ON FUNCTION pganon.policy_views() IS 'views of releases, and who reads them by the policies';
