-- The share of a range that lies within limits, both of them included, if values are spread evenly. Of
-- a set it is the share of its values that are this one.
--
-- Days and microseconds are counted, and so are whole numbers: where `whole` is NULL, of ranges whose
-- ends are whole. Other numbers are a ratio of lengths; a range of one number is within the limits or
-- not.
--
-- A range without a lower or upper end has a share where that is certainly 0 or 1, else NULL. A range
-- that holds nothing has none. Arguments that are NULL give NULL, and no value is within low limits
-- above high ones.
--
-- PostgreSQL puts the expressions into the queries that call them, so there is neither SET nor a
-- sub-select. A body in quotes is read under the caller's search path, so it qualifies every name.
CREATE FUNCTION pganon.share(range numrange, low numeric, high numeric, whole boolean DEFAULT NULL)
    RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN range IS NULL OR isempty(range) OR low IS NULL OR high IS NULL THEN NULL
        WHEN coalesce(
            whole,
            coalesce(lower(range) = trunc(lower(range)), true)
            AND coalesce(upper(range) = trunc(upper(range)), true)
        ) THEN CASE
            WHEN pganon.first_whole(range) > pganon.last_whole(range) THEN NULL
            WHEN low <= pganon.first_whole(range) AND pganon.last_whole(range) <= high THEN 1
            WHEN ceil(low) > floor(high) OR low > pganon.last_whole(range)
                OR high < pganon.first_whole(range) THEN 0
            WHEN lower(range) > '-infinity' AND upper(range) < 'infinity' THEN
                (
                    least(floor(high), pganon.last_whole(range))
                    - greatest(ceil(low), pganon.first_whole(range)) + 1
                ) / (pganon.last_whole(range) - pganon.first_whole(range) + 1)
        END
        WHEN low <= coalesce(lower(range), '-infinity') AND coalesce(upper(range), 'infinity') <= high
            THEN 1
        WHEN low > high OR NOT range && numrange(low, greatest(low, high), '[]') THEN 0
        WHEN lower(range) > '-infinity' AND upper(range) < 'infinity' THEN
            (least(high, upper(range)) - greatest(low, lower(range))) / (upper(range) - lower(range))
    END;

CREATE FUNCTION pganon.share(range daterange, low date, high date) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN range IS NULL OR isempty(range) OR low IS NULL OR high IS NULL THEN NULL
        WHEN low <= coalesce(lower(range), '-infinity')
            AND coalesce(upper(range) - 1, 'infinity') <= high THEN 1
        WHEN low > high OR high < lower(range) OR low >= upper(range) THEN 0
        WHEN isfinite(lower(range)) AND isfinite(upper(range)) THEN
            (least(high, upper(range) - 1) - greatest(low, lower(range)) + 1)::numeric
            / (upper(range) - lower(range))
    END;

-- Moments are counted from one in the middle: the longest ranges are too long for an interval.
-- Of two ends, not of one: PostgreSQL computes what is constant even where CASE would not, and before
-- version 17 the difference to an infinite `high` is an error.
CREATE FUNCTION pganon.share(range tsrange, low timestamp, high timestamp) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN range IS NULL OR isempty(range) OR low IS NULL OR high IS NULL THEN NULL
        WHEN low <= coalesce(lower(range), '-infinity') AND coalesce(upper(range), 'infinity') <= high
            THEN 1
        WHEN low > high OR NOT range && tsrange(low, greatest(low, high), '[]') THEN 0
        WHEN isfinite(lower(range)) AND isfinite(upper(range)) THEN
            (
                extract(epoch FROM least(high, upper(range)) - timestamp '2000-01-01')
                + CASE WHEN high < upper(range) THEN 0.000001 ELSE 0 END
                - extract(epoch FROM greatest(low, lower(range)) - timestamp '2000-01-01')
            ) / (
                extract(epoch FROM upper(range) - timestamp '2000-01-01')
                - extract(epoch FROM lower(range) - timestamp '2000-01-01')
            )
    END;

CREATE FUNCTION pganon.share(range tstzrange, low timestamptz, high timestamptz) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN range IS NULL OR isempty(range) OR low IS NULL OR high IS NULL THEN NULL
        WHEN low <= coalesce(lower(range), '-infinity') AND coalesce(upper(range), 'infinity') <= high
            THEN 1
        WHEN low > high OR NOT range && tstzrange(low, greatest(low, high), '[]') THEN 0
        WHEN isfinite(lower(range)) AND isfinite(upper(range)) THEN
            (
                extract(epoch FROM least(high, upper(range)) - timestamptz '2000-01-01 00:00+00')
                + CASE WHEN high < upper(range) THEN 0.000001 ELSE 0 END
                - extract(epoch FROM greatest(low, lower(range)) - timestamptz '2000-01-01 00:00+00')
            ) / (
                extract(epoch FROM upper(range) - timestamptz '2000-01-01 00:00+00')
                - extract(epoch FROM lower(range) - timestamptz '2000-01-01 00:00+00')
            )
    END;

CREATE FUNCTION pganon.share(set anycompatiblearray, value anycompatible) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN $2 IS NOT NULL AND pg_catalog.cardinality($1) OPERATOR(pg_catalog.>) 0 THEN
            pg_catalog.cardinality(pg_catalog.array_positions($1, $2))::pg_catalog.numeric
            OPERATOR(pg_catalog./) pg_catalog.cardinality($1)::pg_catalog.numeric
    END
$$;

COMMENT ON FUNCTION pganon.share(numrange, numeric, numeric, boolean) IS
    'share of a range of numbers that lies from low to high, if values are spread evenly';
COMMENT ON FUNCTION pganon.share(daterange, date, date) IS
    'share of the days of a range that are from low to high';
COMMENT ON FUNCTION pganon.share(tsrange, timestamp, timestamp) IS
    'share of a range of moments that lies from low to high, if values are spread evenly';
COMMENT ON FUNCTION pganon.share(tstzrange, timestamptz, timestamptz) IS
    'share of a range of moments that lies from low to high, if values are spread evenly';
COMMENT ON FUNCTION pganon.share(anycompatiblearray, anycompatible) IS
    'share of the values of a set that are this one';
