-- Workers and what they are doing; for the steward. A worker is alive while a session of a member
-- of the owner holds its lock. Functions, since views of the server are not pinned, and may be
-- anybody's.
CREATE VIEW pganon.worker AS
SELECT
    w.id,
    w.kind,
    w.name,
    w.login,
    w.started_at,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_lock_status() AS l
        JOIN pg_catalog.pg_stat_get_activity(NULL) AS a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.mode = 'ExclusiveLock'
            AND ((l.classid::bigint << 32) | l.objid::bigint) = w.lock_key
            AND l.database = (
                SELECT d.oid FROM pg_catalog.pg_database AS d
                WHERE d.datname = pg_catalog.current_database()
            )
            AND pganon.has_role(a.usesysid, p.nspowner)
    ) AS alive,
    r.id AS request,
    r.release,
    r.step
FROM pganon_private.worker AS w
JOIN pg_catalog.pg_namespace AS p ON p.nspname = 'pganon'
-- Distinct, so that the planner leaves out the join where nothing of it is asked for: pganon.requests.
LEFT JOIN (
    SELECT DISTINCT ON (q.worker) q.worker, q.id, q.release, q.step FROM pganon_private.request AS q
) AS r ON r.worker = w.id;

COMMENT ON VIEW pganon.worker IS 'workers, whether they are alive, and what they are doing';
