-- Re-identification risk by quasi-identifiers, means over records (not over classes).
-- prosecutor: the adversary knows that the person is in the relation: 1 / class size.
-- journalist: knows the population only: 1 / size of the class in `population`, a relation with
-- the same quasi-identifying columns. marketer: expected share of records re-identified when all
-- are tried, against the population where one is given. above_threshold: records whose risk is
-- above `threshold`. With `individual` the members of a class are persons, and one with records in
-- several classes has the highest of their risks.
-- With `weight`, `household` or `max_global` also the rows of pganon.expected_risk.
-- class_size rows hold the distribution: `value` classes have `size` records.
CREATE FUNCTION pganon.risk(
    rel regclass, qi text[], population regclass DEFAULT NULL, individual text DEFAULT NULL,
    threshold numeric DEFAULT 0.2, weight text DEFAULT NULL, household text DEFAULT NULL,
    max_global numeric DEFAULT NULL
)
    RETURNS TABLE (measure text, size bigint, value numeric)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    keys text := '';
    outer_keys text := '';
    groups text;
    names text;
    counted text;
    persons text := '';
    q text;
BEGIN
    PERFORM pganon.measurable(rel, qi, '{}', individual);
    IF threshold IS NULL OR threshold < 0 OR threshold > 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PA114', MESSAGE = 'threshold must lie between 0 and 1';
    END IF;
    -- Columns may have any name, that of a figure as well.
    SELECT string_agg(i::text, ', '), string_agg('q' || i, ', ') INTO groups, names
    FROM generate_subscripts(qi, 1) AS i;
    FOREACH q IN ARRAY qi LOOP
        keys := keys || (pganon.comparable(rel, q)).expression || ', ';
    END LOOP;
    counted := format('SELECT %scount(*) AS n, 0::bigint AS f FROM %s AS t GROUP BY %s',
        keys, rel, groups);
    IF population IS NOT NULL THEN
        PERFORM pganon.measurable(population, qi);
        FOREACH q IN ARRAY qi LOOP
            outer_keys := outer_keys || (pganon.comparable(population, q)).expression || ', ';
        END LOOP;
        -- Grouping both together matches NULLs, which a join would not.
        counted := format(
            'SELECT %s, sum(u.n) AS n, sum(u.f) AS f FROM (%s UNION ALL'
            ' SELECT %s0, count(*) FROM %s AS t GROUP BY %s) AS u(%s, n, f) GROUP BY %s'
            ' HAVING sum(u.n) > 0',
            (SELECT string_agg('u.q' || i, ', ') FROM generate_subscripts(qi, 1) AS i),
            counted, outer_keys, population, groups, names, groups
        );
    END IF;
    IF individual IS NOT NULL THEN
        persons := format(
            'pairs AS (SELECT dense_rank() OVER (ORDER BY %1$s) AS class, p.person FROM (SELECT DISTINCT'
            ' %2$s%3$s FROM %4$s AS t) AS p(%5$s, person)), highest AS (SELECT p.person,'
            ' max(1.0 / p.n) AS risk FROM (SELECT x.person, count(*) OVER (PARTITION BY x.class) AS n'
            ' FROM pairs AS x) AS p GROUP BY p.person), ',
            (SELECT string_agg('p.q' || i, ', ') FROM generate_subscripts(qi, 1) AS i),
            keys, (pganon.comparable(rel, individual)).expression, rel, names
        );
    END IF;
    RETURN QUERY EXECUTE
        'WITH ' || persons || 'sizes AS (SELECT c.n::bigint AS n, greatest(c.n, c.f)::bigint AS f,'
        ' greatest(c.n - c.f, 0)::bigint AS missing, count(*) AS classes FROM (' || counted
        || ') AS c(' || names || ', n, f) GROUP BY 1, 2, 3),'
        ' totals AS (SELECT sum(s.classes * s.n) AS records, sum(s.classes) AS classes,'
        ' coalesce(sum(s.classes) FILTER (WHERE s.n = 1), 0) AS uniques,'
        ' coalesce(sum(s.classes * s.n) FILTER (WHERE 1.0 / s.n > $1), 0) AS above,'
        ' min(s.n) AS smallest, min(s.f) AS rarest, sum(s.classes * s.n::numeric / s.f) AS found,'
        ' coalesce(sum(s.classes * s.n) FILTER (WHERE 1.0 / s.f > $1), 0) AS above_outside,'
        ' sum(s.classes * s.missing) AS missing FROM sizes AS s)'
        ' SELECT r.measure, NULL::bigint, trim_scale(round(r.value, 15)) FROM totals AS t CROSS JOIN LATERAL (VALUES'
        ' (''records'', t.records), (''classes'', t.classes),'
        ' (''unique_records'', t.uniques), (''unique_share'', t.uniques / t.records),'
        ' (''prosecutor_highest'', 1.0 / t.smallest), (''prosecutor_mean'', t.classes / t.records),'
        ' (''prosecutor_above_threshold'', t.above)'
        || CASE WHEN population IS NULL THEN ', (''marketer'', t.classes / t.records)' ELSE
        ', (''journalist_highest'', 1.0 / t.rarest), (''journalist_mean'', t.found / t.records),'
        ' (''journalist_above_threshold'', t.above_outside), (''marketer'', t.found / t.records),'
        ' (''not_in_population'', t.missing)' END
        || ') AS r(measure, value)'
        || CASE WHEN individual IS NULL THEN '' ELSE
        ' UNION ALL SELECT r.measure, NULL, trim_scale(round(r.value, 15)) FROM (SELECT count(*) AS n,'
        ' count(*) FILTER (WHERE h.risk = 1) AS uniques, max(h.risk) AS highest,'
        ' avg(h.risk) AS mean, count(*) FILTER (WHERE h.risk > $1) AS above FROM highest AS h) AS i'
        ' CROSS JOIN LATERAL (VALUES (''individuals'', i.n::numeric),'
        ' (''unique_individuals'', i.uniques), (''individual_highest'', i.highest),'
        ' (''individual_mean'', i.mean), (''individuals_above_threshold'', i.above))'
        ' AS r(measure, value)' END
        || ' UNION ALL (SELECT ''class_size'', s.n, sum(s.classes) FROM sizes AS s GROUP BY s.n'
        ' ORDER BY s.n)'
    USING threshold;
    IF num_nonnulls(weight, household, max_global) > 0 THEN
        RETURN QUERY SELECT e.measure, NULL::bigint, e.value FROM pganon.expected_risk(
            rel, qi, population, individual, threshold, weight, household, max_global) AS e;
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.risk(
    regclass, text[], regclass, text, numeric, text, text, numeric
) IS
    'prosecutor, journalist and marketer risk, uniques and class sizes of a relation';
