-- Requests for releases: a role sees its own, the steward all, an approver what waits for a
-- decision. Of what went wrong, others than the steward learn no more than that.
CREATE VIEW pganon.requests WITH (security_barrier) AS
SELECT
    r.id,
    r.release,
    r.revision,
    r.kind,
    r.origin,
    r.parameters,
    r.requester,
    r.state,
    r.requested_at,
    r.due_at,
    r.started_at,
    r.finished_at,
    r.expires_at,
    r.version,
    CASE
        WHEN s.steward OR r.code IN (
            'unchecked', 'changed', 'limit', 'worker_lost', 'stale', 'withdrawn'
        ) THEN r.code
        WHEN r.state IN ('refused', 'failed') THEN r.state
    END AS code,
    (
        SELECT pg_catalog.bool_or(w.alive) IS TRUE FROM pganon.worker AS w WHERE w.kind = 'worker'
    ) AS worker_alive
FROM pganon_private.request AS r
CROSS JOIN (
    SELECT u.id, pganon.is_steward(u.id) AS steward
    FROM (
        SELECT pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid AS id
    ) AS u
) AS s
WHERE s.steward
    OR r.requester = current_user AND r.requester_id = s.id
    OR r.state = 'awaiting_approval' AND EXISTS (
        SELECT
        FROM pganon_private.policy_role AS n
        WHERE n.release = r.release AND n.revision = r.revision AND n.purpose = 'approve'
            AND pg_catalog.pg_get_userbyid(n.role_id) = n.role
            AND pganon.has_role(s.id, n.role_id)
    );

COMMENT ON VIEW pganon.requests IS 'requests for releases: yours, and those that wait for your approval';
