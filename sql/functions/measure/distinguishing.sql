-- How far every set of up to `largest` quasi-identifiers singles records out. distinction: distinct
-- combinations per record; separation: share of pairs of records that differ.
CREATE FUNCTION pganon.distinguishing(rel regclass, qi text[], largest integer DEFAULT 3)
    RETURNS TABLE (columns text[], distinction numeric, separation numeric)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sets text[];
BEGIN
    PERFORM pganon.assert_sets(cardinality(qi), largest);
    WITH RECURSIVE s AS (
        SELECT ARRAY[i] AS numbers FROM generate_subscripts(qi, 1) AS i
        UNION ALL
        SELECT s.numbers || i FROM s CROSS JOIN generate_subscripts(qi, 1) AS i
        WHERE i > s.numbers[cardinality(s.numbers)] AND cardinality(s.numbers) < largest
    )
    SELECT array_agg(s.numbers::text) INTO sets FROM s;
    RETURN QUERY
    SELECT
        ARRAY(SELECT qi[i] FROM unnest(f.numbers) WITH ORDINALITY AS u(i, o) ORDER BY o),
        f.distinction, f.separation
    FROM pganon.set_figures(rel, qi, sets) AS f
    ORDER BY f.distinction DESC, f.separation DESC, cardinality(f.numbers), f.numbers;
END
$$;

COMMENT ON FUNCTION pganon.distinguishing(regclass, text[], integer) IS
    'distinction and separation of every set of quasi-identifiers up to a size';
