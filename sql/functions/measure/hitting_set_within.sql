-- Whether some `b` elements hit every set of a family, which is sorted by size.
CREATE FUNCTION pganon.hitting_set_within(family varbit[], b integer) RETURNS boolean
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
        RETURN true;
    ELSIF b = 0 THEN
        RETURN false;
    END IF;
    width := length(family[1]);
    taken := repeat('0', width)::varbit;
    FOREACH x IN ARRAY family LOOP
        IF bit_count(x & taken) = 0 THEN
            taken := taken | x;
            disjoint := disjoint + 1;
            IF disjoint > b THEN
                RETURN false;
            END IF;
        END IF;
    END LOOP;
    FOR e IN 0 .. width - 1 LOOP
        IF get_bit(family[1], e) = 1 THEN
            rest := ARRAY(SELECT u.x FROM unnest(family) WITH ORDINALITY AS u(x, place)
                          WHERE get_bit(u.x, e) = 0 ORDER BY u.place);
            IF pganon.hitting_set_within(rest, b - 1) THEN
                RETURN true;
            END IF;
        END IF;
    END LOOP;
    RETURN false;
END;
$$;

COMMENT ON FUNCTION pganon.hitting_set_within(varbit[], integer) IS
    'Whether so many elements hit every set of a family.';
