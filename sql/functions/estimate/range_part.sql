-- What a class that shows a range has of a condition, as a sub-select of the statement of
-- pganon.estimate over columns `v<number>` and `z<number>` (whether records may lack the value) of a
-- bucket b. Values are numbered, so that every range has a first number and one after its last; those
-- of numbers without a next one are the numbers themselves. Columns as of pganon.box_part.
CREATE FUNCTION pganon.range_part(
    p_number integer, p_column jsonb, p_type text, p_conditions jsonb[], p_measured boolean
) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    digits text[] := regexp_match(p_column ->> 'kind', '^numeric\((\d+)(?:,(-?\d+))?\)$');
    whole constant boolean := p_type IN ('smallint', 'integer', 'bigint') OR digits IS NOT NULL;
    compared constant text := CASE WHEN whole THEN 'numeric' ELSE p_type END;
    unit text := '1';
    constant_number text := 'CAST(%L AS numeric)';
    low text;
    beyond text;
    least_number numeric;
    most_number numeric;
    discrete boolean := true;
    item jsonb;
    inner_text text;
    fulfilled text := 'nummultirange(numrange(NULL, NULL))';
    lacking text := '';
    v constant text := 'b.v' || p_number;
BEGIN
    IF whole THEN
        unit := '1e' || coalesce(digits[2], '0') || '::numeric';
        constant_number := format('CAST(%%L AS numeric) * %s', unit);
        low := format('CASE WHEN lower_inc(:v) THEN ceil(lower(:v) * %1$s) ELSE floor(lower(:v) * %1$s) + 1 END', unit);
        beyond := format('CASE WHEN upper_inc(:v) THEN floor(upper(:v) * %1$s) + 1 ELSE ceil(upper(:v) * %1$s) END', unit);
        most_number := CASE p_type
            WHEN 'smallint' THEN 32767 WHEN 'integer' THEN 2147483647 WHEN 'bigint' THEN 9223372036854775807
            ELSE 10 ^ digits[1]::numeric - 1 END;
        least_number := CASE WHEN digits IS NULL THEN - most_number - 1 ELSE - most_number END;
    ELSIF p_type = 'date' THEN
        constant_number := '(CAST(%L AS date) - date ''1970-01-01'')::numeric';
        low := '(lower(:v) - date ''1970-01-01'')::numeric';
        beyond := '(upper(:v) - date ''1970-01-01'')::numeric';
        least_number := -2440588;
        most_number := 2145042905;
    ELSIF p_type LIKE 'timestamp%' THEN
        constant_number := format('extract(epoch FROM CAST(%%L AS %s)) * 1000000', p_type);
        low := 'extract(epoch FROM lower(:v)) * 1000000 + (NOT lower_inc(:v))::integer';
        beyond := 'extract(epoch FROM upper(:v)) * 1000000 + upper_inc(:v)::integer';
    ELSIF p_type = 'numeric' THEN
        discrete := false;
    ELSE
        RAISE EXCEPTION USING
            ERRCODE = 'PA118',
            MESSAGE = format('ranges of %s are not estimated in SQL', p_type), HINT = 'use `pganon estimate`';
    END IF;
    low := replace(low, ':v', v);
    beyond := replace(beyond, ':v', v);
    FOREACH item IN ARRAY p_conditions LOOP
        inner_text := pganon.value_condition(
            format('CAST(NULL AS %s)', compared), compared, item);
        lacking := lacking || ' AND ' || inner_text;
        inner_text := pganon.range_condition(constant_number, discrete, item);
        fulfilled := fulfilled || ' * ' || inner_text;
    END LOOP;
    RETURN format(
        'SELECT x.held, %1$s AS surely, x.z, (x.z AND (true%2$s) IS TRUE)::integer AS nm, x.q AS q, x.q AS ql, x.q AS qh,'
        ' %3$s AS e, x.known, x.kq, x.kz, x.endless%4$s'
        ' FROM (SELECT o.*, %5$s AS held, %6$s AS q, %7$s AS known, %8$s AS kq, %9$s AS kz, %10$s AS endless'
        ' FROM (SELECT g.*, f.len%11$s, %12$s AS alone'
        ' FROM (SELECT i.r, i.z, nummultirange(i.r) * (%13$s) AS m FROM (SELECT %14$s AS r, b.z%16$s AS z) AS i) AS g'
        ' CROSS JOIN LATERAL (SELECT coalesce(sum(upper(p) - lower(p)), 0) AS len%15$s FROM unnest(g.m) AS p) AS f'
        ') AS o) AS x',
        CASE WHEN p_column ->> 'attained' = 'true' THEN 'least(x.held, 2)' ELSE '0' END,
        lacking,
        CASE WHEN p_column ->> 'attained' = 'true' THEN format(
            '(coalesce(x.m @> lower(x.r), false)::integer + coalesce(x.held > 1 AND x.m @> %s, false)::integer)',
            CASE WHEN discrete THEN 'upper(x.r) - 1' ELSE 'upper(x.r)' END)
            ELSE '0' END,
        CASE WHEN p_measured THEN pganon.range_sums(unit, discrete, p_column ->> 'attained' = 'true') ELSE '' END,
        -- held, q
        CASE WHEN discrete THEN 'coalesce(upper(o.r) - lower(o.r), 0)'
            ELSE 'CASE WHEN o.r IS NULL THEN 0 WHEN o.alone THEN 1 ELSE 2 END' END,
        CASE WHEN discrete THEN 'o.len' ELSE 'CASE WHEN o.r IS NULL OR isempty(o.m) THEN 0'
            ' WHEN o.alone OR o.m <> nummultirange(o.r) THEN 1 ELSE 2 END' END,
        -- known, kq, kz
        CASE WHEN discrete THEN 'coalesce(upper(o.r) - lower(o.r), 0)'
            ELSE 'CASE WHEN o.alone THEN 1 ELSE coalesce(upper(o.r) - lower(o.r), 0) END' END,
        CASE WHEN discrete THEN 'o.len' ELSE 'CASE WHEN o.alone THEN (NOT isempty(o.m))::integer ELSE o.len END' END,
        CASE WHEN discrete THEN '1' ELSE '(o.r IS NULL OR o.alone)::integer' END,
        CASE WHEN discrete THEN 'false' ELSE 'o.r IS NOT NULL AND NOT o.alone' END,
        CASE WHEN p_measured THEN ', f.vx, f.vxx' ELSE '' END,
        CASE WHEN discrete THEN 'false' ELSE 'coalesce(lower(g.r) = upper(g.r), false)' END,
        fulfilled,
        CASE WHEN discrete THEN format(
            'CASE WHEN %s IS NOT NULL THEN numrange(coalesce(%s, %L), coalesce(%s, %L)) END',
            v, low, least_number, beyond, most_number + 1)
            ELSE v END,
        CASE WHEN NOT p_measured THEN ''
            WHEN discrete THEN ', sum((upper(p) - lower(p)) * (lower(p) + upper(p) - 1) / 2) AS vx,'
                ' sum((upper(p) - lower(p)) * (((lower(p) + upper(p) - 1) / 2) ^ 2 + ((upper(p) - lower(p)) ^ 2 - 1) / 12)) AS vxx'
            ELSE ', sum((upper(p) - lower(p)) * (lower(p) + upper(p)) / 2) AS vx,'
                ' sum((upper(p) - lower(p)) * (((lower(p) + upper(p)) / 2) ^ 2 + (upper(p) - lower(p)) ^ 2 / 12)) AS vxx'
            END,
        p_number
    );
END
$$;

COMMENT ON FUNCTION pganon.range_part(integer, jsonb, text, jsonb[], boolean) IS
    'a part of the statement of pganon.estimate: a column that shows ranges';
