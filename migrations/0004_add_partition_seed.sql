-- The seed of a run's random choices, which a new version over an unchanged source inherits.

ALTER TABLE pganon_private.run_secret ADD COLUMN partition_seed bigint;

UPDATE pganon_private.run_secret SET partition_seed = seed_a;

ALTER TABLE pganon_private.run_secret ALTER COLUMN partition_seed SET NOT NULL;

COMMENT ON TABLE pganon_private.run_secret IS
    'key and seeds of the fingerprints and permutations of a run, and the seed of its partition';

COMMENT ON COLUMN pganon_private.run_secret.partition_seed IS
    'what decides between equal choices of a method; a version over an unchanged source takes over'
    ' that of the version before, so that both have the same groups';
