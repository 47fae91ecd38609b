-- SUDA2 of a relation that is a sample: the scores of pganon.special_uniques, and what they say of the
-- population (DIS-SUDA). U records are alone with all quasi-identifiers and P share them with one other;
-- f is the sampling fraction. DIS = U f / (U f + P (1 - f)) is the probability that a record that is
-- alone is alone in the population, too. It is divided among records by their scores as sdcMicro does:
-- 1 / (1 + U (1 / DIS - 1) / (score^Q T)), with T the sum of score^-Q and Q = 1 + (8 - A) / 20.
-- `minimal_sets` has a row per `size` of sets; `contribution` of a column is its share of all scores.
CREATE FUNCTION pganon.suda(
    rel regclass, qi text[], largest integer DEFAULT 3, sampling_fraction numeric DEFAULT NULL
)
    RETURNS TABLE (measure text, column_name text, size integer, value numeric)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    alone numeric;
    pairs numeric;
    dis float8;
    q constant float8 := 1 + (8 - cardinality(qi)) / 20.0;
BEGIN
    IF (sampling_fraction > 0 AND sampling_fraction <= 1) IS NOT TRUE THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'the sampling fraction must be above 0 and at most 1',
            HINT = 'it is the share of the population that is in the sample';
    END IF;
    SELECT count(*) FILTER (WHERE c.size = 1), 2 * count(*) FILTER (WHERE c.size = 2)
    INTO alone, pairs FROM pganon.equivalence_classes(rel, qi) AS c;
    dis := alone * sampling_fraction
        / nullif(alone * sampling_fraction + pairs * (1 - sampling_fraction), 0);
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT s.score::float8 AS score, s.minimal
        FROM pganon.special_uniques(rel, qi, largest) AS s
    ), total AS (
        SELECT count(*) AS n, coalesce(sum(f.score), 0) AS score, coalesce(max(f.score), 0) AS highest,
            sum(power(f.score, -q)) AS t
        FROM found AS f
    ), risks AS (
        -- A plan divides by constants even where nobody is alone.
        SELECT 1 / (1 + alone * (1 / nullif(dis, 0) - 1) / (power(f.score, q) * t.t)) AS r
        FROM found AS f CROSS JOIN total AS t
    ), sets AS (
        SELECT jsonb_array_length(m.value) AS columns, m.value AS names
        FROM found AS f CROSS JOIN LATERAL jsonb_array_elements(f.minimal) AS m(value)
    ), scores AS (
        SELECT s.names, s.columns, count(*) AS n, (count(*) * factorial(cardinality(qi) - s.columns)
            / factorial(greatest(cardinality(qi) - largest - 1, 0)))::float8 AS score
        FROM sets AS s GROUP BY s.names, s.columns
    )
    SELECT r.name, NULL::text, NULL::integer, trim_scale(round(r.number::numeric, 15)) FROM total AS t
    CROSS JOIN LATERAL (VALUES
        ('special_uniques', t.n::float8), ('score_total', t.score), ('score_highest', t.highest),
        ('dis', coalesce(dis, 0)),
        ('dis_suda_total', (SELECT coalesce(sum(x.r), 0) FROM risks AS x)),
        ('dis_suda_highest', (SELECT coalesce(max(x.r), 0) FROM risks AS x))
    ) AS r(name, number)
    UNION ALL
    (SELECT 'minimal_sets', NULL, s.columns, sum(s.n) FROM scores AS s GROUP BY s.columns ORDER BY 3)
    UNION ALL
    (SELECT 'contribution', c.name, NULL,
        trim_scale(round((sum(s.score) FILTER (WHERE s.names ? c.name) / max(t.score))::numeric, 15))
    FROM scores AS s CROSS JOIN total AS t CROSS JOIN unnest(qi) AS c(name)
    GROUP BY c.name HAVING count(*) FILTER (WHERE s.names ? c.name) > 0 ORDER BY 4 DESC, 2);
END
$$;

COMMENT ON FUNCTION pganon.suda(regclass, text[], integer, numeric) IS
    'records that few columns single out, and their risk in the population of which they are a sample';
