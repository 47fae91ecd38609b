-- The record of every attempt; for the steward alone.
CREATE VIEW pganon.ledger AS
SELECT
    l.id,
    l.run_id,
    l.release,
    l.version,
    l.event,
    l.at,
    l.by_role,
    l.program_version,
    l.policy_hash,
    l.details
FROM pganon_private.ledger AS l;

COMMENT ON VIEW pganon.ledger IS 'every attempt to release: started, released, refused, ...';
