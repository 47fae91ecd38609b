-- Before when no request of a role is served: after thirty refusals of all roles in 24 hours, an hour after
-- the last one. That slows down roles that try out together what the data allow, and closes the release for
-- nobody. NULL for at once, as for the steward.
CREATE FUNCTION pganon.slowed_until(p_release text, p_requester_id oid) RETURNS timestamptz
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pganon.is_steward(p_requester_id) THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT CASE WHEN count(*) >= 30 THEN max(f.finished_at) + interval '1 hour' END
        FROM pganon.refusals(p_release) AS f
    );
END
$$;

COMMENT ON FUNCTION pganon.slowed_until(text, oid) IS
    'before when no request of a role is served, after many refusals';
