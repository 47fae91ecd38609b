-- Queries of `pganon clean` and of the clean-up before a run.

-- tables --
-- Tables of runs that belong to no version: schema, name, run. Work and stage never belong to one.
SELECT n.nspname::text, c.relname::text, m.run_id
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT pg_catalog.substring(c.relname::text, '^r([0-9]{1,18})_')::bigint AS run_id
) AS m
WHERE m.run_id IS NOT NULL
    AND c.relkind IN ('r', 'p')
    AND n.nspname IN ('pganon_work', 'pganon_stage', 'pganon_data', 'pganon_private')
    AND (%(run_id)s::bigint IS NULL OR m.run_id = %(run_id)s)
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.version AS v
        CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(v.relations) AS r
        WHERE r ->> 'schema' = n.nspname AND r ->> 'name' = c.relname
            AND (v.dropped_at IS NULL OR n.nspname = 'pganon_private')
    )
    -- Staged releases that wait for approval.
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.held AS h
        JOIN pganon_private.request AS q ON q.id = h.request
        WHERE h.run_id = m.run_id AND n.nspname = 'pganon_stage'
            AND q.state IN ('awaiting_approval', 'approved', 'running')
    )
    -- Groups that are a function of other versions, and who has which signature.
    AND NOT (
        n.nspname = 'pganon_private' AND c.relname::text = format('r%%s_functions', m.run_id)
        AND EXISTS (
            SELECT FROM pganon_private.version AS v
            WHERE v.run_id = m.run_id AND v.manner -> 'functions' = 'true'
        )
    )
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.value_sets AS y
        CROSS JOIN LATERAL (VALUES (y.person_table), (y.set_table)) AS t(name)
        WHERE n.nspname = 'pganon_private'
            AND parse_ident(t.name) = ARRAY[n.nspname::text, c.relname::text]
    )
ORDER BY m.run_id, n.nspname, c.relname;

-- left --
-- Runs with secrets that were never published and do not wait for that (a version's members need its key for
-- good), and runs that started and have no last row (true).
SELECT s.run_id, false AS is_unfinished
FROM pganon_private.run_secret AS s
WHERE NOT EXISTS (SELECT FROM pganon_private.version AS v WHERE v.run_id = s.run_id)
    AND NOT EXISTS (SELECT FROM pganon_private.value_sets AS y WHERE y.run_id = s.run_id)
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.held AS h
        JOIN pganon_private.request AS q ON q.id = h.request
        WHERE h.run_id = s.run_id AND q.state IN ('awaiting_approval', 'approved', 'running')
    )
UNION ALL
SELECT s.run_id, true
FROM pganon_private.ledger AS s
WHERE s.event = 'started'
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.ledger AS f
        WHERE f.run_id = s.run_id AND f.event IN (
            'released', 'unchanged', 'dry_run', 'refused', 'failed', 'awaiting_approval',
            'forgotten'
        )
    );

-- drop_secret --
-- Forget the secrets of a run that was never published.
DELETE FROM pganon_private.run_secret AS s
WHERE s.run_id = %(run_id)s
    AND NOT EXISTS (SELECT FROM pganon_private.version AS v WHERE v.run_id = s.run_id)
    AND NOT EXISTS (SELECT FROM pganon_private.value_sets AS y WHERE y.run_id = s.run_id)
    AND NOT EXISTS (
        SELECT
        FROM pganon_private.held AS h
        JOIN pganon_private.request AS q ON q.id = h.request
        WHERE h.run_id = s.run_id AND q.state IN ('awaiting_approval', 'approved', 'running')
    );
