-- Whether a view is the one that publication made: it belongs to the owner, reads nothing but those
-- of these relations that lie in pganon_data, lets nobody write, has no options, and says what it
-- said. `p_view` is the view as the state tables have it, with its SELECT.
--
-- What a server prints of a view is compared if a server of the same version printed it before.
-- Versions print differently; then the rows of the view are compared with those of its SELECT.
CREATE FUNCTION pganon.is_published_view(p_oid regclass, p_view jsonb, p_relations jsonb)
    RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off
AS $$
DECLARE
    sound boolean;
    alike boolean;
BEGIN
    SELECT bool_and(
        n.nspname = 'pganon_data' AND c.relkind = 'r'
        AND p_relations @> jsonb_build_array(jsonb_build_object('schema', n.nspname, 'name', c.relname))
    ) INTO sound
    FROM pg_class AS v
    JOIN pg_rewrite AS w ON w.ev_class = v.oid
    JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
    JOIN pg_class AS c ON c.oid = d.refobjid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE v.oid = p_oid AND v.relkind = 'v' AND v.reloptions IS NULL
        AND pg_get_userbyid(v.relowner) = current_user
        AND pg_relation_is_updatable(v.oid, false) & 28 = 0
        AND w.rulename = '_RETURN'
        AND NOT EXISTS (SELECT FROM pg_rewrite AS o WHERE o.ev_class = v.oid AND o.oid <> w.oid)
        AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = v.oid);
    IF sound IS NOT TRUE THEN
        RETURN false;
    END IF;
    IF p_view ->> 'printed_by' = (current_setting('server_version_num')::int / 10000)::text THEN
        RETURN pg_get_viewdef(p_oid) = p_view ->> 'definition';
    END IF;
    EXECUTE format(
        'SELECT NOT EXISTS ((TABLE %1$s EXCEPT ALL (%2$s)) UNION ALL ((%2$s) EXCEPT ALL TABLE %1$s))',
        p_oid, p_view ->> 'select'
    ) INTO alike;
    RETURN alike;
EXCEPTION WHEN others THEN
    -- A view whose columns are others cannot be compared, and one that fails shows nothing.
    RETURN false;
END
$$;

COMMENT ON FUNCTION pganon.is_published_view(regclass, jsonb, jsonb) IS
    'whether a view is still the one that was published';
