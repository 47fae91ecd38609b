-- How many values of a column are there in several spellings, which pganon.looks sees as one.
-- Measures of diversity count every spelling.
CREATE FUNCTION pganon.lookalikes(rel regclass, column_name text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format(
        'SELECT count(*) FROM (SELECT FROM (SELECT %s AS value FROM %s AS t GROUP BY 1) AS v'
        ' GROUP BY pganon.looks(v.value::text) HAVING count(*) > 1) AS g',
        (pganon.comparable(rel, column_name)).expression, rel
    ) INTO result;
    RETURN result;
END
$$;

COMMENT ON FUNCTION pganon.lookalikes(regclass, text) IS
    'values of a column that are there in several spellings';
