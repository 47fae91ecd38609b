-- The end of the statement of pganon.estimate, over `leaves`: estimate, bounds, likely range, error and
-- flags of every group.
CREATE FUNCTION pganon.figures_query(
    p_measure text, p_epsilon numeric, p_keys integer, p_key text, p_in_box boolean, p_own_keys text, p_whole text[], p_rest text[], p_both text[]
) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    keys constant text := coalesce((SELECT string_agg(', c.k' || i, '' ORDER BY i) FROM generate_series(1, p_keys) AS i), '');
    of_measure constant boolean := p_measure IN ('sum', 'avg');
    -- Bounds of weights of t of n records, whose sum is known to 5e-7 a record.
    lightest constant text := 'greatest(c.lo * c.w_lo, c.w - c.n * 5e-7 - (c.n - c.lo) * coalesce(c.w_hi, c.w + c.n * 5e-7), 0)';
    heaviest constant text := 'least(c.hi * coalesce(c.w_hi, c.w + c.n * 5e-7), c.w + c.n * 5e-7 - (c.n - c.hi) * c.w_lo)';
    written text;
    variance text;
    room text := '';
BEGIN
    written := format(
        ', cells AS MATERIALIZED (SELECT c.*, row_number() OVER () AS cell, %s AS grp FROM (SELECT l.*,'
        ' %s AS lo, %s AS hi, %s AS p, %s AS pp%s FROM leaves AS l) AS c WHERE c.hi > 0)',
        CASE WHEN p_keys > 0 THEN format('dense_rank() OVER (ORDER BY %s)', substr(keys, 3)) ELSE '1' END,
        p_whole[1], p_whole[2], p_whole[3], p_whole[4],
        CASE WHEN of_measure THEN format(
            ', %s AS lo_r, %s AS p_r, %s AS pp_r, %s AS lo_c, %s AS hi_c, %s AS p_c',
            p_rest[1], p_rest[3], p_rest[4], p_both[1], p_both[2], p_both[3]) ELSE '' END);
    IF of_measure AND p_in_box THEN
        written := written || ', bounds AS MATERIALIZED (SELECT c.cell,'
            ' c.xmin * CASE WHEN c.xmin >= 0 THEN c.lo_c ELSE c.hi_c END'
            ' + CASE WHEN c.lo_r = c.n THEN c.more ELSE 0 END AS least,'
            ' c.xmax * CASE WHEN c.xmax <= 0 THEN c.lo_c ELSE c.hi_c END'
            ' - CASE WHEN c.lo_r = c.n THEN c.less ELSE 0 END AS greatest'
            ' FROM cells AS c WHERE c.xmin IS NOT NULL), mean AS ('
            'SELECT c.grp, true AS low, c.xmin AS x, sum(c.lo_c) AS taken, sum(c.hi_c - c.lo_c) AS free,'
            ' sum(CASE WHEN c.lo_r = c.n THEN c.more ELSE 0 END) AS more'
            ' FROM cells AS c WHERE c.xmin IS NOT NULL GROUP BY c.grp, c.xmin UNION ALL '
            'SELECT c.grp, false, c.xmax, sum(c.lo_c), sum(c.hi_c - c.lo_c),'
            ' sum(CASE WHEN c.lo_r = c.n THEN - c.less ELSE 0 END)'
            ' FROM cells AS c WHERE c.xmin IS NOT NULL GROUP BY c.grp, c.xmax)';
    ELSIF of_measure THEN
        written := written || format(', valued AS MATERIALIZED (SELECT c.cell, c.grp, c.lo_c, c.hi_c, r.x, r.copies,'
            ' r.upto, c.hi_x - r.upto + r.copies AS downto FROM cells AS c JOIN copies AS r ON r.bucket = c.bucket%s),'
            ' bounds AS MATERIALIZED (SELECT v.cell,'
            ' sum(v.x * pganon.ranked(v.copies, v.upto, CASE WHEN v.x < 0 THEN v.hi_c ELSE v.lo_c END)) AS least,'
            ' sum(v.x * pganon.ranked(v.copies, v.downto, CASE WHEN v.x > 0 THEN v.hi_c ELSE v.lo_c END)) AS greatest'
            ' FROM valued AS v GROUP BY v.cell), mean AS (', coalesce((
                SELECT string_agg(format(' AND c.%1$s IS NOT DISTINCT FROM r.%1$s', trim(k)), '')
                FROM regexp_split_to_table(substr(p_own_keys, 3), ',') AS k WHERE k <> ''), ''))
            || 'SELECT v.grp, true AS low, v.x, sum(pganon.ranked(v.copies, v.upto, v.lo_c)) AS taken,'
            ' sum(pganon.ranked(v.copies, v.upto, v.hi_c) - pganon.ranked(v.copies, v.upto, v.lo_c)) AS free,'
            ' 0::numeric AS more FROM valued AS v GROUP BY v.grp, v.x UNION ALL '
            'SELECT v.grp, false, v.x, sum(pganon.ranked(v.copies, v.downto, v.lo_c)),'
            ' sum(pganon.ranked(v.copies, v.downto, v.hi_c) - pganon.ranked(v.copies, v.downto, v.lo_c)),'
            ' 0 FROM valued AS v GROUP BY v.grp, v.x)';
    END IF;
    IF p_measure = 'avg' THEN
        -- Free values are taken as long as they lower the mean: the least is one of the running means.
        written := written || ', base AS (SELECT m.grp, m.low, sum(m.x * m.taken + m.more) AS total,'
            ' sum(m.taken) AS count FROM mean AS m GROUP BY m.grp, m.low), running AS ('
            'SELECT m.grp, m.low, (b.total + sum(m.x * m.free) OVER w) / nullif(b.count + sum(m.free) OVER w, 0) AS mean,'
            ' b.total / nullif(b.count, 0) AS start'
            ' FROM mean AS m JOIN base AS b ON b.grp = m.grp AND b.low = m.low WINDOW w AS (PARTITION BY m.grp, m.low'
            ' ORDER BY CASE WHEN m.low THEN m.x ELSE - m.x END ROWS UNBOUNDED PRECEDING)), ends AS ('
            'SELECT r.grp, least(min(r.mean) FILTER (WHERE r.low), min(r.start) FILTER (WHERE r.low)) AS least,'
            ' greatest(max(r.mean) FILTER (WHERE NOT r.low), max(r.start) FILTER (WHERE NOT r.low)) AS greatest'
            ' FROM running AS r GROUP BY r.grp)';
    END IF;
    variance := CASE p_measure
        WHEN 'count' THEN 'c.var'
        WHEN 'weighted' THEN '(c.w / c.n) ^ 2 * c.var + greatest(0, (c.n * c.p) * (c.n - c.n * c.p) - c.var)'
            ' / greatest(c.n - 1, 1) * greatest(0, (c.w_hi - c.w / c.n) * (c.w / c.n - c.w_lo)) + 0 * c.w_hi'
        WHEN 'sum' THEN 'CASE WHEN c.least IS NOT DISTINCT FROM c.greatest THEN 0'
            ' ELSE pganon.sum_variance(c.u, c.e2, c.v0, c.p_r, c.pp_r) END'
        ELSE 'CASE WHEN c.lo_c = c.hi_c AND c.least IS NOT DISTINCT FROM c.greatest THEN 0'
            ' ELSE pganon.sum_variance(c.u - c.r * c.n * c.p_x, c.e2 - 2 * c.r * c.u + c.r ^ 2 * c.n * c.p_x,'
            ' c.v0 - 2 * c.r * c.v1 + c.r ^ 2 * c.v2, c.p_r, c.pp_r) END'
        END;
    written := written || format(
        ', moments AS (SELECT c.*, %s AS v FROM (SELECT c.*, pganon.count_variance(c.n, c.lo, c.hi, c.p, c.pp) AS var%s) AS c)',
        variance,
        CASE WHEN of_measure THEN ', d.least, d.greatest,'
            ' sum(c.p_r * c.u) OVER g / nullif(sum(c.p_c * c.n) OVER g, 0) AS r'
            ' FROM cells AS c LEFT JOIN bounds AS d ON d.cell = c.cell WINDOW g AS (PARTITION BY c.grp)'
            ELSE ' FROM cells AS c' END);
    written := written || format(
        ', totals AS (SELECT %s%s AS e, %s AS lower, %s AS upper, %s AS norm, %s AS finite, %s AS n,'
        ' CASE WHEN count(c.v) = count(*) THEN coalesce(sum(c.v), 0) END AS v,'
        ' CASE WHEN count(c.v) = count(*) THEN coalesce(sum(sqrt(c.v)), 0) END AS d,'
        ' count(*) FILTER (WHERE c.lo < c.hi) AS classes, coalesce(sum(%s), 0) = 0 AS maybe_empty,'
        ' coalesce(sum(sqrt(c.var)) ^ 2 < 10 * nullif(sum(c.var), 0), false) AS few FROM moments AS c%s)',
        CASE WHEN p_keys > 0 THEN substr(keys, 3) || ', c.grp, ' ELSE '1 AS grp, ' END,
        CASE p_measure WHEN 'count' THEN 'coalesce(sum(c.p * c.n), 0)' WHEN 'weighted' THEN 'coalesce(sum(c.p * c.w), 0)' WHEN 'sum' THEN 'coalesce(sum(c.p_r * c.u), 0)'
            ELSE 'sum(c.p_r * c.u) / nullif(sum(c.p_c * c.n), 0)' END,
        CASE p_measure WHEN 'count' THEN 'coalesce(sum(c.lo), 0)::numeric' WHEN 'weighted' THEN format('coalesce(sum(%s), 0)', lightest) WHEN 'sum' THEN 'coalesce(sum(c.least), 0)'
            ELSE 'NULL::numeric' END,
        CASE p_measure WHEN 'count' THEN 'coalesce(sum(c.hi), 0)::numeric' WHEN 'weighted' THEN format('coalesce(sum(%s), 0)', heaviest) WHEN 'sum' THEN 'coalesce(sum(c.greatest), 0)'
            ELSE 'NULL::numeric' END,
        CASE p_measure WHEN 'avg' THEN 'nullif(sum(c.p_c * c.n), 0)' ELSE '1::float8' END,
        CASE WHEN of_measure THEN 'coalesce(bool_and(c.e2 < ''infinity''), true)' ELSE 'true' END,
        CASE WHEN of_measure THEN 'sum(c.hi_c)' ELSE '0' END,
        CASE p_measure WHEN 'avg' THEN 'c.lo_c' ELSE 'c.lo' END,
        CASE WHEN p_keys > 0 THEN ' GROUP BY c.grp' || keys ELSE '' END);
    IF p_measure = 'avg' THEN
        written := written || ', answers AS (SELECT t.*, d.least AS least, d.greatest AS greatest'
            ' FROM totals AS t LEFT JOIN ends AS d ON d.grp = t.grp)';
    ELSE
        written := written || ', answers AS (SELECT t.*, t.lower AS least, t.upper AS greatest FROM totals AS t)';
    END IF;
    -- Of floats the server's sum is not that of their texts: to add up n takes n roundings, each of at most all
    -- values together. A sum is of the type of the column; a mean is added up as double precision.
    IF p_epsilon > 0 THEN
        room := format(' %%s coalesce((%s) * (SELECT max(abs(m.x)) FROM mean AS m WHERE m.grp = t.grp), 0)',
            CASE p_measure WHEN 'sum' THEN format('%s * t.n * t.n', p_epsilon) ELSE format('%s + 2.3e-16 * t.n', p_epsilon) END);
    END IF;
    -- Rounding must not take the estimate beyond its bounds. A value without end leaves nothing known.
    RETURN written || format(', figures AS (SELECT t.*, least(t.greatest::float8, greatest(t.least::float8, t.e)) AS shown,'
        ' 2 * t.d / t.norm AS likely FROM answers AS t) SELECT %s, %s',
        p_key, (SELECT string_agg(format('CASE WHEN t.finite THEN %s END', f), ', ') FROM unnest(ARRAY[
            't.shown', 't.least' || format(room, '-'), 't.greatest' || format(room, '+'), 'greatest(t.least::float8, t.shown - t.likely)',
            'least(t.greatest::float8, t.shown + t.likely)', 'sqrt(t.v) / t.norm'
        ]) AS f)) || ', t.classes, t.few, t.maybe_empty FROM figures AS t ORDER BY t.grp';
END
$$;

COMMENT ON FUNCTION pganon.figures_query(text, numeric, integer, text, boolean, text, text[], text[], text[]) IS
    'a part of the statement of pganon.estimate: figures of every group';
