-- Smallest beta that every class satisfies; infinite where the limit -ln p of the enhanced
-- variant is broken, which no beta repairs.
CREATE FUNCTION pganon.beta_likeness(
    rel regclass, qi text[], sensitive text, variant text DEFAULT 'enhanced'
)
    RETURNS numeric
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted constant text := CASE variant
        WHEN 'basic' THEN 'beta_likeness' WHEN 'enhanced' THEN 'beta_likeness_enhanced' END;
    measured record;
BEGIN
    IF wanted IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = format('beta-likeness has no variant "%s"', variant),
            HINT = 'variants are basic and enhanced';
    END IF;
    EXECUTE pganon.measure_query(rel, qi, ARRAY[sensitive], NULL, ARRAY[wanted], '{}', 2)
    INTO measured;
    RETURN measured.value;
END
$$;

COMMENT ON FUNCTION pganon.beta_likeness(regclass, text[], text, text) IS
    'largest relative gain of a sensitive value''s share in a class over the whole relation';
