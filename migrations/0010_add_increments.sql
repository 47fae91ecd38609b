-- Versions that grow by groups of newcomers.

ALTER TABLE pganon_private.version ADD COLUMN increments jsonb;

COMMENT ON COLUMN pganon_private.version.increments IS
    'what each run added to a version that grows, oldest first; NULL for a version made at once';

CREATE TABLE pganon_private.cohorts (
    -- The run that formed them; table cohorts_<run_id> has their people.
    run_id bigint PRIMARY KEY,
    release text NOT NULL,
    -- Whose secret made the digests.
    population bigint NOT NULL REFERENCES pganon_private.population (id),
    number integer NOT NULL,
    formed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The run that published them, or left all of them out for good.
    finished_by bigint,
    -- Records that are out for good because no version has any of their cohorts.
    records_out bigint NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX cohorts_unfinished ON pganon_private.cohorts (release, population)
    WHERE finished_by IS NULL;

COMMENT ON TABLE pganon_private.cohorts IS
    'newcomers who are tested together, once; committed before any of their values is looked at';
