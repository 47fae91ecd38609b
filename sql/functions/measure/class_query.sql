-- A part of pganon.measure_query: measures of every class over rows of one kind, the worst class
-- of each, and what violates the required parameters. NULL where nothing of the kind is wanted.
CREATE FUNCTION pganon.class_query(
    counts text, number integer, column_name text,
    wanted text[], required jsonb, l integer, persons boolean, ordered boolean
)
    RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    item record;
    rows text;
    kind text := 'plain';
    ranked boolean := false;
    measures text := '';
    worst text := '';
    violated text;
    shown text := '';
    n integer := 0;
BEGIN
    FOR item IN
        SELECT w.name, m.needs, m.bound, m.counts = 'classes' AS of_class, replace(m.aggregate, '"l"', l::text) AS aggregate,
            replace(m.holds, '"parameter"', required ->> w.name) AS holds
        FROM unnest(wanted) WITH ORDINALITY AS w(name, place)
        JOIN pganon.measures() AS m ON m.name = w.name || CASE
            WHEN w.name = 'recursive_cl_diversity' AND l <> 2 THEN '_any_l' ELSE '' END
        -- The first column's rows measure the classes as such along with its values.
        WHERE (m.counts = class_query.counts OR m.counts = 'classes' AND class_query.counts = 'values'
                AND number = 1)
            AND (persons OR m.counts IN ('classes', 'values'))
            AND (m.needs NOT LIKE 'moves%' OR ordered)
            AND (m.name NOT LIKE 'ir\_%' OR persons)
        ORDER BY w.place
    LOOP
        n := n + 1;
        measures := measures || format(', %s AS m%s', item.aggregate, n);
        worst := worst || format(', %s(k.m%s) AS w%s', item.bound, n, n);
        violated := 'NULL, NULL, NULL, NULL';
        IF item.holds IS NOT NULL THEN
            item.holds := replace(item.holds, '"measure"', 'k.m' || n);
            worst := worst || format(
                ', count(*) FILTER (WHERE NOT %1$s) AS c%2$s,'
                ' coalesce(sum(k.records) FILTER (WHERE NOT %1$s), 0) AS r%2$s',
                '(' || item.holds || ')', n
            );
            IF persons THEN
                worst := worst || format(
                    ', (SELECT count(DISTINCT p.person) FROM persons AS p WHERE p.class IN'
                    ' (SELECT k.class FROM %s AS k WHERE NOT (%s))) AS i%s',
                    counts || number, item.holds, n
                );
            END IF;
            violated := format(
                'x.c%1$s = 0, x.c%1$s, x.r%1$s, %2$s', n,
                CASE WHEN persons THEN 'x.i' || n ELSE 'NULL' END
            );
        END IF;
        shown := shown || format(
            ', (%L, %L, x.w%s::float8::text::numeric, %L, %s)',
            item.name, CASE WHEN NOT item.of_class THEN column_name END, n, required ->> item.name, violated
        );
        -- Kinds of rows hold each other: plain, shares, moves.
        kind := CASE
            WHEN kind = 'moves' OR item.needs LIKE 'moves%' THEN 'moves'
            WHEN kind = 'shares' OR item.needs LIKE 'shares%' THEN 'shares'
            ELSE 'plain' END;
        ranked := ranked OR item.needs LIKE '%\_rank';
    END LOOP;
    IF n = 0 THEN
        RETURN NULL;
    END IF;

    rows := CASE counts
        WHEN 'classes' THEN 'SELECT b.class, b.n FROM base AS b'
        WHEN 'individuals' THEN 'SELECT p.class, p.n FROM persons AS p'
        WHEN 'holders' THEN format(
            'SELECT h.class, h.n, s.total, s.records FROM (SELECT v.class, count(*) AS n FROM (SELECT DISTINCT'
            ' b.class, b.s%1$s, b.person FROM base AS b) AS v GROUP BY v.class, v.s%1$s) AS h'
            ' JOIN (SELECT p.class, count(*) AS total, sum(p.n) AS records FROM persons AS p'
            ' GROUP BY 1) AS s'
            ' ON s.class = h.class', number)
        ELSE (
            SELECT replace(replace(m.aggregate, '"histogram"', 'histogram' || number),
                '"reference"', 'reference' || number)
            FROM pganon.measures() AS m
            WHERE m.counts = 'rows' AND m.name = kind || CASE WHEN ranked THEN '_rank' ELSE '' END)
        END;
    RETURN format(
        '(WITH %1$s AS (SELECT g.class%2$s%3$s FROM (%4$s) AS g GROUP BY g.class)'
        ' SELECT y.measure::text, y.column_name::text, y.value, y.required::numeric, y.holds::boolean,'
        ' y.classes::bigint, y.records::bigint, y.individuals::bigint'
        ' FROM (SELECT %5$s FROM %1$s AS k) AS x CROSS JOIN LATERAL (VALUES %6$s)'
        ' AS y(measure, column_name, value, required, holds, classes, records, individuals))',
        counts || number,
        CASE WHEN counts = 'holders' THEN ', max(g.records) AS records'
            ELSE ', sum(g.n) AS records' END,
        measures, rows, substr(worst, 3), substr(shown, 3)
    );
END
$$;

COMMENT ON FUNCTION pganon.class_query(text, integer, text, text[], jsonb, integer, boolean, boolean) IS
    'a part of the statement of pganon.measure_query';
