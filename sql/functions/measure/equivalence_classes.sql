-- Classes of equal quasi-identifiers with their number of records.
CREATE FUNCTION pganon.equivalence_classes(rel regclass, qi text[])
    RETURNS TABLE (class_values jsonb, size bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation constant text := pganon.measurable(rel, qi);
    keys text;
    named text;
BEGIN
    SELECT string_agg(format('%s AS q%s', (pganon.comparable(rel, q)).expression, i), ', '),
        string_agg(format('c.q%s AS %I', i, q), ', ')
    INTO keys, named
    FROM unnest(qi) WITH ORDINALITY AS u(q, i);
    RETURN QUERY EXECUTE format(
        'SELECT (SELECT to_jsonb(v.*) FROM (SELECT %s) AS v), c.n FROM ('
        'SELECT %s, count(*) AS n FROM %s AS t GROUP BY %s) AS c',
        named, keys, relation,
        (SELECT string_agg(i::text, ', ') FROM generate_subscripts(qi, 1) AS i)
    );
END
$$;

COMMENT ON FUNCTION pganon.equivalence_classes(regclass, text[]) IS
    'classes of equal quasi-identifiers with their number of records';
