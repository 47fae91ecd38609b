-- How many sets of 1 to `largest` columns there are.
CREATE FUNCTION pganon.number_of_sets(columns integer, largest integer) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ways numeric := 1;
    number numeric := 0;
BEGIN
    IF largest IS NULL OR largest < 1 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'sets of columns need at least one column';
    END IF;
    FOR size IN 1 .. least(largest, columns) LOOP
        ways := ways * (columns - size + 1) / size;
        number := number + round(ways);
    END LOOP;
    RETURN number;
END
$$;

COMMENT ON FUNCTION pganon.number_of_sets(integer, integer) IS
    'number of sets of so many columns up to a size';
