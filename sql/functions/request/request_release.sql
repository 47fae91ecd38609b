-- Ask for a release: queues a request for the newest revision of its policy, for a worker to
-- serve, and gives its number. An equal request of the same role that waits is that one.
-- Whoever may not ask for it does not learn whether there is such a release.
CREATE FUNCTION pganon.request_release(
    release text, parameters jsonb DEFAULT '{}', not_before timestamptz DEFAULT NULL
)
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    who text := pganon.caller();
    wanted jsonb := coalesce($2, '{}');
    newest record;
    waiting bigint;
BEGIN
    SELECT p.revision, p.document, p.checked_at, p.problems INTO newest
    FROM pganon_private.policy AS p
    WHERE p.release = $1
    ORDER BY p.revision DESC
    LIMIT 1;
    IF NOT FOUND OR NOT pganon.may_request(who, newest.document) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401',
            MESSAGE = format('there is no release "%s" that "%s" may request', $1, who),
            HINT = 'the steward names who may under `requests: {roles: [...]}` of its policy';
    END IF;
    IF EXISTS (
        SELECT FROM pganon_private.release AS r WHERE r.name = $1 AND r.current_version IS NULL
    ) AND NOT pg_has_role(who, current_user, 'USAGE') THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('the release "%s" was withdrawn', $1),
            HINT = 'the steward alone can make it again';
    END IF;
    IF newest.checked_at IS NOT NULL AND newest.problems <> '{}' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA404',
            MESSAGE = format('the policy of the release "%s" cannot be used as it is', $1),
            HINT = format('the steward sees why by `pganon policy show %s`', $1);
    END IF;
    PERFORM pganon.check_parameters(newest.document, wanted);
    IF NOT isfinite(coalesce($3, now())) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402', MESSAGE = 'not_before must be a time', HINT = 'leave it out for now';
    END IF;
    waiting := pganon.waiting_request($1, newest.revision, 'run', wanted, who, $3);
    IF waiting IS NOT NULL THEN
        RETURN waiting;
    END IF;
    PERFORM pganon.check_limits($1, newest.document, session_user);
    RETURN pganon.enqueue($1, newest.revision, 'run', 'request', wanted, who, $3);
END
$$;

COMMENT ON FUNCTION pganon.request_release(text, jsonb, timestamptz) IS
    'ask for a release to be made; gives the number of the request';
