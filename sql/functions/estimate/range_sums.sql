-- A part of pganon.range_part: expected sums of the values that match, wx and wxx, sums and number of
-- the attained ones, and their least and greatest. Numbers are `unit` to one of the column.
CREATE FUNCTION pganon.range_sums(p_unit text, p_discrete boolean, p_attained boolean) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN format(
        ', CASE WHEN x.alone AND NOT isempty(x.m) THEN lower(x.r) ELSE coalesce(x.vx, 0) / %1$s END::float8 AS wx,'
        ' CASE WHEN x.alone AND NOT isempty(x.m) THEN lower(x.r) ^ 2 ELSE coalesce(x.vxx, 0) / %1$s ^ 2 END::float8 AS wxx,'
        ' %2$s AS ex, %3$s::float8 AS exx, lower(x.m) / %1$s AS xmin, %4$s / %1$s AS xmax',
        p_unit,
        CASE WHEN p_attained THEN format(
            '(CASE WHEN x.m @> lower(x.r) THEN lower(x.r) ELSE 0 END'
            ' + CASE WHEN x.held > 1 AND x.m @> %1$s THEN %1$s ELSE 0 END) / %2$s',
            CASE WHEN p_discrete THEN '(upper(x.r) - 1)' ELSE 'upper(x.r)' END, p_unit) ELSE '0::numeric' END,
        CASE WHEN p_attained THEN format(
            '(CASE WHEN x.m @> lower(x.r) THEN (lower(x.r) / %2$s) ^ 2 ELSE 0 END'
            ' + CASE WHEN x.held > 1 AND x.m @> %1$s THEN (%1$s / %2$s) ^ 2 ELSE 0 END)',
            CASE WHEN p_discrete THEN '(upper(x.r) - 1)' ELSE 'upper(x.r)' END, p_unit) ELSE '0' END,
        CASE WHEN p_discrete THEN '(upper(x.m) - 1)' ELSE 'upper(x.m)' END
    );

COMMENT ON FUNCTION pganon.range_sums(text, boolean, boolean) IS
    'a part of the statement of pganon.estimate: sums over values of a range';
