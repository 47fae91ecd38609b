-- What others than the owner may do in these schemas: privileges on the schemas, on relations and
-- their columns, and on functions, each with the statement that takes it away. A function has
-- EXECUTE for PUBLIC unless that was revoked. Of `p_outer` schemas it is what is granted on the schemas
-- themselves and, of all that is in them, on `p_relations`.
CREATE FUNCTION pganon.granted(
    p_schemas text[], p_outer text[] DEFAULT '{}', p_relations regclass[] DEFAULT '{}'
)
    RETURNS TABLE (
        schema text,
        object text,
        relation regclass,
        grantee text,
        privilege text,
        grantable boolean,
        held text,
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
        WHERE n.nspname = ANY ($1 || $2)
    ),
    relations AS (
        SELECT c.oid, o.nspname, c.relkind, c.relowner, c.relacl
        FROM pg_class AS c
        JOIN ours AS o ON o.oid = c.relnamespace
        WHERE o.nspname = ANY ($1) OR c.oid = ANY ($3)
    ),
    held AS (
        SELECT o.nspname, 'SCHEMA' AS kind, format('schema %I', o.nspname) AS object,
            format('%I', o.nspname) AS identity, NULL::regclass AS relation,
            o.nspowner AS owner, o.nspacl AS privileges
        FROM ours AS o
        UNION ALL
        SELECT c.nspname, CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
            c.oid::regclass::text, c.oid::regclass::text, c.oid::regclass, c.relowner, c.relacl
        FROM relations AS c
        UNION ALL
        SELECT c.nspname, 'TABLE', format('%s.%I', c.oid::regclass, a.attname), c.oid::regclass::text,
            c.oid::regclass, c.relowner, a.attacl
        FROM relations AS c
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attacl IS NOT NULL
        UNION ALL
        SELECT o.nspname, 'ROUTINE', p.oid::regprocedure::text, p.oid::regprocedure::text, NULL,
            p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
        FROM pg_proc AS p
        JOIN ours AS o ON o.oid = p.pronamespace
        WHERE o.nspname = ANY ($1)
    )
    SELECT h.nspname::text, h.object, h.relation, g.name, a.privilege_type, a.is_grantable,
        format('%s on %s to %I', a.privilege_type, h.object, g.name),
        format('REVOKE ALL ON %s %s FROM %s CASCADE', h.kind, h.identity,
            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END)
    FROM held AS h
    CROSS JOIN LATERAL aclexplode(h.privileges) AS a
    LEFT JOIN pg_roles AS r ON r.oid = a.grantee
    CROSS JOIN LATERAL (
        SELECT CASE a.grantee WHEN 0 THEN 'public' ELSE coalesce(r.rolname::text, a.grantee::text) END
    ) AS g(name)
    WHERE a.grantee <> h.owner
    ORDER BY 2, 4, 5
    $q$ USING p_schemas, p_outer, p_relations;
END
$$;

COMMENT ON FUNCTION pganon.granted(text[], text[], regclass[]) IS
    'privileges of others than the owner in these schemas, one row per object, grantee and privilege';
