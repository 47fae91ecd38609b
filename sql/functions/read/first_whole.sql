-- The lowest whole number of a range: -infinity if it has no lower end, NULL if it is NULL or empty.
CREATE FUNCTION pganon.first_whole(range numrange) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN lower_inc(range) THEN ceil(lower(range))
        WHEN lower_inf(range) THEN '-infinity'
        ELSE floor(lower(range)) + 1
    END;

COMMENT ON FUNCTION pganon.first_whole(numrange) IS 'the lowest whole number of a range';
