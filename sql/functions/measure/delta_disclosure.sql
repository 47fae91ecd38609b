-- Largest |ln(q / p)| of a value's share in a class and in the whole relation; infinite where a
-- class lacks a value. delta-disclosure holds for every delta above it.
CREATE FUNCTION pganon.delta_disclosure(rel regclass, qi text[], sensitive text)
    RETURNS numeric
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    measured record;
BEGIN
    EXECUTE pganon.measure_query(
        rel, qi, ARRAY[sensitive], NULL, '{delta_disclosure}', '{}', 2
    ) INTO measured;
    RETURN measured.value;
END
$$;

COMMENT ON FUNCTION pganon.delta_disclosure(regclass, text[], text) IS
    'largest log ratio of a sensitive value''s share in a class to that in the whole relation';
