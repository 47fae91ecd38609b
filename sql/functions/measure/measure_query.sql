-- The one statement that measures a relation: it reads it once into a histogram (class, values,
-- individual, n), from which everything is measured. `wanted` are names of pganon.measures();
-- `required` maps some of them to a parameter, and what violates it is counted. Columns: measure,
-- column_name, value, required, holds, classes, records, individuals.
-- Columns are numbered (q1.., s1.., person), so no name of the relation can clash with another.
CREATE FUNCTION pganon.measure_query(
    rel regclass, qi text[], sensitive text[], individual text,
    wanted text[], required jsonb, l integer
)
    RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation constant text := pganon.measurable(rel, qi, sensitive, individual);
    persons constant boolean := individual IS NOT NULL;
    keys text := '';
    kept text := '';
    class text := 'row_number() OVER ()';
    base text;
    ctes text[] := '{}';
    results text[] := '{}';
    unknown text;
    counts text;
    result text;
    expression text;
    needs_codes boolean;
    labels text[];
BEGIN
    SELECT k INTO unknown FROM jsonb_each(required) AS r(k, v)
    WHERE k <> ALL (wanted) OR jsonb_typeof(v) <> 'number' LIMIT 1;
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114',
            MESSAGE = format('nothing can be required of "%s" here', unknown),
            HINT = 'a number can be required of ' || array_to_string(wanted, ', ');
    END IF;
    IF l IS NULL OR l < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PA114', MESSAGE = 'l must be a whole number, at least 1';
    END IF;

    FOR i IN 1 .. cardinality(qi) LOOP
        expression := (pganon.comparable(rel, qi[i])).expression;
        keys := keys || format('%s AS q%s, ', expression, i);
    END LOOP;
    FOR i IN 1 .. cardinality(sensitive) LOOP
        expression := (pganon.comparable(rel, sensitive[i])).expression;
        keys := keys || format('%s AS s%s, ', expression, i);
        kept := kept || format('c.s%s, ', i);
    END LOOP;
    IF persons THEN
        keys := keys || (pganon.comparable(rel, individual)).expression || ' AS person, ';
        kept := kept || 'c.person, ';
    END IF;
    IF kept <> '' THEN
        SELECT 'dense_rank() OVER (ORDER BY ' || string_agg('c.q' || i, ', ') || ')' INTO class
        FROM generate_subscripts(qi, 1) AS i;
    END IF;
    ctes := ctes || format(
        'base AS MATERIALIZED (SELECT %s AS class, %sc.n FROM ('
        'SELECT %scount(*)::float8 AS n FROM %s AS t GROUP BY %s) AS c)',
        class, kept, keys, relation,
        (SELECT string_agg(i::text, ', ')
            FROM generate_series(1, cardinality(qi || sensitive) + persons::int) AS i)
    );
    IF persons THEN
        ctes := ctes || 'persons AS MATERIALIZED (SELECT b.class, b.person, sum(b.n) AS n'
            ' FROM base AS b GROUP BY 1, 2)'::text;
    END IF;

    FOR i IN 0 .. cardinality(sensitive) LOOP
        IF i > 0 THEN
            base := 'base';
            IF persons OR cardinality(sensitive) > 1 THEN
                base := format('(SELECT b.class, b.s%s, sum(b.n) AS n FROM base AS b GROUP BY 1, 2)', i);
            END IF;
            SELECT bool_or(m.counts = 'values' AND m.needs NOT LIKE 'plain%') INTO needs_codes
            FROM pganon.measures() AS m WHERE m.name = ANY (wanted);
            IF needs_codes THEN
                labels := (pganon.comparable(rel, sensitive[i])).labels;
                -- Values become numbers in their order, NULL the last; only NULL joins none.
                ctes := ctes || format(
                    'reference%1$s AS MATERIALIZED (SELECT v.value AS original,'
                    ' row_number() OVER (ORDER BY %3$s) AS value,'
                    ' row_number() OVER (ORDER BY %3$s) AS position,'
                    ' v.n / sum(v.n) OVER () AS share FROM (SELECT b.s%1$s AS value,'
                    ' sum(b.n) AS n FROM base AS b GROUP BY 1) AS v),'
                    ' histogram%1$s AS (SELECT b.class, coalesce(r.value, (SELECT z.value'
                    ' FROM reference%1$s AS z WHERE z.original IS NOT DISTINCT FROM NULL))'
                    ' AS value, b.n FROM %2$s AS b'
                    ' LEFT JOIN reference%1$s AS r ON r.original = b.s%1$s)',
                    i, base, CASE WHEN labels IS NULL THEN 'v.value'
                        ELSE format('array_position(%L::text[], v.value)', labels) END
                );
            ELSE
                ctes := ctes || format(
                    'histogram%1$s AS (SELECT b.class, 0 AS value, b.n FROM %2$s AS b)', i, base
                );
            END IF;
        END IF;
        FOREACH counts IN ARRAY CASE
            WHEN i > 0 THEN '{values,holders}'::text[]
            WHEN cardinality(sensitive) = 0 THEN '{classes,individuals}'
            ELSE '{individuals}' END
        LOOP
            result := pganon.class_query(
                counts, i, sensitive[i], wanted, required, l, persons,
                i > 0 AND (pganon.comparable(rel, sensitive[i])).ordered
            );
            IF result IS NOT NULL THEN
                results := results || result;
            END IF;
        END LOOP;
    END LOOP;
    RETURN format(
        'WITH %s SELECT * FROM (%s) AS measured',
        array_to_string(ctes, ', '), array_to_string(results, ' UNION ALL ')
    );
END
$$;

COMMENT ON FUNCTION pganon.measure_query(regclass, text[], text[], text, text[], jsonb, integer) IS
    'the statement that measures a relation in one pass; the other measuring functions execute it';
