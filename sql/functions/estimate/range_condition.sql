-- The numbers that fulfil a condition of pganon.estimate, as an expression of type nummultirange.
-- `p_number` is the number of a constant, which stands as %L in it. If `p_whole`, only whole numbers
-- are values, and every range is written from its first one to the one after its last.
CREATE FUNCTION pganon.range_condition(p_number text, p_whole boolean, p_condition jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    everything constant text := 'nummultirange(numrange(NULL, NULL))';
    item record;
    operands text[];
    numbers text[];
    inner_text text;
    found text[] := '{}';
    from_number constant text := CASE WHEN p_whole THEN 'numrange(ceil(%s), NULL)' ELSE 'numrange(%s, NULL)' END;
    above constant text := CASE
        WHEN p_whole THEN 'numrange(floor(%s) + 1, NULL)' ELSE 'numrange(%s, NULL, ''()'')' END;
    written text;
BEGIN
    FOR item IN SELECT e.key, e.value FROM jsonb_each(p_condition) AS e ORDER BY e.key LOOP
        IF item.key = 'null' THEN
            written := CASE WHEN item.value::boolean THEN 'nummultirange()' ELSE everything END;
        ELSIF item.key = 'not' THEN
            inner_text := pganon.range_condition(p_number, p_whole, item.value);
            written := everything || ' - ' || inner_text;
        ELSIF item.key = 'like' THEN
            RAISE EXCEPTION USING ERRCODE = 'PA118', MESSAGE = '"like" takes a column of texts';
        ELSE
            operands := pganon.operands(item.key, item.value);
            numbers := ARRAY(
                SELECT format(p_number, o.text) FROM unnest(operands) WITH ORDINALITY AS o(text, place)
                ORDER BY o.place
            );
            written := CASE item.key
                WHEN 'lt' THEN format('%s - nummultirange(' || from_number || ')', everything, numbers[1])
                WHEN 'le' THEN format('%s - nummultirange(' || above || ')', everything, numbers[1])
                WHEN 'gt' THEN format('nummultirange(' || above || ')', numbers[1])
                WHEN 'ge' THEN format('nummultirange(' || from_number || ')', numbers[1])
                WHEN 'between' THEN format(
                    'nummultirange(' || from_number || ') - nummultirange(' || above || ')',
                    numbers[1], numbers[2])
                ELSE CASE item.key WHEN 'ne' THEN everything || ' - ' ELSE '' END || (
                    SELECT format('nummultirange(VARIADIC ARRAY[%s])', string_agg(format(
                        CASE WHEN p_whole THEN 'numrange(ceil(%1$s), floor(%1$s) + 1)'
                            ELSE 'numrange(%1$s, %1$s, ''[]'')' END, n.number), ', '))
                    FROM unnest(numbers) AS n(number)
                ) END;
        END IF;
        found := found || ('(' || written || ')');
    END LOOP;
    RETURN '(' || array_to_string(found, ' * ') || ')';
END
$$;

COMMENT ON FUNCTION pganon.range_condition(text, boolean, jsonb) IS
    'a condition of pganon.estimate as an expression of the numbers that fulfil it';
