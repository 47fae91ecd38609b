-- Who works on what. A row of pganon_private.activity counts while its advisory lock is held by a
-- session of a role that is a member of the owner. Keys are bigint; pg_locks shows them as two
-- halves with objsubid 1.

-- try --
-- Take an exclusive session lock if it is free.
SELECT pg_catalog.pg_try_advisory_lock(%(key)s);

-- unlock --
-- Give up a session lock.
SELECT pg_catalog.pg_advisory_unlock(%(key)s);

-- begin --
-- Take the lock of a key that was drawn, and insert the row of this session's work; no row if the
-- same release, run or population has one, or if somebody else holds the lock.
INSERT INTO pganon_private.activity (lock_key, kind, release, run_id, population)
SELECT %(key)s, %(kind)s, %(release)s, %(run_id)s, %(population)s
WHERE pg_catalog.pg_try_advisory_lock(%(key)s)
ON CONFLICT DO NOTHING
RETURNING lock_key;

-- enter --
-- Insert the row of this session's work; no row if the same release, run or population has one.
INSERT INTO pganon_private.activity (lock_key, kind, release, run_id, population)
VALUES (%(key)s, %(kind)s, %(release)s, %(run_id)s, %(population)s)
ON CONFLICT DO NOTHING
RETURNING lock_key;

-- standing --
-- Key and kind of the row of a release, a population, or of the session that leads or cleans up a
-- run; locked.
SELECT a.lock_key, a.kind
FROM pganon_private.activity AS a
WHERE (a.kind = 'release' AND a.release = %(release)s)
    OR (a.kind IN ('run', 'cleaning') AND a.run_id = %(run_id)s)
    OR (a.kind = 'population' AND a.population = %(population)s)
FOR UPDATE;

-- workers --
-- Keys of the additional sessions of a run.
SELECT a.lock_key FROM pganon_private.activity AS a
WHERE a.kind = 'worker' AND a.run_id = %(run_id)s;

-- fresh --
-- Forget what this transaction has seen of other sessions.
SELECT pg_catalog.pg_stat_clear_snapshot();

-- holders --
-- Process and role of each session that holds one of these locks and counts. Anybody may wait for a
-- lock that pg_locks shows, and have it when its holder is gone: so
-- it matters whose session it is.
SELECT h.key, l.pid, s.usename::text
FROM pg_catalog.pg_locks AS l
CROSS JOIN LATERAL (SELECT (l.classid::bigint << 32) | l.objid::bigint AS key) AS h
JOIN pg_catalog.pg_stat_activity AS s ON s.pid = l.pid
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.mode = 'ExclusiveLock'
    AND l.database = (
        SELECT d.oid FROM pg_catalog.pg_database AS d
        WHERE d.datname = pg_catalog.current_database()
    )
    AND h.key = ANY (%(keys)s::bigint[])
    AND pganon.has_role(s.usesysid, (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user));

-- end --
-- Take a row away and give up its lock.
WITH gone AS (
    DELETE FROM pganon_private.activity AS a WHERE a.lock_key = %(key)s RETURNING a.lock_key
)
SELECT pg_catalog.pg_advisory_unlock(%(key)s) FROM (SELECT count(*) FROM gone) AS g;

-- leave --
-- Take rows away.
DELETE FROM pganon_private.activity AS a WHERE a.lock_key = ANY (%(keys)s::bigint[]);

-- forget_dead --
-- Take rows away whose locks no session holds that counts. A lock is taken before its row is there, and
-- locks are looked at after rows.
WITH held AS MATERIALIZED (
    SELECT h.key
    FROM pg_catalog.pg_locks AS l
    CROSS JOIN LATERAL (SELECT (l.classid::bigint << 32) | l.objid::bigint AS key) AS h
    JOIN pg_catalog.pg_stat_activity AS s ON s.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.mode = 'ExclusiveLock'
        AND l.database = (
            SELECT d.oid FROM pg_catalog.pg_database AS d
            WHERE d.datname = pg_catalog.current_database()
        )
        AND h.key IN (SELECT a.lock_key FROM pganon_private.activity AS a)
        AND pganon.has_role(s.usesysid, (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user))
)

DELETE FROM pganon_private.activity AS a WHERE a.lock_key NOT IN (SELECT h.key FROM held AS h);

-- mine --
-- Rows for a release, a run and a population whose locks this very session holds, with their keys;
-- locked until the transaction ends.
SELECT a.kind, a.lock_key
FROM pganon_private.activity AS a
WHERE ((a.kind = 'release' AND a.release = %(release)s)
        OR (a.kind = 'run' AND a.run_id = %(run_id)s)
        OR (a.kind = 'population' AND a.population = %(population)s))
    AND EXISTS (
        SELECT
        FROM pg_catalog.pg_locks AS l
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
            AND l.mode = 'ExclusiveLock' AND l.pid = pg_catalog.pg_backend_pid()
            AND ((l.classid::bigint << 32) | l.objid::bigint) = a.lock_key
            AND l.database = (
                SELECT d.oid FROM pg_catalog.pg_database AS d
                WHERE d.datname = pg_catalog.current_database()
            )
    )
FOR UPDATE;
