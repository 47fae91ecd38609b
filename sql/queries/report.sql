-- What a report reads beside releases, versions and the ledger.

-- evidence --
-- The evidence of a version; NULL if its run measured none.
SELECT v.evidence
FROM pganon_private.version AS v
WHERE v.release = %(release)s AND v.version = %(version)s;

-- about --
-- What the release is for, as its policy says now; nothing where it was never stored.
SELECT p.document -> 'about'
FROM pganon_private.policy AS p
WHERE p.release = %(release)s
ORDER BY p.revision DESC
LIMIT 1;

-- public --
-- Whether everybody can read all of these views.
SELECT bool_and(has_schema_privilege('public', n.oid, 'USAGE') AND has_table_privilege('public', c.oid, 'SELECT'))
FROM unnest(%(schemas)s::text[], %(names)s::text[]) AS v(schema, name)
JOIN pg_namespace AS n ON n.nspname = v.schema
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = v.name;

-- approvals --
-- Decisions about the requests of a release, in the order in which they were made.
SELECT a.request, a.decision, a.login, a.reason
FROM pganon_private.approval AS a
JOIN pganon_private.request AS r ON r.id = a.request
WHERE r.release = %(release)s
ORDER BY a.at;

-- crossings --
-- Versions that are void beside one, with the reason and people. One that is gone has its run.
SELECT
    coalesce(format('%%s %%s', o.release, o.version), format('run %%s', x.other)) AS other,
    c.reason, c.people
FROM pganon_private.crossing AS c
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.run_id = %(run_id)s THEN c.other_run ELSE c.run_id END AS other
) AS x
LEFT JOIN pganon_private.version AS o ON o.run_id = x.other
WHERE %(run_id)s IN (c.run_id, c.other_run)
ORDER BY c.at, c.run_id, c.other_run;

-- held --
-- What is reported of a release that waits, without any function of pganon's owner; nothing where this role
-- does not decide.
SELECT h.evidence FROM pganon.held_releases AS h WHERE h.request = %(request)s;

-- shown --
-- A release as whoever may read it is told.
SELECT
    r.version, r.method, r.published_at,
    ARRAY(
        SELECT g.details FROM pganon.guarantees AS g
        WHERE g.release = r.release
        ORDER BY g.position
    ) AS guarantee
FROM pganon.releases AS r
WHERE r.release = %(release)s;

-- shown_columns --
-- Its columns, those of its first view first.
SELECT c.view, c.column_name AS name, c.type, c.comment, c.form, c.bucket
FROM pganon.release_columns AS c
WHERE c.release = %(release)s
ORDER BY c.position;
