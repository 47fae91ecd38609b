-- Refuse a request sooner after a release than the policy says.
CREATE FUNCTION pganon.check_pause(p_release text, p_pause text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_pause ~ '^[0-9]{1,6}(min|h|d)$' AND EXISTS (
        SELECT
        FROM pganon_private.request AS r
        WHERE r.release = p_release AND r.kind = 'run' AND r.state IN ('released', 'unchanged')
            AND r.finished_at > clock_timestamp() - p_pause::interval
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA403',
            MESSAGE = format('the release "%s" is made at most once in %s', p_release, p_pause),
            HINT = 'use the version that there is; pganon.releases says how old it is';
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.check_pause(text, text) IS
    'refuse a request sooner after a release than the policy says';
