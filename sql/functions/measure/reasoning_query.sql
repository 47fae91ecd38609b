-- The statement that gives, per class and individual, the numbers of the individual's distinct
-- values and of its records: what an exact search for EIR l-diversity needs, without any value.
CREATE FUNCTION pganon.reasoning_query(
    rel regclass, qi text[], sensitive text, individual text
)
    RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation constant text := pganon.measurable(rel, qi, ARRAY[sensitive], individual);
    keys text;
    places text;
BEGIN
    SELECT string_agg(format('%s AS q%s', (pganon.comparable(rel, q)).expression, i), ', '),
        string_agg('c.q' || i, ', ')
    INTO keys, places
    FROM unnest(qi) WITH ORDINALITY AS u(q, i);
    RETURN format(
        'SELECT c.class, array_agg(c.code) AS codes, sum(c.n)::bigint AS n FROM ('
        'SELECT dense_rank() OVER (ORDER BY %s) AS class, c.person,'
        ' dense_rank() OVER (ORDER BY c.value) AS code, c.n FROM ('
        'SELECT %s, %s AS value, %s AS person, count(*) AS n FROM %s AS t GROUP BY %s) AS c) AS c'
        ' GROUP BY c.class, c.person ORDER BY c.class',
        places, keys, (pganon.comparable(rel, sensitive)).expression,
        (pganon.comparable(rel, individual)).expression, relation,
        (SELECT string_agg(i::text, ', ') FROM generate_series(1, cardinality(qi) + 2) AS i)
    );
END
$$;

COMMENT ON FUNCTION pganon.reasoning_query(regclass, text[], text, text) IS
    'the statement that gives codes of the values of every individual in every class';
