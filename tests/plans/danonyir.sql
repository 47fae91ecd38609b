-- snapshot.snapshot: read the source, once
CREATE TABLE pganon_work.r0_snap AS
SELECT
  CAST("src"."age" AS bigint) AS "q0",
  CAST("src"."zip" AS TEXT) COLLATE "C" AS "q1",
  "src"."disease" AS "s0",
  "src"."cost" AS "p0",
  CAST((
    "src"."id"
  ) AS text) AS "record",
  CAST((
    CAST("src"."person" AS TEXT) COLLATE "C"
  ) AS text) AS "individual"
FROM "public"."visit" AS "src";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
SELECT
  COUNT(*) AS "records",
  COUNT(*) - COUNT("t"."q0") AS "nulls_q0",
  COUNT(*) - COUNT("t"."q1") AS "nulls_q1",
  COUNT(*) - COUNT("t"."s0") AS "nulls_s0",
  COUNT(DISTINCT "t"."individual") AS "individuals",
  COUNT(*) - COUNT("t"."individual") AS "nobody"
FROM "pganon_work"."r0_snap" AS "t";

-- encode.source: fingerprint of the source
SELECT
  SHA256(
    (
      SELECT
        "s"."key"
      FROM "pganon_private"."installation_secret" AS "s"
    ) || CONVERT_TO(
      'cfdf41ca5e1eda88c3aa6489c2be3c525cffda4dfb7136ccd6b9744ea7126441' || ':' || "x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b",
      'UTF8'
    )
  ) AS "source_plain",
  SHA256(
    (
      SELECT
        "s"."key"
      FROM "pganon_private"."installation_secret" AS "s"
    ) || CONVERT_TO(
      'ead05686285bed22180993cf91c144c6d951add76da5473a8d6b4cb9c4574baa' || ':' || "x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b",
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
        ROW("r"."hash", "r"."key0", "r"."key1"),
        (
          SELECT
            "s"."seed_a"
          FROM "pganon_private"."installation_secret" AS "s"
        )
      ) AS TEXT) AS "keyed"
    FROM (
      SELECT
        CAST(HASH_RECORD_EXTENDED(
          ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0"),
          (
            SELECT
              "s"."seed_a"
            FROM "pganon_private"."installation_secret" AS "s"
          )
        ) AS TEXT) AS "hash",
        "t"."record" AS "key0",
        "t"."individual" AS "key1"
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
  ) AS "slooks0";

-- encode.coded: values become codes
CREATE TABLE pganon_work.r0_coded AS
SELECT
  CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
  CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1",
  "t"."s0" AS "v0",
  "t"."p0",
  "t"."record",
  "t"."individual",
  ROW_NUMBER() OVER (
    ORDER BY HASHTEXTEXTENDED(
      CAST(HASH_RECORD_EXTENDED(
        ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0", "t"."record", "t"."individual"),
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
  CAST(COALESCE("e0"."code", 1) AS integer) AS "s0"
FROM "pganon_work"."r0_snap" AS "t"
LEFT JOIN "pganon_work"."r0_dict0" AS "l0"
  ON "l0"."value" = "t"."q0"
LEFT JOIN "pganon_work"."r0_dict1" AS "l1"
  ON "l1"."value" = "t"."q1"
LEFT JOIN "pganon_work"."r0_sdict0" AS "e0"
  ON "e0"."value" = (
    CAST("t"."s0" AS TEXT) COLLATE "C"
  );

-- encode.encoded: every record that the rules for NULL keep is encoded once
SELECT
  0 AS "unknown";

-- encode.tidy: the snapshot is not needed any more
DROP TABLE pganon_work.r0_snap;

-- partition.feasible0: whether ir_k_anonymity can be reached
SELECT
  "m"."measure" AS "reached"
FROM (
  SELECT
    COUNT(*) AS "measure",
    "g"."class"
  FROM (
    SELECT
      "h"."value",
      "h"."n",
      "h"."class"
    FROM (
      SELECT
        "r"."individual" AS "value",
        COUNT(*) AS "n",
        "r"."class"
      FROM (
        SELECT
          1 AS "class",
          "c"."individual",
          "c"."s0" AS "value"
        FROM "pganon_work"."r0_coded" AS "c"
      ) AS "r"
      GROUP BY
        "r"."individual",
        "r"."class"
    ) AS "h"
  ) AS "g"
  GROUP BY
    "g"."class"
) AS "m";

-- partition.feasible1: whether distinct_l_diversity can be reached
SELECT
  "m"."measure" AS "reached"
FROM (
  SELECT
    COUNT(*) AS "measure",
    "g"."class"
  FROM (
    SELECT
      "h"."value",
      "h"."n",
      "h"."class"
    FROM (
      SELECT
        "r"."value",
        COUNT(*) AS "n",
        "r"."class"
      FROM (
        SELECT
          1 AS "class",
          "c"."individual",
          "c"."s0" AS "value"
        FROM "pganon_work"."r0_coded" AS "c"
      ) AS "r"
      GROUP BY
        "r"."value",
        "r"."class"
    ) AS "h"
  ) AS "g"
  GROUP BY
    "g"."class"
) AS "m";

-- partition.individuals: individuals with what their records have
CREATE TABLE pganon_work.r0_individuals AS
SELECT
  ROW_NUMBER() OVER (
    ORDER BY HASHTEXTEXTENDED(
      "g"."individual",
      (
        SELECT
          "s"."partition_seed"
        FROM "pganon_private"."run_secret" AS "s"
        WHERE
          "s"."run_id" = 0
      )
    ), "g"."individual"
  ) AS "rid",
  "g".*
FROM (
  SELECT
    "c"."individual",
    CAST(COUNT("c"."s0") AS int) AS "n",
    ARRAY_AGG("c"."s0") AS "sensitive",
    MIN("c"."c0") FILTER(WHERE
      "c"."c0" > 0) AS "lo0",
    MAX("c"."c0") AS "hi0",
    MIN("c"."c0") = 0 AS "n0",
    MIN("c"."c0") AS "c0",
    ARRAY_AGG(DISTINCT "c"."c1") AS "b1",
    MIN("c"."c1") AS "c1"
  FROM "pganon_work"."r0_coded" AS "c"
  GROUP BY
    "c"."individual"
) AS "g";

-- partition.individuals: number of individuals
SELECT
  COUNT(*) AS "individuals"
FROM "pganon_work"."r0_individuals" AS "i";

-- partition.blocked: blocks of similar individuals
CREATE TABLE pganon_work.r0_blocked AS
SELECT
  "o"."rid",
  CAST((
    CAST((
      "o"."place" - 1
    ) AS BIGINT) * 1 / 1000
  ) AS INT) AS "block"
FROM (
  SELECT
    "h"."rid",
    ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."rid") AS "place"
  FROM (
    WITH "pass0" AS (
      SELECT
        CAST("p"."y0" AS bigint) AS "x0",
        CAST("p"."y1" AS bigint) AS "x1",
        "p"."rid" AS "k0"
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
        FROM "pganon_work"."r0_individuals" AS "c"
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
        "k0" AS "k0"
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
        "k0" AS "k0"
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
        "k0" AS "k0"
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
        "k0" AS "k0"
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
        "k0" AS "k0"
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
        "k0" AS "k0"
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
        "k0" AS "k0"
      FROM "pass6"
      OFFSET '0'
    ), "pass8" AS (
      SELECT
        "w0" # (
          "w0" >> 4
        ) # (
          "w0" >> 8
        ) AS "w0",
        "k0" AS "k0"
      FROM "pass7"
      OFFSET '0'
    )
    SELECT
      "k0" AS "rid",
      "w0" AS "h0"
    FROM "pass8"
  ) AS "h"
) AS "o";

-- partition.classes: classes grown individual by individual
SELECT
  1 AS "nothing",
  (
    SELECT
      ARRAY_AGG("position" ORDER BY "code")
    FROM "pganon_work"."r0_dict0" AS "dict"
    WHERE
      "code" > 0
  ) AS "c0";
SELECT
  "b"."block",
  "b"."rid",
  "b"."sensitive",
  "b"."lo0",
  "b"."hi0",
  "b"."n0",
  "b"."b1"
FROM (
  SELECT
    "b"."block",
    "b"."rid",
    "i"."sensitive",
    "i"."lo0",
    "i"."hi0",
    "i"."n0",
    "i"."b1"
  FROM "pganon_work"."r0_blocked" AS "b"
  JOIN "pganon_work"."r0_individuals" AS "i"
    ON "i"."rid" = "b"."rid"
) AS "b"
WHERE
  "b"."block" >= 0 AND "b"."block" < 2500
ORDER BY
  "b"."block",
  "b"."rid";
COPY pganon_work.r0_grown (rid, gid) FROM STDIN;

-- partition.spans: blocks to be searched as one
CREATE TABLE pganon_work.r0_spans AS
SELECT
  "n"."block",
  "n"."place",
  "n"."several",
  CASE
    WHEN "n"."several"
    THEN (
      SELECT
        MAX("x"."block")
      FROM "pganon_work"."r0_blocked" AS "x"
    ) + DENSE_RANK() OVER (PARTITION BY "n"."several" ORDER BY "n"."place")
    ELSE "n"."block"
  END AS "label"
FROM (
  SELECT
    "p"."block",
    COUNT(*) OVER (PARTITION BY "p"."run", "p"."piece") > 1 AS "several",
    DENSE_RANK() OVER (ORDER BY "p"."run", "p"."piece") - 1 AS "place"
  FROM (
    SELECT
      "p"."block",
      "p"."run",
      "p"."at" * (
        (
          "p"."size" + 4 - 1
        ) / 4
      ) / "p"."size" AS "piece"
    FROM (
      SELECT
        "r"."block",
        "r"."run",
        ROW_NUMBER() OVER (PARTITION BY "r"."run" ORDER BY "r"."block") - 1 AS "at",
        COUNT(*) OVER (PARTITION BY "r"."run") AS "size"
      FROM (
        SELECT
          "f"."block",
          GREATEST(SUM(CAST("f"."found" AS INT)) OVER (ORDER BY "f"."block"), 1) AS "run"
        FROM (
          SELECT
            "b"."block",
            "g"."block" IS NOT NULL AS "found"
          FROM (
            SELECT DISTINCT
              "x"."block"
            FROM "pganon_work"."r0_blocked" AS "x"
          ) AS "b"
          LEFT JOIN (
            SELECT DISTINCT
              (
                "y"."gid" >> 32
              ) AS "block"
            FROM "pganon_work"."r0_grown" AS "y"
          ) AS "g"
            ON "g"."block" = "b"."block"
        ) AS "f"
      ) AS "r"
    ) AS "p"
  ) AS "p"
) AS "n";

-- partition.spans: how many of them there are
SELECT
  COUNT(DISTINCT "s"."place") AS "places",
  COUNT(DISTINCT "s"."label") FILTER(WHERE
    "s"."several") AS "joined"
FROM "pganon_work"."r0_spans" AS "s";

-- partition.regrown: the same over blocks without any class, together with their neighbours
SELECT
  1 AS "nothing",
  (
    SELECT
      ARRAY_AGG("position" ORDER BY "code")
    FROM "pganon_work"."r0_dict0" AS "dict"
    WHERE
      "code" > 0
  ) AS "c0";
SELECT
  "b"."block",
  "b"."rid",
  "b"."sensitive",
  "b"."lo0",
  "b"."hi0",
  "b"."n0",
  "b"."b1"
FROM (
  SELECT
    "b"."block",
    "b"."rid",
    "i"."sensitive",
    "i"."lo0",
    "i"."hi0",
    "i"."n0",
    "i"."b1"
  FROM (
    SELECT
      "s"."label" - 1 AS "block",
      "b"."rid"
    FROM "pganon_work"."r0_blocked" AS "b"
    JOIN "pganon_work"."r0_spans" AS "s"
      ON "s"."block" = "b"."block"
    WHERE
      "s"."label" >= 1
  ) AS "b"
  JOIN "pganon_work"."r0_individuals" AS "i"
    ON "i"."rid" = "b"."rid"
) AS "b"
WHERE
  "b"."block" >= 0 AND "b"."block" < 625
ORDER BY
  "b"."block",
  "b"."rid";
COPY pganon_work.r0_regrown (rid, gid) FROM STDIN;

-- partition.residuals: individuals without a class in their block
SELECT
  1000 - COUNT(*) AS "residuals"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "g"."rid",
      "g"."gid"
    FROM "pganon_work"."r0_grown" AS "g"
    JOIN "pganon_work"."r0_spans" AS "s"
      ON "s"."block" = (
        "g"."gid" >> 32
      )
    WHERE
      NOT "s"."several"
    UNION ALL
    SELECT
      "r"."rid",
      "r"."gid"
    FROM "pganon_work"."r0_regrown" AS "r"
  ) AS "u"
) AS "c";

-- partition.left0: residuals in every third place
CREATE TABLE pganon_work.r0_left0 AS
SELECT
  "s"."place" AS "block",
  "b"."rid"
FROM "pganon_work"."r0_blocked" AS "b"
JOIN "pganon_work"."r0_spans" AS "s"
  ON "s"."block" = "b"."block"
LEFT JOIN (
  SELECT
    "u".*
  FROM (
    SELECT
      "g"."rid",
      "g"."gid"
    FROM "pganon_work"."r0_grown" AS "g"
    JOIN "pganon_work"."r0_spans" AS "s"
      ON "s"."block" = (
        "g"."gid" >> 32
      )
    WHERE
      NOT "s"."several"
    UNION ALL
    SELECT
      "r"."rid",
      "r"."gid"
    FROM "pganon_work"."r0_regrown" AS "r"
  ) AS "u"
) AS "c"
  ON "c"."rid" = "b"."rid"
WHERE
  "c"."rid" IS NULL AND "s"."place" % 3 = 0;

-- partition.units0: the same with the classes of neighbouring places
CREATE TABLE pganon_work.r0_units0 AS
SELECT
  "u".*
FROM (
  SELECT
    "l"."block",
    "l"."rid",
    TRUE AS "residual",
    1 AS "people",
    CAST("i"."n" AS BIGINT) AS "records",
    "i"."n" AS "largest",
    CAST("i"."sensitive" AS INT[]) AS "sensitive",
    CAST(NULL AS INT[]) AS "counts",
    CAST(NULL AS INT[]) AS "holders",
    "i"."lo0",
    "i"."hi0",
    "i"."n0",
    "i"."b1"
  FROM "pganon_work"."r0_left0" AS "l"
  JOIN "pganon_work"."r0_individuals" AS "i"
    ON "i"."rid" = "l"."rid"
  UNION ALL
  SELECT
    "u"."block",
    "u"."unit" AS "rid",
    FALSE AS "residual",
    "u"."people",
    "u"."records",
    "u"."largest",
    CAST(NULL AS INT[]) AS "sensitive",
    CAST(NULL AS INT[]) AS "counts",
    CAST(NULL AS INT[]) AS "holders",
    "u"."lo0",
    "u"."hi0",
    "u"."n0",
    "u"."b1"
  FROM (
    SELECT
      "m"."block",
      "m"."unit",
      CAST(COUNT(*) AS INT) AS "people",
      CAST(SUM("i"."n") AS BIGINT) AS "records",
      MAX("i"."n") AS "largest",
      MIN("i"."lo0") AS "lo0",
      MAX("i"."hi0") AS "hi0",
      BOOL_OR("i"."n0") AS "n0",
      CAST(STRING_TO_ARRAY(STRING_AGG(ARRAY_TO_STRING("i"."b1", ','), ','), ',') AS INT[]) AS "b1"
    FROM (
      SELECT
        "n"."middle" AS "block",
        "c"."gid" AS "unit",
        "c"."rid"
      FROM (
        SELECT
          "u".*
        FROM (
          SELECT
            "g"."rid",
            "g"."gid"
          FROM "pganon_work"."r0_grown" AS "g"
          JOIN "pganon_work"."r0_spans" AS "s"
            ON "s"."block" = (
              "g"."gid" >> 32
            )
          WHERE
            NOT "s"."several"
          UNION ALL
          SELECT
            "r"."rid",
            "r"."gid"
          FROM "pganon_work"."r0_regrown" AS "r"
        ) AS "u"
      ) AS "c"
      JOIN (
        SELECT DISTINCT
          "s"."label",
          (
            (
              "s"."place" - 0 + 4
            ) / 3 - 1
          ) * 3 + 0 AS "middle"
        FROM "pganon_work"."r0_spans" AS "s"
      ) AS "n"
        ON "n"."label" = (
          "c"."gid" >> 32
        )
      JOIN (
        SELECT DISTINCT
          "x"."block"
        FROM "pganon_work"."r0_left0" AS "x"
      ) AS "l"
        ON "l"."block" = "n"."middle"
    ) AS "m"
    JOIN "pganon_work"."r0_individuals" AS "i"
      ON "i"."rid" = "m"."rid"
    GROUP BY
      "m"."block",
      "m"."unit"
  ) AS "u"
) AS "u";

-- partition.joined0: residuals join the nearest class that still satisfies every requirement
SELECT
  1 AS "nothing",
  (
    SELECT
      ARRAY_AGG("position" ORDER BY "code")
    FROM "pganon_work"."r0_dict0" AS "dict"
    WHERE
      "code" > 0
  ) AS "c0";
SELECT
  "b"."block",
  "b"."rid",
  "b"."residual",
  "b"."people",
  "b"."records",
  "b"."largest",
  "b"."sensitive",
  "b"."counts",
  "b"."holders",
  "b"."lo0",
  "b"."hi0",
  "b"."n0",
  "b"."b1"
FROM "pganon_work"."r0_units0" AS "b"
WHERE
  "b"."block" >= 0 AND "b"."block" < 2500
ORDER BY
  "b"."block",
  "b"."rid";
COPY pganon_work.r0_joined0 (rid, gid) FROM STDIN;

-- partition.left1: residuals in every third place
CREATE TABLE pganon_work.r0_left1 AS
SELECT
  "s"."place" AS "block",
  "b"."rid"
FROM "pganon_work"."r0_blocked" AS "b"
JOIN "pganon_work"."r0_spans" AS "s"
  ON "s"."block" = "b"."block"
LEFT JOIN (
  SELECT
    "u".*
  FROM (
    SELECT
      "g"."rid",
      "g"."gid"
    FROM "pganon_work"."r0_grown" AS "g"
    JOIN "pganon_work"."r0_spans" AS "s"
      ON "s"."block" = (
        "g"."gid" >> 32
      )
    WHERE
      NOT "s"."several"
    UNION ALL
    SELECT
      "r"."rid",
      "r"."gid"
    FROM "pganon_work"."r0_regrown" AS "r"
    UNION ALL
    SELECT
      "r"."rid",
      "r"."gid"
    FROM "pganon_work"."r0_joined0" AS "r"
  ) AS "u"
) AS "c"
  ON "c"."rid" = "b"."rid"
WHERE
  "c"."rid" IS NULL AND "s"."place" % 3 = 1;

-- partition.units1: the same with the classes of neighbouring places
CREATE TABLE pganon_work.r0_units1 AS
SELECT
  "u".*
FROM (
  SELECT
    "l"."block",
    "l"."rid",
    TRUE AS "residual",
    1 AS "people",
    CAST("i"."n" AS BIGINT) AS "records",
    "i"."n" AS "largest",
    CAST("i"."sensitive" AS INT[]) AS "sensitive",
    CAST(NULL AS INT[]) AS "counts",
    CAST(NULL AS INT[]) AS "holders",
    "i"."lo0",
    "i"."hi0",
    "i"."n0",
    "i"."b1"
  FROM "pganon_work"."r0_left1" AS "l"
  JOIN "pganon_work"."r0_individuals" AS "i"
    ON "i"."rid" = "l"."rid"
  UNION ALL
  SELECT
    "u"."block",
    "u"."unit" AS "rid",
    FALSE AS "residual",
    "u"."people",
    "u"."records",
    "u"."largest",
    CAST(NULL AS INT[]) AS "sensitive",
    CAST(NULL AS INT[]) AS "counts",
    CAST(NULL AS INT[]) AS "holders",
    "u"."lo0",
    "u"."hi0",
    "u"."n0",
    "u"."b1"
  FROM (
    SELECT
      "m"."block",
      "m"."unit",
      CAST(COUNT(*) AS INT) AS "people",
      CAST(SUM("i"."n") AS BIGINT) AS "records",
      MAX("i"."n") AS "largest",
      MIN("i"."lo0") AS "lo0",
      MAX("i"."hi0") AS "hi0",
      BOOL_OR("i"."n0") AS "n0",
      CAST(STRING_TO_ARRAY(STRING_AGG(ARRAY_TO_STRING("i"."b1", ','), ','), ',') AS INT[]) AS "b1"
    FROM (
      SELECT
        "n"."middle" AS "block",
        "c"."gid" AS "unit",
        "c"."rid"
      FROM (
        SELECT
          "u".*
        FROM (
          SELECT
            "g"."rid",
            "g"."gid"
          FROM "pganon_work"."r0_grown" AS "g"
          JOIN "pganon_work"."r0_spans" AS "s"
            ON "s"."block" = (
              "g"."gid" >> 32
            )
          WHERE
            NOT "s"."several"
          UNION ALL
          SELECT
            "r"."rid",
            "r"."gid"
          FROM "pganon_work"."r0_regrown" AS "r"
          UNION ALL
          SELECT
            "r"."rid",
            "r"."gid"
          FROM "pganon_work"."r0_joined0" AS "r"
        ) AS "u"
      ) AS "c"
      JOIN (
        SELECT DISTINCT
          "s"."label",
          (
            (
              "s"."place" - 1 + 4
            ) / 3 - 1
          ) * 3 + 1 AS "middle"
        FROM "pganon_work"."r0_spans" AS "s"
      ) AS "n"
        ON "n"."label" = (
          "c"."gid" >> 32
        )
      JOIN (
        SELECT DISTINCT
          "x"."block"
        FROM "pganon_work"."r0_left1" AS "x"
      ) AS "l"
        ON "l"."block" = "n"."middle"
    ) AS "m"
    JOIN "pganon_work"."r0_individuals" AS "i"
      ON "i"."rid" = "m"."rid"
    GROUP BY
      "m"."block",
      "m"."unit"
  ) AS "u"
) AS "u";

-- partition.joined1: residuals join the nearest class that still satisfies every requirement
SELECT
  1 AS "nothing",
  (
    SELECT
      ARRAY_AGG("position" ORDER BY "code")
    FROM "pganon_work"."r0_dict0" AS "dict"
    WHERE
      "code" > 0
  ) AS "c0";
SELECT
  "b"."block",
  "b"."rid",
  "b"."residual",
  "b"."people",
  "b"."records",
  "b"."largest",
  "b"."sensitive",
  "b"."counts",
  "b"."holders",
  "b"."lo0",
  "b"."hi0",
  "b"."n0",
  "b"."b1"
FROM "pganon_work"."r0_units1" AS "b"
WHERE
  "b"."block" >= 0 AND "b"."block" < 2500
ORDER BY
  "b"."block",
  "b"."rid";
COPY pganon_work.r0_joined1 (rid, gid) FROM STDIN;

-- partition.left2: residuals in every third place
CREATE TABLE pganon_work.r0_left2 AS
SELECT
  "s"."place" AS "block",
  "b"."rid"
FROM "pganon_work"."r0_blocked" AS "b"
JOIN "pganon_work"."r0_spans" AS "s"
  ON "s"."block" = "b"."block"
LEFT JOIN (
  SELECT
    "u".*
  FROM (
    SELECT
      "g"."rid",
      "g"."gid"
    FROM "pganon_work"."r0_grown" AS "g"
    JOIN "pganon_work"."r0_spans" AS "s"
      ON "s"."block" = (
        "g"."gid" >> 32
      )
    WHERE
      NOT "s"."several"
    UNION ALL
    SELECT
      "r"."rid",
      "r"."gid"
    FROM "pganon_work"."r0_regrown" AS "r"
    UNION ALL
    SELECT
      "r"."rid",
      "r"."gid"
    FROM "pganon_work"."r0_joined0" AS "r"
    UNION ALL
    SELECT
      "r"."rid",
      "r"."gid"
    FROM "pganon_work"."r0_joined1" AS "r"
  ) AS "u"
) AS "c"
  ON "c"."rid" = "b"."rid"
WHERE
  "c"."rid" IS NULL AND "s"."place" % 3 = 2;

-- partition.units2: the same with the classes of neighbouring places
CREATE TABLE pganon_work.r0_units2 AS
SELECT
  "u".*
FROM (
  SELECT
    "l"."block",
    "l"."rid",
    TRUE AS "residual",
    1 AS "people",
    CAST("i"."n" AS BIGINT) AS "records",
    "i"."n" AS "largest",
    CAST("i"."sensitive" AS INT[]) AS "sensitive",
    CAST(NULL AS INT[]) AS "counts",
    CAST(NULL AS INT[]) AS "holders",
    "i"."lo0",
    "i"."hi0",
    "i"."n0",
    "i"."b1"
  FROM "pganon_work"."r0_left2" AS "l"
  JOIN "pganon_work"."r0_individuals" AS "i"
    ON "i"."rid" = "l"."rid"
  UNION ALL
  SELECT
    "u"."block",
    "u"."unit" AS "rid",
    FALSE AS "residual",
    "u"."people",
    "u"."records",
    "u"."largest",
    CAST(NULL AS INT[]) AS "sensitive",
    CAST(NULL AS INT[]) AS "counts",
    CAST(NULL AS INT[]) AS "holders",
    "u"."lo0",
    "u"."hi0",
    "u"."n0",
    "u"."b1"
  FROM (
    SELECT
      "m"."block",
      "m"."unit",
      CAST(COUNT(*) AS INT) AS "people",
      CAST(SUM("i"."n") AS BIGINT) AS "records",
      MAX("i"."n") AS "largest",
      MIN("i"."lo0") AS "lo0",
      MAX("i"."hi0") AS "hi0",
      BOOL_OR("i"."n0") AS "n0",
      CAST(STRING_TO_ARRAY(STRING_AGG(ARRAY_TO_STRING("i"."b1", ','), ','), ',') AS INT[]) AS "b1"
    FROM (
      SELECT
        "n"."middle" AS "block",
        "c"."gid" AS "unit",
        "c"."rid"
      FROM (
        SELECT
          "u".*
        FROM (
          SELECT
            "g"."rid",
            "g"."gid"
          FROM "pganon_work"."r0_grown" AS "g"
          JOIN "pganon_work"."r0_spans" AS "s"
            ON "s"."block" = (
              "g"."gid" >> 32
            )
          WHERE
            NOT "s"."several"
          UNION ALL
          SELECT
            "r"."rid",
            "r"."gid"
          FROM "pganon_work"."r0_regrown" AS "r"
          UNION ALL
          SELECT
            "r"."rid",
            "r"."gid"
          FROM "pganon_work"."r0_joined0" AS "r"
          UNION ALL
          SELECT
            "r"."rid",
            "r"."gid"
          FROM "pganon_work"."r0_joined1" AS "r"
        ) AS "u"
      ) AS "c"
      JOIN (
        SELECT DISTINCT
          "s"."label",
          (
            (
              "s"."place" - 2 + 4
            ) / 3 - 1
          ) * 3 + 2 AS "middle"
        FROM "pganon_work"."r0_spans" AS "s"
      ) AS "n"
        ON "n"."label" = (
          "c"."gid" >> 32
        )
      JOIN (
        SELECT DISTINCT
          "x"."block"
        FROM "pganon_work"."r0_left2" AS "x"
      ) AS "l"
        ON "l"."block" = "n"."middle"
    ) AS "m"
    JOIN "pganon_work"."r0_individuals" AS "i"
      ON "i"."rid" = "m"."rid"
    GROUP BY
      "m"."block",
      "m"."unit"
  ) AS "u"
) AS "u";

-- partition.joined2: residuals join the nearest class that still satisfies every requirement
SELECT
  1 AS "nothing",
  (
    SELECT
      ARRAY_AGG("position" ORDER BY "code")
    FROM "pganon_work"."r0_dict0" AS "dict"
    WHERE
      "code" > 0
  ) AS "c0";
SELECT
  "b"."block",
  "b"."rid",
  "b"."residual",
  "b"."people",
  "b"."records",
  "b"."largest",
  "b"."sensitive",
  "b"."counts",
  "b"."holders",
  "b"."lo0",
  "b"."hi0",
  "b"."n0",
  "b"."b1"
FROM "pganon_work"."r0_units2" AS "b"
WHERE
  "b"."block" >= 0 AND "b"."block" < 2500
ORDER BY
  "b"."block",
  "b"."rid";
COPY pganon_work.r0_joined2 (rid, gid) FROM STDIN;

-- partition.classed: the class of every individual
CREATE TABLE pganon_work.r0_classed AS
SELECT
  "u".*
FROM (
  SELECT
    "g"."rid",
    "g"."gid"
  FROM "pganon_work"."r0_grown" AS "g"
  JOIN "pganon_work"."r0_spans" AS "s"
    ON "s"."block" = (
      "g"."gid" >> 32
    )
  WHERE
    NOT "s"."several"
  UNION ALL
  SELECT
    "r"."rid",
    "r"."gid"
  FROM "pganon_work"."r0_regrown" AS "r"
  UNION ALL
  SELECT
    "r"."rid",
    "r"."gid"
  FROM "pganon_work"."r0_joined0" AS "r"
  UNION ALL
  SELECT
    "r"."rid",
    "r"."gid"
  FROM "pganon_work"."r0_joined1" AS "r"
  UNION ALL
  SELECT
    "r"."rid",
    "r"."gid"
  FROM "pganon_work"."r0_joined2" AS "r"
) AS "u";

-- partition.tidy: what the classes were made from
DROP TABLE pganon_work.r0_blocked, pganon_work.r0_grown, pganon_work.r0_spans, pganon_work.r0_regrown, pganon_work.r0_left0, pganon_work.r0_left1, pganon_work.r0_left2, pganon_work.r0_units0, pganon_work.r0_units1, pganon_work.r0_units2, pganon_work.r0_joined0, pganon_work.r0_joined1, pganon_work.r0_joined2;

-- partition.grouped: the class of every record
CREATE TABLE pganon_work.r0_grouped AS
SELECT
  "k"."gid",
  "c"."rid",
  "c"."c0",
  "c"."c1"
FROM "pganon_work"."r0_coded" AS "c"
JOIN "pganon_work"."r0_individuals" AS "i"
  ON "i"."individual" = "c"."individual"
JOIN "pganon_work"."r0_classed" AS "k"
  ON "k"."rid" = "i"."rid";

-- partition.suppressed: records left out, held against the limit
SELECT
  COUNT(*) AS "released",
  40 - COUNT(*) AS "suppressed"
FROM (
  SELECT
    "c"."rid"
  FROM "pganon_work"."r0_grouped" AS "g"
  JOIN "pganon_work"."r0_coded" AS "c"
    ON "c"."rid" = "g"."rid"
) AS "t";

-- recode.numbers_individual_no: random numbers for the individuals
CREATE TABLE pganon_work.r0_numbers_individual_no AS
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
        ) || CONVERT_TO(CAST('individual_no:' || CAST("g"."gid" AS text) AS text), 'UTF8')
      ), "g"."gid"
    )
  ) AS INT) AS "individual_no"
FROM (
  SELECT
    "r"."gid"
  FROM (
    SELECT
      "s"."rid" AS "gid"
    FROM "pganon_work"."r0_classed" AS "s"
    ORDER BY
      "s"."rid"
  ) AS "r"
  GROUP BY
    "r"."gid"
) AS "g";

-- recode.numbers_class_id: random numbers for the classes
CREATE TABLE pganon_work.r0_numbers_class_id AS
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
        ) || CONVERT_TO(CAST('class_id:' || CAST("g"."gid" AS text) AS text), 'UTF8')
      ), "g"."gid"
    )
  ) AS INT) AS "class_id"
FROM (
  SELECT
    "r"."gid"
  FROM (
    SELECT
      "s"."gid" AS "gid"
    FROM "pganon_work"."r0_grouped" AS "s"
    ORDER BY
      "s"."gid"
  ) AS "r"
  GROUP BY
    "r"."gid"
) AS "g";

-- recode.grouped_classes: the class of every cell
CREATE TABLE pganon_work.r0_grouped_classes AS
SELECT
  "n"."class_id",
  "g"."c0",
  "g"."c1",
  "g"."rid"
FROM "pganon_work"."r0_grouped" AS "g"
JOIN "pganon_work"."r0_numbers_class_id" AS "n"
  ON "n"."gid" = "g"."gid";

-- recode.records: sensitive and insensitive values of every record with its class
CREATE TABLE pganon_stage.r0_records AS
SELECT
  "g"."class_id",
  "n"."individual_no",
  "c"."v0" AS "disease",
  "c"."p0" AS "cost"
FROM "pganon_work"."r0_coded" AS "c"
JOIN "pganon_work"."r0_grouped_classes" AS "g"
  ON "g"."rid" = "c"."rid"
JOIN "pganon_work"."r0_individuals" AS "i"
  ON "i"."individual" = "c"."individual"
JOIN "pganon_work"."r0_numbers_individual_no" AS "n"
  ON "n"."gid" = "i"."rid"
ORDER BY
  "g"."class_id",
  "n"."individual_no",
  "c"."v0",
  "c"."p0";

-- recode.members: the steward's memory of who was in which class
CREATE TABLE pganon_stage.r0_members AS
SELECT
  "u".*
FROM (
  SELECT DISTINCT
    "t"."member",
    "t"."class_id",
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
          ) || CONVERT_TO("g"."individual", 'UTF8')
        ) FROM 1 FOR 16),
        'hex'
      ) AS UUID) AS "member",
      "g"."class_id" AS "class_id",
      "g"."value0" AS "v0",
      COALESCE('=' || CAST((
        "g"."p0"
      ) AS text), '') AS "v1"
    FROM (
      SELECT
        "c"."individual",
        "g"."class_id",
        COALESCE('=' || CAST((
          CAST("c"."v0" AS TEXT) COLLATE "C"
        ) AS text), '') AS "value0",
        "c"."p0"
      FROM "pganon_work"."r0_coded" AS "c"
      JOIN "pganon_work"."r0_grouped_classes" AS "g"
        ON "g"."rid" = "c"."rid"
    ) AS "g"
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
    ) AS INT) AS "class_id",
    CAST(NULL AS BIGINT[]) AS "marks"
  FROM (
    SELECT
      "r"."key"
    FROM (
      SELECT
        "u".*
      FROM (
        SELECT
          "c"."individual" AS "key",
          1 AS "n"
        FROM "pganon_work"."r0_coded" AS "c"
        UNION ALL
        SELECT
          "g"."individual" AS "key",
          -1 AS "n"
        FROM (
          SELECT
            "c"."individual",
            "g"."class_id",
            COALESCE('=' || CAST((
              CAST("c"."v0" AS TEXT) COLLATE "C"
            ) AS text), '') AS "value0",
            "c"."p0"
          FROM "pganon_work"."r0_coded" AS "c"
          JOIN "pganon_work"."r0_grouped_classes" AS "g"
            ON "g"."rid" = "c"."rid"
        ) AS "g"
      ) AS "u"
    ) AS "r"
    GROUP BY
      "r"."key"
    HAVING
      SUM("r"."n") > 0
  ) AS "p"
) AS "u";

-- recode.sizes: records per class
CREATE TABLE pganon_work.r0_extents_only AS
SELECT
  "c"."class_id",
  MIN("c"."c0") FILTER(WHERE
    "c"."c0" > 0) AS "lo0",
  MAX("c"."c0") AS "hi0",
  MIN("c"."c0") = 0 AS "n0",
  BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0"
FROM "pganon_work"."r0_grouped_classes" AS "c"
GROUP BY
  "c"."class_id";

-- recode.extents: size and extent of every class
CREATE TABLE pganon_work.r0_extents AS
SELECT
  "e".*,
  "r"."n"
FROM "pganon_work"."r0_extents_only" AS "e"
JOIN (
  SELECT
    "t"."class_id",
    COUNT(*) AS "n"
  FROM "pganon_stage"."r0_records" AS "t"
  GROUP BY
    "t"."class_id"
) AS "r"
  ON "r"."class_id" = "e"."class_id";

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

-- recode.classes: generalized quasi-identifiers of every class
CREATE TABLE pganon_stage.r0_classes AS
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
  ON "x1"."b1_0" = "e"."b1_0"
ORDER BY
  "e"."class_id";

-- recode.classes_key: an index that the published views join on
ALTER TABLE "pganon_stage"."r0_classes" ADD PRIMARY KEY ("class_id");

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
      "h"."class_id" AS "link",
      "h"."value",
      CAST(SUM("h"."n") AS BIGINT) AS "n"
    FROM (
      SELECT
        "r"."value",
        COUNT(DISTINCT "r"."individual") AS "n",
        "r"."class_id"
      FROM (
        SELECT
          "r"."class_id",
          "r"."individual_no" AS "individual",
          COALESCE('=' || CAST((
            CAST("r"."disease" AS TEXT) COLLATE "C"
          ) AS text), '') AS "value"
        FROM "pganon_stage"."r0_records" AS "r"
      ) AS "r"
      GROUP BY
        "r"."value",
        "r"."class_id"
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
    CASE WHEN "e"."grp" > 0 THEN CAST(ARRAY[] AS BIGINT[]) END AS "held"
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
        "m"."class_id" AS "grp",
        "m"."marks"
      FROM (
        SELECT DISTINCT
          "m"."member",
          "m"."class_id",
          CAST(NULL AS BIGINT[]) AS "marks"
        FROM "pganon_stage"."r0_members" AS "m"
      ) AS "m"
    ) AS "m"
    WHERE
      "m"."grp" <> 0
  ) AS "e"
  GROUP BY
    "e"."grp"
) AS "g";

-- verify.fingerprint: a keyed hash of the staged relations
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records', 'pganon_stage.r0_members', 'pganon_stage.r0_histogram', 'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

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
          COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_grouped_classes" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0) AS "repeated"
        FROM (
          SELECT DISTINCT
            "t"."member",
            "t"."class_id"
          FROM (
            SELECT
              "t".*
            FROM "pganon_stage"."r0_members" AS "t"
            WHERE
              "t"."marks" IS NOT NULL
          ) AS "t"
        ) AS "t"
        UNION ALL
        SELECT
          COUNT("t"."individual") - COUNT(DISTINCT "t"."individual") + GREATEST(COUNT(*) - COUNT("t"."individual") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_individuals" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_numbers_individual_no" AS "t"
      ) AS "u"
    ) AS "m"
  ) AS BIGINT) AS "misplaced"
FROM (
  SELECT
    COUNT(*) AS "published"
  FROM "pganon_stage"."r0_records" AS "records"
) AS "r";

-- verify.structure_0: structure
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT (SELECT COUNT(*) FROM (SELECT "class_id" FROM "pganon_stage"."r0_classes" AS "a" GROUP BY "class_id" HAVING COUNT(*) > 1) AS "twice") + (SELECT COUNT(*) FROM (SELECT "r"."class_id" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id") AS "h" FULL JOIN "pganon_stage"."r0_classes" AS "c" ON "c"."class_id" = "h"."class_id" WHERE "c"."class_id" IS NULL OR "h"."class_id" IS NULL) AS "measured") AS "b";

-- verify.structure_of_individuals_1: structure_of_individuals
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) FILTER(WHERE "p"."classes" > 1 OR NOT COALESCE("p"."individual_no" - 0 BETWEEN 1 AND "p"."individuals", FALSE)) AS "measured" FROM (SELECT "r"."individual_no", COUNT(DISTINCT "r"."class_id") AS "classes", COUNT(*) OVER () AS "individuals" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."individual_no") AS "p") AS "b";

-- verify.ir_k_anonymity_2: ir_k_anonymity
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT COUNT(*) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id" FROM (SELECT "r"."individual" AS "value", COUNT(*) AS "n", "r"."class_id" FROM (SELECT "r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value" FROM "pganon_stage"."r0_records" AS "r") AS "r" GROUP BY "r"."individual", "r"."class_id") AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.distinct_l_diversity_3: distinct_l_diversity on disease
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT COUNT(*) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id" FROM (SELECT "r"."value", COUNT(*) AS "n", "r"."class_id" FROM (SELECT "r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value" FROM "pganon_stage"."r0_records" AS "r") AS "r" GROUP BY "r"."value", "r"."class_id") AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.individuals_per_class: individuals of the classes, and how well they can be told apart in them
SELECT
  CAST(SUM("c"."n") AS BIGINT) AS "individuals",
  MIN("c"."n") AS "fewest",
  (
    SELECT
      COUNT(*)
    FROM (
      SELECT DISTINCT
        "h"."individual"
      FROM (
        SELECT
          "p".*,
          COUNT(*) OVER (PARTITION BY "p"."class_id", "p"."value") AS "holders",
          COUNT(*) OVER (PARTITION BY "p"."class_id", "p"."individual") AS "many"
        FROM (
          SELECT DISTINCT
            "r"."individual",
            "r"."value",
            "r"."class_id"
          FROM (
            SELECT
              "r"."class_id",
              "r"."individual_no" AS "individual",
              COALESCE('=' || CAST((
                CAST("r"."disease" AS TEXT) COLLATE "C"
              ) AS text), '') AS "value"
            FROM "pganon_stage"."r0_records" AS "r"
          ) AS "r"
        ) AS "p"
      ) AS "h"
      WHERE
        "h"."holders" = 1 AND "h"."many" > 1
    ) AS "h"
  ) AS "exposed",
  (
    SELECT
      MAX("m"."measure")
    FROM (
      SELECT
        "g"."class_id",
        MAX(
          CAST("g"."n" AS DECIMAL) * 1.0000000000000000000000000000000000000000 / CAST("g"."total" AS DECIMAL)
        ) AS "measure"
      FROM (
        SELECT
          "h"."value",
          "h"."n",
          "t"."total",
          "h"."class_id"
        FROM (
          SELECT
            "r"."value",
            COUNT(DISTINCT "r"."individual") AS "n",
            "r"."class_id"
          FROM (
            SELECT
              "r"."class_id",
              "r"."individual_no" AS "individual",
              COALESCE('=' || CAST((
                CAST("r"."disease" AS TEXT) COLLATE "C"
              ) AS text), '') AS "value"
            FROM "pganon_stage"."r0_records" AS "r"
          ) AS "r"
          GROUP BY
            "r"."value",
            "r"."class_id"
        ) AS "h"
        JOIN (
          SELECT
            COUNT(DISTINCT "r"."individual") AS "total",
            "r"."class_id"
          FROM (
            SELECT
              "r"."class_id",
              "r"."individual_no" AS "individual",
              COALESCE('=' || CAST((
                CAST("r"."disease" AS TEXT) COLLATE "C"
              ) AS text), '') AS "value"
            FROM "pganon_stage"."r0_records" AS "r"
          ) AS "r"
          GROUP BY
            "r"."class_id"
        ) AS "t"
          ON (
            "h"."class_id" = "t"."class_id"
          )
      ) AS "g"
      GROUP BY
        "g"."class_id"
    ) AS "m"
  ) AS "highest_share",
  (
    SELECT
      "g"."n"
    FROM (
      SELECT
        MIN("g"."individuals") AS "n"
      FROM (
        SELECT
          COUNT(*) AS "individuals"
        FROM (
          SELECT
            "r"."class_id",
            "r"."individual_no",
            COUNT(*) AS "n"
          FROM "pganon_stage"."r0_records" AS "r"
          GROUP BY
            1,
            2
        ) AS "i"
        GROUP BY
          "i"."class_id",
          "i"."n"
      ) AS "g"
    ) AS "g"
  ) AS "smallest_count_group"
FROM (
  SELECT
    COUNT(DISTINCT "r"."individual_no") AS "n"
  FROM "pganon_stage"."r0_records" AS "r"
  GROUP BY
    "r"."class_id"
) AS "c";

-- verify.vulnerable: classes that satisfy their requirement on records and not on individuals
SELECT
  COUNT(DISTINCT "v"."class_id") AS "vulnerable"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "m"."class_id"
    FROM (
      SELECT
        "s"."measure",
        "s"."g0" AS "class_id"
      FROM (
        WITH "coded" AS MATERIALIZED (
          SELECT
            "v".*,
            CAST((
              DENSE_RANK() OVER (PARTITION BY "g0" ORDER BY "v"."value") - 1
            ) AS INT) AS "code",
            COUNT(*) OVER (PARTITION BY "g0", "v"."value") AS "holders",
            COUNT(*) OVER (PARTITION BY "g0", "v"."individual") AS "many"
          FROM (
            SELECT DISTINCT
              "h"."individual",
              "h"."value",
              "h"."class_id" AS "g0"
            FROM (
              SELECT DISTINCT
                "r"."individual",
                "r"."value",
                "r"."class_id"
              FROM (
                SELECT
                  "r"."class_id",
                  "r"."individual_no" AS "individual",
                  COALESCE('=' || CAST((
                    CAST("r"."disease" AS TEXT) COLLATE "C"
                  ) AS text), '') AS "value"
                FROM "pganon_stage"."r0_records" AS "r"
              ) AS "r"
            ) AS "h"
          ) AS "v"
        ), "bounds" AS MATERIALIZED (
          SELECT
            "g0",
            GREATEST(
              COUNT(DISTINCT "k"."code") FILTER(WHERE
                "k"."many" = 1),
              CEIL(SUM(1.0 / "k"."holders") - 1e-6)
            ) AS "least"
          FROM (
            SELECT
              "g0",
              "i"."individual",
              MIN("i"."many") AS "many",
              MIN("i"."code") AS "code",
              MAX("i"."holders") AS "holders"
            FROM "coded" AS "i"
            GROUP BY
              "g0",
              "i"."individual"
          ) AS "k"
          GROUP BY
            "g0"
        ), "undecided" AS (
          SELECT
            "c".*,
            MAX("c"."code") OVER (PARTITION BY "g0") + 1 AS "width"
          FROM (
            SELECT
              "c".*
            FROM "coded" AS "c"
            JOIN "bounds" AS "b"
              ON "c"."g0" = "b"."g0"
            WHERE
              "b"."least" < 2
          ) AS "c"
        ), "families" AS (
          SELECT
            "g0",
            ARRAY_AGG("m"."mask") AS "family"
          FROM (
            SELECT
              "g0",
              "u"."individual",
              BIT_OR(SET_BIT(CAST(REPEAT('0', "u"."width") AS "varbit"), "u"."code", 1)) AS "mask"
            FROM "undecided" AS "u"
            GROUP BY
              "g0",
              "u"."individual"
          ) AS "m"
          GROUP BY
            "g0"
        )
        SELECT
          "s".*
        FROM (
          SELECT
            "g0",
            CAST(2 AS BIGINT) AS "measure"
          FROM "bounds" AS "d"
          WHERE
            "d"."least" >= 2
          UNION ALL
          SELECT
            "g0",
            CAST("pganon".hitting_set_size("f"."family", 2, 0) AS BIGINT) AS "measure"
          FROM "families" AS "f"
        ) AS "s"
      ) AS "s"
    ) AS "m"
    WHERE
      NOT (
        "m"."measure" >= 2
      )
  ) AS "u"
) AS "v";

-- verify.utility: loss, discernibility, class sizes
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
  ) / SUM("e"."n") AS "ncp1"
FROM (
  SELECT
    "e".*,
    "e"."class_id" AS "group_id"
  FROM "pganon_work"."r0_extents" AS "e"
) AS "e";

-- publish.publish: views, grants and ledger in one transaction
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_records" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private";
CREATE OR REPLACE VIEW "published"."visits" AS SELECT "c"."class_id", "r"."individual_no", "c"."age", "c"."zip", "c"."zip_null", "r"."disease", "r"."cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";
CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "c"."class_id" AS "class_id", "r"."individual_no" AS "individual_no", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS "age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";
