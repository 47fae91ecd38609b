-- The probability that neither of two records matches, from those that one and both do.
CREATE FUNCTION pganon.neither_pair(share float8, pair float8) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 1 - 2 * share + pair;

COMMENT ON FUNCTION pganon.neither_pair(float8, float8) IS
    'the probability that neither of two records matches';
