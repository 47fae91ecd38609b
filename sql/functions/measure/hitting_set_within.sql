-- At most `b` elements that hit every set of a family: their numbers from 1, as `chosen`; NULL if
-- there are none. `work` is the number of nodes that may be looked at, afterwards what is left of
-- it; NULL if that was not enough to tell.
--
-- `holders` has a bit string per element, with a bit per set that has the element; `missed` are the
-- sets to be hit. So a set costs a bit and not a row, however many there are. Two bounds end most
-- branches: the b most frequent elements must be in as many sets as there are; and weights of the
-- sets, 1 / (frequency of their most frequent element), add up to no more than the size of any
-- hitting set, since those of the sets with an element add up to at most 1.
CREATE FUNCTION pganon.hitting_set_within(
    holders varbit[], missed varbit, b integer, IN OUT work bigint, OUT chosen integer[]
)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sets constant bigint := bit_count(missed);
    elements integer[];
    degrees bigint[];
    weight float8 := 0;
    most bigint;
    rest varbit := missed;
    first integer;
BEGIN
    IF holders IS NULL OR missed IS NULL OR b IS NULL OR work IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'a search for a hitting set needs all its arguments';
    END IF;
    work := work - 1;
    IF sets = 0 THEN
        chosen := '{}';
        RETURN;
    ELSIF work < 0 THEN
        work := NULL;
        RETURN;
    ELSIF b <= 0 THEN
        RETURN;
    END IF;
    SELECT array_agg(d.e ORDER BY d.n DESC, d.e), array_agg(d.n ORDER BY d.n DESC, d.e)
    INTO elements, degrees
    FROM (
        SELECT h.e::integer AS e, bit_count(h.x & missed) AS n
        FROM unnest(holders) WITH ORDINALITY AS h(x, e)
    ) AS d
    WHERE d.n > 0;
    SELECT sum(d.n) INTO most FROM unnest(degrees[:b]) AS d(n);
    IF coalesce(most, 0) < sets THEN
        RETURN;
    ELSIF b = 1 THEN
        chosen := elements[:1];
        RETURN;
    END IF;
    FOR i IN 1 .. cardinality(elements) LOOP
        weight := weight + bit_count(holders[elements[i]] & rest) / degrees[i]::float8;
        rest := rest & ~ holders[elements[i]];
        EXIT WHEN bit_count(rest) = 0;
    END LOOP;
    -- The slack keeps rounding on the safe side. What is left has no element that may be taken.
    IF bit_count(rest) > 0 OR ceil(weight - 1e-6) > b THEN
        RETURN;
    END IF;
    first := position(B'1' IN missed) - 1;
    FOR i IN 1 .. cardinality(elements) LOOP
        CONTINUE WHEN get_bit(holders[elements[i]], first) = 0;
        SELECT w.work, w.chosen INTO work, chosen
        FROM pganon.hitting_set_within(
            holders, missed & ~ holders[elements[i]], b - 1, work) AS w;
        IF chosen IS NOT NULL THEN
            chosen := elements[i] || chosen;
            RETURN;
        ELSIF work IS NULL THEN
            RETURN;
        END IF;
        -- No hitting set so small has this element: what is left to try is without it.
        holders[elements[i]] := missed & ~ missed;
    END LOOP;
END;
$$;

COMMENT ON FUNCTION pganon.hitting_set_within(varbit[], varbit, integer, bigint) IS
    'at most so many elements that hit every set of a family, if there are';
