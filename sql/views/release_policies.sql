-- By which policy the releases that the caller may read were made, and when that was last so. Who may see
-- them is decided by pganon.releases alone.
CREATE VIEW pganon.release_policies WITH (security_barrier) AS
SELECT r.release, r.version, l.policy_hash, l.at AS confirmed_at
FROM pganon.releases AS r
CROSS JOIN LATERAL (
    SELECT e.policy_hash, e.at
    FROM pganon_private.ledger AS e
    WHERE e.release = r.release AND e.version = r.version AND e.event IN ('released', 'unchanged')
    ORDER BY e.id DESC
    LIMIT 1
) AS l;

COMMENT ON VIEW pganon.release_policies IS
    'releases that you may read: hash of the policy, and when a run last found them to be what it makes';
