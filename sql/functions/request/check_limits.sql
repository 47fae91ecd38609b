-- Refuse a request beyond the limits of its policy, which are limits of each role that asks, never of the
-- steward: how many wait, how many a day, after how many refusals, by which a requester could try out what
-- the data allow, and how long after the last release. A worker asks again, for a request that has its
-- number by then, since many may have been queued at once.
CREATE FUNCTION pganon.check_limits(
    p_release text, p_document json, p_requester_id oid, p_id bigint DEFAULT NULL
)
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    requests jsonb := coalesce(p_document::jsonb -> 'requests', '{}');
    most numeric;
    counted record;
    refused bigint;
BEGIN
    IF pganon.is_steward(p_requester_id) THEN
        RETURN;
    END IF;
    most := pganon.limit_of(requests, 'max_refused_per_day', 3);
    SELECT count(*) INTO refused
    FROM pganon.refusals(p_release) AS f
    WHERE f.requester_id = p_requester_id;
    IF refused >= most THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA403',
            MESSAGE = format(
                'your requests for the release "%s" were refused, or failed, too often', p_release
            ),
            HINT = 'ask the steward, or try again tomorrow';
    END IF;
    SELECT count(*) AS asked, count(*) FILTER (WHERE r.state = 'waiting') AS waiting INTO counted
    FROM pganon_private.request AS r
    WHERE r.release = p_release AND r.origin = 'request' AND r.requester_id = p_requester_id
        AND (r.requested_at > clock_timestamp() - interval '24 hours' OR r.state = 'waiting')
        AND (p_id IS NULL OR r.id < p_id);
    most := pganon.limit_of(requests, 'max_per_day', 100);
    IF counted.asked >= most THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA403',
            MESSAGE = format('you may request the release "%s" %s times a day', p_release, most),
            HINT = 'try again tomorrow';
    END IF;
    IF p_id IS NULL AND counted.waiting >= 10 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA403',
            MESSAGE = format('10 of your requests for the release "%s" wait already', p_release),
            HINT = 'wait until one is served, or cancel one: SELECT * FROM pganon.requests';
    END IF;
    PERFORM pganon.check_pause(p_release, requests ->> 'min_interval');
END
$$;

COMMENT ON FUNCTION pganon.check_limits(text, json, oid, bigint) IS
    'refuse a request beyond the limits of its policy';
