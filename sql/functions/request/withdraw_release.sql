-- Take the views of a release away at once; versions, and copies, stay. What is asked for is
-- cancelled, runs of workers that are under way will not publish, and its schedule ends. Readers are
-- shut out when the transaction ends. Nobody who still reads delays that: views in use go later.
CREATE FUNCTION pganon.withdraw_release(release text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    shown record;
    dependents text[];
    before text[];
BEGIN
    -- Excludes publications.
    LOCK TABLE pganon_private.release IN SHARE ROW EXCLUSIVE MODE;
    before := ARRAY(SELECT b.held FROM pganon.beyond_policy(true) AS b);
    SELECT v.version, v.run_id INTO shown
    FROM pganon_private.release AS r
    JOIN pganon_private.version AS v ON v.release = r.name AND v.version = r.current_version
    WHERE r.name = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401',
            MESSAGE = format('there is no release "%s" that is shown', $1),
            HINT = '`pganon releases` lists them';
    END IF;
    PERFORM pganon.close_views($1);
    UPDATE pganon_private.release AS r SET current_version = NULL WHERE r.name = $1;
    PERFORM pganon.end_requests($1);
    dependents := pganon.tidy_views($1);
    PERFORM pganon.note_event(
        'withdrawn', $1, shown.run_id, shown.version, jsonb_build_object('dependents', dependents)
    );
    PERFORM pganon.assert_unopened(before);
    IF dependents <> '{}' THEN
        RAISE WARNING USING
            MESSAGE = format('others have built on the release "%s", and may not use that any more', $1),
            DETAIL = array_to_string(dependents, E'\n');
    END IF;
    IF EXISTS (SELECT FROM pganon.standing_views($1)) THEN
        RAISE NOTICE USING
            MESSAGE = format(
                'views of the release "%s" are in use: nobody may read them any more, and a worker or'
                ' pganon clean drops them later', $1
            );
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.withdraw_release(text) IS
    'take the views of a release away at once; its versions stay';
