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
    x := family[1];
    FOR e IN 0 .. width - 1 LOOP
        IF get_bit(x, e) = 1 THEN
            -- Small sets first: they have few branches, and more of them are disjoint.
            rest := ARRAY(SELECT s.x FROM (SELECT DISTINCT u.x FROM unnest(family) AS u(x)
                                           WHERE get_bit(u.x, e) = 0) AS s
                          ORDER BY bit_count(s.x), s.x);
            IF pganon.hitting_set_within(rest, b - 1) THEN
                RETURN true;
            END IF;
            -- No hitting set so small has e: what is left to try is without it.
            family := ARRAY(SELECT set_bit(u.x, e, 0) FROM unnest(family) AS u(x));
            IF repeat('0', width)::varbit = ANY (family) THEN
                RETURN false;
            END IF;
        END IF;
    END LOOP;
    RETURN false;
END;
$$;

COMMENT ON FUNCTION pganon.hitting_set_within(varbit[], integer) IS
    'Whether so many elements hit every set of a family.';
