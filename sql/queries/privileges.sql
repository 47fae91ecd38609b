-- Queries about privileges that others hold.

-- foreign_grantees --
-- Roles other than the owner that hold a privilege on a relation or its columns; NULL is PUBLIC.
SELECT DISTINCT r.rolname::text
FROM pg_catalog.pg_class AS c
CROSS JOIN LATERAL (
    SELECT c.relacl AS privileges
    UNION ALL
    SELECT a.attacl FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.oid
) AS held
CROSS JOIN LATERAL pg_catalog.aclexplode(held.privileges) AS acl
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = acl.grantee
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname = %(name)s AND acl.grantee <> c.relowner
ORDER BY 1;
