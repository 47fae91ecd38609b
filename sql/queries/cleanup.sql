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
        WHERE v.run_id = m.run_id
            AND r ->> 'schema' = n.nspname AND r ->> 'name' = c.relname
            AND (v.dropped_at IS NULL OR n.nspname = 'pganon_private')
    )
ORDER BY m.run_id, n.nspname, c.relname;

-- secrets --
-- Runs with secrets that were never published; a version's members need its key for good.
SELECT s.run_id
FROM pganon_private.run_secret AS s
WHERE NOT EXISTS (SELECT FROM pganon_private.version AS v WHERE v.run_id = s.run_id)
ORDER BY s.run_id;

-- drop_secret --
-- Forget the secrets of a run that was never published.
DELETE FROM pganon_private.run_secret AS s
WHERE s.run_id = %(run_id)s
    AND NOT EXISTS (SELECT FROM pganon_private.version AS v WHERE v.run_id = s.run_id);
