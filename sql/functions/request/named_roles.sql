-- The roles that a revision of a policy names for a purpose, as far as they are what they were when it was
-- applied: none that was renamed since, or dropped and made again.
CREATE FUNCTION pganon.named_roles(p_release text, p_revision integer, p_purpose text)
    RETURNS TABLE (role text, role_id oid)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT n.role, n.role_id
    FROM pganon_private.policy_role AS n
    WHERE n.release = p_release AND n.revision = p_revision AND n.purpose = p_purpose
        AND (n.role_id = 0 OR pg_get_userbyid(n.role_id) = n.role);
END
$$;

COMMENT ON FUNCTION pganon.named_roles(text, integer, text) IS
    'roles that a revision of a policy names for a purpose, if they are still the same';
