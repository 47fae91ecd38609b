-- Requests for a release that were refused in the last 24 hours, by when they ended. A run that failed may
-- have done so because of a value, so it counts as one.
CREATE FUNCTION pganon.refusals(p_release text)
    RETURNS TABLE (id bigint, requester_id oid, finished_at timestamptz)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.id, r.requester_id, r.finished_at
    FROM pganon_private.request AS r
    WHERE r.release = p_release AND r.origin = 'request'
        AND r.finished_at > clock_timestamp() - interval '24 hours' AND (
            r.state = 'refused'
            OR r.state = 'failed' AND r.run_id IS NOT NULL
            AND r.code NOT IN ('worker_lost', 'stale', 'changed', 'in_use')
        );
END
$$;

COMMENT ON FUNCTION pganon.refusals(text) IS 'requests for a release that were refused in the last 24 hours';
