-- Releases and their numbered versions.

CREATE TABLE pganon_private.release (
    name text PRIMARY KEY,
    policy_source text NOT NULL,
    view_schema text NOT NULL,
    view_name text NOT NULL,
    current_version integer,
    -- Roles that publication let read the views; grants of the steward's own are not listed.
    readers text[] NOT NULL DEFAULT '{}'
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
    policy_hash text,
    measures jsonb NOT NULL DEFAULT '{}',
    row_count bigint NOT NULL,
    suppressed bigint NOT NULL,
    fingerprint bytea,
    source_fingerprint bytea,
    members_table text,
    published_at timestamptz,
    dropped_at timestamptz,
    PRIMARY KEY (release, version)
);

CREATE UNIQUE INDEX version_run_id ON pganon_private.version (run_id);

COMMENT ON COLUMN pganon_private.version.members_table IS
    'table in pganon_private that remembers which record was in which group; survives a drop';

COMMENT ON COLUMN pganon_private.version.views IS
    'definitions of the published views, with which a rollback makes them again';
COMMENT ON COLUMN pganon_private.version.dropped_at IS
    'when the stored tables of the version were dropped; the row and its members table stay';
