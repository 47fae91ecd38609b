-- snapshot.snapshot: read the source, once
CREATE TABLE pganon_work.r0_snap AS
SELECT
  CAST("src"."age" AS bigint) AS "q0",
  CAST("src"."zip" AS TEXT) COLLATE "C" AS "q1",
  "src"."disease" AS "s0",
  "src"."drug" AS "s1",
  "src"."cost" AS "p0",
  CAST((
    "src"."id"
  ) AS text) AS "record"
FROM "public"."visit" AS "src";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
SELECT
  COUNT(*) AS "records",
  COUNT(*) - COUNT("t"."q0") AS "nulls_q0",
  COUNT(*) - COUNT("t"."q1") AS "nulls_q1",
  COUNT(*) - COUNT("t"."s0") AS "nulls_s0",
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
      '5bd1498137703e56334103849f4f15ee43155a0c30e617d27d61c959b5740be3' || ':' || "x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b",
      'UTF8'
    )
  ) AS "source_plain",
  SHA256(
    (
      SELECT
        "s"."key"
      FROM "pganon_private"."installation_secret" AS "s"
    ) || CONVERT_TO(
      '54254582ea69c189d9326e37dffb4641906b34e63cb8ac27748eab05813d653d' || ':' || "x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b",
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
          ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1", "t"."p0"),
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
  "s"."q1"
FROM "pganon_work"."r0_snap" AS "s"
GROUP BY
  GROUPING SETS (
    ("s"."q0"),
    ("s"."q1")
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

-- encode.values1: distinct values of zip
CREATE TABLE pganon_work.r0_values1 AS
SELECT
  "h"."q1" AS "value",
  "h"."n"
FROM "pganon_work"."r0_histogram0" AS "h"
WHERE
  "h"."other" = 2;

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

-- encode.sensitive0: values of disease
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
    FROM "pganon_work"."r0_snap" AS "t"
  ) AS "t"
  GROUP BY
    "t"."value"
) AS "g";

-- encode.sensitive1: values of drug
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
  ROW_NUMBER() OVER (
    ORDER BY HASHTEXTEXTENDED(
      CAST(HASH_RECORD_EXTENDED(
        ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1", "t"."p0", "t"."record"),
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
  CAST(COALESCE("e0"."code", 1) AS integer) AS "s0",
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

-- encode.tidy: the snapshot is not needed any more
DROP TABLE pganon_work.r0_snap;

-- partition.judged: records with what buckets are judged by
CREATE TABLE pganon_work.r0_judged AS
SELECT
  "c"."rid",
  0 AS "stratum",
  "c"."c0",
  "c"."c1",
  "c"."s0",
  "c"."s1"
FROM "pganon_work"."r0_coded" AS "c";

-- partition.trim: leave out records of values that are too frequent; repeated

-- partition.trim.eligibility: whether every stratum could be one bucket
WITH "w" AS MATERIALIZED (
  SELECT
    *
  FROM (
    SELECT
      "w".*,
      (
        CASE "w"."place" WHEN 0 THEN 2 WHEN 1 THEN 2 END
      ) AS "l"
    FROM (
      SELECT
        "c"."place",
        "c"."stratum",
        SUM("c"."n") AS "size",
        MAX("c"."n") AS "most",
        COUNT(*) AS "different"
      FROM (
        SELECT
          "u".*
        FROM (
          SELECT
            0 AS "place",
            0 AS "stratum",
            "k"."s0" AS "value",
            COUNT(*) AS "n"
          FROM "pganon_work"."r0_judged" AS "k"
          GROUP BY
            2,
            3
          UNION ALL
          SELECT
            1 AS "place",
            0 AS "stratum",
            "k"."s1" AS "value",
            COUNT(*) AS "n"
          FROM "pganon_work"."r0_judged" AS "k"
          GROUP BY
            2,
            3
        ) AS "u"
      ) AS "c"
      GROUP BY
        "c"."place",
        "c"."stratum"
    ) AS "w"
  ) AS "worst"
)
SELECT
  COALESCE(BOOL_AND("w"."most" * "w"."l" <= "w"."size" AND "w"."size" >= 2), FALSE) AS "eligible",
  MIN("w"."place") FILTER(WHERE
    "w"."most" * "w"."l" > "w"."size") AS "fails",
  CAST(MIN("w"."size") FILTER(WHERE
    "w"."size" < 2) AS BIGINT) AS "small",
  COUNT(DISTINCT "w"."stratum") AS "strata",
  COALESCE(BOOL_OR("w"."different" >= "w"."l"), FALSE) AS "possible",
  CAST(COALESCE(SUM("w"."size") FILTER(WHERE
    "w"."place" = 0), 0) AS BIGINT) AS "released",
  40 - CAST(COALESCE(SUM("w"."size") FILTER(WHERE
    "w"."place" = 0), 0) AS BIGINT) AS "suppressed",
  (
    SELECT
      CAST(JSON_AGG(JSON_BUILD_ARRAY("v"."most", "v"."size") ORDER BY "v"."place", "v"."stratum") AS TEXT)
    FROM "w" AS "v"
    WHERE
      "v"."most" * "v"."l" > "v"."size"
  ) AS "missed",
  (
    SELECT
      CAST(JSON_AGG("v"."place" ORDER BY "v"."place", "v"."stratum") AS TEXT)
    FROM "w" AS "v"
    WHERE
      "v"."most" * "v"."l" > "v"."size"
  ) AS "places",
  CAST(NULL AS BOOLEAN) AS "together"
FROM "w";

-- partition.placed: records on the curve, in pieces
CREATE TABLE pganon_work.r0_placed AS
SELECT
  CAST((
    CAST((
      "s"."place" - 1
    ) AS BIGINT) * GREATEST("s"."records" / 500, 1) / "s"."records"
  ) AS INT) AS "piece",
  "s"."place",
  "s"."rid",
  "s"."stratum",
  "s"."c0",
  "s"."c1",
  "s"."s0",
  "s"."s1"
FROM (
  SELECT
    "o".*,
    COUNT(*) OVER (PARTITION BY "o"."stratum") AS "records"
  FROM (
    SELECT
      "h"."rid",
      "h"."stratum",
      "h"."c0",
      "h"."c1",
      "h"."s0",
      "h"."s1",
      ROW_NUMBER() OVER (PARTITION BY "h"."stratum" ORDER BY "h"."h0", "h"."rid") AS "place"
    FROM (
      WITH "pass0" AS (
        SELECT
          CAST("p"."y0" AS bigint) AS "x0",
          CAST("p"."y1" AS bigint) AS "x1",
          "p"."rid" AS "k0",
          "p"."stratum" AS "k1",
          "p"."c0" AS "k2",
          "p"."c1" AS "k3",
          "p"."s0" AS "k4",
          "p"."s1" AS "k5"
        FROM (
          SELECT
            "c".*,
            (
              CAST((
                CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END
              ) AS BIGINT) * 126 + (
                -86
              )
            ) / 80 AS "y0",
            (
              CAST((
                CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END
              ) AS BIGINT) * 126 + (
                -86
              )
            ) / 80 AS "y1"
          FROM "pganon_work"."r0_judged" AS "c"
        ) AS "p"
        OFFSET '0'
      ), "pass1" AS (
        SELECT
          CASE
            WHEN "x1" & 32 = 0
            THEN "x1"
            ELSE (
              ~CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (
                ~"x0"
              ) END
            )
          END AS "x0",
          CASE
            WHEN "x1" & 32 = 0
            THEN CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (
              ~"x0"
            ) END
            ELSE "x1"
          END AS "x1",
          (
            (
              "x0" & 32
            ) << 6
          ) | (
            (
              "x1" & 32
            ) << 5
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass0"
        OFFSET '0'
      ), "pass2" AS (
        SELECT
          CASE
            WHEN "x1" & 16 = 0
            THEN "x1"
            ELSE (
              ~CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (
                ~"x0"
              ) END
            )
          END AS "x0",
          CASE
            WHEN "x1" & 16 = 0
            THEN CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (
              ~"x0"
            ) END
            ELSE "x1"
          END AS "x1",
          "w0" | (
            (
              "x0" & 16
            ) << 5
          ) | (
            (
              "x1" & 16
            ) << 4
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass1"
        OFFSET '0'
      ), "pass3" AS (
        SELECT
          CASE
            WHEN "x1" & 8 = 0
            THEN "x1"
            ELSE (
              ~CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (
                ~"x0"
              ) END
            )
          END AS "x0",
          CASE
            WHEN "x1" & 8 = 0
            THEN CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (
              ~"x0"
            ) END
            ELSE "x1"
          END AS "x1",
          "w0" | (
            (
              "x0" & 8
            ) << 4
          ) | (
            (
              "x1" & 8
            ) << 3
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass2"
        OFFSET '0'
      ), "pass4" AS (
        SELECT
          CASE
            WHEN "x1" & 4 = 0
            THEN "x1"
            ELSE (
              ~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (
                ~"x0"
              ) END
            )
          END AS "x0",
          CASE
            WHEN "x1" & 4 = 0
            THEN CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (
              ~"x0"
            ) END
            ELSE "x1"
          END AS "x1",
          "w0" | (
            (
              "x0" & 4
            ) << 3
          ) | (
            (
              "x1" & 4
            ) << 2
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass3"
        OFFSET '0'
      ), "pass5" AS (
        SELECT
          CASE
            WHEN "x1" & 2 = 0
            THEN "x1"
            ELSE (
              ~CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (
                ~"x0"
              ) END
            )
          END AS "x0",
          CASE
            WHEN "x1" & 2 = 0
            THEN CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (
              ~"x0"
            ) END
            ELSE "x1"
          END AS "x1",
          "w0" | (
            (
              "x0" & 2
            ) << 2
          ) | (
            (
              "x1" & 2
            ) << 1
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass4"
        OFFSET '0'
      ), "pass6" AS (
        SELECT
          "w0" | (
            (
              "x0" & 1
            ) << 1
          ) | (
            (
              "x1" & 1
            ) << 0
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass5"
        OFFSET '0'
      ), "pass7" AS (
        SELECT
          "w0" # (
            "w0" >> 1
          ) # (
            "w0" >> 2
          ) # (
            "w0" >> 3
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass6"
        OFFSET '0'
      ), "pass8" AS (
        SELECT
          "w0" # (
            "w0" >> 4
          ) # (
            "w0" >> 8
          ) AS "w0",
          "k0" AS "k0",
          "k1" AS "k1",
          "k2" AS "k2",
          "k3" AS "k3",
          "k4" AS "k4",
          "k5" AS "k5"
        FROM "pass7"
        OFFSET '0'
      )
      SELECT
        "k0" AS "rid",
        "k1" AS "stratum",
        "k2" AS "c0",
        "k3" AS "c1",
        "k4" AS "s0",
        "k5" AS "s1",
        "w0" AS "h0"
      FROM "pass8"
    ) AS "h"
  ) AS "o"
) AS "s";

-- partition.merged: pieces put together until each could be one bucket
SELECT
  1 AS "nothing";
SELECT
  "h".*
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "p"."stratum",
      "p"."piece",
      -1 AS "condition",
      0 AS "value",
      COUNT(*) AS "n"
    FROM "pganon_work"."r0_placed" AS "p"
    GROUP BY
      "p"."stratum",
      "p"."piece"
    UNION ALL
    SELECT
      "p"."stratum",
      "p"."piece",
      0 AS "condition",
      "p"."s0" AS "value",
      COUNT(*) AS "n"
    FROM "pganon_work"."r0_placed" AS "p"
    GROUP BY
      "p"."stratum",
      "p"."piece",
      4
    UNION ALL
    SELECT
      "p"."stratum",
      "p"."piece",
      1 AS "condition",
      "p"."s1" AS "value",
      COUNT(*) AS "n"
    FROM "pganon_work"."r0_placed" AS "p"
    GROUP BY
      "p"."stratum",
      "p"."piece",
      4
  ) AS "u"
) AS "h"
ORDER BY
  "h"."stratum",
  "h"."piece";
COPY pganon_work.r0_merged (stratum, piece, block, size, tightest) FROM STDIN;

-- partition.sizes: whether a block is too large
SELECT
  COALESCE(MAX("m"."size"), 0) > 5000 AS "oversized"
FROM "pganon_work"."r0_merged" AS "m";

-- partition.bounded: no block is too large
SELECT
  COALESCE(MAX("m"."size"), 0) AS "largest_block"
FROM "pganon_work"."r0_merged" AS "m";

-- partition.blocked: records by block
CREATE TABLE pganon_work.r0_blocked AS
SELECT
  "n"."block",
  "p"."rid",
  "p"."c0" AS "c0",
  "p"."c1" AS "c1",
  "p"."s0" AS "s0",
  "p"."s1" AS "s1"
FROM "pganon_work"."r0_placed" AS "p"
JOIN (
  SELECT
    "m"."stratum",
    "m"."piece",
    CAST((
      DENSE_RANK() OVER (ORDER BY "m"."stratum", "m"."block") - 1
    ) AS INT) AS "block"
  FROM "pganon_work"."r0_merged" AS "m"
) AS "n"
  ON "n"."stratum" = "p"."stratum" AND "n"."piece" = "p"."piece";

-- partition.blocks: number of blocks
SELECT
  COALESCE(MAX("b"."block") + 1, 0) AS "blocks"
FROM "pganon_work"."r0_blocked" AS "b";

-- partition.tidy: what the blocks were made from
DROP TABLE pganon_work.r0_placed, pganon_work.r0_merged, pganon_work.r0_dealt, pganon_work.r0_shared, pganon_work.r0_judged;

-- partition.buckets0: every block divided into buckets of similar records
SELECT
  1 AS "nothing",
  (
    SELECT
      ARRAY_AGG("position" ORDER BY "code")
    FROM "pganon_work"."r0_dict0" AS "dict"
    WHERE
      "code" > 0
  ) AS "c0",
  (
    SELECT
      "s"."partition_seed"
    FROM "pganon_private"."run_secret" AS "s"
    WHERE
      "s"."run_id" = 0
  ) AS "seed";
SELECT
  "b"."block",
  "b"."rid",
  "b"."c0",
  "b"."c1",
  "b"."s0",
  "b"."s1"
FROM "pganon_work"."r0_blocked" AS "b"
WHERE
  "b"."block" >= 0 AND "b"."block" < 100
ORDER BY
  "b"."block",
  "b"."rid";
COPY pganon_work.r0_partition_0 (rid, b0) FROM STDIN;

-- partition.grouped: the buckets of every record
CREATE TABLE pganon_work.r0_grouped AS
SELECT
  "p0"."rid",
  "p0"."b0"
FROM "pganon_work"."r0_partition_0" AS "p0";

-- partition.tidy: what the buckets were made from
DROP TABLE pganon_work.r0_blocked, pganon_work.r0_partition_0;

-- recode.numbers_b0: random numbers for the buckets
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
    "r"."gid"
  FROM (
    SELECT
      "s"."b0" AS "gid"
    FROM "pganon_work"."r0_grouped" AS "s"
    ORDER BY
      "s"."b0"
  ) AS "r"
  GROUP BY
    "r"."gid"
) AS "g";

-- recode.group_records0: the buckets of every record
CREATE TABLE pganon_work.r0_group_records0 AS
SELECT
  "r"."c0",
  "r"."c1",
  "r"."v0",
  "r"."v1",
  "r"."p0",
  "r"."record",
  "n0"."b0"
FROM (
  SELECT
    "c"."c0",
    "c"."c1",
    "c"."v0",
    "c"."v1",
    "c"."p0",
    "c"."record",
    "g"."b0"
  FROM "pganon_work"."r0_grouped" AS "g"
  JOIN "pganon_work"."r0_coded" AS "c"
    ON "c"."rid" = "g"."rid"
) AS "r"
JOIN "pganon_work"."r0_numbers_b0" AS "n0"
  ON "n0"."gid" = "r"."b0"
ORDER BY
  "n0"."b0";

-- recode.qit1: quasi-identifiers with the numbers of their buckets
CREATE TABLE pganon_stage.r0_qit AS
SELECT
  "r"."b0" AS "group_id",
  CAST("l0"."value" AS integer) AS "age",
  CAST("l1"."value" AS text) AS "zip",
  "r"."p0" AS "cost"
FROM "pganon_work"."r0_group_records0" AS "r"
JOIN "pganon_work"."r0_dict0" AS "l0"
  ON "l0"."code" = "r"."c0"
JOIN "pganon_work"."r0_dict1" AS "l1"
  ON "l1"."code" = "r"."c1"
ORDER BY
  "r"."b0",
  "l0"."code",
  "l1"."code",
  "r"."p0";

-- recode.qit1_key: an index that the published views join on
CREATE INDEX ON "pganon_stage"."r0_qit" ("group_id");

-- recode.members: the steward's memory of who was in which bucket
CREATE TABLE pganon_stage.r0_members AS
SELECT
  "u".*
FROM (
  SELECT
    "t"."member",
    "t"."group_id",
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
      "g"."b0" AS "group_id",
      COALESCE('=' || CAST((
        CAST("g"."v0" AS TEXT) COLLATE "C"
      ) AS text), '') AS "v0",
      COALESCE('=' || CAST((
        CAST("g"."v1" AS TEXT) COLLATE "C"
      ) AS text), '') AS "v1",
      COALESCE('=' || CAST((
        "g"."p0"
      ) AS text), '') AS "v2"
    FROM "pganon_work"."r0_group_records0" AS "g"
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
        FROM "pganon_work"."r0_group_records0" AS "g"
      ) AS "u"
    ) AS "r"
    GROUP BY
      "r"."key"
    HAVING
      SUM("r"."n") > 0
  ) AS "p"
) AS "u";

-- recode.st1: sensitive values of every bucket with their numbers of records
CREATE TABLE pganon_stage.r0_st AS
SELECT
  "x"."x0" AS "group_id",
  "x"."x1" AS "disease",
  "x"."x2" AS "drug",
  COUNT(*) AS "count"
FROM (
  SELECT
    "r"."b0" AS "x0",
    "r"."v0" AS "x1",
    "r"."v1" AS "x2"
  FROM "pganon_work"."r0_group_records0" AS "r"
  ORDER BY
    "r"."b0",
    "r"."v0",
    "r"."v1"
) AS "x"
GROUP BY
  "x"."x0",
  "x"."x1",
  "x"."x2"
ORDER BY
  "x"."x0",
  "x"."x1",
  "x"."x2";

-- recode.st1_key: an index that the published views join on
CREATE INDEX ON "pganon_stage"."r0_st" ("group_id");

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
      "h"."group_id" AS "link",
      "h"."value",
      CAST(SUM("h"."n") AS BIGINT) AS "n"
    FROM (
      SELECT
        "r"."value",
        CAST(SUM("r"."count") AS BIGINT) AS "n",
        "r"."group_id"
      FROM (
        SELECT
          "t"."group_id",
          COALESCE('=' || CAST((
            CAST("t"."disease" AS TEXT) COLLATE "C"
          ) AS text), '') AS "value",
          "t"."count"
        FROM "pganon_stage"."r0_st" AS "t"
        ORDER BY
          "t"."group_id",
          COALESCE('=' || CAST((
            CAST("t"."disease" AS TEXT) COLLATE "C"
          ) AS text), '')
      ) AS "r"
      GROUP BY
        "r"."group_id",
        "r"."value"
    ) AS "h"
    GROUP BY
      1,
      2
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
      "h"."group_id" AS "link",
      "h"."value",
      CAST(SUM("h"."n") AS BIGINT) AS "n"
    FROM (
      SELECT
        "r"."value",
        CAST(SUM("r"."count") AS BIGINT) AS "n",
        "r"."group_id"
      FROM (
        SELECT
          "t"."group_id",
          COALESCE('=' || CAST((
            CAST("t"."drug" AS TEXT) COLLATE "C"
          ) AS text), '') AS "value",
          "t"."count"
        FROM "pganon_stage"."r0_st" AS "t"
        ORDER BY
          "t"."group_id",
          COALESCE('=' || CAST((
            CAST("t"."drug" AS TEXT) COLLATE "C"
          ) AS text), '')
      ) AS "r"
      GROUP BY
        "r"."group_id",
        "r"."value"
    ) AS "h"
    GROUP BY
      1,
      2
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
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_qit', 'pganon_stage.r0_st', 'pganon_stage.r0_members', 'pganon_stage.r0_histogram', 'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

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
          COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_numbers_b0" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."code") - COUNT(DISTINCT "t"."code") + GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_dict0" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."code") - COUNT(DISTINCT "t"."code") + GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_dict1" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_grouped" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0) AS "repeated"
        FROM (
          SELECT
            "t".*
          FROM "pganon_stage"."r0_members" AS "t"
          WHERE
            "t"."marks" IS NOT NULL
        ) AS "t"
      ) AS "u"
    ) AS "m"
  ) AS BIGINT) AS "misplaced"
FROM (
  SELECT
    COUNT(*) AS "published"
  FROM "pganon_stage"."r0_qit" AS "q"
) AS "r";

-- verify.structure_0: structure
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT "u".* FROM (SELECT "a"."number" FROM (SELECT "r"."number", COUNT(*) AS "n", 1 AS "least" FROM (SELECT "t"."group_id" AS "number" FROM "pganon_stage"."r0_qit" AS "t" ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number") AS "a" FULL JOIN (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least" FROM (SELECT "t"."group_id" AS "number", "t"."count" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number") AS "b" ON "b"."number" = "a"."number" WHERE "a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least", "b"."least") < 1) AS "u") AS "o") AS "b";

-- verify.slicing_l_diversity_1: slicing_l_diversity on disease
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION) AS "measure", "g"."group_id" FROM (SELECT "h"."value", "h"."n", "h"."group_id" FROM (SELECT "r"."value", CAST(SUM("r"."count") AS BIGINT) AS "n", "r"."group_id" FROM (SELECT "t"."group_id", COALESCE('=' || CAST((CAST("t"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", "t"."count" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", COALESCE('=' || CAST((CAST("t"."disease" AS TEXT) COLLATE "C") AS text), '')) AS "r" GROUP BY "r"."group_id", "r"."value") AS "h") AS "g" GROUP BY "g"."group_id") AS "groups";

-- verify.slicing_l_diversity_2: slicing_l_diversity on drug
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION) AS "measure", "g"."group_id" FROM (SELECT "h"."value", "h"."n", "h"."group_id" FROM (SELECT "r"."value", CAST(SUM("r"."count") AS BIGINT) AS "n", "r"."group_id" FROM (SELECT "t"."group_id", COALESCE('=' || CAST((CAST("t"."drug" AS TEXT) COLLATE "C") AS text), '') AS "value", "t"."count" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", COALESCE('=' || CAST((CAST("t"."drug" AS TEXT) COLLATE "C") AS text), '')) AS "r" GROUP BY "r"."group_id", "r"."value") AS "h") AS "g" GROUP BY "g"."group_id") AS "groups";

-- verify.utility: extent and sizes of the buckets
SELECT
  COUNT(*) AS "classes",
  CAST(SUM("e"."n") AS BIGINT) AS "released",
  MIN("e"."n") AS "smallest_class",
  CAST(AVG("e"."n") AS DOUBLE PRECISION) AS "mean_class",
  MAX("e"."n") AS "largest_class",
  CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
  SUM(
    "e"."n" * (
      (
        (
          CASE
            WHEN "e"."n0" AND "e"."hi0" > 0
            THEN 1
            WHEN "e"."hi0" = 0
            THEN 0
            ELSE (
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
          END
        ) * 1.0 + (
          (
            CAST((
              BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1
            ) AS DOUBLE PRECISION) / 40
          ) * 1.0
        )
      ) / 2.0
    )
  ) AS "weighted_loss",
  SUM(
    "e"."n" * (
      CASE
        WHEN "e"."n0" AND "e"."hi0" > 0
        THEN 1
        WHEN "e"."hi0" = 0
        THEN 0
        ELSE (
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
      END
    )
  ) / SUM("e"."n") AS "ncp0",
  SUM(
    "e"."n" * (
      CAST((
        BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1
      ) AS DOUBLE PRECISION) / 40
    )
  ) / SUM("e"."n") AS "ncp1",
  1 AS "partitions"
FROM (
  SELECT
    "c"."place",
    "c"."number",
    MIN("c"."c0") FILTER(WHERE
      "c"."c0" > 0) AS "lo0",
    MAX("c"."c0") AS "hi0",
    MIN("c"."c0") = 0 AS "n0",
    BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0",
    COUNT(*) AS "n"
  FROM (
    SELECT
      "u".*
    FROM (
      SELECT
        0 AS "place",
        "r"."b0" AS "number",
        "r"."c0",
        "r"."c1"
      FROM "pganon_work"."r0_group_records0" AS "r"
    ) AS "u"
  ) AS "c"
  GROUP BY
    "c"."place",
    "c"."number"
) AS "e";

-- verify.degree0: how well values of disease are known from their buckets
SELECT
  MIN("g"."n" / "g"."most") AS "degree",
  SUM("g"."n" - "g"."squares" / "g"."n") AS "reconstruction_error"
FROM (
  SELECT
    SUM("c"."n") AS "n",
    SUM("c"."n" * "c"."n") AS "squares",
    MAX("c"."n") AS "most"
  FROM (
    SELECT
      "t"."group_id" AS "k0",
      CAST(SUM("t"."count") AS DOUBLE PRECISION) AS "n"
    FROM "pganon_stage"."r0_st" AS "t"
    GROUP BY
      "t"."group_id",
      "t"."disease"
  ) AS "c"
  GROUP BY
    "c"."k0"
) AS "g";

-- verify.degree1: how well values of drug are known from their buckets
SELECT
  MIN("g"."n" / "g"."most") AS "degree",
  SUM("g"."n" - "g"."squares" / "g"."n") AS "reconstruction_error"
FROM (
  SELECT
    SUM("c"."n") AS "n",
    SUM("c"."n" * "c"."n") AS "squares",
    MAX("c"."n") AS "most"
  FROM (
    SELECT
      "t"."group_id" AS "k0",
      CAST(SUM("t"."count") AS DOUBLE PRECISION) AS "n"
    FROM "pganon_stage"."r0_st" AS "t"
    GROUP BY
      "t"."group_id",
      "t"."drug"
  ) AS "c"
  GROUP BY
    "c"."k0"
) AS "g";

-- verify.informed0: what of disease is learned by who knows which values go together
SELECT
  CAST(NULL AS DOUBLE PRECISION) AS "informed";

-- verify.informed1: what of drug is learned by who knows which values go together
SELECT
  CAST(NULL AS DOUBLE PRECISION) AS "informed";

-- verify.guesses0: values of disease inferred from the staged relations alone
SELECT
  1 AS "batches";
SELECT
  "r"."b0" AS "x0",
  "r"."c0" AS "x1",
  "r"."c1" AS "x2",
  CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS "x3",
  HASHTEXTEXTENDED(
    CAST(HASH_RECORD_EXTENDED(
      ROW(CAST("r"."v0" AS TEXT) COLLATE "C"),
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
  ) AS "x4"
FROM "pganon_work"."r0_group_records0" AS "r"
JOIN (
  SELECT
    "a"."group_id"
  FROM (
    SELECT
      "z"."group_id",
      SUM("z"."n") OVER (ORDER BY "z"."group_id") AS "n"
    FROM (
      SELECT
        "k"."group_id",
        SUM("k"."n" * GREATEST("k"."values", 5)) AS "n"
      FROM (
        SELECT
          "t"."group_id",
          SUM("t"."count") AS "n",
          COUNT(*) AS "values"
        FROM "pganon_stage"."r0_st" AS "t"
        WHERE
          "t"."group_id" <= 50000
        GROUP BY
          "t"."group_id"
      ) AS "k"
      GROUP BY
        "k"."group_id"
    ) AS "z"
    WHERE
      "z"."n" <= 250000
  ) AS "a"
  WHERE
    "a"."n" <= 250000
) AS "c"
  ON "c"."group_id" = "r"."b0"
WHERE
  "r"."b0" <= 50000;
COPY pganon_work.r0_guesses0 (learner, posterior, correct) FROM STDIN;

-- verify.inferred0: how many values of disease that tells
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

-- verify.guesses1: values of drug inferred from the staged relations alone
SELECT
  1 AS "batches";
SELECT
  "r"."b0" AS "x0",
  "r"."c0" AS "x1",
  "r"."c1" AS "x2",
  CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS "x3",
  HASHTEXTEXTENDED(
    CAST(HASH_RECORD_EXTENDED(
      ROW(CAST("r"."v1" AS TEXT) COLLATE "C"),
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
  ) AS "x4"
FROM "pganon_work"."r0_group_records0" AS "r"
JOIN (
  SELECT
    "a"."group_id"
  FROM (
    SELECT
      "z"."group_id",
      SUM("z"."n") OVER (ORDER BY "z"."group_id") AS "n"
    FROM (
      SELECT
        "k"."group_id",
        SUM("k"."n" * GREATEST("k"."values", 5)) AS "n"
      FROM (
        SELECT
          "t"."group_id",
          SUM("t"."count") AS "n",
          COUNT(*) AS "values"
        FROM "pganon_stage"."r0_st" AS "t"
        WHERE
          "t"."group_id" <= 50000
        GROUP BY
          "t"."group_id"
      ) AS "k"
      GROUP BY
        "k"."group_id"
    ) AS "z"
    WHERE
      "z"."n" <= 250000
  ) AS "a"
  WHERE
    "a"."n" <= 250000
) AS "c"
  ON "c"."group_id" = "r"."b0"
WHERE
  "r"."b0" <= 50000;
COPY pganon_work.r0_guesses1 (learner, posterior, correct) FROM STDIN;

-- verify.inferred1: how many values of drug that tells
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

-- verify.related_records: the records of some buckets
CREATE TABLE pganon_work.r0_related_records AS
SELECT
  "r".*,
  DENSE_RANK() OVER (ORDER BY "r"."p0") AS "i0",
  DENSE_RANK() OVER (ORDER BY "r"."v0") AS "s0",
  DENSE_RANK() OVER (ORDER BY "r"."v1") AS "s1"
FROM (
  SELECT
    "r"."c0",
    "r"."c1",
    "r"."v0",
    "r"."v1",
    "r"."p0",
    "r"."record"
  FROM "pganon_work"."r0_group_records0" AS "r"
  WHERE
    "r"."b0" <= 10000
  ORDER BY
    "r"."b0",
    HASHTEXTEXTENDED(
      CAST(HASH_RECORD_EXTENDED(
        ROW("r"."c0", "r"."c1", "r"."v0", "r"."v1", "r"."p0", "r"."record"),
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
    )
  LIMIT 10000
) AS "r";

-- verify.related: association of the other columns with the sensitive ones
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
      1 AS "n",
      (
        SELECT
          CASE
            WHEN COUNT(*) > 32
            THEN ARRAY_REMOVE(
              ARRAY[
                MIN("m"."code") FILTER(WHERE
                  "m"."middle" >= 1 * DIV("m"."n", 4) + LEAST(1, "m"."n" % 4)),
                MIN("m"."code") FILTER(WHERE
                  "m"."middle" >= 2 * DIV("m"."n", 4) + LEAST(2, "m"."n" % 4)),
                MIN("m"."code") FILTER(WHERE
                  "m"."middle" >= 3 * DIV("m"."n", 4) + LEAST(3, "m"."n" % 4))
              ],
              NULL
            )
          END AS "starts"
        FROM (
          SELECT
            "v"."code",
            SUM("v"."f") OVER (ORDER BY "v"."code") - "v"."f" + (
              "v"."f" - 1
            ) / 2 AS "middle",
            SUM("v"."f") OVER () AS "n"
          FROM (
            SELECT
              NULLIF("t"."c0", 0) AS "code",
              COUNT(*) AS "f"
            FROM "pganon_work"."r0_related_records" AS "t"
            WHERE
              CASE
                WHEN "t"."c0" > 0
                THEN (
                  (
                    SELECT
                      ARRAY_AGG("position" ORDER BY "code")
                    FROM "pganon_work"."r0_dict0" AS "dict"
                    WHERE
                      "code" > 0
                  )["t"."c0"]
                )
              END IS NOT NULL
            GROUP BY
              NULLIF("t"."c0", 0)
          ) AS "v"
        ) AS "m"
      ) AS "e0",
      (
        SELECT
          CASE
            WHEN COUNT(*) > 32
            THEN ARRAY_REMOVE(
              ARRAY[
                MIN("m"."code") FILTER(WHERE
                  "m"."middle" >= 1 * DIV("m"."n", 4) + LEAST(1, "m"."n" % 4)),
                MIN("m"."code") FILTER(WHERE
                  "m"."middle" >= 2 * DIV("m"."n", 4) + LEAST(2, "m"."n" % 4)),
                MIN("m"."code") FILTER(WHERE
                  "m"."middle" >= 3 * DIV("m"."n", 4) + LEAST(3, "m"."n" % 4))
              ],
              NULL
            )
          END AS "starts"
        FROM (
          SELECT
            "v"."code",
            SUM("v"."f") OVER (ORDER BY "v"."code") - "v"."f" + (
              "v"."f" - 1
            ) / 2 AS "middle",
            SUM("v"."f") OVER () AS "n"
          FROM (
            SELECT
              "t"."i0" AS "code",
              COUNT(*) AS "f"
            FROM "pganon_work"."r0_related_records" AS "t"
            WHERE
              CAST("t"."p0" AS DOUBLE PRECISION) IS NOT NULL
            GROUP BY
              "t"."i0"
          ) AS "v"
        ) AS "m"
      ) AS "e2"
  ), "x" AS MATERIALIZED (
    SELECT
      CASE
        WHEN "e"."e0" IS NULL
        THEN COALESCE(NULLIF("t"."c0", 0), -1)
        WHEN CASE
          WHEN "t"."c0" > 0
          THEN (
            (
              SELECT
                ARRAY_AGG("position" ORDER BY "code")
              FROM "pganon_work"."r0_dict0" AS "dict"
              WHERE
                "code" > 0
            )["t"."c0"]
          )
        END IS NULL
        THEN -1
        ELSE WIDTH_BUCKET(NULLIF("t"."c0", 0), "e"."e0")
      END AS "k0",
      COALESCE(NULLIF("t"."c1", 0), -1) AS "k1",
      CASE
        WHEN "e"."e2" IS NULL
        THEN COALESCE("t"."i0", -1)
        WHEN CAST("t"."p0" AS DOUBLE PRECISION) IS NULL
        THEN -1
        ELSE WIDTH_BUCKET("t"."i0", "e"."e2")
      END AS "k2",
      COALESCE("t"."s0", -1) AS "k3",
      COALESCE("t"."s1", -1) AS "k4"
    FROM "pganon_work"."r0_related_records" AS "t"
    CROSS JOIN "e"
  ), "g" AS MATERIALIZED (
    SELECT
      CASE
        WHEN "x"."k0" IS NOT NULL
        THEN 0
        WHEN "x"."k1" IS NOT NULL
        THEN 1
        WHEN "x"."k2" IS NOT NULL
        THEN 2
        WHEN "x"."k3" IS NOT NULL
        THEN 3
        WHEN "x"."k4" IS NOT NULL
        THEN 4
      END AS "i",
      CASE
        WHEN "x"."k4" IS NOT NULL
        THEN 4
        WHEN "x"."k3" IS NOT NULL
        THEN 3
        WHEN "x"."k2" IS NOT NULL
        THEN 2
        WHEN "x"."k1" IS NOT NULL
        THEN 1
        WHEN "x"."k0" IS NOT NULL
        THEN 0
      END AS "j",
      COALESCE("x"."k0", "x"."k1", "x"."k2", "x"."k3", "x"."k4") AS "va",
      COALESCE("x"."k4", "x"."k3", "x"."k2", "x"."k1", "x"."k0") AS "vb",
      CAST(COUNT(*) AS DOUBLE PRECISION) AS "f"
    FROM "x"
    GROUP BY
      GROUPING SETS (
        ("x"."k0"),
        ("x"."k1"),
        ("x"."k2"),
        ("x"."k3"),
        ("x"."k4"),
        ("x"."k0", "x"."k3"),
        ("x"."k0", "x"."k4"),
        ("x"."k1", "x"."k3"),
        ("x"."k1", "x"."k4"),
        ("x"."k2", "x"."k3"),
        ("x"."k2", "x"."k4")
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
) AS "v";

-- publish.publish: views, grants and ledger in one transaction
ALTER TABLE "pganon_stage"."r0_qit" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_st" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private";
CREATE OR REPLACE VIEW "published"."visits" AS SELECT "q"."group_id", "q"."age", "q"."zip", "q"."cost", "t0"."disease", "t0"."drug", 1.0 * "t0"."count" / "s0"."n" AS "probability" FROM "pganon_data"."r0_qit" AS "q" JOIN "pganon_data"."r0_st" AS "t0" ON "t0"."group_id" = "q"."group_id" JOIN (SELECT "u"."group_id", SUM("u"."count") AS "n" FROM "pganon_data"."r0_st" AS "u" GROUP BY "u"."group_id") AS "s0" ON "s0"."group_id" = "q"."group_id";
CREATE OR REPLACE VIEW "published"."visits_qit" AS SELECT "t"."group_id", "t"."age", "t"."zip", "t"."cost" FROM "pganon_data"."r0_qit" AS "t";
CREATE OR REPLACE VIEW "published"."visits_st" AS SELECT "t"."group_id", "t"."disease", "t"."drug", "t"."count" FROM "pganon_data"."r0_st" AS "t";
