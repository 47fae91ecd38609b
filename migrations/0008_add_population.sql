-- Populations: people whom versions are about, and what all versions of one tell together.

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
    'grows with every change of the memory, so that nobody goes on with an older one';

CREATE TABLE pganon_private.memory (
    population bigint NOT NULL REFERENCES pganon_private.population (id),
    -- Empty for everybody, else the role that readers of these versions share.
    audience text NOT NULL DEFAULT '',
    columns text[] NOT NULL,
    floors jsonb NOT NULL,
    value_sets_of text,
    value_set_table text,
    person_table text NOT NULL,
    cell_table text NOT NULL,
    value_table text NOT NULL,
    runs bigint[] NOT NULL,
    fingerprint bytea NOT NULL,
    -- The run whose secrets made the fingerprint.
    run_id bigint NOT NULL,
    PRIMARY KEY (population, audience)
);

COMMENT ON TABLE pganon_private.memory IS
    'what all versions of a population, or those that an audience could read, tell together';
COMMENT ON COLUMN pganon_private.memory.columns IS
    'remembered columns, in the order of the marks of a person and of the bounds of a cell';
COMMENT ON COLUMN pganon_private.memory.floors IS
    'lists of rules that people were promised; a cell names one by its place';
COMMENT ON COLUMN pganon_private.memory.value_sets_of IS
    'the column of which all versions that published it kept value sets; NULL: there is none';
COMMENT ON COLUMN pganon_private.memory.value_set_table IS 'the values of every value set';
COMMENT ON COLUMN pganon_private.memory.runs IS 'runs of the versions that it is about';

ALTER TABLE pganon_private.run_secret
    ADD COLUMN population bigint REFERENCES pganon_private.population (id);

COMMENT ON COLUMN pganon_private.run_secret.population IS
    'whose secret makes the digests of the members; NULL: the key of the run does';

-- Versions from before have members under their plain keys, and no histograms.
ALTER TABLE pganon_private.version
    ADD COLUMN population bigint REFERENCES pganon_private.population (id),
    ADD COLUMN guard jsonb,
    ADD COLUMN readable_by text[];

ALTER TABLE pganon_private.version ALTER COLUMN readable_by SET DEFAULT '{}';

COMMENT ON COLUMN pganon_private.version.population IS
    'the people whom it is about; NULL where nothing tells them apart';
COMMENT ON COLUMN pganon_private.version.guard IS
    'how the version enters the memory: links, columns, rules and rounds of propagation';

COMMENT ON COLUMN pganon_private.version.readable_by IS
    'roles that could ever read it; public, or NULL where that is not known: everybody';

-- A population is at work on from its guard to its publication.
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
        'dropped', 'readers', 'forgotten', 'rebuilt'
    )
);
