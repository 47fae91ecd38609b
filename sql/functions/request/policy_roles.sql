-- The roles that a policy names: who may request the release, who must approve it, who reads it, and whose
-- code may run. The document may be any: nobody need have checked it.
CREATE FUNCTION pganon.policy_roles(p_document json) RETURNS TABLE (purpose text, role text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT l.purpose, e.value #>> '{}'
    FROM (
        VALUES ('request', p_document #> '{requests,roles}'),
            ('approve', p_document #> '{publish,approval,by}'),
            ('read', p_document #> '{publish,readers}'),
            ('trust', p_document #> '{trust}')
    ) AS l(purpose, roles)
    CROSS JOIN LATERAL json_array_elements(
        CASE json_typeof(l.roles) WHEN 'array' THEN l.roles ELSE '[]' END
    ) AS e(value)
    WHERE json_typeof(e.value) = 'string';
END
$$;

COMMENT ON FUNCTION pganon.policy_roles(json) IS 'roles that a policy names, and for what';
