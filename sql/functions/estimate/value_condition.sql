-- A condition of pganon.estimate as an expression over a value of this type. Constants are quoted, and
-- operators are looked up in pg_catalog alone.
--
-- A class that shows a label has values below it. With `p_label` the expression is NULL where the label
-- leaves open whether they match: a comparison with the label itself is known, others are not.
CREATE FUNCTION pganon.value_condition(
    p_value text, p_type text, p_condition jsonb, p_label boolean DEFAULT false
) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    item record;
    operands text[];
    constants text;
    inner_text text;
    found text[] := '{}';
    written text;
BEGIN
    FOR item IN SELECT e.key, e.value FROM jsonb_each(p_condition) AS e ORDER BY e.key LOOP
        IF item.key = 'null' AND jsonb_typeof(item.value) = 'boolean' THEN
            written := p_value || CASE WHEN item.value::boolean THEN ' IS NULL' ELSE ' IS NOT NULL' END;
        ELSIF item.key = 'not' AND jsonb_typeof(item.value) = 'object' AND item.value <> '{}' THEN
            inner_text := pganon.value_condition(p_value, p_type, item.value, p_label);
            written := 'NOT ' || inner_text;
        ELSIF item.key IN ('null', 'not') THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA118',
                MESSAGE = format('"%s" takes %s', item.key,
                    CASE item.key WHEN 'null' THEN 'true or false' ELSE 'an object of operators' END);
        ELSE
            operands := pganon.operands(item.key, item.value);
            IF p_label AND item.key NOT IN ('eq', 'ne', 'in') THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'PA118',
                    MESSAGE = format('labels of a hierarchy cannot be compared by "%s"', item.key),
                    HINT = 'eq, ne, in, null and not are estimated';
            END IF;
            SELECT string_agg(format('CAST(%L AS %s)', o.text, p_type), ', ' ORDER BY o.place) INTO constants
            FROM unnest(operands) WITH ORDINALITY AS o(text, place);
            written := CASE item.key
                WHEN 'between' THEN format(
                    '%1$s >= CAST(%2$L AS %4$s) AND %1$s <= CAST(%3$L AS %4$s)',
                    p_value, operands[1], operands[2], p_type)
                WHEN 'in' THEN format('%s IN (%s)', p_value, constants)
                WHEN 'like' THEN format('%s LIKE %L', p_value, operands[1])
                ELSE format('%s %s %s', p_value, CASE item.key
                    WHEN 'eq' THEN '=' WHEN 'ne' THEN CASE WHEN p_label THEN '=' ELSE '<>' END
                    WHEN 'lt' THEN '<' WHEN 'le' THEN '<=' WHEN 'gt' THEN '>' ELSE '>=' END, constants)
                END;
            IF p_label THEN
                written := format(
                    'CASE WHEN %s THEN %s END', written, CASE item.key WHEN 'ne' THEN 'false' ELSE 'true' END);
            END IF;
        END IF;
        found := found || ('(' || written || ')');
    END LOOP;
    RETURN '(' || array_to_string(found, ' AND ') || ')';
END
$$;

COMMENT ON FUNCTION pganon.value_condition(text, text, jsonb, boolean) IS
    'a condition of pganon.estimate as an expression over a value';
