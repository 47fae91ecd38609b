-- Refuse a request beyond the limits of its policy: per login, between two releases, and after
-- refusals, by which a requester could try out what the data allow. A run that failed may have done
-- so because of a value, so it counts as one. A worker asks again, for a request that has its number
-- by then, since many may have been queued at once.
CREATE FUNCTION pganon.check_limits(
    p_release text, p_document json, p_login text, p_id bigint DEFAULT NULL
)
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    requests jsonb := coalesce(p_document::jsonb -> 'requests', '{}');
    most numeric;
    past timestamptz := clock_timestamp() - interval '1 day';
    refused bigint;
    asked bigint;
    pause interval;
BEGIN
    most := CASE jsonb_typeof(requests -> 'max_refused_per_day')
        WHEN 'number' THEN (requests ->> 'max_refused_per_day')::numeric ELSE 3 END;
    SELECT count(*) INTO refused
    FROM pganon_private.request AS r
    WHERE r.release = p_release AND r.origin = 'request' AND r.finished_at > past AND (
        r.state = 'refused'
        OR r.state = 'failed' AND r.run_id IS NOT NULL
        AND r.code NOT IN ('worker_lost', 'stale', 'changed', 'in_use')
    );
    IF refused >= most THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA403',
            MESSAGE = format('requests for the release "%s" were refused, or failed, too often', p_release),
            HINT = 'ask the steward, or try again tomorrow';
    END IF;
    IF jsonb_typeof(requests -> 'max_per_day') = 'number' THEN
        SELECT count(*) INTO asked
        FROM pganon_private.request AS r
        WHERE r.release = p_release AND r.origin = 'request' AND r.login = p_login
            AND r.requested_at > past AND r.state <> 'cancelled' AND (p_id IS NULL OR r.id < p_id);
        IF asked >= (requests ->> 'max_per_day')::numeric THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA403',
                MESSAGE = format(
                    'you may request the release "%s" %s times a day', p_release, requests ->> 'max_per_day'
                ),
                HINT = 'try again tomorrow';
        END IF;
    END IF;
    IF requests ->> 'min_interval' ~ '^[0-9]{1,6}(min|h|d)$' THEN
        pause := (requests ->> 'min_interval')::interval;
        IF EXISTS (
            SELECT
            FROM pganon_private.request AS r
            WHERE r.release = p_release AND r.kind = 'run' AND r.state IN ('released', 'unchanged')
                AND r.finished_at > clock_timestamp() - pause
        ) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA403',
                MESSAGE = format(
                    'the release "%s" is made at most once in %s', p_release, requests ->> 'min_interval'
                ),
                HINT = 'use the version that there is; pganon.releases says how old it is';
        END IF;
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.check_limits(text, json, text, bigint) IS
    'refuse a request beyond the limits of its policy';
