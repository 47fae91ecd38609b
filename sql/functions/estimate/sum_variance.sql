-- The variance of the sum of a column over the records of a bucket that match the conditions on other
-- columns, each with probability `share`, two of them with `pair`. The arguments are expectations:
-- `total` of the sum of all values, `squares` of the sum of their squares, and `spread` is the
-- variance of the former.
CREATE FUNCTION pganon.sum_variance(
    total float8, squares float8, spread float8, share float8, pair float8
) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN pair IS NOT NULL THEN greatest(
            0, share * squares + pair * (spread + total ^ 2 - squares) - (share * total) ^ 2
        )
    END;

COMMENT ON FUNCTION pganon.sum_variance(float8, float8, float8, float8, float8) IS
    'the variance of a sum over the records of a bucket that match';
