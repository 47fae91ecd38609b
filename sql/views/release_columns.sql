-- The columns of those releases. Who may see them is decided by pganon.releases alone.
-- Behind a fence: see pganon.requests.
CREATE VIEW pganon.release_columns AS
SELECT f.*
FROM pg_catalog.unnest(ARRAY(
    SELECT q
    FROM (
        SELECT
            r.release,
            r.version,
            c.described ->> 'view' AS view,
            c.position,
            c.described ->> 'name' AS column_name,
            c.described ->> 'type' AS type,
            c.described ->> 'comment' AS comment,
            c.described ->> 'form' AS form,
            c.described ->> 'kind' AS kind,
            c.described ->> 'collation' AS collation,
            c.described ->> 'attained' = 'true' AS attained,
            c.described ->> 'part' AS part,
            c.described ->> 'bucket' AS bucket
        FROM pganon.releases AS r
        JOIN pganon_private.version AS v ON v.release = r.release AND v.version = r.version
        CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(v.columns)
            WITH ORDINALITY AS c(described, position)
    ) AS q
)) AS f(
    release text, version integer, view text, "position" bigint, column_name text, type text, comment text,
    form text, kind text, "collation" text, attained boolean, part text, bucket text
);

COMMENT ON VIEW pganon.release_columns IS
    'columns of the releases that you may read: view, type, what they hold, how they stand for values';
COMMENT ON COLUMN pganon.release_columns.form IS
    'range, set, ordinal, label, listed, exact, multiset, mean, mode, null, count, individual, bucket, display or below;'
    ' of related tables fact, persons, rows, lookup, key, group, people or holders; NULL for others';
COMMENT ON COLUMN pganon.release_columns.kind IS
    'type of the values in the source; of a display, the column that it is about; of holders, how rows lead to people';
COMMENT ON COLUMN pganon.release_columns.attained IS
    'whether records of the class have the ends of the range, or the elements of the set';
COMMENT ON COLUMN pganon.release_columns.part IS
    'columns of one part are known together within a bucket';
COMMENT ON COLUMN pganon.release_columns.bucket IS 'column of the view with the number of the bucket';
