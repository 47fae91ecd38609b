-- Measures the stored tables of a release's current version again: every check that it passed
-- before it was published, its fingerprint, and the number of rows of each stored table.
-- Checks cast values to text, so the settings that shape texts are fixed.
CREATE FUNCTION pganon.verify(release text)
    RETURNS TABLE (
        model text,
        column_name text,
        against text,
        parameter numeric,
        measured numeric,
        holds boolean
    )
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET extra_float_digits = 1
    SET "DateStyle" = 'ISO, YMD'
    SET "IntervalStyle" = 'postgres'
    SET "TimeZone" = 'UTC'
    SET bytea_output = 'hex'
AS $$
#variable_conflict use_column
DECLARE
    stored record;
    item jsonb;
    failing numeric;
    relations regclass[] := '{}';
    relation regclass;
BEGIN
    SELECT v.* INTO stored
    FROM pganon_private.release AS r
    JOIN pganon_private.version AS v ON v.release = r.name AND v.version = r.current_version
    WHERE r.name = $1 AND v.dropped_at IS NULL;
    IF stored.version IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA304',
            MESSAGE = format('there is no release "%s" with a stored version', $1);
    END IF;

    FOR item IN SELECT c FROM jsonb_array_elements(stored.checks) AS c LOOP
        EXECUTE item ->> 'sql' INTO measured, failing;
        model := item ->> 'model';
        column_name := item ->> 'column';
        against := item ->> 'against';
        parameter := (item ->> 'parameter')::numeric;
        holds := coalesce(failing = 0, false);
        RETURN NEXT;
    END LOOP;

    model := 'row_count';
    column_name := NULL;
    FOR item IN SELECT c FROM jsonb_array_elements(stored.relations) AS c LOOP
        relation := to_regclass(format('%I.%I', item ->> 'schema', item ->> 'name'));
        relations := relations || relation;
        against := item ->> 'part';
        parameter := (item ->> 'rows')::numeric;
        measured := NULL;
        IF relation IS NOT NULL THEN
            EXECUTE format('SELECT count(*) FROM %s', relation) INTO measured;
        END IF;
        holds := coalesce(measured = parameter, false);
        RETURN NEXT;
    END LOOP;

    model := 'fingerprint';
    against := '';
    parameter := NULL;
    measured := NULL;
    holds := false;
    IF array_position(relations, NULL) IS NULL THEN
        holds := coalesce(
            pganon.fingerprint(stored.run_id, relations) = stored.fingerprint, false
        );
    END IF;
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pganon.verify(text) IS
    'measure the current version of a release again: its guarantee, row counts and fingerprint';
