-- Per class the size of its smallest reasoning set, with its records and individuals: one record of
-- every individual can be reduced to so many values. Sizes are counted up to `most`; without it as
-- far as the worst class can reach, which has no more than it has individuals or values, and 10.
-- A class for which the exact search is stopped has `undecided`; an error where that is NULL.
CREATE FUNCTION pganon.reasoning_sizes(
    rel regclass, qi text[], sensitive text, individual text,
    most integer DEFAULT NULL, undecided integer DEFAULT NULL
)
    RETURNS TABLE (size integer, records bigint, individuals bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY EXECUTE
        'WITH persons AS MATERIALIZED (' || pganon.reasoning_query(rel, qi, sensitive, individual)
        || '), classes AS MATERIALIZED ('
        ' SELECT p.class, count(DISTINCT p.person) AS individuals, sum(p.n)::bigint AS records,'
        ' max(c.code)::integer AS width FROM (SELECT q.*, row_number() OVER () AS person'
        ' FROM persons AS q) AS p CROSS JOIN LATERAL (SELECT max(u.code) AS code'
        ' FROM unnest(p.codes) AS u(code)) AS c GROUP BY p.class), families AS ('
        ' SELECT p.class, array_agg((SELECT bit_or(set_bit(repeat(''0'', c.width)::varbit,'
        ' u.code::integer - 1, 1)) FROM unnest(p.codes) AS u(code))::varbit) AS family'
        ' FROM persons AS p JOIN classes AS c ON c.class = p.class GROUP BY p.class)'
        ' SELECT pganon.hitting_set_size(f.family, coalesce($1, (SELECT least(10,'
        ' min(least(l.individuals, l.width))) FROM classes AS l)::integer), $2),'
        ' c.records, c.individuals FROM families AS f JOIN classes AS c ON c.class = f.class'
    USING most, undecided;
END
$$;

COMMENT ON FUNCTION pganon.reasoning_sizes(regclass, text[], text, text, integer, integer) IS
    'per class the size of its smallest reasoning set, its records and its individuals';
