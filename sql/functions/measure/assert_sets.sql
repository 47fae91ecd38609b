-- Refuses to search sets of up to `largest` columns where they are none, or more than 4,096: as many
-- as one query can group by.
CREATE FUNCTION pganon.assert_sets(columns integer, largest integer) RETURNS void
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
    IF number > 4096 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114',
            MESSAGE = format('up to %s of %s columns are %s sets', largest, columns, number),
            HINT = 'search at most 4096 sets: name fewer columns, or smaller sets';
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.assert_sets(integer, integer) IS
    'raises where sets of so many columns are too many to search';
