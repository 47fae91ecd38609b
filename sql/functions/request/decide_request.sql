-- The decision of a second person about a release that waits for it. It is about people, so about
-- who logged in: SET ROLE changes nothing. Who may not decide learns of no request.
CREATE FUNCTION pganon.decide_request(p_id bigint, p_decision text, p_reason text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked record;
    as_role text;
BEGIN
    SELECT r.* INTO asked FROM pganon_private.request AS r WHERE r.id = p_id FOR UPDATE;
    SELECT n.name INTO as_role
    FROM unnest(asked.approvers) WITH ORDINALITY AS n(name, place)
    JOIN pg_roles AS g ON g.rolname = n.name
    WHERE pg_has_role(session_user, g.oid, 'MEMBER')
    ORDER BY n.place
    LIMIT 1;
    IF as_role IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('there is no request %s that "%s" may decide', p_id, session_user),
            HINT = 'the policy names who may under `publish: {approval: {by: [...]}}`';
    END IF;
    IF asked.state <> 'awaiting_approval' OR asked.expires_at <= clock_timestamp() THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA409',
            MESSAGE = format('request %s does not wait for approval: it is %s', p_id,
                CASE asked.state WHEN 'awaiting_approval' THEN 'expired' ELSE asked.state END);
    END IF;
    IF session_user = asked.login OR session_user = (
        SELECT p.applied_login
        FROM pganon_private.policy AS p
        WHERE p.release = asked.release AND p.revision = asked.revision
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA410',
            MESSAGE = format('"%s" applied the policy or asked for the release', session_user),
            HINT = 'a second person decides';
    END IF;
    IF btrim(coalesce(p_reason, '')) = '' OR octet_length(p_reason) > 2000 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402', MESSAGE = 'give a reason, of at most 2000 bytes';
    END IF;
    INSERT INTO pganon_private.approval (request, decision, role, reason)
    VALUES (p_id, p_decision, as_role, p_reason);
    UPDATE pganon_private.request AS r
    SET state = p_decision, attempts = 0, due_at = clock_timestamp(),
        finished_at = CASE p_decision WHEN 'rejected' THEN clock_timestamp() END
    WHERE r.id = p_id;
    PERFORM pganon.note_event(
        p_decision, asked.release, asked.run_id, NULL, jsonb_build_object('request', p_id, 'role', as_role)
    );
    PERFORM pg_notify('pganon_request', '');
END
$$;

COMMENT ON FUNCTION pganon.decide_request(bigint, text, text) IS
    'the decision of a second person about a release that waits for it';
