-- snapshot.snapshot: read the source, once
CREATE TABLE pganon_work.r0_snap AS
SELECT
  CAST("src"."age" AS bigint) AS "q0",
  CAST("src"."zip" AS TEXT) COLLATE "C" AS "q1",
  "src"."cost" AS "p0",
  CAST((
    "src"."id"
  ) AS text) AS "record"
FROM "public"."visit" AS "src";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
SELECT
  COUNT(*) AS "records",
  COUNT(*) - COUNT("t"."q0") AS "nulls_q0",
  COUNT(*) - COUNT("t"."q1") AS "nulls_q1"
FROM "pganon_work"."r0_snap" AS "t";

-- encode.source: fingerprint of the source
SELECT
  SHA256(
    (
      SELECT
        "s"."key"
      FROM "pganon_private"."installation_secret" AS "s"
    ) || CONVERT_TO(
      '5a219cc669db8271c01a9ebaea8bca00d8aa8d15b35a38e08ef3b2bdedb5b8f1' || ':' || "x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b",
      'UTF8'
    )
  ) AS "source_plain",
  SHA256(
    (
      SELECT
        "s"."key"
      FROM "pganon_private"."installation_secret" AS "s"
    ) || CONVERT_TO(
      '20c7cb8f85843c95afc8ad7e6f3cd857d9c99697766d52ce2986b395c1198272' || ':' || "x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b",
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
          ROW("t"."q0", "t"."q1", "t"."p0"),
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
  ) AS "null1";

-- encode.coded: values become codes
CREATE TABLE pganon_work.r0_coded AS
SELECT
  CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
  CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1",
  "t"."p0",
  "t"."record",
  ROW_NUMBER() OVER (
    ORDER BY HASHTEXTEXTENDED(
      CAST(HASH_RECORD_EXTENDED(
        ROW("t"."q0", "t"."q1", "t"."p0", "t"."record"),
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
  ) AS "rid"
FROM "pganon_work"."r0_snap" AS "t"
LEFT JOIN "pganon_work"."r0_dict0" AS "l0"
  ON "l0"."value" = "t"."q0"
LEFT JOIN "pganon_work"."r0_dict1" AS "l1"
  ON "l1"."value" = "t"."q1";

-- encode.encoded: every record that the rules for NULL keep is encoded once
SELECT
  0 AS "unknown";

-- encode.tidy: the snapshot is not needed any more
DROP TABLE pganon_work.r0_snap;

-- partition.suppressed: records left out, held against the limit
SELECT
  COUNT(*) AS "released",
  40 - COUNT(*) AS "suppressed"
FROM "pganon_work"."r0_coded" AS "t";

-- partition.cells: equal records collapse into weighted cells
CREATE TABLE pganon_work.r0_cells AS
SELECT
  CAST((
    ROW_NUMBER() OVER (
      ORDER BY HASHTEXTEXTENDED(
        CAST(HASH_RECORD_EXTENDED(
          ROW("g"."c0", "g"."c1"),
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
      ), "g"."c0", "g"."c1"
    )
  ) AS INT) AS "cell",
  "g".*
FROM (
  SELECT
    COUNT(*) AS "w",
    "r"."c0",
    "r"."c1"
  FROM "pganon_work"."r0_coded" AS "r"
  GROUP BY
    "r"."c0",
    "r"."c1"
) AS "g";

-- partition.support1: combinations of the QS set person that exist
CREATE TABLE pganon_work.r0_support1 AS
SELECT DISTINCT
  "c"."c0" + 1 AS "v1"
FROM "pganon_work"."r0_cells" AS "c";

-- partition.support2: combinations of the QS set place that exist
CREATE TABLE pganon_work.r0_support2 AS
SELECT DISTINCT
  "c"."c1" + 42 AS "v1"
FROM "pganon_work"."r0_cells" AS "c";

-- partition.whole: values of all records
CREATE TABLE pganon_work.r0_whole AS
SELECT
  "g".*,
  "a0"."codes" AS "c0",
  "a1"."codes" AS "c1"
FROM (
  SELECT DISTINCT
    "r"."whole"
  FROM (
    SELECT
      1 AS "whole",
      "c".*
    FROM "pganon_work"."r0_cells" AS "c"
  ) AS "r"
) AS "g"
JOIN (
  SELECT
    ARRAY_AGG("e"."c0") AS "codes",
    "e"."whole"
  FROM (
    SELECT DISTINCT
      "r"."whole",
      "r"."c0"
    FROM (
      SELECT
        1 AS "whole",
        "c".*
      FROM "pganon_work"."r0_cells" AS "c"
    ) AS "r"
  ) AS "e"
  GROUP BY
    "e"."whole"
) AS "a0"
  ON "a0"."whole" = "g"."whole"
JOIN (
  SELECT
    ARRAY_AGG("e"."c1") AS "codes",
    "e"."whole"
  FROM (
    SELECT DISTINCT
      "r"."whole",
      "r"."c1"
    FROM (
      SELECT
        1 AS "whole",
        "c".*
      FROM "pganon_work"."r0_cells" AS "c"
    ) AS "r"
  ) AS "e"
  GROUP BY
    "e"."whole"
) AS "a1"
  ON "a1"."whole" = "g"."whole";

-- partition.feasible: whether the requirement can be reached at all
SELECT
  COUNT(*) AS "cells",
  (
    SELECT
      "h"."n"
    FROM (
      SELECT
        "u".*
      FROM (
        SELECT
          1 AS "value",
          (
            CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c0")
          ) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
        UNION ALL
        SELECT
          2 AS "value",
          (
            CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c1")
          ) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
      ) AS "u"
    ) AS "h"
    WHERE
      "h"."value" = 1
  ) AS "product1",
  (
    SELECT
      "h"."n"
    FROM (
      SELECT
        "u".*
      FROM (
        SELECT
          1 AS "value",
          (
            CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c0")
          ) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
        UNION ALL
        SELECT
          2 AS "value",
          (
            CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c1")
          ) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
      ) AS "u"
    ) AS "h"
    WHERE
      "h"."value" = 2
  ) AS "product2",
  (
    SELECT
      "h"."n"
    FROM (
      SELECT
        "u".*
      FROM (
        SELECT
          1 AS "value",
          COALESCE("s"."n", 0) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
        LEFT JOIN (
          SELECT
            CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
            "b"."whole"
          FROM (
            SELECT
              "e"."whole",
              "p"."v1"
            FROM (
              SELECT
                (
                  "u"."x" + 1
                ) AS "x",
                "u"."whole"
              FROM (
                SELECT
                  UNNEST("c"."c0") AS "x",
                  "c"."whole"
                FROM "pganon_work"."r0_whole" AS "c"
              ) AS "u"
            ) AS "e"
            JOIN (
              SELECT DISTINCT
                "p"."v1"
              FROM "pganon_work"."r0_support1" AS "p"
            ) AS "p"
              ON "e"."x" = "p"."v1"
          ) AS "b"
          GROUP BY
            "b"."whole"
        ) AS "s"
          ON "c"."whole" = "s"."whole"
        UNION ALL
        SELECT
          2 AS "value",
          COALESCE("s"."n", 0) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
        LEFT JOIN (
          SELECT
            CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
            "b"."whole"
          FROM (
            SELECT
              "e"."whole",
              "p"."v1"
            FROM (
              SELECT
                (
                  "u"."x" + 42
                ) AS "x",
                "u"."whole"
              FROM (
                SELECT
                  UNNEST("c"."c1") AS "x",
                  "c"."whole"
                FROM "pganon_work"."r0_whole" AS "c"
              ) AS "u"
            ) AS "e"
            JOIN (
              SELECT DISTINCT
                "p"."v1"
              FROM "pganon_work"."r0_support2" AS "p"
            ) AS "p"
              ON "e"."x" = "p"."v1"
          ) AS "b"
          GROUP BY
            "b"."whole"
        ) AS "s"
          ON "c"."whole" = "s"."whole"
      ) AS "u"
    ) AS "h"
    WHERE
      "h"."value" = 1
  ) AS "supported1",
  (
    SELECT
      "h"."n"
    FROM (
      SELECT
        "u".*
      FROM (
        SELECT
          1 AS "value",
          COALESCE("s"."n", 0) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
        LEFT JOIN (
          SELECT
            CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
            "b"."whole"
          FROM (
            SELECT
              "e"."whole",
              "p"."v1"
            FROM (
              SELECT
                (
                  "u"."x" + 1
                ) AS "x",
                "u"."whole"
              FROM (
                SELECT
                  UNNEST("c"."c0") AS "x",
                  "c"."whole"
                FROM "pganon_work"."r0_whole" AS "c"
              ) AS "u"
            ) AS "e"
            JOIN (
              SELECT DISTINCT
                "p"."v1"
              FROM "pganon_work"."r0_support1" AS "p"
            ) AS "p"
              ON "e"."x" = "p"."v1"
          ) AS "b"
          GROUP BY
            "b"."whole"
        ) AS "s"
          ON "c"."whole" = "s"."whole"
        UNION ALL
        SELECT
          2 AS "value",
          COALESCE("s"."n", 0) AS "n",
          "c"."whole"
        FROM "pganon_work"."r0_whole" AS "c"
        LEFT JOIN (
          SELECT
            CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
            "b"."whole"
          FROM (
            SELECT
              "e"."whole",
              "p"."v1"
            FROM (
              SELECT
                (
                  "u"."x" + 42
                ) AS "x",
                "u"."whole"
              FROM (
                SELECT
                  UNNEST("c"."c1") AS "x",
                  "c"."whole"
                FROM "pganon_work"."r0_whole" AS "c"
              ) AS "u"
            ) AS "e"
            JOIN (
              SELECT DISTINCT
                "p"."v1"
              FROM "pganon_work"."r0_support2" AS "p"
            ) AS "p"
              ON "e"."x" = "p"."v1"
          ) AS "b"
          GROUP BY
            "b"."whole"
        ) AS "s"
          ON "c"."whole" = "s"."whole"
      ) AS "u"
    ) AS "h"
    WHERE
      "h"."value" = 2
  ) AS "supported2",
  (
    SELECT
      CARDINALITY("w"."c0")
    FROM "pganon_work"."r0_whole" AS "w"
  ) AS "values0",
  (
    SELECT
      CARDINALITY("w"."c1")
    FROM "pganon_work"."r0_whole" AS "w"
  ) AS "values1"
FROM "pganon_work"."r0_cells" AS "c";

-- partition.curve: cells on a Hilbert curve
CREATE TABLE pganon_work.r0_curve AS
WITH "pass0" AS (
  SELECT
    CAST("p"."y0" AS bigint) AS "x0",
    CAST("p"."y1" AS bigint) AS "x1",
    "p"."cell" AS "k0",
    "p"."w" AS "k1",
    "p"."c0" AS "k2",
    "p"."c1" AS "k3"
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
    FROM "pganon_work"."r0_cells" AS "c"
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
    "k3" AS "k3"
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
    "k3" AS "k3"
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
    "k3" AS "k3"
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
    "k3" AS "k3"
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
    "k3" AS "k3"
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
    "k3" AS "k3"
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
    "k3" AS "k3"
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
    "k3" AS "k3"
  FROM "pass7"
  OFFSET '0'
)
SELECT
  "k0" AS "cell",
  "k1" AS "w",
  "k2" AS "c0",
  "k3" AS "c1",
  "w0" AS "h0"
FROM "pass8";

-- partition.pieces: the curve in pieces
CREATE TABLE pganon_work.r0_pieces AS
SELECT
  "p"."cell",
  "p"."w",
  "p"."place",
  CAST((
    CAST((
      "p"."place" - 1
    ) AS BIGINT) * 1 / 1000
  ) AS INT) AS "piece",
  "p"."c0",
  "p"."c1"
FROM (
  SELECT
    "h".*,
    (
      ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."cell")
    ) AS "place"
  FROM "pganon_work"."r0_curve" AS "h"
) AS "p";

-- partition.blocks: pieces that reach the requirement, each with those after it that do not
CREATE TABLE pganon_work.r0_blocks AS
SELECT
  0 AS "piece",
  1 AS "block";

-- partition.points: cells of every block
CREATE TABLE pganon_work.r0_points AS
SELECT
  "b"."block",
  CAST((
    ROW_NUMBER() OVER (PARTITION BY "b"."block" ORDER BY "p"."place")
  ) AS INT) AS "place",
  "p"."cell",
  "p"."w",
  ARRAY[CAST((
      "p"."c0" + 1
    ) AS int), CAST((
      "p"."c1" + 42
  ) AS int)] AS "ids",
  CAST((
    (
      SELECT
        ARRAY_AGG("position" ORDER BY "code")
      FROM "pganon_work"."r0_dict0" AS "dict"
      WHERE
        "code" > 0
    )["p"."c0"]
  ) AS float8) AS "x1",
  CAST((
    CAST((
      "p"."c0" = 0
    ) AS INT)
  ) AS float8) AS "x2",
  CAST((
    "p"."c1"
  ) AS float8) AS "x3"
FROM "pganon_work"."r0_pieces" AS "p"
JOIN "pganon_work"."r0_blocks" AS "b"
  ON "b"."piece" = "p"."piece"
ORDER BY
  "block",
  "place";

-- partition.points_key: an index to read a block by
CREATE INDEX ON "pganon_work"."r0_points" (block, place);

-- partition.block_sizes: number and size of the blocks
SELECT
  COUNT(*) AS "blocks",
  MAX("b"."cells") AS "largest_block"
FROM (
  SELECT
    COUNT(*) AS "cells"
  FROM "pganon_work"."r0_points" AS "p"
  GROUP BY
    "p"."block"
) AS "b";

-- partition.tidy: what the blocks were made from
DROP TABLE pganon_work.r0_curve, pganon_work.r0_pieces, pganon_work.r0_piece_values, pganon_work.r0_blocks;

-- partition.formed: clusters of every block
CREATE TABLE pganon_work.r0_formed AS
SELECT u.* FROM (SELECT f.block, (f.r).cluster, (f.r).cell, (f.r).n FROM (SELECT b.block, pganon.qs_clusters('pganon_work.r0_points', b.block, '{1,2}'::int2[]::int[], '{0,1}'::int2[]::int[], 4, 1, ARRAY['pganon_work.r0_support1', 'pganon_work.r0_support2']::pg_catalog.regclass[], false) AS r FROM generate_series(1, 1, 16) AS b(block)) AS f) AS u;

-- partition.open: clusters that records left over can join
CREATE TABLE pganon_work.r0_open AS
SELECT
  "f"."block",
  "f"."cluster",
  CAST(SUM("f"."n") AS BIGINT) AS "n",
  MIN("p"."x1") AS "lo1",
  MAX("p"."x1") AS "hi1",
  MIN("p"."x2") AS "lo2",
  MAX("p"."x2") AS "hi2",
  MIN("p"."x3") AS "lo3",
  MAX("p"."x3") AS "hi3"
FROM "pganon_work"."r0_formed" AS "f"
JOIN "pganon_work"."r0_points" AS "p"
  ON "p"."block" = "f"."block" AND "p"."cell" = "f"."cell"
WHERE
  "f"."cluster" > 0
  AND EXISTS(
    SELECT
      1
    FROM "pganon_work"."r0_formed" AS "g"
    WHERE
      "g"."block" = "f"."block" AND "g"."cluster" = 0
  )
GROUP BY
  "f"."block",
  "f"."cluster";

-- partition.open_key: an index to find them by
CREATE INDEX ON "pganon_work"."r0_open" (block, cluster);

-- partition.absorbed: records left over join the cluster that loses least
CREATE TABLE pganon_work.r0_absorbed AS
SELECT a.* FROM pganon.qs_absorb('pganon_work.r0_open', 'pganon_work.r0_formed', 'pganon_work.r0_points', '{0,1}'::int2[]::int[]) AS a;

-- partition.assigned: the cluster of every record
CREATE TABLE pganon_work.r0_assigned AS
SELECT
  (
    (
      CAST("x"."block" AS BIGINT) << 32
    ) + CAST("x"."cluster" AS BIGINT) * 2654435761 % 4294967296
  ) AS "gid",
  "x"."cell",
  CAST(SUM("x"."n") AS BIGINT) AS "n"
FROM (
  SELECT
    *
  FROM (
    SELECT
      "f".*
    FROM "pganon_work"."r0_formed" AS "f"
    WHERE
      "f"."cluster" > 0
    UNION ALL
    SELECT
      "a".*
    FROM "pganon_work"."r0_absorbed" AS "a"
  ) AS "u"
) AS "x"
GROUP BY
  1,
  "x"."cell";

-- partition.tidy: what the clusters were made from
DROP TABLE pganon_work.r0_points, pganon_work.r0_formed, pganon_work.r0_open, pganon_work.r0_absorbed;

-- recode.numbers_cluster_no: random numbers for the clusters
CREATE TABLE pganon_work.r0_numbers_cluster_no AS
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
        ) || CONVERT_TO(CAST('cluster_no:' || CAST("g"."gid" AS text) AS text), 'UTF8')
      ), "g"."gid"
    )
  ) AS INT) AS "cluster_no"
FROM (
  SELECT
    "r"."gid"
  FROM (
    SELECT
      "s"."gid" AS "gid"
    FROM "pganon_work"."r0_assigned" AS "s"
    ORDER BY
      "s"."gid"
  ) AS "r"
  GROUP BY
    "r"."gid"
) AS "g";

-- recode.cluster_cells: the cells of every cluster
CREATE TABLE pganon_work.r0_cluster_cells AS
SELECT
  "n"."gid",
  "n"."cluster_no",
  "a"."cell",
  "a"."n",
  "c"."c0",
  "c"."c1"
FROM "pganon_work"."r0_assigned" AS "a"
JOIN "pganon_work"."r0_numbers_cluster_no" AS "n"
  ON "n"."gid" = "a"."gid"
JOIN "pganon_work"."r0_cells" AS "c"
  ON "c"."cell" = "a"."cell";

-- recode.cluster_records: the cluster of every record
CREATE TABLE pganon_work.r0_cluster_records AS
SELECT
  "s"."cluster_no",
  "r"."rid"
FROM (
  SELECT
    "x"."cell",
    "c"."rid",
    ROW_NUMBER() OVER (PARTITION BY "x"."cell" ORDER BY "c"."rid") AS "place"
  FROM "pganon_work"."r0_coded" AS "c"
  JOIN "pganon_work"."r0_cells" AS "x"
    ON "x"."c0" = "c"."c0" AND "x"."c1" = "c"."c1"
) AS "r"
JOIN (
  SELECT
    "k"."cell",
    "k"."cluster_no",
    "k"."n",
    SUM("k"."n") OVER (PARTITION BY "k"."cell" ORDER BY "k"."gid") AS "last"
  FROM "pganon_work"."r0_cluster_cells" AS "k"
) AS "s"
  ON "s"."cell" = "r"."cell"
  AND "r"."place" > "s"."last" - "s"."n"
  AND "r"."place" <= "s"."last";

-- recode.cluster_codes: codes of every cluster
CREATE TABLE pganon_work.r0_cluster_codes AS
SELECT
  CAST(SUM("r"."n") AS BIGINT) AS "n",
  "r"."cluster_no",
  ARRAY_AGG(DISTINCT "r"."c0") AS "c0",
  ARRAY_AGG(DISTINCT "r"."c1") AS "c1"
FROM "pganon_work"."r0_cluster_cells" AS "r"
GROUP BY
  "r"."cluster_no";

-- recode.arrays0: arrays of values for attribute 1
CREATE TABLE pganon_work.r0_arrays0 AS
SELECT
  "e"."codes",
  ARRAY_AGG(CAST("d"."value" AS integer) ORDER BY "d"."value") AS "members"
FROM (
  SELECT
    "k"."codes",
    UNNEST("k"."codes") AS "code"
  FROM (
    SELECT DISTINCT
      "c"."c0" AS "codes"
    FROM "pganon_work"."r0_cluster_codes" AS "c"
  ) AS "k"
) AS "e"
JOIN "pganon_work"."r0_dict0" AS "d"
  ON "d"."code" = "e"."code"
GROUP BY
  "e"."codes";

-- recode.arrays1: arrays of values for attribute 2
CREATE TABLE pganon_work.r0_arrays1 AS
SELECT
  "e"."codes",
  ARRAY_AGG(CAST("d"."value" AS text) ORDER BY "d"."value") AS "members"
FROM (
  SELECT
    "k"."codes",
    UNNEST("k"."codes") AS "code"
  FROM (
    SELECT DISTINCT
      "c"."c1" AS "codes"
    FROM "pganon_work"."r0_cluster_codes" AS "c"
  ) AS "k"
) AS "e"
JOIN "pganon_work"."r0_dict1" AS "d"
  ON "d"."code" = "e"."code"
GROUP BY
  "e"."codes";

-- recode.bags: insensitive values of every cluster, shuffled
CREATE TABLE pganon_work.r0_bags AS
SELECT
  "r"."cluster_no",
  ARRAY_AGG(
    "c"."p0" ORDER BY SHA256(
      (
        SELECT
          "s"."key"
        FROM "pganon_private"."run_secret" AS "s"
        WHERE
          "s"."run_id" = 0
      ) || CONVERT_TO(CAST(0 || ':' || "c"."rid" AS text), 'UTF8')
    )
  ) AS "p0"
FROM "pganon_work"."r0_cluster_records" AS "r"
JOIN "pganon_work"."r0_coded" AS "c"
  ON "c"."rid" = "r"."rid"
GROUP BY
  "r"."cluster_no";

-- recode.clusters: every cluster with the values of its records
CREATE TABLE pganon_stage.r0_clusters AS
SELECT
  "k"."cluster_no",
  CAST("a0"."members" AS integer[]) AS "age",
  CAST("a1"."members" AS text[]) AS "zip",
  CAST("b"."p0" AS integer[]) AS "cost",
  "k"."n" AS "size"
FROM "pganon_work"."r0_cluster_codes" AS "k"
JOIN "pganon_work"."r0_arrays0" AS "a0"
  ON "a0"."codes" = "k"."c0"
JOIN "pganon_work"."r0_arrays1" AS "a1"
  ON "a1"."codes" = "k"."c1"
JOIN "pganon_work"."r0_bags" AS "b"
  ON "b"."cluster_no" = "k"."cluster_no"
ORDER BY
  "k"."cluster_no";

-- recode.clusters_key: an index that the published views join on
ALTER TABLE "pganon_stage"."r0_clusters" ADD PRIMARY KEY ("cluster_no");

-- recode.members: the steward's memory of who was in which cluster
CREATE TABLE pganon_stage.r0_members AS
SELECT
  "u".*
FROM (
  SELECT
    "t"."member",
    "t"."cluster_no",
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
      "g"."cluster_no" AS "cluster_no",
      "g"."value0" AS "v0",
      "g"."value1" AS "v1",
      COALESCE('=' || CAST((
        "g"."p0"
      ) AS text), '') AS "v2"
    FROM (
      SELECT
        "g"."cluster_no",
        "c"."record",
        COALESCE('=' || CAST((
          CAST("d0"."value" AS integer)
        ) AS text), '') AS "value0",
        COALESCE('=' || CAST((
          CAST("d1"."value" AS text)
        ) AS text), '') AS "value1",
        "c"."p0"
      FROM "pganon_work"."r0_coded" AS "c"
      JOIN "pganon_work"."r0_cluster_records" AS "g"
        ON "g"."rid" = "c"."rid"
      JOIN "pganon_work"."r0_dict0" AS "d0"
        ON "d0"."code" = "c"."c0"
      JOIN "pganon_work"."r0_dict1" AS "d1"
        ON "d1"."code" = "c"."c1"
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
    ) AS INT) AS "cluster_no",
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
        FROM (
          SELECT
            "g"."cluster_no",
            "c"."record",
            COALESCE('=' || CAST((
              CAST("d0"."value" AS integer)
            ) AS text), '') AS "value0",
            COALESCE('=' || CAST((
              CAST("d1"."value" AS text)
            ) AS text), '') AS "value1",
            "c"."p0"
          FROM "pganon_work"."r0_coded" AS "c"
          JOIN "pganon_work"."r0_cluster_records" AS "g"
            ON "g"."rid" = "c"."rid"
          JOIN "pganon_work"."r0_dict0" AS "d0"
            ON "d0"."code" = "c"."c0"
          JOIN "pganon_work"."r0_dict1" AS "d1"
            ON "d1"."code" = "c"."c1"
        ) AS "g"
      ) AS "u"
    ) AS "r"
    GROUP BY
      "r"."key"
    HAVING
      SUM("r"."n") > 0
  ) AS "p"
) AS "u";

-- recode.reference: combinations that exist, which supported ones are counted by
CREATE TABLE pganon_stage.r0_reference AS
SELECT
  CAST(1 AS SMALLINT) AS "attribute_set",
  COALESCE('=' || CAST((
    CAST("d1"."value" AS integer)
  ) AS text), '') COLLATE "C" AS "v1"
FROM "pganon_work"."r0_support1" AS "s"
JOIN "pganon_work"."r0_dict0" AS "d1"
  ON (
    "d1"."code" + 1
  ) = "s"."v1"
UNION ALL
SELECT
  CAST(2 AS SMALLINT) AS "attribute_set",
  COALESCE('=' || CAST((
    CAST("d1"."value" AS text)
  ) AS text), '') COLLATE "C" AS "v1"
FROM "pganon_work"."r0_support2" AS "s"
JOIN "pganon_work"."r0_dict1" AS "d1"
  ON (
    "d1"."code" + 42
  ) = "s"."v1";

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
      "c"."cluster_no" AS "link",
      COALESCE('=' || CAST((
        "v"."value"
      ) AS text), '') AS "value",
      CAST((
        "c"."size" - CARDINALITY("c"."age") + 1
      ) AS BIGINT) AS "n"
    FROM "pganon_stage"."r0_clusters" AS "c"
    CROSS JOIN LATERAL UNNEST("c"."age") AS "v"("value")
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
      "c"."cluster_no" AS "link",
      COALESCE('=' || CAST((
        "v"."value"
      ) AS text), '') AS "value",
      CAST((
        "c"."size" - CARDINALITY("c"."zip") + 1
      ) AS BIGINT) AS "n"
    FROM "pganon_stage"."r0_clusters" AS "c"
    CROSS JOIN LATERAL UNNEST("c"."zip") AS "v"("value")
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
        "m"."cluster_no" AS "grp",
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
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_clusters', 'pganon_stage.r0_members', 'pganon_stage.r0_reference', 'pganon_stage.r0_histogram', 'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

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
          1 AS "repeated"
        FROM "pganon_work"."r0_cells" AS "c"
        FULL JOIN (
          SELECT
            "a"."cell",
            SUM("a"."n") AS "n"
          FROM "pganon_work"."r0_assigned" AS "a"
          GROUP BY
            "a"."cell"
        ) AS "x"
          ON "x"."cell" = "c"."cell"
        WHERE
          "c"."w" IS DISTINCT FROM "x"."n"
        UNION ALL
        SELECT
          COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_cluster_records" AS "t"
        UNION ALL
        SELECT
          COUNT("t"."cell") - COUNT(DISTINCT "t"."cell") + GREATEST(COUNT(*) - COUNT("t"."cell") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_cells" AS "t"
        UNION ALL
        SELECT
          CAST(COALESCE(SUM("k"."more"), 0) AS BIGINT) AS "repeated"
        FROM (
          SELECT
            COUNT(*) - 1 AS "more"
          FROM (
            SELECT
              "t"."c0",
              "t"."c1"
            FROM "pganon_work"."r0_cells" AS "t"
            ORDER BY
              "t"."c0",
              "t"."c1"
          ) AS "t"
          GROUP BY
            "t"."c0",
            "t"."c1"
          HAVING
            COUNT(*) > 1
        ) AS "k"
        UNION ALL
        SELECT
          COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated"
        FROM "pganon_work"."r0_numbers_cluster_no" AS "t"
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
    CAST(COALESCE(SUM("c"."size"), 0) AS BIGINT) AS "published"
  FROM "pganon_stage"."r0_clusters" AS "c"
) AS "r";

-- verify.structure_0: structure
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT (SELECT COUNT(*) - COUNT(DISTINCT "c"."cluster_no") + COUNT(*) FILTER(WHERE NOT COALESCE("c"."size" > 0, FALSE) OR CARDINALITY("c"."cost") IS DISTINCT FROM "c"."size") FROM "pganon_stage"."r0_clusters" AS "c") + ((SELECT COUNT(*) FROM (SELECT DISTINCT "c"."age" AS "a" FROM "pganon_stage"."r0_clusters" AS "c") AS "d" WHERE COALESCE(CARDINALITY("d"."a"), 0) = 0 OR "d"."a" IS DISTINCT FROM (SELECT ARRAY_AGG("v"."x" ORDER BY "v"."x") FROM (SELECT DISTINCT "u"."x" AS "x" FROM UNNEST("d"."a") AS "u"("x")) AS "v"))) + ((SELECT COUNT(*) FROM (SELECT DISTINCT "c"."zip" AS "a" FROM "pganon_stage"."r0_clusters" AS "c") AS "d" WHERE COALESCE(CARDINALITY("d"."a"), 0) = 0 OR CAST("d"."a" AS TEXT[]) IS DISTINCT FROM (SELECT ARRAY_AGG("v"."x" ORDER BY "v"."x") FROM (SELECT DISTINCT CAST("u"."x" AS TEXT) COLLATE "C" AS "x" FROM UNNEST("d"."a") AS "u"("x")) AS "v"))) AS "measured") AS "b";

-- verify.qs_k_anonymity_1: qs_k_anonymity against the supported combinations distribution
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 4)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT MIN("g"."n") AS "measure", "g"."cluster_no" FROM (SELECT "h"."value", "h"."n", "h"."cluster_no" FROM (SELECT "u".* FROM (SELECT 1 AS "value", COALESCE("s"."n", 0) AS "n", "c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c" LEFT JOIN (SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS "n", "b"."cluster_no" FROM (SELECT "e"."cluster_no", "p"."v1" FROM (SELECT COALESCE('=' || CAST(("u"."x") AS text), '') COLLATE "C" AS "x", "u"."cluster_no" FROM (SELECT UNNEST("c"."age") AS "x", "c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c") AS "u") AS "e" JOIN (SELECT DISTINCT "p"."v1" FROM (SELECT "r".* FROM "pganon_stage"."r0_reference" AS "r" WHERE "r"."attribute_set" = 1) AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."cluster_no") AS "s" ON "c"."cluster_no" = "s"."cluster_no" UNION ALL SELECT 2 AS "value", COALESCE("s"."n", 0) AS "n", "c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c" LEFT JOIN (SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS "n", "b"."cluster_no" FROM (SELECT "e"."cluster_no", "p"."v1" FROM (SELECT COALESCE('=' || CAST(("u"."x") AS text), '') COLLATE "C" AS "x", "u"."cluster_no" FROM (SELECT UNNEST("c"."zip") AS "x", "c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c") AS "u") AS "e" JOIN (SELECT DISTINCT "p"."v1" FROM (SELECT "r".* FROM "pganon_stage"."r0_reference" AS "r" WHERE "r"."attribute_set" = 2) AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."cluster_no") AS "s" ON "c"."cluster_no" = "s"."cluster_no") AS "u") AS "h") AS "g" GROUP BY "g"."cluster_no") AS "groups";

-- verify.qs_k_anonymity_2: qs_k_anonymity
SELECT MIN("g"."measure") AS "measured", COUNT(*) FILTER(WHERE COALESCE("g"."measure" < 4, TRUE)) AS "failing" FROM (SELECT "c"."size" AS "measure" FROM "pganon_stage"."r0_clusters" AS "c") AS "g";

-- verify.combinations: combinations of every cluster and QS set
CREATE TABLE pganon_work.r0_combinations AS
SELECT
  "p"."value",
  "p"."n" AS "product",
  "s"."n" AS "supported"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      1 AS "value",
      (
        CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c0")
      ) AS "n",
      "c"."cluster_no"
    FROM "pganon_work"."r0_cluster_codes" AS "c"
    UNION ALL
    SELECT
      2 AS "value",
      (
        CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c1")
      ) AS "n",
      "c"."cluster_no"
    FROM "pganon_work"."r0_cluster_codes" AS "c"
  ) AS "u"
) AS "p"
JOIN (
  SELECT
    "u".*
  FROM (
    SELECT
      1 AS "value",
      COALESCE("s"."n", 0) AS "n",
      "c"."cluster_no"
    FROM "pganon_work"."r0_cluster_codes" AS "c"
    LEFT JOIN (
      SELECT
        CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
        "b"."cluster_no"
      FROM (
        SELECT
          "e"."cluster_no",
          "p"."v1"
        FROM (
          SELECT
            (
              "u"."x" + 1
            ) AS "x",
            "u"."cluster_no"
          FROM (
            SELECT
              UNNEST("c"."c0") AS "x",
              "c"."cluster_no"
            FROM "pganon_work"."r0_cluster_codes" AS "c"
          ) AS "u"
        ) AS "e"
        JOIN (
          SELECT DISTINCT
            "p"."v1"
          FROM "pganon_work"."r0_support1" AS "p"
        ) AS "p"
          ON "e"."x" = "p"."v1"
      ) AS "b"
      GROUP BY
        "b"."cluster_no"
    ) AS "s"
      ON "c"."cluster_no" = "s"."cluster_no"
    UNION ALL
    SELECT
      2 AS "value",
      COALESCE("s"."n", 0) AS "n",
      "c"."cluster_no"
    FROM "pganon_work"."r0_cluster_codes" AS "c"
    LEFT JOIN (
      SELECT
        CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
        "b"."cluster_no"
      FROM (
        SELECT
          "e"."cluster_no",
          "p"."v1"
        FROM (
          SELECT
            (
              "u"."x" + 42
            ) AS "x",
            "u"."cluster_no"
          FROM (
            SELECT
              UNNEST("c"."c1") AS "x",
              "c"."cluster_no"
            FROM "pganon_work"."r0_cluster_codes" AS "c"
          ) AS "u"
        ) AS "e"
        JOIN (
          SELECT DISTINCT
            "p"."v1"
          FROM "pganon_work"."r0_support2" AS "p"
        ) AS "p"
          ON "e"."x" = "p"."v1"
      ) AS "b"
      GROUP BY
        "b"."cluster_no"
    ) AS "s"
      ON "c"."cluster_no" = "s"."cluster_no"
  ) AS "u"
) AS "s"
  ON "s"."cluster_no" = "p"."cluster_no" AND "s"."value" = "p"."value";

-- verify.counts: combinations per QS set
SELECT
  1 AS "counted",
  (
    SELECT
      CAST(MIN("c"."product") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "product1_least",
  (
    SELECT
      CAST(AVG("c"."product") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "product1_mean",
  (
    SELECT
      CAST(MAX("c"."product") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "product1_most",
  (
    SELECT
      CAST((
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
          "c"."product")
      ) AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "product1_median",
  (
    SELECT
      CAST(MIN("c"."supported") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "supported1_least",
  (
    SELECT
      CAST(AVG("c"."supported") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "supported1_mean",
  (
    SELECT
      CAST(MAX("c"."supported") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "supported1_most",
  (
    SELECT
      CAST((
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
          "c"."supported")
      ) AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 1
  ) AS "supported1_median",
  (
    SELECT
      CAST(MIN("c"."product") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "product2_least",
  (
    SELECT
      CAST(AVG("c"."product") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "product2_mean",
  (
    SELECT
      CAST(MAX("c"."product") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "product2_most",
  (
    SELECT
      CAST((
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
          "c"."product")
      ) AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "product2_median",
  (
    SELECT
      CAST(MIN("c"."supported") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "supported2_least",
  (
    SELECT
      CAST(AVG("c"."supported") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "supported2_mean",
  (
    SELECT
      CAST(MAX("c"."supported") AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "supported2_most",
  (
    SELECT
      CAST((
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
          "c"."supported")
      ) AS DOUBLE PRECISION)
    FROM "pganon_work"."r0_combinations" AS "c"
    WHERE
      "c"."value" = 2
  ) AS "supported2_median";

-- verify.utility: loss and sizes of the clusters
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
              BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) > 1
            ) AS INT)
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
        BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) > 1
      ) AS INT)
    )
  ) / SUM("e"."n") AS "ncp1",
  (
    SELECT
      COUNT(*) FILTER(WHERE
        CARDINALITY("k"."c0") = 1)
    FROM "pganon_work"."r0_cluster_codes" AS "k"
  ) + (
    (
      SELECT
        COUNT(*) FILTER(WHERE
          CARDINALITY("k"."c1") = 1)
      FROM "pganon_work"."r0_cluster_codes" AS "k"
    )
  ) AS "constants"
FROM (
  SELECT
    "c"."cluster_no",
    MIN("c"."c0") FILTER(WHERE
      "c"."c0" > 0) AS "lo0",
    MAX("c"."c0") AS "hi0",
    MIN("c"."c0") = 0 AS "n0",
    BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0",
    CAST(SUM("c"."n") AS BIGINT) AS "n"
  FROM "pganon_work"."r0_cluster_cells" AS "c"
  GROUP BY
    "c"."cluster_no"
) AS "e";

-- verify.candidates: combinations that exist in small clusters
CREATE TABLE pganon_work.r0_candidates AS
SELECT
  "u".*
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "c"."cluster_no",
      1 AS "attribute_set",
      "c"."n" AS "size",
      CAST(ARRAY[CARDINALITY("c"."c0")] AS int[]) AS "counts",
      "l"."combinations"
    FROM (
      SELECT
        "c".*
      FROM "pganon_work"."r0_cluster_codes" AS "c"
      WHERE
        "c"."n" <= 8
    ) AS "c"
    JOIN (
      SELECT
        ARRAY_AGG(ARRAY["s"."v1"]) AS "combinations",
        "s"."cluster_no"
      FROM (
        SELECT
          "e"."cluster_no",
          "p"."v1"
        FROM (
          SELECT
            (
              "u"."x" + 1
            ) AS "x",
            "u"."cluster_no"
          FROM (
            SELECT
              UNNEST("c"."c0") AS "x",
              "c"."cluster_no"
            FROM (
              SELECT
                "c".*
              FROM "pganon_work"."r0_cluster_codes" AS "c"
              WHERE
                "c"."n" <= 8
            ) AS "c"
          ) AS "u"
        ) AS "e"
        JOIN (
          SELECT DISTINCT
            "p"."v1"
          FROM "pganon_work"."r0_support1" AS "p"
        ) AS "p"
          ON "e"."x" = "p"."v1"
      ) AS "s"
      GROUP BY
        "s"."cluster_no"
      HAVING
        COUNT(*) <= 32
    ) AS "l"
      ON "l"."cluster_no" = "c"."cluster_no"
    UNION ALL
    SELECT
      "c"."cluster_no",
      2 AS "attribute_set",
      "c"."n" AS "size",
      CAST(ARRAY[CARDINALITY("c"."c1")] AS int[]) AS "counts",
      "l"."combinations"
    FROM (
      SELECT
        "c".*
      FROM "pganon_work"."r0_cluster_codes" AS "c"
      WHERE
        "c"."n" <= 8
    ) AS "c"
    JOIN (
      SELECT
        ARRAY_AGG(ARRAY["s"."v1"]) AS "combinations",
        "s"."cluster_no"
      FROM (
        SELECT
          "e"."cluster_no",
          "p"."v1"
        FROM (
          SELECT
            (
              "u"."x" + 42
            ) AS "x",
            "u"."cluster_no"
          FROM (
            SELECT
              UNNEST("c"."c1") AS "x",
              "c"."cluster_no"
            FROM (
              SELECT
                "c".*
              FROM "pganon_work"."r0_cluster_codes" AS "c"
              WHERE
                "c"."n" <= 8
            ) AS "c"
          ) AS "u"
        ) AS "e"
        JOIN (
          SELECT DISTINCT
            "p"."v1"
          FROM "pganon_work"."r0_support2" AS "p"
        ) AS "p"
          ON "e"."x" = "p"."v1"
      ) AS "s"
      GROUP BY
        "s"."cluster_no"
      HAVING
        COUNT(*) <= 32
    ) AS "l"
      ON "l"."cluster_no" = "c"."cluster_no"
  ) AS "u"
) AS "u"
ORDER BY
  "u"."size",
  "u"."cluster_no",
  "u"."attribute_set"
LIMIT 5000;

-- verify.posteriors: how likely the likeliest combination of a small cluster is
SELECT
  1 AS "nothing";
SELECT
  "c"."cluster_no",
  "c"."attribute_set",
  "c"."size",
  "c"."counts",
  "c"."combinations"
FROM "pganon_work"."r0_candidates" AS "c"
ORDER BY
  "c"."size",
  "c"."cluster_no",
  "c"."attribute_set";
COPY pganon_work.r0_posteriors (cluster_no, attribute_set, posterior) FROM STDIN;

-- verify.posterior: highest posterior per QS set
SELECT
  1 AS "enumerated",
  (
    SELECT
      MAX("p"."posterior")
    FROM "pganon_work"."r0_posteriors" AS "p"
    WHERE
      "p"."attribute_set" = 1
  ) AS "posterior1",
  (
    SELECT
      COUNT(*)
    FROM "pganon_work"."r0_posteriors" AS "p"
    WHERE
      "p"."attribute_set" = 1
  ) AS "enumerated1",
  (
    SELECT
      MAX("p"."posterior")
    FROM "pganon_work"."r0_posteriors" AS "p"
    WHERE
      "p"."attribute_set" = 2
  ) AS "posterior2",
  (
    SELECT
      COUNT(*)
    FROM "pganon_work"."r0_posteriors" AS "p"
    WHERE
      "p"."attribute_set" = 2
  ) AS "enumerated2";

-- publish.publish: views, grants and ledger in one transaction
ALTER TABLE "pganon_stage"."r0_clusters" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_reference" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private";
CREATE OR REPLACE VIEW "published"."visits" AS SELECT "c"."cluster_no", "c"."age", "c"."zip", "c"."cost", "c"."size" FROM "pganon_data"."r0_clusters" AS "c";
CREATE OR REPLACE VIEW "published"."visits_expanded" AS SELECT "c"."cluster_no", CAST("u0"."v" AS integer) AS "age", CAST("u1"."v" AS text) AS "zip" FROM "pganon_data"."r0_clusters" AS "c" CROSS JOIN UNNEST("c"."age") AS "u0"("v") CROSS JOIN UNNEST("c"."zip") AS "u1"("v");
