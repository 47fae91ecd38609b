-- Whether some `b` elements hit every set of a family, which is sorted by size: -1 if they do, else
-- how much of `work`, the number of sets that may still be looked at, is left.
CREATE FUNCTION pganon.hitting_set_within(family varbit[], b integer, work bigint) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    taken varbit;
    disjoint integer := 0;
    x varbit;
    rest varbit[];
    width integer;
BEGIN
    IF family IS NULL OR cardinality(family) = 0 THEN
        RETURN -1;
    ELSIF b = 0 THEN
        RETURN work;
    END IF;
    width := length(family[1]);
    taken := repeat('0', width)::varbit;
    FOREACH x IN ARRAY family LOOP
        IF bit_count(x & taken) = 0 THEN
            taken := taken | x;
            disjoint := disjoint + 1;
            IF disjoint > b THEN
                RETURN work;
            END IF;
        END IF;
    END LOOP;
    x := family[1];
    FOR e IN 0 .. width - 1 LOOP
        IF get_bit(x, e) = 1 THEN
            work := work - cardinality(family);
            IF work < 0 THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'PA117',
                    MESSAGE = 'the exact search for a minimum hitting set was stopped',
                    HINT = 'ask for a smaller l, or use a model without EIR l-diversity';
            END IF;
            -- Small sets first: they have few branches, and more of them are disjoint.
            rest := ARRAY(SELECT s.x FROM (SELECT DISTINCT u.x FROM unnest(family) AS u(x)
                                           WHERE get_bit(u.x, e) = 0) AS s
                          ORDER BY bit_count(s.x), s.x);
            work := pganon.hitting_set_within(rest, b - 1, work);
            IF work < 0 THEN
                RETURN -1;
            END IF;
            -- No hitting set so small has e: what is left to try is without it.
            family := ARRAY(SELECT set_bit(u.x, e, 0) FROM unnest(family) AS u(x));
            IF repeat('0', width)::varbit = ANY (family) THEN
                RETURN work;
            END IF;
        END IF;
    END LOOP;
    RETURN work;
END;
$$;

COMMENT ON FUNCTION pganon.hitting_set_within(varbit[], integer, bigint) IS
    'Whether so many elements hit every set of a family.';
