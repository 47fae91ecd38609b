-- Texts of the queries by which Greedy QS k-anonymity looks for the next record of a cluster.
--
-- All take the block as $1, the places without free records as a bit string $2, and the extent of
-- the open cluster as $3 and $4 (see qs_loss). Losses are rounded, so that ties do not hang on the
-- last digit, and the smallest place wins them.
--
-- point     the columns x of a cell, as an array
-- farthest  place, cell, ids, point of the free cell that would lose most
-- nearby    places of the `considered` free cells that would lose least; loss and place of the last
-- closest   place, cell, ids, point, loss of the one that would lose least, of the places in $5
CREATE FUNCTION pganon.qs_lookups(
    cells regclass, heights integer[], considered integer,
    OUT point text, OUT farthest text, OUT nearby text, OUT closest text
) LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    axes constant integer := (SELECT sum(CASE v WHEN 0 THEN 2 ELSE v END) FROM unnest(heights) AS v);
    free constant text := format(
        'SELECT c.*, round((%s) * 1e9) AS loss FROM %s AS c'
        ' WHERE c.block = $1 AND get_bit($2, c.place) = 0', pganon.qs_loss(heights), cells);
BEGIN
    point := (
        SELECT format('ARRAY[%s]', string_agg('c.x' || v, ', ')) FROM generate_series(1, axes) AS v);
    farthest := format('SELECT c.place, c.cell, c.ids, %s FROM (%s'
                       ' ORDER BY loss DESC, c.place LIMIT 1) AS c', point, free);
    nearby := format('SELECT array_agg(c.place), max(c.loss), max(c.place) FILTER (WHERE c.last)'
                     ' FROM (SELECT c.*, lead(c.place) OVER w IS NULL AS last FROM (%s'
                     ' ORDER BY loss, c.place LIMIT %s) AS c'
                     ' WINDOW w AS (ORDER BY c.loss, c.place)) AS c', free, considered);
    closest := format('SELECT c.place, c.cell, c.ids, %s, c.loss FROM (%s AND c.place = ANY ($5)'
                      ' ORDER BY loss, c.place LIMIT 1) AS c', point, free);
END
$$;

COMMENT ON FUNCTION pganon.qs_lookups(regclass, integer[], integer) IS
    'queries of greedy QS k-anonymity for the next record of a cluster';
