-- Keep a policy, with the files that it names, as the newest revision of its release. Texts that
-- are those of the newest revision make no new one, unless a role that they name is another one by now.
-- The program checks it: a worker soon, `pganon policy check --stored` now.
CREATE FUNCTION pganon.apply_policy(
    document json, files json DEFAULT '{}', comment text DEFAULT NULL
)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    p_release text;
    missing text;
    roles jsonb;
BEGIN
    IF json_typeof($1) IS DISTINCT FROM 'object' OR json_typeof($1 -> 'release') IS DISTINCT FROM 'string'
        OR octet_length($1 ->> 'release') NOT BETWEEN 1 AND 63
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402',
            MESSAGE = 'the document is not a policy: it has no name under "release"',
            HINT = 'a policy as JSON: {"release": ..., "source": ..., "columns": ..., ...}';
    END IF;
    IF json_typeof($2) IS DISTINCT FROM 'object'
        OR EXISTS (SELECT FROM json_each($2) AS f WHERE json_typeof(f.value) <> 'string')
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402',
            MESSAGE = 'the files are not an object of texts by path',
            HINT = 'for example {"hierarchies/zip.csv": "..."}';
    END IF;
    p_release := $1 ->> 'release';
    SELECT string_agg(format('"%s"', n.role), ', ' ORDER BY n.role) INTO missing
    FROM pganon.policy_roles($1) AS n
    WHERE NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = n.role)
        AND (n.purpose, n.role) NOT IN (('request', 'public'), ('read', 'public'));
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402',
            MESSAGE = format('there is no role %s, which the policy of "%s" names', missing, p_release),
            HINT = 'create it first: whoever had the name later would have its part';
    END IF;
    roles := (
        SELECT jsonb_agg(jsonb_build_object(
            'purpose', n.purpose, 'role', n.role, 'role_id', coalesce(r.oid, 0)
        ))
        FROM pganon.policy_roles($1) AS n
        LEFT JOIN pg_roles AS r ON r.rolname = n.role
    );
    RETURN pganon.keep_policy($1, $2, $3, roles);
END
$$;

COMMENT ON FUNCTION pganon.apply_policy(json, json, text) IS
    'keep a policy and its files in the database; gives its revision';
