-- The variance of the number of records of a bucket that match; 0 where the bounds meet.
CREATE FUNCTION pganon.count_variance(n bigint, fewest bigint, most bigint, share float8, pair float8)
    RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN fewest = most THEN 0
        WHEN pair IS NOT NULL
            THEN greatest(0, n::float8 * (n - 1) * pair + n * share - (n * share) ^ 2)
    END;

COMMENT ON FUNCTION pganon.count_variance(bigint, bigint, bigint, float8, float8) IS
    'the variance of the number of records of a bucket that match';
