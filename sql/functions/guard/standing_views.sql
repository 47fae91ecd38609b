-- Views of a release that there are, and whether the current version has one of that name. Of other
-- versions, views may stand that were in use when they were withdrawn. Anybody's view may have the
-- name of one that is gone, so these count only if they are the owner's and read nothing but stored
-- tables of the release.
CREATE FUNCTION pganon.standing_views(p_release text) RETURNS TABLE (view regclass, shown boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH named AS (
        SELECT i.item ->> 'schema' AS schema, i.item ->> 'name' AS name,
            coalesce(bool_or(v.version = r.current_version), false) AS shown
        FROM pganon_private.release AS r
        JOIN pganon_private.version AS v ON v.release = r.name
        CROSS JOIN LATERAL jsonb_array_elements(v.views) AS i(item)
        WHERE r.name = p_release
        GROUP BY 1, 2
    )
    SELECT c.oid::regclass, m.shown
    FROM named AS m
    JOIN pg_namespace AS n ON n.nspname = m.schema
    JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = m.name
    WHERE c.relkind = 'v'
        AND c.relowner = (SELECT p.nspowner FROM pg_namespace AS p WHERE p.nspname = 'pganon')
        AND (m.shown OR (
            SELECT bool_and(tn.nspname = 'pganon_data' AND EXISTS (
                SELECT
                FROM pganon_private.version AS w
                WHERE w.release = p_release AND w.relations @> jsonb_build_array(
                    jsonb_build_object('schema', tn.nspname, 'name', t.relname)
                )
            ))
            FROM pg_rewrite AS w
            JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> c.oid
            JOIN pg_class AS t ON t.oid = d.refobjid
            JOIN pg_namespace AS tn ON tn.oid = t.relnamespace
            WHERE w.ev_class = c.oid
        ))
    -- Views that read others of them first.
    ORDER BY c.oid DESC;
END
$$;

COMMENT ON FUNCTION pganon.standing_views(text) IS
    'views of a release that there are, and whether the current version has one of that name';
