-- Do what a row of pganon_private.action asks for, for the role that it names. Called by the trigger of that
-- table alone, which runs as pganon's owner.
CREATE FUNCTION pganon.perform(p_action pganon_private.action) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    actor_id oid := (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = p_action.actor);
BEGIN
    CASE p_action.kind
        WHEN 'request' THEN
            RETURN pganon.queue_request(
                p_action.actor, actor_id, p_action.release, p_action.parameters, p_action.not_before
            );
        WHEN 'cancel' THEN
            PERFORM pganon.end_request(p_action.actor, actor_id, p_action.request);
        WHEN 'approve' THEN
            PERFORM pganon.decide_request(
                p_action.actor, actor_id, p_action.request, 'approved', p_action.reason,
                p_action.parameters ->> 'evidence'
            );
        WHEN 'reject' THEN
            PERFORM pganon.decide_request(
                p_action.actor, actor_id, p_action.request, 'rejected', p_action.reason, NULL
            );
    END CASE;
    RETURN p_action.request;
END
$$;

COMMENT ON FUNCTION pganon.perform(pganon_private.action) IS
    'do what a row of pganon_private.action asks for';
