-- Expected 1 / F of a class of which the sample has `records`, F being its people in the population:
-- the individual risk of Franconi and Polettini (2004). F - records is negative binomial with
-- parameters `records` and `p`, the share of the class that is sampled.
-- For few records by a recursion over them, whose factor p / (1 - p) is at most 1 there; else by a
-- series of positive terms, so that nothing cancels. At most 51 steps.
CREATE FUNCTION pganon.individual_risk(records bigint, p double precision)
    RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    q constant double precision := 1 - p;
    term double precision := 1;
    total double precision := 1;
BEGIN
    IF records < 1 OR NOT (p > 0 AND p <= 1) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'an individual risk needs records, and a share of them',
            HINT = 'give at least 1 record, and p above 0 and at most 1';
    END IF;
    IF p <= 0.5 AND records < 20 THEN
        total := -p / q * ln(p);
        FOR j IN 1 .. records - 1 LOOP
            total := p / q * (1.0::double precision / j - total);
        END LOOP;
        RETURN total;
    END IF;
    FOR i IN 1 .. 1000 LOOP
        term := term * q * i / (records + i);
        EXIT WHEN term < 1e-17 * total;
        total := total + term;
    END LOOP;
    RETURN p / records * total;
END
$$;

COMMENT ON FUNCTION pganon.individual_risk(bigint, double precision) IS
    'expected 1 / people of a class in the population, of which a share p is in the sample';
