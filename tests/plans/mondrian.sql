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

-- partition.cells: equal quasi-identifiers collapse into weighted cells
CREATE TABLE pganon_work.r0_cells AS
SELECT
  CAST(COUNT(*) AS integer) AS "w",
  CAST((
    1
  ) AS integer) AS "node",
  "r"."c0",
  "r"."c1",
  "r"."s0"
FROM "pganon_work"."r0_coded" AS "r"
GROUP BY
  "r"."c0",
  "r"."c1",
  "r"."s0";

-- partition.fit: every part measured as one class, the best it can reach
CREATE TABLE pganon_work.r0_fit AS
SELECT
  "m"."node",
  0 AS "requirement",
  CAST("m"."measure" AS DOUBLE PRECISION) AS "measure",
  (
    "m"."measure" >= 4
  ) AS "holds"
FROM (
  SELECT
    CAST(SUM("g"."n") AS BIGINT) AS "measure",
    "g"."node"
  FROM (
    SELECT
      "h"."value",
      "h"."n",
      "h"."node"
    FROM (
      SELECT
        "c"."node",
        0 AS "value",
        CAST(SUM("c"."w") AS BIGINT) AS "n"
      FROM "pganon_work"."r0_cells" AS "c"
      GROUP BY
        "c"."node",
        2
    ) AS "h"
  ) AS "g"
  GROUP BY
    "g"."node"
) AS "m"
UNION ALL
SELECT
  "m"."node",
  1 AS "requirement",
  CAST("m"."measure" AS DOUBLE PRECISION) AS "measure",
  (
    "m"."measure" >= 2
  ) AS "holds"
FROM (
  SELECT
    COUNT(*) AS "measure",
    "g"."node"
  FROM (
    SELECT
      "h"."value",
      "h"."n",
      "h"."node"
    FROM (
      SELECT
        "c"."node",
        "c"."s0" AS "value",
        CAST(SUM("c"."w") AS BIGINT) AS "n"
      FROM "pganon_work"."r0_cells" AS "c"
      GROUP BY
        "c"."node",
        2
    ) AS "h"
  ) AS "g"
  GROUP BY
    "g"."node"
) AS "m";

-- partition.feasible: whether the requirements can be reached at all
SELECT
  COUNT(DISTINCT "f"."node") AS "parts",
  COUNT(DISTINCT "f"."node") FILTER(WHERE
    NOT "f"."holds") AS "failing_parts",
  MIN("f"."measure") FILTER(WHERE
    "f"."requirement" = 0) AS "reached0",
  BOOL_OR(NOT "f"."holds" AND "f"."requirement" = 0) AS "missed0",
  MIN("f"."measure") FILTER(WHERE
    "f"."requirement" = 1) AS "reached1",
  BOOL_OR(NOT "f"."holds" AND "f"."requirement" = 1) AS "missed1",
  (
    SELECT
      CAST(COALESCE(SUM("c"."w"), 0) AS BIGINT)
    FROM "pganon_work"."r0_cells" AS "c"
    WHERE
      EXISTS(
        SELECT
          1
        FROM "pganon_work"."r0_fit" AS "f"
        WHERE
          "f"."node" = "c"."node" AND NOT "f"."holds"
      )
  ) AS "failing_records"
FROM "pganon_work"."r0_fit" AS "f";

-- partition.released_cells: the cells that are released
CREATE TABLE pganon_work.r0_cells_0 AS
SELECT
  CAST((
    ROW_NUMBER() OVER ()
  ) AS INT) AS "cell",
  "p".*
FROM (
  SELECT
    CAST(SUM("c"."w") AS integer) AS "w",
    CAST(COUNT(*) AS INT) AS "d0",
    "c"."node",
    "c"."c0",
    "c"."c1"
  FROM (
    SELECT
      "c".*
    FROM "pganon_work"."r0_cells" AS "c"
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM "pganon_work"."r0_fit" AS "f"
        WHERE
          "f"."node" = "c"."node" AND NOT "f"."holds"
      )
  ) AS "c"
  GROUP BY
    "c"."node",
    "c"."c0",
    "c"."c1"
) AS "p";

-- partition.cellvalues0: values of disease in every cell
CREATE TABLE pganon_work.r0_cellvalues0 AS
SELECT
  "x".*
FROM (
  SELECT
    "v".*,
    ROW_NUMBER() OVER (PARTITION BY "v"."cell") AS "place"
  FROM (
    SELECT
      CAST(SUM("c"."w") AS integer) AS "w",
      "p"."cell",
      "c"."s0"
    FROM "pganon_work"."r0_cells" AS "c"
    JOIN "pganon_work"."r0_cells_0" AS "p"
      ON "p"."node" = "c"."node" AND "p"."c0" = "c"."c0" AND "p"."c1" = "c"."c1"
    GROUP BY
      "p"."cell",
      "c"."s0"
  ) AS "v"
) AS "x"
WHERE
  "x"."place" <= 2;

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

-- partition.suppressed: records left out, held against the limit
SELECT
  CAST(COALESCE(SUM("t"."n"), 0) AS BIGINT) AS "released",
  40 - CAST(COALESCE(SUM("t"."n"), 0) AS BIGINT) AS "suppressed"
FROM "pganon_work"."r0_nodes_0" AS "t";

-- partition.tidy: cells of all parts
DROP TABLE pganon_work.r0_cells, pganon_work.r0_fit;

-- partition.cut: cut every group where both sides keep all requirements; repeated

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
      WHEN "r"."n" < 16
      THEN LEAST("r"."available", 12)
      ELSE 3
    END AS "tried"
  FROM (
    SELECT
      "l"."node",
      "l"."n",
      "l"."again",
      "a"."attr",
      "a"."level",
      CAST((
        ROW_NUMBER() OVER (PARTITION BY "l"."node" ORDER BY "a"."loss" DESC, "a"."attr")
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
      ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN -"g"."w" END, "g"."v"
    )
  ) AS INT) AS "pos",
  CAST((
    SUM("g"."w") OVER (
      PARTITION BY "g"."node", "g"."attr"
      ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN -"g"."w" END, "g"."v"
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
          "c"."c0"
        ) AS integer)
        WHEN 1
        THEN CAST((
          "c"."c1"
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

-- partition.cut.best: the cut nearest to balance
CREATE TABLE pganon_work.r0_best_0 AS
SELECT
  "l"."node",
  "l"."attr",
  "t"."level",
  "t"."rank",
  "l"."cum",
  "l"."thr",
  "l"."mask"
FROM (
  SELECT
    "b"."node",
    "b"."attr",
    MAX("r"."cum") AS "cum",
    MAX("r"."v") AS "thr",
    BIT_OR(CAST(1 AS BIGINT) << (
      "r"."v" & 63
    )) AS "mask"
  FROM (
    SELECT
      "a"."node",
      "a"."attr",
      CAST((
        MIN((
          ABS(2 * "a"."cum" - "a"."n") << 31
        ) + "a"."pos") & (
          (
            CAST(1 AS BIGINT) << 31
          ) - 1
        )
      ) AS INT) AS "pos"
    FROM (
      SELECT
        "r"."node",
        "r"."attr",
        "r"."n",
        "r"."cum",
        "r"."pos"
      FROM "pganon_work"."r0_ranked_0" AS "r"
      WHERE
        "r"."cum" >= 4 AND "r"."n" - "r"."cum" >= 4
    ) AS "a"
    GROUP BY
      "a"."node",
      "a"."attr"
  ) AS "b"
  JOIN "pganon_work"."r0_ranked_0" AS "r"
    ON "r"."node" = "b"."node" AND "r"."attr" = "b"."attr" AND "r"."pos" <= "b"."pos"
  GROUP BY
    "b"."node",
    "b"."attr"
) AS "l"
JOIN "pganon_work"."r0_tries_0" AS "t"
  ON "t"."node" = "l"."node" AND "t"."attr" = "l"."attr";

-- partition.cut.certain0: cuts with a cell of values enough on each side
CREATE TABLE pganon_work.r0_certain0_0 AS
SELECT
  "m"."node",
  "m"."attr"
FROM (
  SELECT
    "p"."node",
    "p"."attr",
    "p"."side",
    MAX("p"."d") AS "measure"
  FROM (
    SELECT
      "b"."node",
      "b"."attr",
      CAST((
        CASE "b"."attr"
          WHEN 0
          THEN "c"."c0" <= "b"."thr"
          WHEN 1
          THEN (
            "b"."mask" >> "c"."c1"
          ) & 1 = 1
        END
      ) AS INT) AS "side",
      "c"."d0" AS "d"
    FROM "pganon_work"."r0_cells_0" AS "c"
    JOIN "pganon_work"."r0_best_0" AS "b"
      ON "b"."node" = "c"."node"
  ) AS "p"
  GROUP BY
    "p"."node",
    "p"."attr",
    "p"."side"
) AS "m"
GROUP BY
  "m"."node",
  "m"."attr"
HAVING
  BOOL_AND((
    "m"."measure" >= 2
  )) AND COUNT(*) = 2;

-- partition.cut.sides0: sensitive values on both sides
CREATE TABLE pganon_work.r0_sides0_0 AS
SELECT
  "p"."node",
  "p"."attr",
  "p"."side",
  "v"."s0" AS "value",
  CAST(SUM("v"."w") AS BIGINT) AS "n"
FROM (
  SELECT
    "c"."cell",
    "b"."node",
    "b"."attr",
    CAST((
      CASE "b"."attr"
        WHEN 0
        THEN "c"."c0" <= "b"."thr"
        WHEN 1
        THEN (
          "b"."mask" >> "c"."c1"
        ) & 1 = 1
      END
    ) AS INT) AS "side"
  FROM "pganon_work"."r0_cells_0" AS "c"
  JOIN (
    SELECT
      "b".*
    FROM "pganon_work"."r0_best_0" AS "b"
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM "pganon_work"."r0_certain0_0" AS "s"
        WHERE
          "s"."node" = "b"."node" AND "s"."attr" = "b"."attr"
      )
  ) AS "b"
    ON "b"."node" = "c"."node"
) AS "p"
JOIN "pganon_work"."r0_cellvalues0" AS "v"
  ON "v"."cell" = "p"."cell"
GROUP BY
  "p"."node",
  "p"."attr",
  "p"."side",
  "v"."s0";

-- partition.cut.checked: whether both sides hold
CREATE TABLE pganon_work.r0_checked_0 AS
SELECT
  "b"."node",
  "b"."attr",
  "b"."level",
  (
    (
      "q0"."node" IS NOT NULL
    ) OR "s0"."node" IS NOT NULL
  ) AS "holds"
FROM "pganon_work"."r0_best_0" AS "b"
LEFT JOIN "pganon_work"."r0_certain0_0" AS "s0"
  ON "s0"."node" = "b"."node" AND "s0"."attr" = "b"."attr"
LEFT JOIN (
  SELECT
    "m"."node",
    "m"."attr"
  FROM (
    SELECT
      COUNT(*) AS "measure",
      "g"."node",
      "g"."attr",
      "g"."side"
    FROM (
      SELECT
        "h"."value",
        "h"."n",
        "h"."node",
        "h"."attr",
        "h"."side"
      FROM "pganon_work"."r0_sides0_0" AS "h"
    ) AS "g"
    GROUP BY
      "g"."node",
      "g"."attr",
      "g"."side"
  ) AS "m"
  GROUP BY
    "m"."node",
    "m"."attr"
  HAVING
    BOOL_AND((
      "m"."measure" >= 2
    )) AND COUNT(*) = 2
) AS "q0"
  ON "q0"."node" = "b"."node" AND "q0"."attr" = "b"."attr";

-- partition.cut.hist0: records per position and sensitive value
CREATE TABLE pganon_work.r0_hist0_0 AS
SELECT
  "x"."node",
  "x"."attr",
  "r"."pos",
  "s"."s0" AS "value",
  CAST(SUM("s"."w") AS BIGINT) AS "w"
FROM (
  SELECT
    "c"."node",
    "c"."cell",
    "k"."attr",
    CASE "k"."attr"
      WHEN 0
      THEN CAST((
        "c"."c0"
      ) AS integer)
      WHEN 1
      THEN CAST((
        "c"."c1"
      ) AS integer)
    END AS "v"
  FROM "pganon_work"."r0_cells_0" AS "c"
  JOIN (
    SELECT
      "k".*
    FROM "pganon_work"."r0_checked_0" AS "k"
    WHERE
      NOT "k"."holds"
  ) AS "k"
    ON "k"."node" = "c"."node"
) AS "x"
JOIN "pganon_work"."r0_ranked_0" AS "r"
  ON "r"."node" = "x"."node" AND "r"."attr" = "x"."attr" AND "r"."v" = "x"."v"
JOIN "pganon_work"."r0_cellvalues0" AS "s"
  ON "s"."cell" = "x"."cell"
GROUP BY
  "x"."node",
  "x"."attr",
  "r"."pos",
  "s"."s0";

-- partition.cut.searched: the nearest cut that holds
CREATE TABLE pganon_work.r0_searched_0 AS
SELECT
  "l"."node",
  "l"."attr",
  "t"."level",
  "t"."rank",
  "l"."cum",
  "l"."thr",
  "l"."mask"
FROM (
  SELECT
    "b"."node",
    "b"."attr",
    MAX("r"."cum") AS "cum",
    MAX("r"."v") AS "thr",
    BIT_OR(CAST(1 AS BIGINT) << (
      "r"."v" & 63
    )) AS "mask"
  FROM (
    SELECT
      "a"."node",
      "a"."attr",
      CAST((
        MIN((
          ABS(2 * "a"."cum" - "a"."n") << 31
        ) + "a"."pos") & (
          (
            CAST(1 AS BIGINT) << 31
          ) - 1
        )
      ) AS INT) AS "pos"
    FROM (
      SELECT
        "r"."node",
        "r"."attr",
        "r"."n",
        "r"."cum",
        "r"."pos"
      FROM "pganon_work"."r0_ranked_0" AS "r"
      JOIN (
        SELECT
          "c"."node",
          "c"."attr",
          "c"."pos"
        FROM (
          SELECT
            "r"."node",
            "r"."attr",
            "r"."pos",
            SUM("e"."begins") OVER (PARTITION BY "r"."node", "r"."attr" ORDER BY "r"."pos") AS "on_left",
            SUM("e"."ends") OVER (PARTITION BY "r"."node", "r"."attr") - COALESCE(SUM("e"."ends") OVER (PARTITION BY "r"."node", "r"."attr" ORDER BY "r"."pos"), 0) AS "on_right"
          FROM "pganon_work"."r0_ranked_0" AS "r"
          JOIN (
            SELECT
              "p"."node",
              "p"."attr"
            FROM "pganon_work"."r0_hist0_0" AS "p"
            GROUP BY
              "p"."node",
              "p"."attr"
          ) AS "k"
            ON "k"."node" = "r"."node" AND "k"."attr" = "r"."attr"
          LEFT JOIN (
            SELECT
              "s"."node",
              "s"."attr",
              "e"."pos",
              SUM("e"."begins") AS "begins",
              SUM("e"."ends") AS "ends"
            FROM (
              SELECT
                "p"."node",
                "p"."attr",
                MIN("p"."pos") AS "first",
                MAX("p"."pos") AS "last"
              FROM "pganon_work"."r0_hist0_0" AS "p"
              GROUP BY
                "p"."node",
                "p"."attr",
                "p"."value"
            ) AS "s"
            CROSS JOIN LATERAL (
              VALUES
                ("s"."first", 1, 0),
                ("s"."last", 0, 1)
            ) AS "e"("pos", "begins", "ends")
            GROUP BY
              "s"."node",
              "s"."attr",
              "e"."pos"
          ) AS "e"
            ON "e"."node" = "r"."node" AND "e"."attr" = "r"."attr" AND "e"."pos" = "r"."pos"
        ) AS "c"
        WHERE
          (
            "c"."on_left" >= 2
          ) AND (
            "c"."on_right" >= 2
          )
      ) AS "q0"
        ON "q0"."node" = "r"."node" AND "q0"."attr" = "r"."attr" AND "q0"."pos" = "r"."pos"
      JOIN (
        SELECT
          "k"."node",
          "k"."attr"
        FROM "pganon_work"."r0_checked_0" AS "k"
        WHERE
          NOT "k"."holds"
      ) AS "k"
        ON "k"."node" = "r"."node" AND "k"."attr" = "r"."attr"
      WHERE
        "r"."cum" >= 4 AND "r"."n" - "r"."cum" >= 4
    ) AS "a"
    GROUP BY
      "a"."node",
      "a"."attr"
  ) AS "b"
  JOIN "pganon_work"."r0_ranked_0" AS "r"
    ON "r"."node" = "b"."node" AND "r"."attr" = "b"."attr" AND "r"."pos" <= "b"."pos"
  GROUP BY
    "b"."node",
    "b"."attr"
) AS "l"
JOIN "pganon_work"."r0_tries_0" AS "t"
  ON "t"."node" = "l"."node" AND "t"."attr" = "l"."attr";

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
  BIT_OR("r"."b1_0") AS "b1_0",
  SUM("r"."w" * 0) AS "promised"
FROM "pganon_work"."r0_ranked_0" AS "r"
JOIN (
  SELECT
    "p"."node",
    "p"."attr",
    "p"."level",
    "p"."cum",
    "p"."thr",
    "p"."mask"
  FROM (
    SELECT
      "b".*,
      "t"."more",
      ROW_NUMBER() OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place",
      COUNT(*) OVER (PARTITION BY "b"."node") AS "allowed"
    FROM (
      SELECT
        "u".*
      FROM (
        SELECT
          "h".*
        FROM (
          SELECT
            "b"."node",
            "b"."attr",
            "b"."level",
            "b"."rank",
            "b"."cum",
            "b"."thr",
            "b"."mask"
          FROM "pganon_work"."r0_best_0" AS "b"
          JOIN "pganon_work"."r0_checked_0" AS "k"
            ON "k"."node" = "b"."node" AND "k"."attr" = "b"."attr"
          WHERE
            "k"."holds"
        ) AS "h"
        UNION ALL
        SELECT
          "f".*
        FROM (
          SELECT
            "f"."node",
            "f"."attr",
            "f"."level",
            "f"."rank",
            "f"."cum",
            "f"."thr",
            "f"."mask"
          FROM "pganon_work"."r0_searched_0" AS "f"
        ) AS "f"
      ) AS "u"
    ) AS "b"
    JOIN "pganon_work"."r0_tries_0" AS "t"
      ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr"
  ) AS "p"
  WHERE
    "p"."place" <= 3 AND (
      "p"."allowed" >= 3 OR NOT "p"."more"
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
          "z"."attr" IS NOT NULL AND "z"."nl" >= 8
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
      CASE WHEN "z"."nr" >= 8 THEN 1 ELSE -1 END
    ) * 2 * "z"."number"
  ) AS INT) AS "tr",
  "z"."level",
  "z"."cum",
  "z"."thr",
  "z"."mask"
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
      "b"."level",
      "b"."cum",
      "b"."thr",
      "b"."mask"
    FROM "pganon_work"."r0_nodes_0" AS "d"
    LEFT JOIN (
      SELECT
        "b"."node",
        "b"."attr",
        "b"."level",
        "b"."cum",
        "b"."thr",
        "b"."mask"
      FROM (
        SELECT
          "u".*
        FROM (
          SELECT
            "h".*
          FROM (
            SELECT
              "b"."node",
              "b"."attr",
              "b"."level",
              "b"."rank",
              "b"."cum",
              "b"."thr",
              "b"."mask"
            FROM "pganon_work"."r0_best_0" AS "b"
            JOIN "pganon_work"."r0_checked_0" AS "k"
              ON "k"."node" = "b"."node" AND "k"."attr" = "b"."attr"
            WHERE
              "k"."holds"
          ) AS "h"
          UNION ALL
          SELECT
            "f".*
          FROM (
            SELECT
              "f"."node",
              "f"."attr",
              "f"."level",
              "f"."rank",
              "f"."cum",
              "f"."thr",
              "f"."mask"
            FROM "pganon_work"."r0_searched_0" AS "f"
          ) AS "f"
        ) AS "u"
      ) AS "b"
      JOIN (
        SELECT DISTINCT ON ("l"."node")
          "l"."node",
          "l"."attr"
        FROM (
          SELECT
            "e"."node",
            "e"."attr",
            ROUND(
              CAST(SUM(
                "e"."n" * (
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
                ) + "e"."promised"
              ) AS DECIMAL),
              9
            ) AS "loss"
          FROM "pganon_work"."r0_halves_0" AS "e"
          GROUP BY
            "e"."node",
            "e"."attr"
        ) AS "l"
        ORDER BY
          "l"."node",
          "l"."loss",
          "l"."attr"
      ) AS "l"
        ON "l"."node" = "b"."node" AND "l"."attr" = "b"."attr"
    ) AS "b"
      ON "b"."node" = "d"."node"
    LEFT JOIN (
      SELECT
        "t"."node",
        "t"."more"
      FROM "pganon_work"."r0_tries_0" AS "t"
      WHERE
        "t"."rank" = 1
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
        THEN "c"."c0" <= "m"."thr"
        WHEN 1
        THEN (
          "m"."mask" >> "c"."c1"
        ) & 1 = 1
      END
    )
    THEN "m"."tl"
    ELSE "m"."tr"
  END AS "node",
  "c"."c0",
  "c"."c1",
  "c"."cell",
  "c"."d0",
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
DROP TABLE pganon_work.r0_tries_0, pganon_work.r0_ranked_0, pganon_work.r0_best_0, pganon_work.r0_certain0_0, pganon_work.r0_sides0_0, pganon_work.r0_checked_0, pganon_work.r0_hist0_0, pganon_work.r0_searched_0, pganon_work.r0_halves_0, pganon_work.r0_cells_0, pganon_work.r0_nodes_0;

-- partition.gather: all final groups with their cells
CREATE TABLE pganon_work.r0_grouped AS
SELECT
  (
    (
      CAST(0 AS BIGINT) << 32
    ) + CAST("d"."leaf" AS BIGINT) * 2654435761 % 4294967296
  ) AS "gid",
  "d"."c0",
  "d"."c1"
FROM "pganon_work"."r0_done_0" AS "d";

-- partition.cuts: the cuts by values, for people who come later
CREATE TABLE pganon_stage.r0_cuts AS
SELECT
  (
    CAST(0 AS BIGINT) << 32
  ) + CAST("m"."node" AS BIGINT) * 2654435761 % 4294967296 AS "node",
  0 AS "round",
  ARRAY_REMOVE(CAST(ARRAY[] AS TEXT[]), NULL) AS "nulls",
  CAST((
    CASE "m"."attr" WHEN 0 THEN 'age' WHEN 1 THEN 'zip' END
  ) AS text) AS "column_name",
  CAST((
    CASE "m"."attr"
      WHEN 0
      THEN CAST("d0"."value" AS TEXT)
      WHEN 1
      THEN CAST(NULL AS TEXT)
    END
  ) AS text) AS "threshold",
  CAST((
    CASE "m"."attr"
      WHEN 0
      THEN CAST(NULL AS TEXT[])
      WHEN 1
      THEN (
        SELECT
          ARRAY_AGG(CAST("d"."value" AS TEXT) ORDER BY "d"."code")
        FROM "pganon_work"."r0_dict1" AS "d"
        WHERE
          (
            (
              "m"."mask" >> "d"."code"
            ) & 1 = 1
          )
      )
    END
  ) AS text[]) AS "members",
  CAST((
    CASE "m"."attr" WHEN 0 THEN CAST(NULL AS INT) WHEN 1 THEN CAST(NULL AS INT) END
  ) AS integer) AS "level",
  CASE
    WHEN "m"."tl" > 0
    THEN (
      (
        CAST(1 AS BIGINT) << 32
      ) + CAST("m"."tl" AS BIGINT) * 2654435761 % 4294967296
    )
    ELSE -(
      (
        (
          CAST(0 AS BIGINT) << 32
        ) + CAST((
          -"m"."tl"
        ) AS BIGINT) * 2654435761 % 4294967296
      )
    )
  END AS "left_node",
  CASE
    WHEN "m"."tr" > 0
    THEN (
      (
        CAST(1 AS BIGINT) << 32
      ) + CAST("m"."tr" AS BIGINT) * 2654435761 % 4294967296
    )
    ELSE -(
      (
        (
          CAST(0 AS BIGINT) << 32
        ) + CAST((
          -"m"."tr"
        ) AS BIGINT) * 2654435761 % 4294967296
      )
    )
  END AS "right_node"
FROM "pganon_work"."r0_moves_0" AS "m"
LEFT JOIN "pganon_work"."r0_dict0" AS "d0"
  ON "m"."attr" = 0 AND "m"."thr" = "d0"."code" AND "d0"."code" > 0;

-- partition.tidy: drop what the rounds left
DROP TABLE pganon_work.r0_moves_0, pganon_work.r0_done_0, pganon_work.r0_cells_1, pganon_work.r0_nodes_1, pganon_work.r0_cellvalues0;

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
  "g"."c1"
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
  ON "g"."c0" = "c"."c0" AND "g"."c1" = "c"."c1"
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
        ON "g"."c0" = "c"."c0" AND "g"."c1" = "c"."c1"
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
            ON "g"."c0" = "c"."c0" AND "g"."c1" = "c"."c1"
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
        "m"."class_id" AS "grp",
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
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records', 'pganon_stage.r0_members', 'pganon_stage.r0_cuts', 'pganon_stage.r0_histogram', 'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

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
          CAST(COALESCE(SUM("k"."more"), 0) AS BIGINT) AS "repeated"
        FROM (
          SELECT
            COUNT(*) - 1 AS "more"
          FROM (
            SELECT
              "t"."c0",
              "t"."c1"
            FROM "pganon_work"."r0_grouped_classes" AS "t"
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
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 4)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id" FROM (SELECT "r"."class_id", 1 AS "value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id", 2) AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.distinct_l_diversity_2: distinct_l_diversity on disease
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT COUNT(*) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id" FROM (SELECT "r"."class_id", COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id", 2) AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

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
ALTER TABLE "pganon_stage"."r0_cuts" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private";
CREATE OR REPLACE VIEW "published"."visits" AS SELECT "c"."class_id", "c"."age", "c"."zip", "c"."zip_null", "r"."disease", "r"."cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";
CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "c"."class_id" AS "class_id", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS "age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";
