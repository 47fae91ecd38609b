-- Diversity of the worst class. distinct: number of values; entropy: exp of the entropy;
-- recursive: the ratio r1 / (r_l + ... + r_m), so (c, l)-diversity holds for every c above it
-- and for none where it is infinite; frequency: records per record of the most frequent value.
CREATE FUNCTION pganon.l_diversity(
    rel regclass, qi text[], sensitive text, kind text DEFAULT 'distinct', l integer DEFAULT 2
)
    RETURNS numeric
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted constant text := CASE kind
        WHEN 'distinct' THEN 'distinct_l_diversity'
        WHEN 'entropy' THEN 'entropy_l_diversity'
        WHEN 'recursive' THEN 'recursive_cl_diversity'
        WHEN 'frequency' THEN 'frequency_l_diversity' END;
    measured record;
BEGIN
    IF wanted IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = format('l-diversity has no kind "%s"', kind),
            HINT = 'kinds are distinct, entropy, recursive and frequency';
    END IF;
    EXECUTE pganon.measure_query(rel, qi, ARRAY[sensitive], NULL, ARRAY[wanted], '{}', l)
    INTO measured;
    RETURN measured.value;
END
$$;

COMMENT ON FUNCTION pganon.l_diversity(regclass, text[], text, text, integer) IS
    'diversity of a sensitive column in the worst class: distinct, entropy, recursive or frequency';
