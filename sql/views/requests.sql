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
    END AS code
FROM pganon_private.request AS r
CROSS JOIN (
    SELECT pg_catalog.pg_has_role(p.nspowner, 'USAGE') AS steward
    FROM pg_catalog.pg_namespace AS p
    WHERE p.nspname = 'pganon'
) AS s
WHERE s.steward
    OR r.requester = current_user
    OR r.state = 'awaiting_approval' AND EXISTS (
        SELECT
        FROM pg_catalog.unnest(r.approvers) AS g(name)
        WHERE pg_catalog.pg_has_role(
            session_user, pg_catalog.to_regrole(pg_catalog.quote_ident(g.name)), 'MEMBER'
        )
    );

COMMENT ON VIEW pganon.requests IS 'requests for releases: yours, and those that wait for your approval';
