-- Every measure of a relation in one pass over it, each of the worst class. `required` maps names
-- of measures to parameters: what violates them is counted. With `individual` measures of persons
-- with several records come in. `l` is that of recursive (c, l)-diversity. With `others_as_qi`
-- each sensitive column is measured with the other sensitive ones as quasi-identifiers.
CREATE FUNCTION pganon.assess(
    rel regclass, qi text[], sensitive text[] DEFAULT '{}', individual text DEFAULT NULL,
    required jsonb DEFAULT '{}', l integer DEFAULT 2, others_as_qi boolean DEFAULT false
)
    RETURNS TABLE (
        measure text, column_name text, value numeric, required_value numeric, holds boolean,
        violating_classes bigint, violating_records bigint, violating_individuals bigint
    )
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted text[] := '{k_anonymity}';
    eir constant text := 'eir_l_diversity';
    asked numeric;
    one text;
BEGIN
    IF others_as_qi AND cardinality(sensitive) > 1 THEN
        FOREACH one IN ARRAY sensitive LOOP
            RETURN QUERY EXECUTE 'SELECT * FROM pganon.assess($1, $2, $3, $4, $5, $6)'
            USING rel, qi || array_remove(sensitive, one), ARRAY[one], individual, required, l;
        END LOOP;
        RETURN;
    END IF;
    IF cardinality(sensitive) > 0 THEN
        wanted := wanted || '{distinct_l_diversity, entropy_l_diversity, recursive_cl_diversity,
            frequency_l_diversity, alpha, t_closeness, t_closeness_ordered, beta_likeness, beta_likeness_enhanced,
            delta_disclosure}'::text[];
    END IF;
    IF individual IS NOT NULL THEN
        wanted := wanted || '{ir_k_anonymity, ir_alpha}'::text[];
        IF cardinality(sensitive) > 0 THEN
            wanted := wanted || '{ir_beta, eir_beta}'::text[];
        END IF;
    END IF;
    IF individual IS NOT NULL AND cardinality(sensitive) > 0
        AND jsonb_typeof(required -> eir) = 'number'
    THEN
        asked := required ->> eir;
        required := required - eir;
    END IF;
    RETURN QUERY EXECUTE pganon.measure_query(
        rel, qi, coalesce(sensitive, '{}'), individual, wanted, coalesce(required, '{}'), l
    );
    IF individual IS NOT NULL THEN
        -- Where the search is stopped a class counts as one that shares a value.
        FOREACH one IN ARRAY coalesce(sensitive, '{}') LOOP
            RETURN QUERY
            SELECT eir, one, min(s.size)::numeric, asked, bool_and(s.size >= asked),
                CASE WHEN asked IS NOT NULL THEN count(*) FILTER (WHERE s.size < asked) END,
                CASE WHEN asked IS NOT NULL THEN
                    coalesce(sum(s.records) FILTER (WHERE s.size < asked), 0)::bigint END,
                CASE WHEN asked IS NOT NULL THEN
                    coalesce(sum(s.individuals) FILTER (WHERE s.size < asked), 0)::bigint END
            FROM pganon.reasoning_sizes(
                rel, qi, one, individual, CASE WHEN asked IS NOT NULL THEN
                    greatest(ceil(least(asked, 1000)), 1)::integer END, 1) AS s;
        END LOOP;
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.assess(regclass, text[], text[], text, jsonb, integer, boolean) IS
    'every privacy measure of a relation in one pass, and what violates the required parameters';
