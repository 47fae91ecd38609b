-- The values of a column of `t` as measures tell them apart, in pg_catalog's operators alone:
-- texts byte by byte, or as a collation does that calls different ones equal; citext without case;
-- enums and types of extensions as they are written, since operators could meet casts that their
-- owner planted. Everything else as its own type does, so -0 = 0 and 1.0 = 1.00.
-- `ordered`: numbers, dates, times and enums, whose order a distance can be taken in; `number`: those
-- that a cast to numeric keeps; `labels` are those of an enum, in its order.
CREATE FUNCTION pganon.comparable(
    rel regclass, column_name text, OUT expression text, OUT ordered boolean, OUT number boolean,
    OUT labels text[]
)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kind record;
BEGIN
    WITH RECURSIVE base AS (
        SELECT a.atttypid AS type, a.attcollation AS collation
        FROM pg_attribute AS a
        WHERE a.attrelid = rel AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT t.typbasetype, b.collation
        FROM base AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype = 'd'
    )
    SELECT t.oid, t.typname, t.typcategory, t.typtype, n.nspname = 'pg_catalog' AS built_in,
        CASE WHEN l.collisdeterministic THEN '"C"' ELSE l.oid::regcollation::text END AS collation
    INTO kind
    FROM base AS b
    JOIN pg_type AS t ON t.oid = b.type AND t.typtype <> 'd'
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
    LEFT JOIN pg_collation AS l ON l.oid = b.collation;
    IF kind.typname IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA112',
            MESSAGE = CASE WHEN column_name IS NULL THEN 'the name of a column is NULL'
                ELSE format('%s has no column %I', rel, column_name) END,
            HINT = 'columns are named exactly as the catalog has them';
    END IF;
    IF kind.built_in AND (kind.typcategory = 'G' OR kind.typname IN ('json', 'xml')) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA113',
            MESSAGE = format(
                'column %I has the type %s, whose values cannot be compared',
                column_name, kind.typname
            ),
            HINT = 'cast it in a view over the table';
    END IF;
    ordered := kind.typtype = 'e' OR (kind.built_in AND kind.typcategory IN ('N', 'D', 'T'));
    number := kind.built_in
        AND kind.typname IN ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric');
    expression := format('t.%I', column_name);
    IF kind.typname = 'citext' THEN
        expression := format('lower(%s::text COLLATE "default") COLLATE "C"', expression);
    ELSIF kind.built_in AND kind.typcategory = 'S' THEN
        expression := format('%s::text COLLATE %s', expression, coalesce(kind.collation, '"C"'));
    ELSIF NOT kind.built_in THEN
        expression := format('(%s) COLLATE "C"', pganon.text_of(kind.oid, expression));
    END IF;
    IF kind.typtype = 'e' THEN
        labels := ARRAY(
            SELECT e.enumlabel::text FROM pg_enum AS e WHERE e.enumtypid = kind.oid
            ORDER BY e.enumsortorder
        );
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.comparable(regclass, text) IS
    'a column as an expression over t whose equality is that of its measured values';
