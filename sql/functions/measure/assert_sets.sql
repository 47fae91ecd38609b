-- Refuses to search sets of up to `largest` columns where they are none, or more than 4,096: as many
-- as one query can group by.
CREATE FUNCTION pganon.assert_sets(columns integer, largest integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    number numeric;
BEGIN
    number := pganon.number_of_sets(columns, largest);
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
