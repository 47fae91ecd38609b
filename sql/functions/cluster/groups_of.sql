-- Groups of at least g of ascending numbers whose sum of squared distances to the means of their
-- groups is least (Hansen and Mukherjee, 2003): for every number the place of the first of its group;
-- NULL of fewer than g. Groups are runs of the numbers, and none needs 2 g: it could be divided.
CREATE FUNCTION pganon.groups_of(numbers numeric[], g integer) RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    n constant integer := coalesce(cardinality(numbers), 0);
    sums numeric[] := '[0:0]={0}';
    squares numeric[] := '[0:0]={0}';
    -- Of the first numbers: the least that is lost, NULL where no groups are large enough, and the
    -- size of the last group then.
    lost numeric[] := '[0:0]={0}';
    last integer[] := '[0:0]={0}';
    tried numeric;
    found integer[];
    place integer := n;
BEGIN
    IF n < g THEN
        RETURN NULL;
    END IF;
    FOR i IN 1..n LOOP
        sums[i] := sums[i - 1] + numbers[i];
        squares[i] := squares[i - 1] + numbers[i] * numbers[i];
        lost[i] := NULL;
        last[i] := NULL;
        FOR size IN g..least(2 * g - 1, i) LOOP
            tried := lost[i - size] + squares[i] - squares[i - size]
                - (sums[i] - sums[i - size]) * (sums[i] - sums[i - size]) / size;
            IF tried < lost[i] OR lost[i] IS NULL AND tried IS NOT NULL THEN
                lost[i] := tried;
                last[i] := size;
            END IF;
        END LOOP;
    END LOOP;
    found := array_fill(0, ARRAY[n]);
    WHILE place > 0 LOOP
        FOR i IN place - last[place] + 1..place LOOP
            found[i] := place - last[place] + 1;
        END LOOP;
        place := place - last[place];
    END LOOP;
    RETURN found;
END
$$;

COMMENT ON FUNCTION pganon.groups_of(numeric[], integer) IS
    'groups of at least so many ascending numbers that lose least by their means';
