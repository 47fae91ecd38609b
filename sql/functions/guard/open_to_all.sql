-- What everybody may do with the objects of schema pganon, each with the statement that grants it; nobody
-- but the owner may do anything else there. A function reads and changes what its caller may.
CREATE FUNCTION pganon.open_to_all()
    RETURNS TABLE (object text, privilege text, statement text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    views constant text[] := ARRAY[
        'releases', 'guarantees', 'release_columns', 'release_policies', 'requests',
        'held_releases', 'action'
    ];
    -- A row is what a role asks for, under its own name; nobody changes one.
    asked constant text[] := ARRAY[
        'actor', 'kind', 'release', 'parameters', 'not_before', 'request', 'reason'
    ];
    routines constant regprocedure[] := ARRAY[
        -- Measuring reads what the caller may read, and nothing else.
        'pganon.text_of(oid, text)',
        'pganon.comparable(regclass, text)',
        'pganon.looks(text)',
        'pganon.lookalikes(regclass, text)',
        'pganon.measurable(regclass, text[], text[], text)',
        'pganon.measures()',
        'pganon.class_query(text, integer, text, text[], jsonb, integer, boolean, boolean)',
        'pganon.measure_query(regclass, text[], text[], text, text[], jsonb, integer)',
        'pganon.equivalence_classes(regclass, text[])',
        'pganon.k_anonymity(regclass, text[])',
        'pganon.l_diversity(regclass, text[], text, text, integer)',
        'pganon.t_closeness(regclass, text[], text, text, regclass)',
        'pganon.hierarchical_distance(regclass, text[], text, regclass)',
        'pganon.beta_likeness(regclass, text[], text, text)',
        'pganon.delta_disclosure(regclass, text[], text)',
        'pganon.assess(regclass, text[], text[], text, jsonb, integer, boolean)',
        'pganon.individual_risk(bigint, double precision)',
        'pganon.weight_of(regclass, text)',
        'pganon.expected_risk(regclass, text[], regclass, text, numeric, text, text, numeric)',
        'pganon.risk(regclass, text[], regclass, text, numeric, text, text, numeric)',
        'pganon.distinguishing(regclass, text[], integer)',
        'pganon.set_figures(regclass, text[], text[])',
        'pganon.number_of_sets(integer, integer)',
        'pganon.assert_sets(integer, integer)',
        'pganon.greedy_set(regclass, text[], numeric, integer)',
        'pganon.quasi_identifiers(regclass, text[], numeric, integer)',
        'pganon.special_uniques(regclass, text[], integer)',
        'pganon.suda(regclass, text[], integer, numeric)',
        'pganon.reasoning_query(regclass, text[], text, text)',
        'pganon.reasoning_sizes(regclass, text[], text, text, integer, integer)',
        'pganon.eir_l_diversity(regclass, text[], text, text, integer)',
        'pganon.hitting_set_within(varbit[], varbit, integer, bigint)',
        'pganon.hitting_set_size(varbit[], integer, integer)',
        -- Estimates from what a release shows read nothing but their arguments.
        'pganon.first_whole(numrange)',
        'pganon.last_whole(numrange)',
        'pganon.share(numrange, numeric, numeric, boolean)',
        'pganon.share(daterange, date, date)',
        'pganon.share(tsrange, timestamp, timestamp)',
        'pganon.share(tstzrange, timestamptz, timestamptz)',
        'pganon.share(anycompatiblearray, anycompatible)',
        'pganon.overlaps(anycompatiblerange, anycompatible)',
        'pganon.overlaps(anycompatiblearray, anycompatible)',
        'pganon.overlaps(numeric, numeric)',
        'pganon.overlaps(date, date)',
        'pganon.overlaps(timestamp, timestamp)',
        'pganon.overlaps(timestamptz, timestamptz)',
        'pganon.box_lower(bigint, bigint, bigint, bigint)',
        'pganon.box_upper(bigint, bigint, bigint, bigint)',
        'pganon.box_share(bigint, bigint, bigint, float8)',
        'pganon.box_pair(bigint, bigint, bigint, float8, float8)',
        'pganon.exact_share(bigint, bigint)',
        'pganon.exact_pair(bigint, bigint)',
        'pganon.both_lower(bigint, bigint, bigint)',
        'pganon.neither_pair(float8, float8)',
        'pganon.count_variance(bigint, bigint, bigint, float8, float8)',
        'pganon.sum_variance(float8, float8, float8, float8, float8)',
        'pganon.ranked(bigint, bigint, bigint)',
        -- Asking a release reads the views that the caller may read.
        'pganon.operands(text, jsonb)',
        'pganon.value_condition(text, text, jsonb, boolean)',
        'pganon.range_condition(text, boolean, jsonb)',
        'pganon.plain_type(text)',
        'pganon.range_sums(text, boolean, boolean)',
        'pganon.range_part(integer, jsonb, text, jsonb[], boolean)',
        'pganon.set_part(integer, jsonb, text, jsonb[], boolean, boolean)',
        'pganon.box_part(text, boolean, boolean, boolean)',
        'pganon.asked(jsonb)',
        'pganon.asked_columns(text, text, jsonb, text[])',
        'pganon.both_texts(text[], text)',
        'pganon.figures_query(text, numeric, integer, text, boolean, text, text[], text[], text[])',
        'pganon.estimate_query(text, jsonb)',
        'pganon.estimate(text, jsonb)',
        -- Asking, deciding and looking up run with the rights of who calls.
        'pganon.has_role(oid, oid)',
        'pganon.is_steward(oid)',
        'pganon.act(text, text, jsonb, timestamptz, bigint, text)',
        'pganon.request_release(text, jsonb, timestamptz)',
        'pganon.cancel_request(bigint)',
        'pganon.is_atomic(text)',
        'pganon.request_progress(bigint, timestamptz, interval, text, timestamptz)',
        'pganon.may_wait(text, text, text, text)',
        'pganon.ask(text, text, jsonb, interval, text, text, text)',
        'pganon.release(text, jsonb, interval)',
        'pganon.approve_release(bigint, text, text)',
        'pganon.reject_release(bigint, text)',
        'pganon.request_evidence(bigint)',
        'pganon.assert_release(text, text, interval)'
    ];
BEGIN
    RETURN QUERY
    SELECT a.object, a.privilege, format(a.statement, a.object)
    FROM (
        SELECT 'schema pganon' AS object, 'USAGE' AS privilege, 'GRANT USAGE ON %s TO PUBLIC' AS statement
        UNION ALL
        SELECT 'pganon.' || v.name, 'SELECT', 'GRANT SELECT ON %s TO PUBLIC'
        FROM unnest(views) AS v(name)
        UNION ALL
        SELECT 'pganon.action', 'DELETE', 'GRANT DELETE ON %s TO PUBLIC'
        UNION ALL
        SELECT 'pganon.action.' || quote_ident(c.name), 'INSERT',
            format('GRANT INSERT (%s) ON pganon.action TO PUBLIC', c.name)
        FROM unnest(asked) AS c(name)
        UNION ALL
        SELECT r.signature::text, 'EXECUTE', 'GRANT EXECUTE ON ROUTINE %s TO PUBLIC'
        FROM unnest(routines) AS r(signature)
    ) AS a;
END
$$;

COMMENT ON FUNCTION pganon.open_to_all() IS 'what everybody may do with the objects of schema pganon';
