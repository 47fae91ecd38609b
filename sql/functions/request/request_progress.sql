-- What has become of a request, for who waits for it: a note where there is something to say, whether it
-- is done, and what a requester may know of an end without a version. Runs with the rights of the
-- caller, who sees what pganon.requests shows: a reason if the caller is the steward.
CREATE FUNCTION pganon.request_progress(
    p_id bigint,
    p_since timestamptz,
    p_wait interval,
    INOUT seen text,
    INOUT told timestamptz,
    OUT note text,
    OUT done boolean,
    OUT failed text,
    OUT said text,
    OUT hint text
)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    now_is timestamptz := clock_timestamp();
    found_row record;
    looked constant text := format('SELECT * FROM pganon.requests WHERE id = %s', p_id);
    unserved text;
BEGIN
    SELECT r.release, r.kind, r.state, r.version, r.code, r.worker_alive, r.reason, r.hint, (
        SELECT s.version FROM pganon.releases AS s WHERE s.release = r.release
    ) AS shown INTO found_row
    FROM pganon.requests AS r
    WHERE r.id = p_id;
    IF NOT FOUND THEN
        failed := 'PA411';
        said := format('there is no request %s of "%s" any more', p_id, current_user);
        hint := 'SELECT * FROM pganon.requests';
        done := true;
        RETURN;
    END IF;
    unserved := CASE WHEN found_row.state = 'waiting' AND NOT found_row.worker_alive
        THEN '; no worker is alive: the steward starts one by `pganon worker`' ELSE '' END;
    done := found_row.state NOT IN ('waiting', 'running', 'awaiting_approval', 'approved');
    IF done AND found_row.state NOT IN ('released', 'unchanged') THEN
        failed := CASE
            WHEN found_row.state = 'refused' THEN 'PA407'
            WHEN found_row.code = 'unchecked' THEN 'PA404'
            WHEN found_row.code = 'limit' THEN 'PA403'
            ELSE 'PA408' END;
        said := format(
            'request %s for the release "%s" %s%s', p_id, found_row.release,
            CASE found_row.state WHEN 'failed' THEN 'failed' ELSE 'was ' || found_row.state END,
            ': ' || coalesce(found_row.reason, nullif(found_row.code, found_row.state))
        );
        hint := concat_ws(
            '; ',
            CASE
                WHEN found_row.code = 'changed' THEN 'the policy has changed since: ask again'
                WHEN found_row.reason IS NULL AND found_row.code IN (found_row.state, 'unchecked')
                    THEN 'the steward sees why'
                ELSE coalesce(found_row.hint, looked) END,
            'version ' || found_row.shown || ' is shown as before'
        );
        RETURN;
    ELSIF NOT done AND now_is - p_since > p_wait THEN
        failed := 'PA406';
        said := format(
            'request %s is %s still, after %s%s', p_id, found_row.state, p_wait, unserved
        );
        hint := 'it stays in the queue; ' || looked;
        done := true;
        RETURN;
    END IF;
    IF done OR seen IS DISTINCT FROM found_row.state OR now_is - told >= interval '5 seconds' THEN
        note := format('request %s for the release "%s": %s%s', p_id, found_row.release,
            CASE WHEN done AND found_row.version IS NULL
                THEN CASE found_row.kind WHEN 'drop' THEN 'dropped' ELSE 'withdrawn' END
                ELSE found_row.state END || coalesce(', version ' || found_row.version, ''),
            unserved);
        told := now_is;
    END IF;
    seen := found_row.state;
END
$$;

COMMENT ON FUNCTION pganon.request_progress(bigint, timestamptz, interval, text, timestamptz) IS
    'what has become of a request, for who waits for it';
