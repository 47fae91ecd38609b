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
#variable_conflict use_column
DECLARE
    p_release text;
    hash bytea;
    newest record;
    given integer;
    missing text;
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
        AND (n.purpose, n.role) <> ('request', 'public');
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402',
            MESSAGE = format('there is no role %s, which the policy of "%s" names', missing, p_release),
            HINT = 'create it first: whoever had the name later would have its part';
    END IF;
    SELECT sha256(convert_to(string_agg(
        octet_length(part)::text || ':' || part, '' ORDER BY place, part
    ), 'UTF8')) INTO hash
    FROM (
        SELECT 0 AS place, $1::text AS part
        UNION ALL
        SELECT 1, octet_length(f.key)::text || ':' || f.key || f.value FROM json_each_text($2) AS f
    ) AS parts;
    -- One at a time: the next number is that of whoever comes first.
    LOCK TABLE pganon_private.policy IN SHARE ROW EXCLUSIVE MODE;
    SELECT p.revision, p.document_hash INTO newest
    FROM pganon_private.policy AS p
    WHERE p.release = p_release
    ORDER BY p.revision DESC
    LIMIT 1;
    IF newest.document_hash = hash AND NOT EXISTS (
        SELECT FROM pganon.policy_roles($1) AS n
        WHERE NOT EXISTS (
            SELECT FROM pganon.named_roles(p_release, newest.revision, n.purpose) AS k
            WHERE k.role = n.role
        )
    ) THEN
        RETURN newest.revision;
    END IF;
    given := coalesce(newest.revision, 0) + 1;
    INSERT INTO pganon_private.policy (release, revision, document, document_hash, comment)
    VALUES (p_release, given, $1, hash, $3);
    INSERT INTO pganon_private.policy_file (release, revision, path, content)
    SELECT p_release, given, f.key, f.value FROM json_each_text($2) AS f;
    INSERT INTO pganon_private.policy_role (release, revision, purpose, role, role_id)
    SELECT p_release, given, n.purpose, n.role, coalesce(r.oid, 0)
    FROM pganon.policy_roles($1) AS n
    LEFT JOIN pg_roles AS r ON r.rolname = n.role;
    RETURN given;
END
$$;

COMMENT ON FUNCTION pganon.apply_policy(json, json, text) IS
    'keep a policy and its files in the database; gives its revision';
