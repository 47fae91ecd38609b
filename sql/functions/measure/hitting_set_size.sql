-- Size of a minimum hitting set of a family of sets, at most `most`: which values one per individual
-- can be reduced to. A set is a bit per element; all have the same length, and none is empty.
--
-- Exact, by deepening: a hitting set of size b must have an element of the smallest set that is not
-- hit. Disjoint sets need an element each, which ends most branches at once. The problem is
-- NP-complete: past a bound on work there is an error, never a wrong answer.
CREATE FUNCTION pganon.hitting_set_size(family varbit[], most integer) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sets varbit[];
    work bigint;
BEGIN
    SELECT array_agg(s.x ORDER BY bit_count(s.x), s.x) INTO sets
    FROM (SELECT DISTINCT u.x FROM unnest(family) AS u(x)) AS s;
    -- Some ten seconds.
    work := 5000000 + 10 * cardinality(sets);
    FOR b IN 0 .. most - 1 LOOP
        work := pganon.hitting_set_within(sets, b, work);
        IF work < 0 THEN
            RETURN b;
        END IF;
    END LOOP;
    RETURN most;
END;
$$;

COMMENT ON FUNCTION pganon.hitting_set_size(varbit[], integer) IS
    'Size of a minimum hitting set, at most a limit.';
