-- The probability that two given records of a bucket both match. The histogram of the records that do
-- not have to have attained values is Dirichlet-multinomial over `size` values (infinity: multinomial).
CREATE FUNCTION pganon.box_pair(n bigint, attained bigint, certain bigint, share float8, size float8)
    RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN n > 1 THEN (
            (n - attained) * share * (1 - share) * (1 + (n - attained) / size) / (1 + 1 / size)
            + (certain + (n - attained) * share) * (certain + (n - attained) * share - 1)
        ) / (n::float8 * (n - 1))
        ELSE 0
    END;

COMMENT ON FUNCTION pganon.box_pair(bigint, bigint, bigint, float8, float8) IS
    'the probability that two records of a bucket both match a condition on a generalized column';
