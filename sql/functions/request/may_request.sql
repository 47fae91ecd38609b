-- Whether a role may ask for releases of a policy: it has the rights of one of the roles under
-- `requests`, or those of pganon's owner. Whoever can take them by SET ROLE asks as that role.
CREATE FUNCTION pganon.may_request(p_actor oid, p_release text, p_revision integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pganon.is_steward(p_actor) OR EXISTS (
        SELECT
        FROM pganon.named_roles(p_release, p_revision, 'request') AS n
        WHERE n.role_id = 0 OR pg_has_role(p_actor, n.role_id, 'USAGE')
    );
END
$$;

COMMENT ON FUNCTION pganon.may_request(oid, text, integer) IS
    'whether a role may request releases of a policy';
