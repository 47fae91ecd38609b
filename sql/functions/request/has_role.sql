-- Whether a role has the rights of another one, or can take them by SET ROLE. A membership that grants
-- neither, which there is from PostgreSQL 16 on, does not count.
CREATE FUNCTION pganon.has_role(p_member oid, p_role oid) RETURNS boolean
    LANGUAGE sql STABLE
RETURN pg_has_role(
    p_member, p_role,
    CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'USAGE, SET' ELSE 'MEMBER' END
);

COMMENT ON FUNCTION pganon.has_role(oid, oid) IS 'whether a role has, or can take, the rights of another one';
