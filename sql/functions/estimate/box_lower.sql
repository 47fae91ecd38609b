-- The fewest records of a bucket that match a condition on one generalized column. `size` values are
-- possible there, `matching` of them match, and so do `certain` of the values that records surely have.
CREATE FUNCTION pganon.box_lower(n bigint, size bigint, matching bigint, certain bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN matching = size THEN n ELSE certain END;

COMMENT ON FUNCTION pganon.box_lower(bigint, bigint, bigint, bigint) IS
    'the fewest records of a bucket that match a condition on a generalized column';
