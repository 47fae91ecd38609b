-- How many of `copies` equal values, of which the last has the rank `upto`, are among the first `taken`.
CREATE FUNCTION pganon.ranked(copies bigint, upto bigint, taken bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN least(copies, greatest(0, taken - (upto - copies)));

COMMENT ON FUNCTION pganon.ranked(bigint, bigint, bigint) IS
    'how many of equal values that end at a rank are among the first so many';
