-- Records left over join, one cell after another by block and place, the cluster of their block
-- whose loss times size grows least; the first one built wins ties. `clusters` (block, cluster, n,
-- lo<i>, hi<i>: bounds of the columns x<i> of `points`) is brought up to date on the way.
CREATE FUNCTION pganon.qs_absorb(
    clusters regclass, formed regclass, points regclass, heights integer[]
) RETURNS TABLE (block integer, cluster integer, cell integer, n bigint)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    axes constant integer := (SELECT sum(CASE v WHEN 0 THEN 2 ELSE v END) FROM unnest(heights) AS v);
    point constant text := (
        SELECT format('ARRAY[%s]', string_agg('p.x' || v, ', ')) FROM generate_series(1, axes) AS v);
    widened constant text := (
        SELECT string_agg(format('lo%1$s = least(c.lo%1$s, $3[%1$s]),'
                                 ' hi%1$s = greatest(c.hi%1$s, $3[%1$s])', v), ', ')
        FROM generate_series(1, axes) AS v);
    together constant text := pganon.qs_loss(heights, true);
    -- A union with nothing is the cluster itself: bounds ignore NULL.
    alone constant text := replace(replace(together, '$3[', '$5['), '$4[', '$5[');
    nearest constant text := format(
        'SELECT c.cluster FROM %s AS c WHERE c.block = $1'
        ' ORDER BY round((($2 + c.n) * (%s) - c.n * (%s)) * 1e9), c.cluster LIMIT 1',
        clusters, together, alone);
    joins constant text := format(
        'UPDATE %s AS c SET n = c.n + $4, %s WHERE c.block = $1 AND c.cluster = $2',
        clusters, widened);
    nothing constant float8[] := array_fill(NULL::float8, ARRAY[axes]);
    xs float8[];
BEGIN
    FOR block, cell, n, xs IN EXECUTE format(
        'SELECT p.block, p.cell, f.n, %s FROM %s AS f'
        ' JOIN %s AS p ON p.block = f.block AND p.cell = f.cell'
        ' WHERE f.cluster = 0 ORDER BY p.block, p.place', point, formed, points)
    LOOP
        EXECUTE nearest INTO cluster USING block, 1, xs, xs, nothing;
        EXECUTE joins USING block, cluster, xs, n;
        RETURN NEXT;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pganon.qs_absorb(regclass, regclass, regclass, integer[]) IS
    'records left over join the cluster of their block that loses least';
