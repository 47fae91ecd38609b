-- snapshot.snapshot: read the source, once
CREATE TABLE pganon_work.r0_snap AS
SELECT
  "t"."q0" AS "q0",
  CASE WHEN NOT "t"."f0" THEN "t"."q1" END AS "q1",
  CASE WHEN "t"."f0" THEN "t"."s0" END AS "s0",
  "t"."s1" AS "s1",
  "t"."p0" AS "p0",
  "t"."record" AS "record",
  "t"."f0" AS "f0"
FROM (
  SELECT
    CAST("src"."age" AS bigint) AS "q0",
    CAST("src"."zip" AS TEXT) COLLATE "C" AS "q1",
    "src"."zip" AS "s0",
    "src"."disease" AS "s1",
    "src"."cost" AS "p0",
    CAST((
      "src"."id"
    ) AS text) AS "record",
    (
      "age" < 22
    ) IS DISTINCT FROM FALSE AS "f0"
  FROM "public"."visit" AS "src"
  OFFSET '0'
) AS "t";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
SELECT
  COUNT(*) AS "records",
  COUNT(*) - COUNT("t"."q0") AS "nulls_q0",
  COUNT(*) FILTER(WHERE
    (
      NOT "t"."f0"
    ) AND "t"."q1" IS NULL) AS "nulls_q1",
  COUNT(*) FILTER(WHERE
    "t"."f0" AND "t"."s0" IS NULL) AS "nulls_s0",
  COUNT(*) - COUNT("t"."s1") AS "nulls_s1"
FROM "pganon_work"."r0_snap" AS "t";

-- encode.source: fingerprint of the source
SELECT
  SHA256(
    (
      SELECT
        "s"."key"
      FROM "pganon_private"."installation_secret" AS "s"
    ) || CONVERT_TO(
      '1b307b141c02f0842d17b7932ef16589f5dedd88fbd23bc85d5a7b693bb3a01e' || ':' || "x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b",
      'UTF8'
    )
  ) AS "source_plain",
  SHA256(
    (
      SELECT
        "s"."key"
      FROM "pganon_private"."installation_secret" AS "s"
    ) || CONVERT_TO(
      '3b179ed56634b095184171f58bc015c8e723b9cf5e2bce4cab14c66578d771e2' || ':' || "x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b",
      'UTF8'
    )
  ) AS "source_rows"
FROM (
  SELECT
    COUNT(*) AS "row_count",
    CAST(COALESCE(
      SUM(
        HASHTEXTEXTENDED(
          "k"."hash",
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."installation_secret" AS "s"
          )
        )
      ),
      0
    ) AS TEXT) AS "sum_a",
    CAST(COALESCE(
      SUM(
        HASHTEXTEXTENDED(
          "k"."hash",
          (
            SELECT
              "s"."seed_b"
            FROM "pganon_private"."installation_secret" AS "s"
          )
        )
      ),
      0
    ) AS TEXT) AS "sum_b",
    CAST(COALESCE(
      SUM(
        HASHTEXTEXTENDED(
          "k"."keyed",
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."installation_secret" AS "s"
          )
        )
      ),
      0
    ) AS TEXT) AS "keyed_a",
    CAST(COALESCE(
      SUM(
        HASHTEXTEXTENDED(
          "k"."keyed",
          (
            SELECT
              "s"."seed_b"
            FROM "pganon_private"."installation_secret" AS "s"
          )
        )
      ),
      0
    ) AS TEXT) AS "keyed_b"
  FROM (
    SELECT
      "r"."hash",
      CAST(HASH_RECORD_EXTENDED(
        ROW("r"."hash", "r"."key0"),
        (
          SELECT
            "s"."seed_a"
          FROM "pganon_private"."installation_secret" AS "s"
        )
      ) AS TEXT) AS "keyed"
    FROM (
      SELECT
        CAST(HASH_RECORD_EXTENDED(
          ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1", "t"."p0", "t"."f0"),
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."installation_secret" AS "s"
          )
        ) AS TEXT) AS "hash",
        "t"."record" AS "key0"
      FROM "pganon_work"."r0_snap" AS "t"
      OFFSET '0'
    ) AS "r"
    OFFSET '0'
  ) AS "k"
) AS "x";

-- encode.histogram0: distinct values of age, zip
CREATE TABLE pganon_work.r0_histogram0 AS
SELECT
  COUNT(*) AS "n",
  GROUPING("s"."q0", "s"."q1") AS "other",
  "s"."q0",
  "s"."q1",
  "s"."f0"
FROM "pganon_work"."r0_snap" AS "s"
GROUP BY
  GROUPING SETS (
    ("s"."q0"),
    ("s"."q1", "s"."f0")
  );

-- encode.values0: distinct values of age
CREATE TABLE pganon_work.r0_values0 AS
SELECT
  "h"."q0" AS "value",
  "h"."n"
FROM "pganon_work"."r0_histogram0" AS "h"
WHERE
  "h"."other" = 1;

-- encode.dictionary0: codes of age
CREATE TABLE pganon_work.r0_dict0 AS
SELECT
  "r".*
FROM (
  SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY "v"."value") AS INT) AS "code",
    "v"."value",
    "v"."n",
    CAST(ROUND(
      COALESCE(
        (
          CAST("v"."value" AS DECIMAL) - (
            MIN(CAST("v"."value" AS DECIMAL)) OVER ()
          )
        ) / NULLIF(
          (
            MAX(CAST("v"."value" AS DECIMAL)) OVER ()
          ) - (
            MIN(CAST("v"."value" AS DECIMAL)) OVER ()
          ),
          0
        ),
        0
      ),
      40
    ) AS DOUBLE PRECISION) AS "position"
  FROM "pganon_work"."r0_values0" AS "v"
  WHERE
    "v"."value" IS NOT NULL
) AS "r"
UNION ALL
SELECT
  0 AS "code",
  "v"."value",
  "v"."n",
  CAST(NULL AS DOUBLE PRECISION) AS "position"
FROM "pganon_work"."r0_values0" AS "v"
WHERE
  "v"."value" IS NULL;

-- encode.values1: distinct values of zip where they are shown
CREATE TABLE pganon_work.r0_values1 AS
SELECT
  "h"."q1" AS "value",
  "h"."n"
FROM "pganon_work"."r0_histogram0" AS "h"
WHERE
  "h"."other" = 2 AND NOT "h"."f0";

-- encode.dictionary1: codes of zip
CREATE TABLE pganon_work.r0_dict1 AS
SELECT
  "r".*
FROM (
  SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY "v"."value") AS INT) AS "code",
    "v"."value",
    "v"."n",
    CAST(NULL AS DOUBLE PRECISION) AS "position"
  FROM "pganon_work"."r0_values1" AS "v"
  WHERE
    "v"."value" IS NOT NULL
) AS "r"
UNION ALL
SELECT
  0 AS "code",
  "v"."value",
  "v"."n",
  CAST(NULL AS DOUBLE PRECISION) AS "position"
FROM "pganon_work"."r0_values1" AS "v"
WHERE
  "v"."value" IS NULL;

-- encode.tidy: what dictionaries were made from
DROP TABLE pganon_work.r0_histogram0;

-- encode.sensitive0: values of zip
CREATE TABLE pganon_work.r0_sdict0 AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "g"."place") AS INT) AS "code",
  "g"."value",
  "g"."n"
FROM (
  SELECT
    "t"."value",
    MIN("t"."place") AS "place",
    COUNT(*) AS "n"
  FROM (
    SELECT
      CAST("t"."s0" AS TEXT) COLLATE "C" AS "value",
      CAST("t"."s0" AS TEXT) COLLATE "C" AS "place"
    FROM (
      SELECT
        "t".*
      FROM "pganon_work"."r0_snap" AS "t"
      WHERE
        "t"."f0"
    ) AS "t"
  ) AS "t"
  GROUP BY
    "t"."value"
) AS "g";

-- encode.sensitive1: values of disease
CREATE TABLE pganon_work.r0_sdict1 AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "g"."place") AS INT) AS "code",
  "g"."value",
  "g"."n"
FROM (
  SELECT
    "t"."value",
    MIN("t"."place") AS "place",
    COUNT(*) AS "n"
  FROM (
    SELECT
      CAST("t"."s1" AS TEXT) COLLATE "C" AS "value",
      CAST("t"."s1" AS TEXT) COLLATE "C" AS "place"
    FROM "pganon_work"."r0_snap" AS "t"
  ) AS "t"
  GROUP BY
    "t"."value"
) AS "g";

-- encode.republication: the source compared with that of earlier versions
SELECT
  0 AS "nothing";

-- encode.sizes: sizes of the dictionaries
SELECT
  0 AS "nothing",
  (
    SELECT
      COALESCE(MAX("d"."code"), 0)
    FROM "pganon_work"."r0_dict0" AS "d"
  ) AS "m0",
  (
    SELECT
      COALESCE(BOOL_OR("d"."code" = 0), FALSE)
    FROM "pganon_work"."r0_dict0" AS "d"
  ) AS "null0",
  (
    SELECT
      COALESCE(MAX("d"."code"), 0)
    FROM "pganon_work"."r0_dict1" AS "d"
  ) AS "m1",
  (
    SELECT
      COALESCE(BOOL_OR("d"."code" = 0), FALSE)
    FROM "pganon_work"."r0_dict1" AS "d"
  ) AS "null1",
  (
    SELECT
      COUNT(*)
    FROM "pganon_work"."r0_sdict0" AS "d"
  ) AS "sm0",
  (
    SELECT
      COALESCE(MAX("d"."code") FILTER(WHERE
        "d"."value" IS NULL), 0)
    FROM "pganon_work"."r0_sdict0" AS "d"
  ) AS "snull0",
  (
    SELECT
      COUNT(*)
    FROM (
      SELECT
        1 AS "one"
      FROM "pganon_work"."r0_sdict0" AS "d"
      GROUP BY
        "pganon".looks("d"."value")
      HAVING
        COUNT(*) > 1
    ) AS "g"
  ) AS "slooks0",
  (
    SELECT
      COUNT(*)
    FROM "pganon_work"."r0_sdict1" AS "d"
  ) AS "sm1",
  (
    SELECT
      COALESCE(MAX("d"."code") FILTER(WHERE
        "d"."value" IS NULL), 0)
    FROM "pganon_work"."r0_sdict1" AS "d"
  ) AS "snull1",
  (
    SELECT
      COUNT(*)
    FROM (
      SELECT
        1 AS "one"
      FROM "pganon_work"."r0_sdict1" AS "d"
      GROUP BY
        "pganon".looks("d"."value")
      HAVING
        COUNT(*) > 1
    ) AS "g"
  ) AS "slooks1";

-- encode.coded: values become codes
CREATE TABLE pganon_work.r0_coded AS
SELECT
  CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
  CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1",
  "t"."s0" AS "v0",
  "t"."s1" AS "v1",
  "t"."p0",
  "t"."record",
  "t"."f0",
  (
    CAST((
      NOT "t"."f0"
    ) AS INT) * 1
  ) AS "hides",
  ROW_NUMBER() OVER (
    ORDER BY COALESCE("e1"."code", 1), HASHTEXTEXTENDED(
      CAST(HASH_RECORD_EXTENDED(
        ROW("t"."record"),
        (
          SELECT
            "s"."partition_seed"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        )
      ) AS TEXT),
      (
        SELECT
          "s"."partition_seed"
        FROM "pganon_private"."run_secret" AS "s"
        WHERE
          "s"."run_id" = 0
      )
    )
  ) AS "rid",
  CAST(CASE WHEN "t"."f0" THEN COALESCE("e0"."code", 1) ELSE 0 END AS integer) AS "s0",
  CAST(COALESCE("e1"."code", 1) AS integer) AS "s1"
FROM "pganon_work"."r0_snap" AS "t"
LEFT JOIN "pganon_work"."r0_dict0" AS "l0"
  ON "l0"."value" = "t"."q0"
LEFT JOIN "pganon_work"."r0_dict1" AS "l1"
  ON "l1"."value" = "t"."q1"
LEFT JOIN "pganon_work"."r0_sdict0" AS "e0"
  ON "e0"."value" = (
    CAST("t"."s0" AS TEXT) COLLATE "C"
  )
LEFT JOIN "pganon_work"."r0_sdict1" AS "e1"
  ON "e1"."value" = (
    CAST("t"."s1" AS TEXT) COLLATE "C"
  );

-- encode.encoded: every record that the rules for NULL keep is encoded once
SELECT
  0 AS "unknown";

-- encode.reference0_source: distribution of zip (source)
CREATE TABLE pganon_work.r0_ref0_source AS
SELECT
  "x"."code" AS "value",
  "x"."code" AS "position",
  "x"."n",
  CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share"
FROM (
  SELECT
    "d"."code",
    "d"."n"
  FROM "pganon_work"."r0_sdict0" AS "d"
) AS "x";

-- encode.tidy: the snapshot is not needed any more
DROP TABLE pganon_work.r0_snap;

-- partition.masks: records by which of their values are sensitive
CREATE TABLE pganon_work.r0_masks AS
SELECT
  CASE WHEN "r"."f0" THEN 'b' ELSE 'g' END AS "mask",
  "r"."n"
FROM (
  SELECT
    COUNT(*) AS "n",
    "c"."f0"
  FROM "pganon_work"."r0_coded" AS "c"
  GROUP BY
    "c"."f0"
  HAVING
    COUNT(*) > 0
) AS "r";

-- partition.subsets: whether there are enough records of every mask
SELECT
  COUNT(*) AS "subsets",
  COUNT(*) FILTER(WHERE
    "m"."n" < 1) AS "small",
  CAST(COALESCE(SUM("m"."n") FILTER(WHERE
    "m"."n" < 1), 0) AS BIGINT) AS "few"
FROM "pganon_work"."r0_masks" AS "m";

-- partition.displays: what records of every mask show
SELECT
  1 AS "nothing";
SELECT
  "m"."mask",
  "m"."n"
FROM "pganon_work"."r0_masks" AS "m"
ORDER BY
  "m"."mask" COLLATE "C";
COPY pganon_work.r0_displays (mask, display, form) FROM STDIN;

-- partition.suppressed: records left out, held against the limit
SELECT
  CAST(COALESCE(SUM("t"."n"), 0) AS BIGINT) AS "released",
  40 - CAST(COALESCE(SUM("t"."n"), 0) AS BIGINT) AS "suppressed"
FROM (
  SELECT
    "m"."n"
  FROM "pganon_work"."r0_masks" AS "m"
  JOIN "pganon_work"."r0_displays" AS "d"
    ON "d"."mask" = "m"."mask"
) AS "t";

-- partition.tidy: the masks
DROP TABLE pganon_work.r0_masks;

-- partition.group_cells: a group for each combination of values that are shown
CREATE TABLE pganon_work.r0_group_cells AS
SELECT
  ROW_NUMBER() OVER (ORDER BY "p"."display", "p"."c0", "p"."c1") AS "gid",
  "p"."display",
  "p"."c0",
  "p"."c1"
FROM (
  SELECT
    "c"."rid",
    "c"."hides" AS "display",
    "c"."c0",
    "c"."c1",
    "c"."s0",
    "c"."s1",
    "c"."v0",
    "c"."v1",
    "c"."p0",
    "c"."record"
  FROM "pganon_work"."r0_coded" AS "c"
) AS "p"
GROUP BY
  "p"."display",
  "p"."c0",
  "p"."c1";

-- partition.shown: how far the values that are shown lie apart
SELECT
  COUNT(*) AS "shown_cells",
  COALESCE(
    (
      (
        SELECT
          ARRAY_AGG("position" ORDER BY "code")
        FROM "pganon_work"."r0_dict0" AS "dict"
        WHERE
          "code" > 0
      )[(
        MAX("d"."c0") FILTER(WHERE
          "d"."c0" > 0 AND TRUE)
      )]
    ) - (
      (
        SELECT
          ARRAY_AGG("position" ORDER BY "code")
        FROM "pganon_work"."r0_dict0" AS "dict"
        WHERE
          "code" > 0
      )[(
        MIN("d"."c0") FILTER(WHERE
          "d"."c0" > 0 AND TRUE)
      )]
    ),
    0
  ) AS "shown0",
  COALESCE(
    BIT_COUNT(
      CAST((
        (
          BIT_OR(CAST(1 AS BIGINT) << "d"."c1") FILTER(WHERE
            SUBSTRING("d"."form" FROM 1 FOR 1) = 'g')
        )
      ) AS BIT(64))
    ),
    0
  ) AS "shown1",
  CAST(LEAST(
    (
      COUNT(*) FILTER(WHERE
        "d"."c1" = 0 AND (
          SUBSTRING("d"."form" FROM 1 FOR 1) = 'g'
        ))
    ),
    1
  ) AS INT) AS "shown_null1"
FROM (
  SELECT
    "p".*,
    "d"."form"
  FROM "pganon_work"."r0_group_cells" AS "p"
  JOIN (
    SELECT DISTINCT
      "d"."display",
      "d"."form"
    FROM "pganon_work"."r0_displays" AS "d"
  ) AS "d"
    ON "d"."display" = "p"."display"
) AS "d";

-- partition.numbers_group_id: random numbers for the groups
CREATE TABLE pganon_work.r0_numbers_group_id AS
SELECT
  "g"."gid",
  CAST((
    ROW_NUMBER() OVER (
      ORDER BY SHA256(
        (
          SELECT
            "s"."key"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        ) || CONVERT_TO(CAST('group_id:' || CAST("g"."gid" AS text) AS text), 'UTF8')
      ), "g"."gid"
    )
  ) AS INT) AS "group_id"
FROM (
  SELECT
    "g"."gid"
  FROM "pganon_work"."r0_group_cells" AS "g"
  GROUP BY
    "g"."gid"
) AS "g";

-- partition.grouped_classes: the group of all records that show the same
CREATE TABLE pganon_work.r0_grouped_classes AS
SELECT
  "n"."group_id" AS "class_id",
  "g"."display",
  "g"."c0",
  "g"."c1"
FROM "pganon_work"."r0_group_cells" AS "g"
JOIN "pganon_work"."r0_numbers_group_id" AS "n"
  ON "n"."gid" = "g"."gid";

-- partition.hidden: hidden values of all columns together
CREATE TABLE pganon_work.r0_hidden AS
SELECT
  COUNT(*) AS "w",
  "p"."s0",
  "p"."s1"
FROM (
  SELECT
    "c"."rid",
    "c"."hides" AS "display",
    "c"."c0",
    "c"."c1",
    "c"."s0",
    "c"."s1",
    "c"."v0",
    "c"."v1",
    "c"."p0",
    "c"."record"
  FROM "pganon_work"."r0_coded" AS "c"
) AS "p"
GROUP BY
  "p"."s0",
  "p"."s1";

-- partition.histogram0: hidden values of zip
CREATE TABLE pganon_work.r0_histogram0 AS
SELECT
  "h"."code",
  "h"."n",
  CAST(NULL AS DOUBLE PRECISION) AS "position"
FROM (
  SELECT
    "p"."s0" AS "code",
    CAST(SUM("p"."w") AS BIGINT) AS "n"
  FROM "pganon_work"."r0_hidden" AS "p"
  WHERE
    "p"."s0" > 0
  GROUP BY
    "p"."s0"
) AS "h"
JOIN "pganon_work"."r0_sdict0" AS "d"
  ON "d"."code" = "h"."code";

-- partition.eligible0: whether hidden values of zip can be in buckets
SELECT
  "x"."cells",
  "x"."most",
  "x"."kinds",
  "x"."cells" > 0 AND (
    "x"."cells" < 1 OR "x"."kinds" < 2
  ) AS "short",
  (
    "x"."cells" > 0 AND (
      "x"."cells" < 1 OR "x"."kinds" < 2
    )
  ) AND FALSE AS "withheld"
FROM (
  SELECT
    CAST(COALESCE(SUM("h"."n"), 0) AS BIGINT) AS "cells",
    COALESCE(MAX("h"."n"), 0) AS "most",
    COUNT(*) AS "kinds"
  FROM "pganon_work"."r0_histogram0" AS "h"
) AS "x";

-- partition.histogram1: hidden values of disease
CREATE TABLE pganon_work.r0_histogram1 AS
SELECT
  "h"."code",
  "h"."n",
  CAST(NULL AS DOUBLE PRECISION) AS "position"
FROM (
  SELECT
    "p"."s1" AS "code",
    CAST(SUM("p"."w") AS BIGINT) AS "n"
  FROM "pganon_work"."r0_hidden" AS "p"
  WHERE
    "p"."s1" > 0
  GROUP BY
    "p"."s1"
) AS "h"
JOIN "pganon_work"."r0_sdict1" AS "d"
  ON "d"."code" = "h"."code";

-- partition.eligible1: whether hidden values of disease can be in buckets
SELECT
  "x"."cells",
  "x"."most",
  "x"."kinds",
  (
    "x"."most" * 2 > "x"."cells"
  ) AS "short",
  (
    "x"."most" * 2 > "x"."cells"
  ) AND FALSE AS "withheld"
FROM (
  SELECT
    CAST(COALESCE(SUM("h"."n"), 0) AS BIGINT) AS "cells",
    COALESCE(MAX("h"."n"), 0) AS "most",
    COUNT(*) AS "kinds"
  FROM "pganon_work"."r0_histogram1" AS "h"
) AS "x";

-- partition.linked: whether buckets of one column tell of those of another
SELECT
  CAST(JSONB_AGG(
    JSONB_BUILD_ARRAY("x"."i", "x"."j", "x"."records", "x"."strength", "x"."determined") ORDER BY "x"."i", "x"."j"
  ) AS TEXT) AS "links"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      0 AS "i",
      1 AS "j",
      (
        SELECT
          CAST(COALESCE(SUM("t"."w"), 0) AS BIGINT)
        FROM (
          SELECT
            "p"."s0" AS "a",
            "p"."s1" AS "b",
            "p"."w"
          FROM "pganon_work"."r0_hidden" AS "p"
          WHERE
            "p"."s0" > 0 AND "p"."s1" > 0
        ) AS "t"
      ) AS "records",
      COALESCE(
        (
          SELECT
            MAX(CAST((
              "v"."pair" ->> 2
            ) AS DOUBLE PRECISION))
          FROM JSONB_ARRAY_ELEMENTS(
            CAST((
              SELECT
                CAST(COALESCE(
                  JSONB_AGG(
                    JSONB_BUILD_ARRAY("v"."i", "v"."j", TRIM_SCALE(ROUND(CAST("v"."value" AS DECIMAL), 9))) ORDER BY "v"."i", "v"."j"
                  ),
                  CAST('[]' AS JSONB)
                ) AS text) AS "association"
              FROM (
                WITH "e" AS MATERIALIZED (
                  SELECT
                    1 AS "n"
                ), "x" AS MATERIALIZED (
                  SELECT
                    COALESCE("t"."a", -1) AS "k0",
                    COALESCE("t"."b", -1) AS "k1",
                    "t"."w"
                  FROM (
                    SELECT
                      "p"."s0" AS "a",
                      "p"."s1" AS "b",
                      "p"."w"
                    FROM "pganon_work"."r0_hidden" AS "p"
                    WHERE
                      "p"."s0" > 0 AND "p"."s1" > 0
                  ) AS "t"
                  CROSS JOIN "e"
                ), "g" AS MATERIALIZED (
                  SELECT
                    CASE WHEN "x"."k0" IS NOT NULL THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 END AS "i",
                    CASE WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k0" IS NOT NULL THEN 0 END AS "j",
                    COALESCE("x"."k0", "x"."k1") AS "va",
                    COALESCE("x"."k1", "x"."k0") AS "vb",
                    CAST(SUM("x"."w") AS DOUBLE PRECISION) AS "f"
                  FROM "x"
                  GROUP BY
                    GROUPING SETS (
                      ("x"."k0"),
                      ("x"."k1"),
                      ("x"."k0", "x"."k1")
                    )
                ), "d" AS MATERIALIZED (
                  SELECT
                    "g"."i",
                    CAST(COUNT(*) AS DOUBLE PRECISION) AS "distinct_values",
                    SUM("g"."f") AS "n"
                  FROM "g"
                  WHERE
                    "g"."i" = "g"."j"
                  GROUP BY
                    "g"."i"
                ), "s" AS MATERIALIZED (
                  SELECT
                    "g"."i",
                    "g"."j",
                    SUM("g"."f" * "g"."f" / (
                      "a"."f" * "b"."f"
                    )) - 1 AS "phi2"
                  FROM "g"
                  JOIN "g" AS "a"
                    ON "a"."i" = "g"."i" AND "a"."j" = "g"."i" AND "a"."va" = "g"."va"
                  JOIN "g" AS "b"
                    ON "b"."i" = "g"."j" AND "b"."j" = "g"."j" AND "b"."vb" = "g"."vb"
                  WHERE
                    "g"."i" < "g"."j"
                  GROUP BY
                    "g"."i",
                    "g"."j"
                )
                SELECT
                  "s"."i",
                  "s"."j",
                  CASE
                    WHEN LEAST("a"."distinct_values", "b"."distinct_values") < 2
                    THEN 0
                    WHEN LEAST(
                      "a"."distinct_values" - (
                        "a"."distinct_values" - 1
                      ) * (
                        "a"."distinct_values" - 1
                      ) / NULLIF("a"."n" - 1, 0),
                      "b"."distinct_values" - (
                        "b"."distinct_values" - 1
                      ) * (
                        "b"."distinct_values" - 1
                      ) / NULLIF("a"."n" - 1, 0)
                    ) - 1 <= 1e-9
                    THEN 0
                    ELSE LEAST(
                      1,
                      SQRT(
                        GREATEST(
                          0,
                          "s"."phi2" - (
                            "a"."distinct_values" - 1
                          ) * (
                            "b"."distinct_values" - 1
                          ) / (
                            "a"."n" - 1
                          )
                        ) / (
                          LEAST(
                            "a"."distinct_values" - (
                              "a"."distinct_values" - 1
                            ) * (
                              "a"."distinct_values" - 1
                            ) / NULLIF("a"."n" - 1, 0),
                            "b"."distinct_values" - (
                              "b"."distinct_values" - 1
                            ) * (
                              "b"."distinct_values" - 1
                            ) / NULLIF("a"."n" - 1, 0)
                          ) - 1
                        )
                      )
                    )
                  END AS "value"
                FROM "s"
                JOIN "d" AS "a"
                  ON "a"."i" = "s"."i"
                JOIN "d" AS "b"
                  ON "b"."i" = "s"."j"
              ) AS "v"
            ) AS JSONB)
          ) AS "v"("pair")
        ),
        0
      ) AS "strength",
      COALESCE(
        (
          SELECT
            MAX(CAST((
              "v"."pair" ->> 2
            ) AS DOUBLE PRECISION))
          FROM JSONB_ARRAY_ELEMENTS(
            CAST((
              SELECT
                CAST(COALESCE(
                  JSONB_AGG(
                    JSONB_BUILD_ARRAY("v"."i", "v"."j", TRIM_SCALE(ROUND(CAST("v"."value" AS DECIMAL), 9))) ORDER BY "v"."i", "v"."j"
                  ),
                  CAST('[]' AS JSONB)
                ) AS text) AS "dependencies"
              FROM (
                WITH "x" AS MATERIALIZED (
                  SELECT
                    COALESCE("t"."a", -1) AS "k0",
                    COALESCE("t"."b", -1) AS "k1"
                  FROM (
                    SELECT
                      "p"."s0" AS "a",
                      "p"."s1" AS "b",
                      "p"."w"
                    FROM "pganon_work"."r0_hidden" AS "p"
                    WHERE
                      "p"."s0" > 0 AND "p"."s1" > 0
                  ) AS "t"
                )
                SELECT
                  "h"."i",
                  "p"."j",
                  1 AS "value"
                FROM (
                  SELECT
                    "g"."i",
                    BOOL_AND("g"."same0") AS "same0",
                    BOOL_AND("g"."same1") AS "same1"
                  FROM (
                    SELECT
                      CASE WHEN "x"."k0" IS NOT NULL THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 END AS "i",
                      CASE WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k0" IS NOT NULL THEN 0 END AS "j",
                      COALESCE("x"."k0", "x"."k1") AS "va",
                      COALESCE("x"."k1", "x"."k0") AS "vb",
                      MIN("x"."k0") = MAX("x"."k0") AS "same0",
                      MIN("x"."k1") = MAX("x"."k1") AS "same1"
                    FROM "x"
                    GROUP BY
                      GROUPING SETS (
                        ("x"."k0"),
                        ("x"."k1")
                      )
                  ) AS "g"
                  GROUP BY
                    "g"."i"
                ) AS "h"
                CROSS JOIN (
                  SELECT
                    MIN("x"."k0") < MAX("x"."k0") AS "varies0",
                    MIN("x"."k1") < MAX("x"."k1") AS "varies1"
                  FROM "x"
                ) AS "w"
                CROSS JOIN LATERAL (
                  VALUES
                    (0, "h"."same0", "w"."varies0"),
                    (1, "h"."same1", "w"."varies1")
                ) AS "p"("j", "same", "varies")
                WHERE
                  "p"."same" AND "p"."varies" AND "h"."i" <> "p"."j"
              ) AS "v"
            ) AS JSONB)
          ) AS "v"("pair")
        ),
        0
      ) AS "determined"
  ) AS "u"
) AS "x";

-- partition.plan0: how many of each value of zip go to which bucket
SELECT
  1 AS "nothing";
SELECT
  "h"."code",
  "h"."n",
  "h"."position"
FROM "pganon_work"."r0_histogram0" AS "h"
ORDER BY
  "h"."code";
COPY pganon_work.r0_plan0 (code, first, last, base, shift, modulo) FROM STDIN;

-- partition.planned0: whether values of zip in every bucket lie apart
SELECT
  0 AS "narrow";

-- partition.bucketed0: the bucket of every hidden value of zip
CREATE TABLE pganon_work.r0_bucketed0 AS
SELECT
  "r"."rid",
  (
    "d"."base" + (
      "r"."rank" - "d"."first" + "d"."shift"
    ) % "d"."modulo"
  ) AS "b",
  "r"."v"
FROM (
  SELECT
    "p"."rid",
    "p"."s0" AS "code",
    "p"."v0" AS "v",
    ROW_NUMBER() OVER (
      PARTITION BY "p"."s0"
      ORDER BY HASHTEXTEXTENDED(
        CAST(HASH_RECORD_EXTENDED(
          ROW(CAST('bucket 0' AS text), "p"."rid"),
          (
            SELECT
              "s"."partition_seed"
            FROM "pganon_private"."run_secret" AS "s"
            WHERE
              "s"."run_id" = 0
          )
        ) AS TEXT),
        (
          SELECT
            "s"."partition_seed"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        )
      ), "p"."rid"
    ) - 1 AS "rank"
  FROM (
    SELECT
      "c"."rid",
      "c"."hides" AS "display",
      "c"."c0",
      "c"."c1",
      "c"."s0",
      "c"."s1",
      "c"."v0",
      "c"."v1",
      "c"."p0",
      "c"."record"
    FROM "pganon_work"."r0_coded" AS "c"
  ) AS "p"
  WHERE
    "p"."s0" > 0
) AS "r"
JOIN "pganon_work"."r0_plan0" AS "d"
  ON "d"."code" = "r"."code" AND "r"."rank" >= "d"."first" AND "r"."rank" < "d"."last";

-- partition.tidy: what the buckets were made from
DROP TABLE pganon_work.r0_histogram0, pganon_work.r0_plan0;

-- partition.numbers_b0: random numbers for the buckets of zip
CREATE TABLE pganon_work.r0_numbers_b0 AS
SELECT
  "g"."gid",
  CAST((
    ROW_NUMBER() OVER (
      ORDER BY SHA256(
        (
          SELECT
            "s"."key"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        ) || CONVERT_TO(CAST('b0:' || CAST("g"."gid" AS text) AS text), 'UTF8')
      ), "g"."gid"
    )
  ) AS INT) AS "b0"
FROM (
  SELECT
    "u"."gid"
  FROM (
    SELECT
      "u".*
    FROM (
      SELECT
        "h"."b" AS "gid"
      FROM "pganon_work"."r0_bucketed0" AS "h"
    ) AS "u"
  ) AS "u"
  GROUP BY
    "u"."gid"
) AS "g";

-- partition.values0: values of zip in every bucket
CREATE TABLE pganon_stage.r0_values0 AS
SELECT
  "x"."x0" AS "zip_bucket",
  "x"."x1" AS "zip",
  COUNT(*) AS "count"
FROM (
  SELECT
    "r"."b" AS "x0",
    "r"."v" AS "x1"
  FROM (
    SELECT
      "h"."rid",
      "n"."b0" AS "b",
      "h"."v"
    FROM "pganon_work"."r0_bucketed0" AS "h"
    JOIN "pganon_work"."r0_numbers_b0" AS "n"
      ON "n"."gid" = "h"."b"
  ) AS "r"
  ORDER BY
    "r"."b",
    "r"."v"
) AS "x"
GROUP BY
  "x"."x0",
  "x"."x1"
ORDER BY
  "x"."x0",
  "x"."x1";

-- partition.values0_key: an index that the published views join on
CREATE INDEX ON "pganon_stage"."r0_values0" ("zip_bucket");

-- partition.plan1: how many of each value of disease go to which bucket
SELECT
  1 AS "nothing";
SELECT
  "h"."code",
  "h"."n",
  "h"."position"
FROM "pganon_work"."r0_histogram1" AS "h"
ORDER BY
  "h"."code";
COPY pganon_work.r0_plan1 (code, first, last, base, shift, modulo) FROM STDIN;

-- partition.planned1: whether values of disease in every bucket lie apart
SELECT
  0 AS "narrow";

-- partition.ranges1: which numbers of records with a value of disease go to which bucket
CREATE TABLE pganon_work.r0_ranges1 AS
SELECT
  "d"."code",
  "d"."first" + "b"."start" AS "first",
  "d"."last" + "b"."start" AS "last",
  "d"."base",
  "d"."shift",
  "d"."modulo"
FROM "pganon_work"."r0_plan1" AS "d"
JOIN (
  SELECT
    "h"."code",
    CAST((
      SUM("h"."n") OVER (ORDER BY "h"."code") - "h"."n"
    ) AS BIGINT) + 1 AS "start"
  FROM "pganon_work"."r0_histogram1" AS "h"
) AS "b"
  ON "b"."code" = "d"."code";

-- partition.tidy: what the buckets were made from
DROP TABLE pganon_work.r0_histogram1, pganon_work.r0_plan1;

-- partition.numbers_b1: random numbers for the buckets of disease
CREATE TABLE pganon_work.r0_numbers_b1 AS
SELECT
  "g"."gid",
  CAST((
    ROW_NUMBER() OVER (
      ORDER BY SHA256(
        (
          SELECT
            "s"."key"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        ) || CONVERT_TO(CAST('b1:' || CAST("g"."gid" AS text) AS text), 'UTF8')
      ), "g"."gid"
    )
  ) AS INT) AS "b1"
FROM (
  SELECT
    "u"."gid"
  FROM (
    SELECT
      "u".*
    FROM (
      SELECT
        "h"."base" + (
          "g"."cell" + "h"."shift"
        ) % "h"."modulo" AS "gid"
      FROM (
        SELECT DISTINCT
          "h"."base",
          "h"."shift",
          "h"."modulo",
          "h"."last" - "h"."first" AS "cells"
        FROM "pganon_work"."r0_ranges1" AS "h"
      ) AS "h"
      CROSS JOIN LATERAL GENERATE_SERIES(0, "h"."cells" - 1) AS "g"("cell")
    ) AS "u"
  ) AS "u"
  GROUP BY
    "u"."gid"
) AS "g";

-- partition.values1: values of disease in every bucket
CREATE TABLE pganon_stage.r0_values1 AS
SELECT
  "x"."x0" AS "disease_bucket",
  "x"."x1" AS "disease",
  COUNT(*) AS "count"
FROM (
  SELECT
    "r"."b" AS "x0",
    "r"."v" AS "x1"
  FROM (
    SELECT
      "p"."v1" AS "v",
      (
        SELECT
          ARRAY_AGG("n"."b1" ORDER BY "n"."gid")
        FROM "pganon_work"."r0_numbers_b1" AS "n"
      )[(
        "h"."base" + (
          "g"."rid" - "h"."first" + "h"."shift"
        ) % "h"."modulo"
      ) + 1] AS "b"
    FROM (
      SELECT
        "c"."rid",
        "c"."hides" AS "display",
        "c"."c0",
        "c"."c1",
        "c"."s0",
        "c"."s1",
        "c"."v0",
        "c"."v1",
        "c"."p0",
        "c"."record"
      FROM "pganon_work"."r0_coded" AS "c"
    ) AS "p"
    JOIN "pganon_work"."r0_ranges1" AS "h"
      ON "h"."first" = "p"."rid"
    CROSS JOIN LATERAL GENERATE_SERIES("h"."first", "h"."last" - 1) AS "g"("rid")
  ) AS "r"
  ORDER BY
    "r"."b",
    "r"."v"
) AS "x"
GROUP BY
  "x"."x0",
  "x"."x1"
ORDER BY
  "x"."x0",
  "x"."x1";

-- partition.values1_key: an index that the published views join on
CREATE INDEX ON "pganon_stage"."r0_values1" ("disease_bucket");

-- partition.grouped: the group and the buckets of every record
CREATE TABLE pganon_work.r0_local_grouped AS
SELECT
  "p"."c0",
  "p"."c1",
  "p"."rid",
  "p"."display",
  "p"."v0",
  "p"."v1",
  "p"."p0",
  "p"."record",
  "g"."class_id" AS "group_id",
  "h0"."b" AS "b0",
  (
    SELECT
      ARRAY_AGG("n"."b1" ORDER BY "n"."gid")
    FROM "pganon_work"."r0_numbers_b1" AS "n"
  )[(
    "h1"."base" + (
      "p"."rid" - "h1"."first" + "h1"."shift"
    ) % "h1"."modulo"
  ) + 1] AS "b1"
FROM (
  SELECT
    "c"."rid",
    "c"."hides" AS "display",
    "c"."c0",
    "c"."c1",
    "c"."s0",
    "c"."s1",
    "c"."v0",
    "c"."v1",
    "c"."p0",
    "c"."record"
  FROM "pganon_work"."r0_coded" AS "c"
) AS "p"
JOIN "pganon_work"."r0_grouped_classes" AS "g"
  ON "g"."display" = "p"."display" AND "g"."c0" = "p"."c0" AND "g"."c1" = "p"."c1"
LEFT JOIN (
  SELECT
    "h"."rid",
    "n"."b0" AS "b",
    "h"."v"
  FROM "pganon_work"."r0_bucketed0" AS "h"
  JOIN "pganon_work"."r0_numbers_b0" AS "n"
    ON "n"."gid" = "h"."b"
) AS "h0"
  ON "h0"."rid" = CASE WHEN "p"."s0" > 0 THEN "p"."rid" END
LEFT JOIN "pganon_work"."r0_ranges1" AS "h1"
  ON "h1"."code" = "p"."s1" AND "p"."rid" >= "h1"."first" AND "p"."rid" < "h1"."last";

-- partition.tidy: what they were made from
DROP TABLE pganon_work.r0_bucketed0, pganon_work.r0_ranges1;

-- recode.members: the steward's memory of who was in which group and which buckets
CREATE TABLE pganon_stage.r0_members AS
SELECT
  "u".*
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "t"."member",
      "t"."group_id",
      "t"."zip_bucket",
      "t"."disease_bucket",
      CAST(ARRAY[
        HASHTEXTEXTENDED(
          "t"."v0",
          UUID_HASH_EXTENDED(
            "t"."member",
            (
              SELECT
                CAST(CAST((
                  'x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')
                ) AS BIT(64)) AS BIGINT)
              FROM (
                SELECT
                  (
                    SELECT
                      COALESCE("p"."secret", "s"."key")
                    FROM "pganon_private"."run_secret" AS "s"
                    LEFT JOIN "pganon_private"."population" AS "p"
                      ON "p"."id" = "s"."population"
                    WHERE
                      "s"."run_id" = 0
                  ) AS "secret"
              ) AS "k"
            )
          )
        ),
        HASHTEXTEXTENDED(
          "t"."v1",
          UUID_HASH_EXTENDED(
            "t"."member",
            (
              SELECT
                CAST(CAST((
                  'x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')
                ) AS BIT(64)) AS BIGINT)
              FROM (
                SELECT
                  (
                    SELECT
                      COALESCE("p"."secret", "s"."key")
                    FROM "pganon_private"."run_secret" AS "s"
                    LEFT JOIN "pganon_private"."population" AS "p"
                      ON "p"."id" = "s"."population"
                    WHERE
                      "s"."run_id" = 0
                  ) AS "secret"
              ) AS "k"
            )
          )
        ),
        HASHTEXTEXTENDED(
          "t"."v2",
          UUID_HASH_EXTENDED(
            "t"."member",
            (
              SELECT
                CAST(CAST((
                  'x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')
                ) AS BIT(64)) AS BIGINT)
              FROM (
                SELECT
                  (
                    SELECT
                      COALESCE("p"."secret", "s"."key")
                    FROM "pganon_private"."run_secret" AS "s"
                    LEFT JOIN "pganon_private"."population" AS "p"
                      ON "p"."id" = "s"."population"
                    WHERE
                      "s"."run_id" = 0
                  ) AS "secret"
              ) AS "k"
            )
          )
        )
      ] AS bigint[]) AS "marks"
    FROM (
      SELECT
        CAST(ENCODE(
          SUBSTRING(SHA256(
            (
              SELECT
                COALESCE("p"."secret", "s"."key")
              FROM "pganon_private"."run_secret" AS "s"
              LEFT JOIN "pganon_private"."population" AS "p"
                ON "p"."id" = "s"."population"
              WHERE
                "s"."run_id" = 0
            ) || CONVERT_TO("g"."record", 'UTF8')
          ) FROM 1 FOR 16),
          'hex'
        ) AS UUID) AS "member",
        "g"."group_id" AS "group_id",
        "g"."b0" AS "zip_bucket",
        "g"."b1" AS "disease_bucket",
        CASE
          WHEN "g"."b0" IS NOT NULL
          THEN COALESCE('=' || CAST((
            CAST("g"."v0" AS TEXT) COLLATE "C"
          ) AS text), '')
        END AS "v0",
        CASE
          WHEN "g"."b1" IS NOT NULL
          THEN COALESCE('=' || CAST((
            CAST("g"."v1" AS TEXT) COLLATE "C"
          ) AS text), '')
        END AS "v1",
        COALESCE('=' || CAST((
          "g"."p0"
        ) AS text), '') AS "v2"
      FROM "pganon_work"."r0_local_grouped" AS "g"
      OFFSET '0'
    ) AS "t"
    UNION ALL
    SELECT
      CAST(ENCODE(
        SUBSTRING(SHA256(
          (
            SELECT
              COALESCE("p"."secret", "s"."key")
            FROM "pganon_private"."run_secret" AS "s"
            LEFT JOIN "pganon_private"."population" AS "p"
              ON "p"."id" = "s"."population"
            WHERE
              "s"."run_id" = 0
          ) || CONVERT_TO("p"."key", 'UTF8')
        ) FROM 1 FOR 16),
        'hex'
      ) AS UUID) AS "member",
      CAST((
        -ROW_NUMBER() OVER (ORDER BY "p"."key")
      ) AS INT) AS "group_id",
      CAST((
        -ROW_NUMBER() OVER (ORDER BY "p"."key")
      ) AS INT) AS "zip_bucket",
      CAST((
        -ROW_NUMBER() OVER (ORDER BY "p"."key")
      ) AS INT) AS "disease_bucket",
      CAST(NULL AS BIGINT[]) AS "marks"
    FROM (
      SELECT
        "r"."key"
      FROM (
        SELECT
          "u".*
        FROM (
          SELECT
            "c"."record" AS "key",
            1 AS "n"
          FROM "pganon_work"."r0_coded" AS "c"
          UNION ALL
          SELECT
            "g"."record" AS "key",
            -1 AS "n"
          FROM "pganon_work"."r0_local_grouped" AS "g"
        ) AS "u"
      ) AS "r"
      GROUP BY
        "r"."key"
      HAVING
        SUM("r"."n") > 0
    ) AS "p"
  ) AS "u"
) AS "u"
ORDER BY
  "u"."member";

-- recode.records: every record with its group and its buckets
CREATE TABLE pganon_stage.r0_records AS
SELECT
  "r"."group_id",
  "r"."b0" AS "zip_bucket",
  "r"."b1" AS "disease_bucket",
  "r"."p0" AS "cost"
FROM "pganon_work"."r0_local_grouped" AS "r"
ORDER BY
  "r"."group_id",
  "r"."b0",
  "r"."b1",
  "r"."p0";

-- recode.records_key: an index that the published views join on
CREATE INDEX ON "pganon_stage"."r0_records" ("group_id");

-- recode.group_sizes: how many records every group has
CREATE TABLE pganon_work.r0_group_sizes AS
SELECT
  "r"."group_id",
  "r"."display",
  COUNT(*) AS "n"
FROM "pganon_work"."r0_local_grouped" AS "r"
GROUP BY
  "r"."group_id",
  "r"."display";

-- recode.extents: extent of every class
CREATE TABLE pganon_work.r0_extents AS
SELECT
  "s"."n",
  "e"."class_id",
  "e"."lo0",
  "e"."hi0",
  "e"."n0",
  "e"."b1_0"
FROM (
  SELECT
    "c"."class_id",
    MIN("c"."c0") FILTER(WHERE
      "c"."c0" > 0) AS "lo0",
    MAX("c"."c0") AS "hi0",
    MIN("c"."c0") = 0 AS "n0",
    BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0"
  FROM "pganon_work"."r0_grouped_classes" AS "c"
  GROUP BY
    "c"."class_id"
) AS "e"
JOIN "pganon_work"."r0_group_sizes" AS "s"
  ON "s"."group_id" = "e"."class_id";

-- recode.sets1: arrays of values for attribute 2
CREATE TABLE pganon_work.r0_sets1 AS
SELECT
  "k"."b1_0",
  (
    SELECT
      ARRAY_AGG(CAST("d"."value" AS text) ORDER BY "d"."code")
    FROM "pganon_work"."r0_dict1" AS "d"
    WHERE
      "d"."code" > 0
      AND CASE "d"."code" >> 6
        WHEN 0
        THEN (
          "k"."b1_0" >> (
            "d"."code" & 63
          )
        ) & 1 = 1
      END
  ) AS "members"
FROM (
  SELECT DISTINCT
    "e"."b1_0"
  FROM "pganon_work"."r0_extents" AS "e"
) AS "k";

-- recode.generalized: generalized quasi-identifiers of every class
CREATE TABLE pganon_work.r0_generalized AS
SELECT
  "e"."class_id",
  CAST((
    CASE
      WHEN "e"."hi0" = 0
      THEN NULL
      ELSE NUMRANGE(
        TRIM_SCALE(CAST("l0"."value" AS DECIMAL)),
        TRIM_SCALE(CAST("h0"."value" AS DECIMAL)),
        '[]'
      )
    END
  ) AS numrange) AS "age",
  CAST((
    "x1"."members"
  ) AS text[]) AS "zip",
  "e"."b1_0" & 1 = 1 AS "zip_null"
FROM "pganon_work"."r0_extents" AS "e"
LEFT JOIN "pganon_work"."r0_dict0" AS "l0"
  ON "l0"."code" = "e"."lo0"
LEFT JOIN "pganon_work"."r0_dict0" AS "h0"
  ON "h0"."code" = "e"."hi0"
LEFT JOIN "pganon_work"."r0_sets1" AS "x1"
  ON "x1"."b1_0" = "e"."b1_0";

-- recode.groups: what the records of every group show
CREATE TABLE pganon_stage.r0_groups AS
SELECT
  "d"."group_id",
  CAST(SUBSTRING("f"."form" FROM 1 FOR 1) AS TEXT) AS "zip_form",
  "e"."age" AS "age",
  CASE WHEN (
    SUBSTRING("f"."form" FROM 1 FOR 1) = 'g'
  ) THEN "e"."zip" END AS "zip",
  CASE WHEN (
    SUBSTRING("f"."form" FROM 1 FOR 1) = 'g'
  ) THEN "e"."zip_null" END AS "zip_null"
FROM "pganon_work"."r0_group_sizes" AS "d"
JOIN (
  SELECT DISTINCT
    "d"."display",
    "d"."form"
  FROM "pganon_work"."r0_displays" AS "d"
) AS "f"
  ON "f"."display" = "d"."display"
JOIN "pganon_work"."r0_generalized" AS "e"
  ON "e"."class_id" = "d"."group_id"
ORDER BY
  "d"."group_id";

-- recode.groups_key: an index that the published views join on
ALTER TABLE "pganon_stage"."r0_groups" ADD PRIMARY KEY ("group_id");

-- recode.histogram: the values of every group, which later groups may be compared with
CREATE TABLE pganon_stage.r0_histogram AS
SELECT
  "u".*
FROM (
  SELECT
    1 AS "col",
    CAST((
      "h"."link"
    ) AS BIGINT) AS "link",
    "h"."value",
    "h"."n"
  FROM (
    SELECT
      "h"."zip_bucket" AS "link",
      "h"."value",
      "h"."n"
    FROM (
      SELECT
        "r"."zip_bucket",
        COALESCE('=' || CAST((
          CAST("r"."zip" AS TEXT) COLLATE "C"
        ) AS text), '') AS "value",
        CAST(SUM("r"."count") AS BIGINT) AS "n"
      FROM (
        SELECT
          "t"."zip_bucket",
          "t"."zip",
          "t"."count"
        FROM "pganon_stage"."r0_values0" AS "t"
        ORDER BY
          "t"."zip_bucket",
          "t"."zip",
          "t"."count"
      ) AS "r"
      GROUP BY
        "r"."zip_bucket",
        "r"."zip"
    ) AS "h"
  ) AS "h"
  UNION ALL
  SELECT
    2 AS "col",
    CAST((
      "h"."link"
    ) AS BIGINT) AS "link",
    "h"."value",
    "h"."n"
  FROM (
    SELECT
      "h"."disease_bucket" AS "link",
      "h"."value",
      "h"."n"
    FROM (
      SELECT
        "r"."disease_bucket",
        COALESCE('=' || CAST((
          CAST("r"."disease" AS TEXT) COLLATE "C"
        ) AS text), '') AS "value",
        CAST(SUM("r"."count") AS BIGINT) AS "n"
      FROM (
        SELECT
          "t"."disease_bucket",
          "t"."disease",
          "t"."count"
        FROM "pganon_stage"."r0_values1" AS "t"
        ORDER BY
          "t"."disease_bucket",
          "t"."disease",
          "t"."count"
      ) AS "r"
      GROUP BY
        "r"."disease_bucket",
        "r"."disease"
    ) AS "h"
  ) AS "h"
) AS "u";

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
CREATE TABLE pganon_stage.r0_remembered_groups AS
SELECT
  "g"."grp",
  "g"."people",
  "g"."who1" AS "who1",
  "g"."who2" AS "who2",
  "g"."held" AS "held"
FROM (
  SELECT
    CAST("e"."grp" AS BIGINT) AS "grp",
    COUNT(*) AS "people",
    BIT_XOR("e"."who1") AS "who1",
    BIT_XOR("e"."who2") AS "who2",
    CASE
      WHEN "e"."grp" > 0
      THEN CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2]), BIT_XOR("e"."marks"[3])] AS bigint[])
    END AS "held"
  FROM (
    SELECT
      "m".*,
      UUID_HASH_EXTENDED(
        "m"."member",
        (
          SELECT
            CAST(CAST((
              'x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')
            ) AS BIT(64)) AS BIGINT)
          FROM (
            SELECT
              (
                SELECT
                  COALESCE("p"."secret", "s"."key")
                FROM "pganon_private"."run_secret" AS "s"
                LEFT JOIN "pganon_private"."population" AS "p"
                  ON "p"."id" = "s"."population"
                WHERE
                  "s"."run_id" = 0
              ) AS "secret"
          ) AS "k"
        )
      ) AS "who1",
      UUID_HASH_EXTENDED(
        "m"."member",
        (
          SELECT
            CAST(CAST((
              'x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')
            ) AS BIT(64)) AS BIGINT)
          FROM (
            SELECT
              (
                SELECT
                  COALESCE("p"."secret", "s"."key")
                FROM "pganon_private"."run_secret" AS "s"
                LEFT JOIN "pganon_private"."population" AS "p"
                  ON "p"."id" = "s"."population"
                WHERE
                  "s"."run_id" = 0
              ) AS "secret"
          ) AS "k"
        )
      ) AS "who2"
    FROM (
      SELECT
        "m"."member",
        "m"."group_id" AS "grp",
        "m"."marks"
      FROM "pganon_stage"."r0_members" AS "m"
    ) AS "m"
    WHERE
      "m"."grp" <> 0
  ) AS "e"
  GROUP BY
    "e"."grp"
) AS "g";

-- verify.fingerprint: a keyed hash of the staged relations
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_groups', 'pganon_stage.r0_records', 'pganon_stage.r0_values0', 'pganon_stage.r0_values1', 'pganon_stage.r0_members', 'pganon_stage.r0_histogram', 'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.balance: every record is released once or suppressed
SELECT
  "r"."published",
  40 - 1 - "r"."published" AS "unaccounted",
  (
    SELECT
      COUNT(*)
    FROM "pganon_work"."r0_coded" AS "c"
  ) AS "encoded",
  CAST((
    SELECT
      SUM("m"."repeated")
    FROM (
      SELECT
        "u".*
      FROM (
        SELECT
          COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0) AS "repeated"
        FROM (
          SELECT
            "t".*
          FROM "pganon_stage"."r0_members" AS "t"
          WHERE
            "t"."marks" IS NOT NULL
        ) AS "t"
        UNION ALL
        SELECT
          COUNT("t"."class_id") - COUNT(DISTINCT "t"."class_id") + GREATEST(COUNT(*) - COUNT("t"."class_id") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_generalized" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_numbers_group_id" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_numbers_b0" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_numbers_b1" AS "t"
      ) AS "u"
    ) AS "m"
  ) AS BIGINT) AS "misplaced"
FROM (
  SELECT
    COUNT(*) AS "published"
  FROM "pganon_stage"."r0_records" AS "records"
) AS "r";

-- verify.structure_0: structure
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT "g"."group_id" FROM (SELECT "x"."group_id", COUNT(*) AS "n" FROM "pganon_stage"."r0_groups" AS "x" GROUP BY "x"."group_id") AS "g" FULL JOIN (SELECT "r"."group_id" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."group_id") AS "h" ON "h"."group_id" = "g"."group_id" WHERE "g"."n" IS DISTINCT FROM 1 OR "h"."group_id" IS NULL) AS "o") AS "b";

-- verify.forms_1: forms
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT "r"."group_id" FROM "pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_groups" AS "g" ON "g"."group_id" = "r"."group_id" WHERE FALSE OR ("g"."zip_form" IS NULL OR ("r"."zip_bucket" IS NOT NULL) <> ("g"."zip_form" = 'b')) OR NOT "g"."zip_form" IN ('g', 'b', 'w') OR "r"."disease_bucket" IS NULL OR ("g"."zip" IS NOT NULL AND "g"."zip_form" IS DISTINCT FROM 'g') OR ("g"."zip_null" IS NOT NULL AND "g"."zip_form" IS DISTINCT FROM 'g')) AS "o") AS "b";

-- verify.buckets_2: buckets on zip
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT "a"."bucket" FROM (SELECT "r"."zip_bucket" AS "bucket", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" WHERE "r"."zip_bucket" IS NOT NULL GROUP BY "r"."zip_bucket") AS "a" FULL JOIN (SELECT "t"."zip_bucket" AS "bucket", SUM("t"."count") AS "n", MIN("t"."count") AS "least" FROM "pganon_stage"."r0_values0" AS "t" GROUP BY "t"."zip_bucket") AS "b" ON "b"."bucket" = "a"."bucket" WHERE "a"."n" IS DISTINCT FROM "b"."n" OR COALESCE("b"."least", 0) < 1) AS "o") AS "b";

-- verify.buckets_3: buckets on disease
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT "a"."bucket" FROM (SELECT "r"."disease_bucket" AS "bucket", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" WHERE "r"."disease_bucket" IS NOT NULL GROUP BY "r"."disease_bucket") AS "a" FULL JOIN (SELECT "t"."disease_bucket" AS "bucket", SUM("t"."count") AS "n", MIN("t"."count") AS "least" FROM "pganon_stage"."r0_values1" AS "t" GROUP BY "t"."disease_bucket") AS "b" ON "b"."bucket" = "a"."bucket" WHERE "a"."n" IS DISTINCT FROM "b"."n" OR COALESCE("b"."least", 0) < 1) AS "o") AS "b";

-- verify.local_bucket_diversity_4: local_bucket_diversity on disease
SELECT "w"."failing", COALESCE("w"."measured", 2.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT CASE WHEN MAX("g"."n") > 1 THEN 1 ELSE (CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION)) END AS "measure", "g"."disease_bucket" FROM (SELECT "h"."value", "h"."n", "h"."disease_bucket" FROM (SELECT "r"."disease_bucket", COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", CAST(SUM("r"."count") AS BIGINT) AS "n" FROM (SELECT "t"."disease_bucket", "t"."disease", "t"."count" FROM "pganon_stage"."r0_values1" AS "t" ORDER BY "t"."disease_bucket", "t"."disease", "t"."count") AS "r" GROUP BY "r"."disease_bucket", "r"."disease") AS "h") AS "g" GROUP BY "g"."disease_bucket") AS "groups") AS "w";

-- verify.t_closeness_5: t_closeness on zip
SELECT "w"."failing", COALESCE("w"."measured", 0.3) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 0.30000000000099997)) AS "failing", MAX("groups"."measure") AS "measured" FROM (SELECT SUM(GREATEST(CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" - "g"."share", 0)) AS "measure", "g"."zip_bucket" FROM (SELECT "h"."value", "h"."n", "h"."zip_bucket", SUM("h"."n") OVER (PARTITION BY "h"."zip_bucket") AS "total", COALESCE("r"."share", 0) AS "share", COALESCE("r"."position", 0) AS "position" FROM (SELECT "r"."zip_bucket", COALESCE('=' || CAST((CAST("r"."zip" AS TEXT) COLLATE "C") AS text), '') AS "value", CAST(SUM("r"."count") AS BIGINT) AS "n" FROM (SELECT "t"."zip_bucket", "t"."zip", "t"."count" FROM "pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", "t"."zip", "t"."count") AS "r" GROUP BY "r"."zip_bucket", "r"."zip") AS "h" LEFT JOIN (SELECT "x"."value", CAST(ROW_NUMBER() OVER (ORDER BY "x"."place") AS INT) AS "position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT "t"."value", MIN("t"."place") AS "place", SUM("t"."count") AS "n" FROM (SELECT COALESCE('=' || CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '') AS "value", "t"."zip" AS "place", "t"."count" FROM "pganon_stage"."r0_values0" AS "t") AS "t" GROUP BY "t"."value") AS "x") AS "r" ON "r"."value" = "h"."value") AS "g" GROUP BY "g"."zip_bucket") AS "groups") AS "w";

-- verify.bucket_size_6: bucket_size on zip
SELECT "w"."failing", COALESCE("w"."measured", 1.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."zip_bucket" FROM (SELECT "h"."value", "h"."n", "h"."zip_bucket" FROM (SELECT "r"."zip_bucket", COALESCE('=' || CAST((CAST("r"."zip" AS TEXT) COLLATE "C") AS text), '') AS "value", CAST(SUM("r"."count") AS BIGINT) AS "n" FROM (SELECT "t"."zip_bucket", "t"."zip", "t"."count" FROM "pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", "t"."zip", "t"."count") AS "r" GROUP BY "r"."zip_bucket", "r"."zip") AS "h") AS "g" GROUP BY "g"."zip_bucket") AS "groups") AS "w";

-- verify.distinct_values_7: distinct_values on zip
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT 1 AS "single" FROM "pganon_stage"."r0_values0" AS "t" HAVING COUNT(DISTINCT COALESCE('=' || CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '')) = 1) AS "o") AS "b";

-- verify.utility: loss and sizes of the groups
SELECT
  COUNT(*) AS "groups",
  MIN("e"."n") AS "smallest",
  MAX("e"."n") AS "largest",
  CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
  COALESCE(
    CAST(COALESCE(
      SUM(
        "e"."n" * (
          (
            CASE
              WHEN "e"."n0" AND "e"."hi0" > 0
              THEN 1
              WHEN "e"."hi0" = 0
              THEN 0
              ELSE (
                (
                  (
                    SELECT
                      ARRAY_AGG("position" ORDER BY "code")
                    FROM "pganon_work"."r0_dict0" AS "dict"
                    WHERE
                      "code" > 0
                  )["e"."hi0"]
                ) - (
                  (
                    SELECT
                      ARRAY_AGG("position" ORDER BY "code")
                    FROM "pganon_work"."r0_dict0" AS "dict"
                    WHERE
                      "code" > 0
                  )["e"."lo0"]
                )
              ) / 1.0
            END
          )
        )
      ),
      0
    ) AS DOUBLE PRECISION) / NULLIF(CAST(COALESCE(SUM("e"."n" * (
      1
    )), 0) AS DOUBLE PRECISION), 0),
    0
  ) AS "ncp0",
  COALESCE(
    CAST(COALESCE(
      SUM(
        "e"."n" * (
          (
            CASE
              WHEN SUBSTRING("e"."form" FROM 1 FOR 1) = 'w'
              THEN 1
              WHEN SUBSTRING("e"."form" FROM 1 FOR 1) = 'g'
              THEN CASE
                WHEN (
                  BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))
                ) < 2
                THEN 0
                ELSE CAST((
                  BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))
                ) AS DOUBLE PRECISION) / 1
              END
              ELSE 0
            END
          )
        )
      ),
      0
    ) AS DOUBLE PRECISION) / NULLIF(
      CAST(COALESCE(
        SUM(
          "e"."n" * (
            CASE
              WHEN (
                SUBSTRING("e"."form" FROM 1 FOR 1) = 'w'
              )
              OR (
                SUBSTRING("e"."form" FROM 1 FOR 1) = 'g'
              )
              THEN 1
              ELSE 0
            END
          )
        ),
        0
      ) AS DOUBLE PRECISION),
      0
    ),
    0
  ) AS "ncp1",
  CAST(COALESCE(
    SUM(
      "e"."n" * (
        (
          CASE
            WHEN "e"."n0" AND "e"."hi0" > 0
            THEN 1
            WHEN "e"."hi0" = 0
            THEN 0
            ELSE (
              (
                (
                  SELECT
                    ARRAY_AGG("position" ORDER BY "code")
                  FROM "pganon_work"."r0_dict0" AS "dict"
                  WHERE
                    "code" > 0
                )["e"."hi0"]
              ) - (
                (
                  SELECT
                    ARRAY_AGG("position" ORDER BY "code")
                  FROM "pganon_work"."r0_dict0" AS "dict"
                  WHERE
                    "code" > 0
                )["e"."lo0"]
              )
            ) / 1.0
          END
        )
      )
    ),
    0
  ) AS DOUBLE PRECISION) + (
    CAST(COALESCE(
      SUM(
        "e"."n" * (
          (
            CASE
              WHEN SUBSTRING("e"."form" FROM 1 FOR 1) = 'w'
              THEN 1
              WHEN SUBSTRING("e"."form" FROM 1 FOR 1) = 'g'
              THEN CASE
                WHEN (
                  BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))
                ) < 2
                THEN 0
                ELSE CAST((
                  BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))
                ) AS DOUBLE PRECISION) / 1
              END
              ELSE 0
            END
          )
        )
      ),
      0
    ) AS DOUBLE PRECISION)
  ) AS "loss",
  CAST(COALESCE(SUM("e"."n" * (
    1
  )), 0) AS DOUBLE PRECISION) + (
    CAST(COALESCE(
      SUM(
        "e"."n" * (
          CASE
            WHEN (
              SUBSTRING("e"."form" FROM 1 FOR 1) = 'w'
            )
            OR (
              SUBSTRING("e"."form" FROM 1 FOR 1) = 'g'
            )
            THEN 1
            ELSE 0
          END
        )
      ),
      0
    ) AS DOUBLE PRECISION)
  ) AS "cells",
  (
    SELECT
      CAST(COALESCE(SUM((
        1 + (
          CAST((
            NOT "c"."f0"
          ) AS INT)
        )
      )), 0) AS BIGINT)
    FROM "pganon_work"."r0_coded" AS "c"
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM "pganon_work"."r0_local_grouped" AS "g"
        WHERE
          "g"."rid" = "c"."rid"
      )
  ) AS "suppressed_cells"
FROM (
  SELECT
    "e".*,
    "f"."form"
  FROM "pganon_work"."r0_extents" AS "e"
  JOIN "pganon_work"."r0_group_sizes" AS "d"
    ON "d"."group_id" = "e"."class_id"
  JOIN (
    SELECT DISTINCT
      "d"."display",
      "d"."form"
    FROM "pganon_work"."r0_displays" AS "d"
  ) AS "f"
    ON "f"."display" = "d"."display"
) AS "e";

-- verify.buckets0: sizes of the buckets of zip
SELECT
  COUNT(*) AS "buckets",
  CAST(COALESCE(SUM("s"."n"), 0) AS BIGINT) AS "cells",
  COALESCE(MIN("s"."n"), 0) AS "smallest",
  COALESCE(MAX("s"."n"), 0) AS "largest",
  CAST(COALESCE(MAX("s"."most" / CAST("s"."n" AS DOUBLE PRECISION)), 0) AS DOUBLE PRECISION) AS "share"
FROM (
  SELECT
    CAST(SUM("t"."count") AS BIGINT) AS "n",
    MAX("t"."count") AS "most"
  FROM "pganon_stage"."r0_values0" AS "t"
  GROUP BY
    "t"."zip_bucket"
) AS "s";

-- verify.buckets1: sizes of the buckets of disease
SELECT
  COUNT(*) AS "buckets",
  CAST(COALESCE(SUM("s"."n"), 0) AS BIGINT) AS "cells",
  COALESCE(MIN("s"."n"), 0) AS "smallest",
  COALESCE(MAX("s"."n"), 0) AS "largest",
  CAST(COALESCE(MAX("s"."most" / CAST("s"."n" AS DOUBLE PRECISION)), 0) AS DOUBLE PRECISION) AS "share"
FROM (
  SELECT
    CAST(SUM("t"."count") AS BIGINT) AS "n",
    MAX("t"."count") AS "most"
  FROM "pganon_stage"."r0_values1" AS "t"
  GROUP BY
    "t"."disease_bucket"
) AS "s";

-- verify.attacked: records that are attacked, or teach
CREATE TABLE pganon_work.r0_attacked AS
SELECT
  "r".*
FROM "pganon_work"."r0_local_grouped" AS "r"
WHERE
  (
    "r"."b0" <= 50000
    AND "r"."b0" IN (
      SELECT
        "a"."bucket"
      FROM (
        SELECT
          "z"."bucket",
          SUM("z"."n") OVER (ORDER BY "z"."bucket") AS "n"
        FROM (
          SELECT
            "t"."zip_bucket" AS "bucket",
            SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n"
          FROM "pganon_stage"."r0_values0" AS "t"
          WHERE
            "t"."zip_bucket" <= 50000
          GROUP BY
            "t"."zip_bucket"
        ) AS "z"
        WHERE
          "z"."n" <= 250000
      ) AS "a"
      WHERE
        "a"."n" <= 250000
    )
  )
  OR (
    "r"."b1" <= 25000
    AND "r"."b1" IN (
      SELECT
        "a"."bucket"
      FROM (
        SELECT
          "z"."bucket",
          SUM("z"."n") OVER (ORDER BY "z"."bucket") AS "n"
        FROM (
          SELECT
            "t"."disease_bucket" AS "bucket",
            SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n"
          FROM "pganon_stage"."r0_values1" AS "t"
          WHERE
            "t"."disease_bucket" <= 25000
          GROUP BY
            "t"."disease_bucket"
        ) AS "z"
        WHERE
          "z"."n" <= 250000
      ) AS "a"
      WHERE
        "a"."n" <= 250000
    )
  )
  OR (
    "r"."group_id" <= 50000
    AND "r"."group_id" IN (
      SELECT
        "a"."group_id"
      FROM (
        SELECT
          "z"."group_id",
          SUM("z"."n") OVER (ORDER BY "z"."group_id") AS "n"
        FROM (
          SELECT
            "g"."group_id",
            "e"."n"
          FROM "pganon_stage"."r0_groups" AS "g"
          JOIN "pganon_work"."r0_extents" AS "e"
            ON "e"."class_id" = "g"."group_id"
          WHERE
            "g"."zip_form" = 'g' AND "g"."group_id" <= 50000
        ) AS "z"
      ) AS "a"
      WHERE
        "a"."n" <= 50000
    )
  );

-- verify.guesses0: hidden values of zip inferred from buckets
SELECT
  1 AS "batches";
SELECT
  "y"."bucket",
  "y"."x0",
  "y"."x1",
  "y"."value" AS "value"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "r"."b0" AS "bucket",
      CAST("r"."c0" AS bigint) AS "x0",
      CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x1",
      HASHTEXTEXTENDED(
        CAST(HASH_RECORD_EXTENDED(
          ROW(CAST((
            CAST("r"."v0" AS TEXT) COLLATE "C"
          ) AS text)),
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."run_secret" AS "s"
            WHERE
              "s"."run_id" = 0
          )
        ) AS TEXT),
        (
          SELECT
            "s"."seed_a"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        )
      ) AS "value"
    FROM "pganon_work"."r0_attacked" AS "r"
    JOIN (
      SELECT
        "a"."bucket"
      FROM (
        SELECT
          "z"."bucket",
          SUM("z"."n") OVER (ORDER BY "z"."bucket") AS "n"
        FROM (
          SELECT
            "t"."zip_bucket" AS "bucket",
            SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n"
          FROM "pganon_stage"."r0_values0" AS "t"
          WHERE
            "t"."zip_bucket" <= 50000
          GROUP BY
            "t"."zip_bucket"
        ) AS "z"
        WHERE
          "z"."n" <= 250000
      ) AS "a"
      WHERE
        "a"."n" <= 250000
    ) AS "c"
      ON "c"."bucket" = "r"."b0"
    JOIN (
      SELECT DISTINCT
        "d"."display",
        "d"."form"
      FROM "pganon_work"."r0_displays" AS "d"
    ) AS "f"
      ON "f"."display" = "r"."display"
    WHERE
      (
        SUBSTRING("f"."form" FROM 1 FOR 1) = 'b'
      )
  ) AS "u"
) AS "y";
COPY pganon_work.r0_guesses0 (learner, posterior, correct) FROM STDIN;

-- verify.inferred_guesses0: how many hidden values of zip that tells
SELECT
  CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records",
  MAX("m"."confidence") AS "confidence",
  MAX("m"."accuracy") AS "accuracy",
  MAX("m"."above") AS "above",
  MAX("m"."correct") AS "correct",
  MAX("m"."share") AS "share",
  MAX("m"."advantage") AS "advantage"
FROM (
  SELECT
    "h".*
  FROM (
    SELECT
      "l".*,
      CAST(0 AS DOUBLE PRECISION) AS "advantage"
    FROM (
      SELECT
        "l".*,
        "l"."records" * (
          1 - CAST(1.3 AS DOUBLE PRECISION)
        ) AS "n"
      FROM (
        SELECT
          "g"."learner",
          COUNT(*) AS "records",
          AVG("g"."posterior") AS "confidence",
          CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
          CAST(AVG(CAST((
            "g"."posterior" > 1.3
          ) AS INT)) AS DOUBLE PRECISION) AS "above",
          CAST((
            AVG(CAST("g"."correct" AS INT)) FILTER(WHERE
              "g"."posterior" > 1.3)
          ) AS DOUBLE PRECISION) AS "correct",
          CAST(COALESCE(
            MAX("g"."n") FILTER(WHERE
              "g"."posterior" > 1.3
              AND "g"."hits" > "g"."n" * CAST(1.3 AS DOUBLE PRECISION) + 3 * SQRT("g"."n" * CAST(1.3 AS DOUBLE PRECISION) * (
                1 - 1.3
              ))),
            0
          ) AS DOUBLE PRECISION) / COUNT(*) AS "share"
        FROM (
          SELECT
            "g".*,
            COUNT(*) OVER "w" AS "n",
            SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits"
          FROM "pganon_work"."r0_guesses0" AS "g"
          WINDOW "w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)
        ) AS "g"
        GROUP BY
          "g"."learner"
      ) AS "l"
    ) AS "l"
  ) AS "h"
  ORDER BY
    GREATEST("h"."share", "h"."advantage") DESC,
    "h"."accuracy" DESC,
    "h"."learner"
  LIMIT 1
) AS "m";

-- verify.guesses1: hidden values of disease inferred from buckets
SELECT
  1 AS "batches";
SELECT
  "y"."bucket",
  "y"."x0",
  "y"."x1",
  "y"."x2",
  "y"."value" AS "value"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "r"."b1" AS "bucket",
      CAST("r"."c0" AS bigint) AS "x0",
      CAST(CASE
        WHEN (
          SUBSTRING("f"."form" FROM 1 FOR 1) = 'g'
        )
        THEN "r"."c1"
        ELSE (
          -1
        )
      END AS bigint) AS "x1",
      CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x2",
      HASHTEXTEXTENDED(
        CAST(HASH_RECORD_EXTENDED(
          ROW(CAST((
            CAST("r"."v1" AS TEXT) COLLATE "C"
          ) AS text)),
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."run_secret" AS "s"
            WHERE
              "s"."run_id" = 0
          )
        ) AS TEXT),
        (
          SELECT
            "s"."seed_a"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        )
      ) AS "value"
    FROM "pganon_work"."r0_attacked" AS "r"
    JOIN (
      SELECT
        "a"."bucket"
      FROM (
        SELECT
          "z"."bucket",
          SUM("z"."n") OVER (ORDER BY "z"."bucket") AS "n"
        FROM (
          SELECT
            "t"."disease_bucket" AS "bucket",
            SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n"
          FROM "pganon_stage"."r0_values1" AS "t"
          WHERE
            "t"."disease_bucket" <= 25000
          GROUP BY
            "t"."disease_bucket"
        ) AS "z"
        WHERE
          "z"."n" <= 250000
      ) AS "a"
      WHERE
        "a"."n" <= 250000
    ) AS "c"
      ON "c"."bucket" = "r"."b1"
    JOIN (
      SELECT DISTINCT
        "d"."display",
        "d"."form"
      FROM "pganon_work"."r0_displays" AS "d"
    ) AS "f"
      ON "f"."display" = "r"."display"
    WHERE
      TRUE
  ) AS "u"
) AS "y";
COPY pganon_work.r0_guesses1 (learner, posterior, correct) FROM STDIN;

-- verify.inferred_guesses1: how many hidden values of disease that tells
SELECT
  CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records",
  MAX("m"."confidence") AS "confidence",
  MAX("m"."accuracy") AS "accuracy",
  MAX("m"."above") AS "above",
  MAX("m"."correct") AS "correct",
  MAX("m"."share") AS "share",
  MAX("m"."advantage") AS "advantage"
FROM (
  SELECT
    "h".*
  FROM (
    SELECT
      "l".*,
      GREATEST(
        (
          (
            (
              "l"."accuracy" + 9 / (
                2 * "l"."n"
              ) - 3 * SQRT(
                "l"."accuracy" * (
                  1 - "l"."accuracy"
                ) / "l"."n" + 9 / (
                  4 * POWER("l"."n", 2)
                )
              )
            ) / (
              1 + 9 / "l"."n"
            )
          ) - 0.5
        ) / (
          1 - 0.5
        ),
        0
      ) AS "advantage"
    FROM (
      SELECT
        "l".*,
        "l"."records" * (
          1 - CAST(0.5 AS DOUBLE PRECISION)
        ) AS "n"
      FROM (
        SELECT
          "g"."learner",
          COUNT(*) AS "records",
          AVG("g"."posterior") AS "confidence",
          CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
          CAST(AVG(CAST((
            "g"."posterior" > 0.75
          ) AS INT)) AS DOUBLE PRECISION) AS "above",
          CAST((
            AVG(CAST("g"."correct" AS INT)) FILTER(WHERE
              "g"."posterior" > 0.75)
          ) AS DOUBLE PRECISION) AS "correct",
          CAST(COALESCE(
            MAX("g"."n") FILTER(WHERE
              "g"."posterior" > 0.75
              AND "g"."hits" > "g"."n" * CAST(0.75 AS DOUBLE PRECISION) + 3 * SQRT("g"."n" * CAST(0.75 AS DOUBLE PRECISION) * (
                1 - 0.75
              ))),
            0
          ) AS DOUBLE PRECISION) / COUNT(*) AS "share"
        FROM (
          SELECT
            "g".*,
            COUNT(*) OVER "w" AS "n",
            SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits"
          FROM "pganon_work"."r0_guesses1" AS "g"
          WINDOW "w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)
        ) AS "g"
        GROUP BY
          "g"."learner"
      ) AS "l"
    ) AS "l"
  ) AS "h"
  ORDER BY
    GREATEST("h"."share", "h"."advantage") DESC,
    "h"."accuracy" DESC,
    "h"."learner"
  LIMIT 1
) AS "m";

-- verify.taught0: hidden values of zip inferred from records that show it
SELECT
  1 AS "batches";
SELECT
  "y"."bucket",
  "y"."x0",
  "y"."x1",
  "y"."value" AS "value"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "r"."b0" AS "bucket",
      CAST("r"."c0" AS bigint) AS "x0",
      CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x1",
      HASHTEXTEXTENDED(
        CAST(HASH_RECORD_EXTENDED(
          ROW(CAST((
            CAST("r"."v0" AS TEXT) COLLATE "C"
          ) AS text)),
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."run_secret" AS "s"
            WHERE
              "s"."run_id" = 0
          )
        ) AS TEXT),
        (
          SELECT
            "s"."seed_a"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        )
      ) AS "value"
    FROM "pganon_work"."r0_attacked" AS "r"
    JOIN (
      SELECT
        "a"."bucket"
      FROM (
        SELECT
          "z"."bucket",
          SUM("z"."n") OVER (ORDER BY "z"."bucket") AS "n"
        FROM (
          SELECT
            "t"."zip_bucket" AS "bucket",
            SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n"
          FROM "pganon_stage"."r0_values0" AS "t"
          WHERE
            "t"."zip_bucket" <= 50000
          GROUP BY
            "t"."zip_bucket"
        ) AS "z"
        WHERE
          "z"."n" <= 250000
      ) AS "a"
      WHERE
        "a"."n" <= 250000
    ) AS "c"
      ON "c"."bucket" = "r"."b0"
    JOIN (
      SELECT DISTINCT
        "d"."display",
        "d"."form"
      FROM "pganon_work"."r0_displays" AS "d"
    ) AS "f"
      ON "f"."display" = "r"."display"
    WHERE
      (
        SUBSTRING("f"."form" FROM 1 FOR 1) = 'b'
      )
    UNION ALL
    SELECT
      0 AS "bucket",
      CAST("r"."c0" AS bigint) AS "x0",
      CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x1",
      HASHTEXTEXTENDED(
        CAST(HASH_RECORD_EXTENDED(
          ROW(CAST((
            CAST("d"."value" AS TEXT) COLLATE "C"
          ) AS text)),
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."run_secret" AS "s"
            WHERE
              "s"."run_id" = 0
          )
        ) AS TEXT),
        (
          SELECT
            "s"."seed_a"
          FROM "pganon_private"."run_secret" AS "s"
          WHERE
            "s"."run_id" = 0
        )
      ) AS "value"
    FROM "pganon_work"."r0_attacked" AS "r"
    JOIN (
      SELECT
        "a"."group_id"
      FROM (
        SELECT
          "z"."group_id",
          SUM("z"."n") OVER (ORDER BY "z"."group_id") AS "n"
        FROM (
          SELECT
            "g"."group_id",
            "e"."n"
          FROM "pganon_stage"."r0_groups" AS "g"
          JOIN "pganon_work"."r0_extents" AS "e"
            ON "e"."class_id" = "g"."group_id"
          WHERE
            "g"."zip_form" = 'g' AND "g"."group_id" <= 50000
        ) AS "z"
      ) AS "a"
      WHERE
        "a"."n" <= 50000
    ) AS "g"
      ON "g"."group_id" = "r"."group_id"
    JOIN (
      SELECT DISTINCT
        "d"."display",
        "d"."form"
      FROM "pganon_work"."r0_displays" AS "d"
    ) AS "f"
      ON "f"."display" = "r"."display"
    LEFT JOIN "pganon_work"."r0_dict1" AS "d"
      ON "d"."code" = "r"."c1"
  ) AS "u"
) AS "y";
COPY pganon_work.r0_taught0 (learner, posterior, correct) FROM STDIN;

-- verify.inferred_taught0: how many hidden values of zip that tells
SELECT
  CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records",
  MAX("m"."confidence") AS "confidence",
  MAX("m"."accuracy") AS "accuracy",
  MAX("m"."above") AS "above",
  MAX("m"."correct") AS "correct",
  MAX("m"."share") AS "share",
  MAX("m"."advantage") AS "advantage"
FROM (
  SELECT
    "h".*
  FROM (
    SELECT
      "l".*,
      CAST(0 AS DOUBLE PRECISION) AS "advantage"
    FROM (
      SELECT
        "l".*,
        "l"."records" * (
          1 - CAST(1.3 AS DOUBLE PRECISION)
        ) AS "n"
      FROM (
        SELECT
          "g"."learner",
          COUNT(*) AS "records",
          AVG("g"."posterior") AS "confidence",
          CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
          CAST(AVG(CAST((
            "g"."posterior" > 1.3
          ) AS INT)) AS DOUBLE PRECISION) AS "above",
          CAST((
            AVG(CAST("g"."correct" AS INT)) FILTER(WHERE
              "g"."posterior" > 1.3)
          ) AS DOUBLE PRECISION) AS "correct",
          CAST(COALESCE(
            MAX("g"."n") FILTER(WHERE
              "g"."posterior" > 1.3
              AND "g"."hits" > "g"."n" * CAST(1.3 AS DOUBLE PRECISION) + 3 * SQRT("g"."n" * CAST(1.3 AS DOUBLE PRECISION) * (
                1 - 1.3
              ))),
            0
          ) AS DOUBLE PRECISION) / COUNT(*) AS "share"
        FROM (
          SELECT
            "g".*,
            COUNT(*) OVER "w" AS "n",
            SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits"
          FROM "pganon_work"."r0_taught0" AS "g"
          WINDOW "w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)
        ) AS "g"
        GROUP BY
          "g"."learner"
      ) AS "l"
    ) AS "l"
  ) AS "h"
  ORDER BY
    GREATEST("h"."share", "h"."advantage") DESC,
    "h"."accuracy" DESC,
    "h"."learner"
  LIMIT 1
) AS "m";

-- publish.publish: views, grants and ledger in one transaction
ALTER TABLE "pganon_stage"."r0_groups" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_records" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_values0" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_values1" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private";
CREATE OR REPLACE VIEW "published"."visits" AS SELECT "r"."group_id" AS "group_id", "c"."age" AS "age", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."zip_bucket" AS "zip_bucket", "c"."zip_form" AS "zip_form", "r"."disease_bucket" AS "disease_bucket", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_groups" AS "c" ON "c"."group_id" = "r"."group_id";
CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "r"."group_id" AS "group_id", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS "age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."zip_bucket" AS "zip_bucket", "c"."zip_form" AS "zip_form", "r"."disease_bucket" AS "disease_bucket", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_groups" AS "c" ON "c"."group_id" = "r"."group_id";
CREATE OR REPLACE VIEW "published"."visits_values_zip" AS SELECT "t"."zip_bucket", "t"."zip", "t"."count" FROM "pganon_data"."r0_values0" AS "t";
CREATE OR REPLACE VIEW "published"."visits_values_disease" AS SELECT "t"."disease_bucket", "t"."disease", "t"."count" FROM "pganon_data"."r0_values1" AS "t";
