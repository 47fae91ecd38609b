-- The query of pganon.estimate, checked: `measure` of the column `measured`, if it has one, the
-- columns of conditions, each with all of its conditions, and those of `by`.
CREATE FUNCTION pganon.asked(
    query jsonb, OUT measure text, OUT measured text, OUT conditions jsonb, OUT keys text[]
)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given jsonb := query -> 'measure';
    listed jsonb := coalesce(query -> 'where', '[]');
    grouped jsonb := coalesce(query -> 'by', '[]');
    wrong text;
BEGIN
    wrong := CASE
        WHEN query IS NULL OR jsonb_typeof(query) <> 'object' THEN 'the query is an object'
        WHEN (query - '{measure,where,by}'::text[]) <> '{}' THEN
            format('a query has no %L', left((SELECT min(k) FROM jsonb_object_keys(query - '{measure,where,by}'::text[]) AS k), 40))
        WHEN jsonb_typeof(listed) <> 'array' OR jsonb_typeof(grouped) <> 'array' THEN '"where" and "by" are arrays'
        WHEN jsonb_array_length(listed) > 100 THEN '"where" has at most 100 conditions'
        WHEN jsonb_array_length(grouped) > 10 THEN '"by" has at most 10 columns'
        WHEN EXISTS (SELECT FROM jsonb_array_elements(grouped) AS e(item) WHERE jsonb_typeof(e.item) <> 'string')
            OR jsonb_array_length(grouped) <> (SELECT count(DISTINCT e.item) FROM jsonb_array_elements(grouped) AS e(item))
            THEN '"by" has names of columns, each once'
        WHEN EXISTS (
            SELECT FROM jsonb_array_elements(listed) AS e(item)
            WHERE CASE WHEN jsonb_typeof(e.item) = 'object' THEN
                jsonb_typeof(e.item -> 'column') IS DISTINCT FROM 'string' OR e.item - 'column' = '{}'
                ELSE true END
        ) THEN 'a condition is an object with "column" and operators'
    END;
    IF wrong IS NULL THEN
        IF given IN ('"count"', '"weighted"') THEN
            measure := given #>> '{}';
        ELSIF jsonb_typeof(given) = 'object' THEN
            SELECT k.key, CASE jsonb_typeof(k.value) WHEN 'string' THEN k.value #>> '{}' END
            INTO measure, measured FROM jsonb_each(given) AS k;
        END IF;
        IF measure IS NULL OR measure NOT IN ('count', 'weighted', 'sum', 'avg')
            OR (measure IN ('sum', 'avg')) <> (measured IS NOT NULL)
            OR jsonb_typeof(given) = 'object' AND (
                measured IS NULL OR (SELECT count(*) FROM jsonb_object_keys(given)) <> 1)
        THEN
            wrong := '"measure" is "count", "weighted", {"sum": column} or {"avg": column}';
        END IF;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA118', MESSAGE = wrong,
            HINT = '{"measure": "count", "where": [{"column": "age", "between": [30, 40]}], "by": ["sex"]}';
    END IF;
    SELECT coalesce(jsonb_object_agg(w.name, w.all), '{}') INTO conditions
    FROM (
        SELECT e.item ->> 'column' AS name, jsonb_agg(e.item - 'column') AS all
        FROM jsonb_array_elements(listed) AS e(item) GROUP BY 1
    ) AS w;
    keys := ARRAY(SELECT e.item #>> '{}' FROM jsonb_array_elements(grouped) WITH ORDINALITY AS e(item, place) ORDER BY e.place);
END
$$;

COMMENT ON FUNCTION pganon.asked(jsonb) IS 'the query of pganon.estimate, checked';
