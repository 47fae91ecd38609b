-- Combinations of a block as qs_clusters looks them up: by value, and of none per set.
--
-- bits[v], places[v]  the combinations that have value v: as bits if they are many, else as places
--                     (see qs_universe), as text, since an array of arrays would need them of
--                     equal length
-- nothing[s]          no combination of set s
--
-- `size` is the largest number of a value. All are NULL where products alone count.
CREATE FUNCTION pganon.qs_known(
    cells regclass, block integer, sets integer[], supports regclass[], size integer,
    OUT bits bit varying[], OUT places text[], OUT nothing bit varying[]
) LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known record;
BEGIN
    IF supports IS NULL THEN
        RETURN;
    END IF;
    bits := array_fill(NULL::bit varying, ARRAY[size]);
    places := array_fill(NULL::text, ARRAY[size]);
    FOR known IN SELECT * FROM pganon.qs_universe(cells, block, sets, supports) LOOP
        IF known.value = 0 THEN
            nothing[known.attribute_set] := known.bits;
        ELSE
            bits[known.value] := known.bits;
            places[known.value] := known.places;
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.qs_known(regclass, integer, integer[], regclass[], integer) IS
    'combinations of a block by value, as qs_clusters looks them up';
