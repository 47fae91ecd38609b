-- The constants of a condition as texts: one, the two of `between`, or those of `in`.
CREATE FUNCTION pganon.operands(p_operator text, p_given jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 10000;
    listed jsonb := CASE WHEN p_operator IN ('between', 'in') THEN p_given ELSE jsonb_build_array(p_given) END;
BEGIN
    IF p_operator NOT IN ('eq', 'ne', 'lt', 'le', 'gt', 'ge', 'like', 'between', 'in') THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA118', MESSAGE = format('%L is not an operator', left(p_operator, 40)),
            HINT = 'operators: eq ne lt le gt ge between in like null not';
    END IF;
    IF jsonb_typeof(listed) <> 'array'
        OR (CASE WHEN p_operator = 'between' THEN jsonb_array_length(listed) <> 2
            ELSE jsonb_array_length(listed) NOT BETWEEN 1 AND most END)
        OR EXISTS (
            SELECT FROM jsonb_array_elements(listed) AS e(item)
            WHERE jsonb_typeof(e.item) NOT IN ('string', 'number', 'boolean')
        )
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA118',
            MESSAGE = format('"%s" takes %s', p_operator, CASE p_operator
                WHEN 'between' THEN 'an array of two constants'
                WHEN 'in' THEN format('an array of 1 to %s constants', most)
                ELSE 'one constant' END),
            HINT = 'a constant is a text, a number, true or false; missing values are {"null": true}';
    END IF;
    RETURN ARRAY(SELECT e.item #>> '{}' FROM jsonb_array_elements(listed) AS e(item));
END
$$;

COMMENT ON FUNCTION pganon.operands(text, jsonb) IS 'the constants of a condition of pganon.estimate, checked';
