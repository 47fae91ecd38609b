-- Size of a minimum hitting set of a family of sets, at most `most`: which values one per individual
-- can be reduced to. A set is a bit per element; all have the same length, and none is empty.
--
-- Exact, by deepening: a hitting set of size b must have an element of the smallest set that is not
-- hit. It is looked for among some of the sets, first the smallest ones: what they need, all need.
-- If it hits the others, too, that is the answer; else as many of those that it misses join them.
-- The problem is NP-complete: past a bound on work the answer is `undecided`, or an error where
-- that is NULL.
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
    part varbit[] := sets[:smallest];
    missed varbit[];
    holders varbit[];
    chosen integer[];
    taken varbit;
    size integer := 0;
    -- Nodes; two hundred bits of `holders` count as one. Some twenty seconds at most.
    work bigint := 30000;
BEGIN
    IF most IS NULL OR most < 0 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'most must be a whole number, at least 0';
    END IF;
    IF cardinality(sets) = 0 THEN
        RETURN 0;
    END IF;
    IF array_position(sets, NULL) IS NOT NULL OR EXISTS (
        SELECT FROM unnest(sets) AS u(x) WHERE length(u.x) <> length(sets[1]) OR bit_count(u.x) = 0
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'sets of a family are not empty and of one length';
    END IF;
    LOOP
        work := work - cardinality(part)::bigint * length(sets[1]) / 200;
        EXIT WHEN work < 0;
        SELECT array_agg(h.x ORDER BY h.e) INTO holders FROM (
            SELECT e, string_agg(get_bit(u.x, e)::text, '' ORDER BY u.place)::varbit AS x
            FROM unnest(part) WITH ORDINALITY AS u(x, place)
            CROSS JOIN generate_series(0, length(sets[1]) - 1) AS e
            GROUP BY e
        ) AS h;
        LOOP
            IF size >= most THEN
                RETURN most;
            END IF;
            SELECT w.work, w.chosen INTO work, chosen FROM pganon.hitting_set_within(
                holders, ~ (holders[1] & ~ holders[1]), size, work) AS w;
            EXIT WHEN work IS NULL OR chosen IS NOT NULL;
            size := size + 1;
        END LOOP;
        EXIT WHEN work IS NULL;
        SELECT bit_or(set_bit(sets[1] & ~ sets[1], u.e - 1, 1)) INTO taken FROM unnest(chosen) AS u(e);
        missed := ARRAY(
            SELECT u.x FROM unnest(sets) WITH ORDINALITY AS u(x, place)
            WHERE bit_count(u.x & taken) = 0 ORDER BY u.place LIMIT cardinality(part));
        IF cardinality(missed) = 0 THEN
            RETURN size;
        END IF;
        part := part || missed;
    END LOOP;
    IF undecided IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA201',
            MESSAGE = 'the exact search for a minimum hitting set was stopped: whether'
                ' EIR l-diversity holds is not known',
            HINT = 'ask for a smaller l, or use a model without EIR l-diversity';
    END IF;
    RETURN undecided;
END;
$$;

COMMENT ON FUNCTION pganon.hitting_set_size(varbit[], integer, integer) IS
    'size of a minimum hitting set, at most a limit';
