-- For every value of a block, by its number, the combinations of its QS set that have it, counted
-- through from 0 over those combinations of the set of which all values occur in the block.
--
-- `supports[s]` (v1, v2, ...) are the combinations of set s, values by number in the order of the
-- set's attributes. Value 0 stands for a string of zeros, one per combination of the set. A value
-- of many combinations has them as bits, one of few as places, so that what a block takes up in
-- memory grows with its combinations and not with their number times that of the values.
CREATE FUNCTION pganon.qs_universe(
    cells regclass, block integer, sets integer[], supports regclass[]
) RETURNS TABLE (attribute_set integer, value integer, bits bit varying, places integer[])
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    many constant integer := 64;  -- values with more than 1/64 of the combinations: 64 at most
    present bit varying;
    last integer;
    names text;
    held text;
BEGIN
    EXECUTE format(
        'SELECT max(v.id), bit_or(set_bit(t.none, v.id, 1)) FROM'
        ' (SELECT DISTINCT unnest(c.ids) AS id FROM %1$s AS c WHERE c.block = $1) AS v'
        ' CROSS JOIN (SELECT repeat(''0'', 1 + max(i))::varbit AS none FROM %1$s AS c'
        ' CROSS JOIN LATERAL unnest(c.ids) AS i WHERE c.block = $1) AS t', cells)
        INTO last, present USING block;
    FOR s IN 1 .. cardinality(supports) LOOP
        SELECT string_agg(format('s.v%s', a), ', '),
               string_agg(format('s.v%1$s <= $2 AND get_bit($1, least(s.v%1$s, $2)) = 1', a), ' AND ')
        INTO names, held
        FROM generate_series(1, (SELECT count(*) FROM unnest(sets) AS v WHERE v = s)) AS a;
        RETURN QUERY EXECUTE format(
            'WITH u AS MATERIALIZED (SELECT (row_number() OVER ())::int - 1 AS place,'
            ' ARRAY[%s] AS combination FROM %s AS s WHERE %s),'
            ' t AS (SELECT count(*) AS total, repeat(''0'', count(*)::int)::varbit AS none FROM u),'
            ' e AS MATERIALIZED (SELECT x.id, u.place, count(*) OVER (PARTITION BY x.id) AS n'
            ' FROM u CROSS JOIN LATERAL unnest(u.combination) AS x(id))'
            ' SELECT $3, 0, t.none, NULL::int[] FROM t'
            ' UNION ALL SELECT $3, e.id, bit_or(set_bit(t.none, e.place, 1)), NULL FROM e, t'
            ' WHERE e.n * $4 > t.total GROUP BY e.id'
            ' UNION ALL SELECT $3, e.id, NULL, array_agg(e.place) FROM e, t'
            ' WHERE e.n * $4 <= t.total GROUP BY e.id', names, supports[s], held)
            USING present, last, s, many;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.qs_universe(regclass, integer, integer[], regclass[]) IS
    'combinations of QS sets that a block can have, by value';
