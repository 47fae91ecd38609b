-- What decides under whose rights something is done with these schemas and views: owners other than the
-- current role, options of views, row-level security, functions that run as their
-- owner, and who can become the owner, or read
-- or write everything. It changes only by what an administrator does, so it is compared, never judged.
CREATE FUNCTION pganon.acting_rights(p_schemas text[], p_outer text[], p_views regclass[])
    RETURNS TABLE (place text, holder text, held text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    owner_id constant oid := (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user);
    -- By number: what the server expects of owners is wrong, and a join would go over all functions.
    own constant oid[] := ARRAY(SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = ANY (p_schemas));
BEGIN
    RETURN QUERY
    SELECT 'owners', r.rolname::text, format('ownership of %s by %I', o.object, r.rolname)
    FROM (
        SELECT n.nspowner AS role, format('schema %I', n.nspname) AS object
        FROM pg_namespace AS n
        WHERE n.nspname = ANY (p_schemas || p_outer)
        UNION ALL
        SELECT c.relowner, c.oid::regclass::text
        FROM pg_class AS c
        WHERE c.relnamespace = ANY (own) OR c.oid = ANY (p_views)
        UNION ALL
        SELECT p.proowner, p.oid::regprocedure::text
        FROM pg_proc AS p
        WHERE p.pronamespace = ANY (own)
    ) AS o
    JOIN pg_roles AS r ON r.oid = o.role
    WHERE o.role <> owner_id
    UNION ALL
    SELECT 'options', NULL, format('options of %s: %s', c.oid::regclass,
        coalesce(nullif(array_to_string(c.reloptions, ', '), ''), 'none'))
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind = 'v' AND (
        n.nspname = 'pganon' OR c.oid = ANY (p_views) AND c.reloptions IS NOT NULL
    )
    UNION ALL
    SELECT 'options', NULL, format('row-level security of %s', c.oid::regclass)
    FROM pg_class AS c
    WHERE c.relnamespace = ANY (own) AND c.relrowsecurity
    UNION ALL
    SELECT 'options', NULL, format('rights of its owner in %s', p.oid::regprocedure)
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = 'pganon' AND p.prosecdef
    UNION ALL
    SELECT 'roles', m.rolname::text, format('membership of %I in %I', m.rolname, r.rolname)
    FROM pg_roles AS r
    JOIN pg_roles AS m ON m.oid <> r.oid AND pg_has_role(m.oid, r.oid, 'MEMBER')
    WHERE r.oid = owner_id OR r.rolname IN ('pg_read_all_data', 'pg_write_all_data');
END
$$;

COMMENT ON FUNCTION pganon.acting_rights(text[], text[], regclass[]) IS
    'what decides under whose rights something is done with schemas and views';
