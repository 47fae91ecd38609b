-- The probability that a record of a bucket matches a condition on one generalized column. Every
-- attained value is had once; the other records have a matching value with probability `share`.
CREATE FUNCTION pganon.box_share(n bigint, attained bigint, certain bigint, share float8) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (certain + (n - attained) * share) / n;

COMMENT ON FUNCTION pganon.box_share(bigint, bigint, bigint, float8) IS
    'the probability that a record of a bucket matches a condition on a generalized column';
