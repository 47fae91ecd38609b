-- Names of a relation and of all that its rows come from: what a view reads, at any depth and
-- through functions whose body the catalog knows, and parts of a partitioned or inherited table.
-- Names and not numbers, so that they outlive a dump; always in double quotes, since which names
-- need quotes differs from version to version. NULL for no relation.
CREATE FUNCTION pganon.sources_of(p_relation oid) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        WITH RECURSIVE used(class, oid) AS (
            SELECT 'pg_class'::regclass::oid, p_relation
            UNION
            SELECT below.class, below.oid
            FROM used AS u
            CROSS JOIN LATERAL (
                SELECT d.refclassid, d.refobjid
                FROM pg_depend AS d
                WHERE (d.classid, d.objid) IN (
                    -- What a view reads depends on the rule that makes it one.
                    SELECT 'pg_rewrite'::regclass, w.oid
                    FROM pg_rewrite AS w
                    WHERE u.class = 'pg_class'::regclass AND w.ev_class = u.oid AND w.ev_type = '1'
                    UNION ALL
                    SELECT u.class, u.oid WHERE u.class = 'pg_proc'::regclass
                )
                UNION ALL
                SELECT 'pg_class'::regclass, i.inhrelid
                FROM pg_inherits AS i
                WHERE u.class = 'pg_class'::regclass AND i.inhparent = u.oid
            ) AS below(class, oid)
            WHERE below.class IN ('pg_class'::regclass, 'pg_proc'::regclass)
        )
        SELECT array_agg(q.name ORDER BY q.name COLLATE "C")
        FROM used AS u
        JOIN pg_class AS c ON u.class = 'pg_class'::regclass AND c.oid = u.oid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        CROSS JOIN LATERAL (
            SELECT '"' || replace(n.nspname, '"', '""') || '"."' || replace(c.relname, '"', '""')
                || '"'
        ) AS q(name)
        -- Everybody's views may read the catalog; they have nothing in common by that.
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    );
END
$$;

COMMENT ON FUNCTION pganon.sources_of(oid) IS
    'names of a relation and of all relations that its rows come from';
