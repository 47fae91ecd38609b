-- The decision of a second person about a release that waits for it. Who may not decide learns of no
-- request. A superuser has the rights of every role, and is an approver only under the own name. What is
-- approved is what was looked at: once a release was judged again, only who names the digest of the new
-- evidence has seen that.
CREATE FUNCTION pganon.decide_request(
    p_actor text, p_actor_id oid, p_id bigint, p_decision text, p_reason text,
    p_evidence text
)
    RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked record;
    as_role text;
    seen jsonb[];
BEGIN
    SELECT r.* INTO asked FROM pganon_private.request AS r WHERE r.id = p_id FOR UPDATE;
    SELECT n.role INTO as_role
    FROM pganon.named_roles(asked.release, asked.revision, 'approve') AS n
    CROSS JOIN pg_roles AS a
    WHERE a.oid = p_actor_id AND (
        n.role_id = p_actor_id OR NOT a.rolsuper AND pganon.has_role(p_actor_id, n.role_id)
    )
    ORDER BY n.role
    LIMIT 1;
    IF as_role IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('there is no request %s that "%s" may decide', p_id, p_actor),
            HINT = 'the policy names who may under `publish: {approval: {by: [...]}}`';
    END IF;
    IF asked.state <> 'awaiting_approval' OR asked.expires_at <= clock_timestamp() THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA409',
            MESSAGE = format('request %s does not wait for approval: it is %s', p_id,
                CASE asked.state WHEN 'awaiting_approval' THEN 'expired' ELSE asked.state END),
            HINT = 'SELECT * FROM pganon.requests';
    END IF;
    IF p_actor IN (asked.login, asked.requester) OR p_actor_id IN (asked.login_id, asked.requester_id)
        OR EXISTS (
            SELECT
            FROM pganon_private.policy AS p
            WHERE p.release = asked.release AND p.revision = asked.revision
                AND (p.applied_login = p_actor OR p.applied_login_id = p_actor_id)
        )
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA410',
            MESSAGE = format('"%s" applied the policy or asked for the release', p_actor),
            HINT = 'a second person decides';
    END IF;
    IF btrim(coalesce(p_reason, '')) = '' OR octet_length(p_reason) > 2000 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402',
            MESSAGE = 'give a reason, of at most 2000 bytes',
            HINT = 'say what you looked at: the ledger keeps it';
    END IF;
    SELECT array_agg(l.details -> 'evidence_sha256' ORDER BY l.id DESC) INTO seen
    FROM pganon_private.ledger AS l
    WHERE l.run_id = asked.run_id AND l.event = 'awaiting_approval';
    IF p_decision = 'approved' AND (p_evidence IS NOT NULL OR cardinality(seen) > 1)
        AND to_jsonb(p_evidence) IS DISTINCT FROM seen[1]
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA413',
            MESSAGE = CASE
                WHEN p_evidence IS NULL THEN format(
                    'request %s was judged again since it first waited for approval, with other evidence', p_id
                )
                ELSE format('request %s waits with other evidence than that', p_id)
            END,
            HINT = format(
                'look at what it is now (pganon report --request %s), and approve with the `evidence_sha256`'
                ' that stands there: pganon approve %s --evidence SHA256, or'
                ' pganon.approve_release(%s, reason, evidence)', p_id, p_id, p_id
            );
    END IF;
    INSERT INTO pganon_private.approval (request, decision, login, role, reason)
    VALUES (p_id, p_decision, p_actor, as_role, p_reason);
    UPDATE pganon_private.request AS r
    SET state = p_decision, attempts = 0, due_at = clock_timestamp(),
        finished_at = CASE p_decision WHEN 'rejected' THEN clock_timestamp() END
    WHERE r.id = p_id;
    PERFORM pganon.note_event(
        p_decision, asked.release, asked.run_id, NULL,
        jsonb_build_object('request', p_id, 'role', as_role) || jsonb_strip_nulls(
            -- What the person could see before the decision.
            jsonb_build_object('evidence_sha256', seen[1])
        )
    );
END
$$;

COMMENT ON FUNCTION pganon.decide_request(text, oid, bigint, text, text, text) IS
    'the decision of a second person about a release that waits for it';
