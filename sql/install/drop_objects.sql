-- Drops functions and views in reverse load order: those of the first %s, paths, or of the last set where
-- that is NULL. Others may have built on them. Those of the second %s will be replaced: what others have
-- built on stays, a view without what it reads, which a migration may change. Of all the rest, what others
-- have built goes too, and is named.
DO $$
DECLARE
    paths constant text[] := %s;
    replaced constant text[] := %s;
    item record;
    built text;
BEGIN
    FOR item IN
        SELECT m.path, d.kind, d.identity, d.view
        FROM unnest(coalesce(paths, (
            SELECT s.manifest FROM pganon_private.object_set AS s ORDER BY s.number DESC LIMIT 1
        ))) WITH ORDINALITY AS m(path, place)
        CROSS JOIN LATERAL (
            SELECT m.path LIKE 'views/%%' AS is_view,
                regexp_replace(m.path, '^.*/|\.sql$', '', 'g') AS name
        ) AS o
        CROSS JOIN LATERAL (
            SELECT 'VIEW', c.oid::regclass::text, c.oid::regclass
            FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE o.is_view AND n.nspname = 'pganon' AND c.relname = o.name AND c.relkind = 'v'
            UNION ALL
            SELECT 'ROUTINE', p.oid::regprocedure::text, NULL
            FROM pg_proc AS p
            JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE NOT o.is_view AND n.nspname = 'pganon' AND p.proname = o.name
        ) AS d(kind, identity, view)
        ORDER BY m.place DESC
    LOOP
        BEGIN
            EXECUTE format('DROP %%s %%s', item.kind, item.identity);
            CONTINUE;
        EXCEPTION WHEN dependent_objects_still_exist THEN
            GET STACKED DIAGNOSTICS built = PG_EXCEPTION_DETAIL;
        END;
        IF item.path <> ALL (replaced) THEN
            EXECUTE format('DROP %%s %%s CASCADE', item.kind, item.identity);
            RAISE WARNING USING
                ERRCODE = 'PA125',
                MESSAGE = 'objects of others were dropped, since they depended on pganon',
                DETAIL = built;
        ELSIF item.view IS NOT NULL THEN
            PERFORM pganon.refuse_view(item.view);
        END IF;
    END LOOP;
END
$$;
