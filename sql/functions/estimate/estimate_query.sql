-- The statement of pganon.estimate: a SELECT on the views of a release, with quoted names and constants.
--
-- `buckets` has their records and boxes, `leaves` what every part allows by itself, `cells` what all
-- conditions together allow of each group. Of a measured column: _r of all other parts, _x of its own,
-- _c of both.
CREATE FUNCTION pganon.estimate_query(release text, query jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    asked record;
    item record;
    home record;
    boxes text := '';
    tables text := '';
    joins text := '';
    leaves text := '';
    whole text[] := '{l.n,l.n,1::float8,1::float8}';
    rest text[] := '{l.n,l.n,1::float8,1::float8}';
    with_own text[];
    weight text;
    own_keys text := '';
    in_box boolean;
    rows text;
    key_text text;
    grouped text := '';
    weights text := '';
    weighed text := '';
    shown integer := 2;
BEGIN
    asked := pganon.asked(query);
    FOR item IN
        SELECT min(c.number) AS number, c.boxed, c.view, c.bucket, bool_or(c.measured) AS measured,
            max(c.value) FILTER (WHERE c.measured) AS x, max(c.value) AS value, max(c.lacking) AS lacking,
            string_agg(c.conditions, ' AND ') AS conditions,
            coalesce(string_agg(format(', %s AS k%s', c.value, c.key_place), '') FILTER (WHERE c.key_place > 0), '') AS named,
            coalesce(string_agg(', ' || c.value, '') FILTER (WHERE c.key_place > 0), '') AS grouped,
            coalesce(string_agg(format(', t.k%s', c.key_place), '') FILTER (WHERE c.key_place > 0), '') AS keys
        FROM pganon.asked_columns(release, asked.measured, asked.conditions, asked.keys) AS c
        GROUP BY c.boxed, c.part, c.view, c.bucket ORDER BY 1
    LOOP
        IF item.measured THEN
            in_box := item.boxed;
            own_keys := replace(item.keys, 't.', '');
        ELSE
            rest := pganon.both_texts(rest, item.number::text);
        END IF;
        whole := pganon.both_texts(whole, item.number::text);
        IF item.boxed THEN
            grouped := grouped || format(', %s, %s', shown + 1, shown + 2);
            shown := shown + 2;
            boxes := boxes || format(', %s AS v%s, %s AS z%2$s', item.value, item.number, item.lacking);
            joins := joins || format(' CROSS JOIN LATERAL (%s) AS t%s', item.conditions, item.number);
            leaves := leaves || format(replace(', t#.lo AS lo#, t#.hi AS hi#, t#.p AS p#, t#.pp AS pp#', '#', '%1$s')
                || CASE WHEN item.keys <> '' THEN ', t%1$s.key AS ' || substr(item.keys, 5) ELSE '' END
                || CASE WHEN item.measured THEN replace(', t#.lo_x, t#.hi_x, t#.p_x, t#.pp_x, t#.u, t#.e2,'
                    ' t#.v0, t#.v1, t#.v2, t#.xmin, t#.xmax, t#.more, t#.less', '#', '%1$s') ELSE '' END, item.number);
            CONTINUE;
        END IF;
        SELECT coalesce(max(format('t.%I', c.column_name)), '1') INTO weight FROM pganon.release_columns AS c
        WHERE c.release = estimate_query.release AND c.view = item.view AND c.form = 'count';
        rows := format('SELECT t.%I AS bucket%s, %s AS w, %s AS x FROM %s AS t WHERE (%s) IS TRUE',
            item.bucket, item.named, weight,
            CASE WHEN item.measured THEN format('%s::text::numeric', item.x) ELSE 'NULL::numeric' END,
            item.view, item.conditions);
        tables := tables || format(
            ', part%1$s AS MATERIALIZED (SELECT t.bucket%2$s, sum(t.w)::bigint AS a,'
            ' coalesce(sum(t.w) FILTER (WHERE t.x IS NOT NULL), 0)::bigint AS a_x,'
            ' coalesce(sum(t.w * t.x::float8), 0) AS u, coalesce(sum(t.w * t.x::float8 ^ 2), 0) AS e2'
            ' FROM (%3$s) AS t GROUP BY t.bucket%2$s)', item.number, item.keys, rows);
        joins := joins || format(' %sJOIN part%s AS t%2$s ON t%2$s.bucket = b.bucket',
            CASE WHEN item.keys = '' THEN 'LEFT ' ELSE '' END, item.number);
        leaves := leaves || format(
            replace(', #.a AS lo%1$s, #.a AS hi%1$s, pganon.exact_share(b.n, #.a) AS p%1$s,'
                ' pganon.exact_pair(b.n, #.a) AS pp%1$s', '#.a', 'coalesce(t%1$s.a, 0)')
            || CASE WHEN item.measured THEN replace(', #_x AS lo_x, #_x AS hi_x, pganon.exact_share(b.n, #_x) AS p_x,'
                ' pganon.exact_pair(b.n, #_x) AS pp_x, coalesce(t%1$s.u, 0)::float8 AS u,'
                ' coalesce(t%1$s.e2, 0)::float8 AS e2, 0::float8 AS v0, 0::float8 AS v1, 0::float8 AS v2',
                '#_x', 'coalesce(t%1$s.a_x, 0)') ELSE '' END
            || replace(item.keys, 't.', 't%1$s.'), item.number);
        IF item.measured THEN
            tables := tables || format(
                ', copies AS MATERIALIZED (SELECT t.*, (sum(t.copies) OVER (PARTITION BY t.bucket%1$s'
                ' ORDER BY t.x))::bigint AS upto FROM (SELECT t.bucket%1$s, t.x, sum(t.w)::bigint AS copies'
                ' FROM (%2$s) AS t WHERE t.x IS NOT NULL GROUP BY t.bucket%1$s, t.x) AS t)', item.keys, rows);
        END IF;
    END LOOP;
    SELECT c.view, c.bucket, coalesce((
            SELECT format('t.%I', w.column_name) FROM pganon.release_columns AS w
            WHERE w.release = c.release AND w.view = c.view AND w.form = 'count'), '1') AS weight
    INTO home FROM pganon.release_columns AS c
    WHERE c.release = estimate_query.release AND c.bucket IS NOT NULL ORDER BY c.position LIMIT 1;
    IF asked.measure = 'weighted' THEN
        SELECT max(format(', sum(t.%I) AS w', c.column_name)) FILTER (WHERE c.form = 'weight')
            || coalesce(max(format(', min(lower(t.%1$I)) AS w_lo, max(upper(t.%1$I)) AS w_hi', c.column_name))
                FILTER (WHERE c.form = 'weight_range'), ', 0 AS w_lo, NULL::numeric AS w_hi')
        INTO weights FROM pganon.release_columns AS c
        WHERE c.release = estimate_query.release AND c.bucket IS NOT NULL;
        IF weights IS NULL THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA118', MESSAGE = format('the release %I shows no weights', release),
                HINT = 'ask for another measure, such as "count"';
        END IF;
        weighed := ', b.w, b.w_lo, b.w_hi';
    END IF;
    tables := format(
        'buckets AS MATERIALIZED (SELECT t.%1$I AS bucket, sum(%2$s)::bigint AS n%3$s%6$s FROM %4$s AS t'
        ' GROUP BY t.%1$I%5$s)', home.bucket, home.weight, boxes, home.view, grouped, weights
    ) || tables || format(', leaves AS MATERIALIZED (SELECT b.bucket, b.n%s FROM buckets AS b%s)', weighed || leaves, joins);
    SELECT 'jsonb_build_object(' || string_agg(format('%L, t.k%s', k.name, k.place), ', ' ORDER BY k.place) || ')'
    INTO key_text FROM unnest(asked.keys) WITH ORDINALITY AS k(name, place);
    with_own := pganon.both_texts(rest, '_x');
    RETURN 'WITH ' || tables || pganon.figures_query(
        asked.measure, coalesce((
            SELECT CASE c.kind WHEN 'real' THEN 1.2e-7 WHEN 'double precision' THEN 2.3e-16 END
            FROM pganon.release_columns AS c
            WHERE c.release = estimate_query.release AND c.column_name = asked.measured AND c.bucket IS NOT NULL), 0),
        cardinality(asked.keys), coalesce(key_text, 'NULL::jsonb'), in_box, own_keys, whole, rest, with_own);
END
$$;

COMMENT ON FUNCTION pganon.estimate_query(text, jsonb) IS 'the statement of pganon.estimate';
