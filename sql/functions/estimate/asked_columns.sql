-- The columns of a release that a query of pganon.estimate names, as it needs them: a column of a view t
-- as `value`, and its conditions, as an expression over t if rows are published, as a sub-select over
-- columns v and z of a bucket b (see pganon.box_part) if it is generalized.
CREATE FUNCTION pganon.asked_columns(p_release text, p_measured text, p_conditions jsonb, p_keys text[])
    RETURNS TABLE (
        number integer, view text, bucket text, part text, boxed boolean, value text, conditions text,
        lacking text, measured boolean, key_place integer
    )
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    boxes constant text[] := '{range,set,ordinal,label,listed}';
    wanted text;
    found record;
    wrong text;
    hint constant text := 'use `pganon estimate`';
    nulls record;
    own jsonb[];
    item jsonb;
    inner_text text;
BEGIN
    SELECT count(*) AS columns, count(DISTINCT c.bucket) AS buckets, bool_or(c.form = 'individual') AS individuals
    INTO found FROM pganon.release_columns AS c WHERE c.release = p_release AND c.bucket IS NOT NULL;
    IF found.buckets <> 1 OR found.individuals THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA118',
            MESSAGE = format('the release %I has %s, which is not estimated in SQL', p_release, CASE
                WHEN found.individuals THEN 'several records per individual'
                ELSE 'several groups per record, or a form that cannot be estimated from' END),
            HINT = hint;
    END IF;
    FOR wanted IN
        SELECT DISTINCT w FROM unnest(p_keys || p_measured || ARRAY(SELECT jsonb_object_keys(p_conditions))) AS w
        WHERE w IS NOT NULL ORDER BY w
    LOOP
        SELECT to_jsonb(c) AS described, c.form, c.kind, c.type, c.form = ANY (boxes) AS boxed,
            pganon.plain_type(c.kind) AS type_name, to_regcollation(c.collation) AS collation
        INTO found FROM pganon.release_columns AS c
        WHERE c.release = p_release AND c.column_name = wanted AND c.bucket IS NOT NULL
            AND c.form IN ('range', 'set', 'ordinal', 'label', 'listed', 'exact', 'mean', 'mode');
        wrong := CASE
            WHEN found IS NULL AND EXISTS (
                SELECT FROM pganon.release_columns AS c
                WHERE c.release = p_release AND c.column_name = wanted AND c.form = 'fact'
            ) THEN format('%I is of a table of events, which is not estimated in SQL', wanted)
            WHEN found IS NULL THEN format('the release %I has no column %I', p_release, wanted)
            WHEN found.form IN ('mean', 'mode') THEN format('%I is a %s of several records', wanted, found.form)
            WHEN found.type_name IS NULL THEN format('%I is of the type %s', wanted, found.kind)
            WHEN wanted = ANY (p_keys) AND found.form IN ('range', 'label') THEN
                format('%I shows a %s, which cannot be in "by"', wanted, found.form)
            WHEN wanted = p_measured AND (found.form = 'label' OR found.type_name NOT IN (
                'smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'
            )) THEN format('%I is no number that can be added up', wanted)
            WHEN wanted = ANY (p_keys) AND wanted = p_measured AND found.boxed THEN
                format('%I is in "by" and in "measure"', wanted)
        END;
        IF wrong IS NOT NULL THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA118', MESSAGE = wrong,
                HINT = CASE WHEN wrong LIKE 'the release%' THEN 'its columns: pganon.release_columns' ELSE hint END;
        END IF;
        number := coalesce(number, 0) + 1;
        view := found.described ->> 'view';
        bucket := found.described ->> 'bucket';
        part := found.described ->> 'part';
        boxed := found.boxed;
        measured := wanted IS NOT DISTINCT FROM p_measured;
        key_place := array_position(p_keys, wanted);
        value := format('t.%I', wanted);
        IF found.collation IS NOT NULL AND NOT boxed THEN
            value := format('(%s COLLATE %s)', value, found.collation::text);
        END IF;
        own := ARRAY(SELECT e FROM jsonb_array_elements(p_conditions -> wanted) AS e);
        -- A constant with decimals is compared with whole numbers, too.
        IF found.type_name IN ('smallint', 'integer', 'bigint') AND found.form <> 'range' THEN
            found.type_name := 'numeric';
        END IF;
        IF NOT boxed THEN
            conditions := 'true';
            FOREACH item IN ARRAY own LOOP
                inner_text := pganon.value_condition(value, found.type_name, item);
                conditions := conditions || ' AND ' || inner_text;
            END LOOP;
            lacking := NULL;
        ELSE
            SELECT c.column_name, c.attained INTO nulls FROM pganon.release_columns AS c
            WHERE c.release = p_release AND c.form = 'null' AND c.part = found.described ->> 'part';
            lacking := format('(t.%I IS NULL', wanted)
                || CASE WHEN nulls.column_name IS NULL THEN ''
                    ELSE format(' OR coalesce(t.%I, false)', nulls.column_name) END || ')';
            IF found.form = 'listed' THEN
                -- The values below the label, in place of a set.
                found.described := jsonb_set(found.described, '{form}', '"set"');
                value := format(
                    '(SELECT array_agg(l.value ORDER BY l.value) FROM %s AS l WHERE l.column_name = %L AND l.label = t.%I)',
                    (SELECT c.view FROM pganon.release_columns AS c WHERE c.release = p_release AND c.form = 'below'),
                    wanted, wanted);
            END IF;
            IF found.form = 'range' THEN
                inner_text := pganon.range_part(number, found.described, found.type_name, own, measured);
            ELSE
                inner_text := pganon.set_part(
                    number, found.described, found.type_name, own, measured, key_place IS NOT NULL);
            END IF;
            conditions := pganon.box_part(
                inner_text, coalesce(nulls.attained, true), measured, key_place IS NOT NULL);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.asked_columns(text, text, jsonb, text[]) IS
    'the columns that a query of pganon.estimate names, checked';
