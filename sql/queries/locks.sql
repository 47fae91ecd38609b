-- Session locks. Keys are bigint; pg_locks shows them as two halves with objsubid 1.

-- try --
-- Take an exclusive session lock if it is free.
SELECT pg_catalog.pg_try_advisory_lock(%(key)s);

-- try_shared --
-- Take a shared session lock if nobody holds it exclusively.
SELECT pg_catalog.pg_try_advisory_lock_shared(%(key)s);

-- unlock --
-- Give up one hold on an exclusive session lock.
SELECT pg_catalog.pg_advisory_unlock(%(key)s);

-- held --
-- Which of these exclusive locks this session holds.
SELECT h.key
FROM pg_catalog.pg_locks AS l
CROSS JOIN LATERAL (SELECT (l.classid::bigint << 32) | l.objid::bigint AS key) AS h
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.mode = 'ExclusiveLock'
    AND l.pid = pg_catalog.pg_backend_pid()
    AND l.database = (
        SELECT d.oid FROM pg_catalog.pg_database AS d
        WHERE d.datname = pg_catalog.current_database()
    )
    AND h.key = ANY (%(keys)s::bigint[]);

-- led --
-- Whether any session of this server holds this exclusive lock in this database.
SELECT EXISTS (
    SELECT
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.mode = 'ExclusiveLock'
        AND ((l.classid::bigint << 32) | l.objid::bigint) = %(key)s
        AND l.database = (
            SELECT d.oid FROM pg_catalog.pg_database AS d
            WHERE d.datname = pg_catalog.current_database()
        )
);

-- mark_session --
-- Leave a mark in the session.
SELECT pg_catalog.set_config('pganon.session_mark', %(mark)s, false), pg_catalog.pg_backend_pid();

-- read_session --
-- The mark of the session, its process, and whether it holds a lock; all in one statement.
SELECT
    pg_catalog.current_setting('pganon.session_mark', true),
    pg_catalog.pg_backend_pid(),
    EXISTS (
        SELECT
        FROM pg_catalog.pg_locks AS l
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
            AND l.pid = pg_catalog.pg_backend_pid()
            AND ((l.classid::bigint << 32) | l.objid::bigint) = %(key)s
    );
