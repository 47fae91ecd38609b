-- The fewest records of a bucket that match two conditions on different slices of its columns.
CREATE FUNCTION pganon.both_lower(n bigint, one bigint, other bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN greatest(0, one + other - n);

COMMENT ON FUNCTION pganon.both_lower(bigint, bigint, bigint) IS
    'the fewest of n records that match two conditions which so many match';
