-- The rows of a relation as texts, columns in their order: what a hierarchy that is a table says.
CREATE FUNCTION pganon.label_rows(rel regclass) RETURNS SETOF text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    texts text;
BEGIN
    SELECT string_agg(pganon.text_of(a.atttypid, format('t.%I', a.attname)), ', ' ORDER BY a.attnum)
    INTO texts
    FROM pg_attribute AS a
    WHERE a.attrelid = rel AND a.attnum > 0 AND NOT a.attisdropped;
    RETURN QUERY EXECUTE format('SELECT ARRAY[%s] FROM %s AS t', texts, rel);
END
$$;

COMMENT ON FUNCTION pganon.label_rows(regclass) IS 'the rows of a relation as arrays of texts';
