-- Events that reports show: files that a steward exported, attacks that were measured.

ALTER TABLE pganon_private.ledger
    DROP CONSTRAINT ledger_event_known,
    ADD CONSTRAINT ledger_event_known CHECK (
        event IN (
            'started', 'released', 'unchanged', 'dry_run', 'refused', 'failed', 'rolled_back',
            'dropped', 'readers', 'forgotten', 'unchecked', 'awaiting_approval', 'approved',
            'rejected', 'expired', 'superseded', 'withdrawn', 'exported', 'attacked'
        )
    );
