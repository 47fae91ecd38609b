-- Runs that publish nothing new, and readers that come and go without a version.

ALTER TABLE pganon_private.ledger DROP CONSTRAINT ledger_event_known;

ALTER TABLE pganon_private.ledger ADD CONSTRAINT ledger_event_known CHECK (
    event IN (
        'started', 'released', 'unchanged', 'dry_run', 'refused', 'failed', 'rolled_back',
        'dropped', 'readers'
    )
);
