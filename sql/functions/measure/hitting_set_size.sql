-- Size of a minimum hitting set of a family of sets, at most `most`: which values one per individual
-- can be reduced to. A set is a bit per element; all have the same length, and none is empty.
--
-- Exact, by deepening: a hitting set of size b must have an element of the smallest set that is not
-- hit. The smallest sets come first, and by themselves: what they need, all need. The problem is
-- NP-complete: past a bound on work the answer is `undecided`, or an error where that is NULL.
CREATE FUNCTION pganon.hitting_set_size(
    family varbit[], most integer, undecided integer DEFAULT NULL
) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    smallest constant integer := 256;
    sets constant varbit[] := ARRAY(
        SELECT s.x FROM (SELECT DISTINCT u.x FROM unnest(family) AS u(x)) AS s
        ORDER BY bit_count(s.x), s.x);
    holders varbit[];
    size integer := 0;
    -- Nodes; some ten seconds.
    work bigint := 30000;
BEGIN
    IF cardinality(sets) = 0 THEN
        RETURN 0;
    END IF;
    IF array_position(sets, NULL) IS NOT NULL OR EXISTS (
        SELECT FROM unnest(sets) AS u(x) WHERE length(u.x) <> length(sets[1]) OR bit_count(u.x) = 0
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'sets of a family are not empty and of one length';
    END IF;
    FOR part IN 1 .. CASE WHEN cardinality(sets) > smallest THEN 2 ELSE 1 END LOOP
        SELECT array_agg(h.x ORDER BY h.e) INTO holders FROM (
            SELECT e, string_agg(get_bit(u.x, e)::text, '' ORDER BY u.place)::varbit AS x
            FROM unnest(CASE part WHEN 1 THEN sets[:smallest] ELSE sets END)
                WITH ORDINALITY AS u(x, place)
            CROSS JOIN generate_series(0, length(sets[1]) - 1) AS e
            GROUP BY e
        ) AS h;
        WHILE size < most LOOP
            work := pganon.hitting_set_within(
                holders, ~ (holders[1] & ~ holders[1]), size, work);
            IF work IS NULL THEN
                IF undecided IS NULL THEN
                    RAISE EXCEPTION USING
                        ERRCODE = 'PA201',
                        MESSAGE = 'the exact search for a minimum hitting set was stopped: whether'
                            ' EIR l-diversity holds is not known',
                        HINT = 'ask for a smaller l, or use a model without EIR l-diversity';
                END IF;
                RETURN undecided;
            END IF;
            EXIT WHEN work < 0;
            size := size + 1;
        END LOOP;
        work := 30000;
        EXIT WHEN size >= most;
    END LOOP;
    RETURN least(size, most);
END;
$$;

COMMENT ON FUNCTION pganon.hitting_set_size(varbit[], integer, integer) IS
    'size of a minimum hitting set, at most a limit';
