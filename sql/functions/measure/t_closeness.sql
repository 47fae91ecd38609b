-- Largest distance of a class's distribution to that of the whole relation.
CREATE FUNCTION pganon.t_closeness(
    rel regclass, qi text[], sensitive text, distance text DEFAULT 'equal',
    hierarchy regclass DEFAULT NULL
)
    RETURNS numeric
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted constant text := CASE distance
        WHEN 'equal' THEN 't_closeness' WHEN 'ordered' THEN 't_closeness_ordered' END;
    measured record;
BEGIN
    IF distance = 'hierarchical' THEN
        RETURN pganon.hierarchical_distance(rel, qi, sensitive, hierarchy);
    END IF;
    IF wanted IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = format('t-closeness has no distance "%s"', distance),
            HINT = 'distances are equal, ordered and hierarchical';
    END IF;
    IF distance = 'ordered' AND NOT (pganon.comparable(rel, sensitive)).ordered THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA113',
            MESSAGE = format('the values of column %I have no order to measure in', sensitive),
            HINT = 'use the distance equal, or a number, date, time or enum';
    END IF;
    EXECUTE pganon.measure_query(rel, qi, ARRAY[sensitive], NULL, ARRAY[wanted], '{}', 2)
    INTO measured;
    RETURN measured.value;
END
$$;

COMMENT ON FUNCTION pganon.t_closeness(regclass, text[], text, text, regclass) IS
    'largest distance of a class''s sensitive values to those of the whole relation';
