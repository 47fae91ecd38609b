-- The queue of requests, as workers and runs see it. A worker is who holds the lock of its row.

-- add_worker --
-- Show that this session serves requests.
INSERT INTO pganon_private.worker (lock_key, kind, name)
VALUES (%(key)s, %(kind)s, %(name)s)
RETURNING id;

-- remove_worker --
-- This session is done.
DELETE FROM pganon_private.worker AS w WHERE w.id = %(me)s;

-- look --
-- Whether there is anything to do, in one short statement: requests that can be claimed, requests
-- of workers that are dead, schedules, policies to look at, approvals that expired, reviews,
-- views of withdrawn releases that were in use, requests that ended long ago.
SELECT
    EXISTS (
        SELECT FROM pganon_private.request AS q
        WHERE q.state IN ('waiting', 'approved') AND q.due_at <= clock_timestamp()
            AND NOT EXISTS (
                SELECT
                FROM pganon_private.request AS o
                WHERE o.release = q.release AND o.state = 'running'
            )
    ) AS due,
    EXISTS (
        SELECT
        FROM pganon_private.request AS r
        LEFT JOIN pganon.worker AS w ON w.id = r.worker
        WHERE r.state = 'running' AND r.worker <> %(me)s AND w.alive IS NOT TRUE
    ) AS lost,
    EXISTS (
        SELECT FROM pganon_private.schedule AS s WHERE s.next_at <= clock_timestamp()
    ) AS scheduled,
    EXISTS (
        SELECT FROM pganon_private.policy AS p
        WHERE p.checked_at IS NULL AND NOT EXISTS (
            SELECT FROM pganon_private.policy AS n
            WHERE n.release = p.release AND n.revision > p.revision
        )
    ) AS unchecked,
    EXISTS (
        SELECT FROM pganon_private.request AS r
        WHERE r.state = 'awaiting_approval' AND r.expires_at <= clock_timestamp()
    ) AS expired,
    EXISTS (
        SELECT FROM pganon_private.held AS h
        JOIN pganon_private.request AS r ON r.id = h.request
        WHERE r.state NOT IN ('awaiting_approval', 'approved', 'running')
    ) AS discarded,
    EXISTS (
        SELECT FROM pganon_private.policy AS p
        JOIN pganon_private.release AS r ON r.name = p.release
        WHERE p.review_by <= current_date AND r.current_version IS NOT NULL AND NOT EXISTS (
            SELECT FROM pganon_private.policy AS n
            WHERE n.release = p.release AND n.revision > p.revision
                AND n.checked_at IS NOT NULL AND n.problems = '{}'
        )
    ) AS review,
    EXISTS (
        SELECT FROM pganon_private.release AS r
        WHERE r.current_version IS NULL AND CASE WHEN EXISTS (
            SELECT FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = r.view_schema AND c.relname = r.view_name AND c.relkind = 'v'
        ) THEN EXISTS (SELECT FROM pganon.standing_views(r.name)) END
    ) AS withdrawn,
    EXISTS (
        SELECT FROM pganon_private.request AS r
        WHERE r.finished_at < clock_timestamp() - interval '2160 hours'
            AND NOT EXISTS (SELECT FROM pganon_private.approval AS a WHERE a.request = r.id)
            AND NOT EXISTS (SELECT FROM pganon_private.held AS h WHERE h.request = r.id)
    ) AS old;

-- tidy --
-- Take away requests that ended long ago; gives how many.
SELECT pganon.tidy_requests();

-- claim --
-- Take a request of a release that nobody works on: what was approved, then withdrawals, schedules and what the steward asks for
-- first, then the role that was served least recently, and of a role what has been due for longest. What was
-- made before its approval keeps the time from when the source was read.
UPDATE pganon_private.request AS r
SET state = 'running', attempts = attempts + 1, worker = %(me)s, step = NULL,
    started_at = CASE r.state WHEN 'approved' THEN r.started_at ELSE clock_timestamp() END
WHERE r.id = (
    SELECT q.id
    FROM pganon_private.request AS q
    WHERE q.state IN ('waiting', 'approved') AND q.due_at <= clock_timestamp()
        AND NOT EXISTS (
            SELECT
            FROM pganon_private.request AS o
            WHERE o.release = q.release AND o.state = 'running'
        )
    ORDER BY
        q.state = 'waiting',
        q.kind = 'run' AND q.origin = 'request' AND NOT pganon.is_steward(q.requester_id),
        (
            SELECT max(s.started_at)
            FROM pganon_private.request AS s
            WHERE s.requester_id = q.requester_id
        ) NULLS FIRST,
        q.due_at,
        q.id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING
    r.id, r.release, r.revision, r.kind, r.origin, r.parameters, r.requester_id, r.attempts, r.worker,
    r.run_id, EXISTS (SELECT FROM pganon_private.held AS h WHERE h.request = r.id) AS held;

-- lost --
-- Workers that have a request and are dead, or have no row.
SELECT r.worker
FROM pganon_private.request AS r
LEFT JOIN pganon.worker AS w ON w.id = r.worker
WHERE r.state = 'running' AND r.worker <> %(me)s AND w.alive IS NOT TRUE;

-- requeue --
-- Give back requests of dead workers; the third attempt was the last.
UPDATE pganon_private.request AS r
SET state = CASE
        WHEN r.attempts >= 3 THEN 'failed'
        WHEN EXISTS (SELECT FROM pganon_private.held AS h WHERE h.request = r.id) THEN 'approved'
        ELSE 'waiting' END,
    code = CASE WHEN r.attempts >= 3 THEN 'worker_lost' END,
    finished_at = CASE WHEN r.attempts >= 3 THEN clock_timestamp() END,
    due_at = clock_timestamp() + make_interval(secs => 10 * r.attempts),
    worker = NULL, step = NULL
WHERE r.id IN (
    SELECT q.id
    FROM pganon_private.request AS q
    WHERE q.state = 'running' AND q.worker = ANY (%(workers)s::bigint[])
    FOR UPDATE SKIP LOCKED
)
RETURNING r.id, r.release, r.state;

-- keys --
-- Locks of all workers.
SELECT w.lock_key FROM pganon_private.worker AS w;

-- forget_workers --
-- Take away rows of dead workers that have no request any more.
DELETE FROM pganon_private.worker AS w
WHERE w.lock_key = ANY (%(keys)s::bigint[])
    AND NOT EXISTS (SELECT FROM pganon_private.request AS r WHERE r.worker = w.id);

-- mine --
-- Whether the request is still this worker's; with the step that it is at, or the run.
UPDATE pganon_private.request AS r
SET step = coalesce(%(step)s, r.step), run_id = coalesce(%(run_id)s, r.run_id)
WHERE r.id = %(id)s AND r.state = 'running' AND r.worker = %(worker)s
    AND r.attempts = %(attempts)s
RETURNING r.id;

-- finish --
-- End a request; no row if it is not this worker's any more.
UPDATE pganon_private.request AS r
SET state = %(state)s, worker = NULL, step = NULL, code = %(code)s, version = %(version)s,
    reason = %(reason)s, hint = %(hint)s, finished_at = clock_timestamp()
WHERE r.id = %(id)s AND r.state = 'running' AND r.worker = %(worker)s
    AND r.attempts = %(attempts)s
RETURNING r.id;

-- hold --
-- The request waits for approval, by whom and until when.
UPDATE pganon_private.request AS r
SET state = 'awaiting_approval', worker = NULL, step = NULL,
    expires_at = clock_timestamp() + %(expires)s, run_id = %(run_id)s
WHERE r.id = %(id)s AND r.state = 'running' AND r.worker = %(worker)s
    AND r.attempts = %(attempts)s
RETURNING r.id;

-- add_held --
-- A request of a command whose release waits for approval.
INSERT INTO pganon_private.request (
    release, revision, kind, origin, state, started_at, expires_at, run_id
)
VALUES (
    %(release)s, %(revision)s, 'run', 'command', 'awaiting_approval',
    (SELECT l.at FROM pganon_private.ledger AS l WHERE l.id = %(run_id)s),
    clock_timestamp() + %(expires)s, %(run_id)s
)
RETURNING id;

-- keep_staged --
-- What is to be published when it is approved.
INSERT INTO pganon_private.held (request, run_id, staged, revision)
SELECT r.id, %(run_id)s, %(staged)s::json, r.revision
FROM pganon_private.request AS r
WHERE r.id = %(request)s;

-- keep_again --
-- The same after it was judged again.
UPDATE pganon_private.held SET staged = %(staged)s::json WHERE request = %(request)s;

-- staged --
-- What a request wants to publish.
SELECT h.run_id, h.staged::text
FROM pganon_private.held AS h
WHERE h.request = %(request)s AND h.staged::text <> 'null';

-- waiting_for --
-- All that waits for approval to be published as a release.
SELECT h.request, h.staged::text
FROM pganon_private.held AS h
WHERE h.staged #>> '{staged,release}' = %(release)s
ORDER BY h.request;

-- forget_staged --
-- It is published, or will not be.
DELETE FROM pganon_private.held AS h WHERE h.request = %(request)s;

-- answered --
-- Equal requests from before this one began are answered by it. One that somebody is about to
-- cancel is passed over: publication waits for nobody.
UPDATE pganon_private.request AS r
SET state = %(state)s, version = %(version)s, finished_at = clock_timestamp(),
    run_id = (SELECT d.run_id FROM pganon_private.request AS d WHERE d.id = %(id)s)
WHERE r.id IN (
    SELECT q.id
    FROM pganon_private.request AS q
    JOIN pganon_private.request AS done ON done.id = %(id)s
    WHERE q.state = 'waiting' AND q.release = done.release AND q.revision = done.revision
        AND q.kind = done.kind AND q.parameters = done.parameters
        AND q.requested_at < done.started_at AND q.due_at <= done.started_at
    FOR UPDATE OF q SKIP LOCKED
);

-- supersede --
-- Releases made before this one do not wait for approval any more. One that somebody is about to
-- decide is passed over, and refused when it is to be published.
UPDATE pganon_private.request AS r
SET state = 'superseded', finished_at = clock_timestamp()
WHERE r.id IN (
    SELECT q.id
    FROM pganon_private.request AS q
    WHERE q.release = %(release)s AND q.state IN ('awaiting_approval', 'approved')
        AND q.run_id < %(run_id)s
    FOR UPDATE SKIP LOCKED
)
RETURNING r.id, r.run_id;

-- stop_waiting --
-- Releases about people of whom some were forgotten, and that nobody publishes at the moment.
UPDATE pganon_private.request AS r
SET state = 'superseded', finished_at = clock_timestamp()
FROM pganon_private.held AS h
WHERE h.request = r.id AND r.state IN ('awaiting_approval', 'approved')
    AND (h.staged #>> '{staged,judged,population}')::bigint = %(population)s
RETURNING r.id, r.release, r.run_id;

-- forget_waiting --
-- What was to be published about these people is not any more, also by who has just begun to; the row
-- stays for who removes the tables.
UPDATE pganon_private.held AS h
SET staged = 'null'
WHERE (h.staged #>> '{staged,judged,population}')::bigint = %(population)s;

-- overtaken --
-- The latest version of a release that was made after a run.
SELECT max(v.version)
FROM pganon_private.version AS v
WHERE v.release = %(release)s AND v.run_id > %(run_id)s;

-- ended --
-- Whether the release was withdrawn or dropped since a request was made: one that was committed
-- later, or was about to be cancelled or decided, was passed over then. To drop a release begins with
-- its withdrawal.
SELECT EXISTS (
    SELECT
    FROM pganon_private.request AS r
    JOIN pganon_private.ledger AS l ON l.release = r.release AND l.at >= r.requested_at
    WHERE r.id = %(id)s AND (l.event = 'dropped' OR (l.event = 'withdrawn' AND r.kind <> 'drop'))
);

-- changed --
-- Whether the newest policy of a release is a later one and wants no other to be run.
SELECT EXISTS (
    SELECT
    FROM (
        SELECT p.revision, p.document
        FROM pganon_private.policy AS p
        WHERE p.release = %(release)s
        ORDER BY p.revision DESC
        LIMIT 1
    ) AS n
    WHERE n.revision > %(revision)s AND n.document #>> '{requests,on_change}' IS DISTINCT FROM 'run'
);

-- give_back --
-- The request waits again, unless this was the third attempt that counts. Among equal ones that
-- wait only one may have no attempt.
UPDATE pganon_private.request AS r
SET state = CASE
        WHEN %(counted)s AND r.attempts >= 3 THEN 'failed'
        WHEN EXISTS (SELECT FROM pganon_private.held AS h WHERE h.request = r.id) THEN 'approved'
        ELSE 'waiting' END,
    code = CASE WHEN %(counted)s AND r.attempts >= 3 THEN %(code)s END,
    finished_at = CASE WHEN %(counted)s AND r.attempts >= 3 THEN clock_timestamp() END,
    worker = NULL, step = NULL,
    attempts = r.attempts - CASE
        WHEN %(counted)s OR EXISTS (
            SELECT
            FROM pganon_private.request AS q
            WHERE q.release = r.release AND q.revision = r.revision AND q.kind = r.kind
                AND q.requester_id = r.requester_id AND q.parameters = r.parameters
                AND q.not_before IS NOT DISTINCT FROM r.not_before
                AND q.state = 'waiting' AND q.attempts = 0
        ) THEN 0
        ELSE 1 END,
    due_at = clock_timestamp() + %(after)s
WHERE r.id = %(id)s AND r.state = 'running' AND r.worker = %(worker)s
    AND r.attempts = %(attempts)s
RETURNING r.state;

-- expire --
-- Nobody approved in time.
UPDATE pganon_private.request AS r
SET state = 'expired', finished_at = clock_timestamp()
WHERE r.id IN (
    SELECT q.id
    FROM pganon_private.request AS q
    WHERE q.state = 'awaiting_approval' AND q.expires_at <= clock_timestamp()
    FOR UPDATE SKIP LOCKED
)
RETURNING r.id, r.release, r.run_id;

-- discarded --
-- Staged releases of requests that ended without publication.
SELECT h.request, h.run_id
FROM pganon_private.held AS h
JOIN pganon_private.request AS r ON r.id = h.request
WHERE r.state NOT IN ('awaiting_approval', 'approved', 'running')
ORDER BY h.request;

-- limits --
-- Refuse a request beyond the limits of its policy.
SELECT pganon.check_limits(p.release, p.document, %(requester_id)s, %(id)s)
FROM pganon_private.policy AS p
WHERE p.release = %(release)s AND p.revision = %(revision)s;

-- parameters --
-- Refuse parameters that the policy does not declare.
SELECT pganon.check_parameters(p.document, %(parameters)s)
FROM pganon_private.policy AS p
WHERE p.release = %(release)s AND p.revision = %(revision)s;

-- schedule --
-- A request that a schedule makes.
SELECT pganon.enqueue(
    %(release)s, %(revision)s, 'run', 'schedule', '{}', to_regrole(quote_ident(current_user)), NULL
);

-- end_all --
-- Nothing is asked of a release any more that is not shown.
SELECT pganon.end_requests(%(release)s);

-- decide --
-- A second person's decision, without any function of pganon's owner. It has been carried out when this ends.
INSERT INTO pganon.action (actor, kind, request, reason, parameters)
VALUES (
    current_user, %(decision)s, %(id)s, %(reason)s,
    pg_catalog.jsonb_build_object('evidence', %(evidence)s::pg_catalog.text)
);

-- decided --
-- Take the row away again.
DELETE FROM pganon.action;

-- open --
-- Requests that have not ended, oldest first; of one release or all.
SELECT
    r.id, r.release, r.kind, r.origin, r.state, r.requester, r.requested_at, r.due_at,
    r.attempts, r.step, r.expires_at, ARRAY(
        SELECT n.role FROM pganon.named_roles(r.release, r.revision, 'approve') AS n ORDER BY n.role
    ) AS approvers
FROM pganon_private.request AS r
WHERE r.state IN ('waiting', 'running', 'awaiting_approval', 'approved')
    AND (%(release)s::text IS NULL OR r.release = %(release)s)
ORDER BY r.due_at, r.id;

-- shown --
-- Every release that is shown, scheduled, or has a policy that came after it was dropped, and the one
-- that is asked for: version, age, readers, schedule, review.
SELECT
    coalesce(r.name, n.release) AS release,
    r.current_version AS version,
    v.published_at,
    (
        SELECT max(l.at)
        FROM pganon_private.ledger AS l
        WHERE l.release = r.name AND l.version = r.current_version
            AND l.event IN ('released', 'unchanged')
    ) AS confirmed_at,
    r.readers,
    n.revision,
    u.review_by,
    n.checked_at IS NOT NULL AS checked,
    coalesce(cardinality(n.problems), 0) AS problems,
    ARRAY(
        SELECT DISTINCT k.role
        FROM pganon_private.policy_role AS k
        WHERE k.release = n.release AND k.revision = n.revision
            AND k.role_id <> 0 AND pg_get_userbyid(k.role_id) <> k.role
        ORDER BY 1
    ) AS replaced,
    ARRAY(
        SELECT k.role
        FROM unnest(r.readers, r.reader_ids) AS k(role, id)
        WHERE r.current_version IS NOT NULL AND k.id <> 0 AND pg_get_userbyid(k.id) <> k.role
        ORDER BY 1
    ) AS replaced_readers,
    s.expression,
    s.time_zone,
    s.next_at
FROM pganon_private.release AS r
FULL JOIN (
    SELECT DISTINCT ON (p.release) p.release, p.revision, p.checked_at, p.problems, p.applied_at
    FROM pganon_private.policy AS p
    ORDER BY p.release, p.revision DESC
) AS n ON n.release = r.name
LEFT JOIN LATERAL (
    SELECT p.review_by
    FROM pganon_private.policy AS p
    WHERE p.release = n.release AND p.checked_at IS NOT NULL AND p.problems = '{}'
    ORDER BY p.revision DESC
    LIMIT 1
) AS u ON true
LEFT JOIN pganon_private.version AS v ON v.release = r.name AND v.version = r.current_version
LEFT JOIN pganon_private.schedule AS s ON s.release = coalesce(r.name, n.release)
WHERE CASE WHEN %(release)s::text IS NULL
    THEN r.current_version IS NOT NULL OR s.release IS NOT NULL OR n.applied_at > coalesce(
        (SELECT max(d.dropped_at) FROM pganon_private.version AS d WHERE d.release = r.name),
        '-infinity'
    )
    ELSE coalesce(r.name, n.release) = %(release)s
END
ORDER BY 1;

-- workers --
-- Workers that are alive.
SELECT w.id, w.name, w.login, w.started_at, w.request
FROM pganon.worker AS w
WHERE w.alive AND w.kind = 'worker'
ORDER BY w.id;
