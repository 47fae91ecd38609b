-- Files of release migrations that were applied, and the columns that the source of a version had.

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

ALTER TABLE pganon_private.version ADD COLUMN source_columns jsonb;
ALTER TABLE pganon_private.version ADD COLUMN source_mark text;

COMMENT ON COLUMN pganon_private.version.source_mark IS
    'what the statistics of the server said of changes to the source before it was read';
COMMENT ON COLUMN pganon_private.version.source_columns IS
    'columns of the source when it was read, {name, type}; NULL for versions from before this';
