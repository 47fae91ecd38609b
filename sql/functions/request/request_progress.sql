-- What has become of a request, for who waits for it: a note where there is something to say, and
-- whether it is done. Raises what a requester may know of an end without a version. Runs with the rights
-- of the caller, who sees what pganon.requests shows.
CREATE FUNCTION pganon.request_progress(
    p_id bigint,
    p_since timestamptz,
    p_wait interval,
    INOUT seen text,
    INOUT told timestamptz,
    OUT note text,
    OUT done boolean
)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    now_is timestamptz := clock_timestamp();
    found_row record;
    unserved text;
BEGIN
    SELECT r.release, r.kind, r.state, r.version, r.code, r.worker_alive INTO found_row
    FROM pganon.requests AS r
    WHERE r.id = p_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411', MESSAGE = format('there is no request %s of "%s"', p_id, current_user);
    END IF;
    unserved := CASE WHEN found_row.state = 'waiting' AND NOT found_row.worker_alive
        THEN '; no worker is alive, so ask the steward to start one' ELSE '' END;
    done := found_row.state IN ('released', 'unchanged');
    IF found_row.state = 'refused' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA407',
            MESSAGE = format('request %s for the release "%s" was refused', p_id, found_row.release),
            HINT = 'the version before is unchanged; the steward sees why';
    ELSIF found_row.state IN ('failed', 'cancelled', 'rejected', 'expired', 'superseded') THEN
        RAISE EXCEPTION USING
            ERRCODE = CASE found_row.code WHEN 'unchecked' THEN 'PA404' WHEN 'limit' THEN 'PA403'
                ELSE 'PA408' END,
            MESSAGE = format(
                'request %s for the release "%s" %s', p_id, found_row.release,
                CASE found_row.state WHEN 'failed' THEN 'failed' ELSE 'was ' || found_row.state END
            ),
            HINT = CASE found_row.code
                WHEN 'changed' THEN 'the policy has changed since: ask again'
                ELSE 'the version before is unchanged; the steward sees why' END;
    ELSIF NOT done AND now_is - p_since > p_wait THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA406',
            MESSAGE = format(
                'request %s is %s still, after %s%s', p_id, found_row.state, p_wait, unserved
            ),
            HINT = format('it stays in the queue; SELECT * FROM pganon.requests WHERE id = %s', p_id);
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
