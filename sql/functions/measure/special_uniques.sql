-- Records that few of their quasi-identifiers single out, as SUDA2 finds them (Manning, Haglin and
-- Keane 2008). A set of columns is unique for a record if nobody shares its values there, and minimal
-- if that is true of no set with a column less. Of A columns, sets of up to `largest` are searched. With
-- M = the smaller of that and A - 1, a minimal set of s columns scores (A - s)(A - s - 1)...(A - M).
-- `minimal` holds the sets of a record, `score` is their sum. NULL is a value.
-- One statement groups the counted combinations by all sets; a set that is unique for a record makes
-- every set with one more column not minimal for it.
CREATE FUNCTION pganon.special_uniques(rel regclass, qi text[], largest integer DEFAULT 3)
    RETURNS TABLE (class_values jsonb, score numeric, minimal jsonb)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation constant text := pganon.measurable(rel, qi);
    columns constant integer := cardinality(qi);
    keys text;
    names text;
    named text;
    sets text;
BEGIN
    PERFORM pganon.assert_sets(columns, largest);
    IF columns > 31 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = format('%s columns are too many to search', columns),
            HINT = 'name at most 31';
    END IF;
    largest := least(largest, columns);
    SELECT string_agg(format('%s AS q%s', (pganon.comparable(rel, q)).expression, i), ', ' ORDER BY i),
        string_agg('b.q' || i, ', ' ORDER BY i), string_agg(format('b.q%s AS %I', i, q), ', ' ORDER BY i)
    INTO keys, names, named FROM unnest(qi) WITH ORDINALITY AS u(q, i);
    WITH RECURSIVE chosen AS (
        SELECT ARRAY[i] AS numbers FROM generate_subscripts(qi, 1) AS i
        UNION ALL
        SELECT s.numbers || i FROM chosen AS s CROSS JOIN generate_subscripts(qi, 1) AS i
        WHERE i > s.numbers[cardinality(s.numbers)] AND cardinality(s.numbers) < largest
    )
    SELECT string_agg(
        format('(%s)', (SELECT string_agg('b.q' || i, ', ') FROM unnest(c.numbers) AS i)), ', '
    ) INTO sets FROM chosen AS c;
    -- `absent` has a bit for every column that is not in the set, the last column the lowest one.
    RETURN QUERY EXECUTE format(
        'WITH base AS MATERIALIZED (SELECT row_number() OVER () AS cell, c.* FROM'
        ' (SELECT %1$s, count(*) AS n FROM %2$s AS t GROUP BY %3$s) AS c),'
        ' uniques AS MATERIALIZED (SELECT min(b.cell) AS cell, GROUPING(%4$s) AS absent FROM base AS b'
        ' GROUP BY GROUPING SETS (%5$s) HAVING sum(b.n) = 1),'
        ' bits AS (SELECT 1 << i AS bit FROM generate_series(0, $1 - 1) AS i),'
        ' least AS (SELECT u.cell, u.absent FROM uniques AS u EXCEPT SELECT u.cell, u.absent & ~ s.bit'
        ' FROM uniques AS u JOIN bits AS s ON u.absent & s.bit <> 0),'
        ' kinds AS (SELECT d.absent, l.names, l.size, factorial($1 - l.size) / factorial($1 - $2 - 1) AS score'
        ' FROM (SELECT DISTINCT s.absent FROM least AS s) AS d'
        ' CROSS JOIN LATERAL (SELECT array_agg(($3)[i] ORDER BY i) AS names, count(*)::integer AS size FROM'
        ' generate_series(1, $1) AS i WHERE d.absent & (1 << ($1 - i)) = 0) AS l),'
        ' found AS (SELECT s.cell, trim_scale(sum(k.score)) AS score,'
        ' jsonb_agg(k.names ORDER BY k.size, k.names) AS minimal FROM least AS s JOIN kinds AS k USING (absent)'
        ' GROUP BY s.cell)'
        ' SELECT (SELECT to_jsonb(v.*) FROM (SELECT %6$s) AS v), f.score, f.minimal FROM found AS f'
        ' JOIN base AS b USING (cell)',
        keys, relation, (SELECT string_agg(i::text, ', ') FROM generate_subscripts(qi, 1) AS i), names,
        sets, named
    ) USING columns, least(largest, columns - 1), qi;
END
$$;

COMMENT ON FUNCTION pganon.special_uniques(regclass, text[], integer) IS
    'records that are alone by few columns, with the minimal sets and their score';
