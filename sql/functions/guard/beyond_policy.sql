-- What others than the owner may do with what pganon has and shows, beyond what the policies say. These say
-- nothing of private schemas, what everybody may in schema pganon, and SELECT on the views of a release for
-- its readers; USAGE on the schemas of views for all that were ever readers. Then there is what
-- acting_rights.sql gives. `place` is what `verify` counts it under, and `held` says it in full.
-- Anybody may make something under the name of a view that is gone. It is none, since it reads no stored
-- table. Nor does one count that close_views.sql has shut by the privileges of its tables.
-- `p_before` is for assert_unopened.sql: it takes in every schema that may get views, and all USAGE.
CREATE FUNCTION pganon.beyond_policy(p_before boolean DEFAULT false)
    RETURNS TABLE (place text, holder text, held text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off
AS $$
#variable_conflict use_column
DECLARE
    private constant text[] := '{pganon_private,pganon_work,pganon_stage,pganon_data}';
    own constant text[] := ARRAY['pganon'] || private;
    views constant regclass[] := ARRAY(
        SELECT v.oid
        FROM (
            SELECT c.oid
            FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = c.relnamespace
            JOIN pganon.policy_views() AS p ON p.schema = n.nspname AND p.name = c.relname
            -- Else all relations of the database would be looked at, not the few that are left.
            OFFSET 0
        ) AS v
        WHERE EXISTS (
            SELECT FROM pganon.stored_tables(v.oid) AS t WHERE has_table_privilege(t.relation, 'SELECT')
        )
    );
    outer_schemas constant text[] := ARRAY(
        SELECT n.nspname
        FROM pg_namespace AS n
        WHERE n.nspname <> ALL (own) AND (
            n.nspname IN (SELECT p.schema FROM pganon.policy_views() AS p)
            OR p_before AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        )
    );
BEGIN
    RETURN QUERY
    WITH said AS (
        SELECT format('%s on %s to public', a.privilege, a.object) AS held
        FROM pganon.open_to_all() AS a
        UNION
        SELECT format('SELECT on %I.%I to %I', p.schema, p.name, r.name)
        FROM pganon.policy_views() AS p CROSS JOIN LATERAL unnest(p.readers) AS r(name)
        UNION
        SELECT format('USAGE on schema %I to %I', o.name, r.name)
        FROM unnest(outer_schemas) AS o(name)
        CROSS JOIN (
            SELECT unnest(p.readers) FROM pganon.policy_views() AS p
            UNION
            SELECT unnest(v.readable_by) FROM pganon_private.version AS v
            UNION
            SELECT pg_get_userbyid(i.id)
            FROM pganon_private.version AS v
            CROSS JOIN LATERAL unnest(v.readable_ids) AS i(id)
        ) AS r(name)
        WHERE NOT p_before
    )
    SELECT CASE
            WHEN g.schema = ANY (private) THEN 'private schemas'
            WHEN g.relation = ANY (views) THEN g.relation::text
            -- It shows nothing by itself.
            WHEN g.privilege = 'USAGE' AND g.schema = ANY (outer_schemas) THEN 'use of schemas'
            WHEN pg_get_userbyid(n.nspowner) = current_user THEN format('schema %I', g.schema)
            ELSE 'schemas of others'
        END, g.grantee, o.held
    FROM pganon.granted(own, outer_schemas, views) AS g
    JOIN pg_namespace AS n ON n.nspname = g.schema
    CROSS JOIN LATERAL (
        SELECT g.held
        UNION ALL
        SELECT 'GRANT OPTION FOR ' || g.held WHERE g.grantable
    ) AS o
    LEFT JOIN said AS s ON s.held = o.held
    WHERE s.held IS NULL
    UNION ALL
    SELECT a.place, a.holder, a.held FROM pganon.acting_rights(own, outer_schemas, views) AS a;
END
$$;

COMMENT ON FUNCTION pganon.beyond_policy(boolean) IS
    'what others may do with what pganon has and shows, beyond what the policies say';
