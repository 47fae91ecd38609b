-- The probability that two given records of a bucket both match, if `matching` of its n records do.
CREATE FUNCTION pganon.exact_pair(n bigint, matching bigint) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN n > 1 THEN matching::float8 * (matching - 1) / (n::float8 * (n - 1)) ELSE 0 END;

COMMENT ON FUNCTION pganon.exact_pair(bigint, bigint) IS
    'the probability that two records of a bucket are both among those that match';
