-- Counts and probabilities of the records of a bucket b that match a condition on one generalized
-- column: lo, hi, p, pp; with `p_measured` those that have a value as well, lo_x, hi_x, p_x, and what
-- the sum of their values is: u, of squares e2, its variance for values less r as v0 - 2 r v1 + r^2 v2,
-- the least and the greatest value xmin, xmax, and what attained values exceed these by in total.
--
-- `p_values` is a sub-select: of `held` possible values q match, between ql and qh where a label hides
-- it; `surely` of all and e of those that match are attained. `z`: records may lack the value; nm is 1
-- if that matches. Shares are kq / known, and kz for a missing value.
CREATE FUNCTION pganon.box_part(
    p_values text, p_null_attained boolean, p_measured boolean, p_grouped boolean
) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN format(
        'SELECT pganon.box_lower(b.n, j.size, j.ql + j.nm, j.ee) AS lo, pganon.box_upper(b.n, j.qh + j.nm, j.s, j.ee) AS hi,'
        ' pganon.box_share(b.n, j.s, j.ee, j.f) AS p,'
        ' CASE WHEN j.ql = j.qh THEN pganon.box_pair(b.n, j.s, j.ee, j.f, j.extent) END AS pp%2$s%3$s'
        ' FROM (SELECT i.*, i.e + i.nm * %4$s AS ee,'
        ' CASE WHEN i.q + i.nm = 0 THEN 0 WHEN i.q + i.nm = i.size THEN 1'
        ' ELSE least(1, (i.kq + i.nm * i.kz)::float8 / i.w) END AS f,'
        ' CASE WHEN i.q = 0 THEN 0 WHEN i.q = i.size THEN 1 ELSE least(1, i.kq::float8 / i.w) END AS xf'
        ' FROM (SELECT h.held, h.z, h.nm, h.q::bigint AS q, h.ql::bigint AS ql, h.qh::bigint AS qh, h.e::bigint AS e,'
        ' h.kq, h.kz%5$s%6$s, (h.held + h.z::integer)::bigint AS size, (h.surely + h.z::integer * %4$s)::bigint AS s,'
        ' (h.known + h.z::integer * h.kz)::float8 AS w,'
        ' CASE WHEN h.endless THEN ''infinity'' ELSE (h.held + h.z::integer)::float8 END AS extent'
        ' FROM (%1$s) AS h) AS i) AS j',
        p_values,
        CASE WHEN p_measured THEN
            ', pganon.box_lower(b.n, j.size, j.ql, j.e) AS lo_x, pganon.box_upper(b.n, j.qh, j.s, j.e) AS hi_x,'
            ' pganon.box_share(b.n, j.s, j.e, j.xf) AS p_x, pganon.box_pair(b.n, j.s, j.e, j.xf, j.extent) AS pp_x,'
            ' j.ex::float8 + (b.n - j.s) * j.wx / j.w AS u, j.exx + (b.n - j.s) * j.wxx / j.w AS e2,'
            ' (b.n - j.s) * (1 + (b.n - j.s) / j.extent) / (1 + 1 / j.extent) * (j.wxx / j.w - (j.wx / j.w) ^ 2) AS v0,'
            ' (b.n - j.s) * (1 + (b.n - j.s) / j.extent) / (1 + 1 / j.extent) * (j.wx / j.w - j.wx / j.w * j.xf) AS v1, (b.n - j.s) * (1 + (b.n - j.s) / j.extent) / (1 + 1 / j.extent) * (j.xf - j.xf ^ 2) AS v2,'
            ' j.xmin, j.xmax, j.ex - j.e * j.xmin AS more, j.e * j.xmax - j.ex AS less' ELSE '' END,
        CASE WHEN p_grouped THEN ', j.key' ELSE '' END,
        p_null_attained::integer,
        CASE WHEN p_measured THEN ', h.wx, h.wxx, h.ex, h.exx, h.xmin, h.xmax' ELSE '' END,
        CASE WHEN p_grouped THEN ', h.key' ELSE '' END
    );

COMMENT ON FUNCTION pganon.box_part(text, boolean, boolean, boolean) IS
    'a part of the statement of pganon.estimate: what classes have of a condition on a generalized column';
