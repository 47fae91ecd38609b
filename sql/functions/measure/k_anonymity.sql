-- Records of the smallest class of equal quasi-identifiers, NULL being one value.
CREATE FUNCTION pganon.k_anonymity(rel regclass, qi text[])
    RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    measured record;
BEGIN
    EXECUTE pganon.measure_query(rel, qi, '{}', NULL, '{k_anonymity}', '{}', 2) INTO measured;
    RETURN measured.value;
END
$$;

COMMENT ON FUNCTION pganon.k_anonymity(regclass, text[]) IS
    'records of the smallest class of equal quasi-identifiers';
