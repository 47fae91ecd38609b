-- How far some sets of quasi-identifiers single records out. A set is a text such as '{1,3}', of
-- positions in `qi`; at most 4,096 are searched at a time. distinction: distinct combinations per
-- record; separation: share of pairs of records that differ.
CREATE FUNCTION pganon.set_figures(rel regclass, qi text[], sets text[])
    RETURNS TABLE (numbers integer[], distinction numeric, separation numeric)
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
    SELECT string_agg(format(
        'SELECT %L::integer[] AS numbers, count(*) AS classes, sum(c.n * (c.n - 1)) AS same,'
        ' sum(c.n) AS records FROM (SELECT sum(b.n) AS n FROM base AS b GROUP BY %s) AS c',
        s, (SELECT string_agg('b.q' || i, ', ') FROM unnest(s::integer[]) AS i)
    ), ' UNION ALL ')
    INTO parts FROM unnest(sets) AS s;
    RETURN QUERY EXECUTE format(
        'WITH base AS MATERIALIZED (SELECT %s, count(*) AS n FROM %s AS t GROUP BY %s)'
        ' SELECT p.numbers, trim_scale(round(p.classes / p.records, 15)),'
        ' trim_scale(round(1 - p.same / greatest(p.records * (p.records - 1), 1), 15)) FROM (%s) AS p',
        keys, relation, (SELECT string_agg(i::text, ', ') FROM generate_subscripts(qi, 1) AS i),
        parts
    );
END
$$;

COMMENT ON FUNCTION pganon.set_figures(regclass, text[], text[]) IS
    'distinction and separation of the named sets of quasi-identifiers';
