-- EIR l-diversity of the worst class: the fewest different values that one record of each of its
-- individuals can have, counted up to `most`.
CREATE FUNCTION pganon.eir_l_diversity(
    rel regclass, qi text[], sensitive text, individual text, most integer DEFAULT 10
)
    RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF most IS NULL OR most < 1 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'most must be a whole number, at least 1';
    END IF;
    RETURN (
        SELECT min(s.size) FROM pganon.reasoning_sizes(rel, qi, sensitive, individual, most) AS s
    );
END
$$;

COMMENT ON FUNCTION pganon.eir_l_diversity(regclass, text[], text, text, integer) IS
    'fewest values in a reasoning set of the worst class';
