-- Whether a published value can be this one: a range, a set, or an exact number, date or moment. Not
-- text, which may be the label of a hierarchy and stand for others. Any argument that is NULL gives NULL.
--
-- PostgreSQL puts the expressions into the queries that call them, where an index on a range helps. The
-- operators @> lack casts: numrange @> integer is none of them. A body in quotes is read under the
-- caller's search path, so it qualifies every name.
CREATE FUNCTION pganon.overlaps(range anycompatiblerange, value anycompatible) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT $1 OPERATOR(pg_catalog.@>) $2
$$;

CREATE FUNCTION pganon.overlaps(set anycompatiblearray, value anycompatible) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN $2 IS NOT NULL THEN $1 OPERATOR(pg_catalog.@>) ARRAY[$2] END
$$;

CREATE FUNCTION pganon.overlaps(exact numeric, value numeric) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN exact = value;

CREATE FUNCTION pganon.overlaps(exact date, value date) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN exact = value;

CREATE FUNCTION pganon.overlaps(exact timestamp, value timestamp) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN exact = value;

CREATE FUNCTION pganon.overlaps(exact timestamptz, value timestamptz) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN exact = value;

COMMENT ON FUNCTION pganon.overlaps(anycompatiblerange, anycompatible) IS 'whether this range can be the value';
COMMENT ON FUNCTION pganon.overlaps(anycompatiblearray, anycompatible) IS 'whether this set can be the value';
COMMENT ON FUNCTION pganon.overlaps(numeric, numeric) IS 'whether this exact value can be the value';
COMMENT ON FUNCTION pganon.overlaps(date, date) IS 'whether this exact value can be the value';
COMMENT ON FUNCTION pganon.overlaps(timestamp, timestamp) IS 'whether this exact value can be the value';
COMMENT ON FUNCTION pganon.overlaps(timestamptz, timestamptz) IS 'whether this exact value can be the value';
