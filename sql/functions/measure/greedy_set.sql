-- A set of up to `largest` columns that separates at least the share `at_least` of all pairs of records,
-- found column by column: the next is the one with which most pairs differ; of equal ones the first by
-- name. No row where so many columns do not reach it. A part of the set may do, too.
CREATE FUNCTION pganon.greedy_set(
    rel regclass, candidates text[], at_least numeric, largest integer
)
    RETURNS TABLE (columns text[], distinction numeric, separation numeric)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    chosen integer[] := '{}';
    best record;
BEGIN
    FOR size IN 1 .. least(largest, cardinality(candidates)) LOOP
        SELECT f.* INTO best
        FROM pganon.set_figures(rel, candidates, ARRAY(
            SELECT (chosen || i)::text FROM generate_subscripts(candidates, 1) AS i
            WHERE i <> ALL (chosen)
        )) AS f
        ORDER BY f.separation DESC, candidates[f.numbers[size]] COLLATE "C" LIMIT 1;
        chosen := best.numbers;
        IF best.separation >= at_least THEN
            RETURN QUERY SELECT
                ARRAY(SELECT candidates[i] FROM unnest(chosen) WITH ORDINALITY AS u(i, o) ORDER BY o),
                best.distinction, best.separation;
            RETURN;
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.greedy_set(regclass, text[], numeric, integer) IS
    'columns that together tell most pairs of records apart, found one after the other';
