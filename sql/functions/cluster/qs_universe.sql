-- For every value of a block, by its number, the combinations of its QS set that have it, as a bit
-- string over those combinations of which all values occur in the block.
--
-- `supports[s]` (v1, v2, ...) are the combinations of set s, values by number in the order of the
-- set's attributes. Values that no such combination has are NULL.
CREATE FUNCTION pganon.qs_universe(
    cells regclass, block integer, sets integer[], supports regclass[]
) RETURNS bit varying[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present bit varying;
    last integer;
    names text;
    held text;
    found bit varying[];
    value record;
BEGIN
    EXECUTE format(
        'SELECT max(v.id), bit_or(set_bit(t.none, v.id, 1)) FROM'
        ' (SELECT DISTINCT unnest(c.ids) AS id FROM %1$s AS c WHERE c.block = $1) AS v'
        ' CROSS JOIN (SELECT repeat(''0'', 1 + max(i))::varbit AS none FROM %1$s AS c'
        ' CROSS JOIN LATERAL unnest(c.ids) AS i WHERE c.block = $1) AS t', cells)
        INTO last, present USING block;
    found := array_fill(NULL::bit varying, ARRAY[last]);
    FOR s IN 1 .. cardinality(supports) LOOP
        SELECT string_agg(format('s.v%s', a), ', '),
               string_agg(format('s.v%1$s <= $2 AND get_bit($1, least(s.v%1$s, $2)) = 1', a), ' AND ')
        INTO names, held
        FROM generate_series(1, (SELECT count(*) FROM unnest(sets) AS v WHERE v = s)) AS a;
        FOR value IN EXECUTE format(
            'WITH u AS (SELECT (row_number() OVER ())::int - 1 AS place, ARRAY[%s] AS combination'
            ' FROM %s AS s WHERE %s)'
            ' SELECT x.id, bit_or(set_bit(t.none, u.place, 1)) AS bits FROM u'
            ' CROSS JOIN (SELECT repeat(''0'', count(*)::int)::varbit AS none FROM u) AS t'
            ' CROSS JOIN LATERAL unnest(u.combination) AS x(id)'
            ' GROUP BY x.id', names, supports[s], held) USING present, last
        LOOP
            found[value.id] := value.bits;
        END LOOP;
    END LOOP;
    RETURN found;
END
$$;

COMMENT ON FUNCTION pganon.qs_universe(regclass, integer, integer[], regclass[]) IS
    'combinations of QS sets that a block can have, as bit strings per value';
