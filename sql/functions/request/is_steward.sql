-- Whether a role has the rights of pganon's owner, without SET ROLE.
CREATE FUNCTION pganon.is_steward(p_role oid) RETURNS boolean
    LANGUAGE sql STABLE
RETURN (
    SELECT pg_has_role(p_role, n.nspowner, 'USAGE')
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname = 'pganon'
);

COMMENT ON FUNCTION pganon.is_steward(oid) IS 'whether a role has the rights of pganon''s owner';
