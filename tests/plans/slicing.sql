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

-- encode.tidy: the snapshot is not needed any more
DROP TABLE pganon_work.r0_snap;

-- partition.association: how much attributes have to do with each other
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
            FROM "pganon_work"."r0_coded" AS "t"
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
      ) AS "e0"
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
      COALESCE("t"."s0", -1) AS "k2"
    FROM "pganon_work"."r0_coded" AS "t"
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
      END AS "i",
      CASE
        WHEN "x"."k2" IS NOT NULL
        THEN 2
        WHEN "x"."k1" IS NOT NULL
        THEN 1
        WHEN "x"."k0" IS NOT NULL
        THEN 0
      END AS "j",
      COALESCE("x"."k0", "x"."k1", "x"."k2") AS "va",
      COALESCE("x"."k2", "x"."k1", "x"."k0") AS "vb",
      CAST(COUNT(*) AS DOUBLE PRECISION) AS "f"
    FROM "x"
    GROUP BY
      GROUPING SETS (
        ("x"."k0"),
        ("x"."k1"),
        ("x"."k2"),
        ("x"."k0", "x"."k1"),
        ("x"."k0", "x"."k2"),
        ("x"."k1", "x"."k2")
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
      ELSE LEAST(
        1,
        GREATEST(0, "s"."phi2" / (
          LEAST("a"."distinct_values", "b"."distinct_values") - 1
        ))
      )
    END AS "value"
  FROM "s"
  JOIN "d" AS "a"
    ON "a"."i" = "s"."i"
  JOIN "d" AS "b"
    ON "b"."i" = "s"."j"
) AS "v";

-- partition.judged: records with what buckets are judged by
CREATE TABLE pganon_work.r0_judged AS
SELECT
  0 AS "beside",
  "c"."rid",
  "c"."c0",
  "c"."c1",
  "c"."s0"
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
        CASE "w"."place" WHEN 0 THEN 2 END
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
            "k"."beside" AS "stratum",
            "k"."s0" AS "value",
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
  COALESCE(BOOL_AND("w"."most" * "w"."l" <= "w"."size" AND "w"."size" >= 1), FALSE) AS "eligible",
  MIN("w"."place") FILTER(WHERE
    "w"."most" * "w"."l" > "w"."size") AS "fails",
  CAST(MIN("w"."size") FILTER(WHERE
    "w"."size" < 1) AS BIGINT) AS "small",
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
  (
    SELECT
      BOOL_AND("t"."most" * (
        CASE "t"."place" WHEN 0 THEN 2 END
      ) <= "t"."size")
    FROM (
      SELECT
        "v"."place",
        MAX("v"."n") AS "most",
        SUM("v"."n") AS "size"
      FROM (
        SELECT
          "c"."place",
          "c"."value",
          SUM("c"."n") AS "n"
        FROM (
          SELECT
            "u".*
          FROM (
            SELECT
              0 AS "place",
              "k"."beside" AS "stratum",
              "k"."s0" AS "value",
              COUNT(*) AS "n"
            FROM "pganon_work"."r0_judged" AS "k"
            GROUP BY
              2,
              3
          ) AS "u"
        ) AS "c"
        GROUP BY
          "c"."place",
          "c"."value"
      ) AS "v"
      GROUP BY
        "v"."place"
    ) AS "t"
  ) AS "together"
FROM "w";

-- partition.cells: equal records collapse into weighted cells
CREATE TABLE pganon_work.r0_cells_0 AS
SELECT
  1 AS "node",
  COUNT(*) AS "w",
  "k"."beside",
  "k"."c0",
  "k"."c1",
  "k"."s0"
FROM "pganon_work"."r0_judged" AS "k"
GROUP BY
  "k"."beside",
  "k"."c0",
  "k"."c1",
  "k"."s0";

-- partition.nodes: the parts to start from
CREATE TABLE pganon_work.r0_nodes_0 AS
SELECT
  "c"."node",
  CAST(SUM("c"."w") AS BIGINT) AS "n",
  MIN("c"."c0") FILTER(WHERE
    "c"."c0" > 0) AS "lo0",
  MAX("c"."c0") AS "hi0",
  MIN("c"."c0") = 0 AS "n0",
  BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0",
  FALSE AS "again"
FROM "pganon_work"."r0_cells_0" AS "c"
GROUP BY
  "c"."node";

-- partition.cut: cut every bucket where both halves satisfy the requirement; repeated

-- partition.cut.tries: the attributes to try for every group
CREATE TABLE pganon_work.r0_tries_0 AS
SELECT
  "x"."node",
  "x"."n",
  "x"."attr",
  "x"."level",
  "x"."rank",
  "x"."available" > "x"."tried" AS "more"
FROM (
  SELECT
    "r".*,
    CASE
      WHEN "r"."again"
      THEN "r"."available"
      WHEN "r"."n" < 8
      THEN LEAST("r"."available", 12)
      ELSE 1
    END AS "tried"
  FROM (
    SELECT
      "l"."node",
      "l"."n",
      "l"."again",
      "a"."attr",
      "a"."level",
      CAST((
        ROW_NUMBER() OVER (
          PARTITION BY "l"."node"
          ORDER BY ROUND(CAST("a"."loss" AS DECIMAL), 9) DESC, "a"."attr"
        )
      ) AS SMALLINT) AS "rank",
      CAST((
        COUNT(*) OVER (PARTITION BY "l"."node")
      ) AS SMALLINT) AS "available"
    FROM (
      SELECT
        "e"."node",
        "e"."n",
        "e"."again",
        CAST((
          GREATEST(
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
            ),
            CASE WHEN "e"."lo0" < "e"."hi0" THEN 1e-300 ELSE 0 END
          )
        ) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l0",
        CAST((
          0
        ) AS SMALLINT) AS "level0",
        CAST((
          CAST((
            BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1
          ) AS DOUBLE PRECISION) / 40
        ) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l1",
        CAST((
          0
        ) AS SMALLINT) AS "level1"
      FROM "pganon_work"."r0_nodes_0" AS "e"
      OFFSET 0
    ) AS "l"
    CROSS JOIN LATERAL (
      SELECT
        "v".*
      FROM (
        SELECT
          "v"."attr",
          "v"."level",
          "v"."loss"
        FROM (VALUES
          (CAST(0 AS SMALLINT), "l"."level0", "l"."l0"),
          (CAST(1 AS SMALLINT), "l"."level1", "l"."l1")) AS "v"("attr", "level", "loss")
      ) AS "v"
    ) AS "a"
    WHERE
      "a"."loss" > 0
  ) AS "r"
) AS "x"
WHERE
  "x"."rank" <= "x"."tried";

-- partition.cut.ranked: tried values in cutting order
CREATE TABLE pganon_work.r0_ranked_0 AS
SELECT
  "g"."node",
  "g"."attr",
  "g"."v",
  "g"."w",
  "t"."n",
  CAST((
    ROW_NUMBER() OVER (
      PARTITION BY "g"."node", "g"."attr"
      ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN "g"."v" END, "g"."v"
    )
  ) AS INT) AS "pos",
  CAST((
    SUM("g"."w") OVER (
      PARTITION BY "g"."node", "g"."attr"
      ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN "g"."v" END, "g"."v"
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  ) AS BIGINT) AS "cum",
  "g"."lo0",
  "g"."hi0",
  "g"."n0",
  "g"."b1_0"
FROM (
  SELECT
    "x"."node",
    "x"."attr",
    "x"."v",
    CAST(SUM("x"."w") AS integer) AS "w",
    MIN("x"."c0") FILTER(WHERE
      "x"."c0" > 0) AS "lo0",
    MAX("x"."c0") AS "hi0",
    MIN("x"."c0") = 0 AS "n0",
    BIT_OR(CAST(1 AS BIGINT) << "x"."c1") AS "b1_0"
  FROM (
    SELECT
      "c"."node",
      "t"."attr",
      "t"."n",
      CASE "t"."attr"
        WHEN 0
        THEN CAST((
          COALESCE(NULLIF("c"."c0", 0), 41)
        ) AS integer)
        WHEN 1
        THEN CAST((
          COALESCE(NULLIF("c"."c1", 0), 41)
        ) AS integer)
      END AS "v",
      "c"."w",
      "c"."c0",
      "c"."c1"
    FROM "pganon_work"."r0_cells_0" AS "c"
    JOIN "pganon_work"."r0_tries_0" AS "t"
      ON "t"."node" = "c"."node"
  ) AS "x"
  GROUP BY
    "x"."node",
    "x"."attr",
    "x"."v"
) AS "g"
JOIN "pganon_work"."r0_tries_0" AS "t"
  ON "t"."node" = "g"."node" AND "t"."attr" = "g"."attr";

-- partition.cut.best: the cut at the median
CREATE TABLE pganon_work.r0_best_0 AS
SELECT
  "r"."node",
  "r"."attr",
  "t"."rank",
  "r"."cum",
  "r"."v" AS "thr"
FROM "pganon_work"."r0_ranked_0" AS "r"
JOIN "pganon_work"."r0_tries_0" AS "t"
  ON "t"."node" = "r"."node" AND "t"."attr" = "r"."attr"
WHERE
  2 * "r"."cum" >= "r"."n"
  AND 2 * (
    "r"."cum" - "r"."w"
  ) < "r"."n"
  AND "r"."n" - "r"."cum" >= 1;

-- partition.cut.sides: whether both halves satisfy the requirement
CREATE TABLE pganon_work.r0_sides_0 AS
SELECT
  "z"."node",
  BOOL_AND("z"."holds") AS "allowed"
FROM (
  SELECT
    "w"."node",
    "w"."side",
    SUM("w"."n") >= 2 AND BOOL_AND("w"."holds") AS "holds"
  FROM (
    SELECT
      "h"."node",
      "h"."side",
      "h"."beside",
      SUM("h"."n") AS "n",
      MAX("h"."n") * 2 <= SUM("h"."n") AS "holds"
    FROM (
      SELECT
        "c"."node",
        CASE "t"."attr"
          WHEN 0
          THEN COALESCE(NULLIF("c"."c0", 0), 41) <= "t"."thr"
          WHEN 1
          THEN COALESCE(NULLIF("c"."c1", 0), 41) <= "t"."thr"
        END AS "side",
        "c"."beside" AS "beside",
        "c"."s0" AS "value",
        SUM("c"."w") AS "n"
      FROM "pganon_work"."r0_cells_0" AS "c"
      JOIN (
        SELECT
          "p"."node",
          "p"."attr",
          "p"."cum",
          "p"."thr"
        FROM (
          SELECT
            "b".*,
            "t"."more",
            ROW_NUMBER() OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place",
            COUNT(*) OVER (PARTITION BY "b"."node") AS "allowed"
          FROM (
            SELECT
              "b".*
            FROM "pganon_work"."r0_best_0" AS "b"
          ) AS "b"
          JOIN "pganon_work"."r0_tries_0" AS "t"
            ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr"
        ) AS "p"
        WHERE
          "p"."place" <= 1 AND (
            "p"."allowed" >= 1 OR NOT "p"."more"
          )
      ) AS "t"
        ON "t"."node" = "c"."node"
      GROUP BY
        1,
        2,
        3,
        4
    ) AS "h"
    GROUP BY
      "h"."node",
      "h"."side",
      "h"."beside"
  ) AS "w"
  GROUP BY
    "w"."node",
    "w"."side"
) AS "z"
GROUP BY
  "z"."node";

-- partition.cut.halves: both sides of the cuts that compete
CREATE TABLE pganon_work.r0_halves_0 AS
SELECT
  "r"."node",
  "r"."attr",
  "r"."cum" <= "b"."cum" AS "is_left",
  CAST(SUM("r"."w") AS BIGINT) AS "n",
  MIN("r"."lo0") AS "lo0",
  MAX("r"."hi0") AS "hi0",
  BOOL_OR("r"."n0") AS "n0",
  BIT_OR("r"."b1_0") AS "b1_0"
FROM "pganon_work"."r0_ranked_0" AS "r"
JOIN (
  SELECT
    "p"."node",
    "p"."attr",
    "p"."cum",
    "p"."thr"
  FROM (
    SELECT
      "b".*,
      "t"."more",
      ROW_NUMBER() OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place",
      COUNT(*) OVER (PARTITION BY "b"."node") AS "allowed"
    FROM (
      SELECT
        "b".*
      FROM "pganon_work"."r0_best_0" AS "b"
      JOIN "pganon_work"."r0_sides_0" AS "s"
        ON "s"."node" = "b"."node"
      WHERE
        "s"."allowed"
    ) AS "b"
    JOIN "pganon_work"."r0_tries_0" AS "t"
      ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr"
  ) AS "p"
  WHERE
    "p"."place" <= 1 AND (
      "p"."allowed" >= 1 OR NOT "p"."more"
    )
) AS "b"
  ON "b"."node" = "r"."node" AND "b"."attr" = "r"."attr"
GROUP BY
  "r"."node",
  "r"."attr",
  "r"."cum" <= "b"."cum";

-- partition.cut.moves: what becomes of every group
CREATE TABLE pganon_work.r0_moves_0 AS
SELECT
  "z"."node",
  "z"."attr",
  "z"."again",
  "z"."nl",
  "z"."nr",
  CAST((
    (
      CASE
        WHEN (
          "z"."attr" IS NOT NULL AND "z"."nl" >= 4
        ) OR "z"."again"
        THEN 1
        ELSE -1
      END
    ) * (
      2 * "z"."number" - 1
    )
  ) AS INT) AS "tl",
  CAST((
    (
      CASE WHEN "z"."nr" >= 4 THEN 1 ELSE -1 END
    ) * 2 * "z"."number"
  ) AS INT) AS "tr",
  "z"."cum",
  "z"."thr"
FROM (
  SELECT
    "m".*,
    COALESCE("m"."cum", "m"."n") AS "nl",
    "m"."n" - "m"."cum" AS "nr"
  FROM (
    SELECT
      "d"."node",
      "d"."n",
      "b"."attr",
      "b"."node" IS NULL AND COALESCE("t"."more", FALSE) AS "again",
      ROW_NUMBER() OVER (ORDER BY "d"."node") AS "number",
      "b"."cum",
      "b"."thr"
    FROM "pganon_work"."r0_nodes_0" AS "d"
    LEFT JOIN (
      SELECT
        "p"."node",
        "p"."attr",
        "p"."cum",
        "p"."thr"
      FROM (
        SELECT
          "b".*,
          "t"."more",
          ROW_NUMBER() OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place",
          COUNT(*) OVER (PARTITION BY "b"."node") AS "allowed"
        FROM (
          SELECT
            "b".*
          FROM "pganon_work"."r0_best_0" AS "b"
          JOIN "pganon_work"."r0_sides_0" AS "s"
            ON "s"."node" = "b"."node"
          WHERE
            "s"."allowed"
        ) AS "b"
        JOIN "pganon_work"."r0_tries_0" AS "t"
          ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr"
      ) AS "p"
      WHERE
        "p"."place" <= 1 AND (
          "p"."allowed" >= 1 OR NOT "p"."more"
        )
    ) AS "b"
      ON "b"."node" = "d"."node"
    LEFT JOIN (
      SELECT
        "t"."node",
        "t"."more"
      FROM (
        SELECT
          "t"."node",
          "t"."more"
        FROM "pganon_work"."r0_tries_0" AS "t"
        WHERE
          "t"."rank" = 1
      ) AS "t"
      WHERE
        NOT EXISTS(
          SELECT
            1
          FROM "pganon_work"."r0_sides_0" AS "s"
          WHERE
            "s"."node" = "t"."node"
        )
    ) AS "t"
      ON "t"."node" = "d"."node"
  ) AS "m"
) AS "z";

-- partition.cut.progress: groups still to be cut, and final ones
SELECT
  "m"."active",
  (
    "m"."active" = 0
  ) AS "finished",
  "m"."final" AS "cut_final0"
FROM (
  SELECT
    COUNT(*) FILTER(WHERE
      "m"."tl" > 0) + COUNT(*) FILTER(WHERE
      "m"."tr" > 0) AS "active",
    COUNT(*) FILTER(WHERE
      "m"."tl" < 0) + COUNT(*) FILTER(WHERE
      "m"."tr" < 0) AS "final"
  FROM "pganon_work"."r0_moves_0" AS "m"
) AS "m";

-- partition.cut.cells: cells of the next groups
CREATE TABLE pganon_work.r0_cells_1 AS
SELECT
  CASE
    WHEN "m"."attr" IS NULL
    OR (
      CASE "m"."attr"
        WHEN 0
        THEN COALESCE(NULLIF("c"."c0", 0), 41) <= "m"."thr"
        WHEN 1
        THEN COALESCE(NULLIF("c"."c1", 0), 41) <= "m"."thr"
      END
    )
    THEN "m"."tl"
    ELSE "m"."tr"
  END AS "node",
  "c"."c0",
  "c"."c1",
  "c"."beside",
  "c"."s0",
  "c"."w"
FROM "pganon_work"."r0_cells_0" AS "c"
JOIN "pganon_work"."r0_moves_0" AS "m"
  ON "m"."node" = "c"."node";

-- partition.cut.done: cells of final groups
CREATE TABLE pganon_work.r0_done_0 AS
SELECT
  -"c"."node" AS "leaf",
  "c"."c0",
  "c"."c1"
FROM "pganon_work"."r0_cells_1" AS "c"
WHERE
  "c"."node" < 0;

-- partition.cut.nodes: groups of the next round
CREATE TABLE pganon_work.r0_nodes_1 AS
SELECT
  CASE WHEN "h"."is_left" THEN "m"."tl" ELSE "m"."tr" END AS "node",
  "m"."again",
  "h"."n",
  "h"."lo0",
  "h"."hi0",
  "h"."n0",
  "h"."b1_0"
FROM "pganon_work"."r0_moves_0" AS "m"
JOIN "pganon_work"."r0_halves_0" AS "h"
  ON "h"."node" = "m"."node" AND "h"."attr" = "m"."attr"
WHERE
  CASE WHEN "h"."is_left" THEN "m"."tl" ELSE "m"."tr" END > 0
UNION ALL
SELECT
  "m"."tl" AS "node",
  "m"."again",
  "h"."n",
  "h"."lo0",
  "h"."hi0",
  "h"."n0",
  "h"."b1_0"
FROM "pganon_work"."r0_moves_0" AS "m"
JOIN "pganon_work"."r0_nodes_0" AS "h"
  ON "h"."node" = "m"."node"
WHERE
  "m"."again";

-- partition.cut.tidy: drop the work tables of this round
DROP TABLE pganon_work.r0_tries_0, pganon_work.r0_ranked_0, pganon_work.r0_best_0, pganon_work.r0_sides_0, pganon_work.r0_halves_0, pganon_work.r0_moves_0, pganon_work.r0_cells_0, pganon_work.r0_nodes_0;

-- partition.gather: all final groups with their cells
CREATE TABLE pganon_work.r0_gathered AS
SELECT
  (
    (
      CAST(0 AS BIGINT) << 32
    ) + CAST("d"."leaf" AS BIGINT) * 2654435761 % 4294967296
  ) AS "gid",
  "d"."c0",
  "d"."c1"
FROM "pganon_work"."r0_done_0" AS "d";

-- partition.tidy: drop what the rounds left
DROP TABLE pganon_work.r0_done_0, pganon_work.r0_cells_1, pganon_work.r0_nodes_1;

-- partition.grouped: the bucket of every record
CREATE TABLE pganon_work.r0_grouped AS
SELECT
  "k"."rid",
  "b"."gid" AS "b0"
FROM "pganon_work"."r0_judged" AS "k"
JOIN (
  SELECT DISTINCT
    "g"."gid",
    "g"."c0",
    "g"."c1"
  FROM "pganon_work"."r0_gathered" AS "g"
) AS "b"
  ON "b"."c0" = "k"."c0" AND "b"."c1" = "k"."c1";

-- partition.tidy: what the buckets were made from
DROP TABLE pganon_work.r0_gathered, pganon_work.r0_judged;

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
  "r"."p0",
  "r"."record",
  "n0"."b0"
FROM (
  SELECT
    "c"."c0",
    "c"."c1",
    "c"."v0",
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
  "x"."x0" AS "group_id",
  "x"."x4" AS "age",
  "x"."x5" AS "zip",
  "x"."x3" AS "cost",
  COUNT(*) AS "count"
FROM (
  SELECT
    "r"."b0" AS "x0",
    "l0"."code" AS "x1",
    "l1"."code" AS "x2",
    "r"."p0" AS "x3",
    CAST("l0"."value" AS integer) AS "x4",
    CAST("l1"."value" AS text) AS "x5"
  FROM "pganon_work"."r0_group_records0" AS "r"
  JOIN "pganon_work"."r0_dict0" AS "l0"
    ON "l0"."code" = "r"."c0"
  JOIN "pganon_work"."r0_dict1" AS "l1"
    ON "l1"."code" = "r"."c1"
  ORDER BY
    "r"."b0",
    "l0"."code",
    "l1"."code",
    "r"."p0",
    CAST("l0"."value" AS integer),
    CAST("l1"."value" AS text)
) AS "x"
GROUP BY
  "x"."x0",
  "x"."x1",
  "x"."x2",
  "x"."x3",
  "x"."x4",
  "x"."x5"
ORDER BY
  "x"."x0",
  "x"."x1",
  "x"."x2",
  "x"."x3";

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
        "g"."p0"
      ) AS text), '') AS "v1"
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
  COUNT(*) AS "count"
FROM (
  SELECT
    "r"."b0" AS "x0",
    "r"."v0" AS "x1"
  FROM "pganon_work"."r0_group_records0" AS "r"
  ORDER BY
    "r"."b0",
    "r"."v0"
) AS "x"
GROUP BY
  "x"."x0",
  "x"."x1"
ORDER BY
  "x"."x0",
  "x"."x1";

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
    CAST(COALESCE(SUM("q"."count"), 0) AS BIGINT) AS "published"
  FROM "pganon_stage"."r0_qit" AS "q"
) AS "r";

-- verify.structure_0: structure
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT "u".* FROM (SELECT "a"."number" FROM (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least" FROM (SELECT "t"."group_id" AS "number", "t"."count" FROM "pganon_stage"."r0_qit" AS "t" ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number") AS "a" FULL JOIN (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least" FROM (SELECT "t"."group_id" AS "number", "t"."count" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number") AS "b" ON "b"."number" = "a"."number" WHERE "a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least", "b"."least") < 1) AS "u") AS "o") AS "b";

-- verify.slicing_l_diversity_1: slicing_l_diversity on disease
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION) AS "measure", "g"."group_id" FROM (SELECT "h"."value", "h"."n", "h"."group_id" FROM (SELECT "r"."value", CAST(SUM("r"."count") AS BIGINT) AS "n", "r"."group_id" FROM (SELECT "t"."group_id", COALESCE('=' || CAST((CAST("t"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", "t"."count" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", COALESCE('=' || CAST((CAST("t"."disease" AS TEXT) COLLATE "C") AS text), '')) AS "r" GROUP BY "r"."group_id", "r"."value") AS "h") AS "g" GROUP BY "g"."group_id") AS "groups";

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
      CAST("t"."count" AS DOUBLE PRECISION) AS "n"
    FROM "pganon_stage"."r0_st" AS "t"
    ORDER BY
      "t"."group_id"
  ) AS "c"
  GROUP BY
    "c"."k0"
) AS "g";

-- verify.informed0: what of disease is learned by who knows which values go together
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

-- verify.related_records: the records of some buckets
CREATE TABLE pganon_work.r0_related_records AS
SELECT
  "r".*,
  DENSE_RANK() OVER (ORDER BY "r"."p0") AS "i0",
  DENSE_RANK() OVER (ORDER BY "r"."v0") AS "s0"
FROM (
  SELECT
    "r"."c0",
    "r"."c1",
    "r"."v0",
    "r"."p0",
    "r"."record"
  FROM "pganon_work"."r0_group_records0" AS "r"
  WHERE
    "r"."b0" <= 10000
  ORDER BY
    "r"."b0",
    HASHTEXTEXTENDED(
      CAST(HASH_RECORD_EXTENDED(
        ROW("r"."c0", "r"."c1", "r"."v0", "r"."p0", "r"."record"),
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
      COALESCE("t"."s0", -1) AS "k3"
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
      END AS "i",
      CASE
        WHEN "x"."k3" IS NOT NULL
        THEN 3
        WHEN "x"."k2" IS NOT NULL
        THEN 2
        WHEN "x"."k1" IS NOT NULL
        THEN 1
        WHEN "x"."k0" IS NOT NULL
        THEN 0
      END AS "j",
      COALESCE("x"."k0", "x"."k1", "x"."k2", "x"."k3") AS "va",
      COALESCE("x"."k3", "x"."k2", "x"."k1", "x"."k0") AS "vb",
      CAST(COUNT(*) AS DOUBLE PRECISION) AS "f"
    FROM "x"
    GROUP BY
      GROUPING SETS (
        ("x"."k0"),
        ("x"."k1"),
        ("x"."k2"),
        ("x"."k3"),
        ("x"."k0", "x"."k3"),
        ("x"."k1", "x"."k3"),
        ("x"."k2", "x"."k3")
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
CREATE OR REPLACE VIEW "published"."visits" AS SELECT "q"."group_id", "q"."age", "q"."zip", "q"."cost", "t0"."disease", CAST("q"."count" AS DECIMAL) * "t0"."count" / "s0"."n" AS "expected" FROM "pganon_data"."r0_qit" AS "q" JOIN "pganon_data"."r0_st" AS "t0" ON "t0"."group_id" = "q"."group_id" JOIN (SELECT "u"."group_id", SUM("u"."count") AS "n" FROM "pganon_data"."r0_st" AS "u" GROUP BY "u"."group_id") AS "s0" ON "s0"."group_id" = "q"."group_id";
CREATE OR REPLACE VIEW "published"."visits_qit" AS SELECT "t"."group_id", "t"."age", "t"."zip", "t"."cost", "t"."count" FROM "pganon_data"."r0_qit" AS "t";
CREATE OR REPLACE VIEW "published"."visits_st" AS SELECT "t"."group_id", "t"."disease", "t"."count" FROM "pganon_data"."r0_st" AS "t";
