-- What others than the owner may do in these schemas: privileges on the schemas, on relations and
-- their columns, and on functions, each with the statement that takes it away. A function has
-- EXECUTE for PUBLIC unless that was revoked.
CREATE FUNCTION pganon.granted(p_schemas text[])
    RETURNS TABLE (
        object text,
        relation regclass,
        grantee text,
        privilege text,
        grantable boolean,
        revoke text
    )
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY EXECUTE $q$
    WITH ours AS (
        SELECT n.oid, n.nspname, n.nspowner, n.nspacl
        FROM pg_namespace AS n
        WHERE n.nspname = ANY ($1)
    ),
    held AS (
        SELECT 'SCHEMA' AS kind, format('schema %I', o.nspname) AS object,
            format('%I', o.nspname) AS identity, NULL::regclass AS relation,
            o.nspowner AS owner, o.nspacl AS privileges
        FROM ours AS o
        UNION ALL
        SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass::text,
            c.oid::regclass::text, c.oid::regclass, c.relowner, c.relacl
        FROM pg_class AS c JOIN ours AS o ON o.oid = c.relnamespace
        UNION ALL
        SELECT 'TABLE', format('%s.%I', c.oid::regclass, a.attname), c.oid::regclass::text,
            c.oid::regclass, c.relowner, a.attacl
        FROM pg_class AS c
        JOIN ours AS o ON o.oid = c.relnamespace
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attacl IS NOT NULL
        UNION ALL
        SELECT 'ROUTINE', p.oid::regprocedure::text, p.oid::regprocedure::text, NULL, p.proowner,
            coalesce(p.proacl, acldefault('f', p.proowner))
        FROM pg_proc AS p JOIN ours AS o ON o.oid = p.pronamespace
    )
    SELECT h.object, h.relation,
        CASE a.grantee WHEN 0 THEN 'public' ELSE coalesce(r.rolname::text, a.grantee::text) END,
        a.privilege_type, a.is_grantable,
        format('REVOKE ALL ON %s %s FROM %s CASCADE', h.kind, h.identity,
            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END)
    FROM held AS h
    CROSS JOIN LATERAL aclexplode(h.privileges) AS a
    LEFT JOIN pg_roles AS r ON r.oid = a.grantee
    WHERE a.grantee <> h.owner
    ORDER BY 1, 3, 4
    $q$ USING p_schemas;
END
$$;

COMMENT ON FUNCTION pganon.granted(text[]) IS
    'privileges of others than the owner in these schemas, one row per object, grantee and privilege';
