-- Evidence of versions, which reports show.

ALTER TABLE pganon_private.version ADD COLUMN evidence jsonb;

COMMENT ON COLUMN pganon_private.version.evidence IS
    'what a report says of the version, measured by its run; its sha256 is in the ledger';
