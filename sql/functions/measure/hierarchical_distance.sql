-- Earth mover's distance over a tree, largest class: the equal distance on every level below the
-- root, averaged (Li et al. 2007, section 5.2). The tree is a relation with one row per value:
-- the value as text, its ancestors, the root last. NULL is a separate child of the root.
CREATE FUNCTION pganon.hierarchical_distance(
    rel regclass, qi text[], sensitive text, hierarchy regclass
)
    RETURNS numeric
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation constant text := pganon.measurable(rel, qi, ARRAY[sensitive]);
    value constant text := (pganon.comparable(rel, sensitive)).expression;
    equal constant text := (SELECT m.aggregate FROM pganon.measures() AS m WHERE m.name = 't_closeness');
    levels text[];
    keys text := '';
    broken record;
    result numeric;
BEGIN
    SELECT array_agg(
        format('(%s)', pganon.text_of(a.atttypid, format('h.%I', a.attname))) ORDER BY a.attnum
    ) INTO levels
    FROM pg_attribute AS a
    WHERE a.attrelid = hierarchy AND a.attnum > 0 AND NOT a.attisdropped;
    IF coalesce(cardinality(levels), 0) < 2 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'the hierarchical distance needs a hierarchy',
            HINT = 'name a relation with the columns value, level 1, ..., root';
    END IF;
    EXECUTE format(
        'SELECT count(*) FILTER (WHERE h.n > 1) AS repeated, max(h.roots) AS roots,'
        ' (SELECT count(DISTINCT %1$s) FROM %2$s AS t WHERE %1$s IS NOT NULL AND NOT EXISTS'
        ' (SELECT FROM %3$s AS h WHERE %4$s = (%1$s)::text)) AS missing,'
        ' (SELECT count(*) FROM %3$s AS h WHERE num_nulls(%5$s) > 0) AS empty'
        ' FROM (SELECT count(*) AS n, (SELECT count(DISTINCT %6$s) FROM %3$s AS h) AS roots'
        ' FROM %3$s AS h GROUP BY %4$s) AS h',
        value, relation, hierarchy, levels[1], array_to_string(levels, ', '),
        levels[cardinality(levels)]
    ) INTO broken;
    IF broken.repeated > 0 OR broken.roots IS DISTINCT FROM 1 OR broken.missing > 0
        OR broken.empty > 0
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA117',
            MESSAGE = format(
                '%s is no hierarchy of column %I: %s values repeated, %s missing, %s rows with'
                ' NULL, %s roots',
                hierarchy, sensitive, broken.repeated, broken.missing, broken.empty,
                coalesce(broken.roots, 0)
            ),
            HINT = 'give every value one row, ending in the one root';
    END IF;
    SELECT string_agg(format('%s AS q%s', (pganon.comparable(rel, c)).expression, i), ', ')
    INTO keys FROM unnest(qi) WITH ORDINALITY AS u(c, i);
    EXECUTE format(
        'WITH base AS MATERIALIZED (SELECT dense_rank() OVER (ORDER BY %1$s) AS class, c.v, c.n'
        ' FROM (SELECT %2$s, coalesce(''='' || (%3$s)::text, '''') AS v, count(*)::float8 AS n'
        ' FROM %4$s AS t GROUP BY %5$s) AS c),'
        ' tree AS (SELECT ''='' || %6$s AS v, l.level, ''='' || l.node AS node FROM %7$s AS h'
        ' CROSS JOIN LATERAL unnest(ARRAY[%8$s]) WITH ORDINALITY AS l(node, level)'
        ' UNION ALL SELECT '''', l, '''' FROM generate_series(1, %9$s) AS l),'
        ' placed AS MATERIALIZED (SELECT b.class, t.level, t.node, sum(b.n) AS n'
        ' FROM base AS b JOIN tree AS t ON t.v = b.v GROUP BY 1, 2, 3),'
        ' shares AS (SELECT p.level, p.node, sum(p.n) / (SELECT sum(b.n) FROM base AS b) AS share'
        ' FROM placed AS p GROUP BY 1, 2),'
        ' distances AS (SELECT g.class, g.level, %10$s AS distance'
        ' FROM (SELECT p.class, p.level, p.n, s.share,'
        ' sum(p.n) OVER (PARTITION BY p.class, p.level) AS total'
        ' FROM placed AS p JOIN shares AS s ON s.level = p.level AND s.node = p.node) AS g'
        ' GROUP BY 1, 2)'
        ' SELECT max(k.distance)::text::numeric FROM'
        ' (SELECT avg(d.distance) AS distance FROM distances AS d GROUP BY d.class) AS k',
        (SELECT string_agg('c.q' || i, ', ') FROM generate_subscripts(qi, 1) AS i),
        keys, value, relation,
        (SELECT string_agg(i::text, ', ') FROM generate_series(1, cardinality(qi) + 1) AS i),
        levels[1], hierarchy, array_to_string(levels[:cardinality(levels) - 1], ', '),
        cardinality(levels) - 1, equal
    ) INTO result;
    RETURN result;
END
$$;

COMMENT ON FUNCTION pganon.hierarchical_distance(regclass, text[], text, regclass) IS
    'largest distance of a class''s sensitive values to those of the whole relation, over a tree';
