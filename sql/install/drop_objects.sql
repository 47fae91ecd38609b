-- Drops the functions and views of the last set in reverse load order. Without CASCADE: what others
-- made of them must be noticed.
DO $$
DECLARE
    statements text[];
    statement text;
BEGIN
    SELECT array_agg(d.statement ORDER BY m.place DESC) INTO statements
    FROM (
        SELECT s.manifest FROM pganon_private.object_set AS s ORDER BY s.number DESC LIMIT 1
    ) AS last
    CROSS JOIN LATERAL unnest(last.manifest) WITH ORDINALITY AS m(path, place)
    CROSS JOIN LATERAL (
        SELECT m.path LIKE 'views/%' AS is_view, regexp_replace(m.path, '^.*/|\.sql$', '', 'g') AS name
    ) AS o
    CROSS JOIN LATERAL (
        SELECT format('DROP VIEW %s', c.oid::regclass)
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE o.is_view AND n.nspname = 'pganon' AND c.relname = o.name AND c.relkind = 'v'
        UNION ALL
        SELECT format('DROP ROUTINE %s', p.oid::regprocedure)
        FROM pg_proc AS p
        JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE NOT o.is_view AND n.nspname = 'pganon' AND p.proname = o.name
    ) AS d(statement);
    FOREACH statement IN ARRAY coalesce(statements, '{}') LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
