-- Shows whether a table is unchanged: equal stamps mean the same table, columns, labels of
-- enums and visible row versions. What a transaction writes is visible when it has ended, and then
-- it writes no more; so rows of a number of a transaction can become fewer, never other ones, and
-- their count tells. A freeze keeps the number, and so do VACUUM FULL and CLUSTER; whatever else
-- rewrites a row gives it a new one. Numbers come again after 2^32 transactions and may do so after
-- a crash: a stamp is for the session that took it.
--
-- Who wrote a table in one go knows the number of its rows, and the stamp without reading them:
-- with p_written it is that of a table in which all rows are of the transaction of any of them.
CREATE FUNCTION pganon.stamp(
    p_relation regclass,
    p_written bigint DEFAULT NULL,
    OUT stamp text,
    OUT row_count bigint
)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    definition text;
    labels text;
    versions text;
BEGIN
    IF p_relation IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PA303', MESSAGE = 'a relation of the release is missing';
    END IF;
    -- Other ways of storage need not keep xmin.
    IF NOT EXISTS (
        SELECT
        FROM pg_class AS c
        JOIN pg_am AS m ON m.oid = c.relam
        WHERE c.oid = p_relation AND c.relkind = 'r'
            AND m.amhandler = 'heap_tableam_handler'::regproc
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA102',
            MESSAGE = format('%s is not a table in a heap, so its row versions are not known', p_relation),
            HINT = 'stored tables need the access method heap; see default_table_access_method';
    END IF;
    SELECT jsonb_agg(
        jsonb_build_array(
            a.attnum, a.attname, a.atttypid, format_type(a.atttypid, a.atttypmod), a.attcollation,
            a.attisdropped
        ) ORDER BY a.attnum
    )::text INTO definition
    FROM pg_attribute AS a
    WHERE a.attrelid = p_relation AND a.attnum > 0;
    -- Rows name a label by its number, so a new label changes what they show.
    WITH RECURSIVE used(type) AS (
        SELECT a.atttypid FROM pg_attribute AS a WHERE a.attrelid = p_relation AND a.attnum > 0
        UNION
        SELECT part.type
        FROM used AS u
        JOIN pg_type AS y ON y.oid = u.type
        CROSS JOIN LATERAL (VALUES (y.typelem), (y.typbasetype)) AS part(type)
    )
    SELECT jsonb_agg(jsonb_build_array(e.oid, e.enumlabel) ORDER BY e.oid)::text INTO labels
    FROM used AS u
    JOIN pg_enum AS e ON e.enumtypid = u.type;
    -- Rows of child tables are rows of the table. EXECUTE INTO may use parallel workers.
    EXECUTE format(
        'SELECT string_agg(concat_ws('':'', v.tableoid, v.xmin, v.number), '' ''
             ORDER BY v.tableoid, v.xmin::text COLLATE "C"),
             coalesce(sum(v.number), 0)::bigint
         FROM (%s) AS v',
        format(
            CASE WHEN p_written IS NULL
                THEN 'SELECT t.tableoid, t.xmin, count(*) AS number FROM %s AS t'
                    ' GROUP BY t.tableoid, t.xmin'
                ELSE '(SELECT t.tableoid, t.xmin, $1 AS number FROM %s AS t LIMIT 1)' END,
            p_relation
        )
    ) INTO versions, row_count USING p_written;
    stamp := encode(
        sha256(convert_to(concat_ws(E'\n', p_relation::oid, definition, labels, versions), 'UTF8')),
        'hex'
    );
END
$$;

COMMENT ON FUNCTION pganon.stamp(regclass, bigint) IS
    'columns and row versions of a table as one text, equal as long as nobody changes it; its rows';
