-- The most records of a bucket that match: all but those that surely have values that do not.
CREATE FUNCTION pganon.box_upper(n bigint, matching bigint, attained bigint, certain bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN matching = 0 THEN 0 ELSE n - (attained - certain) END;

COMMENT ON FUNCTION pganon.box_upper(bigint, bigint, bigint, bigint) IS
    'the most records of a bucket that match a condition on a generalized column';
