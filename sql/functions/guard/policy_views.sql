-- Views of the versions that releases show, with the readers of these, as far as they are still the roles
-- that were named; and of withdrawn releases, without readers, since views that were in use may stand.
CREATE FUNCTION pganon.policy_views() RETURNS TABLE (schema text, name text, readers text[])
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT i.item ->> 'schema', i.item ->> 'name',
        CASE WHEN r.current_version IS NULL THEN '{}' ELSE ARRAY(
            SELECT n.role
            FROM unnest(r.readers, r.reader_ids) AS n(role, id)
            WHERE n.id = 0 OR pg_get_userbyid(n.id) = n.role
        ) END
    FROM pganon_private.release AS r
    JOIN pganon_private.version AS v
        ON v.release = r.name AND v.version = coalesce(r.current_version, v.version)
    CROSS JOIN LATERAL jsonb_array_elements(v.views) AS i(item);
END
$$;

COMMENT ON FUNCTION pganon.policy_views() IS 'views of releases, and who reads them by the policies';
