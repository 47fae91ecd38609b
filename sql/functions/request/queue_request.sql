-- Queue what a role asks for: the newest revision of the policy of a release. An equal request of the
-- same role that waits is that one. Whoever may not ask does not learn whether there is such a release.
CREATE FUNCTION pganon.queue_request(
    p_actor text, p_actor_id oid, p_release text, p_parameters jsonb, p_not_before timestamptz
)
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted jsonb := coalesce(p_parameters, '{}');
    newest record;
    waiting bigint;
BEGIN
    SELECT p.revision, p.document, p.checked_at, p.problems INTO newest
    FROM pganon_private.policy AS p
    WHERE p.release = p_release
    ORDER BY p.revision DESC
    LIMIT 1;
    IF NOT FOUND OR NOT pganon.may_request(p_actor_id, p_release, newest.revision) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401',
            MESSAGE = format('there is no release "%s" that "%s" may request', p_release, p_actor),
            HINT = 'the steward names who may under `requests: {roles: [...]}` of its policy';
    END IF;
    IF EXISTS (
        SELECT FROM pganon_private.release AS r WHERE r.name = p_release AND r.current_version IS NULL
    ) AND NOT pganon.is_steward(p_actor_id) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('the release "%s" was withdrawn', p_release),
            HINT = 'the steward alone can make it again';
    END IF;
    IF newest.checked_at IS NOT NULL AND newest.problems <> '{}' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA404',
            MESSAGE = format('the policy of the release "%s" cannot be used as it is', p_release),
            HINT = format('the steward sees why by `pganon policy show %s`', p_release);
    END IF;
    PERFORM pganon.check_parameters(newest.document, wanted);
    IF NOT isfinite(coalesce(p_not_before, now())) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402', MESSAGE = 'not_before must be a time', HINT = 'leave it out for now';
    END IF;
    waiting := pganon.waiting_request(
        p_release, newest.revision, 'run', wanted, p_actor_id, p_not_before
    );
    IF waiting IS NOT NULL THEN
        RETURN waiting;
    END IF;
    PERFORM pganon.check_limits(p_release, newest.document, p_actor_id);
    RETURN pganon.enqueue(
        p_release, newest.revision, 'run', 'request', wanted, p_actor_id, p_not_before
    );
END
$$;

COMMENT ON FUNCTION pganon.queue_request(text, oid, text, jsonb, timestamptz) IS
    'queue what a role asks for; gives the number of the request';
