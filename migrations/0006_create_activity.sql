-- Who works on what: sessions that run, roll back, drop or clean up.

CREATE TABLE pganon_private.activity (
    -- Drawn by the session, which holds the advisory lock of this key as long as it lives.
    lock_key bigint PRIMARY KEY,
    kind text NOT NULL,
    release text,
    run_id bigint,
    by_role text NOT NULL DEFAULT session_user,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT activity_kind CHECK (
        CASE kind
            WHEN 'release' THEN release IS NOT NULL AND run_id IS NULL
            WHEN 'run' THEN run_id IS NOT NULL AND release IS NULL
            WHEN 'cleaning' THEN run_id IS NOT NULL AND release IS NULL
            WHEN 'worker' THEN run_id IS NOT NULL AND release IS NULL
            ELSE false
        END
    )
);

CREATE UNIQUE INDEX activity_release ON pganon_private.activity (release) WHERE kind = 'release';
CREATE UNIQUE INDEX activity_run ON pganon_private.activity (run_id)
    WHERE kind IN ('run', 'cleaning');

COMMENT ON TABLE pganon_private.activity IS
    'sessions at work on a release or a run; a row counts while a member of the owner holds its lock';
