-- Drops a view. Where objects of anybody depend on it, it is set aside instead: it goes to a private
-- schema, without rows and privileges, so that whoever uses them is refused, and what it showed can be
-- dropped. Gives what depends on it, as the server says it.
CREATE FUNCTION pganon.remove_view(p_view regclass) RETURNS text[]
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    before constant text := p_view::text;
    dependents text;
BEGIN
    BEGIN
        EXECUTE format('DROP VIEW %s', p_view);
        RETURN '{}';
    EXCEPTION WHEN dependent_objects_still_exist THEN
        GET STACKED DIAGNOSTICS dependents = PG_EXCEPTION_DETAIL;
    END;
    PERFORM pganon.refuse_view(p_view);
    -- Nobody can be in the way of a name that cannot be guessed.
    EXECUTE format(
        'ALTER VIEW %s RENAME TO %I', p_view, 'set_aside_' || replace(gen_random_uuid()::text, '-', '')
    );
    EXECUTE format('ALTER VIEW %s SET SCHEMA pganon_private', p_view);
    EXECUTE format(
        'COMMENT ON VIEW %s IS %L', p_view, format('was %s, on which others have built', before)
    );
    PERFORM pganon.seal(p_view);
    RETURN string_to_array(dependents, E'\n');
END
$$;

COMMENT ON FUNCTION pganon.remove_view(regclass) IS
    'drop a view, or set it aside if others depend on it; gives what does';
