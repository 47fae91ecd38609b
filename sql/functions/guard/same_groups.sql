-- Whether two tables of members say the same: the same members together, whatever the number of
-- their group. They have a column `member` and, under any names, numbers of groups of one or more
-- partitions. NULL if one of them is missing.
-- A group is the sum of hashes of its members under a secret of the run.
CREATE FUNCTION pganon.same_groups(p_run_id bigint, p_one regclass, p_other regclass) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    seed bigint;
    partitions name[];
    others name[];
    partition name;
    differ boolean;
BEGIN
    IF p_one IS NULL OR p_other IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT s.seed_a INTO STRICT seed
    FROM pganon_private.run_secret AS s
    WHERE s.run_id = p_run_id;
    SELECT
        array_agg(a.attname ORDER BY a.attname) FILTER (WHERE a.attrelid = p_one),
        array_agg(a.attname ORDER BY a.attname) FILTER (WHERE a.attrelid = p_other)
    INTO partitions, others
    FROM pg_attribute AS a
    WHERE a.attrelid IN (p_one, p_other)
        AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'member';
    IF partitions IS DISTINCT FROM others THEN
        RETURN false;
    END IF;
    FOREACH partition IN ARRAY partitions LOOP
        -- EXECUTE INTO may use parallel workers.
        EXECUTE format(
            'WITH one AS (%s), other AS (%s)
             SELECT EXISTS (SELECT * FROM one EXCEPT ALL SELECT * FROM other)
                 OR EXISTS (SELECT * FROM other EXCEPT ALL SELECT * FROM one)',
            format(
                'SELECT count(*), sum(hashtextextended(member::text, $1)) FROM %s GROUP BY %I',
                p_one, partition
            ),
            format(
                'SELECT count(*), sum(hashtextextended(member::text, $1)) FROM %s GROUP BY %I',
                p_other, partition
            )
        ) INTO differ USING seed;
        IF differ THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;

COMMENT ON FUNCTION pganon.same_groups(bigint, regclass, regclass) IS
    'whether two tables of members have the same members together';
