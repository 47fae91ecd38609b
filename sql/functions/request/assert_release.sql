-- The version of a release that its readers see, if it was made by this policy and is not older;
-- else an error. The age counts from when the version was made, or last found to be what a run
-- would make. Who may not read the release does not learn whether it exists.
CREATE FUNCTION pganon.assert_release(
    release text, policy_hash text DEFAULT NULL, max_age interval DEFAULT NULL
)
    RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    shown record;
BEGIN
    SELECT p.version, p.policy_hash, p.confirmed_at INTO shown
    FROM pganon.release_policies AS p
    WHERE p.release = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401',
            MESSAGE = format('there is no release "%s" that "%s" may read', $1, current_user),
            HINT = 'SELECT * FROM pganon.releases';
    END IF;
    IF $2 IS NOT NULL AND shown.policy_hash IS DISTINCT FROM $2 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA412',
            MESSAGE = format('version %s of the release "%s" has another policy', shown.version, $1),
            HINT = 'release it anew, or correct the hash';
    END IF;
    IF $3 IS NOT NULL AND (clock_timestamp() - shown.confirmed_at <= $3) IS NOT TRUE THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA412',
            MESSAGE = format('version %s of the release "%s" is older than %s', shown.version, $1, $3),
            HINT = 'ask for a fresh one: SELECT pganon.request_release(...)';
    END IF;
    RETURN shown.version;
END
$$;

COMMENT ON FUNCTION pganon.assert_release(text, text, interval) IS
    'the version that is shown; an error if its policy or age is another';
