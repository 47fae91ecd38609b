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
