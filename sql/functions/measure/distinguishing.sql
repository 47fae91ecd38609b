-- How far every set of up to `largest` quasi-identifiers singles records out. distinction: distinct
-- combinations per record; separation: share of pairs of records that differ.
CREATE FUNCTION pganon.distinguishing(rel regclass, qi text[], largest integer DEFAULT 3)
    RETURNS TABLE (columns text[], distinction numeric, separation numeric)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation constant text := pganon.measurable(rel, qi);
    keys text;
    parts text;
BEGIN
    SELECT string_agg(format('%s AS q%s', (pganon.comparable(rel, q)).expression, i), ', ')
    INTO keys FROM unnest(qi) WITH ORDINALITY AS u(q, i);
    WITH RECURSIVE sets AS (
        SELECT ARRAY[i] AS numbers FROM generate_subscripts(qi, 1) AS i
        UNION ALL
        SELECT s.numbers || i FROM sets AS s CROSS JOIN generate_subscripts(qi, 1) AS i
        WHERE i > s.numbers[cardinality(s.numbers)] AND cardinality(s.numbers) < largest
    )
    SELECT string_agg(format(
        'SELECT %L::integer[] AS numbers, count(*) AS classes, sum(c.n * (c.n - 1)) AS same,'
        ' sum(c.n) AS records FROM (SELECT sum(b.n) AS n FROM base AS b GROUP BY %s) AS c',
        s.numbers, (SELECT string_agg('b.q' || i, ', ') FROM unnest(s.numbers) AS i)
    ), ' UNION ALL ')
    INTO parts FROM sets AS s;
    RETURN QUERY EXECUTE format(
        'WITH base AS MATERIALIZED (SELECT %s, count(*) AS n FROM %s AS t GROUP BY %s)'
        ' SELECT ARRAY(SELECT ($1)[i] FROM unnest(p.numbers) WITH ORDINALITY AS u(i, o) ORDER BY o),'
        ' trim_scale(round(p.classes / p.records, 15)),'
        ' trim_scale(round(1 - p.same / greatest(p.records * (p.records - 1), 1), 15)) FROM (%s) AS p'
        ' ORDER BY 2 DESC, 3 DESC, cardinality(p.numbers), p.numbers',
        keys, relation, (SELECT string_agg(i::text, ', ') FROM generate_subscripts(qi, 1) AS i),
        parts
    ) USING qi;
END
$$;

COMMENT ON FUNCTION pganon.distinguishing(regclass, text[], integer) IS
    'distinction and separation of every set of quasi-identifiers up to a size';
