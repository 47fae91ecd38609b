-- Refuse parameters of a request that its policy does not declare, or outside their bounds.
CREATE FUNCTION pganon.check_parameters(p_document json, p_parameters jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    declared jsonb := coalesce(p_document::jsonb #> '{requests,parameters}', '{}');
    given record;
    low jsonb;
    high jsonb;
    fits boolean;
BEGIN
    IF jsonb_typeof(p_parameters) <> 'object' OR octet_length(p_parameters::text) > 1024 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA402',
            MESSAGE = 'parameters are a JSON object of at most 1024 bytes',
            HINT = 'for example {"k": 20}';
    END IF;
    FOR given IN SELECT p.key, p.value FROM jsonb_each(p_parameters) AS p LOOP
        low := declared -> given.key -> 'min';
        high := declared -> given.key -> 'max';
        IF low IS NULL OR high IS NULL THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA402',
                MESSAGE = format('the policy declares no parameter "%s"', given.key),
                HINT = 'parameters of this release: ' || coalesce(
                    (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(declared) AS k), 'none'
                );
        END IF;
        fits := CASE jsonb_typeof(given.value)
            WHEN jsonb_typeof(low) THEN CASE jsonb_typeof(low)
                WHEN 'number' THEN given.value BETWEEN low AND high
                WHEN 'string' THEN pganon.is_day(given.value #>> '{}')
                    AND given.value #>> '{}' COLLATE "C" BETWEEN low #>> '{}' AND high #>> '{}'
                END
            END;
        IF fits IS NOT TRUE THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA402',
                MESSAGE = format('the parameter "%s" must be from %s to %s', given.key, low, high),
                HINT = 'these are the bounds that the policy sets';
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.check_parameters(json, jsonb) IS
    'refuse parameters that a policy does not declare';
