-- Requests for releases: a role sees its own, the steward all, an approver what waits for a
-- decision. Of what went wrong, others than the steward learn no more than that.
--
-- A fence, as in all views over private tables: what a reader may see comes out of an array. Conditions of
-- the reader do not pass it, so no plan tells how many other rows meet them, neither as expected nor, with
-- EXPLAIN (ANALYZE), as counted. What is below it counts the rows of whole tables: roles that may decide
-- are joined, since a subquery would be counted, too, for each request that waits. No condition on what
-- others did may be looked up in an index, which counts what it finds, nor rows be sorted or hashed for a
-- join, of which EXPLAIN (ANALYZE) says how much memory they take: hence CASE.
CREATE VIEW pganon.requests AS
SELECT f.*
FROM pg_catalog.unnest(ARRAY(
    SELECT q
    FROM (
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
                -- No condition, and what costs nothing last: a plan counts what these let through.
                SELECT pg_catalog.bool_or(w.alive AND w.kind = 'worker') IS TRUE FROM pganon.worker AS w
            ) AS worker_alive,
            CASE WHEN s.steward THEN r.reason END AS reason,
            CASE WHEN s.steward THEN r.hint END AS hint
        FROM pganon_private.request AS r
        CROSS JOIN (
            SELECT u.id, pganon.is_steward(u.id) AS steward
            FROM (
                SELECT pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid AS id
            ) AS u
        ) AS s
        LEFT JOIN (
            SELECT DISTINCT n.release, n.revision
            FROM pganon_private.policy_role AS n
            WHERE CASE
                WHEN n.purpose = 'approve' THEN
                    pg_catalog.pg_get_userbyid(n.role_id) = n.role
                    AND pganon.has_role(
                        pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid, n.role_id
                    )
            END
        ) AS a ON CASE WHEN a.release = r.release THEN a.revision = r.revision END
        WHERE s.steward
            OR r.requester = current_user AND r.requester_id = s.id
            OR r.state = 'awaiting_approval' AND a.release IS NOT NULL
    ) AS q
)) AS f(
    id bigint, release text, revision integer, kind text, origin text, parameters jsonb, requester text,
    state text, requested_at timestamptz, due_at timestamptz, started_at timestamptz, finished_at timestamptz,
    expires_at timestamptz, version integer, code text, worker_alive boolean, reason text,
    hint text
);

COMMENT ON VIEW pganon.requests IS 'requests for releases: yours, and those that wait for your approval';
