-- Minimal quasi-identifiers (Motwani and Xu 2007): sets of up to `largest` of the columns that separate
-- at least the share `at_least` of all pairs of records, and of which no part does. Of more than 4,096
-- sets not all are tried: there is one, found column by column, which need not be minimal.
CREATE FUNCTION pganon.quasi_identifiers(
    rel regclass, candidates text[], at_least numeric DEFAULT 0.99, largest integer DEFAULT 4
)
    RETURNS TABLE (columns text[], distinction numeric, separation numeric, minimal boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (at_least > 0 AND at_least <= 1) IS NOT TRUE THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'the separation must be above 0 and at most 1';
    END IF;
    IF pganon.number_of_sets(cardinality(candidates), largest) > 4096 THEN
        RETURN QUERY
        SELECT g.*, false FROM pganon.greedy_set(rel, candidates, at_least, largest) AS g;
        RETURN;
    END IF;
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT d.* FROM pganon.distinguishing(rel, candidates, largest) AS d
        WHERE d.separation >= at_least
    )
    SELECT f.*, true FROM found AS f
    WHERE NOT EXISTS (
        SELECT FROM found AS part
        WHERE part.columns <@ f.columns AND cardinality(part.columns) < cardinality(f.columns)
    )
    ORDER BY cardinality(f.columns), f.separation DESC, f.columns;
END
$$;

COMMENT ON FUNCTION pganon.quasi_identifiers(regclass, text[], numeric, integer) IS
    'minimal sets of columns that tell most pairs of records apart';
