-- Policies kept in the database, requests for releases, their approval, schedules and workers.

CREATE FUNCTION pganon_private.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'PA301',
        MESSAGE = format('%s is append-only: %s is not allowed', TG_TABLE_NAME, lower(TG_OP)),
        HINT = 'write a further row instead';
END
$$;

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
    requester text NOT NULL,
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
    approvers text[],
    expires_at timestamptz,
    code text,
    started_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT request_running_has_worker CHECK ((state = 'running') = (worker IS NOT NULL))
);

CREATE UNIQUE INDEX request_equal ON pganon_private.request (
    release, revision, kind, requester, parameters, coalesce(not_before, '-infinity')
) WHERE state = 'waiting' AND attempts = 0;
CREATE UNIQUE INDEX request_running ON pganon_private.request (release) WHERE state = 'running';
CREATE INDEX request_due ON pganon_private.request (due_at, id)
    WHERE state IN ('waiting', 'approved');
CREATE INDEX request_expiring ON pganon_private.request (expires_at)
    WHERE state = 'awaiting_approval';
CREATE INDEX request_finished ON pganon_private.request (release, finished_at);

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

ALTER TABLE pganon_private.ledger DROP CONSTRAINT ledger_event_known;

ALTER TABLE pganon_private.ledger ADD CONSTRAINT ledger_event_known CHECK (
    event IN (
        'started', 'released', 'unchanged', 'dry_run', 'refused', 'failed', 'rolled_back',
        'dropped', 'readers', 'forgotten', 'unchecked', 'awaiting_approval', 'approved',
        'rejected', 'expired', 'superseded', 'withdrawn'
    )
);
