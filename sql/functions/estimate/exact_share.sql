-- The probability that a record of a bucket matches, if `matching` of its n records do.
CREATE FUNCTION pganon.exact_share(n bigint, matching bigint) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN matching::float8 / n;

COMMENT ON FUNCTION pganon.exact_share(bigint, bigint) IS
    'the probability that a record of a bucket is one of those that match';
