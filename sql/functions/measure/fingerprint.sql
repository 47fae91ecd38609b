-- Keyed fingerprint of relations, in the order given: sha256 over the key of the run and, per
-- relation, its columns (name, type, order), number of rows, and two sums of row hashes. Sums do
-- not depend on the order of rows; without the key nobody can test guesses against the result.
-- A byte is added that says how values are read; one of 32 bytes, with which the result is to be
-- compared, was made when values that are equal by their type were not told apart, nor -1.5 and 1.5.
CREATE FUNCTION pganon.fingerprint(
    p_run_id bigint, p_relations regclass[], p_compared bytea DEFAULT NULL
) RETURNS bytea
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET extra_float_digits = 1
    SET "DateStyle" = 'ISO, YMD'
    SET "IntervalStyle" = 'postgres'
    SET "TimeZone" = 'UTC'
    SET bytea_output = 'hex'
    SET quote_all_identifiers = off
AS $$
DECLARE
    secret record;
    relation regclass;
    columns text;
    shown text;
    sums text;
    message text := '';
    seen boolean := coalesce(octet_length(p_compared) <> 32, true);
BEGIN
    SELECT s.key, s.seed_a, s.seed_b INTO secret
    FROM pganon_private.run_secret AS s
    WHERE s.run_id = p_run_id;
    IF secret.key IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA302',
            MESSAGE = format('run %s has no secret, so nothing can be compared with it', p_run_id);
    END IF;
    FOREACH relation IN ARRAY p_relations LOOP
        IF relation IS NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'PA303', MESSAGE = 'a relation of the release is missing';
        END IF;
        SELECT jsonb_agg(
            jsonb_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum
        )::text,
        -- An enum hashes by the number of its label in the catalog, which a restored dump does
        -- not keep; its text stays. The hash of a numeric leaves its sign out, and that of other
        -- types is the same of values that differ, as 1 month and 30 days do, or 'a' and 'A' by some
        -- collations. Whole numbers and times of 8 bytes are folded into 4 before they are hashed.
        string_agg(
            CASE WHEN 'e' IN (y.typtype, e.typtype) OR 'd' IN (y.typtype, e.typtype)
                    OR seen AND coalesce(e.oid, g.rngsubtype, y.oid) NOT IN (
                        'bool'::regtype, 'smallint'::regtype, 'integer'::regtype, 'oid'::regtype,
                        'text'::regtype, 'varchar'::regtype, 'bytea'::regtype, 'uuid'::regtype,
                        'date'::regtype
                    ) OR seen AND l.collisdeterministic IS FALSE
                THEN pganon.text_of(a.atttypid, format('t.%I', a.attname))
                    || CASE WHEN seen THEN ' COLLATE pg_catalog."C"' ELSE '' END
                ELSE format('t.%I', a.attname) END,
            ', ' ORDER BY a.attnum
        ) INTO columns, shown
        FROM pg_attribute AS a
        JOIN pg_type AS y ON y.oid = a.atttypid
        LEFT JOIN pg_type AS e ON e.oid = y.typelem AND y.typcategory = 'A'
        LEFT JOIN pg_range AS g ON g.rngtypid = y.oid OR g.rngmultitypid = y.oid
        LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
        WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped;
        -- The hash of a row is a weighted sum over its columns: added up as it is, it would not
        -- notice rows that exchange values, so it is hashed again. OFFSET keeps the server from
        -- computing it for each sum. EXECUTE INTO may use parallel workers.
        EXECUTE format(
            'SELECT concat_ws('' '', count(*), coalesce(sum(hashtextextended(r.hash, $1)), 0),'
            ' coalesce(sum(hashtextextended(r.hash, $2)), 0))'
            ' FROM (SELECT hash_record_extended(ROW(%s), $1)::text AS hash FROM %s AS t OFFSET 0)'
            ' AS r',
            shown, relation
        ) INTO sums USING secret.seed_a, secret.seed_b;
        message := message || coalesce(columns, '[]') || ' ' || sums || E'\n';
    END LOOP;
    RETURN sha256(secret.key || convert_to(message, 'UTF8'))
        || CASE WHEN seen THEN '\x01'::bytea ELSE '' END;
END
$$;

COMMENT ON FUNCTION pganon.fingerprint(bigint, regclass[], bytea) IS
    'keyed fingerprint of the rows and columns of relations, under the secret of a run';
