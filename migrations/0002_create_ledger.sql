-- Append-only record of every attempt, and the secrets of runs.

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
        event IN ('started', 'released', 'refused', 'failed', 'rolled_back', 'dropped')
    ),
    CONSTRAINT ledger_started_is_own_run CHECK (event <> 'started' OR run_id = id)
);

CREATE INDEX ledger_run_id ON pganon_private.ledger (run_id);
CREATE INDEX ledger_release ON pganon_private.ledger (release, id);

-- Lives here and not in schema pganon: the trigger must survive an uninstall of that schema.
CREATE FUNCTION pganon_private.refuse_ledger_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'PA301',
        MESSAGE = format('the ledger is append-only: %s is not allowed', lower(TG_OP)),
        HINT = 'write a further row instead';
END
$$;

CREATE TRIGGER ledger_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON pganon_private.ledger
    FOR EACH STATEMENT EXECUTE FUNCTION pganon_private.refuse_ledger_change();

-- Fires in sessions with session_replication_role = replica as well.
ALTER TABLE pganon_private.ledger ENABLE ALWAYS TRIGGER ledger_append_only;

CREATE TABLE pganon_private.run_secret (
    run_id bigint PRIMARY KEY,
    key bytea NOT NULL,
    seed_a bigint NOT NULL,
    seed_b bigint NOT NULL
);

COMMENT ON TABLE pganon_private.run_secret IS
    'key of the fingerprints and permutations of a run, and the seeds of its partition';
