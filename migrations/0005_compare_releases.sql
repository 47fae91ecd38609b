-- What versions of all releases over one source are compared by.

CREATE TABLE pganon_private.installation_secret (
    only_row boolean PRIMARY KEY DEFAULT true CONSTRAINT installation_secret_one CHECK (only_row),
    key bytea NOT NULL,
    seed_a bigint NOT NULL,
    seed_b bigint NOT NULL
);

COMMENT ON TABLE pganon_private.installation_secret IS
    'key and seeds of the fingerprints of sources, the same for every run; one row';

INSERT INTO pganon_private.installation_secret (key, seed_a, seed_b)
SELECT
    made.key,
    ('x' || encode(substr(sha256(made.key || 'seed a'::bytea), 1, 8), 'hex'))::bit(64)::bigint,
    ('x' || encode(substr(sha256(made.key || 'seed b'::bytea), 1, 8), 'hex'))::bit(64)::bigint
FROM (
    -- OFFSET keeps the planner from evaluating the random expression more than once.
    SELECT sha256(
        uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
        || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    ) AS key
    OFFSET 0
) AS made;

-- Versions from before have none of these, and fingerprints that only their own run can compare.
ALTER TABLE pganon_private.version
    ADD COLUMN partition jsonb,
    ADD COLUMN partition_hash text,
    ADD COLUMN sources text[];

COMMENT ON COLUMN pganon_private.version.partition IS
    'the part of the policy that decides which groups come out and what of them is shown';
COMMENT ON COLUMN pganon_private.version.partition_hash IS
    'sha256 of that part; NULL for a version that no other can be compared with';
COMMENT ON COLUMN pganon_private.version.sources IS
    'names of the source and of all relations that its rows come from';
COMMENT ON COLUMN pganon_private.version.source_fingerprint IS
    'keyed fingerprint of what was read; under the secret of the installation, with a'
    ' partition_hash, else under that of the run';
