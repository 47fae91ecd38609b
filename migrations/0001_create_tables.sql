-- Everything that pganon keeps: tables of schema pganon_private, by what they are about.

-- What was applied to this database: numbered migrations and sets of repeatable objects.

CREATE TABLE pganon_private.migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    program_version text NOT NULL
);

CREATE TABLE pganon_private.object_set (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    checksum text NOT NULL,
    manifest text[] NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    program_version text NOT NULL
);

COMMENT ON TABLE pganon_private.object_set IS
    'sets of functions and views that were created in schema pganon; the last one is there now';

-- Append-only record of every attempt.

CREATE TABLE pganon_private.ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- A 'started' row leaves it out: its own id is the number of the run.
    run_id bigint NOT NULL DEFAULT currval('pganon_private.ledger_id_seq'),
    release text NOT NULL,
    version integer,
    event text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    by_role text NOT NULL DEFAULT session_user,
    program_version text NOT NULL,
    policy_hash text,
    details jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT ledger_event_known CHECK (
        event IN (
            'started', 'released', 'unchanged', 'dry_run', 'refused', 'failed', 'rolled_back',
            'dropped', 'readers', 'forgotten', 'unchecked', 'awaiting_approval', 'approved',
            'rejected', 'expired', 'superseded', 'withdrawn'
        )
    ),
    CONSTRAINT ledger_started_is_own_run CHECK (event <> 'started' OR run_id = id)
);

CREATE INDEX ledger_run_id ON pganon_private.ledger (run_id);
CREATE INDEX ledger_release ON pganon_private.ledger (release, id);

-- Lives here and not in schema pganon: the trigger must survive an uninstall of that schema.
CREATE FUNCTION pganon_private.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'PA301',
        MESSAGE = format('the %s is append-only: %s is not allowed', TG_TABLE_NAME, lower(TG_OP)),
        HINT = 'write a further row instead';
END
$$;

CREATE TRIGGER ledger_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON pganon_private.ledger
    FOR EACH STATEMENT EXECUTE FUNCTION pganon_private.refuse_change();

-- Fires in sessions with session_replication_role = replica as well.
ALTER TABLE pganon_private.ledger ENABLE ALWAYS TRIGGER ledger_append_only;

-- Populations: people whom versions are about.

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

CREATE TABLE pganon_private.cohorts (
    -- The run that formed them; table cohorts_<run_id> has their people.
    run_id bigint PRIMARY KEY,
    release text NOT NULL,
    -- Whose secret made the digests.
    population bigint NOT NULL REFERENCES pganon_private.population (id),
    number integer NOT NULL,
    formed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The run that published them, or left all of them permanently suppressed.
    finished_by bigint,
    -- Records that are permanently suppressed because no version has any of their cohorts.
    records_out bigint NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX cohorts_unfinished ON pganon_private.cohorts (release, population)
    WHERE finished_by IS NULL;

COMMENT ON TABLE pganon_private.cohorts IS
    'newcomers who are tested together, once; committed before any of their values is looked at';

-- Secrets of runs, and what versions of all releases over one source are compared by.

CREATE TABLE pganon_private.run_secret (
    run_id bigint PRIMARY KEY,
    key bytea NOT NULL,
    seed_a bigint NOT NULL,
    seed_b bigint NOT NULL,
    partition_seed bigint NOT NULL,
    population bigint REFERENCES pganon_private.population (id)
);

COMMENT ON TABLE pganon_private.run_secret IS
    'key and seeds of the fingerprints and permutations of a run, and the seed of its partition';
COMMENT ON COLUMN pganon_private.run_secret.partition_seed IS
    'what decides between equal choices of a method; a version over an unchanged source takes over'
    ' that of the version before, so that both have the same groups';
COMMENT ON COLUMN pganon_private.run_secret.population IS
    'whose secret makes the digests of the members; NULL: the key of the run does';

CREATE TABLE pganon_private.installation_secret (
    only_row boolean PRIMARY KEY DEFAULT true CONSTRAINT installation_secret_one CHECK (only_row),
    key bytea NOT NULL,
    seed_a bigint NOT NULL,
    seed_b bigint NOT NULL
);

COMMENT ON TABLE pganon_private.installation_secret IS
    'key and seeds of the fingerprints of sources, the same for every run; one row';

-- Releases and their numbered versions.

CREATE TABLE pganon_private.release (
    name text PRIMARY KEY,
    policy_source text NOT NULL,
    view_schema text NOT NULL,
    view_name text NOT NULL,
    current_version integer,
    -- Roles that publication let read the views; grants of the steward's own are not listed.
    readers text[] NOT NULL DEFAULT '{}',
    -- Their numbers, in the same order; 0 is PUBLIC.
    reader_ids oid[] NOT NULL DEFAULT '{}',
    CONSTRAINT release_reader_ids CHECK (cardinality(readers) = cardinality(reader_ids))
);

CREATE TABLE pganon_private.version (
    release text NOT NULL REFERENCES pganon_private.release (name),
    version integer NOT NULL CONSTRAINT version_positive CHECK (version > 0),
    run_id bigint NOT NULL,
    method text NOT NULL,
    guarantee jsonb NOT NULL,
    columns jsonb NOT NULL,
    views jsonb NOT NULL DEFAULT '[]',
    relations jsonb NOT NULL,
    checks jsonb NOT NULL,
    policy jsonb NOT NULL,
    policy_hash text NOT NULL,
    measures jsonb NOT NULL DEFAULT '{}',
    row_count bigint NOT NULL,
    suppressed bigint NOT NULL,
    fingerprint bytea NOT NULL,
    source_fingerprint bytea NOT NULL,
    rows_fingerprint bytea NOT NULL,
    members_table text,
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    dropped_at timestamptz,
    partition jsonb NOT NULL,
    partition_hash text NOT NULL,
    sources text[] NOT NULL,
    population bigint REFERENCES pganon_private.population (id),
    manner jsonb,
    over_versions text,
    readable_by text[] NOT NULL DEFAULT '{}',
    readable_ids oid[] NOT NULL DEFAULT '{}',
    increments jsonb,
    source_columns jsonb NOT NULL,
    source_mark text,
    trusted jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (release, version)
);

CREATE UNIQUE INDEX version_run_id ON pganon_private.version (run_id);

COMMENT ON COLUMN pganon_private.version.members_table IS
    'table in pganon_private that remembers which record was in which group; survives a drop';
COMMENT ON COLUMN pganon_private.version.views IS
    'definitions of the published views, with which a rollback makes them again';
COMMENT ON COLUMN pganon_private.version.dropped_at IS
    'when the stored tables of the version were dropped; the row and its members table stay';
COMMENT ON COLUMN pganon_private.version.partition IS
    'the part of the policy that decides which groups come out and what of them is shown';
COMMENT ON COLUMN pganon_private.version.partition_hash IS
    'sha256 of that part';
COMMENT ON COLUMN pganon_private.version.sources IS
    'names of the source and of all relations that its rows come from';
COMMENT ON COLUMN pganon_private.version.source_fingerprint IS
    'fingerprint of what was read, under the secret of the installation';
COMMENT ON COLUMN pganon_private.version.population IS
    'the people whom it is about; NULL where nothing tells them apart';
COMMENT ON COLUMN pganon_private.version.manner IS
    'how the version shows groups, as far as others are compared with it; NULL without a key';
COMMENT ON COLUMN pganon_private.version.over_versions IS
    'whether its guarantee holds beside other versions: holds, finer or void; NULL without a key';
COMMENT ON COLUMN pganon_private.version.rows_fingerprint IS
    'fingerprint of what was read but for the keys: the same rows may have others in a copy';
COMMENT ON COLUMN pganon_private.version.readable_by IS
    'roles that could ever read it; public: everybody';
COMMENT ON COLUMN pganon_private.version.readable_ids IS
    'their numbers, in the same order: a role that was renamed could read it as well';
COMMENT ON COLUMN pganon_private.version.increments IS
    'what each run added to a version that grows, oldest first; NULL for a version made at once';
COMMENT ON COLUMN pganon_private.version.trusted IS
    'roles that its policy trusts, with their numbers';
COMMENT ON COLUMN pganon_private.version.source_mark IS
    'what the statistics of the server said of changes to the source before it was read';
COMMENT ON COLUMN pganon_private.version.source_columns IS
    'columns of the source when it was read, {name, type}';

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

-- Who works on what: sessions that run, judge and publish, roll back, drop or clean up.

CREATE TABLE pganon_private.activity (
    -- Drawn by the session, which holds the advisory lock of this key as long as it lives.
    lock_key bigint PRIMARY KEY,
    kind text NOT NULL,
    release text,
    run_id bigint,
    by_role text NOT NULL DEFAULT session_user,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Locked while a version is judged and published.
    population bigint,
    CONSTRAINT activity_kind CHECK (
        CASE kind
            WHEN 'release' THEN release IS NOT NULL AND run_id IS NULL AND population IS NULL
            WHEN 'run' THEN run_id IS NOT NULL AND release IS NULL AND population IS NULL
            WHEN 'cleaning' THEN run_id IS NOT NULL AND release IS NULL AND population IS NULL
            WHEN 'worker' THEN run_id IS NOT NULL AND release IS NULL AND population IS NULL
            WHEN 'population' THEN population IS NOT NULL AND release IS NULL AND run_id IS NULL
            ELSE false
        END
    )
);

CREATE UNIQUE INDEX activity_release ON pganon_private.activity (release) WHERE kind = 'release';
CREATE UNIQUE INDEX activity_run ON pganon_private.activity (run_id)
    WHERE kind IN ('run', 'cleaning');
CREATE UNIQUE INDEX activity_population ON pganon_private.activity (population)
    WHERE kind = 'population';

COMMENT ON TABLE pganon_private.activity IS
    'sessions at work on a release or a run; a row counts while a member of the owner holds its lock';

-- Policies kept in the database, requests for releases, their approval, schedules and workers.

CREATE TABLE pganon_private.policy (
    release text NOT NULL,
    revision integer NOT NULL CONSTRAINT policy_revision_positive CHECK (revision > 0),
    -- Not jsonb, which reorders keys: the order of columns is that of the published ones.
    document json NOT NULL,
    document_hash bytea NOT NULL,
    policy_hash text,
    checked_at timestamptz,
    problems text[] NOT NULL DEFAULT '{}',
    review_by date,
    applied_login text NOT NULL DEFAULT session_user,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    comment text,
    applied_login_id oid NOT NULL DEFAULT pg_catalog.to_regrole(pg_catalog.quote_ident(session_user)),
    PRIMARY KEY (release, revision)
);

CREATE INDEX policy_unchecked ON pganon_private.policy (release) WHERE checked_at IS NULL;

COMMENT ON TABLE pganon_private.policy IS
    'policies by release; the highest revision counts. checked_at, policy_hash and problems are the'
    ' program''s, which looks at a policy once';

CREATE TABLE pganon_private.policy_file (
    release text NOT NULL,
    revision integer NOT NULL,
    path text NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (release, revision, path),
    FOREIGN KEY (release, revision) REFERENCES pganon_private.policy (release, revision)
);

COMMENT ON TABLE pganon_private.policy_file IS 'files that a policy names, such as hierarchies';

CREATE TABLE pganon_private.policy_role (
    release text NOT NULL,
    revision integer NOT NULL,
    purpose text NOT NULL CONSTRAINT policy_role_purpose CHECK (
        purpose IN ('request', 'approve', 'read', 'trust')
    ),
    role text NOT NULL,
    role_id oid NOT NULL,
    PRIMARY KEY (release, revision, purpose, role),
    FOREIGN KEY (release, revision) REFERENCES pganon_private.policy (release, revision)
);

COMMENT ON TABLE pganon_private.policy_role IS
    'roles that a policy names, as they were when it was applied; number 0 is PUBLIC';

CREATE TABLE pganon_private.worker (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Drawn by the session, which holds the advisory lock of this key as long as it lives.
    lock_key bigint NOT NULL CONSTRAINT worker_lock_key UNIQUE,
    kind text NOT NULL CONSTRAINT worker_kind CHECK (kind IN ('worker', 'command')),
    name text NOT NULL,
    login text NOT NULL DEFAULT session_user,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE pganon_private.worker IS
    'sessions that serve requests; a row counts while a member of the owner holds its lock';

CREATE TABLE pganon_private.request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    release text NOT NULL,
    revision integer NOT NULL,
    kind text NOT NULL DEFAULT 'run'
        CONSTRAINT request_kind CHECK (kind IN ('run', 'revert', 'drop')),
    origin text NOT NULL
        CONSTRAINT request_origin CHECK (origin IN ('request', 'schedule', 'command', 'migration')),
    parameters jsonb NOT NULL DEFAULT '{}'
        CONSTRAINT request_parameters_small CHECK (pg_column_size(parameters) <= 1024),
    requester text NOT NULL DEFAULT current_user,
    login text NOT NULL DEFAULT session_user,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    not_before timestamptz,
    due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    state text NOT NULL DEFAULT 'waiting' CONSTRAINT request_state CHECK (
        state IN (
            'waiting', 'running', 'awaiting_approval', 'approved', 'released', 'unchanged', 'refused',
            'failed', 'cancelled', 'rejected', 'expired', 'superseded'
        )
    ),
    attempts smallint NOT NULL DEFAULT 0,
    -- No foreign key: rows of workers go when these are dead.
    worker bigint,
    step text,
    run_id bigint,
    version integer,
    expires_at timestamptz,
    code text,
    started_at timestamptz,
    finished_at timestamptz,
    requester_id oid NOT NULL DEFAULT pg_catalog.to_regrole(pg_catalog.quote_ident(current_user)),
    login_id oid NOT NULL DEFAULT pg_catalog.to_regrole(pg_catalog.quote_ident(session_user)),
    CONSTRAINT request_running_has_worker CHECK ((state = 'running') = (worker IS NOT NULL))
);

CREATE UNIQUE INDEX request_equal ON pganon_private.request (
    release, revision, kind, requester_id, parameters, coalesce(not_before, '-infinity')
) WHERE state = 'waiting' AND attempts = 0;
CREATE UNIQUE INDEX request_running ON pganon_private.request (release) WHERE state = 'running';
CREATE INDEX request_due ON pganon_private.request (due_at, id)
    WHERE state IN ('waiting', 'approved');
CREATE INDEX request_expiring ON pganon_private.request (expires_at)
    WHERE state = 'awaiting_approval';
CREATE INDEX request_finished ON pganon_private.request (release, finished_at);
CREATE INDEX request_ended ON pganon_private.request (finished_at);
CREATE INDEX request_by_requester ON pganon_private.request (requester_id, started_at);

COMMENT ON TABLE pganon_private.request IS 'what is to be released, by whom it was asked, and what came of it';

CREATE TABLE pganon_private.held (
    request bigint PRIMARY KEY REFERENCES pganon_private.request (id),
    run_id bigint NOT NULL CONSTRAINT held_run UNIQUE,
    staged json NOT NULL
);

COMMENT ON TABLE pganon_private.held IS
    'verified releases that wait for approval; their tables stay in the staging schema';

CREATE TABLE pganon_private.approval (
    request bigint NOT NULL REFERENCES pganon_private.request (id),
    decision text NOT NULL CONSTRAINT approval_decision CHECK (decision IN ('approved', 'rejected')),
    login text NOT NULL DEFAULT session_user,
    role text NOT NULL,
    reason text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TRIGGER approval_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON pganon_private.approval
    FOR EACH STATEMENT EXECUTE FUNCTION pganon_private.refuse_change();
ALTER TABLE pganon_private.approval ENABLE ALWAYS TRIGGER approval_append_only;

CREATE TABLE pganon_private.schedule (
    release text PRIMARY KEY,
    revision integer NOT NULL,
    expression text NOT NULL,
    time_zone text NOT NULL,
    next_at timestamptz NOT NULL
);

COMMENT ON TABLE pganon_private.schedule IS 'releases that are made at fixed times, and when next';

-- Who acts is written in the caller's own frame: a row of `action`, inserted through the view
-- pganon.action, whose check compares `actor` with current_user. Roles are kept by number beside the
-- name: a role that is renamed, or dropped and made again, is not the one that was named.

CREATE TABLE pganon_private.action (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor name NOT NULL,
    kind text NOT NULL
        CONSTRAINT action_kind CHECK (kind IN ('request', 'cancel', 'approve', 'reject')),
    release text,
    parameters jsonb,
    not_before timestamptz,
    request bigint,
    reason text,
    result bigint
);

COMMENT ON TABLE pganon_private.action IS
    'what a role does; a row ends with the transaction in which it is read';

-- The only function that runs with the rights of its owner. It trusts `actor`, which the view has
-- checked, and nothing of the session, not even what a day is there.
CREATE FUNCTION pganon_private.perform() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET "TimeZone" = 'UTC'
AS $$
DECLARE
    made bigint;
BEGIN
    IF TG_RELID <> 'pganon_private.action'::regclass THEN
        RAISE EXCEPTION USING ERRCODE = 'PA411', MESSAGE = 'this trigger is for pganon_private.action';
    END IF;
    made := pganon.perform(NEW);
    UPDATE pganon_private.action AS a SET result = made WHERE a.id = NEW.id;
    -- Those that nobody read.
    DELETE FROM pganon_private.action AS a WHERE a.actor = NEW.actor AND a.id <> NEW.id;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION pganon_private.perform() FROM PUBLIC;

-- After the statement, and so after the check of the view.
CREATE TRIGGER action_performed
    AFTER INSERT ON pganon_private.action
    FOR EACH ROW EXECUTE FUNCTION pganon_private.perform();
ALTER TABLE pganon_private.action ENABLE ALWAYS TRIGGER action_performed;

-- Files of release migrations that were applied.

CREATE TABLE pganon_private.migration_history (
    name text PRIMARY KEY,
    -- Who applies files now, or did last; no foreign key: rows of workers go when these are done.
    worker bigint
);

COMMENT ON TABLE pganon_private.migration_history IS
    'histories of release migrations; one session at a time works on each';

CREATE TABLE pganon_private.release_migration (
    history text NOT NULL REFERENCES pganon_private.migration_history (name),
    file text NOT NULL,
    -- NULL for a repeatable one.
    number integer CONSTRAINT release_migration_number_positive CHECK (number > 0),
    checksum text NOT NULL,
    kind text NOT NULL CONSTRAINT release_migration_kind CHECK (kind IN ('release', 'withdraw')),
    release text NOT NULL,
    -- What was shown before; NULL for nothing.
    version_before integer,
    -- NULL for a withdrawal, and while somebody must approve.
    version integer,
    -- The newest revision of the policy before; NULL if there was none.
    revision_before integer,
    request bigint REFERENCES pganon_private.request (id),
    login text NOT NULL DEFAULT session_user,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    program_version text NOT NULL,
    PRIMARY KEY (history, file)
);

CREATE UNIQUE INDEX release_migration_number ON pganon_private.release_migration (history, number);

COMMENT ON TABLE pganon_private.release_migration IS
    'files of release migrations that were applied; rows go when they are taken back';
