-- Measures the stored tables of a release's current version again: every check that it passed
-- before it was published, the number of rows of each stored table, its fingerprint, its views, and
-- what others may do. A table that is missing fails everything that needs it, and nothing is raised.
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
    SET quote_all_identifiers = off
AS $$
#variable_conflict use_column
DECLARE
    stored record;
    item jsonb;
    result record;
    relations regclass[] := '{}';
    relation regclass;
    complete boolean;
    places text[];
BEGIN
    SELECT v.* INTO stored
    FROM pganon_private.release AS r
    JOIN pganon_private.version AS v ON v.release = r.name AND v.version = r.current_version
    WHERE r.name = $1 AND v.dropped_at IS NULL;
    IF stored.version IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA304',
            MESSAGE = format('there is no release "%s" with a stored version', $1),
            HINT = '`pganon releases` lists them';
    END IF;

    FOR item IN SELECT c FROM jsonb_array_elements(stored.relations) AS c LOOP
        relations := relations || to_regclass(
            format('%I.%I', item ->> 'schema', item ->> 'name')
        );
    END LOOP;
    complete := array_position(relations, NULL) IS NULL;

    FOR item IN SELECT c FROM jsonb_array_elements(stored.checks) AS c LOOP
        measured := NULL;
        holds := false;
        IF complete THEN
            -- Models measure in different types; one variable takes them all.
            BEGIN
                EXECUTE format(
                    'SELECT c.measured::numeric AS measured, c.failing::bigint AS failing FROM (%s) AS c',
                    item ->> 'sql'
                ) INTO result;
                measured := result.measured;
                -- Where nothing could be measured, nothing is guaranteed.
                holds := coalesce(result.failing = 0 AND measured IS NOT NULL, false);
            EXCEPTION WHEN SQLSTATE 'PA201' THEN
                NULL; -- an exact search that was stopped tells nothing
            END;
        END IF;
        model := item ->> 'model';
        column_name := item ->> 'column';
        against := item ->> 'against';
        parameter := (item ->> 'parameter')::numeric;
        RETURN NEXT;
    END LOOP;

    -- Versions that were made before views read copies of what stands.
    IF stored.relations @> '[{"part": "withdrawn"}]' AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(stored.relations) AS c
        WHERE starts_with(c ->> 'part', 'standing_')
    ) THEN
        model := 'standing';
        column_name := NULL;
        against := '';
        parameter := 0;
        measured := NULL;
        holds := false;
        RETURN NEXT;
    END IF;

    model := 'row_count';
    column_name := NULL;
    FOR item, relation IN
        SELECT c.value, relations[c.ordinality]
        FROM jsonb_array_elements(stored.relations) WITH ORDINALITY AS c
    LOOP
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
    holds := complete AND coalesce(
        pganon.fingerprint(stored.run_id, relations, stored.fingerprint) = stored.fingerprint,
        false
    );
    RETURN NEXT;

    model := 'view';
    FOR item IN SELECT c FROM jsonb_array_elements(stored.views) AS c LOOP
        against := format('%I.%I', item ->> 'schema', item ->> 'name');
        holds := pganon.is_published_view(to_regclass(against), item, stored.relations);
        RETURN NEXT;
    END LOOP;

    model := 'privileges';
    parameter := 0;
    places := ARRAY(SELECT b.place FROM pganon.beyond_policy() AS b);
    FOR against IN
        SELECT unnest('{private schemas,schema pganon}'::text[])
        UNION ALL
        (
            SELECT DISTINCT format('schema %I', c ->> 'schema')
            FROM jsonb_array_elements(stored.views) AS c
            ORDER BY 1
        )
        UNION ALL
        SELECT format('%I.%I', c ->> 'schema', c ->> 'name') FROM jsonb_array_elements(stored.views) AS c
    LOOP
        measured := cardinality(array_positions(places, against));
        holds := measured = 0;
        RETURN NEXT;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.verify(text) IS
    'measure the current version of a release again: guarantee, rows, fingerprint, views, privileges';
