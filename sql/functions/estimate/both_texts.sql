-- Counts and probabilities of records that match some conditions, as expressions over leaves l, with
-- those of one more part: fewest, most, and probabilities of one and of two records.
CREATE FUNCTION pganon.both_texts(p_some text[], p_suffix text) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    RETURN ARRAY[
        format('pganon.both_lower(l.n, %s, l.lo%s)', p_some[1], p_suffix),
        format('least(%s, l.hi%s)', p_some[2], p_suffix),
        format('%s * l.p%s', p_some[3], p_suffix),
        format('%s * l.pp%s', p_some[4], p_suffix)
    ];

COMMENT ON FUNCTION pganon.both_texts(text[], text) IS
    'a part of the statement of pganon.estimate: conditions of one more part';
