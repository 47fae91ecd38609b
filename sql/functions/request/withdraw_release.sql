-- Take the views of a release away at once; versions, and copies, stay. What is asked for is
-- cancelled, runs of workers that are under way will not publish, and its schedule ends.
CREATE FUNCTION pganon.withdraw_release(release text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    shown record;
    item record;
BEGIN
    -- Excludes publications.
    LOCK TABLE pganon_private.release IN SHARE ROW EXCLUSIVE MODE;
    SELECT v.version, v.run_id, v.views INTO shown
    FROM pganon_private.release AS r
    JOIN pganon_private.version AS v ON v.release = r.name AND v.version = r.current_version
    WHERE r.name = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401',
            MESSAGE = format('there is no release "%s" that is shown', $1),
            HINT = '`pganon releases` lists them';
    END IF;
    FOR item IN
        SELECT c.oid::regclass AS view
        FROM jsonb_array_elements(shown.views) WITH ORDINALITY AS i(view, place)
        JOIN pg_namespace AS n ON n.nspname = i.view ->> 'schema'
        JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = i.view ->> 'name'
        WHERE c.relkind = 'v'
            AND c.relowner = (SELECT p.nspowner FROM pg_namespace AS p WHERE p.nspname = 'pganon')
        ORDER BY i.place DESC
    LOOP
        EXECUTE format('DROP VIEW %s', item.view);
    END LOOP;
    UPDATE pganon_private.release AS r SET current_version = NULL WHERE r.name = $1;
    PERFORM pganon.end_requests($1);
    PERFORM pganon.note_event('withdrawn', $1, shown.run_id, shown.version, '{}');
END
$$;

COMMENT ON FUNCTION pganon.withdraw_release(text) IS
    'take the views of a release away at once; its versions stay';
