-- Keep a policy, its files, and the roles that it names as the newest revision of its release; gives its
-- number. Texts and roles that are those of the newest revision make no new one.
CREATE FUNCTION pganon.keep_policy(p_document json, p_files json, p_comment text, p_roles jsonb)
    RETURNS integer
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given_release constant text := p_document ->> 'release';
    hash bytea;
    newest record;
    given integer;
BEGIN
    SELECT sha256(convert_to(string_agg(
        octet_length(part)::text || ':' || part, '' ORDER BY place, part
    ), 'UTF8')) INTO hash
    FROM (
        SELECT 0 AS place, p_document::text AS part
        UNION ALL
        SELECT 1, octet_length(f.key)::text || ':' || f.key || f.value FROM json_each_text(p_files) AS f
    ) AS parts;
    -- One at a time: the next number is that of whoever comes first.
    LOCK TABLE pganon_private.policy IN SHARE ROW EXCLUSIVE MODE;
    SELECT p.revision, p.document_hash INTO newest
    FROM pganon_private.policy AS p
    WHERE p.release = given_release
    ORDER BY p.revision DESC
    LIMIT 1;
    IF newest.document_hash = hash AND NOT EXISTS (
        SELECT r.purpose, r.role, r.role_id
        FROM jsonb_to_recordset(p_roles) AS r(purpose text, role text, role_id oid)
        EXCEPT
        SELECT k.purpose, k.role, k.role_id
        FROM pganon_private.policy_role AS k
        WHERE k.release = given_release AND k.revision = newest.revision
    ) THEN
        RETURN newest.revision;
    END IF;
    given := coalesce(newest.revision, 0) + 1;
    INSERT INTO pganon_private.policy (release, revision, document, document_hash, comment)
    VALUES (given_release, given, p_document, hash, p_comment);
    INSERT INTO pganon_private.policy_file (release, revision, path, content)
    SELECT given_release, given, f.key, f.value FROM json_each_text(p_files) AS f;
    INSERT INTO pganon_private.policy_role (release, revision, purpose, role, role_id)
    SELECT given_release, given, r.purpose, r.role, r.role_id
    FROM jsonb_to_recordset(p_roles) AS r(purpose text, role text, role_id oid);
    RETURN given;
END
$$;

COMMENT ON FUNCTION pganon.keep_policy(json, json, text, jsonb) IS
    'keep a policy, its files, and the roles that it names; gives its revision';
