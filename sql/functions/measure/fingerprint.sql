-- Keyed fingerprint of relations, in the order given: sha256 over the key of the run and, per
-- relation, its columns (name, type, order), number of rows, and two sums of row hashes. Sums do
-- not depend on the order of rows; without the key nobody can test guesses against the result.
CREATE FUNCTION pganon.fingerprint(p_run_id bigint, p_relations regclass[]) RETURNS bytea
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET quote_all_identifiers = off
AS $$
DECLARE
    secret record;
    relation regclass;
    columns text;
    shown text;
    sums text;
    message text := '';
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
        -- not keep; its text stays.
        string_agg(
            CASE WHEN 'e' IN (y.typtype, e.typtype) OR 'd' IN (y.typtype, e.typtype)
                THEN pganon.text_of(a.atttypid, format('t.%I', a.attname))
                ELSE format('t.%I', a.attname) END,
            ', ' ORDER BY a.attnum
        ) INTO columns, shown
        FROM pg_attribute AS a
        JOIN pg_type AS y ON y.oid = a.atttypid
        LEFT JOIN pg_type AS e ON e.oid = y.typelem
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
    RETURN sha256(secret.key || convert_to(message, 'UTF8'));
END
$$;

COMMENT ON FUNCTION pganon.fingerprint(bigint, regclass[]) IS
    'keyed fingerprint of the rows and columns of relations, under the secret of a run';
