-- What is reported of releases that wait for approval, for the roles that decide about them and for the
-- steward. It calls no function that anybody made, so that `pganon report` may read it with the rights of
-- the approver. Whoever is a member without INHERIT sees it after SET ROLE.
-- Behind a fence: see pganon.requests.
CREATE VIEW pganon.held_releases AS
SELECT f.*
FROM pg_catalog.unnest(ARRAY(
    SELECT q
    FROM (
        SELECT
            h.request,
            h.staged #>> '{staged,release}' AS release,
            pg_catalog.jsonb_build_object(
                'staged', pg_catalog.jsonb_build_object(
                    'release', h.staged #> '{staged,release}',
                    'run_id', h.run_id,
                    'source', h.staged #> '{staged,source}',
                    'method', h.staged #> '{staged,method}',
                    'policy', h.staged #> '{staged,policy}',
                    'policy_hash', h.staged #> '{staged,policy_hash}',
                    'guarantee', h.staged #> '{staged,guarantee}',
                    'columns', h.staged #> '{staged,views,0,columns}',
                    'source_columns', h.staged #> '{staged,source_columns}',
                    'readers', h.staged #> '{staged,readers}',
                    'measures', COALESCE(h.staged #> '{told}', h.staged #> '{staged,measures}'),
                    'row_count', h.staged #> '{staged,row_count}',
                    'suppressed', h.staged #> '{staged,suppressed}',
                    'over_versions', h.staged #> '{staged,judged,over_versions}',
                    'evidence', COALESCE(h.staged #> '{evidence}', h.staged #> '{staged,evidence}')
                ),
                'evidence_sha256', (
                    SELECT l.details -> 'evidence_sha256'
                    FROM pganon_private.ledger AS l
                    WHERE l.run_id = h.run_id AND l.event = 'awaiting_approval'
                    ORDER BY l.id DESC
                    LIMIT 1
                ),
                'shown', (
                    SELECT r.current_version
                    FROM pganon_private.release AS r
                    WHERE r.name = h.staged #>> '{staged,release}'
                ),
                'versions', (
                    SELECT pg_catalog.jsonb_agg(
                        pg_catalog.jsonb_build_object(
                            'number', v.version, 'run_id', v.run_id, 'released', v.row_count,
                            'suppressed', v.suppressed, 'published_at', v.published_at,
                            'over_versions', v.over_versions, 'stored', v.dropped_at IS NULL
                        ) ORDER BY v.version
                    )
                    FROM pganon_private.version AS v
                    WHERE v.release = h.staged #>> '{staged,release}'
                ),
                'events', (
                    SELECT pg_catalog.jsonb_agg(
                        pg_catalog.jsonb_build_object(
                            'id', l.id, 'run_id', l.run_id, 'version', l.version, 'event', l.event,
                            'at', l.at, 'by_role', l.by_role, 'details',
                            -- What was measured of the source beside what will be read of it; see
                            -- pganon/forms/confidential.py.
                            CASE
                                WHEN h.staged #> '{told,withheld}' IS NULL THEN l.details
                                WHEN l.event = 'attacked'
                                    THEN pg_catalog.jsonb_build_object('targets', l.details -> 'targets')
                                ELSE l.details - 'observed'
                            END
                        ) ORDER BY l.id
                    )
                    FROM pganon_private.ledger AS l
                    WHERE l.release = h.staged #>> '{staged,release}'
                ),
                'approvals', (
                    SELECT pg_catalog.jsonb_agg(
                        pg_catalog.jsonb_build_array(a.request, a.decision, a.login, a.reason) ORDER BY a.at
                    )
                    FROM pganon_private.approval AS a
                    JOIN pganon_private.ledger AS l
                        ON l.event = a.decision AND (l.details -> 'request')::bigint = a.request
                    WHERE l.release = h.staged #>> '{staged,release}'
                )
            ) AS evidence
        FROM pganon_private.held AS h
        LEFT JOIN (
            SELECT DISTINCT n.release, n.revision
            FROM pganon_private.policy_role AS n
            WHERE CASE
                WHEN n.purpose = 'approve' THEN
                    pg_catalog.pg_get_userbyid(n.role_id) = n.role
                    AND pg_catalog.pg_has_role(n.role_id, 'USAGE')
            END
        ) AS a ON CASE WHEN a.release = h.staged #>> '{staged,release}' THEN a.revision = h.revision END
        WHERE h.staged #>> '{staged,release}' IS NOT NULL
            AND (pg_catalog.has_table_privilege(h.tableoid, 'SELECT') OR a.release IS NOT NULL)
    ) AS q
)) AS f(
    request bigint, release text, evidence jsonb
);

COMMENT ON VIEW pganon.held_releases IS
    'what is reported of releases that wait for your approval, before you decide';
