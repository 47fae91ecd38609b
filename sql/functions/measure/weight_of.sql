-- A column of sample weights as a numeric expression over t: how many people a record stands for.
-- Refuses what is no number, and weights that are NULL, infinite or not above 0.
CREATE FUNCTION pganon.weight_of(rel regclass, column_name text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known constant record := pganon.comparable(rel, column_name);
    weight constant text := format('(%s)::numeric', known.expression);
    wrong bigint;
BEGIN
    IF NOT known.number THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA113', MESSAGE = format('the weights in column %I are no numbers', column_name),
            HINT = 'name the column that says how many people a record stands for';
    END IF;
    EXECUTE format(
        'SELECT count(*) FROM %s AS t WHERE (%s > 0 AND %s < ''Infinity'') IS NOT TRUE',
        rel, weight, weight
    ) INTO wrong;
    IF wrong > 0 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114',
            MESSAGE = format('column %I has no weight in %s records', column_name, wrong),
            HINT = 'a weight is a finite number above 0: how many people the record stands for';
    END IF;
    RETURN weight;
END
$$;

COMMENT ON FUNCTION pganon.weight_of(regclass, text) IS
    'sample weights as an expression over t; raises where one is missing or not above 0';
