-- Policies in the database. The newest revision of a release is the one with the highest number.

-- apply --
-- Keep a policy and its files; gives the revision.
SELECT pganon.apply_policy(%(document)s::json, %(files)s::json, %(comment)s::text);

-- restore --
-- A revision is the newest again, with the roles that it named then; gives its number as such.
SELECT pganon.keep_policy(
    p.document,
    (
        SELECT coalesce(json_object_agg(f.path, f.content), '{}')
        FROM pganon_private.policy_file AS f
        WHERE f.release = p.release AND f.revision = p.revision
    ),
    format('revision %%s again', p.revision),
    (
        SELECT jsonb_agg(jsonb_build_object('purpose', k.purpose, 'role', k.role, 'role_id', k.role_id))
        FROM pganon_private.policy_role AS k
        WHERE k.release = p.release AND k.revision = p.revision
    )
)
FROM pganon_private.policy AS p
WHERE p.release = %(release)s AND p.revision = %(revision)s;

-- beside --
-- The files of a revision by path, and the roles that it names as readers and trusts, with their numbers.
SELECT
    (
        SELECT coalesce(json_object_agg(f.path, f.content), '{}')
        FROM pganon_private.policy_file AS f
        WHERE f.release = %(release)s AND f.revision = %(revision)s
    ),
    (
        SELECT coalesce(json_object_agg(k.role, k.role_id::bigint), '{}')
        FROM (
            SELECT DISTINCT r.role, r.role_id
            FROM pganon_private.policy_role AS r
            WHERE r.release = %(release)s AND r.revision = %(revision)s AND r.purpose IN ('read', 'trust')
        ) AS k
    );

-- read --
-- One revision of a policy, the newest without a number.
SELECT
    p.release, p.revision, p.document::text AS document, p.policy_hash, p.checked_at, p.problems,
    p.review_by, p.applied_login, p.applied_at, p.comment
FROM pganon_private.policy AS p
WHERE p.release = %(release)s AND (%(revision)s::integer IS NULL OR p.revision = %(revision)s)
ORDER BY p.revision DESC
LIMIT 1;

-- newest_of --
-- The number of the newest revision of a policy; NULL for none.
SELECT max(p.revision) FROM pganon_private.policy AS p WHERE p.release = %(release)s;

-- newest --
-- The newest revision of every policy.
SELECT DISTINCT ON (p.release)
    p.release, p.revision, p.document::text AS document, p.policy_hash, p.checked_at, p.problems,
    p.review_by, p.applied_login, p.applied_at, p.comment
FROM pganon_private.policy AS p
ORDER BY p.release, p.revision DESC;

-- portable --
-- The newest revision of every policy, with its files by path, both as JSON.
SELECT DISTINCT ON (p.release)
    p.release, p.document, (
        SELECT coalesce(json_object_agg(f.path, f.content), '{}')
        FROM pganon_private.policy_file AS f
        WHERE f.release = p.release AND f.revision = p.revision
    ) AS files
FROM pganon_private.policy AS p
ORDER BY p.release, p.revision DESC;

-- unchecked --
-- Newest revisions that nobody has looked at.
SELECT p.release, p.revision
FROM pganon_private.policy AS p
WHERE p.checked_at IS NULL
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.policy AS n
        WHERE n.release = p.release AND n.revision > p.revision
    )
ORDER BY p.release;

-- checked --
-- What checking a revision found; gives when that was, and whether it is the newest. If it is, its release
-- is not made of itself any more where that `ends`.
WITH newest AS (
    SELECT max(p.revision) = %(revision)s AS is_newest
    FROM pganon_private.policy AS p
    WHERE p.release = %(release)s
),

ended AS (
    DELETE FROM pganon_private.schedule
    WHERE release = %(release)s AND %(ends)s AND (SELECT n.is_newest FROM newest AS n)
)

UPDATE pganon_private.policy
SET checked_at = clock_timestamp(), policy_hash = %(policy_hash)s, problems = %(problems)s,
    review_by = %(review_by)s
WHERE release = %(release)s AND revision = %(revision)s
RETURNING checked_at, (SELECT n.is_newest FROM newest AS n);

-- set_schedule --
-- When a release is made of itself.
INSERT INTO pganon_private.schedule (release, revision, expression, time_zone, next_at)
VALUES (%(release)s, %(revision)s, %(expression)s, %(time_zone)s, %(next_at)s)
ON CONFLICT (release) DO UPDATE SET
    revision = excluded.revision,
    next_at = CASE
        WHEN schedule.expression = excluded.expression AND schedule.time_zone = excluded.time_zone
            THEN schedule.next_at
        ELSE excluded.next_at END,
    expression = excluded.expression,
    time_zone = excluded.time_zone;

-- due --
-- Schedules whose time has come.
SELECT s.release FROM pganon_private.schedule AS s
WHERE s.next_at <= clock_timestamp()
ORDER BY s.next_at;

-- take_due --
-- One of them, if no other worker has it; with the moment after which its next time comes.
SELECT s.revision, s.expression, s.time_zone, clock_timestamp()
FROM pganon_private.schedule AS s
WHERE s.release = %(release)s AND s.next_at <= clock_timestamp()
FOR UPDATE SKIP LOCKED;

-- next --
-- When a schedule comes next.
UPDATE pganon_private.schedule SET next_at = %(next_at)s WHERE release = %(release)s;

-- to_review --
-- Releases that are shown and whose policy should have been reviewed by now.
SELECT r.name
FROM pganon_private.release AS r
CROSS JOIN LATERAL (
    SELECT p.review_by
    FROM pganon_private.policy AS p
    WHERE p.release = r.name AND p.checked_at IS NOT NULL AND p.problems = '{}'
    ORDER BY p.revision DESC
    LIMIT 1
) AS n
WHERE r.current_version IS NOT NULL AND n.review_by <= current_date
ORDER BY r.name;

-- withdraw --
-- Take the views of a release away.
SELECT pganon.withdraw_release(%(release)s);

-- withdrawn --
-- What others had built on the views of a release when it was last withdrawn, and the version shown.
SELECT ARRAY(SELECT jsonb_array_elements_text(l.details -> 'dependents')), l.version
FROM pganon_private.ledger AS l
WHERE l.release = %(release)s AND l.event = 'withdrawn'
ORDER BY l.id DESC
LIMIT 1;
