-- Populations: people whom versions are about, and how versions show them.

CREATE TABLE pganon_private.population (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- NULL where no policy gave one: the source and the key say who they are.
    name text UNIQUE,
    sources text[] NOT NULL,
    key jsonb NOT NULL,
    secret bytea NOT NULL DEFAULT sha256(
        uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
        || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    ),
    counter bigint NOT NULL DEFAULT 0
);

COMMENT ON TABLE pganon_private.population IS
    'people whom versions are about, told apart by one key; the secret makes their digests';
COMMENT ON COLUMN pganon_private.population.sources IS
    'names of the sources, and of all relations that their rows come from';
COMMENT ON COLUMN pganon_private.population.key IS 'names of the columns that tell people apart';
COMMENT ON COLUMN pganon_private.population.counter IS
    'grows with every version, so that nobody goes on with what was judged before';

CREATE TABLE pganon_private.forgotten (
    population bigint NOT NULL REFERENCES pganon_private.population (id),
    -- Under the secret of the population.
    mark bigint NOT NULL,
    PRIMARY KEY (population, mark)
);

COMMENT ON TABLE pganon_private.forgotten IS
    'people who were forgotten and are left out if they return, by a hash of their digest';

CREATE TABLE pganon_private.value_sets (
    population bigint NOT NULL REFERENCES pganon_private.population (id),
    columns text[] NOT NULL,
    person_table text NOT NULL,
    set_table text NOT NULL,
    -- Under the secrets of the run.
    fingerprint bytea NOT NULL,
    run_id bigint NOT NULL,
    PRIMARY KEY (population, columns)
);

COMMENT ON TABLE pganon_private.value_sets IS
    'who has which set of values, where people are only in groups with these';
COMMENT ON COLUMN pganon_private.value_sets.set_table IS
    'the values of every set, of several columns together';

CREATE TABLE pganon_private.crossing (
    run_id bigint NOT NULL,
    other_run bigint NOT NULL,
    reason text NOT NULL,
    people bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (run_id, other_run)
);

COMMENT ON TABLE pganon_private.crossing IS
    'pairs of versions of which both together may tell more than either promises';

ALTER TABLE pganon_private.run_secret
    ADD COLUMN population bigint REFERENCES pganon_private.population (id);

COMMENT ON COLUMN pganon_private.run_secret.population IS
    'whose secret makes the digests of the members; NULL: the key of the run does';

ALTER TABLE pganon_private.version
    ADD COLUMN population bigint REFERENCES pganon_private.population (id),
    ADD COLUMN manner jsonb,
    ADD COLUMN over_versions text,
    ADD COLUMN rows_fingerprint bytea,
    ADD COLUMN readable_by text[];

ALTER TABLE pganon_private.version ALTER COLUMN readable_by SET DEFAULT '{}';

COMMENT ON COLUMN pganon_private.version.population IS
    'the people whom it is about; NULL where nothing tells them apart';
COMMENT ON COLUMN pganon_private.version.manner IS
    'how the version shows groups, as far as others are compared with it; NULL without a key';
COMMENT ON COLUMN pganon_private.version.over_versions IS
    'whether its guarantee holds beside other versions: holds, finer or void; NULL without a key';
COMMENT ON COLUMN pganon_private.version.rows_fingerprint IS
    'fingerprint of what was read but for the keys: the same rows may have others in a copy';

COMMENT ON COLUMN pganon_private.version.readable_by IS
    'roles that could ever read it; public, or NULL where that is not known: everybody';

-- A population is at work on while a version is judged and published.
ALTER TABLE pganon_private.activity
    ADD COLUMN population bigint,
    DROP CONSTRAINT activity_kind,
    ADD CONSTRAINT activity_kind CHECK (
        CASE kind
            WHEN 'release' THEN release IS NOT NULL AND run_id IS NULL AND population IS NULL
            WHEN 'run' THEN run_id IS NOT NULL AND release IS NULL AND population IS NULL
            WHEN 'cleaning' THEN run_id IS NOT NULL AND release IS NULL AND population IS NULL
            WHEN 'worker' THEN run_id IS NOT NULL AND release IS NULL AND population IS NULL
            WHEN 'population' THEN population IS NOT NULL AND release IS NULL AND run_id IS NULL
            ELSE false
        END
    );

CREATE UNIQUE INDEX activity_population ON pganon_private.activity (population)
    WHERE kind = 'population';

ALTER TABLE pganon_private.ledger DROP CONSTRAINT ledger_event_known;

ALTER TABLE pganon_private.ledger ADD CONSTRAINT ledger_event_known CHECK (
    event IN (
        'started', 'released', 'unchanged', 'dry_run', 'refused', 'failed', 'rolled_back',
        'dropped', 'readers', 'forgotten'
    )
);
