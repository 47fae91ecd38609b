-- By which policy the releases that the caller may read were made, and when that was last so. Who may see
-- them is decided by pganon.releases alone.
-- Behind a fence: see pganon.requests.
CREATE VIEW pganon.release_policies AS
SELECT f.*
FROM pg_catalog.unnest(ARRAY(
    SELECT q
    FROM (
        SELECT r.release, r.version, l.policy_hash, l.at AS confirmed_at
        FROM pganon.releases AS r
        CROSS JOIN LATERAL (
            SELECT e.policy_hash, e.at
            FROM pganon_private.ledger AS e
            WHERE e.release = r.release AND e.version = r.version AND e.event IN ('released', 'unchanged')
            ORDER BY e.id DESC
            LIMIT 1
        ) AS l
    ) AS q
)) AS f(
    release text, version integer, policy_hash text, confirmed_at timestamptz
);

COMMENT ON VIEW pganon.release_policies IS
    'releases that you may read: hash of the policy, and when a run last found them to be what it makes';
