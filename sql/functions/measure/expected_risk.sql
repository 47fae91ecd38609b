-- How many records are expected to be re-identified, with their risk in the population.
-- The risk of a record is its individual risk (pganon.individual_risk) by sample weights, 1 / size of
-- its class in `population`, or 1 / class size. With `individual` persons are counted instead, each
-- with the highest risk over the classes: records of one person are no independent chances. A
-- household is found if one of its members is, so all of them have the risk 1 - product of
-- (1 - risk). `max_global`: the risk up to which records add up to at most that share.
CREATE FUNCTION pganon.expected_risk(
    rel regclass, qi text[], population regclass, individual text, threshold numeric, weight text,
    household text, max_global numeric
)
    RETURNS TABLE (measure text, value numeric)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    names text;
    keys text;
    outer_keys text;
    person text := 'NULL::bigint';
    weighed text := 'NULL::numeric';
    home text := 'NULL::bigint';
    several bigint;
    missing bigint;
BEGIN
    IF weight IS NOT NULL AND population IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114',
            MESSAGE = 'weights and a population both say how many people a class has',
            HINT = 'give one of them';
    END IF;
    IF max_global <= 0 OR max_global > 1 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'the highest global risk must lie between 0 and 1';
    END IF;
    PERFORM pganon.measurable(rel, qi, array_remove(ARRAY[weight, household], NULL), individual);
    SELECT string_agg('q' || i, ', '), string_agg((pganon.comparable(rel, qi[i])).expression, ', ')
    INTO names, keys FROM generate_subscripts(qi, 1) AS i;
    IF individual IS NOT NULL THEN
        person := (pganon.comparable(rel, individual)).expression;
    END IF;
    IF weight IS NOT NULL THEN
        weighed := pganon.weight_of(rel, weight);
    END IF;
    IF household IS NOT NULL THEN
        home := (pganon.comparable(rel, household)).expression;
        EXECUTE format('SELECT count(*) FROM %s AS t WHERE %s IS NULL', rel, home) INTO missing;
        IF missing > 0 THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA116',
                MESSAGE = format('column %I is NULL in %s records', household, missing),
                HINT = 'every record needs a household; who lives alone is one';
        END IF;
    END IF;
    IF individual IS NOT NULL THEN
        EXECUTE format(
            'SELECT count(*) FROM (SELECT FROM (SELECT DISTINCT %s AS person, %s AS w, %s AS h'
            ' FROM %s AS t) AS d GROUP BY d.person HAVING count(*) > 1) AS s',
            person, weighed, home, rel
        ) INTO several;
        IF several > 0 THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA114',
                MESSAGE = format('%s individuals have several weights or households', several),
                HINT = 'all records of a person need the same weight and household';
        END IF;
    END IF;
    IF population IS NOT NULL THEN
        PERFORM pganon.measurable(population, qi);
        SELECT string_agg((pganon.comparable(population, q)).expression, ', ' ORDER BY i)
        INTO outer_keys FROM unnest(qi) WITH ORDINALITY AS u(q, i);
    END IF;
    -- `f`: people outside; rows of the population have it and nothing else, as NULLs match then.
    -- exp() refuses what is too small for a float8. Risks are rounded to 15 digits before they are added,
    -- and those that differ by no more than 1e-12 are taken for equal: a product of logarithms is inexact.
    RETURN QUERY EXECUTE format(
        'WITH units(%1$s, person, w, h, f) AS (SELECT %2$s %3$s, %4$s, %5$s, %6$s, 0::bigint FROM %7$s AS t'
        || CASE WHEN population IS NULL THEN '' ELSE
        ' UNION ALL SELECT %8$s, NULL, NULL, NULL, count(*) FROM %9$s AS t GROUP BY %10$s' END
        || '), classes AS (SELECT u.person, u.h, u.f, u.f = 0 AS own, count(*) FILTER (WHERE u.f = 0) OVER c AS n,'
        ' CASE WHEN %11$L THEN sum(u.w) OVER c ELSE greatest(sum(u.f) OVER c,'
        ' count(*) FILTER (WHERE u.f = 0) OVER c) END AS people FROM units AS u WINDOW c AS (PARTITION BY %1$s)),'
        ' risks AS (SELECT d.n, d.people, CASE WHEN %11$L THEN pganon.individual_risk(d.n,'
        ' least(1, d.n / d.people)::float8) ELSE 1 / d.people::float8 END AS r FROM'
        ' (SELECT DISTINCT c.n, c.people FROM classes AS c WHERE c.own) AS d),'
        ' members AS (SELECT c.h, max(x.r) AS r FROM classes AS c JOIN risks AS x USING (n, people)'
        ' WHERE c.own GROUP BY c.h, c.person),'
        ' found AS (SELECT m.r, %12$s AS shared FROM members AS m WINDOW h AS (PARTITION BY m.h)),'
        ' summed AS (SELECT count(*) AS n, sum(f.shared::numeric) AS expected,'
        ' max(f.r) AS highest, avg(f.r::numeric) AS mean, count(*) FILTER (WHERE f.r > $1) AS above,'
        ' max(f.shared) AS home_highest, avg(f.shared::numeric) AS home_mean,'
        ' count(*) FILTER (WHERE f.shared > $1 + 1e-12) AS home_above FROM found AS f),'
        ' running AS (SELECT f.shared AS r, sum(f.shared::numeric) OVER (ORDER BY f.shared RANGE BETWEEN UNBOUNDED PRECEDING AND 1e-12::float8 FOLLOWING) AS total FROM found AS f),'
        ' most AS (SELECT coalesce(max(r.r) FILTER (WHERE r.total <= $2 * s.n * 1.000000000001), 0) AS r FROM running AS r CROSS JOIN summed AS s)'
        ' SELECT v.name, trim_scale(round(v.number, 15)) FROM summed AS s CROSS JOIN most AS m'
        ' CROSS JOIN LATERAL (VALUES (''expected'', s.expected, true), (''global'', s.expected / s.n, true),'
        ' (''weighted_highest'', s.highest::numeric, %11$L), (''weighted_mean'', s.mean, %11$L),'
        ' (''weighted_above_threshold'', s.above::numeric, %11$L),'
        ' (''household_highest'', s.home_highest::numeric, %13$L), (''household_mean'', s.home_mean, %13$L),'
        ' (''household_above_threshold'', s.home_above::numeric, %13$L),'
        ' (''global_threshold'', m.r::numeric, $2 IS NOT NULL), (''above_global_threshold'','
        ' (SELECT count(*) FROM found AS f WHERE f.shared > m.r)::numeric, $2 IS NOT NULL))'
        ' AS v(name, number, shown) WHERE v.shown',
        names, CASE WHEN individual IS NULL THEN '' ELSE 'DISTINCT' END, keys,
        CASE WHEN individual IS NULL THEN 'row_number() OVER ()' ELSE person END, weighed, home, rel,
        outer_keys, population,
        (SELECT string_agg(i::text, ', ') FROM generate_subscripts(qi, 1) AS i), weight IS NOT NULL,
        CASE WHEN household IS NULL THEN 'm.r' ELSE
        'CASE WHEN max(m.r) OVER h >= 1 THEN 1 ELSE'
        ' 1 - exp(greatest(sum(ln(greatest(1 - m.r, 1e-300))) OVER h, -700)) END' END, household IS NOT NULL
    ) USING threshold, max_global;
END
$$;

COMMENT ON FUNCTION pganon.expected_risk(
    regclass, text[], regclass, text, numeric, text, text, numeric
) IS 'expected number of re-identified records, by weights, a population or class sizes';
