-- The same as pganon.range_part of a class that shows a set, or a label, which is a set of one. With
-- `p_grouped` there is a row for every value that matches, with its text as `key`.
CREATE FUNCTION pganon.set_part(
    p_number integer, p_column jsonb, p_type text, p_conditions jsonb[], p_measured boolean, p_grouped boolean
) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    form constant text := p_column ->> 'form';
    attained constant boolean := p_column ->> 'attained' = 'true';
    item jsonb;
    inner_text text;
    value text := format('CAST(a.el AS %s)', p_type);
    matching text := 'true';
    known text := 'true';
    ends text := CASE form WHEN 'ordinal' THEN '(a.place = 1 OR a.place = a.held)' ELSE 'true' END;
BEGIN
    IF p_column ->> 'collation' IS NOT NULL THEN
        value := format('(%s COLLATE %s)', value, to_regcollation(p_column ->> 'collation'));
    END IF;
    FOREACH item IN ARRAY p_conditions LOOP
        inner_text := pganon.value_condition(value, p_type, item);
        matching := matching || ' AND ' || inner_text;
        IF form = 'label' THEN
            inner_text := pganon.value_condition(value, p_type, item, true);
            known := known || ' AND ' || inner_text;
        END IF;
    END LOOP;
    RETURN format(
        'SELECT min(a.held) AS held, %1$s AS surely, bool_or(a.z) AS z, %2$s AS q,'
        ' (count(*) FILTER (WHERE a.nil AND a.m))::integer AS nm, %3$s AS ql, %4$s AS qh, %5$s AS e,'
        ' min(a.held) AS known, %2$s AS kq, 1 AS kz, false AS endless%6$s%7$s'
        ' FROM (SELECT a.*, b.z%12$s AS z, (%8$s) IS TRUE AS m, %9$s AS k'
        ' FROM (SELECT u.el, u.place, false AS nil, cardinality(%10$s) AS held'
        ' FROM unnest(%10$s) WITH ORDINALITY AS u(el, place)'
        ' UNION ALL SELECT NULL, NULL, true, coalesce(cardinality(%10$s), 0) WHERE b.z%12$s) AS a) AS a%11$s',
        CASE WHEN NOT attained THEN '0' WHEN form = 'ordinal' THEN 'least(min(a.held), 2)'
            WHEN form = 'set' THEN 'min(a.held)' ELSE '0' END,
        'count(*) FILTER (WHERE a.m AND NOT a.nil)',
        CASE WHEN form = 'label' THEN 'count(*) FILTER (WHERE coalesce(a.k, false) AND NOT a.nil)'
            ELSE 'count(*) FILTER (WHERE a.m AND NOT a.nil)' END,
        CASE WHEN form = 'label' THEN 'count(*) FILTER (WHERE coalesce(a.k, true) AND NOT a.nil)'
            ELSE 'count(*) FILTER (WHERE a.m AND NOT a.nil)' END,
        CASE WHEN attained AND form <> 'label' THEN format('count(*) FILTER (WHERE a.m AND NOT a.nil AND %s)', ends)
            ELSE '0' END,
        CASE WHEN p_measured THEN format(
            ', coalesce(sum(%1$s) FILTER (WHERE a.m AND NOT a.nil), 0)::float8 AS wx,'
            ' coalesce(sum(%1$s::float8 ^ 2) FILTER (WHERE a.m AND NOT a.nil), 0) AS wxx,'
            ' coalesce(sum(%1$s) FILTER (WHERE a.m AND NOT a.nil AND %2$s), 0) AS ex,'
            ' coalesce(sum(%1$s::float8 ^ 2) FILTER (WHERE a.m AND NOT a.nil AND %2$s), 0) AS exx,'
            ' min(%1$s) FILTER (WHERE a.m) AS xmin, max(%1$s) FILTER (WHERE a.m) AS xmax',
            'a.el::numeric', CASE WHEN attained THEN ends ELSE 'false' END) ELSE '' END,
        CASE WHEN p_grouped THEN ', ' || value || ' AS key' ELSE '' END,
        matching, known,
        CASE WHEN form = 'label' THEN format('CASE WHEN b.v%1$s IS NOT NULL THEN ARRAY[b.v%1$s] END', p_number)
            ELSE 'b.v' || p_number END,
        CASE WHEN p_grouped THEN ' GROUP BY a.el HAVING bool_or(a.m)' ELSE '' END,
        p_number
    );
END
$$;

COMMENT ON FUNCTION pganon.set_part(integer, jsonb, text, jsonb[], boolean, boolean) IS
    'a part of the statement of pganon.estimate: a column that shows sets or labels';
