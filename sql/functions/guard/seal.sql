-- Takes every privilege on a relation from everybody but its owner, those on columns with it.
-- A new table may be born open: ALTER DEFAULT PRIVILEGES of its owner decides.
CREATE FUNCTION pganon.seal(rel regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- Inside a privilege array 0 is PUBLIC; the owner's own entries stay.
    grantees constant text := $q$
        SELECT DISTINCT CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE format('%I', r.rolname) END
        FROM (
            SELECT relacl AS privileges FROM pg_class WHERE oid = $1
            UNION ALL
            SELECT attacl FROM pg_attribute WHERE attrelid = $1 AND attacl IS NOT NULL
        ) AS held
        CROSS JOIN LATERAL aclexplode(held.privileges) AS acl
        LEFT JOIN pg_roles AS r ON r.oid = acl.grantee
        WHERE acl.grantee <> (SELECT relowner FROM pg_class WHERE oid = $1)
    $q$;
    kind constant text := CASE (SELECT relkind FROM pg_class WHERE oid = rel)
        WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END;
    grantee text;
    still_open boolean;
BEGIN
    -- Most tables are born without any entry, which opens them to nobody.
    IF NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = rel AND c.relacl IS NOT NULL)
        AND NOT EXISTS (
            SELECT FROM pg_attribute AS a WHERE a.attrelid = rel AND a.attacl IS NOT NULL
        )
    THEN
        RETURN;
    END IF;
    FOR grantee IN EXECUTE grantees USING rel LOOP
        EXECUTE format('REVOKE ALL ON %s %s FROM %s CASCADE', kind, rel, grantee);
    END LOOP;
    -- REVOKE says nothing when somebody else granted the privilege.
    EXECUTE 'SELECT EXISTS (' || grantees || ')' INTO still_open USING rel;
    IF still_open THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA101',
            MESSAGE = format('%s stays readable to roles other than its owner', rel),
            HINT = 'revoke the privileges that another role granted on it';
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.seal(regclass) IS
    'revoke every privilege on a relation and its columns from everybody but the owner';
