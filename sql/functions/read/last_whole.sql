-- The highest whole number of a range: infinity if it has no upper end, NULL if it is NULL or empty.
CREATE FUNCTION pganon.last_whole(range numrange) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN upper_inc(range) THEN floor(upper(range))
        WHEN upper_inf(range) THEN 'infinity'
        ELSE ceil(upper(range)) - 1
    END;

COMMENT ON FUNCTION pganon.last_whole(numrange) IS 'the highest whole number of a range';
