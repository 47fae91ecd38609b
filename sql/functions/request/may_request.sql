-- Whether a role may ask for releases of a policy: it has the rights of one of the roles under
-- `requests`, or those of pganon's owner. The document may be any: nobody need have checked it.
CREATE FUNCTION pganon.may_request(p_role text, p_document json) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    roles json := p_document #> '{requests,roles}';
BEGIN
    IF pg_has_role(p_role, current_user, 'USAGE') THEN
        RETURN true;
    END IF;
    IF json_typeof(roles) IS DISTINCT FROM 'array' THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT
        FROM json_array_elements_text(roles) AS n(name)
        LEFT JOIN pg_roles AS r ON r.rolname = n.name
        WHERE n.name = 'public' OR pg_has_role(p_role, r.oid, 'USAGE')
    );
END
$$;

COMMENT ON FUNCTION pganon.may_request(text, json) IS
    'whether a role may request releases of a policy';
