-- The answer of a release to an aggregate query on its source: an estimate, bounds that surely hold, a
-- likely range, the error of the model, and flags; a row for every group, which `key` has by the names
-- of `by`, as texts. Values of a generalized column are taken to be spread evenly.
--
-- It reads the views of the release with the rights of its caller. They are locked, so that columns and
-- rows are of one version, and belong to pganon's owner, as this function does.
CREATE FUNCTION pganon.estimate(release text, query jsonb)
    RETURNS TABLE (
        key jsonb, estimate float8, lower numeric, upper numeric, low float8, high float8, error float8,
        classes bigint, few boolean, maybe_empty boolean
    )
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    views text[];
    shown text;
    select_text text;
BEGIN
    views := ARRAY(SELECT DISTINCT c.view FROM pganon.release_columns AS c WHERE c.release = estimate.release ORDER BY 1);
    FOREACH shown IN ARRAY views LOOP
        EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', shown);
        IF NOT EXISTS (
            SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = 'pganon'::regnamespace
            WHERE c.oid = to_regclass(shown) AND c.relkind = 'v' AND c.relowner = n.nspowner
        ) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA118', MESSAGE = format('%s is not the view that was published', shown),
                HINT = 'the steward can publish the release again';
        END IF;
    END LOOP;
    IF views = '{}' OR views <> ARRAY(
        SELECT DISTINCT c.view FROM pganon.release_columns AS c WHERE c.release = estimate.release ORDER BY 1
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401', MESSAGE = format('there is no release %I that you may read', release),
            HINT = 'see pganon.releases';
    END IF;
    select_text := pganon.estimate_query(release, query);
    BEGIN
        RETURN QUERY EXECUTE select_text;
    EXCEPTION
    WHEN numeric_value_out_of_range THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA118', MESSAGE = CASE
                WHEN (pganon.asked(query)).measured IS NULL THEN 'a number of a condition is out of range'
                ELSE format('numbers of %I are too large or too small: their sums or squares are beyond double'
                    ' precision', (pganon.asked(query)).measured) END,
            HINT = 'ask for count(*), or about a release of a view that scales the column';
    WHEN data_exception OR undefined_function OR datatype_mismatch OR cannot_coerce THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA118', MESSAGE = format('a condition does not fit its column: %s', SQLERRM),
            HINT = 'constants are of the type of the source column';
    END;
END
$$;

COMMENT ON FUNCTION pganon.estimate(text, jsonb) IS
    'estimate and sure bounds of an aggregate query on the source, from the views of a release';
