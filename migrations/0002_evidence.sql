-- Evidence of versions, which reports show, and of releases that wait for approval.

ALTER TABLE pganon_private.version ADD COLUMN evidence jsonb;

COMMENT ON COLUMN pganon_private.version.evidence IS
    'what a report says of the version, measured by its run; its sha256 is in the ledger';

ALTER TABLE pganon_private.held ADD COLUMN revision integer;

UPDATE pganon_private.held AS h
SET revision = r.revision
FROM pganon_private.request AS r
WHERE r.id = h.request;

COMMENT ON COLUMN pganon_private.held.revision IS
    'of the policy whose approvers decide, and see the evidence before';
