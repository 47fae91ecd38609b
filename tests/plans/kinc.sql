-- snapshot.snapshot: read the source, once
CREATE TABLE pganon_work.r0_snap AS
SELECT
  CAST("src"."age" AS bigint) AS "q0",
  CAST("src"."zip" AS TEXT) COLLATE "C" AS "q1",
  "src"."disease" AS "s0",
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
  COUNT(*) - COUNT("t"."s0") AS "nulls_s0"
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
      '2d7e442ff09c8cd64b038b8516f16673dc67b3153ae7e43c617506ce1fa43288' || ':' || "x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b",
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
          ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0"),
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
  ROW_NUMBER() OVER (
    ORDER BY HASHTEXTEXTENDED(
      CAST(HASH_RECORD_EXTENDED(
        ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0", "t"."record"),
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

-- encode.reference0_source: distribution of disease (source)
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

-- partition.constant: whether the sensitive column has several values
SELECT
  COUNT(*) AS "values"
FROM "pganon_work"."r0_sdict0" AS "d";

-- partition.value_cells: records by quasi-identifiers and sensitive value
CREATE TABLE pganon_work.r0_value_cells AS
SELECT
  CAST(DENSE_RANK() OVER (ORDER BY "g"."c0" = 0, "g"."c0", "g"."c1" = 0, "g"."c1") AS integer) AS "cell",
  "g".*
FROM (
  SELECT
    COUNT(*) AS "n",
    "c"."c0",
    "c"."c1",
    "c"."s0" AS "value"
  FROM "pganon_work"."r0_coded" AS "c"
  GROUP BY
    "c"."c0",
    "c"."c1",
    "c"."s0"
) AS "g";

-- partition.qi_cells: combinations of quasi-identifiers
CREATE TABLE pganon_work.r0_qi_cells AS
SELECT
  CAST(SUM("v"."n") AS BIGINT) AS "n",
  "v"."cell",
  "v"."c0",
  "v"."c1"
FROM "pganon_work"."r0_value_cells" AS "v"
GROUP BY
  "v"."cell",
  "v"."c0",
  "v"."c1";

-- partition.pairs: how many values are near each other
SELECT
  (
    SELECT
      CAST(COALESCE(SUM("f"."n"), 0) AS BIGINT)
    FROM "pganon_work"."r0_qi_cells" AS "q"
    JOIN (
      SELECT
        "d"."code",
        COUNT(*) OVER (
          ORDER BY "d"."position"
          range BETWEEN CAST(0.6 AS float8) preceding AND CAST(0.6 AS float8) following
        ) AS "n"
      FROM "pganon_work"."r0_dict0" AS "d"
      WHERE
        "d"."code" > 0
    ) AS "f"
      ON "f"."code" = "q"."c0"
  ) AS "pairs0";

-- partition.smoothed0: records of every sensitive value by quasi-identifiers
CREATE TABLE pganon_work.r0_smoothed0 AS
SELECT
  "v"."c0",
  "v"."c1",
  "v"."part",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 1), 0) AS DOUBLE PRECISION) AS "w1",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 2), 0) AS DOUBLE PRECISION) AS "w2",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 3), 0) AS DOUBLE PRECISION) AS "w3",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 4), 0) AS DOUBLE PRECISION) AS "w4",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 5), 0) AS DOUBLE PRECISION) AS "w5",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 6), 0) AS DOUBLE PRECISION) AS "w6",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 7), 0) AS DOUBLE PRECISION) AS "w7",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 8), 0) AS DOUBLE PRECISION) AS "w8",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 9), 0) AS DOUBLE PRECISION) AS "w9",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 10), 0) AS DOUBLE PRECISION) AS "w10",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 11), 0) AS DOUBLE PRECISION) AS "w11",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 12), 0) AS DOUBLE PRECISION) AS "w12",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 13), 0) AS DOUBLE PRECISION) AS "w13",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 14), 0) AS DOUBLE PRECISION) AS "w14",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 15), 0) AS DOUBLE PRECISION) AS "w15",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 16), 0) AS DOUBLE PRECISION) AS "w16",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 17), 0) AS DOUBLE PRECISION) AS "w17",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 18), 0) AS DOUBLE PRECISION) AS "w18",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 19), 0) AS DOUBLE PRECISION) AS "w19",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 20), 0) AS DOUBLE PRECISION) AS "w20",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 21), 0) AS DOUBLE PRECISION) AS "w21",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 22), 0) AS DOUBLE PRECISION) AS "w22",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 23), 0) AS DOUBLE PRECISION) AS "w23",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 24), 0) AS DOUBLE PRECISION) AS "w24",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 25), 0) AS DOUBLE PRECISION) AS "w25",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 26), 0) AS DOUBLE PRECISION) AS "w26",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 27), 0) AS DOUBLE PRECISION) AS "w27",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 28), 0) AS DOUBLE PRECISION) AS "w28",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 29), 0) AS DOUBLE PRECISION) AS "w29",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 30), 0) AS DOUBLE PRECISION) AS "w30",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 31), 0) AS DOUBLE PRECISION) AS "w31",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 32), 0) AS DOUBLE PRECISION) AS "w32",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 33), 0) AS DOUBLE PRECISION) AS "w33",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 34), 0) AS DOUBLE PRECISION) AS "w34",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 35), 0) AS DOUBLE PRECISION) AS "w35",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 36), 0) AS DOUBLE PRECISION) AS "w36",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 37), 0) AS DOUBLE PRECISION) AS "w37",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 38), 0) AS DOUBLE PRECISION) AS "w38",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 39), 0) AS DOUBLE PRECISION) AS "w39",
  CAST(COALESCE(SUM("v"."n") FILTER(WHERE
    "v"."place" = 40), 0) AS DOUBLE PRECISION) AS "w40"
FROM (
  SELECT
    "v".*,
    (
      "v"."value" - 1
    ) / 100 AS "part",
    (
      "v"."value" - 1
    ) % 100 + 1 AS "place"
  FROM "pganon_work"."r0_value_cells" AS "v"
) AS "v"
GROUP BY
  "v"."c0",
  "v"."c1",
  "v"."part";

-- partition.neighbours0: which values are near each other
CREATE TABLE pganon_work.r0_neighbours0 AS
SELECT
  "n"."q",
  "n"."c",
  1 - "n"."u" * "n"."u" AS "k"
FROM (
  SELECT
    "u".*
  FROM (
    SELECT
      "a"."code" AS "q",
      "b"."code" AS "c",
      ABS("a"."position" - "b"."position") / CAST(0.6 AS float8) AS "u"
    FROM "pganon_work"."r0_dict0" AS "a"
    CROSS JOIN GENERATE_SERIES(-1, 1) AS "o"("o")
    JOIN "pganon_work"."r0_dict0" AS "b"
      ON CAST(FLOOR("b"."position" / CAST(0.6 AS float8)) AS INT) = CAST(FLOOR("a"."position" / CAST(0.6 AS float8)) AS INT) + "o"."o"
    WHERE
      "a"."code" > 0 AND "b"."code" > 0
    UNION ALL
    SELECT
      0 AS "q",
      0 AS "c",
      CAST(0 AS DOUBLE PRECISION) AS "u"
  ) AS "u"
) AS "n"
WHERE
  "n"."u" < 1;

-- partition.begun0: what is near as seen from what cells begin with
CREATE TABLE pganon_work.r0_begun0 AS
SELECT
  "k"."c",
  "k"."k",
  "b"."c0",
  "b"."c1"
FROM (
  SELECT DISTINCT
    "q"."c0",
    "q"."c1"
  FROM "pganon_work"."r0_qi_cells" AS "q"
) AS "b"
JOIN "pganon_work"."r0_neighbours0" AS "k"
  ON "k"."q" = "b"."c0";

-- partition.joined0: how many combinations are near each other
SELECT
  (
    SELECT
      CAST(COALESCE(SUM("b"."n" * "t"."n"), 0) AS BIGINT)
    FROM (
      SELECT
        COUNT(*) AS "n",
        "x"."c1",
        "x"."c"
      FROM "pganon_work"."r0_begun0" AS "x"
      GROUP BY
        "x"."c1",
        "x"."c"
    ) AS "b"
    JOIN (
      SELECT
        COUNT(*) AS "n",
        "x"."c1",
        "x"."c0"
      FROM "pganon_work"."r0_smoothed0" AS "x"
      GROUP BY
        "x"."c1",
        "x"."c0"
    ) AS "t"
      ON "b"."c" = "t"."c0" AND "b"."c1" = "t"."c1"
  ) AS "joined0";

-- partition.smoothed1: what is near counts
CREATE TABLE pganon_work.r0_smoothed1 AS
SELECT
  "b"."c0",
  "b"."c1",
  "t"."part",
  SUM("b"."k" * "t"."w1") AS "w1",
  SUM("b"."k" * "t"."w2") AS "w2",
  SUM("b"."k" * "t"."w3") AS "w3",
  SUM("b"."k" * "t"."w4") AS "w4",
  SUM("b"."k" * "t"."w5") AS "w5",
  SUM("b"."k" * "t"."w6") AS "w6",
  SUM("b"."k" * "t"."w7") AS "w7",
  SUM("b"."k" * "t"."w8") AS "w8",
  SUM("b"."k" * "t"."w9") AS "w9",
  SUM("b"."k" * "t"."w10") AS "w10",
  SUM("b"."k" * "t"."w11") AS "w11",
  SUM("b"."k" * "t"."w12") AS "w12",
  SUM("b"."k" * "t"."w13") AS "w13",
  SUM("b"."k" * "t"."w14") AS "w14",
  SUM("b"."k" * "t"."w15") AS "w15",
  SUM("b"."k" * "t"."w16") AS "w16",
  SUM("b"."k" * "t"."w17") AS "w17",
  SUM("b"."k" * "t"."w18") AS "w18",
  SUM("b"."k" * "t"."w19") AS "w19",
  SUM("b"."k" * "t"."w20") AS "w20",
  SUM("b"."k" * "t"."w21") AS "w21",
  SUM("b"."k" * "t"."w22") AS "w22",
  SUM("b"."k" * "t"."w23") AS "w23",
  SUM("b"."k" * "t"."w24") AS "w24",
  SUM("b"."k" * "t"."w25") AS "w25",
  SUM("b"."k" * "t"."w26") AS "w26",
  SUM("b"."k" * "t"."w27") AS "w27",
  SUM("b"."k" * "t"."w28") AS "w28",
  SUM("b"."k" * "t"."w29") AS "w29",
  SUM("b"."k" * "t"."w30") AS "w30",
  SUM("b"."k" * "t"."w31") AS "w31",
  SUM("b"."k" * "t"."w32") AS "w32",
  SUM("b"."k" * "t"."w33") AS "w33",
  SUM("b"."k" * "t"."w34") AS "w34",
  SUM("b"."k" * "t"."w35") AS "w35",
  SUM("b"."k" * "t"."w36") AS "w36",
  SUM("b"."k" * "t"."w37") AS "w37",
  SUM("b"."k" * "t"."w38") AS "w38",
  SUM("b"."k" * "t"."w39") AS "w39",
  SUM("b"."k" * "t"."w40") AS "w40"
FROM "pganon_work"."r0_smoothed0" AS "t"
JOIN "pganon_work"."r0_begun0" AS "b"
  ON "b"."c" = "t"."c0" AND "b"."c1" = "t"."c1"
GROUP BY
  "b"."c0",
  "b"."c1",
  "t"."part";

-- partition.tidy: what was smoothed
DROP TABLE pganon_work.r0_neighbours0, pganon_work.r0_begun0, pganon_work.r0_smoothed0;

-- partition.cell_weights: weights of the sensitive values in every cell
CREATE TABLE pganon_work.r0_cell_weights AS
SELECT
  "f"."cell",
  ARRAY(SELECT
    "u"."w"
  FROM UNNEST("f"."weights") WITH ORDINALITY AS "u"("w", "i")
  WHERE
    "u"."i" <= 40
  ORDER BY
    "u"."i") AS "weights"
FROM (
  SELECT
    "x"."cell",
    ARRAY_AGG(
      ARRAY[
        COALESCE("t"."w1", 0),
        COALESCE("t"."w2", 0),
        COALESCE("t"."w3", 0),
        COALESCE("t"."w4", 0),
        COALESCE("t"."w5", 0),
        COALESCE("t"."w6", 0),
        COALESCE("t"."w7", 0),
        COALESCE("t"."w8", 0),
        COALESCE("t"."w9", 0),
        COALESCE("t"."w10", 0),
        COALESCE("t"."w11", 0),
        COALESCE("t"."w12", 0),
        COALESCE("t"."w13", 0),
        COALESCE("t"."w14", 0),
        COALESCE("t"."w15", 0),
        COALESCE("t"."w16", 0),
        COALESCE("t"."w17", 0),
        COALESCE("t"."w18", 0),
        COALESCE("t"."w19", 0),
        COALESCE("t"."w20", 0),
        COALESCE("t"."w21", 0),
        COALESCE("t"."w22", 0),
        COALESCE("t"."w23", 0),
        COALESCE("t"."w24", 0),
        COALESCE("t"."w25", 0),
        COALESCE("t"."w26", 0),
        COALESCE("t"."w27", 0),
        COALESCE("t"."w28", 0),
        COALESCE("t"."w29", 0),
        COALESCE("t"."w30", 0),
        COALESCE("t"."w31", 0),
        COALESCE("t"."w32", 0),
        COALESCE("t"."w33", 0),
        COALESCE("t"."w34", 0),
        COALESCE("t"."w35", 0),
        COALESCE("t"."w36", 0),
        COALESCE("t"."w37", 0),
        COALESCE("t"."w38", 0),
        COALESCE("t"."w39", 0),
        COALESCE("t"."w40", 0)
      ] ORDER BY "x"."part"
    ) AS "weights"
  FROM (
    SELECT
      "q".*,
      "p"."part"
    FROM "pganon_work"."r0_qi_cells" AS "q"
    CROSS JOIN GENERATE_SERIES(0, 0) AS "p"("part")
  ) AS "x"
  LEFT JOIN "pganon_work"."r0_smoothed1" AS "t"
    ON "t"."part" = "x"."part" AND (
      "x"."c0" = "t"."c0" AND "x"."c1" = "t"."c1"
    )
  GROUP BY
    "x"."cell"
) AS "f";

-- partition.tidy: what was smoothed
DROP TABLE pganon_work.r0_smoothed1;

-- partition.cell_priors: the prior of every combination
CREATE TABLE pganon_work.r0_cell_priors AS
SELECT
  "w"."cell",
  (
    SELECT
      ARRAY_AGG(
        CAST(ROUND(CAST((
          "x"."weight" / "w"."total"
        ) AS DECIMAL), 12) AS DOUBLE PRECISION) ORDER BY "x"."value"
      )
    FROM UNNEST("w"."weights") WITH ORDINALITY AS "x"("weight", "value")
  ) AS "probabilities"
FROM (
  SELECT
    "w"."cell",
    "w"."weights",
    (
      SELECT
        SUM("u"."w")
      FROM UNNEST("w"."weights") AS "u"("w")
    ) AS "total"
  FROM "pganon_work"."r0_cell_weights" AS "w"
  OFFSET '0'
) AS "w";

-- partition.vectors: distinct priors
CREATE TABLE pganon_work.r0_vectors AS
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY "d"."first") AS INT) AS "vector",
  "d"."probabilities"
FROM (
  SELECT
    "p"."probabilities",
    MIN("p"."cell") AS "first"
  FROM "pganon_work"."r0_cell_priors" AS "p"
  GROUP BY
    "p"."probabilities"
) AS "d";

-- partition.cell_vectors: which prior every combination has
CREATE TABLE pganon_work.r0_cell_vectors AS
SELECT
  "p"."cell",
  "v"."vector"
FROM "pganon_work"."r0_cell_priors" AS "p"
JOIN "pganon_work"."r0_vectors" AS "v"
  ON "v"."probabilities" = "p"."probabilities";

-- partition.tidy: what priors were made from
DROP TABLE pganon_work.r0_value_cells, pganon_work.r0_cell_weights, pganon_work.r0_cell_priors;

-- partition.vector_blocks: priors that are linked at a time
CREATE TABLE pganon_work.r0_vector_blocks AS
SELECT
  (
    "a"."place" - 1
  ) * 1 / 40 AS "block",
  "a"."vector"
FROM (
  SELECT
    "h"."vector",
    ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."vector") AS "place"
  FROM (
    WITH "pass0" AS (
      SELECT
        CAST("p"."y0" AS bigint) AS "x0",
        CAST("p"."y1" AS bigint) AS "x1",
        "p"."vector" AS "k0"
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
        FROM (
          SELECT
            "f"."vector",
            "c"."c0",
            "c"."c1"
          FROM (
            SELECT
              "v"."vector",
              MIN("v"."cell") AS "cell"
            FROM "pganon_work"."r0_cell_vectors" AS "v"
            GROUP BY
              "v"."vector"
          ) AS "f"
          JOIN "pganon_work"."r0_qi_cells" AS "c"
            ON "c"."cell" = "f"."cell"
        ) AS "c"
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
      "k0" AS "vector",
      "w0" AS "h0"
    FROM "pass8"
  ) AS "h"
) AS "a";

-- partition.link: clusters of priors that are within J of each other
SELECT
  1 AS "nothing";
SELECT
  "v"."vector",
  "v"."probabilities"
FROM "pganon_work"."r0_vector_blocks" AS "b"
JOIN "pganon_work"."r0_vectors" AS "v"
  ON "v"."vector" = "b"."vector"
WHERE
  "b"."block" = 0
ORDER BY
  "v"."vector";
COPY pganon_work.r0_vector_clusters (vector, cluster) FROM STDIN;

-- partition.cell_clusters: the cluster of every combination of quasi-identifiers
CREATE TABLE pganon_work.r0_cell_clusters AS
SELECT
  "p"."place" AS "h",
  "p"."cluster",
  "p"."c0",
  "p"."c1"
FROM (
  SELECT
    "h"."c0",
    "h"."c1",
    "h"."cluster",
    ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."tie") AS "place"
  FROM (
    WITH "pass0" AS (
      SELECT
        CAST("p"."y0" AS bigint) AS "x0",
        CAST("p"."y1" AS bigint) AS "x1",
        "p"."c0" AS "k0",
        "p"."c1" AS "k1",
        "p"."cluster" AS "k2",
        "p"."tie" AS "k3"
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
        FROM (
          SELECT
            "x".*,
            ROW("x"."c0", "x"."c1") AS "tie"
          FROM (
            SELECT
              "k"."cluster",
              "c"."c0",
              "c"."c1"
            FROM "pganon_work"."r0_qi_cells" AS "c"
            JOIN "pganon_work"."r0_cell_vectors" AS "v"
              ON "v"."cell" = "c"."cell"
            JOIN "pganon_work"."r0_vector_clusters" AS "k"
              ON "k"."vector" = "v"."vector"
          ) AS "x"
        ) AS "c"
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
      "k0" AS "c0",
      "k1" AS "c1",
      "k2" AS "cluster",
      "k3" AS "tie",
      "w0" AS "h0"
    FROM "pass8"
  ) AS "h"
) AS "p";

-- partition.cluster_values: sensitive values of every cluster
CREATE TABLE pganon_work.r0_cluster_values AS
SELECT
  "k"."cluster",
  "c"."s0" AS "value",
  COUNT(*) AS "n"
FROM "pganon_work"."r0_coded" AS "c"
JOIN "pganon_work"."r0_cell_clusters" AS "k"
  ON "k"."c0" = "c"."c0" AND "k"."c1" = "c"."c1"
GROUP BY
  1,
  2;

-- partition.kept: how many records of every cluster and value can stay
SELECT
  ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source"
FROM "pganon_work"."r0_sdict0" AS "d";
SELECT
  "v"."cluster",
  "v"."value",
  "v"."n"
FROM "pganon_work"."r0_cluster_values" AS "v"
ORDER BY
  "v"."cluster",
  "v"."value";
COPY pganon_work.r0_kept (cluster, value, n) FROM STDIN;

-- partition.stay: whether records of all clusters can stay
SELECT
  1 AS "asked";

-- partition.placed: the records that stay, along the curve
CREATE TABLE pganon_work.r0_placed AS
SELECT
  "x"."rid",
  "x"."cluster",
  "x"."value",
  "x"."c0",
  "x"."c1",
  ROW_NUMBER() OVER (PARTITION BY "x"."cluster" ORDER BY "x"."h", "x"."rid") AS "place"
FROM (
  SELECT
    "x".*
  FROM (
    SELECT
      "c"."rid",
      "k"."cluster",
      "k"."h",
      "c"."c0",
      "c"."c1",
      "c"."s0" AS "value"
    FROM "pganon_work"."r0_coded" AS "c"
    JOIN "pganon_work"."r0_cell_clusters" AS "k"
      ON "k"."c0" = "c"."c0" AND "k"."c1" = "c"."c1"
  ) AS "x"
  JOIN (
    SELECT DISTINCT
      "k"."cluster"
    FROM "pganon_work"."r0_kept" AS "k"
  ) AS "s"
    ON "s"."cluster" = "x"."cluster"
) AS "x";

-- partition.piece_values: sensitive values of neighbouring records
CREATE TABLE pganon_work.r0_piece_values AS
SELECT
  "p"."cluster",
  "p"."piece",
  "p"."value",
  COUNT(*) AS "n"
FROM (
  SELECT
    "p".*,
    CAST((
      CAST((
        "p"."place" - 1
      ) AS BIGINT) * "s"."pieces" / "s"."size"
    ) AS INT) AS "piece"
  FROM "pganon_work"."r0_placed" AS "p"
  JOIN (
    SELECT
      "s"."cluster",
      "s"."size",
      GREATEST("s"."size" / 10000, 1) AS "pieces"
    FROM (
      SELECT
        "k"."cluster",
        CAST(SUM("k"."n") AS BIGINT) AS "size"
      FROM "pganon_work"."r0_kept" AS "k"
      GROUP BY
        "k"."cluster"
    ) AS "s"
  ) AS "s"
    ON "s"."cluster" = "p"."cluster"
) AS "p"
GROUP BY
  "p"."cluster",
  "p"."piece",
  "p"."value";

-- partition.cut: blocks in which classes exist
SELECT
  ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source"
FROM "pganon_work"."r0_sdict0" AS "d";
SELECT
  "v"."cluster",
  "v"."piece",
  "v"."value",
  "v"."n"
FROM "pganon_work"."r0_piece_values" AS "v"
ORDER BY
  "v"."cluster",
  "v"."piece";
COPY pganon_work.r0_piece_blocks (cluster, piece, block) FROM STDIN;

-- partition.blocked: the block of every record
CREATE TABLE pganon_work.r0_blocked AS
SELECT
  "b"."block",
  "p"."rid",
  "p"."value",
  "p"."place",
  "p"."c0",
  "p"."c1"
FROM (
  SELECT
    "p".*,
    CAST((
      CAST((
        "p"."place" - 1
      ) AS BIGINT) * "s"."pieces" / "s"."size"
    ) AS INT) AS "piece"
  FROM "pganon_work"."r0_placed" AS "p"
  JOIN (
    SELECT
      "s"."cluster",
      "s"."size",
      GREATEST("s"."size" / 10000, 1) AS "pieces"
    FROM (
      SELECT
        "k"."cluster",
        CAST(SUM("k"."n") AS BIGINT) AS "size"
      FROM "pganon_work"."r0_kept" AS "k"
      GROUP BY
        "k"."cluster"
    ) AS "s"
  ) AS "s"
    ON "s"."cluster" = "p"."cluster"
) AS "p"
JOIN "pganon_work"."r0_piece_blocks" AS "b"
  ON "b"."cluster" = "p"."cluster" AND "b"."piece" = "p"."piece";

-- partition.tidy: what blocks were made from
DROP TABLE pganon_work.r0_piece_values, pganon_work.r0_piece_blocks, pganon_work.r0_placed;

-- partition.classes: classes of near records
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
      ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source"
    FROM "pganon_work"."r0_sdict0" AS "d"
  ) AS "source",
  (
    SELECT
      ARRAY_AGG(COALESCE("k"."n", 0) ORDER BY "v"."value")
    FROM (
      SELECT
        GENERATE_SERIES(1, CARDINALITY("c"."source")) AS "value"
      FROM (
        SELECT
          ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source"
        FROM "pganon_work"."r0_sdict0" AS "d"
      ) AS "c"
    ) AS "v"
    LEFT JOIN (
      SELECT
        "x"."value",
        CAST(SUM("x"."n") AS BIGINT) AS "n"
      FROM "pganon_work"."r0_kept" AS "x"
      GROUP BY
        "x"."value"
    ) AS "k"
      ON "k"."value" = "v"."value"
  ) AS "released";
SELECT
  "b"."block",
  "b"."rid",
  "b"."value",
  "b"."c0",
  "b"."c1"
FROM "pganon_work"."r0_blocked" AS "b"
WHERE
  "b"."block" >= 0 AND "b"."block" < 50
ORDER BY
  "b"."block",
  "b"."rid";
COPY pganon_work.r0_grown (rid, gid) FROM STDIN;

-- partition.grouped: the class of every record
CREATE TABLE pganon_work.r0_grouped AS
SELECT
  "f"."gid",
  "r"."rid",
  "r"."c0",
  "r"."c1"
FROM "pganon_work"."r0_blocked" AS "r"
JOIN "pganon_work"."r0_grown" AS "f"
  ON "f"."rid" = "r"."rid";

-- partition.tidy: the blocks
DROP TABLE pganon_work.r0_blocked, pganon_work.r0_grown;

-- partition.suppressed: records left out, held against the limit
SELECT
  COUNT(*) AS "released",
  40 - COUNT(*) AS "suppressed"
FROM "pganon_work"."r0_grouped" AS "t";

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
  "c"."v0" AS "disease",
  "c"."p0" AS "cost"
FROM "pganon_work"."r0_coded" AS "c"
JOIN "pganon_work"."r0_grouped_classes" AS "g"
  ON "g"."rid" = "c"."rid"
ORDER BY
  "g"."class_id",
  "c"."v0",
  "c"."p0";

-- recode.members: the steward's memory of who was in which class
CREATE TABLE pganon_stage.r0_members AS
SELECT
  "u".*
FROM (
  SELECT
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
          ) || CONVERT_TO("g"."record", 'UTF8')
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
        "c"."record",
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
    -1 AS "class_id",
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
            "c"."record",
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

-- recode.reference: distribution of the source that closeness is held against
CREATE TABLE pganon_stage.r0_reference AS
SELECT
  CAST(0 AS SMALLINT) AS "attribute",
  COALESCE('=' || CAST((
    "x"."value"
  ) AS text), '') AS "value",
  "x"."code" AS "position",
  "x"."n"
FROM "pganon_work"."r0_sdict0" AS "x";

-- recode.subtracted: what the published distribution tells of suppressed records
SELECT
  CAST(COALESCE(SUM("l"."n"), 0) AS BIGINT) AS "withheld",
  CAST((
    (
      0 + (
        SELECT
          "w"."failing"
        FROM (
          SELECT
            COUNT(*) FILTER(WHERE
              NOT (
                "groups"."measure" >= 2
              )) AS "failing",
            MIN("groups"."measure") AS "measured"
          FROM (
            SELECT
              CAST(SUM("g"."n") AS BIGINT) AS "measure",
              "g"."class_id"
            FROM (
              SELECT
                "h"."value",
                "h"."n",
                "h"."class_id"
              FROM (
                SELECT
                  1 AS "class_id",
                  "f"."value",
                  "f"."n" - COALESCE("p"."n", 0) AS "n"
                FROM (
                  SELECT
                    "f"."value",
                    "f"."position",
                    "f"."n"
                  FROM "pganon_stage"."r0_reference" AS "f"
                  WHERE
                    "f"."attribute" = 0
                ) AS "f"
                LEFT JOIN (
                  SELECT
                    COALESCE('=' || CAST((
                      CAST("r"."disease" AS TEXT) COLLATE "C"
                    ) AS text), '') AS "value",
                    COUNT(*) AS "n"
                  FROM "pganon_stage"."r0_records" AS "r"
                  GROUP BY
                    1
                ) AS "p"
                  ON "p"."value" = "f"."value"
                WHERE
                  "f"."n" > COALESCE("p"."n", 0)
              ) AS "h"
            ) AS "g"
            GROUP BY
              "g"."class_id"
          ) AS "groups"
        ) AS "w"
      ) + (
        SELECT
          "w"."failing"
        FROM (
          SELECT
            COUNT(*) FILTER(WHERE
              NOT (
                "groups"."measure" <= 3.000000000003
              )) AS "failing",
            MAX("groups"."measure") AS "measured"
          FROM (
            SELECT
              CASE
                WHEN BOOL_AND(
                  COALESCE(
                    CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0),
                    CAST('Infinity' AS DOUBLE PRECISION)
                  ) - 1 <= 1e-12 - LN(NULLIF("g"."share", 0))
                )
                THEN GREATEST(
                  MAX(
                    COALESCE(
                      CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0),
                      CAST('Infinity' AS DOUBLE PRECISION)
                    )
                  ) - 1,
                  0
                )
                ELSE CAST('Infinity' AS DOUBLE PRECISION)
              END AS "measure",
              "g"."class_id"
            FROM (
              SELECT
                "h"."value",
                "h"."n",
                "h"."class_id",
                SUM("h"."n") OVER (PARTITION BY "h"."class_id") AS "total",
                COALESCE("r"."share", 0) AS "share",
                COALESCE("r"."position", 0) AS "position"
              FROM (
                SELECT
                  1 AS "class_id",
                  "f"."value",
                  "f"."n" - COALESCE("p"."n", 0) AS "n"
                FROM (
                  SELECT
                    "f"."value",
                    "f"."position",
                    "f"."n"
                  FROM "pganon_stage"."r0_reference" AS "f"
                  WHERE
                    "f"."attribute" = 0
                ) AS "f"
                LEFT JOIN (
                  SELECT
                    COALESCE('=' || CAST((
                      CAST("r"."disease" AS TEXT) COLLATE "C"
                    ) AS text), '') AS "value",
                    COUNT(*) AS "n"
                  FROM "pganon_stage"."r0_records" AS "r"
                  GROUP BY
                    1
                ) AS "p"
                  ON "p"."value" = "f"."value"
                WHERE
                  "f"."n" > COALESCE("p"."n", 0)
              ) AS "h"
              LEFT JOIN (
                SELECT
                  "x"."value",
                  "x"."position",
                  CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share"
                FROM (
                  SELECT
                    "f"."value",
                    "f"."position",
                    "f"."n"
                  FROM "pganon_stage"."r0_reference" AS "f"
                  WHERE
                    "f"."attribute" = 0
                ) AS "x"
              ) AS "r"
                ON "r"."value" = "h"."value"
            ) AS "g"
            GROUP BY
              "g"."class_id"
          ) AS "groups"
        ) AS "w"
      )
    )
  ) AS BIGINT) AS "missed"
FROM (
  SELECT
    1 AS "class_id",
    "f"."value",
    "f"."n" - COALESCE("p"."n", 0) AS "n"
  FROM (
    SELECT
      "f"."value",
      "f"."position",
      "f"."n"
    FROM "pganon_stage"."r0_reference" AS "f"
    WHERE
      "f"."attribute" = 0
  ) AS "f"
  LEFT JOIN (
    SELECT
      COALESCE('=' || CAST((
        CAST("r"."disease" AS TEXT) COLLATE "C"
      ) AS text), '') AS "value",
      COUNT(*) AS "n"
    FROM "pganon_stage"."r0_records" AS "r"
    GROUP BY
      1
  ) AS "p"
    ON "p"."value" = "f"."value"
  WHERE
    "f"."n" > COALESCE("p"."n", 0)
) AS "l";

-- recode.shares: the distribution that is published
CREATE TABLE pganon_stage.r0_shares AS
SELECT
  CAST((
    "d"."value"
  ) AS text) AS "disease",
  CAST("d"."n" AS DOUBLE PRECISION) / SUM("d"."n") OVER () AS "share"
FROM "pganon_work"."r0_sdict0" AS "d"
ORDER BY
  "d"."code";

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

-- recode.audit: the priors of the records of every class
CREATE TABLE pganon_stage.r0_audit AS
SELECT
  "x"."class_id",
  "k"."cluster",
  "x"."prior",
  "x"."n"
FROM (
  SELECT
    "g"."class_id",
    "v"."vector" AS "prior",
    COUNT(*) AS "n"
  FROM "pganon_work"."r0_grouped_classes" AS "g"
  JOIN "pganon_work"."r0_qi_cells" AS "q"
    ON "q"."c0" = "g"."c0" AND "q"."c1" = "g"."c1"
  JOIN "pganon_work"."r0_cell_vectors" AS "v"
    ON "v"."cell" = "q"."cell"
  GROUP BY
    1,
    2
) AS "x"
JOIN "pganon_work"."r0_vector_clusters" AS "k"
  ON "k"."vector" = "x"."prior"
ORDER BY
  1,
  3;

-- recode.prior: the priors
CREATE TABLE pganon_stage.r0_prior AS
SELECT
  "v"."vector" AS "prior",
  "v"."probabilities"
FROM "pganon_work"."r0_vectors" AS "v"
ORDER BY
  "v"."vector";

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
        "r"."class_id",
        COALESCE('=' || CAST((
          CAST("r"."disease" AS TEXT) COLLATE "C"
        ) AS text), '') AS "value",
        COUNT(*) AS "n"
      FROM "pganon_stage"."r0_records" AS "r"
      GROUP BY
        "r"."class_id",
        2
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
  CASE WHEN "g"."grp" < 0 THEN "l"."held" ELSE "g"."held" END AS "held"
FROM (
  SELECT
    CAST("e"."grp" AS BIGINT) AS "grp",
    COUNT(*) AS "people",
    BIT_XOR("e"."who1") AS "who1",
    BIT_XOR("e"."who2") AS "who2",
    CASE
      WHEN "e"."grp" > 0
      THEN CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2])] AS bigint[])
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
        "m"."class_id" AS "grp",
        "m"."marks"
      FROM "pganon_stage"."r0_members" AS "m"
    ) AS "m"
    WHERE
      "m"."grp" <> 0
  ) AS "e"
  GROUP BY
    "e"."grp"
) AS "g"
JOIN (
  SELECT
    CAST(ARRAY[
      BIT_XOR(
        HASHTEXTEXTENDED(
          COALESCE('=' || CAST((
            CAST("c"."v0" AS TEXT) COLLATE "C"
          ) AS text), ''),
          UUID_HASH_EXTENDED(
            "c"."person",
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
      ),
      CAST(NULL AS BIGINT)
    ] AS bigint[]) AS "held"
  FROM (
    SELECT
      "c".*,
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
          ) || CONVERT_TO("c"."record", 'UTF8')
        ) FROM 1 FOR 16),
        'hex'
      ) AS UUID) AS "person"
    FROM "pganon_work"."r0_coded" AS "c"
  ) AS "c"
  JOIN (
    SELECT
      "m"."member"
    FROM "pganon_stage"."r0_members" AS "m"
    WHERE
      "m"."class_id" < 0
  ) AS "m"
    ON "m"."member" = "c"."person"
) AS "l"
  ON TRUE;

-- verify.fingerprint: a keyed hash of the staged relations
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records', 'pganon_stage.r0_shares', 'pganon_stage.r0_members', 'pganon_stage.r0_reference', 'pganon_stage.r0_audit', 'pganon_stage.r0_prior', 'pganon_stage.r0_histogram', 'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

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
  FROM "pganon_stage"."r0_records" AS "records"
) AS "r";

-- verify.structure_0: structure
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT (SELECT COUNT(*) FROM (SELECT "class_id" FROM "pganon_stage"."r0_classes" AS "a" GROUP BY "class_id" HAVING COUNT(*) > 1) AS "twice") + (SELECT COUNT(*) FROM (SELECT "r"."class_id" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id") AS "h" FULL JOIN "pganon_stage"."r0_classes" AS "c" ON "c"."class_id" = "h"."class_id" WHERE "c"."class_id" IS NULL OR "h"."class_id" IS NULL) AS "measured") AS "b";

-- verify.k_anonymity_1: k_anonymity
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id" FROM (SELECT "r"."class_id", 1 AS "value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id", 2) AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.beta_likeness_2: beta_likeness on disease against the source distribution
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 3.000000000003)) AS "failing", MAX("groups"."measure") AS "measured" FROM (SELECT CASE WHEN BOOL_AND(COALESCE(CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION)) - 1 <= 1e-12 - LN(NULLIF("g"."share", 0))) THEN GREATEST(MAX(COALESCE(CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION))) - 1, 0) ELSE CAST('Infinity' AS DOUBLE PRECISION) END AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id", SUM("h"."n") OVER (PARTITION BY "h"."class_id") AS "total", COALESCE("r"."share", 0) AS "share", COALESCE("r"."position", 0) AS "position" FROM (SELECT "r"."class_id", COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id", 2) AS "h" LEFT JOIN (SELECT "x"."value", "x"."position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT "f"."value", "f"."position", "f"."n" FROM "pganon_stage"."r0_reference" AS "f" WHERE "f"."attribute" = 0) AS "x") AS "r" ON "r"."value" = "h"."value") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.beta_likeness_3: beta_likeness on disease against the published distribution
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 3.000000000003)) AS "failing", MAX("groups"."measure") AS "measured" FROM (SELECT CASE WHEN BOOL_AND(COALESCE(CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION)) - 1 <= 1e-12 - LN(NULLIF("g"."share", 0))) THEN GREATEST(MAX(COALESCE(CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION))) - 1, 0) ELSE CAST('Infinity' AS DOUBLE PRECISION) END AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id", SUM("h"."n") OVER (PARTITION BY "h"."class_id") AS "total", COALESCE("r"."share", 0) AS "share", COALESCE("r"."position", 0) AS "position" FROM (SELECT "r"."class_id", COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id", 2) AS "h" LEFT JOIN (SELECT "x"."value", "x"."position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT "f"."value", "f"."position", COALESCE("p"."n", 0) AS "n" FROM (SELECT "f"."value", "f"."position", "f"."n" FROM "pganon_stage"."r0_reference" AS "f" WHERE "f"."attribute" = 0) AS "f" LEFT JOIN (SELECT COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY 1) AS "p" ON "p"."value" = "f"."value") AS "x") AS "r" ON "r"."value" = "h"."value") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.reference_4: reference on disease
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT "x"."value", "x"."position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT "f"."value", "f"."position", "f"."n" FROM "pganon_stage"."r0_reference" AS "f" WHERE "f"."attribute" = 0) AS "x") AS "f" FULL JOIN (SELECT COALESCE('=' || CAST((CAST("s"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", "s"."share" FROM "pganon_stage"."r0_shares" AS "s") AS "s" ON "s"."value" = "f"."value" WHERE "s"."share" IS DISTINCT FROM "f"."share") AS "b";

-- verify.audit_5: audit
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT (SELECT COUNT(*) FROM (SELECT "r"."class_id", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id") AS "c" FULL JOIN (SELECT "a"."class_id", SUM("a"."n") AS "n", COUNT(DISTINCT "a"."cluster") AS "clusters" FROM "pganon_stage"."r0_audit" AS "a" GROUP BY "a"."class_id") AS "h" ON "h"."class_id" = "c"."class_id" WHERE "c"."n" IS DISTINCT FROM "h"."n" OR "h"."clusters" IS DISTINCT FROM 1) + (SELECT COUNT(*) FROM "pganon_stage"."r0_audit" AS "a" LEFT JOIN "pganon_stage"."r0_prior" AS "p" ON "p"."prior" = "a"."prior" WHERE "p"."prior" IS NULL) + (SELECT COUNT(*) FROM (SELECT "p"."prior" FROM "pganon_stage"."r0_prior" AS "p" GROUP BY "p"."prior" HAVING COUNT(*) > 1) AS "twice") + (SELECT COUNT(*) FROM "pganon_stage"."r0_prior" AS "p" WHERE NOT (SELECT ABS(SUM("x"."p") - 1) <= 0.000001 AND MIN("x"."p") >= 0 FROM UNNEST("p"."probabilities") AS "x"("p")) IS TRUE) AS "measured") AS "b";

-- verify.background_knowledge_6: background_knowledge
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 0.800000001)) AS "failing", MAX("groups"."measure") AS "measured" FROM (WITH "p" AS MATERIALIZED (SELECT "p"."cluster", "p"."prior", "p"."probabilities", (SELECT -COALESCE(SUM("x"."p" * LN("x"."p")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) FROM UNNEST("p"."probabilities") AS "x"("p") WHERE "x"."p" > 0) AS "entropy" FROM (SELECT "a"."cluster", "a"."prior", "p"."probabilities" FROM (SELECT "x"."cluster", "x"."prior" FROM "pganon_stage"."r0_audit" AS "x" GROUP BY "x"."cluster", "x"."prior") AS "a" JOIN "pganon_stage"."r0_prior" AS "p" ON "p"."prior" = "a"."prior") AS "p"), "k0" AS MATERIALIZED (SELECT "o".*, SQRT((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("o"."entropy" + "c"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM UNNEST("o"."probabilities", "c"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS "r0" FROM "p" AS "o" JOIN (SELECT "m"."cluster", "m"."probabilities", (SELECT -COALESCE(SUM("x"."p" * LN("x"."p")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) FROM UNNEST("m"."probabilities") AS "x"("p") WHERE "x"."p" > 0) AS "entropy" FROM (SELECT "x"."cluster", ARRAY_AGG("x"."share" ORDER BY "x"."place") AS "probabilities" FROM (SELECT "p"."cluster", "u"."place", AVG("u"."share") AS "share" FROM "p" CROSS JOIN LATERAL UNNEST("p"."probabilities") WITH ORDINALITY AS "u"("share", "place") GROUP BY "p"."cluster", "u"."place") AS "x" GROUP BY "x"."cluster") AS "m") AS "c" ON "c"."cluster" = "o"."cluster"), "k1" AS MATERIALIZED (SELECT "o".*, SQRT((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("o"."entropy" + "c"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM UNNEST("o"."probabilities", "c"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS "r1" FROM "k0" AS "o" JOIN (SELECT DISTINCT ON ("y"."cluster") "y".* FROM "k0" AS "y" ORDER BY "y"."cluster", "y"."r0" DESC NULLS LAST) AS "c" ON "c"."cluster" = "o"."cluster"), "k2" AS MATERIALIZED (SELECT "o".*, SQRT((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("o"."entropy" + "c"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM UNNEST("o"."probabilities", "c"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS "r2" FROM "k1" AS "o" JOIN (SELECT DISTINCT ON ("y"."cluster") "y".* FROM "k1" AS "y" ORDER BY "y"."cluster", "y"."r1" DESC NULLS LAST) AS "c" ON "c"."cluster" = "o"."cluster"), "l" AS MATERIALIZED (SELECT "k2"."cluster", MAX(GREATEST("k2"."r1", "k2"."r2")) AS "r" FROM "k2" GROUP BY 1) SELECT "l"."cluster", GREATEST("l"."r" * "l"."r", COALESCE("w"."d", 0)) AS "measure" FROM "l" LEFT JOIN (SELECT "l"."cluster", MAX((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("a"."entropy" + "b"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM UNNEST("a"."probabilities", "b"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS "d" FROM "l" JOIN "k2" AS "a" ON "a"."cluster" = "l"."cluster" JOIN "k2" AS "b" ON "b"."cluster" = "l"."cluster" WHERE ("a"."r0", "a"."prior") > ("b"."r0", "b"."prior") AND 2 * "a"."r0" >= "l"."r" - 1e-09 AND LEAST("a"."r0" + "b"."r0", "a"."r1" + "b"."r1", "a"."r2" + "b"."r2") >= "l"."r" - 1e-09 GROUP BY "l"."cluster") AS "w" ON "w"."cluster" = "l"."cluster") AS "groups";

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
ALTER TABLE "pganon_stage"."r0_shares" SET SCHEMA "pganon_data";
ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_reference" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_audit" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_prior" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private";
CREATE OR REPLACE VIEW "published"."visits" AS SELECT "c"."class_id", "c"."age", "c"."zip", "c"."zip_null", "r"."disease", "r"."cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";
CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "c"."class_id" AS "class_id", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS "age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";
CREATE OR REPLACE VIEW "published"."visits_reference" AS SELECT "s"."disease", "s"."share" FROM "pganon_data"."r0_shares" AS "s";
