-- Release migrations: which files were applied, and who applies files now.

-- add_history --
-- Make the history, if there is none of this name.
INSERT INTO pganon_private.migration_history (name) VALUES (%(history)s) ON CONFLICT DO NOTHING;

-- holder --
-- Who works on a history, and its lock; the row stays locked. NULL: nobody, or its row is gone.
SELECT h.worker, w.lock_key, w.name, w.login
FROM pganon_private.migration_history AS h
LEFT JOIN pganon_private.worker AS w ON w.id = h.worker
WHERE h.name = %(history)s
FOR UPDATE OF h;

-- take --
-- This session works on it now.
UPDATE pganon_private.migration_history AS h SET worker = %(worker)s WHERE h.name = %(history)s;

-- applied --
-- What was applied, in order. What had to be approved has its version once it is published.
SELECT
    m.file, m.number, m.checksum, m.kind, m.release,
    coalesce(m.version_before, (
        SELECT (l.details ->> 'replaced')::integer
        FROM pganon_private.ledger AS l
        WHERE l.release = m.release AND l.version = r.version AND l.event = 'released'
    )) AS version_before,
    coalesce(m.version, r.version) AS version,
    m.revision_before, m.request, r.state AS request_state, m.login, m.applied_at,
    m.program_version
FROM pganon_private.release_migration AS m
LEFT JOIN pganon_private.request AS r ON r.id = m.request
WHERE m.history = %(history)s
ORDER BY m.number NULLS LAST, m.file;

-- others --
-- Releases that belong to another history.
SELECT DISTINCT ON (m.release) m.release, m.history, m.file
FROM pganon_private.release_migration AS m
WHERE m.history <> %(history)s AND m.release = ANY (%(releases)s::text[])
ORDER BY m.release, m.history, m.file;

-- record --
-- A file was applied; no row if this session does not have the history any more.
INSERT INTO pganon_private.release_migration (
    history, file, number, checksum, kind, release, version_before, version, revision_before,
    request, program_version
)
SELECT
    h.name, %(file)s, %(number)s, %(checksum)s, %(kind)s, %(release)s,
    -- What publication replaced, which it knows better than who asked for it; else what is shown.
    CASE WHEN %(made)s THEN (
        SELECT (l.details ->> 'replaced')::integer
        FROM pganon_private.ledger AS l
        WHERE l.release = %(release)s AND l.version = %(version)s AND l.event = 'released'
    ) ELSE %(shown)s::integer END,
    %(version)s, %(revision_before)s, %(request)s, %(program_version)s
FROM pganon_private.migration_history AS h
WHERE h.name = %(history)s AND h.worker = %(worker)s
FOR UPDATE OF h
ON CONFLICT (history, file) DO UPDATE SET
    checksum = excluded.checksum,
    version_before = excluded.version_before,
    version = excluded.version,
    revision_before = excluded.revision_before,
    request = excluded.request,
    login = session_user,
    applied_at = clock_timestamp(),
    program_version = excluded.program_version
RETURNING file;

-- mine --
-- Whether this session has the history still; nobody takes it before the transaction ends.
SELECT h.name
FROM pganon_private.migration_history AS h
WHERE h.name = %(history)s AND h.worker = %(worker)s
FOR UPDATE;

-- take_back --
-- A file counts as not applied again; no row if this session does not have the history any more.
DELETE FROM pganon_private.release_migration AS m
USING pganon_private.migration_history AS h
WHERE m.history = %(history)s AND m.file = %(file)s
    AND h.name = m.history AND h.worker = %(worker)s
RETURNING m.file;

-- end_waiting --
-- A release that waits for approval will not be published.
UPDATE pganon_private.request AS r
SET state = 'superseded', finished_at = clock_timestamp()
WHERE r.id = %(request)s AND r.state IN ('awaiting_approval', 'approved')
RETURNING r.run_id;

-- request_now --
-- What has become of a request, which stays as it is up to the end of the transaction.
SELECT r.state, r.version FROM pganon_private.request AS r WHERE r.id = %(request)s FOR UPDATE;
