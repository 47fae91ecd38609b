-- The ledger and the secrets of runs.

-- next_run --
-- Number of a new run.
SELECT pg_catalog.nextval('pganon_private.ledger_id_seq');

-- start --
-- The 'started' row of a run, under the number of the run, and its secrets, which the server makes; a given
-- seed makes them repeatable, for dry runs.
WITH started AS (
    INSERT INTO pganon_private.ledger (
        id, run_id, release, event, program_version, policy_hash, details
    ) OVERRIDING SYSTEM VALUE
    VALUES (
        %(run_id)s, %(run_id)s, %(release)s, 'started', %(program_version)s, %(policy_hash)s,
        %(details)s
    )
)

INSERT INTO pganon_private.run_secret (run_id, key, seed_a, seed_b, partition_seed)
SELECT
    %(run_id)s,
    made.key,
    ('x' || encode(substr(sha256(made.key || 'seed a'::bytea), 1, 8), 'hex'))::bit(64)::bigint,
    ('x' || encode(substr(sha256(made.key || 'seed b'::bytea), 1, 8), 'hex'))::bit(64)::bigint,
    ('x' || encode(substr(sha256(made.key || 'partition'::bytea), 1, 8), 'hex'))::bit(64)::bigint
FROM (
    -- OFFSET keeps the planner from evaluating the random expression more than once.
    SELECT sha256(coalesce(
        'pganon seed '::bytea || %(seed)s::bytea,
        uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
        || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    )) AS key
    OFFSET 0
) AS made;

-- append --
-- Insert one row.
INSERT INTO pganon_private.ledger (
    run_id, release, version, event, program_version, policy_hash, details
)
VALUES (
    %(run_id)s, %(release)s, %(version)s, %(event)s, %(program_version)s, %(policy_hash)s,
    %(details)s
)
RETURNING id;

-- finish --
-- The last row of a run that is not released; nothing if the run has one already.
INSERT INTO pganon_private.ledger (
    run_id, release, event, program_version, policy_hash, details
)
SELECT s.run_id, s.release, %(event)s, %(program_version)s, s.policy_hash, %(details)s
FROM pganon_private.ledger AS s
WHERE s.id = %(run_id)s AND s.event = 'started'
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.ledger AS f
        WHERE f.run_id = s.run_id AND f.event IN (
            'released', 'unchanged', 'dry_run', 'refused', 'failed', 'awaiting_approval',
            'forgotten'
        )
    )
RETURNING id;

-- lasted --
-- Seconds that the newest run of a release took that made a version.
SELECT extract(epoch FROM e.at - s.at)::double precision
FROM pganon_private.ledger AS s
JOIN pganon_private.ledger AS e ON e.run_id = s.run_id
WHERE s.release = %(release)s AND s.event = 'started' AND e.event IN ('released', 'awaiting_approval')
ORDER BY s.run_id DESC, e.at
LIMIT 1;

-- compared --
-- Candidates of a release that dry runs began with, and comparisons they were part of.
SELECT count(*), count(DISTINCT l.details ->> 'comparison')
FROM pganon_private.ledger AS l
WHERE l.release = %(release)s AND l.event = 'started' AND l.details ? 'comparison';

-- of_release --
-- Every row of one release, oldest first.
SELECT id, run_id, version, event, at, by_role, program_version, policy_hash, details
FROM pganon_private.ledger
WHERE release = %(release)s
ORDER BY id;
