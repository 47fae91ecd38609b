-- partition.absorbed: records left over join the cluster that loses least
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_absorbed AS SELECT a.* FROM pganon.qs_absorb('pganon_work.r0_open',
'pganon_work.r0_formed', 'pganon_work.r0_points', '{0,1}'::int2[]::int[]) AS a;

-- partition.added: digits of all values, which put cells in a line
-- [one_dimensional]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0", (SELECT ARRAY_AGG(COALESCE("d"."n", 0) ORDER BY "x"."code")
FROM GENERATE_SERIES(0, 40) AS "x"("code") LEFT JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" =
"x"."code") AS "n0", (SELECT ARRAY_AGG(COALESCE("d"."n", 0) ORDER BY "x"."code") FROM
GENERATE_SERIES(0, 40) AS "x"("code") LEFT JOIN "pganon_work"."r0_dict1" AS "d" ON "d"."code" =
"x"."code") AS "n1"; SELECT 1 AS "nothing"; COPY pganon_work.r0_added (attribute, word, code, adds)
FROM STDIN;

-- partition.assigned: the cluster of every record
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_assigned AS SELECT ((CAST("x"."block" AS BIGINT) << 32) +
CAST("x"."cluster" AS BIGINT) * 2654435761 % 4294967296) AS "gid", "x"."cell", CAST(SUM("x"."n") AS
BIGINT) AS "n" FROM (SELECT * FROM (SELECT "f".* FROM "pganon_work"."r0_formed" AS "f" WHERE
"f"."cluster" > 0 UNION ALL SELECT "a".* FROM "pganon_work"."r0_absorbed" AS "a") AS "u") AS "x"
GROUP BY 1, "x"."cell";

-- partition.association: how much attributes have to do with each other
-- [slicing]
SELECT CAST(COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("v"."i", "v"."j", TRIM_SCALE(ROUND(CAST("v"."value"
AS DECIMAL), 9))) ORDER BY "v"."i", "v"."j"), CAST('[]' AS JSONB)) AS text) AS "association" FROM
(WITH "e" AS MATERIALIZED (SELECT 1 AS "n", (SELECT CASE WHEN COUNT(*) > 32 THEN ARRAY_REMOVE(ARRAY[
MIN("m"."code") FILTER(WHERE "m"."middle" >= 1 * DIV("m"."n", 4) + LEAST(1, "m"."n" % 4)),
MIN("m"."code") FILTER(WHERE "m"."middle" >= 2 * DIV("m"."n", 4) + LEAST(2, "m"."n" % 4)),
MIN("m"."code") FILTER(WHERE "m"."middle" >= 3 * DIV("m"."n", 4) + LEAST(3, "m"."n" % 4)) ], NULL)
END AS "starts" FROM (SELECT "v"."code", SUM("v"."f") OVER (ORDER BY "v"."code") - "v"."f" +
("v"."f" - 1) / 2 AS "middle", SUM("v"."f") OVER () AS "n" FROM (SELECT NULLIF("t"."c0", 0) AS
"code", COUNT(*) AS "f" FROM "pganon_work"."r0_coded" AS "t" WHERE CASE WHEN "t"."c0" > 0 THEN
((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code"
> 0)["t"."c0"]) END IS NOT NULL GROUP BY NULLIF("t"."c0", 0)) AS "v") AS "m") AS "e0"), "x" AS
MATERIALIZED (SELECT CASE WHEN "e"."e0" IS NULL THEN COALESCE(NULLIF("t"."c0", 0), -1) WHEN CASE
WHEN "t"."c0" > 0 THEN ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0)["t"."c0"]) END IS NULL THEN -1 ELSE WIDTH_BUCKET(NULLIF("t"."c0", 0),
"e"."e0") END AS "k0", COALESCE(NULLIF("t"."c1", 0), -1) AS "k1", COALESCE("t"."s0", -1) AS "k2"
FROM "pganon_work"."r0_coded" AS "t" CROSS JOIN "e"), "g" AS MATERIALIZED (SELECT CASE WHEN "x"."k0"
IS NOT NULL THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k2" IS NOT NULL THEN 2 END AS "i",
CASE WHEN "x"."k2" IS NOT NULL THEN 2 WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k0" IS NOT NULL
THEN 0 END AS "j", COALESCE("x"."k0", "x"."k1", "x"."k2") AS "va", COALESCE("x"."k2", "x"."k1",
"x"."k0") AS "vb", CAST(COUNT(*) AS DOUBLE PRECISION) AS "f" FROM "x" GROUP BY GROUPING SETS
(("x"."k0"), ("x"."k1"), ("x"."k2"), ("x"."k0", "x"."k1"), ("x"."k0", "x"."k2"), ("x"."k1",
"x"."k2"))), "d" AS MATERIALIZED (SELECT "g"."i", CAST(COUNT(*) AS DOUBLE PRECISION) AS
"distinct_values", SUM("g"."f") AS "n" FROM "g" WHERE "g"."i" = "g"."j" GROUP BY "g"."i"), "s" AS
MATERIALIZED (SELECT "g"."i", "g"."j", SUM("g"."f" * "g"."f" / ("a"."f" * "b"."f")) - 1 AS "phi2"
FROM "g" JOIN "g" AS "a" ON "a"."i" = "g"."i" AND "a"."j" = "g"."i" AND "a"."va" = "g"."va" JOIN "g"
AS "b" ON "b"."i" = "g"."j" AND "b"."j" = "g"."j" AND "b"."vb" = "g"."vb" WHERE "g"."i" < "g"."j"
GROUP BY "g"."i", "g"."j") SELECT "s"."i", "s"."j", CASE WHEN LEAST("a"."distinct_values",
"b"."distinct_values") < 2 THEN 0 ELSE LEAST(1, GREATEST(0, "s"."phi2" /
(LEAST("a"."distinct_values", "b"."distinct_values") - 1))) END AS "value" FROM "s" JOIN "d" AS "a"
ON "a"."i" = "s"."i" JOIN "d" AS "b" ON "b"."i" = "s"."j") AS "v";

-- partition.begun0: what is near as seen from what cells begin with
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_begun0 AS SELECT "k"."c", "k"."k", "b"."c0", "b"."c1" FROM (SELECT
DISTINCT "q"."c0", "q"."c1" FROM "pganon_work"."r0_qi_cells" AS "q") AS "b" JOIN
"pganon_work"."r0_neighbours0" AS "k" ON "k"."q" = "b"."c0";

-- partition.block_cells: the cells of every block, in random order
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_cells AS SELECT "n"."cell", "n"."display", "n"."w", DENSE_RANK() OVER
(ORDER BY "b"."gid") - 1 AS "block", "n"."c0", "n"."c1" FROM (SELECT "d"."display", "d"."w",
ROW_NUMBER() OVER (ORDER BY "d"."draw", "d"."c0", "d"."c1") AS "cell", "d"."c0", "d"."c1" FROM
(SELECT "p"."display", COUNT(*) AS "w", "p"."c0", "p"."c1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST('cells' AS text), "p"."display", "p"."c0",
"p"."c1"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id"
= 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS "draw" FROM (SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1",
"c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0", "c"."o1" FROM
"pganon_work"."r0_coded" AS "c") AS "p" GROUP BY "p"."display", "p"."c0", "p"."c1") AS "d") AS "n"
JOIN "pganon_work"."r0_blocks" AS "b" ON "b"."display" = "n"."display" AND "b"."c0" = "n"."c0" AND
"b"."c1" = "n"."c1";

-- partition.block_sizes: number and size of the blocks
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) AS "blocks", MAX("b"."cells") AS "largest_block" FROM (SELECT COUNT(*) AS "cells"
FROM "pganon_work"."r0_points" AS "p" GROUP BY "p"."block") AS "b";

-- partition.block_values: sensitive values of every block
-- [beta_primacy]
CREATE TABLE pganon_work.r0_block_values AS SELECT "b"."block", "b"."value", COUNT(*) AS "n" FROM
"pganon_work"."r0_blocked" AS "b" GROUP BY "b"."block", "b"."value";

-- partition.blocked: records by block
-- [slamsa]
CREATE TABLE pganon_work.r0_blocked AS SELECT "n"."block", "p"."rid", "p"."c0" AS "c0", "p"."c1" AS
"c1", "p"."s0" AS "s0", "p"."s1" AS "s1" FROM "pganon_work"."r0_placed" AS "p" JOIN (SELECT
"m"."stratum", "m"."piece", CAST((DENSE_RANK() OVER (ORDER BY "m"."stratum", "m"."block") - 1) AS
INT) AS "block" FROM "pganon_work"."r0_merged" AS "m") AS "n" ON "n"."stratum" = "p"."stratum" AND
"n"."piece" = "p"."piece";

-- partition.blocked: records on the curve, in blocks
-- [sloms]
CREATE TABLE pganon_work.r0_blocked AS SELECT CAST((CAST(("o"."place" - 1) AS BIGINT) * 1 / 1000) AS
INT) AS "block", "o"."rid", "o"."c0", "o"."c1" FROM (SELECT "h"."rid", "h"."c0", "h"."c1",
ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."rid") AS "place" FROM (WITH "pass0" AS (SELECT
CAST("p"."y0" AS bigint) AS "x0", CAST("p"."y1" AS bigint) AS "x1", "p"."rid" AS "k0", "p"."c0" AS
"k1", "p"."c1" AS "k2" FROM (SELECT "c".*, (CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END)
AS BIGINT) * 126 + (-86)) / 80 AS "y0", (CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END) AS
BIGINT) * 126 + (-86)) / 80 AS "y1" FROM (SELECT "c"."rid", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_buckets0_0" AS "b" ON "b"."rid" = "c"."rid")
AS "c") AS "p" OFFSET '0'), "pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN "x1" ELSE (~CASE WHEN
"x0" & 32 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0 THEN CASE WHEN "x0" &
32 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) | (("x1" & 32) << 5) AS
"w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass0" OFFSET '0'), "pass2" AS (SELECT CASE
WHEN "x1" & 16 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0",
CASE WHEN "x1" & 16 = 0 THEN CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS
"x1", "w0" | (("x0" & 16) << 5) | (("x1" & 16) << 4) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS
"k2" FROM "pass1" OFFSET '0'), "pass3" AS (SELECT CASE WHEN "x1" & 8 = 0 THEN "x1" ELSE (~CASE WHEN
"x0" & 8 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 8 = 0 THEN CASE WHEN "x0" & 8
= 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 8) << 4) | (("x1" & 8) << 3)
AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass2" OFFSET '0'), "pass4" AS (SELECT CASE
WHEN "x1" & 4 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0",
CASE WHEN "x1" & 4 = 0 THEN CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1",
"w0" | (("x0" & 4) << 3) | (("x1" & 4) << 2) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM
"pass3" OFFSET '0'), "pass5" AS (SELECT CASE WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 2 =
0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 2 = 0 THEN CASE WHEN "x0" & 2 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 2) << 2) | (("x1" & 2) << 1) AS "w0",
"k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass4" OFFSET '0'), "pass6" AS (SELECT "w0" | (("x0"
& 1) << 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass5" OFFSET
'0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) # ("w0" >> 3) AS "w0", "k0" AS "k0", "k1"
AS "k1", "k2" AS "k2" FROM "pass6" OFFSET '0'), "pass8" AS (SELECT "w0" # ("w0" >> 4) # ("w0" >> 8)
AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass7" OFFSET '0') SELECT "k0" AS "rid",
"k1" AS "c0", "k2" AS "c1", "w0" AS "h0" FROM "pass8") AS "h") AS "o";

-- partition.blocked: the block of every record
-- [beta_primacy]
CREATE TABLE pganon_work.r0_blocked AS SELECT "p".*, "b"."block" FROM "pganon_work"."r0_placed" AS
"p" JOIN "pganon_work"."r0_pieces" AS "s" ON "s"."cluster" = "p"."cluster" JOIN
"pganon_work"."r0_leaves" AS "l" ON "l"."cluster" = "p"."cluster" AND "l"."piece" =
CAST((CAST(("p"."place" - 1) AS BIGINT) * "s"."pieces" / "s"."size") AS INT) JOIN
"pganon_work"."r0_blocks" AS "b" ON "b"."cluster" = "l"."cluster" AND "b"."first" = "l"."block";

-- partition.blocked: the block of every record
-- [kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_blocked AS SELECT "b"."block", "p"."rid", "p"."value", "p"."place",
"p"."c0", "p"."c1" FROM (SELECT "p".*, CAST((CAST(("p"."place" - 1) AS BIGINT) * "s"."pieces" /
"s"."size") AS INT) AS "piece" FROM "pganon_work"."r0_placed" AS "p" JOIN (SELECT "s"."cluster",
"s"."size", GREATEST("s"."size" / 10000, 1) AS "pieces" FROM (SELECT "k"."cluster",
CAST(SUM("k"."n") AS BIGINT) AS "size" FROM "pganon_work"."r0_kept" AS "k" GROUP BY "k"."cluster")
AS "s") AS "s" ON "s"."cluster" = "p"."cluster") AS "p" JOIN "pganon_work"."r0_piece_blocks" AS "b"
ON "b"."cluster" = "p"."cluster" AND "b"."piece" = "p"."piece";

-- partition.blocked: records along the curve, in blocks
-- [js_reduce]
CREATE TABLE pganon_work.r0_blocked AS SELECT ("a"."place" - 1) * 1 / 40 AS "block", "a"."place" AS
"rid", "a"."rid" AS "record", "a"."s0" AS "value", "v"."vector", "v"."probabilities" FROM (SELECT
"h"."rid", "h"."c0", "h"."c1", "h"."s0", ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."rid") AS "place"
FROM (WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0", CAST("p"."y1" AS bigint) AS "x1",
"p"."rid" AS "k0", "p"."c0" AS "k1", "p"."c1" AS "k2", "p"."s0" AS "k3" FROM (SELECT "c".*,
(CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END) AS BIGINT) * 126 + (-86)) / 80 AS "y0",
(CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END) AS BIGINT) * 126 + (-86)) / 80 AS "y1" FROM
"pganon_work"."r0_coded" AS "c") AS "p" OFFSET '0'), "pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN
"x1" ELSE (~CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0
THEN CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) |
(("x1" & 32) << 5) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass0"
OFFSET '0'), "pass2" AS (SELECT CASE WHEN "x1" & 16 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 16 = 0
THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 16 = 0 THEN CASE WHEN "x0" & 16 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 16) << 5) | (("x1" & 16) << 4) AS "w0",
"k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass1" OFFSET '0'), "pass3" AS (SELECT
CASE WHEN "x1" & 8 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END) END AS
"x0", CASE WHEN "x1" & 8 = 0 THEN CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS
"x1", "w0" | (("x0" & 8) << 4) | (("x1" & 8) << 3) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS
"k2", "k3" AS "k3" FROM "pass2" OFFSET '0'), "pass4" AS (SELECT CASE WHEN "x1" & 4 = 0 THEN "x1"
ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 4 = 0 THEN
CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 4) << 3) |
(("x1" & 4) << 2) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass3"
OFFSET '0'), "pass5" AS (SELECT CASE WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 2 = 0 THEN
"x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 2 = 0 THEN CASE WHEN "x0" & 2 = 0 THEN "x0"
ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 2) << 2) | (("x1" & 2) << 1) AS "w0", "k0"
AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass4" OFFSET '0'), "pass6" AS (SELECT "w0"
| (("x0" & 1) << 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS
"k3" FROM "pass5" OFFSET '0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) # ("w0" >> 3) AS
"w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass6" OFFSET '0'), "pass8" AS
(SELECT "w0" # ("w0" >> 4) # ("w0" >> 8) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS
"k3" FROM "pass7" OFFSET '0') SELECT "k0" AS "rid", "k1" AS "c0", "k2" AS "c1", "k3" AS "s0", "w0"
AS "h0" FROM "pass8") AS "h") AS "a" JOIN "pganon_work"."r0_qi_cells" AS "q" ON "q"."c0" = "a"."c0"
AND "q"."c1" = "a"."c1" JOIN "pganon_work"."r0_cell_vectors" AS "n" ON "n"."cell" = "q"."cell" JOIN
"pganon_work"."r0_vectors" AS "v" ON "v"."vector" = "n"."vector";

-- partition.blocked: blocks of similar individuals
-- [danonyir]
CREATE TABLE pganon_work.r0_blocked AS SELECT "o"."rid", CAST((CAST(("o"."place" - 1) AS BIGINT) * 1
/ 1000) AS INT) AS "block" FROM (SELECT "h"."rid", ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."rid")
AS "place" FROM (WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0", CAST("p"."y1" AS bigint)
AS "x1", "p"."rid" AS "k0" FROM (SELECT "c".*, (CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0"
END) AS BIGINT) * 126 + (-86)) / 80 AS "y0", (CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1"
END) AS BIGINT) * 126 + (-86)) / 80 AS "y1" FROM "pganon_work"."r0_individuals" AS "c") AS "p"
OFFSET '0'), "pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 32 = 0
THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0 THEN CASE WHEN "x0" & 32 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) | (("x1" & 32) << 5) AS "w0", "k0"
AS "k0" FROM "pass0" OFFSET '0'), "pass2" AS (SELECT CASE WHEN "x1" & 16 = 0 THEN "x1" ELSE (~CASE
WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 16 = 0 THEN CASE WHEN
"x0" & 16 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 16) << 5) | (("x1" &
16) << 4) AS "w0", "k0" AS "k0" FROM "pass1" OFFSET '0'), "pass3" AS (SELECT CASE WHEN "x1" & 8 = 0
THEN "x1" ELSE (~CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 8
= 0 THEN CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 8)
<< 4) | (("x1" & 8) << 3) AS "w0", "k0" AS "k0" FROM "pass2" OFFSET '0'), "pass4" AS (SELECT CASE
WHEN "x1" & 4 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0",
CASE WHEN "x1" & 4 = 0 THEN CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1",
"w0" | (("x0" & 4) << 3) | (("x1" & 4) << 2) AS "w0", "k0" AS "k0" FROM "pass3" OFFSET '0'), "pass5"
AS (SELECT CASE WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0")
END) END AS "x0", CASE WHEN "x1" & 2 = 0 THEN CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0") END ELSE
"x1" END AS "x1", "w0" | (("x0" & 2) << 2) | (("x1" & 2) << 1) AS "w0", "k0" AS "k0" FROM "pass4"
OFFSET '0'), "pass6" AS (SELECT "w0" | (("x0" & 1) << 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0"
FROM "pass5" OFFSET '0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) # ("w0" >> 3) AS "w0",
"k0" AS "k0" FROM "pass6" OFFSET '0'), "pass8" AS (SELECT "w0" # ("w0" >> 4) # ("w0" >> 8) AS "w0",
"k0" AS "k0" FROM "pass7" OFFSET '0') SELECT "k0" AS "rid", "w0" AS "h0" FROM "pass8") AS "h") AS
"o";

-- partition.blocks: pieces of the line
-- [one_dimensional]
CREATE TABLE pganon_work.r0_blocks_0 AS SELECT "p"."node", "p"."piece", CAST((ROW_NUMBER() OVER
(ORDER BY "p"."node", "p"."piece") - 1) AS INT) AS "block" FROM (SELECT DISTINCT "l"."node",
"l"."piece" FROM "pganon_work"."r0_line" AS "l") AS "p";

-- partition.blocks: number of blocks
-- [anatomy]
SELECT COUNT(DISTINCT "l"."block") AS "blocks" FROM "pganon_work"."r0_leaves" AS "l";

-- partition.blocks: number of blocks
-- [slamsa]
SELECT COALESCE(MAX("b"."block") + 1, 0) AS "blocks" FROM "pganon_work"."r0_blocked" AS "b";

-- partition.blocks: cells of groups that could be cut, in blocks
-- [lgb_mdp, local_generalization]
CREATE TABLE pganon_work.r0_median_cells AS SELECT CAST((ROW_NUMBER() OVER ()) AS INT) AS "cell",
"b"."block", "b"."node", "b"."again", "c"."display", "c"."w", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_cells_1" AS "c" JOIN (SELECT "n"."node", "n"."again", CAST(((SUM("n"."n") OVER
(ORDER BY "n"."node") - "n"."n") / 500000) AS INT) AS "block" FROM "pganon_work"."r0_nodes_1" AS
"n") AS "b" ON "b"."node" = "c"."node";

-- partition.blocks: how many blocks there are
-- [lgb_ncp]
SELECT MAX("c"."block") + 1 AS "blocks" FROM "pganon_work"."r0_cells" AS "c";

-- partition.blocks: blocks of all clusters, numbered
-- [beta_primacy]
CREATE TABLE pganon_work.r0_blocks AS SELECT "l"."cluster", "l"."block" AS "first",
CAST((ROW_NUMBER() OVER (ORDER BY "l"."cluster", "l"."block") - 1) AS INT) AS "block" FROM
"pganon_work"."r0_leaves" AS "l" GROUP BY "l"."cluster", "l"."block";

-- partition.blocks: number of blocks
-- [beta_primacy]
SELECT COUNT(*) AS "blocks" FROM "pganon_work"."r0_blocks" AS "b";

-- partition.blocks: pieces that reach the requirement, each with those after it that do not
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_blocks AS SELECT 0 AS "piece", 1 AS "block";

-- partition.bounded: no block is too large
-- [slamsa]
SELECT COALESCE(MAX("m"."size"), 0) AS "largest_block" FROM "pganon_work"."r0_merged" AS "m";

-- partition.bucketed0: the bucket of every hidden value of zip
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_bucketed0 AS SELECT "r"."rid", ("d"."base" + ("r"."rank" - "d"."first" +
"d"."shift") % "d"."modulo") AS "b", "r"."v" FROM (SELECT "p"."rid", "p"."s0" AS "code", "p"."v0" AS
"v", ROW_NUMBER() OVER (PARTITION BY "p"."s0" ORDER BY
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST('bucket 0' AS text), "p"."rid"), (SELECT
"s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT),
(SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)),
"p"."rid") - 1 AS "rank" FROM (SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1",
"c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0" FROM
"pganon_work"."r0_coded" AS "c") AS "p" WHERE "p"."s0" > 0) AS "r" JOIN "pganon_work"."r0_plan0" AS
"d" ON "d"."code" = "r"."code" AND "r"."rank" >= "d"."first" AND "r"."rank" < "d"."last";

-- partition.bucketed0: a bucket for every hidden value of zip
-- [local_generalization]
CREATE TABLE pganon_work.r0_bucketed0 AS SELECT "p"."rid", "p"."rid" AS "b", "p"."v0" AS "v" FROM
(SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0",
"c"."v1", "c"."p0", "c"."record", "c"."o0" FROM "pganon_work"."r0_coded" AS "c") AS "p" WHERE
"p"."s0" > 0;

-- partition.bucketed1: a bucket for every hidden value of disease
-- [local_generalization]
CREATE TABLE pganon_work.r0_bucketed1 AS SELECT "p"."rid", "p"."rid" AS "b", "p"."v1" AS "v" FROM
(SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0",
"c"."v1", "c"."p0", "c"."record", "c"."o0" FROM "pganon_work"."r0_coded" AS "c") AS "p" WHERE
"p"."s1" > 0;

-- partition.bucketize: groups for every sensitive table; repeated
-- [sloms]

-- partition.bucketize.buckets0: groups of records that differ in every sensitive column of a table
-- [sloms]
SELECT 1 AS "nothing"; SELECT "b"."block", "b"."rid", "b"."s0" FROM "pganon_work"."r0_vectors_0" AS
"b" WHERE "b"."block" >= 0 AND "b"."block" < 1 ORDER BY "b"."block", "b"."rid"; COPY
pganon_work.r0_buckets0_0 (rid, b1) FROM STDIN;

-- partition.bucketize.buckets1: groups of records that differ in every sensitive column of a table
-- [sloms]
SELECT 1 AS "nothing"; SELECT "b"."block", "b"."rid", "b"."s1" FROM "pganon_work"."r0_vectors_0" AS
"b" WHERE "b"."block" >= 0 AND "b"."block" < 1 ORDER BY "b"."block", "b"."rid"; COPY
pganon_work.r0_buckets1_0 (rid, b2) FROM STDIN;

-- partition.bucketize.suppressed: records in no group, held against the limit
-- [sloms]
SELECT COUNT(*) AS "released", 40 - COUNT(*) AS "suppressed", 1000 - COUNT(*) AS "ungrouped",
COUNT(*) = 1000 AS "complete" FROM (SELECT "p0"."rid", "p0"."b1", "p1"."b2" FROM
"pganon_work"."r0_buckets0_0" AS "p0" JOIN "pganon_work"."r0_buckets1_0" AS "p1" ON "p1"."rid" =
"p0"."rid") AS "p";

-- partition.bucketize.vectors: sensitive values of the records, in random order
-- [sloms]
CREATE TABLE pganon_work.r0_vectors_0 AS SELECT CAST(((ROW_NUMBER() OVER (ORDER BY "k"."rid") - 1) /
50000) AS INT) AS "block", "k"."rid", "k"."s0", "k"."s1" FROM "pganon_work"."r0_coded" AS "k";

-- partition.buckets0: every block divided into buckets of similar records
-- [slamsa]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0", (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret"
AS "s" WHERE "s"."run_id" = 0) AS "seed"; SELECT "b"."block", "b"."rid", "b"."c0", "b"."c1",
"b"."s0", "b"."s1" FROM "pganon_work"."r0_blocked" AS "b" WHERE "b"."block" >= 0 AND "b"."block" <
100 ORDER BY "b"."block", "b"."rid"; COPY pganon_work.r0_partition_0 (rid, b0) FROM STDIN;

-- partition.cell_clusters: the cluster of every combination of quasi-identifiers
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_cell_clusters AS SELECT "p"."place" AS "h", "p"."cluster", "p"."c0",
"p"."c1" FROM (SELECT "h"."c0", "h"."c1", "h"."cluster", ROW_NUMBER() OVER (ORDER BY "h"."h0",
"h"."tie") AS "place" FROM (WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0", CAST("p"."y1"
AS bigint) AS "x1", "p"."c0" AS "k0", "p"."c1" AS "k1", "p"."cluster" AS "k2", "p"."tie" AS "k3"
FROM (SELECT "c".*, (CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END) AS BIGINT) * 126 +
(-86)) / 80 AS "y0", (CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END) AS BIGINT) * 126 +
(-86)) / 80 AS "y1" FROM (SELECT "x".*, ROW("x"."c0", "x"."c1") AS "tie" FROM (SELECT "k"."cluster",
"c"."c0", "c"."c1" FROM "pganon_work"."r0_qi_cells" AS "c" JOIN "pganon_work"."r0_cell_vectors" AS
"v" ON "v"."cell" = "c"."cell" JOIN "pganon_work"."r0_vector_clusters" AS "k" ON "k"."vector" =
"v"."vector") AS "x") AS "c") AS "p" OFFSET '0'), "pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN
"x1" ELSE (~CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0
THEN CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) |
(("x1" & 32) << 5) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass0"
OFFSET '0'), "pass2" AS (SELECT CASE WHEN "x1" & 16 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 16 = 0
THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 16 = 0 THEN CASE WHEN "x0" & 16 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 16) << 5) | (("x1" & 16) << 4) AS "w0",
"k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass1" OFFSET '0'), "pass3" AS (SELECT
CASE WHEN "x1" & 8 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END) END AS
"x0", CASE WHEN "x1" & 8 = 0 THEN CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS
"x1", "w0" | (("x0" & 8) << 4) | (("x1" & 8) << 3) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS
"k2", "k3" AS "k3" FROM "pass2" OFFSET '0'), "pass4" AS (SELECT CASE WHEN "x1" & 4 = 0 THEN "x1"
ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 4 = 0 THEN
CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 4) << 3) |
(("x1" & 4) << 2) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass3"
OFFSET '0'), "pass5" AS (SELECT CASE WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 2 = 0 THEN
"x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 2 = 0 THEN CASE WHEN "x0" & 2 = 0 THEN "x0"
ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 2) << 2) | (("x1" & 2) << 1) AS "w0", "k0"
AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass4" OFFSET '0'), "pass6" AS (SELECT "w0"
| (("x0" & 1) << 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS
"k3" FROM "pass5" OFFSET '0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) # ("w0" >> 3) AS
"w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass6" OFFSET '0'), "pass8" AS
(SELECT "w0" # ("w0" >> 4) # ("w0" >> 8) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS
"k3" FROM "pass7" OFFSET '0') SELECT "k0" AS "c0", "k1" AS "c1", "k2" AS "cluster", "k3" AS "tie",
"w0" AS "h0" FROM "pass8") AS "h") AS "p";

-- partition.cell_priors: the prior of every combination
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_cell_priors AS SELECT "w"."cell", (SELECT
ARRAY_AGG(CAST(ROUND(CAST(("x"."weight" / "w"."total") AS DECIMAL), 12) AS DOUBLE PRECISION) ORDER
BY "x"."value") FROM UNNEST("w"."weights") WITH ORDINALITY AS "x"("weight", "value")) AS
"probabilities" FROM (SELECT "w"."cell", "w"."weights", (SELECT SUM("u"."w") FROM
UNNEST("w"."weights") AS "u"("w")) AS "total" FROM "pganon_work"."r0_cell_weights" AS "w" OFFSET
'0') AS "w";

-- partition.cell_vectors: which prior every combination has
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_cell_vectors AS SELECT "p"."cell", "v"."vector" FROM
"pganon_work"."r0_cell_priors" AS "p" JOIN "pganon_work"."r0_vectors" AS "v" ON "v"."probabilities"
= "p"."probabilities";

-- partition.cell_weights: weights of the sensitive values in every cell
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_cell_weights AS SELECT "f"."cell", ARRAY(SELECT "u"."w" FROM
UNNEST("f"."weights") WITH ORDINALITY AS "u"("w", "i") WHERE "u"."i" <= 40 ORDER BY "u"."i") AS
"weights" FROM (SELECT "x"."cell", ARRAY_AGG(ARRAY[ COALESCE("t"."w1", 0), COALESCE("t"."w2", 0),
COALESCE("t"."w3", 0), COALESCE("t"."w4", 0), COALESCE("t"."w5", 0), COALESCE("t"."w6", 0),
COALESCE("t"."w7", 0), COALESCE("t"."w8", 0), COALESCE("t"."w9", 0), COALESCE("t"."w10", 0),
COALESCE("t"."w11", 0), COALESCE("t"."w12", 0), COALESCE("t"."w13", 0), COALESCE("t"."w14", 0),
COALESCE("t"."w15", 0), COALESCE("t"."w16", 0), COALESCE("t"."w17", 0), COALESCE("t"."w18", 0),
COALESCE("t"."w19", 0), COALESCE("t"."w20", 0), COALESCE("t"."w21", 0), COALESCE("t"."w22", 0),
COALESCE("t"."w23", 0), COALESCE("t"."w24", 0), COALESCE("t"."w25", 0), COALESCE("t"."w26", 0),
COALESCE("t"."w27", 0), COALESCE("t"."w28", 0), COALESCE("t"."w29", 0), COALESCE("t"."w30", 0),
COALESCE("t"."w31", 0), COALESCE("t"."w32", 0), COALESCE("t"."w33", 0), COALESCE("t"."w34", 0),
COALESCE("t"."w35", 0), COALESCE("t"."w36", 0), COALESCE("t"."w37", 0), COALESCE("t"."w38", 0),
COALESCE("t"."w39", 0), COALESCE("t"."w40", 0) ] ORDER BY "x"."part") AS "weights" FROM (SELECT
"q".*, "p"."part" FROM "pganon_work"."r0_qi_cells" AS "q" CROSS JOIN GENERATE_SERIES(0, 0) AS
"p"("part")) AS "x" LEFT JOIN "pganon_work"."r0_smoothed1" AS "t" ON "t"."part" = "x"."part" AND
("x"."c0" = "t"."c0" AND "x"."c1" = "t"."c1") GROUP BY "x"."cell") AS "f";

-- partition.cells: equal quasi-identifiers collapse into weighted cells
-- [one_dimensional, mondrian]
CREATE TABLE pganon_work.r0_cells AS SELECT "r"."w", CAST((1) AS integer) AS "node", "r"."c0",
"r"."c1", "r"."s0" FROM (SELECT "r".*, CAST(("r"."combination" / 41 % 41) AS smallint) AS "c0",
CAST(("r"."combination" / 1 % 41) AS smallint) AS "c1" FROM (SELECT CAST(COUNT(*) AS integer) AS
"w", "r"."combination", "r"."s0" FROM "pganon_work"."r0_coded" AS "r" GROUP BY "r"."combination",
"r"."s0") AS "r") AS "r";

-- partition.cells: the cells of all classes
-- [mondrian]
CREATE TABLE pganon_work.r0_cells_0 AS SELECT "d"."gid" AS "node", "d"."c0", "d"."c1", "d"."cell",
"d"."d0", "d"."w" FROM "pganon_work"."r0_divided" AS "d";

-- partition.cells: records by their quasi-identifiers
-- [full_domain]
CREATE TABLE pganon_work.r0_cells AS SELECT COUNT(*) AS "n", "r"."c0", "r"."c1", BIT_OR(CASE WHEN
("r"."s0" - 1) >> 6 = 0 THEN CAST(1 AS BIGINT) << (("r"."s0" - 1) & 63) ELSE 0 END) AS "b0_0" FROM
"pganon_work"."r0_coded" AS "r" GROUP BY "r"."c0", "r"."c1";

-- partition.cells: equal records collapse into weighted cells
-- [slicing]
CREATE TABLE pganon_work.r0_cells_0 AS SELECT 1 AS "node", COUNT(*) AS "w", "k"."beside", "k"."c0",
"k"."c1", "k"."s0" FROM "pganon_work"."r0_judged" AS "k" GROUP BY "k"."beside", "k"."c0", "k"."c1",
"k"."s0";

-- partition.cells: equal records collapse into weighted cells
-- [lgb_mdp, local_generalization]
CREATE TABLE pganon_work.r0_cells_0 AS SELECT "p"."display" + 1 AS "node", "p"."display",
CAST(COUNT(*) AS integer) AS "w", "p"."c0", "p"."c1" FROM (SELECT "c"."rid", "c"."hides" AS
"display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record",
"c"."o0" FROM "pganon_work"."r0_coded" AS "c") AS "p" GROUP BY "p"."display", "p"."c0", "p"."c1";

-- partition.cells: equal records collapse into weighted cells
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_cells_0 AS SELECT "p"."display" + 1 AS "node", "p"."display",
CAST(COUNT(*) AS integer) AS "w", "p"."c0", "p"."c1" FROM (SELECT "c"."rid", "c"."hides" AS
"display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record",
"c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c") AS "p" GROUP BY "p"."display", "p"."c0",
"p"."c1";

-- partition.cells: equal records collapse into weighted cells
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_cells AS SELECT CAST((ROW_NUMBER() OVER (ORDER BY
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("g"."c0", "g"."c1"), (SELECT "s"."partition_seed"
FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT
"s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)), "g"."c0",
"g"."c1")) AS INT) AS "cell", "g".* FROM (SELECT COUNT(*) AS "w", "r"."c0", "r"."c1" FROM
"pganon_work"."r0_coded" AS "r" GROUP BY "r"."c0", "r"."c1") AS "g";

-- partition.cellvalues0: values of disease in every cell
-- [one_dimensional, mondrian]
CREATE TABLE pganon_work.r0_cellvalues0 AS SELECT "x".* FROM (SELECT "v".*, ROW_NUMBER() OVER
(PARTITION BY "v"."cell") AS "place" FROM (SELECT CAST(SUM("c"."w") AS integer) AS "w", "p"."cell",
"c"."s0" FROM "pganon_work"."r0_cells" AS "c" JOIN "pganon_work"."r0_cells_0" AS "p" ON "p"."node" =
"c"."node" AND "p"."c0" = "c"."c0" AND "p"."c1" = "c"."c1" GROUP BY "p"."cell", "c"."s0") AS "v") AS
"x" WHERE "x"."place" <= 2;

-- partition.chosen: the levels that lose least
-- [full_domain]
SELECT 0 AS "level0", 0 AS "level1";

-- partition.chunk_blocks: chunks of piles put together until each could be a bucket
-- [lgb_ncp]
SELECT 1 AS "nothing"; SELECT DENSE_RANK() OVER (ORDER BY "s"."lead", "s"."stratum") AS "stratum",
"s"."chunk", "s"."size", "h"."item", "h"."code", "h"."n" FROM (SELECT "p"."lead", "p"."stratum",
"p"."chunk", COUNT(*) AS "size" FROM "pganon_work"."r0_piles" AS "p" GROUP BY "p"."lead",
"p"."stratum", "p"."chunk") AS "s" LEFT JOIN (SELECT "w"."chunk", "w"."item", "w"."code", COUNT(*)
AS "n" FROM (SELECT "p"."lead", "p"."stratum", "p"."chunk", "v"."item", "v"."code" FROM
"pganon_work"."r0_piles" AS "p" CROSS JOIN LATERAL (VALUES (0, "p"."s0"), (1, "p"."s1")) AS
"v"("item", "code")) AS "w" JOIN (SELECT "v"."lead", "v"."stratum", "v"."item", "v"."code" FROM
"pganon_work"."r0_strata_values" AS "v" JOIN "pganon_work"."r0_strata" AS "t" ON "t"."lead" =
"v"."lead" AND "t"."stratum" = "v"."stratum" WHERE "v"."n" * (CASE "v"."item" WHEN 0 THEN 2 WHEN 1
THEN 2 END) > "t"."piles" / "t"."chunks" * "t"."l" AND "t"."chunks" > 1) AS "f" ON "f"."lead" =
"w"."lead" AND "f"."stratum" = "w"."stratum" AND "f"."item" = "w"."item" AND "f"."code" = "w"."code"
GROUP BY "w"."chunk", "w"."item", "w"."code") AS "h" ON "h"."chunk" = "s"."chunk" ORDER BY
"s"."chunk", "h"."item", "h"."code"; COPY pganon_work.r0_chunk_blocks (chunk, block, alone) FROM
STDIN;

-- partition.classed: the class of every individual
-- [danonyir]
CREATE TABLE pganon_work.r0_classed AS SELECT "u".* FROM (SELECT "g"."rid", "g"."gid" FROM
"pganon_work"."r0_grown" AS "g" JOIN "pganon_work"."r0_spans" AS "s" ON "s"."block" = ("g"."gid" >>
32) WHERE NOT "s"."several" UNION ALL SELECT "r"."rid", "r"."gid" FROM "pganon_work"."r0_regrown" AS
"r" UNION ALL SELECT "r"."rid", "r"."gid" FROM "pganon_work"."r0_joined0" AS "r" UNION ALL SELECT
"r"."rid", "r"."gid" FROM "pganon_work"."r0_joined1" AS "r" UNION ALL SELECT "r"."rid", "r"."gid"
FROM "pganon_work"."r0_joined2" AS "r") AS "u";

-- partition.classed: the class of every individual
-- [geneir]
CREATE TABLE pganon_work.r0_classed AS SELECT "u".* FROM (SELECT "c"."rid", "c"."gid" FROM
"pganon_work"."r0_swept" AS "c" UNION ALL SELECT "j"."rid", "j"."gid" FROM
"pganon_work"."r0_joined_0" AS "j") AS "u";

-- partition.classes: the cells of all classes
-- [one_dimensional]
CREATE TABLE pganon_work.r0_classes AS SELECT ((CAST("x"."block" AS BIGINT) << 32) +
CAST("x"."label" AS BIGINT) * 2654435761 % 4294967296) AS "gid", "l"."w", "l"."c0", "l"."c1" FROM
(SELECT "t"."block", "t"."first" + "x"."place" - 1 AS "unit", "x"."label" FROM
"pganon_work"."r0_labels" AS "t" CROSS JOIN LATERAL UNNEST("t"."labels") WITH ORDINALITY AS
"x"("label", "place")) AS "x" JOIN "pganon_work"."r0_line" AS "l" ON "l"."unit" = "x"."unit" WHERE
"x"."label" >= 0;

-- partition.classes: classes of similar quasi-identifiers in every block
-- [sloms]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "b"."block", "b"."rid", "b"."c0", "b"."c1" FROM
"pganon_work"."r0_blocked" AS "b" WHERE "b"."block" >= 0 AND "b"."block" < 4 ORDER BY "b"."block",
"b"."rid"; COPY pganon_work.r0_classes (rid, b0) FROM STDIN;

-- partition.classes: classes of near records
-- [kinc, kagg, kinc_mic, kagg_mic]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0", (SELECT ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source" FROM
"pganon_work"."r0_sdict0" AS "d") AS "source", (SELECT ARRAY_AGG(COALESCE("k"."n", 0) ORDER BY
"v"."value") FROM (SELECT GENERATE_SERIES(1, CARDINALITY("c"."source")) AS "value" FROM (SELECT
ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source" FROM "pganon_work"."r0_sdict0" AS "d") AS "c") AS
"v" LEFT JOIN (SELECT "x"."value", CAST(SUM("x"."n") AS BIGINT) AS "n" FROM "pganon_work"."r0_kept"
AS "x" GROUP BY "x"."value") AS "k" ON "k"."value" = "v"."value") AS "released"; SELECT "b"."block",
"b"."rid", "b"."value", "b"."c0", "b"."c1" FROM "pganon_work"."r0_blocked" AS "b" WHERE "b"."block"
>= 0 AND "b"."block" < 50 ORDER BY "b"."block", "b"."rid"; COPY pganon_work.r0_grown (rid, gid) FROM
STDIN;

-- partition.classes: classes of records with similar priors
-- [js_reduce]
SELECT ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source" FROM "pganon_work"."r0_sdict0" AS "d";
SELECT "b"."block", "b"."rid", "b"."record", "b"."value", "b"."vector", "b"."probabilities" FROM
"pganon_work"."r0_blocked" AS "b" WHERE "b"."block" >= 0 AND "b"."block" < 1 ORDER BY "b"."block",
"b"."rid"; COPY pganon_work.r0_reduced (rid, gid) FROM STDIN;

-- partition.classes: classes grown individual by individual
-- [danonyir]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "b"."block", "b"."rid", "b"."held0", "b"."lo0",
"b"."hi0", "b"."n0", "b"."b1" FROM (SELECT "b"."block", "b"."rid", "i"."held0", "i"."lo0",
"i"."hi0", "i"."n0", "i"."b1" FROM "pganon_work"."r0_blocked" AS "b" JOIN
"pganon_work"."r0_individuals" AS "i" ON "i"."rid" = "b"."rid") AS "b" WHERE "b"."block" >= 0 AND
"b"."block" < 2500 ORDER BY "b"."block", "b"."rid"; COPY pganon_work.r0_grown (rid, gid) FROM STDIN;

-- partition.cluster_values: sensitive values of every cluster
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_cluster_values AS SELECT "k"."cluster", "c"."s0" AS "value", COUNT(*) AS
"n" FROM "pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_cell_clusters" AS "k" ON "k"."c0" =
"c"."c0" AND "k"."c1" = "c"."c1" GROUP BY 1, 2;

-- partition.constant: whether the sensitive column has several values
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) AS "values" FROM "pganon_work"."r0_sdict0" AS "d";

-- partition.count: how many blocks there are
-- [lgb_mdp, local_generalization]
SELECT COALESCE(MAX("c"."block") + 1, 0) AS "blocks" FROM "pganon_work"."r0_median_cells" AS "c";

-- partition.curve: cells on a Hilbert curve
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_curve AS WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0",
CAST("p"."y1" AS bigint) AS "x1", "p"."cell" AS "k0", "p"."w" AS "k1", "p"."c0" AS "k2", "p"."c1" AS
"k3" FROM (SELECT "c".*, (CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END) AS BIGINT) * 126 +
(-86)) / 80 AS "y0", (CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END) AS BIGINT) * 126 +
(-86)) / 80 AS "y1" FROM "pganon_work"."r0_cells" AS "c") AS "p" OFFSET '0'), "pass1" AS (SELECT
CASE WHEN "x1" & 32 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (~"x0") END) END AS
"x0", CASE WHEN "x1" & 32 = 0 THEN CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END
AS "x1", (("x0" & 32) << 6) | (("x1" & 32) << 5) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2",
"k3" AS "k3" FROM "pass0" OFFSET '0'), "pass2" AS (SELECT CASE WHEN "x1" & 16 = 0 THEN "x1" ELSE
(~CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 16 = 0 THEN CASE
WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 16) << 5) |
(("x1" & 16) << 4) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass1"
OFFSET '0'), "pass3" AS (SELECT CASE WHEN "x1" & 8 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 8 = 0 THEN
"x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 8 = 0 THEN CASE WHEN "x0" & 8 = 0 THEN "x0"
ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 8) << 4) | (("x1" & 8) << 3) AS "w0", "k0"
AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass2" OFFSET '0'), "pass4" AS (SELECT CASE
WHEN "x1" & 4 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0",
CASE WHEN "x1" & 4 = 0 THEN CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1",
"w0" | (("x0" & 4) << 3) | (("x1" & 4) << 2) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3"
AS "k3" FROM "pass3" OFFSET '0'), "pass5" AS (SELECT CASE WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE
WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 2 = 0 THEN CASE WHEN
"x0" & 2 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 2) << 2) | (("x1" &
2) << 1) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass4" OFFSET '0'),
"pass6" AS (SELECT "w0" | (("x0" & 1) << 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0", "k1" AS "k1",
"k2" AS "k2", "k3" AS "k3" FROM "pass5" OFFSET '0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0"
>> 2) # ("w0" >> 3) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3" FROM "pass6"
OFFSET '0'), "pass8" AS (SELECT "w0" # ("w0" >> 4) # ("w0" >> 8) AS "w0", "k0" AS "k0", "k1" AS
"k1", "k2" AS "k2", "k3" AS "k3" FROM "pass7" OFFSET '0') SELECT "k0" AS "cell", "k1" AS "w", "k2"
AS "c0", "k3" AS "c1", "w0" AS "h0" FROM "pass8";

-- partition.cut: cut every group where both sides keep all requirements; repeated
-- [mondrian]

-- partition.cut: cut every bucket where both halves satisfy the requirement; repeated
-- [slicing]

-- partition.cut: cut every group that a median divides, as long as there are large ones; repeated
-- [lgb_mdp, local_generalization]

-- partition.cut: cut what is too large for a block; repeated
-- [lgb_ncp]

-- partition.cut: blocks in which classes exist
-- [kinc, kagg, kinc_mic, kagg_mic]
SELECT ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source" FROM "pganon_work"."r0_sdict0" AS "d";
SELECT "v"."cluster", "v"."piece", "v"."value", "v"."n" FROM "pganon_work"."r0_piece_values" AS "v"
ORDER BY "v"."cluster", "v"."piece"; COPY pganon_work.r0_piece_blocks (cluster, piece, block) FROM
STDIN;

-- partition.cut.best: the cut nearest to balance
-- [mondrian]
CREATE TABLE pganon_work.r0_best_0 AS SELECT "l"."node", "l"."attr", "t"."level", "t"."rank",
"l"."cum", "l"."thr", "l"."mask" FROM (SELECT "b"."node", "b"."attr", MAX("r"."cum") AS "cum",
MAX("r"."v") AS "thr", BIT_OR(CAST(1 AS BIGINT) << ("r"."v" & 63)) AS "mask" FROM (SELECT
"a"."node", "a"."attr", CAST((MIN((ABS(2 * "a"."cum" - "a"."n") << 31) + "a"."pos") & ((CAST(1 AS
BIGINT) << 31) - 1)) AS INT) AS "pos" FROM (SELECT "r"."node", "r"."attr", "r"."n", "r"."cum",
"r"."pos" FROM "pganon_work"."r0_ranked_0" AS "r" WHERE "r"."cum" >= 4 AND "r"."n" - "r"."cum" >= 4)
AS "a" GROUP BY "a"."node", "a"."attr") AS "b" JOIN "pganon_work"."r0_ranked_0" AS "r" ON "r"."node"
= "b"."node" AND "r"."attr" = "b"."attr" AND "r"."pos" <= "b"."pos" GROUP BY "b"."node", "b"."attr")
AS "l" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "l"."node" AND "t"."attr" =
"l"."attr";

-- partition.cut.best: the cut at the median
-- [slicing]
CREATE TABLE pganon_work.r0_best_0 AS SELECT "r"."node", "r"."attr", "t"."rank", "r"."cum", "r"."v"
AS "thr" FROM "pganon_work"."r0_ranked_0" AS "r" JOIN "pganon_work"."r0_tries_0" AS "t" ON
"t"."node" = "r"."node" AND "t"."attr" = "r"."attr" WHERE 2 * "r"."cum" >= "r"."n" AND 2 *
("r"."cum" - "r"."w") < "r"."n" AND "r"."n" - "r"."cum" >= 1;

-- partition.cut.best: the cut at the median
-- [lgb_mdp, local_generalization]
CREATE TABLE pganon_work.r0_best_0 AS SELECT "r"."node", "r"."attr", "t"."rank", "r"."cum", "r"."v"
AS "thr" FROM "pganon_work"."r0_ranked_0" AS "r" JOIN "pganon_work"."r0_tries_0" AS "t" ON
"t"."node" = "r"."node" AND "t"."attr" = "r"."attr" WHERE 2 * "r"."cum" >= "r"."n" AND 2 *
("r"."cum" - "r"."w") < "r"."n" AND "r"."n" - "r"."cum" >= 2;

-- partition.cut.best: the cut at the median
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_best_0 AS SELECT "r"."node", "r"."attr", "t"."rank", "r"."cum", "r"."v"
AS "thr" FROM "pganon_work"."r0_ranked_0" AS "r" JOIN "pganon_work"."r0_tries_0" AS "t" ON
"t"."node" = "r"."node" AND "t"."attr" = "r"."attr" WHERE (2 * "r"."cum" >= "r"."n" AND 2 *
("r"."cum" - "r"."w") < "r"."n" AND "r"."n" - "r"."cum" >= 2) AND "r"."n" > 20000;

-- partition.cut.cells: cells of the next groups
-- [mondrian]
CREATE TABLE pganon_work.r0_cells_1 AS SELECT CASE WHEN "m"."attr" IS NULL OR (CASE "m"."attr" WHEN
0 THEN "c"."c0" <= "m"."thr" WHEN 1 THEN ("m"."mask" >> "c"."c1") & 1 = 1 END) THEN "m"."tl" ELSE
"m"."tr" END AS "node", "c"."c0", "c"."c1", "c"."cell", "c"."d0", "c"."w" FROM
"pganon_work"."r0_cells_0" AS "c" JOIN "pganon_work"."r0_moves_0" AS "m" ON "m"."node" = "c"."node";

-- partition.cut.cells: cells of the next groups
-- [slicing]
CREATE TABLE pganon_work.r0_cells_1 AS SELECT CASE WHEN "m"."attr" IS NULL OR (CASE "m"."attr" WHEN
0 THEN COALESCE(NULLIF("c"."c0", 0), 41) <= "m"."thr" WHEN 1 THEN COALESCE(NULLIF("c"."c1", 0), 41)
<= "m"."thr" END) THEN "m"."tl" ELSE "m"."tr" END AS "node", "c"."c0", "c"."c1", "c"."beside",
"c"."s0", "c"."w" FROM "pganon_work"."r0_cells_0" AS "c" JOIN "pganon_work"."r0_moves_0" AS "m" ON
"m"."node" = "c"."node";

-- partition.cut.cells: cells of the next groups
-- [lgb_mdp, lgb_ncp, local_generalization]
CREATE TABLE pganon_work.r0_cells_1 AS SELECT CASE WHEN "m"."attr" IS NULL OR (CASE "m"."attr" WHEN
0 THEN "c"."c0" <= "m"."thr" WHEN 1 THEN "c"."c1" <= "m"."thr" END) THEN "m"."tl" ELSE "m"."tr" END
AS "node", "c"."c0", "c"."c1", "c"."display", "c"."w" FROM "pganon_work"."r0_cells_0" AS "c" JOIN
"pganon_work"."r0_moves_0" AS "m" ON "m"."node" = "c"."node";

-- partition.cut.certain0: cuts with a cell of values enough on each side
-- [mondrian]
CREATE TABLE pganon_work.r0_certain0_0 AS SELECT "m"."node", "m"."attr" FROM (SELECT "p"."node",
"p"."attr", "p"."side", MAX("p"."d") AS "measure" FROM (SELECT "b"."node", "b"."attr", CAST((CASE
"b"."attr" WHEN 0 THEN "c"."c0" <= "b"."thr" WHEN 1 THEN ("b"."mask" >> "c"."c1") & 1 = 1 END) AS
INT) AS "side", "c"."d0" AS "d" FROM "pganon_work"."r0_cells_0" AS "c" JOIN
"pganon_work"."r0_best_0" AS "b" ON "b"."node" = "c"."node") AS "p" GROUP BY "p"."node", "p"."attr",
"p"."side") AS "m" GROUP BY "m"."node", "m"."attr" HAVING BOOL_AND(("m"."measure" >= 2)) AND
COUNT(*) = 2;

-- partition.cut.checked: whether both sides hold
-- [mondrian]
CREATE TABLE pganon_work.r0_checked_0 AS SELECT "b"."node", "b"."attr", "b"."level", (("q0"."node"
IS NOT NULL) OR "s0"."node" IS NOT NULL) AS "holds" FROM "pganon_work"."r0_best_0" AS "b" LEFT JOIN
"pganon_work"."r0_certain0_0" AS "s0" ON "s0"."node" = "b"."node" AND "s0"."attr" = "b"."attr" LEFT
JOIN (SELECT "m"."node", "m"."attr" FROM (SELECT COUNT(*) AS "measure", "g"."node", "g"."attr",
"g"."side" FROM (SELECT "h"."value", "h"."n", "h"."node", "h"."attr", "h"."side" FROM
"pganon_work"."r0_sides0_0" AS "h") AS "g" GROUP BY "g"."node", "g"."attr", "g"."side") AS "m" GROUP
BY "m"."node", "m"."attr" HAVING BOOL_AND(("m"."measure" >= 2)) AND COUNT(*) = 2) AS "q0" ON
"q0"."node" = "b"."node" AND "q0"."attr" = "b"."attr";

-- partition.cut.done: cells of final groups
-- [mondrian]
CREATE TABLE pganon_work.r0_done_0 AS SELECT -"c"."node" AS "leaf", "c"."c0", "c"."c1", "c"."cell",
"c"."d0", "c"."w" FROM "pganon_work"."r0_cells_1" AS "c" WHERE "c"."node" < 0;

-- partition.cut.done: cells of final groups
-- [slicing]
CREATE TABLE pganon_work.r0_done_0 AS SELECT -"c"."node" AS "leaf", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_cells_1" AS "c" WHERE "c"."node" < 0;

-- partition.cut.done: cells of final groups
-- [lgb_mdp, lgb_ncp, local_generalization]
CREATE TABLE pganon_work.r0_done_0 AS SELECT -"c"."node" AS "leaf", "c"."c0", "c"."c1",
"c"."display" FROM "pganon_work"."r0_cells_1" AS "c" WHERE "c"."node" < 0;

-- partition.cut.halves: both sides of the cuts that compete
-- [mondrian]
CREATE TABLE pganon_work.r0_halves_0 AS SELECT "r"."node", "r"."attr", "r"."cum" <= "b"."cum" AS
"is_left", CAST(SUM("r"."w") AS BIGINT) AS "n", MIN("r"."lo0") AS "lo0", MAX("r"."hi0") AS "hi0",
BOOL_OR("r"."n0") AS "n0", BIT_OR("r"."b1_0") AS "b1_0", SUM("r"."w" * 0) AS "promised" FROM
"pganon_work"."r0_ranked_0" AS "r" JOIN (SELECT "p"."node", "p"."attr", "p"."level", "p"."cum",
"p"."thr", "p"."mask" FROM (SELECT "b".*, "t"."more", ROW_NUMBER() OVER (PARTITION BY "b"."node"
ORDER BY "b"."rank") AS "place", COUNT(*) OVER (PARTITION BY "b"."node") AS "allowed" FROM (SELECT
"u".* FROM (SELECT "h".* FROM (SELECT "b"."node", "b"."attr", "b"."level", "b"."rank", "b"."cum",
"b"."thr", "b"."mask" FROM "pganon_work"."r0_best_0" AS "b" JOIN "pganon_work"."r0_checked_0" AS "k"
ON "k"."node" = "b"."node" AND "k"."attr" = "b"."attr" WHERE "k"."holds") AS "h" UNION ALL SELECT
"f".* FROM (SELECT "f"."node", "f"."attr", "f"."level", "f"."rank", "f"."cum", "f"."thr", "f"."mask"
FROM "pganon_work"."r0_searched_0" AS "f") AS "f") AS "u") AS "b" JOIN "pganon_work"."r0_tries_0" AS
"t" ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr") AS "p" WHERE "p"."place" <= 3 AND
("p"."allowed" >= 3 OR NOT "p"."more")) AS "b" ON "b"."node" = "r"."node" AND "b"."attr" =
"r"."attr" GROUP BY "r"."node", "r"."attr", "r"."cum" <= "b"."cum";

-- partition.cut.halves: both sides of the cuts that compete
-- [slicing]
CREATE TABLE pganon_work.r0_halves_0 AS SELECT "r"."node", "r"."attr", "r"."cum" <= "b"."cum" AS
"is_left", CAST(SUM("r"."w") AS BIGINT) AS "n", MIN("r"."lo0") AS "lo0", MAX("r"."hi0") AS "hi0",
BOOL_OR("r"."n0") AS "n0", BIT_OR("r"."b1_0") AS "b1_0" FROM "pganon_work"."r0_ranked_0" AS "r" JOIN
(SELECT "p"."node", "p"."attr", "p"."cum", "p"."thr" FROM (SELECT "b".*, "t"."more", ROW_NUMBER()
OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place", COUNT(*) OVER (PARTITION BY
"b"."node") AS "allowed" FROM (SELECT "b".* FROM "pganon_work"."r0_best_0" AS "b" JOIN
"pganon_work"."r0_sides_0" AS "s" ON "s"."node" = "b"."node" WHERE "s"."allowed") AS "b" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr") AS "p"
WHERE "p"."place" <= 1 AND ("p"."allowed" >= 1 OR NOT "p"."more")) AS "b" ON "b"."node" = "r"."node"
AND "b"."attr" = "r"."attr" GROUP BY "r"."node", "r"."attr", "r"."cum" <= "b"."cum";

-- partition.cut.halves: both sides of the cuts that compete
-- [lgb_mdp, lgb_ncp, local_generalization]
CREATE TABLE pganon_work.r0_halves_0 AS SELECT "r"."node", "r"."attr", "r"."cum" <= "b"."cum" AS
"is_left", CAST(SUM("r"."w") AS BIGINT) AS "n", MIN("r"."lo0") AS "lo0", MAX("r"."hi0") AS "hi0",
BOOL_OR("r"."n0") AS "n0", BIT_OR("r"."b1_0") AS "b1_0" FROM "pganon_work"."r0_ranked_0" AS "r" JOIN
(SELECT "p"."node", "p"."attr", "p"."cum", "p"."thr" FROM (SELECT "b".*, "t"."more", ROW_NUMBER()
OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place", COUNT(*) OVER (PARTITION BY
"b"."node") AS "allowed" FROM (SELECT "b".* FROM "pganon_work"."r0_best_0" AS "b") AS "b" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr") AS "p"
WHERE "p"."place" <= 1 AND ("p"."allowed" >= 1 OR NOT "p"."more")) AS "b" ON "b"."node" = "r"."node"
AND "b"."attr" = "r"."attr" GROUP BY "r"."node", "r"."attr", "r"."cum" <= "b"."cum";

-- partition.cut.hist0: records per position and sensitive value
-- [mondrian]
CREATE TABLE pganon_work.r0_hist0_0 AS SELECT "x"."node", "x"."attr", "r"."pos", "s"."s0" AS
"value", CAST(SUM("s"."w") AS BIGINT) AS "w" FROM (SELECT "c"."node", "c"."cell", "k"."attr", CASE
"k"."attr" WHEN 0 THEN CAST(("c"."c0") AS integer) WHEN 1 THEN CAST(("c"."c1") AS integer) END AS
"v" FROM "pganon_work"."r0_cells_0" AS "c" JOIN (SELECT "k".* FROM "pganon_work"."r0_checked_0" AS
"k" WHERE NOT "k"."holds") AS "k" ON "k"."node" = "c"."node") AS "x" JOIN
"pganon_work"."r0_ranked_0" AS "r" ON "r"."node" = "x"."node" AND "r"."attr" = "x"."attr" AND
"r"."v" = "x"."v" JOIN "pganon_work"."r0_cellvalues0" AS "s" ON "s"."cell" = "x"."cell" GROUP BY
"x"."node", "x"."attr", "r"."pos", "s"."s0";

-- partition.cut.moves: what becomes of every group
-- [mondrian]
CREATE TABLE pganon_work.r0_moves_0 AS SELECT "z"."node", "z"."attr", "z"."again", "z"."nl",
"z"."nr", CAST(((CASE WHEN ("z"."attr" IS NOT NULL AND "z"."nl" >= 8) OR "z"."again" THEN 1 ELSE -1
END) * (2 * "z"."number" - 1)) AS INT) AS "tl", CAST(((CASE WHEN "z"."nr" >= 8 THEN 1 ELSE -1 END) *
2 * "z"."number") AS INT) AS "tr", "z"."level", "z"."cum", "z"."thr", "z"."mask" FROM (SELECT "m".*,
COALESCE("m"."cum", "m"."n") AS "nl", "m"."n" - "m"."cum" AS "nr" FROM (SELECT "d"."node", "d"."n",
"b"."attr", "b"."node" IS NULL AND COALESCE("t"."more", FALSE) AS "again", ROW_NUMBER() OVER (ORDER
BY "d"."node") AS "number", "b"."level", "b"."cum", "b"."thr", "b"."mask" FROM
"pganon_work"."r0_nodes_0" AS "d" LEFT JOIN (SELECT "b"."node", "b"."attr", "b"."level", "b"."cum",
"b"."thr", "b"."mask" FROM (SELECT "u".* FROM (SELECT "h".* FROM (SELECT "b"."node", "b"."attr",
"b"."level", "b"."rank", "b"."cum", "b"."thr", "b"."mask" FROM "pganon_work"."r0_best_0" AS "b" JOIN
"pganon_work"."r0_checked_0" AS "k" ON "k"."node" = "b"."node" AND "k"."attr" = "b"."attr" WHERE
"k"."holds") AS "h" UNION ALL SELECT "f".* FROM (SELECT "f"."node", "f"."attr", "f"."level",
"f"."rank", "f"."cum", "f"."thr", "f"."mask" FROM "pganon_work"."r0_searched_0" AS "f") AS "f") AS
"u") AS "b" JOIN (SELECT DISTINCT ON ("l"."node") "l"."node", "l"."attr" FROM (SELECT "e"."node",
"e"."attr", ROUND(CAST(SUM("e"."n" * ((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" =
0 THEN 0 ELSE ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict"
WHERE "code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"]) END) * 1.0 +
((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1) AS DOUBLE PRECISION) / 40) * 1.0)) +
"e"."promised") AS DECIMAL), 9) AS "loss" FROM "pganon_work"."r0_halves_0" AS "e" GROUP BY
"e"."node", "e"."attr") AS "l" ORDER BY "l"."node", "l"."loss", "l"."attr") AS "l" ON "l"."node" =
"b"."node" AND "l"."attr" = "b"."attr") AS "b" ON "b"."node" = "d"."node" LEFT JOIN (SELECT
"t"."node", "t"."more" FROM "pganon_work"."r0_tries_0" AS "t" WHERE "t"."rank" = 1) AS "t" ON
"t"."node" = "d"."node") AS "m") AS "z";

-- partition.cut.moves: what becomes of every group
-- [slicing]
CREATE TABLE pganon_work.r0_moves_0 AS SELECT "z"."node", "z"."attr", "z"."again", "z"."nl",
"z"."nr", CAST(((CASE WHEN ("z"."attr" IS NOT NULL AND "z"."nl" >= 4) OR "z"."again" THEN 1 ELSE -1
END) * (2 * "z"."number" - 1)) AS INT) AS "tl", CAST(((CASE WHEN "z"."nr" >= 4 THEN 1 ELSE -1 END) *
2 * "z"."number") AS INT) AS "tr", "z"."cum", "z"."thr" FROM (SELECT "m".*, COALESCE("m"."cum",
"m"."n") AS "nl", "m"."n" - "m"."cum" AS "nr" FROM (SELECT "d"."node", "d"."n", "b"."attr",
"b"."node" IS NULL AND COALESCE("t"."more", FALSE) AS "again", ROW_NUMBER() OVER (ORDER BY
"d"."node") AS "number", "b"."cum", "b"."thr" FROM "pganon_work"."r0_nodes_0" AS "d" LEFT JOIN
(SELECT "p"."node", "p"."attr", "p"."cum", "p"."thr" FROM (SELECT "b".*, "t"."more", ROW_NUMBER()
OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place", COUNT(*) OVER (PARTITION BY
"b"."node") AS "allowed" FROM (SELECT "b".* FROM "pganon_work"."r0_best_0" AS "b" JOIN
"pganon_work"."r0_sides_0" AS "s" ON "s"."node" = "b"."node" WHERE "s"."allowed") AS "b" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr") AS "p"
WHERE "p"."place" <= 1 AND ("p"."allowed" >= 1 OR NOT "p"."more")) AS "b" ON "b"."node" = "d"."node"
LEFT JOIN (SELECT "t"."node", "t"."more" FROM (SELECT "t"."node", "t"."more" FROM
"pganon_work"."r0_tries_0" AS "t" WHERE "t"."rank" = 1) AS "t" WHERE NOT EXISTS(SELECT 1 FROM
"pganon_work"."r0_sides_0" AS "s" WHERE "s"."node" = "t"."node")) AS "t" ON "t"."node" = "d"."node")
AS "m") AS "z";

-- partition.cut.moves: what becomes of every group
-- [lgb_mdp, local_generalization]
CREATE TABLE pganon_work.r0_moves_0 AS SELECT "z"."node", "z"."attr", "z"."again", "z"."nl",
"z"."nr", CAST(((CASE WHEN ("z"."attr" IS NOT NULL AND "z"."nl" >= 4) OR "z"."again" THEN 1 ELSE -1
END) * (2 * "z"."number" - 1)) AS INT) AS "tl", CAST(((CASE WHEN "z"."nr" >= 4 THEN 1 ELSE -1 END) *
2 * "z"."number") AS INT) AS "tr", "z"."cum", "z"."thr" FROM (SELECT "m".*, COALESCE("m"."cum",
"m"."n") AS "nl", "m"."n" - "m"."cum" AS "nr" FROM (SELECT "d"."node", "d"."n", "b"."attr",
"b"."node" IS NULL AND COALESCE("t"."more", FALSE) AS "again", ROW_NUMBER() OVER (ORDER BY
"d"."node") AS "number", "b"."cum", "b"."thr" FROM "pganon_work"."r0_nodes_0" AS "d" LEFT JOIN
(SELECT "p"."node", "p"."attr", "p"."cum", "p"."thr" FROM (SELECT "b".*, "t"."more", ROW_NUMBER()
OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place", COUNT(*) OVER (PARTITION BY
"b"."node") AS "allowed" FROM (SELECT "b".* FROM "pganon_work"."r0_best_0" AS "b") AS "b" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr") AS "p"
WHERE "p"."place" <= 1 AND ("p"."allowed" >= 1 OR NOT "p"."more")) AS "b" ON "b"."node" = "d"."node"
LEFT JOIN (SELECT "t"."node", "t"."more" FROM "pganon_work"."r0_tries_0" AS "t" WHERE "t"."rank" =
1) AS "t" ON "t"."node" = "d"."node") AS "m") AS "z";

-- partition.cut.moves: what becomes of every group
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_moves_0 AS SELECT "z"."node", "z"."attr", "z"."again", "z"."nl",
"z"."nr", CAST(((CASE WHEN ("z"."attr" IS NOT NULL AND "z"."nl" >= 20000) OR "z"."again" THEN 1 ELSE
-1 END) * (2 * "z"."number" - 1)) AS INT) AS "tl", CAST(((CASE WHEN "z"."nr" >= 20000 THEN 1 ELSE -1
END) * 2 * "z"."number") AS INT) AS "tr", "z"."cum", "z"."thr" FROM (SELECT "m".*,
COALESCE("m"."cum", "m"."n") AS "nl", "m"."n" - "m"."cum" AS "nr" FROM (SELECT "d"."node", "d"."n",
"b"."attr", "b"."node" IS NULL AND COALESCE("t"."more", FALSE) AS "again", ROW_NUMBER() OVER (ORDER
BY "d"."node") AS "number", "b"."cum", "b"."thr" FROM "pganon_work"."r0_nodes_0" AS "d" LEFT JOIN
(SELECT "p"."node", "p"."attr", "p"."cum", "p"."thr" FROM (SELECT "b".*, "t"."more", ROW_NUMBER()
OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place", COUNT(*) OVER (PARTITION BY
"b"."node") AS "allowed" FROM (SELECT "b".* FROM "pganon_work"."r0_best_0" AS "b") AS "b" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr") AS "p"
WHERE "p"."place" <= 1 AND ("p"."allowed" >= 1 OR NOT "p"."more")) AS "b" ON "b"."node" = "d"."node"
LEFT JOIN (SELECT "t"."node", "t"."more" FROM "pganon_work"."r0_tries_0" AS "t" WHERE "t"."rank" =
1) AS "t" ON "t"."node" = "d"."node") AS "m") AS "z";

-- partition.cut.nodes: groups of the next round
-- [mondrian, slicing, lgb_mdp, lgb_ncp, local_generalization]
CREATE TABLE pganon_work.r0_nodes_1 AS SELECT CASE WHEN "h"."is_left" THEN "m"."tl" ELSE "m"."tr"
END AS "node", "m"."again", "h"."n", "h"."lo0", "h"."hi0", "h"."n0", "h"."b1_0" FROM
"pganon_work"."r0_moves_0" AS "m" JOIN "pganon_work"."r0_halves_0" AS "h" ON "h"."node" = "m"."node"
AND "h"."attr" = "m"."attr" WHERE CASE WHEN "h"."is_left" THEN "m"."tl" ELSE "m"."tr" END > 0 UNION
ALL SELECT "m"."tl" AS "node", "m"."again", "h"."n", "h"."lo0", "h"."hi0", "h"."n0", "h"."b1_0" FROM
"pganon_work"."r0_moves_0" AS "m" JOIN "pganon_work"."r0_nodes_0" AS "h" ON "h"."node" = "m"."node"
WHERE "m"."again";

-- partition.cut.progress: groups still to be cut, and final ones
-- [mondrian, slicing, lgb_ncp]
SELECT "m"."active", ("m"."active" = 0) AS "finished", "m"."final" AS "cut_final0" FROM (SELECT
COUNT(*) FILTER(WHERE "m"."tl" > 0) + COUNT(*) FILTER(WHERE "m"."tr" > 0) AS "active", COUNT(*)
FILTER(WHERE "m"."tl" < 0) + COUNT(*) FILTER(WHERE "m"."tr" < 0) AS "final" FROM
"pganon_work"."r0_moves_0" AS "m") AS "m";

-- partition.cut.progress: groups still to be cut, and final ones
-- [lgb_mdp, local_generalization]
SELECT "m"."active", (NOT EXISTS(SELECT 1 FROM "pganon_work"."r0_moves_0" AS "m" WHERE ("m"."tl" > 0
AND "m"."nl" > 500000) OR ("m"."tr" > 0 AND "m"."nr" > 500000))) AS "finished", "m"."final" AS
"cut_final0" FROM (SELECT COUNT(*) FILTER(WHERE "m"."tl" > 0) + COUNT(*) FILTER(WHERE "m"."tr" > 0)
AS "active", COUNT(*) FILTER(WHERE "m"."tl" < 0) + COUNT(*) FILTER(WHERE "m"."tr" < 0) AS "final"
FROM "pganon_work"."r0_moves_0" AS "m") AS "m";

-- partition.cut.ranked: tried values in cutting order
-- [mondrian]
CREATE TABLE pganon_work.r0_ranked_0 AS SELECT "g"."node", "g"."attr", "g"."v", "g"."w", "t"."n",
CAST((ROW_NUMBER() OVER (PARTITION BY "g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN
"g"."v" WHEN 1 THEN -"g"."w" END, "g"."v")) AS INT) AS "pos", CAST((SUM("g"."w") OVER (PARTITION BY
"g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN -"g"."w" END,
"g"."v" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS BIGINT) AS "cum", "g"."lo0",
"g"."hi0", "g"."n0", "g"."b1_0" FROM (SELECT "x"."node", "x"."attr", "x"."v", CAST(SUM("x"."w") AS
integer) AS "w", MIN("x"."c0") FILTER(WHERE "x"."c0" > 0) AS "lo0", MAX("x"."c0") AS "hi0",
MIN("x"."c0") = 0 AS "n0", BIT_OR(CAST(1 AS BIGINT) << "x"."c1") AS "b1_0" FROM (SELECT "c"."node",
"t"."attr", "t"."n", CASE "t"."attr" WHEN 0 THEN CAST(("c"."c0") AS integer) WHEN 1 THEN
CAST(("c"."c1") AS integer) END AS "v", "c"."w", "c"."c0", "c"."c1" FROM "pganon_work"."r0_cells_0"
AS "c" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "c"."node") AS "x" GROUP BY
"x"."node", "x"."attr", "x"."v") AS "g" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" =
"g"."node" AND "t"."attr" = "g"."attr";

-- partition.cut.ranked: tried values in cutting order
-- [slicing]
CREATE TABLE pganon_work.r0_ranked_0 AS SELECT "g"."node", "g"."attr", "g"."v", "g"."w", "t"."n",
CAST((ROW_NUMBER() OVER (PARTITION BY "g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN
"g"."v" WHEN 1 THEN "g"."v" END, "g"."v")) AS INT) AS "pos", CAST((SUM("g"."w") OVER (PARTITION BY
"g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN "g"."v" END, "g"."v"
ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS BIGINT) AS "cum", "g"."lo0", "g"."hi0",
"g"."n0", "g"."b1_0" FROM (SELECT "x"."node", "x"."attr", "x"."v", CAST(SUM("x"."w") AS integer) AS
"w", MIN("x"."c0") FILTER(WHERE "x"."c0" > 0) AS "lo0", MAX("x"."c0") AS "hi0", MIN("x"."c0") = 0 AS
"n0", BIT_OR(CAST(1 AS BIGINT) << "x"."c1") AS "b1_0" FROM (SELECT "c"."node", "t"."attr", "t"."n",
CASE "t"."attr" WHEN 0 THEN CAST((COALESCE(NULLIF("c"."c0", 0), 41)) AS integer) WHEN 1 THEN
CAST((COALESCE(NULLIF("c"."c1", 0), 41)) AS integer) END AS "v", "c"."w", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_cells_0" AS "c" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "c"."node")
AS "x" GROUP BY "x"."node", "x"."attr", "x"."v") AS "g" JOIN "pganon_work"."r0_tries_0" AS "t" ON
"t"."node" = "g"."node" AND "t"."attr" = "g"."attr";

-- partition.cut.ranked: tried values in cutting order
-- [lgb_mdp, lgb_ncp, local_generalization]
CREATE TABLE pganon_work.r0_ranked_0 AS SELECT "g"."node", "g"."attr", "g"."v", "g"."w", "t"."n",
CAST((ROW_NUMBER() OVER (PARTITION BY "g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN
"g"."v" WHEN 1 THEN "g"."v" END, "g"."v")) AS INT) AS "pos", CAST((SUM("g"."w") OVER (PARTITION BY
"g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN "g"."v" END, "g"."v"
ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS BIGINT) AS "cum", "g"."lo0", "g"."hi0",
"g"."n0", "g"."b1_0" FROM (SELECT "x"."node", "x"."attr", "x"."v", CAST(SUM("x"."w") AS integer) AS
"w", MIN("x"."c0") FILTER(WHERE "x"."c0" > 0) AS "lo0", MAX("x"."c0") AS "hi0", MIN("x"."c0") = 0 AS
"n0", BIT_OR(CAST(1 AS BIGINT) << "x"."c1") AS "b1_0" FROM (SELECT "c"."node", "t"."attr", "t"."n",
CASE "t"."attr" WHEN 0 THEN CAST(("c"."c0") AS integer) WHEN 1 THEN CAST(("c"."c1") AS integer) END
AS "v", "c"."w", "c"."c0", "c"."c1" FROM "pganon_work"."r0_cells_0" AS "c" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "c"."node") AS "x" GROUP BY "x"."node",
"x"."attr", "x"."v") AS "g" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "g"."node" AND
"t"."attr" = "g"."attr";

-- partition.cut.searched: the nearest cut that holds
-- [mondrian]
CREATE TABLE pganon_work.r0_searched_0 AS SELECT "l"."node", "l"."attr", "t"."level", "t"."rank",
"l"."cum", "l"."thr", "l"."mask" FROM (SELECT "b"."node", "b"."attr", MAX("r"."cum") AS "cum",
MAX("r"."v") AS "thr", BIT_OR(CAST(1 AS BIGINT) << ("r"."v" & 63)) AS "mask" FROM (SELECT
"a"."node", "a"."attr", CAST((MIN((ABS(2 * "a"."cum" - "a"."n") << 31) + "a"."pos") & ((CAST(1 AS
BIGINT) << 31) - 1)) AS INT) AS "pos" FROM (SELECT "r"."node", "r"."attr", "r"."n", "r"."cum",
"r"."pos" FROM "pganon_work"."r0_ranked_0" AS "r" JOIN (SELECT "c"."node", "c"."attr", "c"."pos"
FROM (SELECT "r"."node", "r"."attr", "r"."pos", SUM("e"."begins") OVER (PARTITION BY "r"."node",
"r"."attr" ORDER BY "r"."pos") AS "on_left", SUM("e"."ends") OVER (PARTITION BY "r"."node",
"r"."attr") - COALESCE(SUM("e"."ends") OVER (PARTITION BY "r"."node", "r"."attr" ORDER BY
"r"."pos"), 0) AS "on_right" FROM "pganon_work"."r0_ranked_0" AS "r" JOIN (SELECT "p"."node",
"p"."attr" FROM "pganon_work"."r0_hist0_0" AS "p" GROUP BY "p"."node", "p"."attr") AS "k" ON
"k"."node" = "r"."node" AND "k"."attr" = "r"."attr" LEFT JOIN (SELECT "s"."node", "s"."attr",
"e"."pos", SUM("e"."begins") AS "begins", SUM("e"."ends") AS "ends" FROM (SELECT "p"."node",
"p"."attr", MIN("p"."pos") AS "first", MAX("p"."pos") AS "last" FROM "pganon_work"."r0_hist0_0" AS
"p" GROUP BY "p"."node", "p"."attr", "p"."value") AS "s" CROSS JOIN LATERAL (VALUES ("s"."first", 1,
0), ("s"."last", 0, 1)) AS "e"("pos", "begins", "ends") GROUP BY "s"."node", "s"."attr", "e"."pos")
AS "e" ON "e"."node" = "r"."node" AND "e"."attr" = "r"."attr" AND "e"."pos" = "r"."pos") AS "c"
WHERE ("c"."on_left" >= 2) AND ("c"."on_right" >= 2)) AS "q0" ON "q0"."node" = "r"."node" AND
"q0"."attr" = "r"."attr" AND "q0"."pos" = "r"."pos" JOIN (SELECT "k"."node", "k"."attr" FROM
"pganon_work"."r0_checked_0" AS "k" WHERE NOT "k"."holds") AS "k" ON "k"."node" = "r"."node" AND
"k"."attr" = "r"."attr" WHERE "r"."cum" >= 4 AND "r"."n" - "r"."cum" >= 4) AS "a" GROUP BY
"a"."node", "a"."attr") AS "b" JOIN "pganon_work"."r0_ranked_0" AS "r" ON "r"."node" = "b"."node"
AND "r"."attr" = "b"."attr" AND "r"."pos" <= "b"."pos" GROUP BY "b"."node", "b"."attr") AS "l" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "l"."node" AND "t"."attr" = "l"."attr";

-- partition.cut.sides: whether both halves satisfy the requirement
-- [slicing]
CREATE TABLE pganon_work.r0_sides_0 AS SELECT "z"."node", BOOL_AND("z"."holds") AS "allowed" FROM
(SELECT "w"."node", "w"."side", SUM("w"."n") >= 2 AND BOOL_AND("w"."holds") AS "holds" FROM (SELECT
"h"."node", "h"."side", "h"."beside", SUM("h"."n") AS "n", MAX("h"."n") * 2 <= SUM("h"."n") AS
"holds" FROM (SELECT "c"."node", CASE "t"."attr" WHEN 0 THEN COALESCE(NULLIF("c"."c0", 0), 41) <=
"t"."thr" WHEN 1 THEN COALESCE(NULLIF("c"."c1", 0), 41) <= "t"."thr" END AS "side", "c"."beside" AS
"beside", "c"."s0" AS "value", SUM("c"."w") AS "n" FROM "pganon_work"."r0_cells_0" AS "c" JOIN
(SELECT "p"."node", "p"."attr", "p"."cum", "p"."thr" FROM (SELECT "b".*, "t"."more", ROW_NUMBER()
OVER (PARTITION BY "b"."node" ORDER BY "b"."rank") AS "place", COUNT(*) OVER (PARTITION BY
"b"."node") AS "allowed" FROM (SELECT "b".* FROM "pganon_work"."r0_best_0" AS "b") AS "b" JOIN
"pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "b"."node" AND "t"."attr" = "b"."attr") AS "p"
WHERE "p"."place" <= 1 AND ("p"."allowed" >= 1 OR NOT "p"."more")) AS "t" ON "t"."node" = "c"."node"
GROUP BY 1, 2, 3, 4) AS "h" GROUP BY "h"."node", "h"."side", "h"."beside") AS "w" GROUP BY
"w"."node", "w"."side") AS "z" GROUP BY "z"."node";

-- partition.cut.sides0: sensitive values on both sides
-- [mondrian]
CREATE TABLE pganon_work.r0_sides0_0 AS SELECT "p"."node", "p"."attr", "p"."side", "v"."s0" AS
"value", CAST(SUM("v"."w") AS BIGINT) AS "n" FROM (SELECT "c"."cell", "b"."node", "b"."attr",
CAST((CASE "b"."attr" WHEN 0 THEN "c"."c0" <= "b"."thr" WHEN 1 THEN ("b"."mask" >> "c"."c1") & 1 = 1
END) AS INT) AS "side" FROM "pganon_work"."r0_cells_0" AS "c" JOIN (SELECT "b".* FROM
"pganon_work"."r0_best_0" AS "b" WHERE NOT EXISTS(SELECT 1 FROM "pganon_work"."r0_certain0_0" AS "s"
WHERE "s"."node" = "b"."node" AND "s"."attr" = "b"."attr")) AS "b" ON "b"."node" = "c"."node") AS
"p" JOIN "pganon_work"."r0_cellvalues0" AS "v" ON "v"."cell" = "p"."cell" GROUP BY "p"."node",
"p"."attr", "p"."side", "v"."s0";

-- partition.cut.tidy: drop the work tables of this round
-- [mondrian]
DROP TABLE pganon_work.r0_tries_0, pganon_work.r0_ranked_0, pganon_work.r0_best_0,
pganon_work.r0_certain0_0, pganon_work.r0_sides0_0, pganon_work.r0_checked_0,
pganon_work.r0_hist0_0, pganon_work.r0_searched_0, pganon_work.r0_halves_0, pganon_work.r0_cells_0,
pganon_work.r0_nodes_0;

-- partition.cut.tidy: drop the work tables of this round
-- [slicing]
DROP TABLE pganon_work.r0_tries_0, pganon_work.r0_ranked_0, pganon_work.r0_best_0,
pganon_work.r0_sides_0, pganon_work.r0_halves_0, pganon_work.r0_moves_0, pganon_work.r0_cells_0,
pganon_work.r0_nodes_0;

-- partition.cut.tidy: drop the work tables of this round
-- [lgb_mdp, lgb_ncp, local_generalization]
DROP TABLE pganon_work.r0_tries_0, pganon_work.r0_ranked_0, pganon_work.r0_best_0,
pganon_work.r0_halves_0, pganon_work.r0_moves_0, pganon_work.r0_cells_0, pganon_work.r0_nodes_0;

-- partition.cut.tries: the attributes to try for every group
-- [mondrian]
CREATE TABLE pganon_work.r0_tries_0 AS SELECT "x"."node", "x"."n", "x"."attr", "x"."level",
"x"."rank", "x"."available" > "x"."tried" AS "more" FROM (SELECT "r".*, CASE WHEN "r"."again" THEN
"r"."available" WHEN "r"."n" < 16 THEN LEAST("r"."available", 12) ELSE 3 END AS "tried" FROM (SELECT
"l"."node", "l"."n", "l"."again", "a"."attr", "a"."level", CAST((ROW_NUMBER() OVER (PARTITION BY
"l"."node" ORDER BY "a"."loss" DESC, "a"."attr")) AS SMALLINT) AS "rank", CAST((COUNT(*) OVER
(PARTITION BY "l"."node")) AS SMALLINT) AS "available" FROM (SELECT "e"."node", "e"."n",
"e"."again", CAST((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE
((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code"
> 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS
"dict" WHERE "code" > 0)["e"."lo0"]) END) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS
"l0", CAST((0) AS SMALLINT) AS "level0", CAST((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1) AS
DOUBLE PRECISION) / 40) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l1", CAST((0) AS
SMALLINT) AS "level1" FROM "pganon_work"."r0_nodes_0" AS "e" OFFSET 0) AS "l" CROSS JOIN LATERAL
(SELECT "v".* FROM (SELECT "v"."attr", "v"."level", "v"."loss" FROM (VALUES (CAST(0 AS SMALLINT),
"l"."level0", "l"."l0"), (CAST(1 AS SMALLINT), "l"."level1", "l"."l1")) AS "v"("attr", "level",
"loss")) AS "v") AS "a" WHERE "a"."loss" > 0) AS "r") AS "x" WHERE "x"."rank" <= "x"."tried";

-- partition.cut.tries: the attributes to try for every group
-- [slicing]
CREATE TABLE pganon_work.r0_tries_0 AS SELECT "x"."node", "x"."n", "x"."attr", "x"."level",
"x"."rank", "x"."available" > "x"."tried" AS "more" FROM (SELECT "r".*, CASE WHEN "r"."again" THEN
"r"."available" WHEN "r"."n" < 8 THEN LEAST("r"."available", 12) ELSE 1 END AS "tried" FROM (SELECT
"l"."node", "l"."n", "l"."again", "a"."attr", "a"."level", CAST((ROW_NUMBER() OVER (PARTITION BY
"l"."node" ORDER BY ROUND(CAST("a"."loss" AS DECIMAL), 9) DESC, "a"."attr")) AS SMALLINT) AS "rank",
CAST((COUNT(*) OVER (PARTITION BY "l"."node")) AS SMALLINT) AS "available" FROM (SELECT "e"."node",
"e"."n", "e"."again", CAST((GREATEST((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0
THEN 0 ELSE ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict"
WHERE "code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"]) END), CASE WHEN "e"."lo0" <
"e"."hi0" THEN 1e-300 ELSE 0 END)) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l0",
CAST((0) AS SMALLINT) AS "level0", CAST((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1) AS DOUBLE
PRECISION) / 40) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l1", CAST((0) AS SMALLINT)
AS "level1" FROM "pganon_work"."r0_nodes_0" AS "e" OFFSET 0) AS "l" CROSS JOIN LATERAL (SELECT "v".*
FROM (SELECT "v"."attr", "v"."level", "v"."loss" FROM (VALUES (CAST(0 AS SMALLINT), "l"."level0",
"l"."l0"), (CAST(1 AS SMALLINT), "l"."level1", "l"."l1")) AS "v"("attr", "level", "loss")) AS "v")
AS "a" WHERE "a"."loss" > 0) AS "r") AS "x" WHERE "x"."rank" <= "x"."tried";

-- partition.cut.tries: the attributes to try for every group
-- [lgb_mdp, local_generalization]
CREATE TABLE pganon_work.r0_tries_0 AS SELECT "x"."node", "x"."n", "x"."attr", "x"."level",
"x"."rank", "x"."available" > "x"."tried" AS "more" FROM (SELECT "r".*, CASE WHEN "r"."again" THEN
"r"."available" WHEN "r"."n" < 8 THEN LEAST("r"."available", 12) ELSE 1 END AS "tried" FROM (SELECT
"l"."node", "l"."n", "l"."again", "a"."attr", "a"."level", CAST((ROW_NUMBER() OVER (PARTITION BY
"l"."node" ORDER BY ROUND(CAST("a"."loss" AS DECIMAL), 9) DESC, "a"."attr")) AS SMALLINT) AS "rank",
CAST((COUNT(*) OVER (PARTITION BY "l"."node")) AS SMALLINT) AS "available" FROM (SELECT "e"."node",
"e"."n", "e"."again", CAST((GREATEST((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0
THEN 0 ELSE (((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict"
WHERE "code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"])) / 1.0 END), CASE WHEN "e"."lo0" <
"e"."hi0" THEN 1e-300 ELSE 0 END)) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l0",
CAST((0) AS SMALLINT) AS "level0", CAST((CASE WHEN (BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))) < 2 THEN
0 ELSE CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))) AS DOUBLE PRECISION) / 1 END) AS DOUBLE
PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l1", CAST((0) AS SMALLINT) AS "level1" FROM
"pganon_work"."r0_nodes_0" AS "e" OFFSET 0) AS "l" CROSS JOIN LATERAL (SELECT "v".* FROM (SELECT
"v"."attr", "v"."level", "v"."loss" FROM (VALUES (CAST(0 AS SMALLINT), "l"."level0", "l"."l0"),
(CAST(1 AS SMALLINT), "l"."level1", "l"."l1")) AS "v"("attr", "level", "loss")) AS "v") AS "a" WHERE
"a"."loss" > 0) AS "r") AS "x" WHERE "x"."rank" <= "x"."tried";

-- partition.cut.tries: the attributes to try for every group
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_tries_0 AS SELECT "x"."node", "x"."n", "x"."attr", "x"."level",
"x"."rank", "x"."available" > "x"."tried" AS "more" FROM (SELECT "r".*, CASE WHEN "r"."again" THEN
"r"."available" WHEN "r"."n" < 40000 THEN LEAST("r"."available", 12) ELSE 1 END AS "tried" FROM
(SELECT "l"."node", "l"."n", "l"."again", "a"."attr", "a"."level", CAST((ROW_NUMBER() OVER
(PARTITION BY "l"."node" ORDER BY ROUND(CAST("a"."loss" AS DECIMAL), 9) DESC, "a"."attr")) AS
SMALLINT) AS "rank", CAST((COUNT(*) OVER (PARTITION BY "l"."node")) AS SMALLINT) AS "available" FROM
(SELECT "e"."node", "e"."n", "e"."again", CAST((GREATEST((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN
1 WHEN "e"."hi0" = 0 THEN 0 ELSE (((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position"
ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"])) / 1.0 END),
CASE WHEN "e"."lo0" < "e"."hi0" THEN 1e-300 ELSE 0 END)) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE
PRECISION) AS "l0", CAST((0) AS SMALLINT) AS "level0", CAST((CASE WHEN (BIT_COUNT(CAST("e"."b1_0" AS
BIT(64)))) < 2 THEN 0 ELSE CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))) AS DOUBLE PRECISION) / 1
END) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l1", CAST((0) AS SMALLINT) AS "level1"
FROM "pganon_work"."r0_nodes_0" AS "e" OFFSET 0) AS "l" CROSS JOIN LATERAL (SELECT "v".* FROM
(SELECT "v"."attr", "v"."level", "v"."loss" FROM (VALUES (CAST(0 AS SMALLINT), "l"."level0",
"l"."l0"), (CAST(1 AS SMALLINT), "l"."level1", "l"."l1")) AS "v"("attr", "level", "loss")) AS "v")
AS "a" WHERE "a"."loss" > 0) AS "r") AS "x" WHERE "x"."rank" <= "x"."tried";

-- partition.cuts: the cuts by values, for people who come later
-- [mondrian]
CREATE TABLE pganon_stage.r0_cuts AS SELECT (CAST(0 AS BIGINT) << 32) + CAST("m"."node" AS BIGINT) *
2654435761 % 4294967296 AS "node", 0 AS "round", ARRAY_REMOVE(CAST(ARRAY[] AS TEXT[]), NULL) AS
"nulls", CAST((CASE "m"."attr" WHEN 0 THEN 'age' WHEN 1 THEN 'zip' END) AS text) AS "column_name",
CAST((CASE "m"."attr" WHEN 0 THEN CAST("d0"."value" AS TEXT) WHEN 1 THEN CAST(NULL AS TEXT) END) AS
text) AS "threshold", CAST((CASE "m"."attr" WHEN 0 THEN CAST(NULL AS TEXT[]) WHEN 1 THEN (SELECT
ARRAY_AGG(CAST("d"."value" AS TEXT) ORDER BY "d"."code") FROM "pganon_work"."r0_dict1" AS "d" WHERE
(("m"."mask" >> "d"."code") & 1 = 1)) END) AS text[]) AS "members", CAST((CASE "m"."attr" WHEN 0
THEN CAST(NULL AS INT) WHEN 1 THEN CAST(NULL AS INT) END) AS integer) AS "level", CASE WHEN "m"."tl"
> 0 THEN ((CAST(1 AS BIGINT) << 32) + CAST("m"."tl" AS BIGINT) * 2654435761 % 4294967296) ELSE
-(((CAST(0 AS BIGINT) << 32) + CAST((-"m"."tl") AS BIGINT) * 2654435761 % 4294967296)) END AS
"left_node", CASE WHEN "m"."tr" > 0 THEN ((CAST(1 AS BIGINT) << 32) + CAST("m"."tr" AS BIGINT) *
2654435761 % 4294967296) ELSE -(((CAST(0 AS BIGINT) << 32) + CAST((-"m"."tr") AS BIGINT) *
2654435761 % 4294967296)) END AS "right_node" FROM "pganon_work"."r0_moves_0" AS "m" LEFT JOIN
"pganon_work"."r0_dict0" AS "d0" ON "m"."attr" = 0 AND "m"."thr" = "d0"."code" AND "d0"."code" > 0;

-- partition.displays: what records of every mask show
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT 1 AS "nothing"; SELECT "m"."mask", "m"."n" FROM "pganon_work"."r0_masks" AS "m" ORDER BY
"m"."mask" COLLATE "C"; COPY pganon_work.r0_displays (mask, display, form) FROM STDIN;

-- partition.divide: find the parts of the curve that cannot be divided; repeated
-- [anatomy, beta_primacy]

-- partition.divide.histogram: records per value, two nodes together
-- [anatomy]
CREATE TABLE pganon_work.r0_hist_1 AS SELECT "h"."node" >> 1 AS "node", "h"."value",
CAST(SUM("h"."n") AS integer) AS "n" FROM "pganon_work"."r0_hist_0" AS "h" GROUP BY 1, 2;

-- partition.divide.histogram: records per value, two nodes together
-- [beta_primacy]
CREATE TABLE pganon_work.r0_hist_1 AS SELECT "h"."node" >> 1 AS "node", "h"."value",
CAST(SUM("h"."n") AS integer) AS "n", "h"."cluster" FROM "pganon_work"."r0_hist_0" AS "h" GROUP BY
1, 2, "h"."cluster";

-- partition.divide.progress: whether the next level is the root
-- [anatomy, beta_primacy]
SELECT COALESCE(MAX("h"."node"), 0) = 0 AS "rooted" FROM "pganon_work"."r0_hist_1" AS "h";

-- partition.divide.whole: nodes that are not divided
-- [anatomy]
CREATE TABLE pganon_work.r0_whole_0 AS WITH "u" AS MATERIALIZED (SELECT "c"."node" FROM (SELECT
"c"."node" >> 1 AS "node", MIN("c"."n") AS "least", BOOL_AND("c"."most" * 2 <= "c"."n") AS
"eligible" FROM (SELECT "h"."node", SUM("h"."n") AS "n", MAX("h"."n") AS "most" FROM
"pganon_work"."r0_hist_0" AS "h" GROUP BY "h"."node") AS "c" GROUP BY 1) AS "c" JOIN (SELECT
"h"."node", MAX("h"."n") AS "most" FROM "pganon_work"."r0_hist_1" AS "h" GROUP BY "h"."node") AS "m"
ON "m"."node" = "c"."node" WHERE NOT ("m"."most" * 2 <= "c"."least")) SELECT "b".* FROM (SELECT 1 AS
"level", "u"."node" FROM "u" UNION ALL SELECT "w"."level", "w"."node" FROM (SELECT DISTINCT 0 AS
"level", "h"."node" FROM "pganon_work"."r0_hist_0" AS "h") AS "w" WHERE NOT EXISTS(SELECT 1 FROM "u"
WHERE "u"."node" = "w"."node" >> (1 - "w"."level"))) AS "b";

-- partition.divide.whole: nodes that are not divided
-- [beta_primacy]
CREATE TABLE pganon_work.r0_whole_0 AS WITH "u" AS MATERIALIZED (SELECT "n"."cluster", "n"."node"
FROM (SELECT "h"."cluster", "h"."node" AS "node", "h"."n", "l"."f", LEAST((((((2 * "h"."node") + 1
<< 0) * "p"."size" + "p"."pieces" - 1) / "p"."pieces") - ((((2 * "h"."node") + 0 << 0) * "p"."size"
+ "p"."pieces" - 1) / "p"."pieces")), (((((2 * "h"."node" + 1) + 1 << 0) * "p"."size" + "p"."pieces"
- 1) / "p"."pieces") - ((((2 * "h"."node" + 1) + 0 << 0) * "p"."size" + "p"."pieces" - 1) /
"p"."pieces"))) AS "room" FROM "pganon_work"."r0_hist_1" AS "h" JOIN "pganon_work"."r0_pieces" AS
"p" ON "p"."cluster" = "h"."cluster" JOIN "pganon_work"."r0_limits" AS "l" ON "l"."value" =
"h"."value" WHERE "p"."pieces" >> 0 >= 2) AS "n" GROUP BY "n"."cluster", "n"."node" HAVING
MIN("n"."room") < 2 OR BOOL_OR("n"."n" > FLOOR("n"."f" * "n"."room" * 1.000000000001))) SELECT "b".*
FROM (SELECT 1 AS "level", "u"."node", "u"."cluster" FROM "u" UNION ALL SELECT "w"."level",
"w"."node", "w"."cluster" FROM (SELECT DISTINCT 0 AS "level", "h"."node", "h"."cluster" FROM
"pganon_work"."r0_hist_0" AS "h") AS "w" WHERE NOT EXISTS(SELECT 1 FROM "u" WHERE "u"."node" =
"w"."node" >> (1 - "w"."level") AND "u"."cluster" = "w"."cluster")) AS "b";

-- partition.eligible0: whether hidden values of zip can be in buckets
-- [lgb_mdp]
SELECT "x"."cells", "x"."most", "x"."kinds", "x"."cells" > 0 AND ("x"."cells" < 2 OR "x"."kinds" <
2) AS "short", ("x"."cells" > 0 AND ("x"."cells" < 2 OR "x"."kinds" < 2)) AND FALSE AS "withheld"
FROM (SELECT CAST(COALESCE(SUM("h"."n"), 0) AS BIGINT) AS "cells", COALESCE(MAX("h"."n"), 0) AS
"most", COUNT(*) AS "kinds" FROM "pganon_work"."r0_histogram0" AS "h") AS "x";

-- partition.eligible0: whether hidden values of zip can be in buckets
-- [lgb_ncp]
SELECT "x"."cells", "x"."most", "x"."kinds", ("x"."most" * 2 > "x"."cells") AS "short", ("x"."most"
* 2 > "x"."cells") AND FALSE AS "withheld" FROM (SELECT CAST(COALESCE(SUM("h"."n"), 0) AS BIGINT) AS
"cells", COALESCE(MAX("h"."n"), 0) AS "most", COUNT(*) AS "kinds" FROM "pganon_work"."r0_histogram0"
AS "h") AS "x";

-- partition.eligible0: whether hidden values of zip can be in buckets
-- [local_bucketization]
SELECT "x"."cells", "x"."most", "x"."kinds", "x"."cells" > 0 AND ("x"."cells" < 1 OR "x"."kinds" <
2) AS "short", ("x"."cells" > 0 AND ("x"."cells" < 1 OR "x"."kinds" < 2)) AND FALSE AS "withheld"
FROM (SELECT CAST(COALESCE(SUM("h"."n"), 0) AS BIGINT) AS "cells", COALESCE(MAX("h"."n"), 0) AS
"most", COUNT(*) AS "kinds" FROM "pganon_work"."r0_histogram0" AS "h") AS "x";

-- partition.eligible1: whether hidden values of disease can be in buckets
-- [lgb_mdp, local_bucketization]
SELECT "x"."cells", "x"."most", "x"."kinds", ("x"."most" * 2 > "x"."cells") AS "short", ("x"."most"
* 2 > "x"."cells") AND FALSE AS "withheld" FROM (SELECT CAST(COALESCE(SUM("h"."n"), 0) AS BIGINT) AS
"cells", COALESCE(MAX("h"."n"), 0) AS "most", COUNT(*) AS "kinds" FROM "pganon_work"."r0_histogram1"
AS "h") AS "x";

-- partition.eligible1: whether hidden values of drug can be in buckets
-- [lgb_ncp]
SELECT "x"."cells", "x"."most", "x"."kinds", ("x"."most" * 2 > "x"."cells") AS "short", ("x"."most"
* 2 > "x"."cells") AND FALSE AS "withheld" FROM (SELECT CAST(COALESCE(SUM("h"."n"), 0) AS BIGINT) AS
"cells", COALESCE(MAX("h"."n"), 0) AS "most", COUNT(*) AS "kinds" FROM "pganon_work"."r0_histogram1"
AS "h") AS "x";

-- partition.feasible: whether the requirements can be reached at all
-- [one_dimensional, mondrian]
SELECT COUNT(DISTINCT "f"."node") AS "parts", COUNT(DISTINCT "f"."node") FILTER(WHERE NOT
"f"."holds") AS "failing_parts", MIN("f"."measure") FILTER(WHERE "f"."requirement" = 0) AS
"reached0", BOOL_OR(NOT "f"."holds" AND "f"."requirement" = 0) AS "missed0", MIN("f"."measure")
FILTER(WHERE "f"."requirement" = 1) AS "reached1", BOOL_OR(NOT "f"."holds" AND "f"."requirement" =
1) AS "missed1", (SELECT CAST(COALESCE(SUM("c"."w"), 0) AS BIGINT) FROM "pganon_work"."r0_cells" AS
"c" WHERE EXISTS(SELECT 1 FROM "pganon_work"."r0_fit" AS "f" WHERE "f"."node" = "c"."node" AND NOT
"f"."holds")) AS "failing_records" FROM "pganon_work"."r0_fit" AS "f";

-- partition.feasible: whether the requirement can be reached at all
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) AS "cells", (SELECT "h"."n" FROM (SELECT "u".* FROM (SELECT 1 AS "value", (CAST(1 AS
DOUBLE PRECISION) * CARDINALITY("c"."c0")) AS "n", "c"."whole" FROM "pganon_work"."r0_whole" AS "c"
UNION ALL SELECT 2 AS "value", (CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c1")) AS "n",
"c"."whole" FROM "pganon_work"."r0_whole" AS "c") AS "u") AS "h" WHERE "h"."value" = 1) AS
"product1", (SELECT "h"."n" FROM (SELECT "u".* FROM (SELECT 1 AS "value", (CAST(1 AS DOUBLE
PRECISION) * CARDINALITY("c"."c0")) AS "n", "c"."whole" FROM "pganon_work"."r0_whole" AS "c" UNION
ALL SELECT 2 AS "value", (CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c1")) AS "n", "c"."whole"
FROM "pganon_work"."r0_whole" AS "c") AS "u") AS "h" WHERE "h"."value" = 2) AS "product2", (SELECT
"h"."n" FROM (SELECT "u".* FROM (SELECT 1 AS "value", COALESCE("s"."n", 0) AS "n", "c"."whole" FROM
"pganon_work"."r0_whole" AS "c" LEFT JOIN (SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
"b"."whole" FROM (SELECT "e"."whole", "p"."v1" FROM (SELECT ("u"."x" + 1) AS "x", "u"."whole" FROM
(SELECT UNNEST("c"."c0") AS "x", "c"."whole" FROM "pganon_work"."r0_whole" AS "c") AS "u") AS "e"
JOIN (SELECT DISTINCT "p"."v1" FROM "pganon_work"."r0_support1" AS "p") AS "p" ON "e"."x" =
"p"."v1") AS "b" GROUP BY "b"."whole") AS "s" ON "c"."whole" = "s"."whole" UNION ALL SELECT 2 AS
"value", COALESCE("s"."n", 0) AS "n", "c"."whole" FROM "pganon_work"."r0_whole" AS "c" LEFT JOIN
(SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS "n", "b"."whole" FROM (SELECT "e"."whole", "p"."v1"
FROM (SELECT ("u"."x" + 42) AS "x", "u"."whole" FROM (SELECT UNNEST("c"."c1") AS "x", "c"."whole"
FROM "pganon_work"."r0_whole" AS "c") AS "u") AS "e" JOIN (SELECT DISTINCT "p"."v1" FROM
"pganon_work"."r0_support2" AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."whole") AS
"s" ON "c"."whole" = "s"."whole") AS "u") AS "h" WHERE "h"."value" = 1) AS "supported1", (SELECT
"h"."n" FROM (SELECT "u".* FROM (SELECT 1 AS "value", COALESCE("s"."n", 0) AS "n", "c"."whole" FROM
"pganon_work"."r0_whole" AS "c" LEFT JOIN (SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
"b"."whole" FROM (SELECT "e"."whole", "p"."v1" FROM (SELECT ("u"."x" + 1) AS "x", "u"."whole" FROM
(SELECT UNNEST("c"."c0") AS "x", "c"."whole" FROM "pganon_work"."r0_whole" AS "c") AS "u") AS "e"
JOIN (SELECT DISTINCT "p"."v1" FROM "pganon_work"."r0_support1" AS "p") AS "p" ON "e"."x" =
"p"."v1") AS "b" GROUP BY "b"."whole") AS "s" ON "c"."whole" = "s"."whole" UNION ALL SELECT 2 AS
"value", COALESCE("s"."n", 0) AS "n", "c"."whole" FROM "pganon_work"."r0_whole" AS "c" LEFT JOIN
(SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS "n", "b"."whole" FROM (SELECT "e"."whole", "p"."v1"
FROM (SELECT ("u"."x" + 42) AS "x", "u"."whole" FROM (SELECT UNNEST("c"."c1") AS "x", "c"."whole"
FROM "pganon_work"."r0_whole" AS "c") AS "u") AS "e" JOIN (SELECT DISTINCT "p"."v1" FROM
"pganon_work"."r0_support2" AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."whole") AS
"s" ON "c"."whole" = "s"."whole") AS "u") AS "h" WHERE "h"."value" = 2) AS "supported2", (SELECT
CARDINALITY("w"."c0") FROM "pganon_work"."r0_whole" AS "w") AS "values0", (SELECT
CARDINALITY("w"."c1") FROM "pganon_work"."r0_whole" AS "w") AS "values1" FROM
"pganon_work"."r0_cells" AS "c";

-- partition.feasible0: whether ir_k_anonymity can be reached
-- [danonyir, geneir]
SELECT "m"."measure" AS "reached" FROM (SELECT COUNT(*) AS "measure", "g"."class" FROM (SELECT
"h"."value", "h"."n", "h"."class" FROM (SELECT "r"."individual" AS "value", COUNT(*) AS "n",
"r"."class" FROM (SELECT 1 AS "class", "c"."individual", "c"."s0" AS "value" FROM
"pganon_work"."r0_coded" AS "c") AS "r" GROUP BY "r"."individual", "r"."class") AS "h") AS "g" GROUP
BY "g"."class") AS "m";

-- partition.feasible1: whether distinct_l_diversity can be reached
-- [danonyir, geneir]
SELECT "m"."measure" AS "reached" FROM (SELECT COUNT(*) AS "measure", "g"."class" FROM (SELECT
"h"."value", "h"."n", "h"."class" FROM (SELECT "r"."value", COUNT(*) AS "n", "r"."class" FROM
(SELECT 1 AS "class", "c"."individual", "c"."s0" AS "value" FROM "pganon_work"."r0_coded" AS "c") AS
"r" GROUP BY "r"."value", "r"."class") AS "h") AS "g" GROUP BY "g"."class") AS "m";

-- partition.fit: every part measured as one class, the best it can reach
-- [one_dimensional, mondrian]
CREATE TABLE pganon_work.r0_fit AS SELECT "m"."node", 0 AS "requirement", CAST("m"."measure" AS
DOUBLE PRECISION) AS "measure", ("m"."measure" >= 4) AS "holds" FROM (SELECT CAST(SUM("g"."n") AS
BIGINT) AS "measure", "g"."node" FROM (SELECT "h"."value", "h"."n", "h"."node" FROM (SELECT
"c"."node", 0 AS "value", CAST(SUM("c"."w") AS BIGINT) AS "n" FROM "pganon_work"."r0_cells" AS "c"
GROUP BY "c"."node", 2) AS "h") AS "g" GROUP BY "g"."node") AS "m" UNION ALL SELECT "m"."node", 1 AS
"requirement", CAST("m"."measure" AS DOUBLE PRECISION) AS "measure", ("m"."measure" >= 2) AS "holds"
FROM (SELECT COUNT(*) AS "measure", "g"."node" FROM (SELECT "h"."value", "h"."n", "h"."node" FROM
(SELECT "c"."node", "c"."s0" AS "value", CAST(SUM("c"."w") AS BIGINT) AS "n" FROM
"pganon_work"."r0_cells" AS "c" GROUP BY "c"."node", 2) AS "h") AS "g" GROUP BY "g"."node") AS "m";

-- partition.formed: clusters of every block
-- [qs_greedy]
CREATE TABLE pganon_work.r0_formed AS SELECT u.* FROM (SELECT f.block, (f.r).cluster, (f.r).cell,
(f.r).n FROM (SELECT b.block, pganon.qs_clusters('pganon_work.r0_points', b.block,
'{1,2}'::int2[]::int[], '{0,1}'::int2[]::int[], 4, 1, ARRAY['pganon_work.r0_support1',
'pganon_work.r0_support2']::pg_catalog.regclass[], true) AS r FROM generate_series(1, 1, 16) AS
b(block)) AS f) AS u;

-- partition.formed: clusters of every block
-- [qs_efficient]
CREATE TABLE pganon_work.r0_formed AS SELECT u.* FROM (SELECT f.block, (f.r).cluster, (f.r).cell,
(f.r).n FROM (SELECT b.block, pganon.qs_clusters('pganon_work.r0_points', b.block,
'{1,2}'::int2[]::int[], '{0,1}'::int2[]::int[], 4, 1, ARRAY['pganon_work.r0_support1',
'pganon_work.r0_support2']::pg_catalog.regclass[], false) AS r FROM generate_series(1, 1, 16) AS
b(block)) AS f) AS u;

-- partition.gaps: what suppression loses beyond every label
-- [full_domain]
CREATE TABLE pganon_work.r0_gaps AS SELECT "u".* FROM (SELECT 0 AS "attribute", "g"."level",
ARRAY_AGG("g"."slot" ORDER BY "g"."slot") AS "slots", ARRAY_AGG("g"."gap" ORDER BY "g"."slot") AS
"gaps" FROM (SELECT DISTINCT "s"."level", "s"."slot", "s"."gap" FROM "pganon_work"."r0_slots0" AS
"s") AS "g" GROUP BY "g"."level" UNION ALL SELECT 1 AS "attribute", "g"."level",
ARRAY_AGG("g"."slot" ORDER BY "g"."slot") AS "slots", ARRAY_AGG("g"."gap" ORDER BY "g"."slot") AS
"gaps" FROM (SELECT DISTINCT "s"."level", "s"."slot", "s"."gap" FROM "pganon_work"."r0_slots1" AS
"s") AS "g" GROUP BY "g"."level") AS "u";

-- partition.gather: all final groups with their cells
-- [mondrian]
CREATE TABLE pganon_work.r0_divided AS SELECT ((CAST(0 AS BIGINT) << 32) + CAST("d"."leaf" AS
BIGINT) * 2654435761 % 4294967296) AS "gid", "d"."c0", "d"."c1", "d"."cell", "d"."d0", "d"."w" FROM
"pganon_work"."r0_done_0" AS "d";

-- partition.gather: all final groups with their cells
-- [slicing]
CREATE TABLE pganon_work.r0_gathered AS SELECT ((CAST(0 AS BIGINT) << 32) + CAST("d"."leaf" AS
BIGINT) * 2654435761 % 4294967296) AS "gid", "d"."c0", "d"."c1" FROM "pganon_work"."r0_done_0" AS
"d";

-- partition.gather: all final groups with their cells
-- [lgb_mdp, local_generalization]
CREATE TABLE pganon_work.r0_group_cells AS SELECT ((CAST(0 AS BIGINT) << 32) + CAST("d"."leaf" AS
BIGINT) * 2654435761 % 4294967296) AS "gid", "d"."c0", "d"."c1", "d"."display" FROM
"pganon_work"."r0_done_0" AS "d" UNION ALL SELECT "g"."gid", "c"."c0", "c"."c1", "c"."display" FROM
(SELECT ((CAST((1 + "g"."round") AS BIGINT) << 32) + CAST(("g"."place" + 2 * "n"."before") AS
BIGINT) * 2654435761 % 4294967296) AS "gid", UNNEST("g"."cells") AS "cell" FROM
"pganon_work"."r0_median_groups" AS "g" JOIN (SELECT "g"."block", "g"."round",
CAST((SUM("g"."place") OVER (PARTITION BY "g"."round" ORDER BY "g"."block") - "g"."place") AS
BIGINT) AS "before" FROM "pganon_work"."r0_median_groups" AS "g" WHERE "g"."cells" IS NULL) AS "n"
ON "n"."block" = "g"."block" AND "n"."round" = "g"."round") AS "g" JOIN
"pganon_work"."r0_median_cells" AS "c" ON "c"."cell" = "g"."cell";

-- partition.gather: all final groups with their cells
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_blocks AS SELECT ((CAST(0 AS BIGINT) << 32) + CAST("d"."leaf" AS BIGINT)
* 2654435761 % 4294967296) AS "gid", "d"."c0", "d"."c1", "d"."display" FROM
"pganon_work"."r0_done_0" AS "d";

-- partition.group_cells: the group of every cell
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_group_cells AS SELECT "g"."gid", "c"."display", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_cells" AS "c" JOIN "pganon_work"."r0_cell_groups" AS "g" ON "g"."cell" =
"c"."cell";

-- partition.group_cells: a group for each combination of values that are shown
-- [local_bucketization]
CREATE TABLE pganon_work.r0_group_cells AS SELECT ROW_NUMBER() OVER (ORDER BY "p"."display",
"p"."c0", "p"."c1") AS "gid", "p"."display", "p"."c0", "p"."c1" FROM (SELECT "c"."rid", "c"."hides"
AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record",
"c"."o0" FROM "pganon_work"."r0_coded" AS "c") AS "p" GROUP BY "p"."display", "p"."c0", "p"."c1";

-- partition.grouped: classes that show the same are one
-- [one_dimensional]
CREATE TABLE pganon_work.r0_grouped AS SELECT "n"."one" AS "gid", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_classes" AS "c" JOIN (SELECT "e"."gid", (MIN("e"."gid") OVER (PARTITION BY
"e"."lo0", "e"."hi0", "e"."n0", "e"."b1_0")) AS "one" FROM (SELECT "c"."gid", MIN("c"."c0")
FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS "n0",
BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0" FROM "pganon_work"."r0_classes" AS "c" GROUP BY
"c"."gid") AS "e") AS "n" ON "n"."gid" = "c"."gid";

-- partition.grouped: the cells that are released
-- [mondrian]
CREATE TABLE pganon_work.r0_grouped AS SELECT "c"."node" AS "gid", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_cells_1" AS "c";

-- partition.grouped: the class of every combination of values
-- [full_domain]
CREATE TABLE pganon_work.r0_grouped AS SELECT "t"."c0", "t"."c1", COALESCE("p0"."gid") AS "gid" FROM
(SELECT "c"."c0", "c"."c1", (((SELECT ARRAY_AGG("s"."slot" << 0 ORDER BY "s"."code") FROM
"pganon_work"."r0_slots0" AS "s" WHERE "s"."level" = 0))["c"."c0" + 1]) | (((SELECT
ARRAY_AGG("s"."slot" << 2 ORDER BY "s"."code") FROM "pganon_work"."r0_slots1" AS "s" WHERE
"s"."level" = 0))["c"."c1" + 1]) AS "k0" FROM "pganon_work"."r0_cells" AS "c") AS "t" LEFT JOIN
"pganon_work"."r0_passing" AS "p0" ON "p0"."place" = 0 AND ("t"."k0" & 15) = "p0"."k0" WHERE
COALESCE("p0"."gid") IS NOT NULL;

-- partition.grouped: the bucket of every record
-- [slicing]
CREATE TABLE pganon_work.r0_grouped AS SELECT "k"."rid", "b"."gid" AS "b0" FROM
"pganon_work"."r0_judged" AS "k" JOIN (SELECT DISTINCT "g"."gid", "g"."c0", "g"."c1" FROM
"pganon_work"."r0_gathered" AS "g") AS "b" ON "b"."c0" = "k"."c0" AND "b"."c1" = "k"."c1";

-- partition.grouped: the buckets of every record
-- [slamsa]
CREATE TABLE pganon_work.r0_grouped AS SELECT "p0"."rid", "p0"."b0" FROM
"pganon_work"."r0_partition_0" AS "p0";

-- partition.grouped: the class and the buckets of every record
-- [sloms]
CREATE TABLE pganon_work.r0_grouped AS SELECT "p0"."rid", "p0"."b0", "p1"."b1", "p2"."b2" FROM
"pganon_work"."r0_classes" AS "p0" JOIN "pganon_work"."r0_buckets0_0" AS "p1" ON "p1"."rid" =
"p0"."rid" JOIN "pganon_work"."r0_buckets1_0" AS "p2" ON "p2"."rid" = "p0"."rid";

-- partition.grouped: the group and the buckets of every record
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_local_grouped AS SELECT "p"."c0", "p"."c1", "p"."rid", "p"."display",
"p"."v0", "p"."v1", "p"."p0", "p"."record", "p"."o0", "g"."class_id" AS "group_id", "h0"."b" AS
"b0", (SELECT ARRAY_AGG("n"."b1" ORDER BY "n"."gid") FROM "pganon_work"."r0_numbers_b1" AS
"n")[("h1"."base" + ("p"."rid" - "h1"."first" + "h1"."shift") % "h1"."modulo") + 1] AS "b1" FROM
(SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0",
"c"."v1", "c"."p0", "c"."record", "c"."o0" FROM "pganon_work"."r0_coded" AS "c") AS "p" JOIN
"pganon_work"."r0_grouped_classes" AS "g" ON "g"."display" = "p"."display" AND "g"."c0" = "p"."c0"
AND "g"."c1" = "p"."c1" LEFT JOIN (SELECT "h"."rid", "n"."b0" AS "b", "h"."v" FROM
"pganon_work"."r0_bucketed0" AS "h" JOIN "pganon_work"."r0_numbers_b0" AS "n" ON "n"."gid" =
"h"."b") AS "h0" ON "h0"."rid" = CASE WHEN "p"."s0" > 0 THEN "p"."rid" END LEFT JOIN
"pganon_work"."r0_ranges1" AS "h1" ON "h1"."code" = "p"."s1" AND "p"."rid" >= "h1"."first" AND
"p"."rid" < "h1"."last";

-- partition.grouped: the group and the buckets of every record
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_local_grouped AS SELECT "p"."c0", "p"."c1", "p"."rid", "p"."display",
"p"."v0", "p"."v1", "p"."p0", "p"."record", "p"."o0", "p"."o1", "g"."class_id" AS "group_id",
"h0"."b" AS "b0", "h1"."b" AS "b1" FROM (SELECT "c"."rid", "c"."hides" AS "display", "c"."c0",
"c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0", "c"."o1" FROM
"pganon_work"."r0_coded" AS "c") AS "p" JOIN "pganon_work"."r0_grouped_classes" AS "g" ON
"g"."display" = "p"."display" AND "g"."c0" = "p"."c0" AND "g"."c1" = "p"."c1" LEFT JOIN (SELECT
"h"."rid", "n"."b0" AS "b", "h"."v" FROM (SELECT "s"."rid", "s"."b", "p"."v0" AS "v" FROM
"pganon_work"."r0_shared" AS "s" JOIN (SELECT "c"."rid", "c"."hides" AS "display", "c"."c0",
"c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0", "c"."o1" FROM
"pganon_work"."r0_coded" AS "c") AS "p" ON "p"."rid" = "s"."rid" WHERE "s"."lead" = 0 AND "p"."s0" >
0) AS "h" JOIN "pganon_work"."r0_numbers_b0" AS "n" ON "n"."gid" = "h"."b") AS "h0" ON "h0"."rid" =
CASE WHEN "p"."s0" > 0 THEN "p"."rid" END LEFT JOIN (SELECT "h"."rid", "n"."b0" AS "b", "h"."v" FROM
(SELECT "s"."rid", "s"."b", "p"."v1" AS "v" FROM "pganon_work"."r0_shared" AS "s" JOIN (SELECT
"c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1",
"c"."p0", "c"."record", "c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c") AS "p" ON "p"."rid"
= "s"."rid" WHERE "s"."lead" = 0 AND "p"."s1" > 0) AS "h" JOIN "pganon_work"."r0_numbers_b0" AS "n"
ON "n"."gid" = "h"."b") AS "h1" ON "h1"."rid" = CASE WHEN "p"."s1" > 0 THEN "p"."rid" END;

-- partition.grouped: the group and the buckets of every record
-- [local_generalization]
CREATE TABLE pganon_work.r0_local_grouped AS SELECT "p"."c0", "p"."c1", "p"."rid", "p"."display",
"p"."v0", "p"."v1", "p"."p0", "p"."record", "p"."o0", "g"."class_id" AS "group_id", "h0"."b" AS
"b0", "h1"."b" AS "b1" FROM (SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1",
"c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0" FROM
"pganon_work"."r0_coded" AS "c") AS "p" JOIN "pganon_work"."r0_grouped_classes" AS "g" ON
"g"."display" = "p"."display" AND "g"."c0" = "p"."c0" AND "g"."c1" = "p"."c1" LEFT JOIN (SELECT
"h"."rid", "n"."b0" AS "b", "h"."v" FROM "pganon_work"."r0_bucketed0" AS "h" JOIN
"pganon_work"."r0_numbers_b0" AS "n" ON "n"."gid" = "h"."b") AS "h0" ON "h0"."rid" = CASE WHEN
"p"."s0" > 0 THEN "p"."rid" END LEFT JOIN (SELECT "h"."rid", "n"."b1" AS "b", "h"."v" FROM
"pganon_work"."r0_bucketed1" AS "h" JOIN "pganon_work"."r0_numbers_b1" AS "n" ON "n"."gid" =
"h"."b") AS "h1" ON "h1"."rid" = CASE WHEN "p"."s1" > 0 THEN "p"."rid" END;

-- partition.grouped: the class of every record
-- [beta_primacy]
CREATE TABLE pganon_work.r0_grouped AS SELECT ((CAST("t"."block" AS BIGINT) << 32) + CAST("t"."leaf"
AS BIGINT) * 2654435761 % 4294967296) AS "gid", "r"."rid", "r"."c0", "r"."c1" FROM (SELECT
"b"."rid", "b"."block", "u"."bucket", "b"."c0", "b"."c1", ROW_NUMBER() OVER (PARTITION BY
"b"."block", "u"."bucket" ORDER BY "b"."rid") AS "rank" FROM "pganon_work"."r0_blocked" AS "b" JOIN
(SELECT "p"."block", "p"."bucket", UNNEST("p"."values") AS "value" FROM "pganon_work"."r0_plan" AS
"p") AS "u" ON "u"."block" = "b"."block" AND "u"."value" = "b"."value") AS "r" JOIN (SELECT
"i"."block", "i"."bucket", "i"."leaf", GENERATE_SERIES("i"."last" - "i"."size" + 1, "i"."last") AS
"rank" FROM (SELECT "d"."block", "d"."bucket", "d"."leaf", "d"."size", SUM("d"."size") OVER
(PARTITION BY "d"."block", "d"."bucket" ORDER BY "d"."leaf") AS "last" FROM (SELECT "p"."block",
"p"."bucket", "x"."leaf", "x"."size" FROM "pganon_work"."r0_plan" AS "p" CROSS JOIN LATERAL
UNNEST("p"."sizes") WITH ORDINALITY AS "x"("size", "leaf")) AS "d") AS "i") AS "t" ON "t"."block" =
"r"."block" AND "t"."bucket" = "r"."bucket" AND "t"."rank" = "r"."rank";

-- partition.grouped: the class of every record
-- [kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_grouped AS SELECT "f"."gid", "r"."rid", "r"."c0", "r"."c1" FROM
"pganon_work"."r0_blocked" AS "r" JOIN "pganon_work"."r0_grown" AS "f" ON "f"."rid" = "r"."rid";

-- partition.grouped: the class of every record
-- [js_reduce]
CREATE TABLE pganon_work.r0_grouped AS SELECT "f"."gid", "r"."rid", "r"."c0", "r"."c1" FROM
"pganon_work"."r0_coded" AS "r" JOIN "pganon_work"."r0_reduced" AS "f" ON "f"."rid" = "r"."rid" JOIN
"pganon_work"."r0_settled" AS "s" ON "s"."gid" = "f"."gid";

-- partition.grouped: the class of every record
-- [danonyir, geneir]
CREATE TABLE pganon_work.r0_grouped AS SELECT "k"."gid", "c"."rid", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."individual" =
"c"."individual" JOIN "pganon_work"."r0_classed" AS "k" ON "k"."rid" = "i"."rid";

-- partition.grouped_classes: the group of all records that show the same
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_grouped_classes AS SELECT "n"."group_id" AS "class_id", "g"."display",
"g"."c0", "g"."c1" FROM "pganon_work"."r0_group_cells" AS "g" JOIN
"pganon_work"."r0_numbers_group_id" AS "n" ON "n"."gid" = "g"."gid";

-- partition.groups: groups of records that differ in every sensitive column of a table
-- [msb]
SELECT 1 AS "nothing"; SELECT "b"."block", "b"."rid", "b"."s0", "b"."s1" FROM
"pganon_work"."r0_vectors" AS "b" WHERE "b"."block" >= 0 AND "b"."block" < 1 ORDER BY "b"."block",
"b"."rid"; COPY pganon_work.r0_grouped (rid, b0) FROM STDIN;

-- partition.hidden: hidden values of all columns together
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_hidden AS SELECT COUNT(*) AS "w", "p"."s0", "p"."s1" FROM (SELECT
"c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1",
"c"."p0", "c"."record", "c"."o0" FROM "pganon_work"."r0_coded" AS "c") AS "p" GROUP BY "p"."s0",
"p"."s1";

-- partition.hidden: hidden values of all columns together
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_hidden AS SELECT COUNT(*) AS "w", "p"."s0", "p"."s1" FROM (SELECT
"c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1",
"c"."p0", "c"."record", "c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c") AS "p" GROUP BY
"p"."s0", "p"."s1";

-- partition.hist: records by key
-- [full_domain]
CREATE TABLE pganon_work.r0_hist AS SELECT "c"."n", (((SELECT ARRAY_AGG("s"."slot" << 0 ORDER BY
"s"."code") FROM "pganon_work"."r0_slots0" AS "s" WHERE "s"."level" = 0))["c"."c0" + 1]) | (((SELECT
ARRAY_AGG("s"."slot" << 2 ORDER BY "s"."code") FROM "pganon_work"."r0_slots1" AS "s" WHERE
"s"."level" = 0))["c"."c1" + 1]) AS "k0", "c"."b0_0" FROM "pganon_work"."r0_cells" AS "c";

-- partition.histogram: records per value in every piece
-- [anatomy]
CREATE TABLE pganon_work.r0_hist_0 AS SELECT CAST((CAST(("p"."place" - 1) AS BIGINT) * 8 / 1000) AS
INT) AS "node", "p"."s0" AS "value", CAST(COUNT(*) AS integer) AS "n" FROM "pganon_work"."r0_coded"
AS "p" GROUP BY 1, 2;

-- partition.histogram: records per value in every piece
-- [beta_primacy]
CREATE TABLE pganon_work.r0_hist_0 AS SELECT "p"."cluster", CAST((CAST(("p"."place" - 1) AS BIGINT)
* "s"."pieces" / "s"."size") AS INT) AS "node", "p"."value", COUNT(*) AS "n" FROM
"pganon_work"."r0_placed" AS "p" JOIN "pganon_work"."r0_pieces" AS "s" ON "s"."cluster" =
"p"."cluster" GROUP BY 1, 2, 3;

-- partition.histogram0: hidden values of zip
-- [lgb_mdp, lgb_ncp, local_bucketization]
CREATE TABLE pganon_work.r0_histogram0 AS SELECT "h"."code", "h"."n", CAST(NULL AS DOUBLE PRECISION)
AS "position" FROM (SELECT "p"."s0" AS "code", CAST(SUM("p"."w") AS BIGINT) AS "n" FROM
"pganon_work"."r0_hidden" AS "p" WHERE "p"."s0" > 0 GROUP BY "p"."s0") AS "h" JOIN
"pganon_work"."r0_sdict0" AS "d" ON "d"."code" = "h"."code";

-- partition.histogram1: hidden values of disease
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_histogram1 AS SELECT "h"."code", "h"."n", CAST(NULL AS DOUBLE PRECISION)
AS "position" FROM (SELECT "p"."s1" AS "code", CAST(SUM("p"."w") AS BIGINT) AS "n" FROM
"pganon_work"."r0_hidden" AS "p" WHERE "p"."s1" > 0 GROUP BY "p"."s1") AS "h" JOIN
"pganon_work"."r0_sdict1" AS "d" ON "d"."code" = "h"."code";

-- partition.histogram1: hidden values of drug
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_histogram1 AS SELECT "h"."code", "h"."n", CAST(NULL AS DOUBLE PRECISION)
AS "position" FROM (SELECT "p"."s1" AS "code", CAST(SUM("p"."w") AS BIGINT) AS "n" FROM
"pganon_work"."r0_hidden" AS "p" WHERE "p"."s1" > 0 GROUP BY "p"."s1") AS "h" JOIN
"pganon_work"."r0_sdict1" AS "d" ON "d"."code" = "h"."code";

-- partition.individuals: individuals with what their records have
-- [danonyir]
CREATE TABLE pganon_work.r0_individuals AS SELECT ROW_NUMBER() OVER (ORDER BY
HASHTEXTEXTENDED("g"."individual", (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret"
AS "s" WHERE "s"."run_id" = 0)), "g"."individual") AS "rid", "g".* FROM (SELECT "c"."individual",
CAST(COUNT("c"."rid") AS INT) AS "n", ARRAY_AGG("c"."s0") FILTER(WHERE "c"."s0" IS NOT NULL) AS
"held0", MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") =
0 AS "n0", MIN("c"."c0") AS "c0", ARRAY_AGG(DISTINCT "c"."c1") AS "b1", MIN("c"."c1") AS "c1" FROM
"pganon_work"."r0_coded" AS "c" GROUP BY "c"."individual") AS "g";

-- partition.individuals: number of individuals
-- [danonyir, geneir]
SELECT COUNT(*) AS "individuals" FROM "pganon_work"."r0_individuals" AS "i";

-- partition.individuals: individuals with what their records have
-- [geneir]
CREATE TABLE pganon_work.r0_individuals AS SELECT ROW_NUMBER() OVER (ORDER BY
HASHTEXTEXTENDED("g"."individual", (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret"
AS "s" WHERE "s"."run_id" = 0)), "g"."individual") AS "rid", "g".* FROM (SELECT "c"."individual",
CAST(COUNT("c"."rid") AS INT) AS "n", ARRAY_AGG("c"."s0") FILTER(WHERE "c"."s0" IS NOT NULL) AS
"held0", MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") =
0 AS "n0", MIN("c"."c0") AS "c0", MIN("c"."c1") FILTER(WHERE "c"."c1" > 0) AS "lo1", MAX("c"."c1")
AS "hi1", MIN("c"."c1") = 0 AS "n1", MIN("c"."c1") AS "c1" FROM "pganon_work"."r0_coded" AS "c"
GROUP BY "c"."individual") AS "g";

-- partition.join: join blocks that miss a requirement as a whole with the next one; repeated
-- [one_dimensional]

-- partition.join.missing: blocks that miss a requirement as a whole
-- [one_dimensional]
CREATE TABLE pganon_work.r0_missing_0 AS SELECT DISTINCT "x"."block" FROM (SELECT "u".* FROM (SELECT
"m"."block" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."block" FROM (SELECT
"h"."value", "h"."n", "h"."block" FROM (SELECT "b"."block", 0 AS "value", CAST(SUM("l"."w") AS
BIGINT) AS "n" FROM "pganon_work"."r0_line" AS "l" JOIN "pganon_work"."r0_blocks_0" AS "b" ON
"b"."node" = "l"."node" AND "b"."piece" = "l"."piece" GROUP BY "b"."block", 2) AS "h") AS "g" GROUP
BY "g"."block") AS "m" WHERE NOT ("m"."measure" >= 4) UNION ALL SELECT "m"."block" FROM (SELECT
COUNT(*) AS "measure", "g"."block" FROM (SELECT "h"."value", "h"."n", "h"."block" FROM (SELECT
"b"."block", "v"."s0" AS "value", CAST(SUM("v"."w") AS BIGINT) AS "n" FROM "pganon_work"."r0_line"
AS "l" JOIN "pganon_work"."r0_cellvalues0" AS "v" ON "v"."cell" = "l"."cell" JOIN
"pganon_work"."r0_blocks_0" AS "b" ON "b"."node" = "l"."node" AND "b"."piece" = "l"."piece" GROUP BY
"b"."block", 2) AS "h") AS "g" GROUP BY "g"."block") AS "m" WHERE NOT ("m"."measure" >= 2)) AS "u")
AS "x";

-- partition.join.missing: how many there are
-- [one_dimensional]
SELECT (SELECT COUNT(DISTINCT "b"."block") FROM "pganon_work"."r0_blocks_0" AS "b") AS "blocks",
COUNT(*) AS "missing", COUNT(*) = 0 AS "joined" FROM "pganon_work"."r0_missing_0" AS "m";

-- partition.join.tidy: drop the work tables of this round
-- [one_dimensional]
DROP TABLE pganon_work.r0_missing_0;

-- partition.joined0: how many combinations are near each other
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT (SELECT CAST(COALESCE(SUM("b"."n" * "t"."n"), 0) AS BIGINT) FROM (SELECT COUNT(*) AS "n",
"x"."c1", "x"."c" FROM "pganon_work"."r0_begun0" AS "x" GROUP BY "x"."c1", "x"."c") AS "b" JOIN
(SELECT COUNT(*) AS "n", "x"."c1", "x"."c0" FROM "pganon_work"."r0_smoothed0" AS "x" GROUP BY
"x"."c1", "x"."c0") AS "t" ON "b"."c" = "t"."c0" AND "b"."c1" = "t"."c1") AS "joined0";

-- partition.joined0: residuals join the nearest class that still satisfies every requirement
-- [danonyir]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "b"."block", "b"."rid", "b"."residual", "b"."people",
"b"."records", "b"."largest", "b"."held0", "b"."counts0", "b"."holders0", "b"."lo0", "b"."hi0",
"b"."n0", "b"."b1" FROM "pganon_work"."r0_units0" AS "b" WHERE "b"."block" >= 0 AND "b"."block" <
2500 ORDER BY "b"."block", "b"."rid"; COPY pganon_work.r0_joined0 (rid, gid) FROM STDIN;

-- partition.joined1: residuals join the nearest class that still satisfies every requirement
-- [danonyir]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "b"."block", "b"."rid", "b"."residual", "b"."people",
"b"."records", "b"."largest", "b"."held0", "b"."counts0", "b"."holders0", "b"."lo0", "b"."hi0",
"b"."n0", "b"."b1" FROM "pganon_work"."r0_units1" AS "b" WHERE "b"."block" >= 0 AND "b"."block" <
2500 ORDER BY "b"."block", "b"."rid"; COPY pganon_work.r0_joined1 (rid, gid) FROM STDIN;

-- partition.joined2: residuals join the nearest class that still satisfies every requirement
-- [danonyir]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "b"."block", "b"."rid", "b"."residual", "b"."people",
"b"."records", "b"."largest", "b"."held0", "b"."counts0", "b"."holders0", "b"."lo0", "b"."hi0",
"b"."n0", "b"."b1" FROM "pganon_work"."r0_units2" AS "b" WHERE "b"."block" >= 0 AND "b"."block" <
2500 ORDER BY "b"."block", "b"."rid"; COPY pganon_work.r0_joined2 (rid, gid) FROM STDIN;

-- partition.judged: records with what buckets are judged by
-- [slicing]
CREATE TABLE pganon_work.r0_judged AS SELECT 0 AS "beside", "c"."rid", "c"."c0", "c"."c1", "c"."s0"
FROM "pganon_work"."r0_coded" AS "c";

-- partition.judged: records with what buckets are judged by
-- [slamsa]
CREATE TABLE pganon_work.r0_judged AS SELECT "c"."rid", 0 AS "stratum", "c"."c0", "c"."c1",
"c"."s0", "c"."s1" FROM "pganon_work"."r0_coded" AS "c";

-- partition.kept: how many records of every cluster and value can stay
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
SELECT ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source" FROM "pganon_work"."r0_sdict0" AS "d";
SELECT "v"."cluster", "v"."value", "v"."n" FROM "pganon_work"."r0_cluster_values" AS "v" ORDER BY
"v"."cluster", "v"."value"; COPY pganon_work.r0_kept (cluster, value, n) FROM STDIN;

-- partition.labels0: labels of age on every level
-- [full_domain]
CREATE TABLE pganon_work.r0_labels0 AS SELECT "p"."code", "p"."level", "p"."lo", "p"."loss",
CAST((DENSE_RANK() OVER (PARTITION BY "p"."level", "u"."lo" ORDER BY "p"."lo") - 1) AS BIGINT) AS
"child" FROM (SELECT "t"."code", "t"."level", "t"."lo", "t"."loss" FROM "pganon_work"."r0_level0" AS
"t") AS "p" LEFT JOIN (SELECT "t"."code", "t"."level", "t"."lo", "t"."loss" FROM
"pganon_work"."r0_level0" AS "t") AS "u" ON "u"."code" = "p"."code" AND "u"."level" = "p"."level" +
1;

-- partition.labels1: labels of zip on every level
-- [full_domain]
CREATE TABLE pganon_work.r0_labels1 AS SELECT "p"."code", "p"."level", "p"."lo", "p"."loss",
CAST((DENSE_RANK() OVER (PARTITION BY "p"."level", "u"."lo" ORDER BY "p"."lo") - 1) AS BIGINT) AS
"child" FROM (SELECT "t"."code", "t"."level", "t"."lo", "t"."loss" FROM "pganon_work"."r0_level1" AS
"t") AS "p" LEFT JOIN (SELECT "t"."code", "t"."level", "t"."lo", "t"."loss" FROM
"pganon_work"."r0_level1" AS "t") AS "u" ON "u"."code" = "p"."code" AND "u"."level" = "p"."level" +
1;

-- partition.leaves: the block of every piece
-- [anatomy]
CREATE TABLE pganon_work.r0_leaves AS SELECT ("w"."node" << "w"."level") + GENERATE_SERIES(0, (1 <<
"w"."level") - 1) AS "piece", "w"."node" << "w"."level" AS "block" FROM "pganon_work"."r0_whole_0"
AS "w";

-- partition.leaves: the block of every piece
-- [beta_primacy]
CREATE TABLE pganon_work.r0_leaves AS SELECT ("w"."node" << "w"."level") + GENERATE_SERIES(0, (1 <<
"w"."level") - 1) AS "piece", "w"."node" << "w"."level" AS "block", "w"."cluster" FROM
"pganon_work"."r0_whole_0" AS "w";

-- partition.left: all individuals
-- [geneir]
CREATE TABLE pganon_work.r0_left_0 AS SELECT "i"."rid" FROM "pganon_work"."r0_individuals" AS "i";

-- partition.left0: residuals in every third place
-- [danonyir]
CREATE TABLE pganon_work.r0_left0 AS SELECT "s"."place" AS "block", "b"."rid" FROM
"pganon_work"."r0_blocked" AS "b" JOIN "pganon_work"."r0_spans" AS "s" ON "s"."block" = "b"."block"
LEFT JOIN (SELECT "u".* FROM (SELECT "g"."rid", "g"."gid" FROM "pganon_work"."r0_grown" AS "g" JOIN
"pganon_work"."r0_spans" AS "s" ON "s"."block" = ("g"."gid" >> 32) WHERE NOT "s"."several" UNION ALL
SELECT "r"."rid", "r"."gid" FROM "pganon_work"."r0_regrown" AS "r") AS "u") AS "c" ON "c"."rid" =
"b"."rid" WHERE "c"."rid" IS NULL AND "s"."place" % 3 = 0;

-- partition.left1: residuals in every third place
-- [danonyir]
CREATE TABLE pganon_work.r0_left1 AS SELECT "s"."place" AS "block", "b"."rid" FROM
"pganon_work"."r0_blocked" AS "b" JOIN "pganon_work"."r0_spans" AS "s" ON "s"."block" = "b"."block"
LEFT JOIN (SELECT "u".* FROM (SELECT "g"."rid", "g"."gid" FROM "pganon_work"."r0_grown" AS "g" JOIN
"pganon_work"."r0_spans" AS "s" ON "s"."block" = ("g"."gid" >> 32) WHERE NOT "s"."several" UNION ALL
SELECT "r"."rid", "r"."gid" FROM "pganon_work"."r0_regrown" AS "r" UNION ALL SELECT "r"."rid",
"r"."gid" FROM "pganon_work"."r0_joined0" AS "r") AS "u") AS "c" ON "c"."rid" = "b"."rid" WHERE
"c"."rid" IS NULL AND "s"."place" % 3 = 1;

-- partition.left2: residuals in every third place
-- [danonyir]
CREATE TABLE pganon_work.r0_left2 AS SELECT "s"."place" AS "block", "b"."rid" FROM
"pganon_work"."r0_blocked" AS "b" JOIN "pganon_work"."r0_spans" AS "s" ON "s"."block" = "b"."block"
LEFT JOIN (SELECT "u".* FROM (SELECT "g"."rid", "g"."gid" FROM "pganon_work"."r0_grown" AS "g" JOIN
"pganon_work"."r0_spans" AS "s" ON "s"."block" = ("g"."gid" >> 32) WHERE NOT "s"."several" UNION ALL
SELECT "r"."rid", "r"."gid" FROM "pganon_work"."r0_regrown" AS "r" UNION ALL SELECT "r"."rid",
"r"."gid" FROM "pganon_work"."r0_joined0" AS "r" UNION ALL SELECT "r"."rid", "r"."gid" FROM
"pganon_work"."r0_joined1" AS "r") AS "u") AS "c" ON "c"."rid" = "b"."rid" WHERE "c"."rid" IS NULL
AND "s"."place" % 3 = 2;

-- partition.levels: search the levels that lose least
-- [full_domain]

-- partition.levels.losses_by_level: what all records lose on every level, and how many keys they
-- have
-- [full_domain]
SELECT ARRAY_AGG("l"."attribute" ORDER BY "l"."attribute", "l"."level") AS "attributes",
ARRAY_AGG("l"."loss" ORDER BY "l"."attribute", "l"."level") AS "losses", CAST(SUM("l"."whole")
FILTER(WHERE "l"."level" = 0) AS BIGINT) AS "whole", (SELECT COUNT(*) FROM "pganon_work"."r0_hist"
AS "t") AS "keys" FROM "pganon_work"."r0_losses" AS "l";

-- partition.levels.measured: failing records on the levels of many nodes
-- [full_domain]
SELECT "u".* FROM (SELECT '1.1' AS "node", CAST(COALESCE(SUM("c"."n") FILTER(WHERE ("c"."n" < 4 OR
BIT_COUNT(CAST("c"."b0_0" AS BIT(64))) < 2)), 0) AS BIGINT) AS "s", CAST(COALESCE(SUM("c"."n" *
(COALESCE(((SELECT "g"."gaps" || CAST('{}' AS BIGINT[]) FROM "pganon_work"."r0_gaps" AS "g" WHERE
"g"."attribute" = 0 AND "g"."level" = 1))[WIDTH_BUCKET((("c"."k0" >> 1) & 1), (SELECT "g"."slots" ||
CAST('{}' AS BIGINT[]) FROM "pganon_work"."r0_gaps" AS "g" WHERE "g"."attribute" = 0 AND "g"."level"
= 1)) + 0], 0) + (COALESCE(((SELECT "g"."gaps" || CAST('{}' AS BIGINT[]) FROM
"pganon_work"."r0_gaps" AS "g" WHERE "g"."attribute" = 1 AND "g"."level" =
1))[WIDTH_BUCKET((("c"."k0" >> 3) & 1), (SELECT "g"."slots" || CAST('{}' AS BIGINT[]) FROM
"pganon_work"."r0_gaps" AS "g" WHERE "g"."attribute" = 1 AND "g"."level" = 1)) + 0], 0))))
FILTER(WHERE ("c"."n" < 4 OR BIT_COUNT(CAST("c"."b0_0" AS BIT(64))) < 2)), 0) AS BIGINT) AS "e",
COUNT(*) AS "classes" FROM (SELECT CAST(SUM("t"."n") AS BIGINT) AS "n", "t"."k0" & 0 AS "k0",
BIT_OR("t"."b0_0") AS "b0_0" FROM "pganon_work"."r0_hist" AS "t" GROUP BY "t"."k0" & 0) AS "c") AS
"u";

-- partition.levels.released: classes that are released
-- [full_domain]
CREATE TABLE pganon_work.r0_released_0 AS SELECT "c"."n", "c"."k0" FROM (SELECT CAST(SUM("t"."n") AS
BIGINT) AS "n", "t"."k0" & 15 AS "k0", BIT_OR("t"."b0_0") AS "b0_0" FROM "pganon_work"."r0_hist" AS
"t" GROUP BY "t"."k0" & 15) AS "c" WHERE NOT ("c"."n" < 4 OR BIT_COUNT(CAST("c"."b0_0" AS BIT(64)))
< 2);

-- partition.limits: the largest share of every value in a class
-- [beta_primacy]
SELECT ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source" FROM "pganon_work"."r0_sdict0" AS "d";
SELECT "k"."value", CAST(SUM("k"."n") AS BIGINT) AS "n" FROM "pganon_work"."r0_kept" AS "k" GROUP BY
"k"."value" ORDER BY "k"."value"; COPY pganon_work.r0_limits (value, share, f) FROM STDIN;

-- partition.line: cells in the order of the line
-- [one_dimensional]
CREATE TABLE pganon_work.r0_line AS SELECT CAST(((ROW_NUMBER() OVER (ORDER BY "k"."node", "k"."h0"))
- 1) AS INT) AS "unit", "k"."node", CAST((((ROW_NUMBER() OVER (PARTITION BY "k"."node" ORDER BY
"k"."h0")) - 1) * GREATEST(("z"."units" + 60000 / 2) / 60000, 1) / "z"."units") AS INT) AS "piece",
"k"."w", "k"."c0", "k"."c1", "k"."cell" FROM (SELECT "c"."node", "c"."w", "c"."c0", "c"."c1",
"c"."cell", (SELECT ARRAY_AGG("a"."adds" ORDER BY "a"."code") FROM "pganon_work"."r0_added" AS "a"
WHERE "a"."attribute" = 0 AND "a"."word" = 0)["c"."c0" + 1] + ((SELECT ARRAY_AGG("a"."adds" ORDER BY
"a"."code") FROM "pganon_work"."r0_added" AS "a" WHERE "a"."attribute" = 1 AND "a"."word" =
0)["c"."c1" + 1]) AS "h0" FROM "pganon_work"."r0_cells_0" AS "c") AS "k" JOIN (SELECT "c"."node",
COUNT(*) AS "units" FROM "pganon_work"."r0_cells_0" AS "c" GROUP BY "c"."node") AS "z" ON "z"."node"
= "k"."node";

-- partition.link: clusters of priors that are within J of each other
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
SELECT 1 AS "nothing"; SELECT "v"."vector", "v"."probabilities" FROM
"pganon_work"."r0_vector_blocks" AS "b" JOIN "pganon_work"."r0_vectors" AS "v" ON "v"."vector" =
"b"."vector" WHERE "b"."block" = 0 ORDER BY "v"."vector"; COPY pganon_work.r0_vector_clusters
(vector, cluster) FROM STDIN;

-- partition.linkable: whether columns of different tables tell of each other
-- [sloms]
SELECT "d"."dependencies", (SELECT CAST(COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("v"."i", "v"."j",
TRIM_SCALE(ROUND(CAST("v"."value" AS DECIMAL), 9))) ORDER BY "v"."i", "v"."j"), CAST('[]' AS JSONB))
AS text) AS "association" FROM (WITH "e" AS MATERIALIZED (SELECT 1 AS "n"), "x" AS MATERIALIZED
(SELECT COALESCE("t"."s0", -1) AS "k0", COALESCE("t"."s1", -1) AS "k1" FROM "pganon_work"."r0_coded"
AS "t" CROSS JOIN "e"), "g" AS MATERIALIZED (SELECT CASE WHEN "x"."k0" IS NOT NULL THEN 0 WHEN
"x"."k1" IS NOT NULL THEN 1 END AS "i", CASE WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k0" IS NOT
NULL THEN 0 END AS "j", COALESCE("x"."k0", "x"."k1") AS "va", COALESCE("x"."k1", "x"."k0") AS "vb",
CAST(COUNT(*) AS DOUBLE PRECISION) AS "f" FROM "x" GROUP BY GROUPING SETS (("x"."k0"), ("x"."k1"),
("x"."k0", "x"."k1"))), "d" AS MATERIALIZED (SELECT "g"."i", CAST(COUNT(*) AS DOUBLE PRECISION) AS
"distinct_values", SUM("g"."f") AS "n" FROM "g" WHERE "g"."i" = "g"."j" GROUP BY "g"."i"), "s" AS
MATERIALIZED (SELECT "g"."i", "g"."j", SUM("g"."f" * "g"."f" / ("a"."f" * "b"."f")) - 1 AS "phi2"
FROM "g" JOIN "g" AS "a" ON "a"."i" = "g"."i" AND "a"."j" = "g"."i" AND "a"."va" = "g"."va" JOIN "g"
AS "b" ON "b"."i" = "g"."j" AND "b"."j" = "g"."j" AND "b"."vb" = "g"."vb" WHERE "g"."i" < "g"."j"
GROUP BY "g"."i", "g"."j") SELECT "s"."i", "s"."j", CASE WHEN LEAST("a"."distinct_values",
"b"."distinct_values") < 2 THEN 0 WHEN LEAST("a"."distinct_values" - ("a"."distinct_values" - 1) *
("a"."distinct_values" - 1) / NULLIF("a"."n" - 1, 0), "b"."distinct_values" - ("b"."distinct_values"
- 1) * ("b"."distinct_values" - 1) / NULLIF("a"."n" - 1, 0)) - 1 <= 1e-9 THEN 0 ELSE LEAST(1,
SQRT(GREATEST(0, "s"."phi2" - ("a"."distinct_values" - 1) * ("b"."distinct_values" - 1) / ("a"."n" -
1)) / (LEAST("a"."distinct_values" - ("a"."distinct_values" - 1) * ("a"."distinct_values" - 1) /
NULLIF("a"."n" - 1, 0), "b"."distinct_values" - ("b"."distinct_values" - 1) * ("b"."distinct_values"
- 1) / NULLIF("a"."n" - 1, 0)) - 1))) END AS "value" FROM "s" JOIN "d" AS "a" ON "a"."i" = "s"."i"
JOIN "d" AS "b" ON "b"."i" = "s"."j") AS "v") AS "linkage" FROM (SELECT
CAST(COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("v"."i", "v"."j", TRIM_SCALE(ROUND(CAST("v"."value" AS
DECIMAL), 9))) ORDER BY "v"."i", "v"."j"), CAST('[]' AS JSONB)) AS text) AS "dependencies" FROM
(WITH "x" AS MATERIALIZED (SELECT COALESCE("t"."s0", -1) AS "k0", COALESCE("t"."s1", -1) AS "k1"
FROM "pganon_work"."r0_coded" AS "t") SELECT "h"."i", "p"."j", 1 AS "value" FROM (SELECT "g"."i",
BOOL_AND("g"."same0") AS "same0", BOOL_AND("g"."same1") AS "same1" FROM (SELECT CASE WHEN "x"."k0"
IS NOT NULL THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 END AS "i", CASE WHEN "x"."k1" IS NOT NULL THEN
1 WHEN "x"."k0" IS NOT NULL THEN 0 END AS "j", COALESCE("x"."k0", "x"."k1") AS "va",
COALESCE("x"."k1", "x"."k0") AS "vb", MIN("x"."k0") = MAX("x"."k0") AS "same0", MIN("x"."k1") =
MAX("x"."k1") AS "same1" FROM "x" GROUP BY GROUPING SETS (("x"."k0"), ("x"."k1"))) AS "g" GROUP BY
"g"."i") AS "h" CROSS JOIN (SELECT MIN("x"."k0") < MAX("x"."k0") AS "varies0", MIN("x"."k1") <
MAX("x"."k1") AS "varies1" FROM "x") AS "w" CROSS JOIN LATERAL (VALUES (0, "h"."same0",
"w"."varies0"), (1, "h"."same1", "w"."varies1")) AS "p"("j", "same", "varies") WHERE "p"."same" AND
"p"."varies" AND "h"."i" <> "p"."j") AS "v") AS "d";

-- partition.linked: whether buckets of one column tell of those of another
-- [lgb_mdp, lgb_ncp, local_bucketization]
SELECT CAST(JSONB_AGG(JSONB_BUILD_ARRAY("x"."i", "x"."j", "x"."records", "x"."strength",
"x"."determined") ORDER BY "x"."i", "x"."j") AS TEXT) AS "links" FROM (SELECT "u".* FROM (SELECT 0
AS "i", 1 AS "j", (SELECT CAST(COALESCE(SUM("t"."w"), 0) AS BIGINT) FROM (SELECT "p"."s0" AS "a",
"p"."s1" AS "b", "p"."w" FROM "pganon_work"."r0_hidden" AS "p" WHERE "p"."s0" > 0 AND "p"."s1" > 0)
AS "t") AS "records", COALESCE((SELECT MAX(CAST(("v"."pair" ->> 2) AS DOUBLE PRECISION)) FROM
JSONB_ARRAY_ELEMENTS(CAST((SELECT CAST(COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("v"."i", "v"."j",
TRIM_SCALE(ROUND(CAST("v"."value" AS DECIMAL), 9))) ORDER BY "v"."i", "v"."j"), CAST('[]' AS JSONB))
AS text) AS "association" FROM (WITH "e" AS MATERIALIZED (SELECT 1 AS "n"), "x" AS MATERIALIZED
(SELECT COALESCE("t"."a", -1) AS "k0", COALESCE("t"."b", -1) AS "k1", "t"."w" FROM (SELECT "p"."s0"
AS "a", "p"."s1" AS "b", "p"."w" FROM "pganon_work"."r0_hidden" AS "p" WHERE "p"."s0" > 0 AND
"p"."s1" > 0) AS "t" CROSS JOIN "e"), "g" AS MATERIALIZED (SELECT CASE WHEN "x"."k0" IS NOT NULL
THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 END AS "i", CASE WHEN "x"."k1" IS NOT NULL THEN 1 WHEN
"x"."k0" IS NOT NULL THEN 0 END AS "j", COALESCE("x"."k0", "x"."k1") AS "va", COALESCE("x"."k1",
"x"."k0") AS "vb", CAST(SUM("x"."w") AS DOUBLE PRECISION) AS "f" FROM "x" GROUP BY GROUPING SETS
(("x"."k0"), ("x"."k1"), ("x"."k0", "x"."k1"))), "d" AS MATERIALIZED (SELECT "g"."i", CAST(COUNT(*)
AS DOUBLE PRECISION) AS "distinct_values", SUM("g"."f") AS "n" FROM "g" WHERE "g"."i" = "g"."j"
GROUP BY "g"."i"), "s" AS MATERIALIZED (SELECT "g"."i", "g"."j", SUM("g"."f" * "g"."f" / ("a"."f" *
"b"."f")) - 1 AS "phi2" FROM "g" JOIN "g" AS "a" ON "a"."i" = "g"."i" AND "a"."j" = "g"."i" AND
"a"."va" = "g"."va" JOIN "g" AS "b" ON "b"."i" = "g"."j" AND "b"."j" = "g"."j" AND "b"."vb" =
"g"."vb" WHERE "g"."i" < "g"."j" GROUP BY "g"."i", "g"."j") SELECT "s"."i", "s"."j", CASE WHEN
LEAST("a"."distinct_values", "b"."distinct_values") < 2 THEN 0 WHEN LEAST("a"."distinct_values" -
("a"."distinct_values" - 1) * ("a"."distinct_values" - 1) / NULLIF("a"."n" - 1, 0),
"b"."distinct_values" - ("b"."distinct_values" - 1) * ("b"."distinct_values" - 1) / NULLIF("a"."n" -
1, 0)) - 1 <= 1e-9 THEN 0 ELSE LEAST(1, SQRT(GREATEST(0, "s"."phi2" - ("a"."distinct_values" - 1) *
("b"."distinct_values" - 1) / ("a"."n" - 1)) / (LEAST("a"."distinct_values" - ("a"."distinct_values"
- 1) * ("a"."distinct_values" - 1) / NULLIF("a"."n" - 1, 0), "b"."distinct_values" -
("b"."distinct_values" - 1) * ("b"."distinct_values" - 1) / NULLIF("a"."n" - 1, 0)) - 1))) END AS
"value" FROM "s" JOIN "d" AS "a" ON "a"."i" = "s"."i" JOIN "d" AS "b" ON "b"."i" = "s"."j") AS "v")
AS JSONB)) AS "v"("pair")), 0) AS "strength", COALESCE((SELECT MAX(CAST(("v"."pair" ->> 2) AS DOUBLE
PRECISION)) FROM JSONB_ARRAY_ELEMENTS(CAST((SELECT
CAST(COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("v"."i", "v"."j", TRIM_SCALE(ROUND(CAST("v"."value" AS
DECIMAL), 9))) ORDER BY "v"."i", "v"."j"), CAST('[]' AS JSONB)) AS text) AS "dependencies" FROM
(WITH "x" AS MATERIALIZED (SELECT COALESCE("t"."a", -1) AS "k0", COALESCE("t"."b", -1) AS "k1" FROM
(SELECT "p"."s0" AS "a", "p"."s1" AS "b", "p"."w" FROM "pganon_work"."r0_hidden" AS "p" WHERE
"p"."s0" > 0 AND "p"."s1" > 0) AS "t") SELECT "h"."i", "p"."j", 1 AS "value" FROM (SELECT "g"."i",
BOOL_AND("g"."same0") AS "same0", BOOL_AND("g"."same1") AS "same1" FROM (SELECT CASE WHEN "x"."k0"
IS NOT NULL THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 END AS "i", CASE WHEN "x"."k1" IS NOT NULL THEN
1 WHEN "x"."k0" IS NOT NULL THEN 0 END AS "j", COALESCE("x"."k0", "x"."k1") AS "va",
COALESCE("x"."k1", "x"."k0") AS "vb", MIN("x"."k0") = MAX("x"."k0") AS "same0", MIN("x"."k1") =
MAX("x"."k1") AS "same1" FROM "x" GROUP BY GROUPING SETS (("x"."k0"), ("x"."k1"))) AS "g" GROUP BY
"g"."i") AS "h" CROSS JOIN (SELECT MIN("x"."k0") < MAX("x"."k0") AS "varies0", MIN("x"."k1") <
MAX("x"."k1") AS "varies1" FROM "x") AS "w" CROSS JOIN LATERAL (VALUES (0, "h"."same0",
"w"."varies0"), (1, "h"."same1", "w"."varies1")) AS "p"("j", "same", "varies") WHERE "p"."same" AND
"p"."varies" AND "h"."i" <> "p"."j") AS "v") AS JSONB)) AS "v"("pair")), 0) AS "determined") AS "u")
AS "x";

-- partition.losses: what all records lose on every level
-- [full_domain]
CREATE TABLE pganon_work.r0_losses AS SELECT "u".* FROM (SELECT 0 AS "attribute", "s"."level",
CAST(SUM("s"."n" * ("s"."cost" - "s"."gap")) AS BIGINT) AS "loss", CAST(SUM("s"."n" * "s"."cost") AS
BIGINT) AS "whole" FROM "pganon_work"."r0_slots0" AS "s" GROUP BY "s"."level" UNION ALL SELECT 1 AS
"attribute", "s"."level", CAST(SUM("s"."n" * ("s"."cost" - "s"."gap")) AS BIGINT) AS "loss",
CAST(SUM("s"."n" * "s"."cost") AS BIGINT) AS "whole" FROM "pganon_work"."r0_slots1" AS "s" GROUP BY
"s"."level") AS "u";

-- partition.masks: records by which of their values are sensitive
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_masks AS SELECT CASE WHEN "r"."f0" THEN 'b' ELSE 'g' END AS "mask",
"r"."n" FROM (SELECT COUNT(*) AS "n", "c"."f0" FROM "pganon_work"."r0_coded" AS "c" GROUP BY
"c"."f0" HAVING COUNT(*) > 0) AS "r";

-- partition.medians: cut every group that a median divides
-- [lgb_mdp, local_generalization]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "c"."block", "c"."again", STRING_AGG(
(INT8SEND("c"."cell") || (INT8SEND("c"."w")) || (INT8SEND(((CAST("c"."c0" AS BIGINT)) * 41 +
"c"."c1")))), CAST('' AS BYTEA) ) AS "cells" FROM "pganon_work"."r0_median_cells" AS "c" WHERE
"c"."block" = 0 GROUP BY "c"."block", "c"."node", "c"."again" ORDER BY "c"."node"; COPY
pganon_work.r0_median_groups (block, round, place, cells) FROM STDIN;

-- partition.meet: residuals of every block meet the classes of one; repeated
-- [geneir]

-- partition.meet.joined: residuals join the nearest class that still satisfies every requirement
-- [geneir]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("t"."lo" ORDER BY "t"."code", "t"."level") FROM
"pganon_work"."r0_level0" AS "t" WHERE "t"."level" < 1) AS "c0", (SELECT ARRAY_AGG("t"."lo" ORDER BY
"t"."code", "t"."level") FROM "pganon_work"."r0_level1" AS "t" WHERE "t"."level" < 1) AS "c1",
(SELECT ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level0" AS "t"
WHERE "t"."level" <= 1) AS "losses0", (SELECT ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level")
FROM "pganon_work"."r0_level1" AS "t" WHERE "t"."level" <= 1) AS "losses1"; SELECT "b"."block",
"b"."rid", "b"."residual", "b"."people", "b"."records", "b"."largest", "b"."held0", "b"."counts0",
"b"."holders0", "b"."lo0", "b"."hi0", "b"."n0", "b"."lo1", "b"."hi1", "b"."n1" FROM
"pganon_work"."r0_units_0" AS "b" WHERE "b"."block" >= 0 AND "b"."block" < 20 ORDER BY "b"."block",
"b"."rid"; COPY pganon_work.r0_joined_0 (rid, gid) FROM STDIN;

-- partition.meet.met: whether anybody is left who has not met every class
-- [geneir]
SELECT NOT EXISTS(SELECT 1 FROM (SELECT "s"."block", "s"."unit" AS "rid" FROM
"pganon_work"."r0_stretches" AS "s" LEFT JOIN (SELECT "u".* FROM (SELECT CAST(0 AS BIGINT) AS "rid",
CAST(0 AS BIGINT) AS "gid" WHERE FALSE UNION ALL SELECT "j"."rid", "j"."gid" FROM
"pganon_work"."r0_joined_0" AS "j") AS "u") AS "j" ON "j"."rid" = "s"."unit" WHERE "s"."residual"
AND "j"."rid" IS NULL) AS "l") OR 0 + 1 >= 1 AS "met";

-- partition.meet.tidy: drop the work tables of this round
-- [geneir]
DROP TABLE pganon_work.r0_units_0;

-- partition.meet.units: residuals, and classes that they meet
-- [geneir]
CREATE TABLE pganon_work.r0_units_0 AS SELECT "u".* FROM (SELECT "l"."block", "l"."rid", TRUE AS
"residual", 1 AS "people", CAST("i"."n" AS BIGINT) AS "records", "i"."n" AS "largest",
CAST("i"."held0" AS INT[]) AS "held0", CAST(NULL AS INT[]) AS "counts0", CAST(NULL AS INT[]) AS
"holders0", "i"."lo0", "i"."hi0", "i"."n0", "i"."lo1", "i"."hi1", "i"."n1" FROM (SELECT "s"."block",
"s"."unit" AS "rid" FROM "pganon_work"."r0_stretches" AS "s" LEFT JOIN (SELECT "u".* FROM (SELECT
CAST(0 AS BIGINT) AS "rid", CAST(0 AS BIGINT) AS "gid" WHERE FALSE) AS "u") AS "j" ON "j"."rid" =
"s"."unit" WHERE "s"."residual" AND "j"."rid" IS NULL) AS "l" JOIN "pganon_work"."r0_individuals" AS
"i" ON "i"."rid" = "l"."rid" UNION ALL SELECT "u"."block", "u"."unit" AS "rid", FALSE AS "residual",
"u"."people", "u"."records", "u"."largest", CAST(NULL AS INT[]) AS "held0", CAST(NULL AS INT[]) AS
"counts0", CAST(NULL AS INT[]) AS "holders0", "u"."lo0", "u"."hi0", "u"."n0", "u"."lo1", "u"."hi1",
"u"."n1" FROM (SELECT "u"."block", "u"."unit", "u"."people", "u"."records", "u"."largest",
COALESCE("a0"."lo", "u"."lo0") AS "lo0", COALESCE("a0"."hi", "u"."hi0") AS "hi0", "u"."n0",
COALESCE("a1"."lo", "u"."lo1") AS "lo1", COALESCE("a1"."hi", "u"."hi1") AS "hi1", "u"."n1" FROM
(SELECT "m"."block", "m"."unit", CAST(COUNT(*) AS INT) AS "people", CAST(SUM("i"."n") AS BIGINT) AS
"records", MAX("i"."n") AS "largest", MIN("i"."lo0") AS "lo0", MAX("i"."hi0") AS "hi0",
BOOL_OR("i"."n0") AS "n0", MIN("i"."lo1") AS "lo1", MAX("i"."hi1") AS "hi1", BOOL_OR("i"."n1") AS
"n1" FROM (SELECT "m"."block", "c"."gid" AS "unit", "c"."rid" FROM (SELECT "u".* FROM (SELECT
"c"."rid", "c"."gid" FROM "pganon_work"."r0_swept" AS "c") AS "u") AS "c" JOIN (SELECT ("s"."block"
+ 0) % 1 AS "block", "s"."unit" FROM "pganon_work"."r0_stretches" AS "s" WHERE NOT "s"."residual")
AS "m" ON "m"."unit" = "c"."gid" JOIN (SELECT DISTINCT "x"."block" FROM (SELECT "s"."block",
"s"."unit" AS "rid" FROM "pganon_work"."r0_stretches" AS "s" LEFT JOIN (SELECT "u".* FROM (SELECT
CAST(0 AS BIGINT) AS "rid", CAST(0 AS BIGINT) AS "gid" WHERE FALSE) AS "u") AS "j" ON "j"."rid" =
"s"."unit" WHERE "s"."residual" AND "j"."rid" IS NULL) AS "x") AS "l" ON "l"."block" = "m"."block")
AS "m" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."rid" = "m"."rid" GROUP BY "m"."block",
"m"."unit") AS "u" LEFT JOIN "pganon_work"."r0_level0" AS "a0" ON "a0"."code" = "u"."lo0" AND
"a0"."level" = GREATEST((CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level")
FROM "pganon_work"."r0_level0" AS "t")[("u"."lo0" - 1) * 2 + 0 + 1]) >= "u"."hi0" THEN 0 ELSE 1
END), (((SELECT ARRAY_AGG((SELECT CAST(COUNT(*) AS INT) FROM "pganon_work"."r0_sequence" AS "q"
WHERE "q"."step" <= "s"."sweep" AND "q"."attribute" = 0) ORDER BY "s"."sweep") FROM
GENERATE_SERIES(0, (SELECT COUNT(*) FROM "pganon_work"."r0_sequence" AS "q")) AS
"s"("sweep")))[("u"."unit" >> 32) + 1])) LEFT JOIN "pganon_work"."r0_level1" AS "a1" ON "a1"."code"
= "u"."lo1" AND "a1"."level" = GREATEST((CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code",
"t"."level") FROM "pganon_work"."r0_level1" AS "t")[("u"."lo1" - 1) * 2 + 0 + 1]) >= "u"."hi1" THEN
0 ELSE 1 END), (((SELECT ARRAY_AGG((SELECT CAST(COUNT(*) AS INT) FROM "pganon_work"."r0_sequence" AS
"q" WHERE "q"."step" <= "s"."sweep" AND "q"."attribute" = 1) ORDER BY "s"."sweep") FROM
GENERATE_SERIES(0, (SELECT COUNT(*) FROM "pganon_work"."r0_sequence" AS "q")) AS
"s"("sweep")))[("u"."unit" >> 32) + 1]))) AS "u") AS "u";

-- partition.merged: pieces put together until each could be one bucket
-- [slamsa]
SELECT 1 AS "nothing"; SELECT "h".* FROM (SELECT "u".* FROM (SELECT "p"."stratum", "p"."piece", -1
AS "condition", 0 AS "value", COUNT(*) AS "n" FROM "pganon_work"."r0_placed" AS "p" GROUP BY
"p"."stratum", "p"."piece" UNION ALL SELECT "p"."stratum", "p"."piece", 0 AS "condition", "p"."s0"
AS "value", COUNT(*) AS "n" FROM "pganon_work"."r0_placed" AS "p" GROUP BY "p"."stratum",
"p"."piece", 4 UNION ALL SELECT "p"."stratum", "p"."piece", 1 AS "condition", "p"."s1" AS "value",
COUNT(*) AS "n" FROM "pganon_work"."r0_placed" AS "p" GROUP BY "p"."stratum", "p"."piece", 4) AS
"u") AS "h" ORDER BY "h"."stratum", "h"."piece"; COPY pganon_work.r0_merged (stratum, piece, block,
size, tightest) FROM STDIN;

-- partition.nearest: groups of similar cells
-- [lgb_ncp]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "c"."cell", "c"."w", "c"."c0", "c"."c1" FROM
"pganon_work"."r0_cells" AS "c" WHERE "c"."block" = 0 ORDER BY "c"."cell"; COPY
pganon_work.r0_cell_groups (cell, gid) FROM STDIN;

-- partition.neighbours0: which values are near each other
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_neighbours0 AS SELECT "n"."q", "n"."c", 1 - "n"."u" * "n"."u" AS "k"
FROM (SELECT "u".* FROM (SELECT "a"."code" AS "q", "b"."code" AS "c", ABS("a"."position" -
"b"."position") / CAST(0.6 AS float8) AS "u" FROM "pganon_work"."r0_dict0" AS "a" CROSS JOIN
GENERATE_SERIES(-1, 1) AS "o"("o") JOIN "pganon_work"."r0_dict0" AS "b" ON CAST(FLOOR("b"."position"
/ CAST(0.6 AS float8)) AS INT) = CAST(FLOOR("a"."position" / CAST(0.6 AS float8)) AS INT) + "o"."o"
WHERE "a"."code" > 0 AND "b"."code" > 0 UNION ALL SELECT 0 AS "q", 0 AS "c", CAST(0 AS DOUBLE
PRECISION) AS "u") AS "u") AS "n" WHERE "n"."u" < 1;

-- partition.nodes: the parts to start from
-- [one_dimensional, mondrian, slicing, lgb_mdp, lgb_ncp, local_generalization]
CREATE TABLE pganon_work.r0_nodes_0 AS SELECT "c"."node", CAST(SUM("c"."w") AS BIGINT) AS "n",
MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS
"n0", BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0", FALSE AS "again" FROM
"pganon_work"."r0_cells_0" AS "c" GROUP BY "c"."node";

-- partition.nodes: what the classes cover
-- [mondrian]
CREATE TABLE pganon_work.r0_nodes_0 AS SELECT "c"."node", CAST(SUM("c"."w") AS BIGINT) AS "n",
MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS
"n0", BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0", FALSE AS "again" FROM
"pganon_work"."r0_cells_0" AS "c" GROUP BY "c"."node";

-- partition.numbers_b0: random numbers for the buckets of zip
-- [lgb_mdp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_numbers_b0 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b0:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b0"
FROM (SELECT "u"."gid" FROM (SELECT "u".* FROM (SELECT "h"."b" AS "gid" FROM
"pganon_work"."r0_bucketed0" AS "h") AS "u") AS "u" GROUP BY "u"."gid") AS "g";

-- partition.numbers_b0: random numbers for the buckets of zip
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_numbers_b0 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b0:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b0"
FROM (SELECT "u"."gid" FROM (SELECT "u".* FROM (SELECT "h"."b" AS "gid" FROM (SELECT "s"."rid",
"s"."b", "p"."v0" AS "v" FROM "pganon_work"."r0_shared" AS "s" JOIN (SELECT "c"."rid", "c"."hides"
AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record",
"c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c") AS "p" ON "p"."rid" = "s"."rid" WHERE
"s"."lead" = 0 AND "p"."s0" > 0) AS "h" UNION ALL SELECT "h"."b" AS "gid" FROM (SELECT "s"."rid",
"s"."b", "p"."v1" AS "v" FROM "pganon_work"."r0_shared" AS "s" JOIN (SELECT "c"."rid", "c"."hides"
AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record",
"c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c") AS "p" ON "p"."rid" = "s"."rid" WHERE
"s"."lead" = 0 AND "p"."s1" > 0) AS "h") AS "u") AS "u" GROUP BY "u"."gid") AS "g";

-- partition.numbers_b1: random numbers for the buckets of disease
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_numbers_b1 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b1:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b1"
FROM (SELECT "u"."gid" FROM (SELECT "u".* FROM (SELECT "h"."base" + ("g"."cell" + "h"."shift") %
"h"."modulo" AS "gid" FROM (SELECT DISTINCT "h"."base", "h"."shift", "h"."modulo", "h"."last" -
"h"."first" AS "cells" FROM "pganon_work"."r0_ranges1" AS "h") AS "h" CROSS JOIN LATERAL
GENERATE_SERIES(0, "h"."cells" - 1) AS "g"("cell")) AS "u") AS "u" GROUP BY "u"."gid") AS "g";

-- partition.numbers_b1: random numbers for the buckets of disease
-- [local_generalization]
CREATE TABLE pganon_work.r0_numbers_b1 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b1:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b1"
FROM (SELECT "u"."gid" FROM (SELECT "u".* FROM (SELECT "h"."b" AS "gid" FROM
"pganon_work"."r0_bucketed1" AS "h") AS "u") AS "u" GROUP BY "u"."gid") AS "g";

-- partition.numbers_group_id: random numbers for the groups
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_numbers_group_id AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('group_id:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS
"group_id" FROM (SELECT "g"."gid" FROM "pganon_work"."r0_group_cells" AS "g" GROUP BY "g"."gid") AS
"g";

-- partition.open: clusters that records left over can join
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_open AS SELECT "f"."block", "f"."cluster", CAST(SUM("f"."n") AS BIGINT)
AS "n", MIN("p"."x1") AS "lo1", MAX("p"."x1") AS "hi1", MIN("p"."x2") AS "lo2", MAX("p"."x2") AS
"hi2", MIN("p"."x3") AS "lo3", MAX("p"."x3") AS "hi3" FROM "pganon_work"."r0_formed" AS "f" JOIN
"pganon_work"."r0_points" AS "p" ON "p"."block" = "f"."block" AND "p"."cell" = "f"."cell" WHERE
"f"."cluster" > 0 AND EXISTS(SELECT 1 FROM "pganon_work"."r0_formed" AS "g" WHERE "g"."block" =
"f"."block" AND "g"."cluster" = 0) GROUP BY "f"."block", "f"."cluster";

-- partition.open_key: an index to find them by
-- [qs_greedy, qs_efficient]
CREATE INDEX ON "pganon_work"."r0_open" (block, cluster);

-- partition.outliers: how many records may be left out
-- [mondrian]
SELECT CAST(19 AS BIGINT) AS "allowed";

-- partition.outliers: leave out what makes classes wide, within the limit; repeated
-- [mondrian]

-- partition.outliers.beyond: what classes keep on either side
-- [mondrian]
CREATE TABLE pganon_work.r0_beyond_0 AS SELECT "u".* FROM (SELECT "r"."node", "r"."attr", "r"."pos",
TRUE AS "is_left", "r"."cum" AS "n", "r"."cum" < "r"."n" AS "cuts", MIN("r"."lo0") OVER (PARTITION
BY "r"."node", "r"."attr" ORDER BY "r"."pos" ASC) AS "lo0", MAX("r"."hi0") OVER (PARTITION BY
"r"."node", "r"."attr" ORDER BY "r"."pos" ASC) AS "hi0", BOOL_OR("r"."n0") OVER (PARTITION BY
"r"."node", "r"."attr" ORDER BY "r"."pos" ASC) AS "n0", BIT_OR("r"."b1_0") OVER (PARTITION BY
"r"."node", "r"."attr" ORDER BY "r"."pos" ASC) AS "b1_0" FROM "pganon_work"."r0_ranked_0" AS "r"
UNION ALL SELECT "r"."node", "r"."attr", "r"."pos", FALSE AS "is_left", CAST(("r"."n" - "r"."cum" +
"r"."w") AS BIGINT) AS "n", "r"."pos" > 1 AS "cuts", MIN("r"."lo0") OVER (PARTITION BY "r"."node",
"r"."attr" ORDER BY "r"."pos" DESC NULLS LAST) AS "lo0", MAX("r"."hi0") OVER (PARTITION BY
"r"."node", "r"."attr" ORDER BY "r"."pos" DESC NULLS LAST) AS "hi0", BOOL_OR("r"."n0") OVER
(PARTITION BY "r"."node", "r"."attr" ORDER BY "r"."pos" DESC NULLS LAST) AS "n0", BIT_OR("r"."b1_0")
OVER (PARTITION BY "r"."node", "r"."attr" ORDER BY "r"."pos" DESC NULLS LAST) AS "b1_0" FROM
"pganon_work"."r0_ranked_0" AS "r") AS "u" WHERE "u"."cuts";

-- partition.outliers.cells: cells that stay
-- [mondrian]
CREATE TABLE pganon_work.r0_cells_1 AS SELECT "c"."node", "c"."c0", "c"."c1", "c"."cell", "c"."d0",
"c"."w" FROM "pganon_work"."r0_cells_0" AS "c" LEFT JOIN "pganon_work"."r0_chosen_0" AS "o" ON
"o"."node" = "c"."node" LEFT JOIN (SELECT "u".* FROM (SELECT 0 AS "made", "r"."node", "r"."attr",
"r"."v", "r"."pos" FROM "pganon_work"."r0_ranked_0" AS "r") AS "u") AS "r" ON "r"."made" =
"o"."made" AND "r"."node" = "c"."node" AND "r"."attr" = "o"."attr" AND "r"."v" = CASE "o"."attr"
WHEN 0 THEN CAST(("c"."c0") AS integer) WHEN 1 THEN CAST(("c"."c1") AS integer) END WHERE "o"."node"
IS NULL OR CASE WHEN "o"."is_left" THEN "r"."pos" <= "o"."pos" ELSE "r"."pos" >= "o"."pos" END;

-- partition.outliers.chosen: those that requirements and the limit allow
-- [mondrian]
CREATE TABLE pganon_work.r0_chosen_0 AS SELECT "s".* FROM (SELECT "a".*, SUM("a"."less") OVER (ORDER
BY "a"."worth" DESC, "a"."node" rows BETWEEN UNBOUNDED preceding AND CURRENT ROW) AS "so_far" FROM
(SELECT "o".* FROM "pganon_work"."r0_outliers_0" AS "o" LEFT JOIN (SELECT "m"."node" FROM (SELECT
COUNT(*) AS "measure", "g"."node" FROM (SELECT "h"."value", "h"."n", "h"."node" FROM (SELECT
"k"."node", "v"."s0" AS "value", CAST(SUM("v"."w") AS BIGINT) AS "n" FROM (SELECT "c"."node",
"c"."c0", "c"."c1", "c"."cell", "c"."d0", "c"."w" FROM "pganon_work"."r0_cells_0" AS "c" JOIN
"pganon_work"."r0_outliers_0" AS "o" ON "o"."node" = "c"."node" LEFT JOIN (SELECT "u".* FROM (SELECT
0 AS "made", "r"."node", "r"."attr", "r"."v", "r"."pos" FROM "pganon_work"."r0_ranked_0" AS "r") AS
"u") AS "r" ON "r"."made" = "o"."made" AND "r"."node" = "c"."node" AND "r"."attr" = "o"."attr" AND
"r"."v" = CASE "o"."attr" WHEN 0 THEN CAST(("c"."c0") AS integer) WHEN 1 THEN CAST(("c"."c1") AS
integer) END WHERE CASE WHEN "o"."is_left" THEN "r"."pos" <= "o"."pos" ELSE "r"."pos" >= "o"."pos"
END) AS "k" JOIN "pganon_work"."r0_cellvalues0" AS "v" ON "v"."cell" = "k"."cell" GROUP BY
"k"."node", 2) AS "h") AS "g" GROUP BY "g"."node") AS "m" WHERE ("m"."measure" >= 2)) AS "q0" ON
"q0"."node" = "o"."node" WHERE "o"."attr" IS NULL OR "q0"."node" IS NOT NULL) AS "a") AS "s" WHERE
"s"."so_far" <= GREATEST(0, "s"."less");

-- partition.outliers.left_out: records left out in this round
-- [mondrian]
SELECT "t"."left_out", 1 - "t"."left_out" AS "allowed", "t"."left_out" IN (0, 1) AS "outliers_ended"
FROM (SELECT CAST(COALESCE(SUM("c"."less"), 0) AS BIGINT) AS "left_out" FROM
"pganon_work"."r0_chosen_0" AS "c") AS "t";

-- partition.outliers.nodes: what changed classes cover
-- [mondrian]
CREATE TABLE pganon_work.r0_nodes_1 AS SELECT "c"."node", CAST(SUM("c"."w") AS BIGINT) AS "n",
MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS
"n0", BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0", FALSE AS "again" FROM (SELECT "c".* FROM
"pganon_work"."r0_cells_1" AS "c" JOIN "pganon_work"."r0_chosen_0" AS "o" ON "o"."node" =
"c"."node") AS "c" GROUP BY "c"."node";

-- partition.outliers.offers: what may be left out and pays
-- [mondrian]
CREATE TABLE pganon_work.r0_offers_0 AS SELECT "y".* FROM (SELECT "x".*, ROUND(CAST(("x"."gain" /
"x"."less") AS DECIMAL), 9) AS "worth", 0 AS "made" FROM (SELECT "u".* FROM (SELECT "l"."node",
CAST(NULL AS SMALLINT) AS "attr", CAST(NULL AS SMALLINT) AS "level", CAST(NULL AS INT) AS "pos",
CAST(NULL AS BOOLEAN) AS "is_left", "l"."loss" - 2.0 * "l"."n" AS "gain", "l"."n" AS "less" FROM
(SELECT "e".*, "e"."n" * ((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0
ELSE ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE
"code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"]) END) * 1.0 +
((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1) AS DOUBLE PRECISION) / 40) * 1.0)) AS "loss"
FROM "pganon_work"."r0_nodes_0" AS "e") AS "l" UNION ALL SELECT "k"."node", "k"."attr", "k"."level",
"k"."pos", "k"."is_left", "k"."before" - "k"."n" * ((CASE WHEN "k"."n0" AND "k"."hi0" > 0 THEN 1
WHEN "k"."hi0" = 0 THEN 0 ELSE ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["k"."hi0"]) - ((SELECT ARRAY_AGG("position"
ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["k"."lo0"]) END) * 1.0 +
((CAST((BIT_COUNT(CAST("k"."b1_0" AS BIT(64))) - 1) AS DOUBLE PRECISION) / 40) * 1.0)) - 2.0 *
("k"."whole" - "k"."n") AS "gain", "k"."whole" - "k"."n" AS "less" FROM (SELECT "b".*, "l"."n" AS
"whole", "l"."loss" AS "before", "t"."level" FROM "pganon_work"."r0_beyond_0" AS "b" JOIN (SELECT
"e".*, "e"."n" * ((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE
((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code"
> 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS
"dict" WHERE "code" > 0)["e"."lo0"]) END) * 1.0 + ((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) -
1) AS DOUBLE PRECISION) / 40) * 1.0)) AS "loss" FROM "pganon_work"."r0_nodes_0" AS "e") AS "l" ON
"l"."node" = "b"."node" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "b"."node" AND
"t"."attr" = "b"."attr" WHERE "b"."n" >= 4) AS "k") AS "u") AS "x") AS "y" WHERE "y"."worth" > 0;

-- partition.outliers.outliers: what every class gains most by
-- [mondrian]
CREATE TABLE pganon_work.r0_outliers_0 AS SELECT DISTINCT ON ("y"."node") "y".* FROM
"pganon_work"."r0_offers_0" AS "y" WHERE "y"."less" <= 1 ORDER BY "y"."node", "y"."worth" DESC,
"y"."less", "y"."attr", "y"."pos", "y"."is_left";

-- partition.outliers.ranked: tried values in cutting order
-- [mondrian]
CREATE TABLE pganon_work.r0_ranked_0 AS SELECT "g"."node", "g"."attr", "g"."v", "g"."w", "t"."n",
CAST((ROW_NUMBER() OVER (PARTITION BY "g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN
"g"."v" WHEN 1 THEN -"g"."w" END, "g"."v")) AS INT) AS "pos", CAST((SUM("g"."w") OVER (PARTITION BY
"g"."node", "g"."attr" ORDER BY CASE "g"."attr" WHEN 0 THEN "g"."v" WHEN 1 THEN -"g"."w" END,
"g"."v" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS BIGINT) AS "cum", "g"."lo0",
"g"."hi0", "g"."n0", "g"."b1_0" FROM (SELECT "x"."node", "x"."attr", "x"."v", CAST(SUM("x"."w") AS
integer) AS "w", MIN("x"."c0") FILTER(WHERE "x"."c0" > 0) AS "lo0", MAX("x"."c0") AS "hi0",
MIN("x"."c0") = 0 AS "n0", BIT_OR(CAST(1 AS BIGINT) << "x"."c1") AS "b1_0" FROM (SELECT "c"."node",
"t"."attr", "t"."n", CASE "t"."attr" WHEN 0 THEN CAST(("c"."c0") AS integer) WHEN 1 THEN
CAST(("c"."c1") AS integer) END AS "v", "c"."w", "c"."c0", "c"."c1" FROM "pganon_work"."r0_cells_0"
AS "c" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" = "c"."node") AS "x" GROUP BY
"x"."node", "x"."attr", "x"."v") AS "g" JOIN "pganon_work"."r0_tries_0" AS "t" ON "t"."node" =
"g"."node" AND "t"."attr" = "g"."attr";

-- partition.outliers.tidy: drop the work tables of this round
-- [mondrian]
DROP TABLE pganon_work.r0_tries_0, pganon_work.r0_beyond_0, pganon_work.r0_outliers_0,
pganon_work.r0_cells_0, pganon_work.r0_nodes_0;

-- partition.outliers.tries: the attributes to try for every class
-- [mondrian]
CREATE TABLE pganon_work.r0_tries_0 AS SELECT "x"."node", "x"."n", "x"."attr", "x"."level",
"x"."rank", "x"."available" > "x"."tried" AS "more" FROM (SELECT "r".*, CASE WHEN "r"."again" THEN
"r"."available" WHEN "r"."n" < 16 THEN LEAST("r"."available", 12) ELSE 3 END AS "tried" FROM (SELECT
"l"."node", "l"."n", "l"."again", "a"."attr", "a"."level", CAST((ROW_NUMBER() OVER (PARTITION BY
"l"."node" ORDER BY "a"."loss" DESC, "a"."attr")) AS SMALLINT) AS "rank", CAST((COUNT(*) OVER
(PARTITION BY "l"."node")) AS SMALLINT) AS "available" FROM (SELECT "e"."node", "e"."n",
"e"."again", CAST((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE
((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code"
> 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS
"dict" WHERE "code" > 0)["e"."lo0"]) END) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS
"l0", CAST((0) AS SMALLINT) AS "level0", CAST((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) - 1) AS
DOUBLE PRECISION) / 40) AS DOUBLE PRECISION) * CAST(1.0 AS DOUBLE PRECISION) AS "l1", CAST((0) AS
SMALLINT) AS "level1" FROM "pganon_work"."r0_nodes_0" AS "e" OFFSET 0) AS "l" CROSS JOIN LATERAL
(SELECT "v".* FROM (SELECT "v"."attr", "v"."level", "v"."loss" FROM (VALUES (CAST(0 AS SMALLINT),
"l"."level0", "l"."l0"), (CAST(1 AS SMALLINT), "l"."level1", "l"."l1")) AS "v"("attr", "level",
"loss")) AS "v") AS "a" WHERE "a"."loss" > 0) AS "r") AS "x" WHERE "x"."rank" <= "x"."tried";

-- partition.packed: the cells of every block
-- [one_dimensional]
CREATE TABLE pganon_work.r0_packed AS SELECT "p"."block", "p"."first", "p"."cells", "v0"."sent" AS
"values0" FROM (SELECT "u"."block", MIN("u"."unit") AS "first", STRING_AGG(ORDER BY "u"."unit",
CAST('' AS BYTEA) ORDER BY "u"."unit") AS "cells" FROM (SELECT "b"."block", "l".* FROM
"pganon_work"."r0_line" AS "l" JOIN "pganon_work"."r0_blocks_0" AS "b" ON "b"."node" = "l"."node"
AND "b"."piece" = "l"."piece") AS "u" GROUP BY "u"."block") AS "p" JOIN (SELECT "u"."block",
STRING_AGG( ORDER BY "u"."unit", "v"."s0", CAST('' AS BYTEA) ORDER BY "u"."unit", "v"."s0") AS
"sent" FROM (SELECT "b"."block", "l".* FROM "pganon_work"."r0_line" AS "l" JOIN
"pganon_work"."r0_blocks_0" AS "b" ON "b"."node" = "l"."node" AND "b"."piece" = "l"."piece") AS "u"
JOIN "pganon_work"."r0_cellvalues0" AS "v" ON "v"."cell" = "u"."cell" GROUP BY "u"."block") AS "v0"
ON "v0"."block" = "p"."block";

-- partition.pairs: how many values are near each other
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT (SELECT CAST(COALESCE(SUM("f"."n"), 0) AS BIGINT) FROM "pganon_work"."r0_qi_cells" AS "q"
JOIN (SELECT "d"."code", COUNT(*) OVER (ORDER BY "d"."position" range BETWEEN CAST(0.6 AS float8)
preceding AND CAST(0.6 AS float8) following) AS "n" FROM "pganon_work"."r0_dict0" AS "d" WHERE
"d"."code" > 0) AS "f" ON "f"."code" = "q"."c0") AS "pairs0";

-- partition.passing: the classes that are released
-- [full_domain]
CREATE TABLE pganon_work.r0_passing AS SELECT "c"."place", "c"."n", CAST((ROW_NUMBER() OVER (ORDER
BY "c"."place", "c"."k0")) AS INT) AS "gid", "c"."k0" FROM (SELECT "u".* FROM (SELECT 0 AS "place",
"c"."n", "c"."k0" FROM "pganon_work"."r0_released_0" AS "c") AS "u") AS "c";

-- partition.piece_values: sensitive values of neighbouring records
-- [kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_piece_values AS SELECT "p"."cluster", "p"."piece", "p"."value", COUNT(*)
AS "n" FROM (SELECT "p".*, CAST((CAST(("p"."place" - 1) AS BIGINT) * "s"."pieces" / "s"."size") AS
INT) AS "piece" FROM "pganon_work"."r0_placed" AS "p" JOIN (SELECT "s"."cluster", "s"."size",
GREATEST("s"."size" / 10000, 1) AS "pieces" FROM (SELECT "k"."cluster", CAST(SUM("k"."n") AS BIGINT)
AS "size" FROM "pganon_work"."r0_kept" AS "k" GROUP BY "k"."cluster") AS "s") AS "s" ON
"s"."cluster" = "p"."cluster") AS "p" GROUP BY "p"."cluster", "p"."piece", "p"."value";

-- partition.pieces: the pieces of every block that lose least
-- [one_dimensional]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0", (SELECT ARRAY_AGG(COALESCE("d"."n", 0) ORDER BY "x"."code")
FROM GENERATE_SERIES(0, 40) AS "x"("code") LEFT JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" =
"x"."code") AS "n0", (SELECT ARRAY_AGG(COALESCE("d"."n", 0) ORDER BY "x"."code") FROM
GENERATE_SERIES(0, 40) AS "x"("code") LEFT JOIN "pganon_work"."r0_dict1" AS "d" ON "d"."code" =
"x"."code") AS "n1", (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0) AS "seed"; SELECT "p"."block", "p"."first", "p"."cells", "p"."values0" FROM
"pganon_work"."r0_packed" AS "p" WHERE "p"."block" >= 0 AND "p"."block" < 8 ORDER BY "p"."block";
COPY pganon_work.r0_labels (block, first, labels) FROM STDIN;

-- partition.pieces: how many pieces of the curve every cluster has
-- [beta_primacy]
CREATE TABLE pganon_work.r0_pieces AS SELECT "s"."cluster", "s"."size", (CAST(1 AS BIGINT) <<
(LENGTH(TRIM(LEADING '0' FROM CAST(CAST(("s"."size" / 2) AS BIT(62)) AS TEXT))) - 1)) AS "pieces"
FROM (SELECT "k"."cluster", CAST(SUM("k"."n") AS BIGINT) AS "size" FROM "pganon_work"."r0_kept" AS
"k" GROUP BY "k"."cluster") AS "s";

-- partition.pieces: the curve in pieces
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_pieces AS SELECT "p"."cell", "p"."w", "p"."place",
CAST((CAST(("p"."place" - 1) AS BIGINT) * 1 / 1000) AS INT) AS "piece", "p"."c0", "p"."c1" FROM
(SELECT "h".*, (ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."cell")) AS "place" FROM
"pganon_work"."r0_curve" AS "h") AS "p";

-- partition.pile_buckets: piles put together until each is a bucket
-- [lgb_ncp]
SELECT 1 AS "nothing"; SELECT "p"."chunk", "p"."place", "v"."item", "v"."code", COUNT(*) AS "n" FROM
"pganon_work"."r0_piles" AS "p" CROSS JOIN LATERAL (VALUES (0, "p"."s0"), (1, "p"."s1")) AS
"v"("item", "code") WHERE "p"."chunk" = 0 AND "v"."code" > 0 AND EXISTS(SELECT 1 FROM
"pganon_work"."r0_chunk_blocks" AS "b" WHERE "b"."chunk" = 0 AND "b"."alone") GROUP BY "p"."chunk",
"p"."place", "v"."item", "v"."code" ORDER BY "p"."place", "v"."item", "v"."code"; COPY
pganon_work.r0_pile_buckets (chunk, place, b) FROM STDIN;

-- partition.piles: records in piles, in a random order of the piles
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_piles AS SELECT "s".* FROM (SELECT "n"."lead", "n"."stratum",
"n"."first" + "o"."place" * "n"."chunks" / "n"."piles" AS "chunk", "o"."place", "n"."rid", "n"."s0",
"n"."s1" FROM (SELECT "m".*, "t"."piles", "t"."chunks", "t"."first", (ROW_NUMBER() OVER (PARTITION
BY "m"."lead", "m"."stratum" ORDER BY (CASE "t"."item" WHEN 0 THEN "m"."s0" WHEN 1 THEN "m"."s1"
END), HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST('records ' || CAST("m"."lead" AS TEXT) AS
text), "m"."rid"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s"
WHERE "s"."run_id" = 0)), "m"."rid") - 1) % "t"."piles" AS "pile" FROM (SELECT "u".* FROM (SELECT 0
AS "lead", (CAST(("p"."s0" > 0) AS INT) * 1 + (CAST(("p"."s1" > 0) AS INT) * 2)) AS "stratum",
"p"."rid", "p"."s0" AS "s0", "p"."s1" AS "s1" FROM (SELECT "c"."rid", "c"."hides" AS "display",
"c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0",
"c"."o1" FROM "pganon_work"."r0_coded" AS "c") AS "p" WHERE "p"."s0" > 0 OR "p"."s1" > 0) AS "u") AS
"m" JOIN "pganon_work"."r0_strata" AS "t" ON "t"."lead" = "m"."lead" AND "t"."stratum" =
"m"."stratum") AS "n" JOIN (SELECT "e"."lead", "e"."stratum", "e"."pile", ROW_NUMBER() OVER
(PARTITION BY "e"."lead", "e"."stratum" ORDER BY
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST('piles ' || CAST("e"."lead" AS TEXT) AS text),
"e"."stratum", "e"."pile"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s"
WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret"
AS "s" WHERE "s"."run_id" = 0)), "e"."pile") - 1 AS "place" FROM (SELECT "t"."lead", "t"."stratum",
"g"."pile" FROM "pganon_work"."r0_strata" AS "t" CROSS JOIN LATERAL GENERATE_SERIES(0, "t"."piles" -
1) AS "g"("pile")) AS "e") AS "o" ON "o"."lead" = "n"."lead" AND "o"."stratum" = "n"."stratum" AND
"o"."pile" = "n"."pile") AS "s" ORDER BY "s"."chunk";

-- partition.piles_index: an index to read a chunk by
-- [lgb_ncp]
CREATE INDEX ON "pganon_work"."r0_piles" (chunk);

-- partition.placed: records on the curve, in pieces
-- [slamsa]
CREATE TABLE pganon_work.r0_placed AS SELECT CAST((CAST(("s"."place" - 1) AS BIGINT) *
GREATEST("s"."records" / 500, 1) / "s"."records") AS INT) AS "piece", "s"."place", "s"."rid",
"s"."stratum", "s"."c0", "s"."c1", "s"."s0", "s"."s1" FROM (SELECT "o".*, COUNT(*) OVER (PARTITION
BY "o"."stratum") AS "records" FROM (SELECT "h"."rid", "h"."stratum", "h"."c0", "h"."c1", "h"."s0",
"h"."s1", ROW_NUMBER() OVER (PARTITION BY "h"."stratum" ORDER BY "h"."h0", "h"."rid") AS "place"
FROM (WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0", CAST("p"."y1" AS bigint) AS "x1",
"p"."rid" AS "k0", "p"."stratum" AS "k1", "p"."c0" AS "k2", "p"."c1" AS "k3", "p"."s0" AS "k4",
"p"."s1" AS "k5" FROM (SELECT "c".*, (CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END) AS
BIGINT) * 126 + (-86)) / 80 AS "y0", (CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END) AS
BIGINT) * 126 + (-86)) / 80 AS "y1" FROM "pganon_work"."r0_judged" AS "c") AS "p" OFFSET '0'),
"pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE
(~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0 THEN CASE WHEN "x0" & 32 = 0 THEN "x0" ELSE
(~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) | (("x1" & 32) << 5) AS "w0", "k0" AS "k0",
"k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5" FROM "pass0" OFFSET '0'),
"pass2" AS (SELECT CASE WHEN "x1" & 16 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE
(~"x0") END) END AS "x0", CASE WHEN "x1" & 16 = 0 THEN CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE
(~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 16) << 5) | (("x1" & 16) << 4) AS "w0", "k0" AS
"k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5" FROM "pass1" OFFSET '0'),
"pass3" AS (SELECT CASE WHEN "x1" & 8 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE
(~"x0") END) END AS "x0", CASE WHEN "x1" & 8 = 0 THEN CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0")
END ELSE "x1" END AS "x1", "w0" | (("x0" & 8) << 4) | (("x1" & 8) << 3) AS "w0", "k0" AS "k0", "k1"
AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5" FROM "pass2" OFFSET '0'), "pass4" AS
(SELECT CASE WHEN "x1" & 4 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END)
END AS "x0", CASE WHEN "x1" & 4 = 0 THEN CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1"
END AS "x1", "w0" | (("x0" & 4) << 3) | (("x1" & 4) << 2) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2"
AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5" FROM "pass3" OFFSET '0'), "pass5" AS (SELECT CASE
WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0",
CASE WHEN "x1" & 2 = 0 THEN CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1",
"w0" | (("x0" & 2) << 2) | (("x1" & 2) << 1) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3"
AS "k3", "k4" AS "k4", "k5" AS "k5" FROM "pass4" OFFSET '0'), "pass6" AS (SELECT "w0" | (("x0" & 1)
<< 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS
"k4", "k5" AS "k5" FROM "pass5" OFFSET '0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) #
("w0" >> 3) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS
"k5" FROM "pass6" OFFSET '0'), "pass8" AS (SELECT "w0" # ("w0" >> 4) # ("w0" >> 8) AS "w0", "k0" AS
"k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5" FROM "pass7" OFFSET '0')
SELECT "k0" AS "rid", "k1" AS "stratum", "k2" AS "c0", "k3" AS "c1", "k4" AS "s0", "k5" AS "s1",
"w0" AS "h0" FROM "pass8") AS "h") AS "o") AS "s";

-- partition.placed: the records that stay, along the curve
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_placed AS SELECT "x"."rid", "x"."cluster", "x"."value", "x"."c0",
"x"."c1", ROW_NUMBER() OVER (PARTITION BY "x"."cluster" ORDER BY "x"."h", "x"."rid") AS "place" FROM
(SELECT "x".* FROM (SELECT "c"."rid", "k"."cluster", "k"."h", "c"."c0", "c"."c1", "c"."s0" AS
"value" FROM "pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_cell_clusters" AS "k" ON
"k"."c0" = "c"."c0" AND "k"."c1" = "c"."c1") AS "x" JOIN (SELECT DISTINCT "k"."cluster" FROM
"pganon_work"."r0_kept" AS "k") AS "s" ON "s"."cluster" = "x"."cluster") AS "x";

-- partition.plan: buckets of values, and what every class gets of each
-- [beta_primacy]
SELECT ARRAY_AGG("l"."f" ORDER BY "l"."value") AS "f", ARRAY_AGG("l"."share" ORDER BY "l"."value")
AS "shares", (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0) AS "seed" FROM "pganon_work"."r0_limits" AS "l"; SELECT "v"."block", "v"."value",
"v"."n" FROM "pganon_work"."r0_block_values" AS "v" WHERE "v"."block" >= 0 AND "v"."block" < 2000
ORDER BY "v"."block", "v"."value"; COPY pganon_work.r0_plan (block, bucket, values, sizes) FROM
STDIN;

-- partition.plan0: how many of each value of zip go to which bucket
-- [lgb_mdp, local_bucketization]
SELECT 1 AS "nothing"; SELECT "h"."code", "h"."n", "h"."position" FROM "pganon_work"."r0_histogram0"
AS "h" ORDER BY "h"."code"; COPY pganon_work.r0_plan0 (code, first, last, base, shift, modulo) FROM
STDIN;

-- partition.plan1: how many of each value of disease go to which bucket
-- [lgb_mdp, local_bucketization]
SELECT 1 AS "nothing"; SELECT "h"."code", "h"."n", "h"."position" FROM "pganon_work"."r0_histogram1"
AS "h" ORDER BY "h"."code"; COPY pganon_work.r0_plan1 (code, first, last, base, shift, modulo) FROM
STDIN;

-- partition.planned0: whether values of zip in every bucket lie apart
-- [lgb_mdp, lgb_ncp, local_bucketization]
SELECT 0 AS "narrow";

-- partition.planned1: whether values of disease in every bucket lie apart
-- [lgb_mdp, local_bucketization]
SELECT 0 AS "narrow";

-- partition.planned1: whether values of drug in every bucket lie apart
-- [lgb_ncp]
SELECT 0 AS "narrow";

-- partition.points: cells of every block
-- [qs_greedy]
CREATE TABLE pganon_work.r0_points AS SELECT "b"."block", CAST((ROW_NUMBER() OVER (PARTITION BY
"b"."block" ORDER BY "p"."cell")) AS INT) AS "place", "p"."cell", "p"."w", ARRAY[CAST(("p"."c0" + 1)
AS int), CAST(("p"."c1" + 42) AS int)] AS "ids", CAST(((SELECT ARRAY_AGG("position" ORDER BY "code")
FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["p"."c0"]) AS float8) AS "x1",
CAST((CAST(("p"."c0" = 0) AS INT)) AS float8) AS "x2", CAST(("p"."c1") AS float8) AS "x3" FROM
"pganon_work"."r0_pieces" AS "p" JOIN "pganon_work"."r0_blocks" AS "b" ON "b"."piece" = "p"."piece"
ORDER BY "block", "place";

-- partition.points: cells of every block
-- [qs_efficient]
CREATE TABLE pganon_work.r0_points AS SELECT "b"."block", CAST((ROW_NUMBER() OVER (PARTITION BY
"b"."block" ORDER BY "p"."place")) AS INT) AS "place", "p"."cell", "p"."w", ARRAY[CAST(("p"."c0" +
1) AS int), CAST(("p"."c1" + 42) AS int)] AS "ids", CAST(((SELECT ARRAY_AGG("position" ORDER BY
"code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["p"."c0"]) AS float8) AS "x1",
CAST((CAST(("p"."c0" = 0) AS INT)) AS float8) AS "x2", CAST(("p"."c1") AS float8) AS "x3" FROM
"pganon_work"."r0_pieces" AS "p" JOIN "pganon_work"."r0_blocks" AS "b" ON "b"."piece" = "p"."piece"
ORDER BY "block", "place";

-- partition.points_key: an index to read a block by
-- [qs_greedy, qs_efficient]
CREATE INDEX ON "pganon_work"."r0_points" (block, place);

-- partition.qi_cells: combinations of quasi-identifiers
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_qi_cells AS SELECT CAST(SUM("v"."n") AS BIGINT) AS "n", "v"."cell",
"v"."c0", "v"."c1" FROM "pganon_work"."r0_value_cells" AS "v" GROUP BY "v"."cell", "v"."c0",
"v"."c1";

-- partition.ranges1: which numbers of records with a value of disease go to which bucket
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_ranges1 AS SELECT "d"."code", "d"."first" + "b"."start" AS "first",
"d"."last" + "b"."start" AS "last", "d"."base", "d"."shift", "d"."modulo" FROM
"pganon_work"."r0_plan1" AS "d" JOIN (SELECT "h"."code", CAST((SUM("h"."n") OVER (ORDER BY
"h"."code") - "h"."n") AS BIGINT) + 1 AS "start" FROM "pganon_work"."r0_histogram1" AS "h") AS "b"
ON "b"."code" = "d"."code";

-- partition.regrown: the same over blocks without any class, together with their neighbours
-- [danonyir]
SELECT 1 AS "nothing", (SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0"
AS "dict" WHERE "code" > 0) AS "c0"; SELECT "b"."block", "b"."rid", "b"."held0", "b"."lo0",
"b"."hi0", "b"."n0", "b"."b1" FROM (SELECT "b"."block", "b"."rid", "i"."held0", "i"."lo0",
"i"."hi0", "i"."n0", "i"."b1" FROM (SELECT "s"."label" - 1 AS "block", "b"."rid" FROM
"pganon_work"."r0_blocked" AS "b" JOIN "pganon_work"."r0_spans" AS "s" ON "s"."block" = "b"."block"
WHERE "s"."label" >= 1) AS "b" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."rid" = "b"."rid")
AS "b" WHERE "b"."block" >= 0 AND "b"."block" < 625 ORDER BY "b"."block", "b"."rid"; COPY
pganon_work.r0_regrown (rid, gid) FROM STDIN;

-- partition.released_cells: the cells that are released
-- [one_dimensional, mondrian]
CREATE TABLE pganon_work.r0_cells_0 AS SELECT CAST((ROW_NUMBER() OVER ()) AS INT) AS "cell", "p".*
FROM (SELECT CAST(SUM("c"."w") AS integer) AS "w", CAST(COUNT(*) AS INT) AS "d0", "c"."node",
"c"."c0", "c"."c1" FROM (SELECT "c".* FROM "pganon_work"."r0_cells" AS "c" WHERE NOT EXISTS(SELECT 1
FROM "pganon_work"."r0_fit" AS "f" WHERE "f"."node" = "c"."node" AND NOT "f"."holds")) AS "c" GROUP
BY "c"."node", "c"."c0", "c"."c1") AS "p";

-- partition.residuals: individuals without a class in their block
-- [danonyir]
SELECT 1000 - COUNT(*) AS "residuals" FROM (SELECT "u".* FROM (SELECT "g"."rid", "g"."gid" FROM
"pganon_work"."r0_grown" AS "g" JOIN "pganon_work"."r0_spans" AS "s" ON "s"."block" = ("g"."gid" >>
32) WHERE NOT "s"."several" UNION ALL SELECT "r"."rid", "r"."gid" FROM "pganon_work"."r0_regrown" AS
"r") AS "u") AS "c";

-- partition.residuals: individuals who are left, and classes that they may join
-- [geneir]
SELECT (SELECT COUNT(*) FROM (SELECT "l"."rid" FROM "pganon_work"."r0_left_1" AS "l") AS "l") AS
"residuals", (SELECT COUNT(DISTINCT "c"."gid") FROM (SELECT "c"."rid", "c"."gid" FROM
"pganon_work"."r0_swept" AS "c") AS "c") AS "residual_classes";

-- partition.sequence: which hierarchy goes up at every step
-- [geneir]
SELECT (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" =
0) AS "seed"; SELECT 1 AS "nothing"; COPY pganon_work.r0_sequence (step, attribute) FROM STDIN;

-- partition.settled: which classes hold against what is published
-- [js_reduce]
SELECT ARRAY_AGG("d"."n" ORDER BY "d"."code") AS "source" FROM "pganon_work"."r0_sdict0" AS "d";
SELECT "f"."gid", "c"."s0" AS "value", COUNT(*) AS "n" FROM "pganon_work"."r0_reduced" AS "f" JOIN
"pganon_work"."r0_coded" AS "c" ON "c"."rid" = "f"."rid" GROUP BY 1, 2 ORDER BY 1, 2; COPY
pganon_work.r0_settled (gid) FROM STDIN;

-- partition.shapes: most children of a label, by level
-- [full_domain]
SELECT (SELECT COALESCE(ARRAY_TO_STRING(ARRAY_AGG("m"."most" ORDER BY "m"."level"), '.'), '') FROM
(SELECT MAX("l"."child") AS "most", "l"."level" FROM "pganon_work"."r0_labels0" AS "l" WHERE
"l"."level" < 1 GROUP BY "l"."level") AS "m") AS "shape0", 0 AS "ambiguous0", (SELECT
COALESCE(ARRAY_TO_STRING(ARRAY_AGG("m"."most" ORDER BY "m"."level"), '.'), '') FROM (SELECT
MAX("l"."child") AS "most", "l"."level" FROM "pganon_work"."r0_labels1" AS "l" WHERE "l"."level" < 1
GROUP BY "l"."level") AS "m") AS "shape1", (SELECT COUNT(*) FROM (SELECT "t"."label" FROM
"pganon_work"."r0_level1" AS "t" GROUP BY "t"."label" HAVING COUNT(DISTINCT "t"."lo") > 1 OR
COUNT(DISTINCT "t"."hi") > 1) AS "x") AS "ambiguous1";

-- partition.shared: the bucket of every record in its associated columns
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_shared AS SELECT "p"."lead", "p"."rid", COALESCE("q"."b",
((CAST("c"."block" AS BIGINT) << 32) + CAST(0 AS BIGINT) * 2654435761 % 4294967296)) AS "b" FROM
"pganon_work"."r0_piles" AS "p" JOIN "pganon_work"."r0_chunk_blocks" AS "c" ON "c"."chunk" =
"p"."chunk" LEFT JOIN "pganon_work"."r0_pile_buckets" AS "q" ON "q"."chunk" = "p"."chunk" AND
"q"."place" = "p"."place";

-- partition.shown: how far the values that are shown lie apart
-- [lgb_mdp, lgb_ncp, local_generalization]
SELECT COUNT(*) AS "shown_cells", COALESCE(((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)[(MAX("d"."c0") FILTER(WHERE "d"."c0" > 0 AND
TRUE))]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict"
WHERE "code" > 0)[(MIN("d"."c0") FILTER(WHERE "d"."c0" > 0 AND TRUE))]), 0) AS "shown0",
COALESCE(BIT_COUNT(CAST(((BIT_OR(CAST(1 AS BIGINT) << "d"."c1") FILTER(WHERE SUBSTRING("d"."form"
FROM 1 FOR 1) = 'g'))) AS BIT(64))), 0) AS "shown1", CAST(LEAST((COUNT(*) FILTER(WHERE "d"."c1" = 0
AND (SUBSTRING("d"."form" FROM 1 FOR 1) = 'g'))), 1) AS INT) AS "shown_null1" FROM (SELECT "p".*,
"d"."form" FROM "pganon_work"."r0_cells_0" AS "p" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "d" ON "d"."display" = "p"."display") AS "d";

-- partition.shown: how far the values that are shown lie apart
-- [local_bucketization]
SELECT COUNT(*) AS "shown_cells", COALESCE(((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)[(MAX("d"."c0") FILTER(WHERE "d"."c0" > 0 AND
TRUE))]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict"
WHERE "code" > 0)[(MIN("d"."c0") FILTER(WHERE "d"."c0" > 0 AND TRUE))]), 0) AS "shown0",
COALESCE(BIT_COUNT(CAST(((BIT_OR(CAST(1 AS BIGINT) << "d"."c1") FILTER(WHERE SUBSTRING("d"."form"
FROM 1 FOR 1) = 'g'))) AS BIT(64))), 0) AS "shown1", CAST(LEAST((COUNT(*) FILTER(WHERE "d"."c1" = 0
AND (SUBSTRING("d"."form" FROM 1 FOR 1) = 'g'))), 1) AS INT) AS "shown_null1" FROM (SELECT "p".*,
"d"."form" FROM "pganon_work"."r0_group_cells" AS "p" JOIN (SELECT DISTINCT "d"."display",
"d"."form" FROM "pganon_work"."r0_displays" AS "d") AS "d" ON "d"."display" = "p"."display") AS "d";

-- partition.sizes: whether a block is too large
-- [slamsa]
SELECT COALESCE(MAX("m"."size"), 0) > 5000 AS "oversized" FROM "pganon_work"."r0_merged" AS "m";

-- partition.slots0: what labels of age lose
-- [full_domain]
CREATE TABLE pganon_work.r0_slots0 AS SELECT "g"."code", "g"."level", "g"."slot", "g"."n",
"g"."gap", MAX("g"."gap") OVER (PARTITION BY "g"."code") AS "cost" FROM (SELECT "p"."code",
"p"."level", "p"."slot", "p"."n", CASE WHEN ("p"."level" = 1) THEN 0 ELSE CAST(ROUND(500000000 * (1
- "p"."loss")) AS BIGINT) END AS "gap" FROM (SELECT "s"."code", "s"."level", "s"."slot", "s"."loss",
COALESCE("c"."n", 0) AS "n", SUM("c"."n") OVER (PARTITION BY "s"."level", CASE WHEN ("s"."level" =
1) THEN 1 ELSE "s"."lo" END) AS "below" FROM (SELECT "u".* FROM (SELECT "l"."code", "l"."level",
"l"."lo", "l"."loss", CAST(SUM("u"."child" << ((ARRAY[0, 1])["u"."level" + 1] - (ARRAY[0,
1])["l"."level" + 1])) AS BIGINT) AS "slot" FROM "pganon_work"."r0_labels0" AS "l" JOIN
"pganon_work"."r0_labels0" AS "u" ON "u"."code" = "l"."code" AND "u"."level" >= "l"."level" GROUP BY
"l"."code", "l"."level", "l"."lo", "l"."loss" UNION ALL SELECT 0 AS "code", "x"."level", 0 AS "lo",
CAST(0 AS DOUBLE PRECISION) AS "loss", CAST(1 AS BIGINT) << (1 - (ARRAY[0, 1])["x"."level" + 1]) AS
"slot" FROM GENERATE_SERIES(0, 1) AS "x"("level")) AS "u") AS "s" LEFT JOIN (SELECT "c"."code",
CAST(SUM("c"."n") AS BIGINT) AS "n" FROM (SELECT "c"."c0" AS "code", "c"."n" FROM
"pganon_work"."r0_cells" AS "c") AS "c" GROUP BY "c"."code") AS "c" ON "c"."code" = "s"."code") AS
"p") AS "g";

-- partition.slots1: what labels of zip lose
-- [full_domain]
CREATE TABLE pganon_work.r0_slots1 AS SELECT "g"."code", "g"."level", "g"."slot", "g"."n",
"g"."gap", MAX("g"."gap") OVER (PARTITION BY "g"."code") AS "cost" FROM (SELECT "p"."code",
"p"."level", "p"."slot", "p"."n", CASE WHEN ("p"."level" = 1) THEN 0 ELSE CAST(ROUND(500000000 * (1
- "p"."loss")) AS BIGINT) END AS "gap" FROM (SELECT "s"."code", "s"."level", "s"."slot", "s"."loss",
COALESCE("c"."n", 0) AS "n", SUM("c"."n") OVER (PARTITION BY "s"."level", CASE WHEN ("s"."level" =
1) THEN 1 ELSE "s"."lo" END) AS "below" FROM (SELECT "u".* FROM (SELECT "l"."code", "l"."level",
"l"."lo", "l"."loss", CAST(SUM("u"."child" << ((ARRAY[0, 1])["u"."level" + 1] - (ARRAY[0,
1])["l"."level" + 1])) AS BIGINT) AS "slot" FROM "pganon_work"."r0_labels1" AS "l" JOIN
"pganon_work"."r0_labels1" AS "u" ON "u"."code" = "l"."code" AND "u"."level" >= "l"."level" GROUP BY
"l"."code", "l"."level", "l"."lo", "l"."loss" UNION ALL SELECT 0 AS "code", "x"."level", 0 AS "lo",
CAST(0 AS DOUBLE PRECISION) AS "loss", CAST(1 AS BIGINT) << (1 - (ARRAY[0, 1])["x"."level" + 1]) AS
"slot" FROM GENERATE_SERIES(0, 1) AS "x"("level")) AS "u") AS "s" LEFT JOIN (SELECT "c"."code",
CAST(SUM("c"."n") AS BIGINT) AS "n" FROM (SELECT "c"."c1" AS "code", "c"."n" FROM
"pganon_work"."r0_cells" AS "c") AS "c" GROUP BY "c"."code") AS "c" ON "c"."code" = "s"."code") AS
"p") AS "g";

-- partition.smoothed0: records of every sensitive value by quasi-identifiers
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_smoothed0 AS SELECT "v"."c0", "v"."c1", "v"."part",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 1), 0) AS DOUBLE PRECISION) AS "w1",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 2), 0) AS DOUBLE PRECISION) AS "w2",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 3), 0) AS DOUBLE PRECISION) AS "w3",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 4), 0) AS DOUBLE PRECISION) AS "w4",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 5), 0) AS DOUBLE PRECISION) AS "w5",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 6), 0) AS DOUBLE PRECISION) AS "w6",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 7), 0) AS DOUBLE PRECISION) AS "w7",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 8), 0) AS DOUBLE PRECISION) AS "w8",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 9), 0) AS DOUBLE PRECISION) AS "w9",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 10), 0) AS DOUBLE PRECISION) AS "w10",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 11), 0) AS DOUBLE PRECISION) AS "w11",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 12), 0) AS DOUBLE PRECISION) AS "w12",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 13), 0) AS DOUBLE PRECISION) AS "w13",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 14), 0) AS DOUBLE PRECISION) AS "w14",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 15), 0) AS DOUBLE PRECISION) AS "w15",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 16), 0) AS DOUBLE PRECISION) AS "w16",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 17), 0) AS DOUBLE PRECISION) AS "w17",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 18), 0) AS DOUBLE PRECISION) AS "w18",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 19), 0) AS DOUBLE PRECISION) AS "w19",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 20), 0) AS DOUBLE PRECISION) AS "w20",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 21), 0) AS DOUBLE PRECISION) AS "w21",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 22), 0) AS DOUBLE PRECISION) AS "w22",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 23), 0) AS DOUBLE PRECISION) AS "w23",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 24), 0) AS DOUBLE PRECISION) AS "w24",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 25), 0) AS DOUBLE PRECISION) AS "w25",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 26), 0) AS DOUBLE PRECISION) AS "w26",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 27), 0) AS DOUBLE PRECISION) AS "w27",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 28), 0) AS DOUBLE PRECISION) AS "w28",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 29), 0) AS DOUBLE PRECISION) AS "w29",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 30), 0) AS DOUBLE PRECISION) AS "w30",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 31), 0) AS DOUBLE PRECISION) AS "w31",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 32), 0) AS DOUBLE PRECISION) AS "w32",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 33), 0) AS DOUBLE PRECISION) AS "w33",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 34), 0) AS DOUBLE PRECISION) AS "w34",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 35), 0) AS DOUBLE PRECISION) AS "w35",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 36), 0) AS DOUBLE PRECISION) AS "w36",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 37), 0) AS DOUBLE PRECISION) AS "w37",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 38), 0) AS DOUBLE PRECISION) AS "w38",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 39), 0) AS DOUBLE PRECISION) AS "w39",
CAST(COALESCE(SUM("v"."n") FILTER(WHERE "v"."place" = 40), 0) AS DOUBLE PRECISION) AS "w40" FROM
(SELECT "v".*, ("v"."value" - 1) / 100 AS "part", ("v"."value" - 1) % 100 + 1 AS "place" FROM
"pganon_work"."r0_value_cells" AS "v") AS "v" GROUP BY "v"."c0", "v"."c1", "v"."part";

-- partition.smoothed1: what is near counts
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_smoothed1 AS SELECT "b"."c0", "b"."c1", "t"."part", SUM("b"."k" *
"t"."w1") AS "w1", SUM("b"."k" * "t"."w2") AS "w2", SUM("b"."k" * "t"."w3") AS "w3", SUM("b"."k" *
"t"."w4") AS "w4", SUM("b"."k" * "t"."w5") AS "w5", SUM("b"."k" * "t"."w6") AS "w6", SUM("b"."k" *
"t"."w7") AS "w7", SUM("b"."k" * "t"."w8") AS "w8", SUM("b"."k" * "t"."w9") AS "w9", SUM("b"."k" *
"t"."w10") AS "w10", SUM("b"."k" * "t"."w11") AS "w11", SUM("b"."k" * "t"."w12") AS "w12",
SUM("b"."k" * "t"."w13") AS "w13", SUM("b"."k" * "t"."w14") AS "w14", SUM("b"."k" * "t"."w15") AS
"w15", SUM("b"."k" * "t"."w16") AS "w16", SUM("b"."k" * "t"."w17") AS "w17", SUM("b"."k" *
"t"."w18") AS "w18", SUM("b"."k" * "t"."w19") AS "w19", SUM("b"."k" * "t"."w20") AS "w20",
SUM("b"."k" * "t"."w21") AS "w21", SUM("b"."k" * "t"."w22") AS "w22", SUM("b"."k" * "t"."w23") AS
"w23", SUM("b"."k" * "t"."w24") AS "w24", SUM("b"."k" * "t"."w25") AS "w25", SUM("b"."k" *
"t"."w26") AS "w26", SUM("b"."k" * "t"."w27") AS "w27", SUM("b"."k" * "t"."w28") AS "w28",
SUM("b"."k" * "t"."w29") AS "w29", SUM("b"."k" * "t"."w30") AS "w30", SUM("b"."k" * "t"."w31") AS
"w31", SUM("b"."k" * "t"."w32") AS "w32", SUM("b"."k" * "t"."w33") AS "w33", SUM("b"."k" *
"t"."w34") AS "w34", SUM("b"."k" * "t"."w35") AS "w35", SUM("b"."k" * "t"."w36") AS "w36",
SUM("b"."k" * "t"."w37") AS "w37", SUM("b"."k" * "t"."w38") AS "w38", SUM("b"."k" * "t"."w39") AS
"w39", SUM("b"."k" * "t"."w40") AS "w40" FROM "pganon_work"."r0_smoothed0" AS "t" JOIN
"pganon_work"."r0_begun0" AS "b" ON "b"."c" = "t"."c0" AND "b"."c1" = "t"."c1" GROUP BY "b"."c0",
"b"."c1", "t"."part";

-- partition.spans: blocks to be searched as one
-- [danonyir]
CREATE TABLE pganon_work.r0_spans AS SELECT "n"."block", "n"."place", "n"."several", CASE WHEN
"n"."several" THEN (SELECT MAX("x"."block") FROM "pganon_work"."r0_blocked" AS "x") + DENSE_RANK()
OVER (PARTITION BY "n"."several" ORDER BY "n"."place") ELSE "n"."block" END AS "label" FROM (SELECT
"p"."block", COUNT(*) OVER (PARTITION BY "p"."run", "p"."piece") > 1 AS "several", DENSE_RANK() OVER
(ORDER BY "p"."run", "p"."piece") - 1 AS "place" FROM (SELECT "p"."block", "p"."run", "p"."at" *
(("p"."size" + 4 - 1) / 4) / "p"."size" AS "piece" FROM (SELECT "r"."block", "r"."run", ROW_NUMBER()
OVER (PARTITION BY "r"."run" ORDER BY "r"."block") - 1 AS "at", COUNT(*) OVER (PARTITION BY
"r"."run") AS "size" FROM (SELECT "f"."block", GREATEST(SUM(CAST("f"."found" AS INT)) OVER (ORDER BY
"f"."block"), 1) AS "run" FROM (SELECT "b"."block", "g"."block" IS NOT NULL AS "found" FROM (SELECT
DISTINCT "x"."block" FROM "pganon_work"."r0_blocked" AS "x") AS "b" LEFT JOIN (SELECT DISTINCT
("y"."gid" >> 32) AS "block" FROM "pganon_work"."r0_grown" AS "y") AS "g" ON "g"."block" =
"b"."block") AS "f") AS "r") AS "p") AS "p") AS "n";

-- partition.spans: how many of them there are
-- [danonyir]
SELECT COUNT(DISTINCT "s"."place") AS "places", COUNT(DISTINCT "s"."label") FILTER(WHERE
"s"."several") AS "joined" FROM "pganon_work"."r0_spans" AS "s";

-- partition.stay: whether records of all clusters can stay
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
SELECT 1 AS "asked";

-- partition.strata: whether they can be in buckets
-- [lgb_ncp]
SELECT (SELECT CAST(SUM("t"."chunks") AS BIGINT) FROM "pganon_work"."r0_strata" AS "t") AS "chunks",
"c"."lead", "c"."stratum", "c"."item", "c"."records" AS "cells", "c"."most" FROM (SELECT "v"."lead",
"v"."stratum", "v"."item", (CASE "v"."item" WHEN 0 THEN 2 WHEN 1 THEN 2 END) AS "l",
CAST(SUM("v"."n") AS BIGINT) AS "records", MAX("v"."n") AS "most" FROM
"pganon_work"."r0_strata_values" AS "v" GROUP BY "v"."lead", "v"."stratum", "v"."item") AS "c" ORDER
BY "c"."records" / "c"."most" - "c"."l", "c"."lead", "c"."stratum", "c"."item" LIMIT 1;

-- partition.strata_piles: into how many piles their records are dealt, and by which column
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_strata AS SELECT "d".*, CAST((SUM("d"."chunks") OVER (ORDER BY
"d"."lead", "d"."stratum") - "d"."chunks") AS BIGINT) AS "first" FROM (SELECT DISTINCT ON
("c"."lead", "c"."stratum") "c"."lead", "c"."stratum", "c"."item", "c"."l", "c"."records" / "c"."l"
AS "piles", LEAST(GREATEST("c"."records" / 20000, 1), "c"."records" / "c"."l") AS "chunks" FROM
(SELECT "v"."lead", "v"."stratum", "v"."item", (CASE "v"."item" WHEN 0 THEN 2 WHEN 1 THEN 2 END) AS
"l", CAST(SUM("v"."n") AS BIGINT) AS "records", MAX("v"."n") AS "most" FROM
"pganon_work"."r0_strata_values" AS "v" GROUP BY "v"."lead", "v"."stratum", "v"."item") AS "c" ORDER
BY "c"."lead", "c"."stratum", "c"."most" DESC, "c"."item") AS "d";

-- partition.strata_values: hidden values by the associated columns that a record hides
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_strata_values AS SELECT "m"."lead", "m"."stratum", "v"."item",
"v"."code", COUNT(*) AS "n" FROM (SELECT "u".* FROM (SELECT 0 AS "lead", (CAST(("p"."s0" > 0) AS
INT) * 1 + (CAST(("p"."s1" > 0) AS INT) * 2)) AS "stratum", "p"."rid", "p"."s0" AS "s0", "p"."s1" AS
"s1" FROM (SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1",
"c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c")
AS "p" WHERE "p"."s0" > 0 OR "p"."s1" > 0) AS "u") AS "m" CROSS JOIN LATERAL (VALUES (0, "m"."s0"),
(1, "m"."s1")) AS "v"("item", "code") WHERE "v"."code" > 0 GROUP BY "m"."lead", "m"."stratum",
"v"."item", "v"."code";

-- partition.stretches: both in blocks of neighbours
-- [geneir]
CREATE TABLE pganon_work.r0_stretches AS SELECT "o"."residual", "o"."unit", CAST((("o"."place" - 1)
* 1 / 2) AS INT) AS "block" FROM (SELECT "h"."residual", "h"."unit", ROW_NUMBER() OVER (ORDER BY
"h"."h0", "h"."rid") AS "place" FROM (WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0",
CAST("p"."y1" AS bigint) AS "x1", "p"."residual" AS "k0", "p"."unit" AS "k1", "p"."rid" AS "k2" FROM
(SELECT "c".*, (CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END) AS BIGINT) * 126 + (-86)) /
80 AS "y0", (CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END) AS BIGINT) * 126 + (-86)) / 80
AS "y1" FROM (SELECT "i".*, "p"."residual", "p"."unit" FROM (SELECT "u".* FROM (SELECT TRUE AS
"residual", "l"."rid" AS "unit", "l"."rid" FROM (SELECT "l"."rid" FROM "pganon_work"."r0_left_1" AS
"l") AS "l" UNION ALL SELECT FALSE AS "residual", "c"."gid" AS "unit", MIN("c"."rid") AS "rid" FROM
(SELECT "c"."rid", "c"."gid" FROM "pganon_work"."r0_swept" AS "c") AS "c" GROUP BY "c"."gid") AS
"u") AS "p" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."rid" = "p"."rid") AS "c") AS "p"
OFFSET '0'), "pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 32 = 0
THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0 THEN CASE WHEN "x0" & 32 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) | (("x1" & 32) << 5) AS "w0", "k0"
AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass0" OFFSET '0'), "pass2" AS (SELECT CASE WHEN "x1" & 16
= 0 THEN "x1" ELSE (~CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1"
& 16 = 0 THEN CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" |
(("x0" & 16) << 5) | (("x1" & 16) << 4) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM
"pass1" OFFSET '0'), "pass3" AS (SELECT CASE WHEN "x1" & 8 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 8 =
0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 8 = 0 THEN CASE WHEN "x0" & 8 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 8) << 4) | (("x1" & 8) << 3) AS "w0",
"k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass2" OFFSET '0'), "pass4" AS (SELECT CASE WHEN "x1"
& 4 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN
"x1" & 4 = 0 THEN CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" |
(("x0" & 4) << 3) | (("x1" & 4) << 2) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass3"
OFFSET '0'), "pass5" AS (SELECT CASE WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 2 = 0 THEN
"x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 2 = 0 THEN CASE WHEN "x0" & 2 = 0 THEN "x0"
ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 2) << 2) | (("x1" & 2) << 1) AS "w0", "k0"
AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass4" OFFSET '0'), "pass6" AS (SELECT "w0" | (("x0" & 1)
<< 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass5" OFFSET
'0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) # ("w0" >> 3) AS "w0", "k0" AS "k0", "k1"
AS "k1", "k2" AS "k2" FROM "pass6" OFFSET '0'), "pass8" AS (SELECT "w0" # ("w0" >> 4) # ("w0" >> 8)
AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2" FROM "pass7" OFFSET '0') SELECT "k0" AS
"residual", "k1" AS "unit", "k2" AS "rid", "w0" AS "h0" FROM "pass8") AS "h") AS "o";

-- partition.subsets: whether there are enough records of every mask
-- [lgb_mdp, lgb_ncp, local_generalization]
SELECT COUNT(*) AS "subsets", COUNT(*) FILTER(WHERE "m"."n" < 2) AS "small",
CAST(COALESCE(SUM("m"."n") FILTER(WHERE "m"."n" < 2), 0) AS BIGINT) AS "few" FROM
"pganon_work"."r0_masks" AS "m";

-- partition.subsets: whether there are enough records of every mask
-- [local_bucketization]
SELECT COUNT(*) AS "subsets", COUNT(*) FILTER(WHERE "m"."n" < 1) AS "small",
CAST(COALESCE(SUM("m"."n") FILTER(WHERE "m"."n" < 1), 0) AS BIGINT) AS "few" FROM
"pganon_work"."r0_masks" AS "m";

-- partition.support1: combinations of the QS set person that exist
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_support1 AS SELECT DISTINCT "c"."c0" + 1 AS "v1" FROM
"pganon_work"."r0_cells" AS "c";

-- partition.support2: combinations of the QS set place that exist
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_support2 AS SELECT DISTINCT "c"."c1" + 42 AS "v1" FROM
"pganon_work"."r0_cells" AS "c";

-- partition.suppressed: records left out, held against the limit
-- [one_dimensional, mondrian]
SELECT CAST(COALESCE(SUM("t"."n"), 0) AS BIGINT) AS "released", 40 - CAST(COALESCE(SUM("t"."n"), 0)
AS BIGINT) AS "suppressed" FROM "pganon_work"."r0_nodes_0" AS "t";

-- partition.suppressed: records left out, held against the limit
-- [one_dimensional]
SELECT CAST(COALESCE(SUM("t"."w") FILTER(WHERE "t"."gid" IS NOT NULL), 0) AS BIGINT) AS "released",
40 - CAST(COALESCE(SUM("t"."w") FILTER(WHERE "t"."gid" IS NOT NULL), 0) AS BIGINT) AS "suppressed"
FROM "pganon_work"."r0_classes" AS "t";

-- partition.suppressed: records left out, held against the limit
-- [mondrian]
SELECT CAST(COALESCE(SUM("t"."w"), 0) AS BIGINT) AS "released", 40 - CAST(COALESCE(SUM("t"."w"), 0)
AS BIGINT) AS "suppressed" FROM "pganon_work"."r0_cells_1" AS "t";

-- partition.suppressed: records left out, held against the limit
-- [full_domain, qs_greedy, qs_efficient]
SELECT COUNT(*) AS "released", 40 - COUNT(*) AS "suppressed" FROM "pganon_work"."r0_coded" AS "t";

-- partition.suppressed: records left out, held against the limit
-- [full_domain]
SELECT CAST(COALESCE(SUM("t"."n"), 0) AS BIGINT) AS "released", 40 - CAST(COALESCE(SUM("t"."n"), 0)
AS BIGINT) AS "suppressed" FROM "pganon_work"."r0_passing" AS "t";

-- partition.suppressed: records in no group, held against the limit
-- [msb]
SELECT COUNT(*) AS "released", 40 - COUNT(*) AS "suppressed", 1000 - COUNT(*) AS "ungrouped",
COUNT(*) = 1000 AS "complete" FROM "pganon_work"."r0_grouped" AS "p";

-- partition.suppressed: records left out, held against the limit
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT CAST(COALESCE(SUM("t"."n"), 0) AS BIGINT) AS "released", 40 - CAST(COALESCE(SUM("t"."n"), 0)
AS BIGINT) AS "suppressed" FROM (SELECT "m"."n" FROM "pganon_work"."r0_masks" AS "m" JOIN
"pganon_work"."r0_displays" AS "d" ON "d"."mask" = "m"."mask") AS "t";

-- partition.suppressed: records left out, held against the limit
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) AS "released", 40 - COUNT(*) AS "suppressed" FROM "pganon_work"."r0_grouped" AS "t";

-- partition.suppressed: records left out, held against the limit
-- [danonyir, geneir]
SELECT COUNT(*) AS "released", 40 - COUNT(*) AS "suppressed" FROM (SELECT "c"."rid" FROM
"pganon_work"."r0_grouped" AS "g" JOIN "pganon_work"."r0_coded" AS "c" ON "c"."rid" = "g"."rid") AS
"t";

-- partition.sweep: groups of individuals that show the same become classes if they can; repeated
-- [geneir]

-- partition.sweep.fit: groups that satisfy every requirement
-- [geneir]
CREATE TABLE pganon_work.r0_fit_0 AS SELECT DISTINCT "g"."label" FROM "pganon_work"."r0_groups_0" AS
"g" JOIN (SELECT "m"."label" FROM (SELECT COUNT(*) AS "measure", "g"."label" FROM (SELECT
"h"."value", "h"."n", "h"."label" FROM (SELECT "r"."individual" AS "value", COUNT(*) AS "n",
"r"."label" FROM (SELECT "g"."label", "g"."rid" AS "individual", "c"."s0" AS "value" FROM
"pganon_work"."r0_groups_0" AS "g" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."rid" =
"g"."rid" JOIN "pganon_work"."r0_coded" AS "c" ON "c"."individual" = "i"."individual") AS "r" GROUP
BY "r"."individual", "r"."label") AS "h") AS "g" GROUP BY "g"."label") AS "m" WHERE ("m"."measure"
>= 2)) AS "m0" ON "m0"."label" = "g"."label" JOIN (SELECT "m"."label" FROM (SELECT COUNT(*) AS
"measure", "g"."label" FROM (SELECT "h"."value", "h"."n", "h"."label" FROM (SELECT "r"."value",
COUNT(*) AS "n", "r"."label" FROM (SELECT "g"."label", "g"."rid" AS "individual", "c"."s0" AS
"value" FROM "pganon_work"."r0_groups_0" AS "g" JOIN "pganon_work"."r0_individuals" AS "i" ON
"i"."rid" = "g"."rid" JOIN "pganon_work"."r0_coded" AS "c" ON "c"."individual" = "i"."individual")
AS "r" GROUP BY "r"."value", "r"."label") AS "h") AS "g" GROUP BY "g"."label") AS "m" WHERE
("m"."measure" >= 2)) AS "m1" ON "m1"."label" = "g"."label";

-- partition.sweep.groups: individuals that show the same
-- [geneir]
CREATE TABLE pganon_work.r0_groups_0 AS SELECT "v"."rid", DENSE_RANK() OVER (ORDER BY "v"."x0",
"v"."x1") AS "label" FROM (SELECT "i"."rid", CASE WHEN (SELECT COUNT(*) FROM
"pganon_work"."r0_sequence" AS "q" WHERE "q"."step" <= 0 AND "q"."attribute" = 0) >= 1 THEN -1 WHEN
"i"."n0" AND "i"."hi0" > 0 THEN -1 WHEN "i"."lo0" IS NULL THEN 0 ELSE CAST((CASE WHEN "i"."lo0" = 0
THEN 0 ELSE (SELECT ARRAY_AGG("t"."lo" ORDER BY "t"."code", "t"."level") FROM
"pganon_work"."r0_level0" AS "t")[("i"."lo0" - 1) * 2 + GREATEST((SELECT COUNT(*) FROM
"pganon_work"."r0_sequence" AS "q" WHERE "q"."step" <= 0 AND "q"."attribute" = 0), (CASE WHEN
((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level0" AS
"t")[("i"."lo0" - 1) * 2 + 0 + 1]) >= "i"."hi0" THEN 0 ELSE 1 END)) + 1] END) AS INT) END AS "x0",
CASE WHEN (SELECT COUNT(*) FROM "pganon_work"."r0_sequence" AS "q" WHERE "q"."step" <= 0 AND
"q"."attribute" = 1) >= 1 THEN -1 WHEN "i"."n1" AND "i"."hi1" > 0 THEN -1 WHEN "i"."lo1" IS NULL
THEN 0 ELSE CAST((CASE WHEN "i"."lo1" = 0 THEN 0 ELSE (SELECT ARRAY_AGG("t"."lo" ORDER BY
"t"."code", "t"."level") FROM "pganon_work"."r0_level1" AS "t")[("i"."lo1" - 1) * 2 +
GREATEST((SELECT COUNT(*) FROM "pganon_work"."r0_sequence" AS "q" WHERE "q"."step" <= 0 AND
"q"."attribute" = 1), (CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level") FROM
"pganon_work"."r0_level1" AS "t")[("i"."lo1" - 1) * 2 + 0 + 1]) >= "i"."hi1" THEN 0 ELSE 1 END)) +
1] END) AS INT) END AS "x1" FROM "pganon_work"."r0_individuals" AS "i" JOIN
"pganon_work"."r0_left_0" AS "l" ON "l"."rid" = "i"."rid") AS "v";

-- partition.sweep.left: individuals of the others
-- [geneir]
CREATE TABLE pganon_work.r0_left_1 AS SELECT "g"."rid" FROM "pganon_work"."r0_groups_0" AS "g" LEFT
JOIN "pganon_work"."r0_fit_0" AS "f" ON "f"."label" = "g"."label" WHERE "f"."label" IS NULL;

-- partition.sweep.progress: whether there is anybody and any level left
-- [geneir]
SELECT NOT EXISTS(SELECT 1 FROM "pganon_work"."r0_left_1" AS "l") OR 0 >= 2 AS "swept";

-- partition.sweep.tidy: drop the work tables of this round
-- [geneir]
DROP TABLE pganon_work.r0_left_0;

-- partition.swept: the class of every individual of these groups
-- [geneir]
CREATE TABLE pganon_work.r0_swept AS SELECT "u".* FROM (SELECT "g"."rid", (CAST(0 AS BIGINT) << 32)
+ "g"."label" AS "gid" FROM "pganon_work"."r0_groups_0" AS "g" JOIN "pganon_work"."r0_fit_0" AS "f"
ON "f"."label" = "g"."label") AS "u";

-- partition.tidy: cells of all parts
-- [one_dimensional, mondrian]
DROP TABLE pganon_work.r0_cells, pganon_work.r0_fit;

-- partition.tidy: the line and its blocks
-- [one_dimensional]
DROP TABLE pganon_work.r0_cells_0, pganon_work.r0_cellvalues0, pganon_work.r0_nodes_0,
pganon_work.r0_added, pganon_work.r0_line, pganon_work.r0_blocks_0, pganon_work.r0_packed,
pganon_work.r0_labels, pganon_work.r0_classes;

-- partition.tidy: what the rounds left
-- [mondrian]
DROP TABLE pganon_work.r0_moves_0, pganon_work.r0_cells_1, pganon_work.r0_done_0,
pganon_work.r0_nodes_1;

-- partition.tidy: what the classes were made from
-- [mondrian]
DROP TABLE pganon_work.r0_cellvalues0, pganon_work.r0_divided, pganon_work.r0_ranked_0,
pganon_work.r0_offers_0, pganon_work.r0_chosen_0, pganon_work.r0_cells_1, pganon_work.r0_nodes_1;

-- partition.tidy: what the search measured
-- [full_domain]
DROP TABLE pganon_work.r0_labels0, pganon_work.r0_labels1, pganon_work.r0_cells,
pganon_work.r0_slots0, pganon_work.r0_slots1, pganon_work.r0_losses, pganon_work.r0_gaps,
pganon_work.r0_hist, pganon_work.r0_released_0, pganon_work.r0_passing;

-- partition.tidy: what the blocks were made from
-- [anatomy]
DROP TABLE pganon_work.r0_hist_1, pganon_work.r0_whole_0;

-- partition.tidy: what the buckets were made from
-- [slicing]
DROP TABLE pganon_work.r0_judged, pganon_work.r0_cells_1, pganon_work.r0_done_0,
pganon_work.r0_nodes_1, pganon_work.r0_gathered;

-- partition.tidy: what the blocks were made from
-- [slamsa]
DROP TABLE pganon_work.r0_placed, pganon_work.r0_merged;

-- partition.tidy: what the buckets were made from
-- [slamsa]
DROP TABLE pganon_work.r0_judged, pganon_work.r0_blocked, pganon_work.r0_partition_0;

-- partition.tidy: what the groups were made from
-- [msb]
DROP TABLE pganon_work.r0_vectors;

-- partition.tidy: what they were made from
-- [sloms]
DROP TABLE pganon_work.r0_vectors_0, pganon_work.r0_buckets0_0, pganon_work.r0_buckets1_0,
pganon_work.r0_blocked, pganon_work.r0_classes;

-- partition.tidy: what the groups were made from
-- [lgb_mdp, local_generalization]
DROP TABLE pganon_work.r0_cells_1, pganon_work.r0_done_0, pganon_work.r0_nodes_1,
pganon_work.r0_median_cells, pganon_work.r0_median_groups;

-- partition.tidy: what they were made from
-- [lgb_mdp, local_bucketization]
DROP TABLE pganon_work.r0_masks, pganon_work.r0_group_cells, pganon_work.r0_hidden,
pganon_work.r0_histogram0, pganon_work.r0_histogram1, pganon_work.r0_plan0,
pganon_work.r0_bucketed0, pganon_work.r0_plan1, pganon_work.r0_ranges1;

-- partition.tidy: what groups were made from
-- [lgb_ncp]
DROP TABLE pganon_work.r0_cells_1, pganon_work.r0_done_0, pganon_work.r0_nodes_1,
pganon_work.r0_blocks, pganon_work.r0_cells, pganon_work.r0_cell_groups;

-- partition.tidy: what they were made from
-- [lgb_ncp]
DROP TABLE pganon_work.r0_masks, pganon_work.r0_group_cells, pganon_work.r0_hidden,
pganon_work.r0_histogram0, pganon_work.r0_histogram1, pganon_work.r0_strata_values,
pganon_work.r0_strata, pganon_work.r0_piles, pganon_work.r0_chunk_blocks,
pganon_work.r0_pile_buckets, pganon_work.r0_shared;

-- partition.tidy: what they were made from
-- [local_generalization]
DROP TABLE pganon_work.r0_masks, pganon_work.r0_group_cells, pganon_work.r0_bucketed0,
pganon_work.r0_bucketed1;

-- partition.tidy: what was smoothed
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
DROP TABLE pganon_work.r0_neighbours0, pganon_work.r0_begun0, pganon_work.r0_smoothed0;

-- partition.tidy: what priors were made from
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
DROP TABLE pganon_work.r0_value_cells, pganon_work.r0_smoothed1, pganon_work.r0_cell_weights,
pganon_work.r0_cell_priors;

-- partition.tidy: what the classes were made from
-- [beta_primacy]
DROP TABLE pganon_work.r0_vector_blocks, pganon_work.r0_cell_clusters,
pganon_work.r0_cluster_values, pganon_work.r0_kept, pganon_work.r0_placed, pganon_work.r0_limits,
pganon_work.r0_pieces, pganon_work.r0_hist_0, pganon_work.r0_hist_1, pganon_work.r0_whole_0,
pganon_work.r0_leaves, pganon_work.r0_blocks, pganon_work.r0_blocked, pganon_work.r0_block_values,
pganon_work.r0_plan;

-- partition.tidy: what blocks were made from
-- [kinc, kagg, kinc_mic, kagg_mic]
DROP TABLE pganon_work.r0_piece_values, pganon_work.r0_piece_blocks;

-- partition.tidy: what the classes were made from
-- [kinc, kagg, kinc_mic, kagg_mic]
DROP TABLE pganon_work.r0_vector_blocks, pganon_work.r0_cell_clusters,
pganon_work.r0_cluster_values, pganon_work.r0_kept, pganon_work.r0_placed, pganon_work.r0_blocked,
pganon_work.r0_grown;

-- partition.tidy: what the classes were made from
-- [js_reduce]
DROP TABLE pganon_work.r0_blocked, pganon_work.r0_reduced, pganon_work.r0_settled;

-- partition.tidy: what the clusters were made from
-- [qs_greedy, qs_efficient]
DROP TABLE pganon_work.r0_whole, pganon_work.r0_curve, pganon_work.r0_pieces, pganon_work.r0_blocks,
pganon_work.r0_points, pganon_work.r0_formed, pganon_work.r0_open, pganon_work.r0_absorbed;

-- partition.tidy: what the classes were made from
-- [danonyir]
DROP TABLE pganon_work.r0_blocked, pganon_work.r0_grown, pganon_work.r0_spans,
pganon_work.r0_regrown, pganon_work.r0_left0, pganon_work.r0_units0, pganon_work.r0_joined0,
pganon_work.r0_left1, pganon_work.r0_units1, pganon_work.r0_joined1, pganon_work.r0_left2,
pganon_work.r0_units2, pganon_work.r0_joined2;

-- partition.tidy: what the classes were made from
-- [geneir]
DROP TABLE pganon_work.r0_groups_0, pganon_work.r0_fit_0, pganon_work.r0_left_1,
pganon_work.r0_swept, pganon_work.r0_stretches, pganon_work.r0_joined_0;

-- partition.top: what the highest levels reach
-- [full_domain]
SELECT CAST(SUM("m"."most") AS BIGINT) AS "whole", (SELECT CAST(MIN("m"."measure") AS DOUBLE
PRECISION) FROM (SELECT "c"."n" AS "measure" FROM (SELECT CAST(SUM("t"."n") AS BIGINT) AS "n",
"t"."k0" & 0 AS "k0", BIT_OR("t"."b0_0") AS "b0_0" FROM "pganon_work"."r0_hist" AS "t" GROUP BY
"t"."k0" & 0) AS "c") AS "m") AS "reached0", (SELECT BOOL_OR(NOT ("m"."measure" >= 4)) FROM (SELECT
"c"."n" AS "measure" FROM (SELECT CAST(SUM("t"."n") AS BIGINT) AS "n", "t"."k0" & 0 AS "k0",
BIT_OR("t"."b0_0") AS "b0_0" FROM "pganon_work"."r0_hist" AS "t" GROUP BY "t"."k0" & 0) AS "c") AS
"m") AS "missed0", (SELECT CAST(MIN("m"."measure") AS DOUBLE PRECISION) FROM (SELECT
BIT_COUNT(CAST("c"."b0_0" AS BIT(64))) AS "measure" FROM (SELECT CAST(SUM("t"."n") AS BIGINT) AS
"n", "t"."k0" & 0 AS "k0", BIT_OR("t"."b0_0") AS "b0_0" FROM "pganon_work"."r0_hist" AS "t" GROUP BY
"t"."k0" & 0) AS "c") AS "m") AS "reached1", (SELECT BOOL_OR(NOT ("m"."measure" >= 2)) FROM (SELECT
BIT_COUNT(CAST("c"."b0_0" AS BIT(64))) AS "measure" FROM (SELECT CAST(SUM("t"."n") AS BIGINT) AS
"n", "t"."k0" & 0 AS "k0", BIT_OR("t"."b0_0") AS "b0_0" FROM "pganon_work"."r0_hist" AS "t" GROUP BY
"t"."k0" & 0) AS "c") AS "m") AS "missed1" FROM (SELECT MAX("l"."loss") AS "most" FROM
"pganon_work"."r0_losses" AS "l" GROUP BY "l"."attribute") AS "m";

-- partition.trim: leave out records of values that are too frequent; repeated
-- [anatomy, slicing, slamsa, msb, sloms]

-- partition.trim.eligibility: whether every stratum could be one bucket
-- [anatomy]
WITH "w" AS MATERIALIZED (SELECT * FROM (SELECT "w".*, (CASE "w"."place" WHEN 0 THEN 2 END) AS "l"
FROM (SELECT "c"."place", "c"."stratum", SUM("c"."n") AS "size", MAX("c"."n") AS "most", COUNT(*) AS
"different" FROM (SELECT "u".* FROM (SELECT 0 AS "place", 0 AS "stratum", "k"."s0" AS "value",
COUNT(*) AS "n" FROM "pganon_work"."r0_coded" AS "k" GROUP BY 2, 3) AS "u") AS "c" GROUP BY
"c"."place", "c"."stratum") AS "w") AS "worst") SELECT COALESCE(BOOL_AND("w"."most" * "w"."l" <=
"w"."size" AND "w"."size" >= 1), FALSE) AS "eligible", MIN("w"."place") FILTER(WHERE "w"."most" *
"w"."l" > "w"."size") AS "fails", CAST(MIN("w"."size") FILTER(WHERE "w"."size" < 1) AS BIGINT) AS
"small", COUNT(DISTINCT "w"."stratum") AS "strata", COALESCE(BOOL_OR("w"."different" >= "w"."l"),
FALSE) AS "possible", CAST(COALESCE(SUM("w"."size") FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS
"released", 40 - CAST(COALESCE(SUM("w"."size") FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS
"suppressed", (SELECT CAST(JSON_AGG(JSON_BUILD_ARRAY("v"."most", "v"."size") ORDER BY "v"."place",
"v"."stratum") AS TEXT) FROM "w" AS "v" WHERE "v"."most" * "v"."l" > "v"."size") AS "missed",
(SELECT CAST(JSON_AGG("v"."place" ORDER BY "v"."place", "v"."stratum") AS TEXT) FROM "w" AS "v"
WHERE "v"."most" * "v"."l" > "v"."size") AS "places", CAST(NULL AS BOOLEAN) AS "together" FROM "w";

-- partition.trim.eligibility: whether every stratum could be one bucket
-- [slicing]
WITH "w" AS MATERIALIZED (SELECT * FROM (SELECT "w".*, (CASE "w"."place" WHEN 0 THEN 2 END) AS "l"
FROM (SELECT "c"."place", "c"."stratum", SUM("c"."n") AS "size", MAX("c"."n") AS "most", COUNT(*) AS
"different" FROM (SELECT "u".* FROM (SELECT 0 AS "place", "k"."beside" AS "stratum", "k"."s0" AS
"value", COUNT(*) AS "n" FROM "pganon_work"."r0_judged" AS "k" GROUP BY 2, 3) AS "u") AS "c" GROUP
BY "c"."place", "c"."stratum") AS "w") AS "worst") SELECT COALESCE(BOOL_AND("w"."most" * "w"."l" <=
"w"."size" AND "w"."size" >= 1), FALSE) AS "eligible", MIN("w"."place") FILTER(WHERE "w"."most" *
"w"."l" > "w"."size") AS "fails", CAST(MIN("w"."size") FILTER(WHERE "w"."size" < 1) AS BIGINT) AS
"small", COUNT(DISTINCT "w"."stratum") AS "strata", COALESCE(BOOL_OR("w"."different" >= "w"."l"),
FALSE) AS "possible", CAST(COALESCE(SUM("w"."size") FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS
"released", 40 - CAST(COALESCE(SUM("w"."size") FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS
"suppressed", (SELECT CAST(JSON_AGG(JSON_BUILD_ARRAY("v"."most", "v"."size") ORDER BY "v"."place",
"v"."stratum") AS TEXT) FROM "w" AS "v" WHERE "v"."most" * "v"."l" > "v"."size") AS "missed",
(SELECT CAST(JSON_AGG("v"."place" ORDER BY "v"."place", "v"."stratum") AS TEXT) FROM "w" AS "v"
WHERE "v"."most" * "v"."l" > "v"."size") AS "places", (SELECT BOOL_AND("t"."most" * (CASE
"t"."place" WHEN 0 THEN 2 END) <= "t"."size") FROM (SELECT "v"."place", MAX("v"."n") AS "most",
SUM("v"."n") AS "size" FROM (SELECT "c"."place", "c"."value", SUM("c"."n") AS "n" FROM (SELECT "u".*
FROM (SELECT 0 AS "place", "k"."beside" AS "stratum", "k"."s0" AS "value", COUNT(*) AS "n" FROM
"pganon_work"."r0_judged" AS "k" GROUP BY 2, 3) AS "u") AS "c" GROUP BY "c"."place", "c"."value") AS
"v" GROUP BY "v"."place") AS "t") AS "together" FROM "w";

-- partition.trim.eligibility: whether every stratum could be one bucket
-- [slamsa]
WITH "w" AS MATERIALIZED (SELECT * FROM (SELECT "w".*, (CASE "w"."place" WHEN 0 THEN 2 WHEN 1 THEN 2
END) AS "l" FROM (SELECT "c"."place", "c"."stratum", SUM("c"."n") AS "size", MAX("c"."n") AS "most",
COUNT(*) AS "different" FROM (SELECT "u".* FROM (SELECT 0 AS "place", 0 AS "stratum", "k"."s0" AS
"value", COUNT(*) AS "n" FROM "pganon_work"."r0_judged" AS "k" GROUP BY 2, 3 UNION ALL SELECT 1 AS
"place", 0 AS "stratum", "k"."s1" AS "value", COUNT(*) AS "n" FROM "pganon_work"."r0_judged" AS "k"
GROUP BY 2, 3) AS "u") AS "c" GROUP BY "c"."place", "c"."stratum") AS "w") AS "worst") SELECT
COALESCE(BOOL_AND("w"."most" * "w"."l" <= "w"."size" AND "w"."size" >= 2), FALSE) AS "eligible",
MIN("w"."place") FILTER(WHERE "w"."most" * "w"."l" > "w"."size") AS "fails", CAST(MIN("w"."size")
FILTER(WHERE "w"."size" < 2) AS BIGINT) AS "small", COUNT(DISTINCT "w"."stratum") AS "strata",
COALESCE(BOOL_OR("w"."different" >= "w"."l"), FALSE) AS "possible", CAST(COALESCE(SUM("w"."size")
FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS "released", 40 - CAST(COALESCE(SUM("w"."size")
FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS "suppressed", (SELECT
CAST(JSON_AGG(JSON_BUILD_ARRAY("v"."most", "v"."size") ORDER BY "v"."place", "v"."stratum") AS TEXT)
FROM "w" AS "v" WHERE "v"."most" * "v"."l" > "v"."size") AS "missed", (SELECT
CAST(JSON_AGG("v"."place" ORDER BY "v"."place", "v"."stratum") AS TEXT) FROM "w" AS "v" WHERE
"v"."most" * "v"."l" > "v"."size") AS "places", CAST(NULL AS BOOLEAN) AS "together" FROM "w";

-- partition.trim.eligibility: whether every stratum could be one bucket
-- [msb, sloms]
WITH "w" AS MATERIALIZED (SELECT * FROM (SELECT "w".*, (CASE "w"."place" WHEN 0 THEN 2 WHEN 1 THEN 2
END) AS "l" FROM (SELECT "c"."place", "c"."stratum", SUM("c"."n") AS "size", MAX("c"."n") AS "most",
COUNT(*) AS "different" FROM (SELECT "u".* FROM (SELECT 0 AS "place", 0 AS "stratum", "k"."s0" AS
"value", COUNT(*) AS "n" FROM "pganon_work"."r0_coded" AS "k" GROUP BY 2, 3 UNION ALL SELECT 1 AS
"place", 0 AS "stratum", "k"."s1" AS "value", COUNT(*) AS "n" FROM "pganon_work"."r0_coded" AS "k"
GROUP BY 2, 3) AS "u") AS "c" GROUP BY "c"."place", "c"."stratum") AS "w") AS "worst") SELECT
COALESCE(BOOL_AND("w"."most" * "w"."l" <= "w"."size" AND "w"."size" >= 2), FALSE) AS "eligible",
MIN("w"."place") FILTER(WHERE "w"."most" * "w"."l" > "w"."size") AS "fails", CAST(MIN("w"."size")
FILTER(WHERE "w"."size" < 2) AS BIGINT) AS "small", COUNT(DISTINCT "w"."stratum") AS "strata",
COALESCE(BOOL_OR("w"."different" >= "w"."l"), FALSE) AS "possible", CAST(COALESCE(SUM("w"."size")
FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS "released", 40 - CAST(COALESCE(SUM("w"."size")
FILTER(WHERE "w"."place" = 0), 0) AS BIGINT) AS "suppressed", (SELECT
CAST(JSON_AGG(JSON_BUILD_ARRAY("v"."most", "v"."size") ORDER BY "v"."place", "v"."stratum") AS TEXT)
FROM "w" AS "v" WHERE "v"."most" * "v"."l" > "v"."size") AS "missed", (SELECT
CAST(JSON_AGG("v"."place" ORDER BY "v"."place", "v"."stratum") AS TEXT) FROM "w" AS "v" WHERE
"v"."most" * "v"."l" > "v"."size") AS "places", CAST(NULL AS BOOLEAN) AS "together" FROM "w";

-- partition.units0: the same with the classes of neighbouring places
-- [danonyir]
CREATE TABLE pganon_work.r0_units0 AS SELECT "u".* FROM (SELECT "l"."block", "l"."rid", TRUE AS
"residual", 1 AS "people", CAST("i"."n" AS BIGINT) AS "records", "i"."n" AS "largest",
CAST("i"."held0" AS INT[]) AS "held0", CAST(NULL AS INT[]) AS "counts0", CAST(NULL AS INT[]) AS
"holders0", "i"."lo0", "i"."hi0", "i"."n0", "i"."b1" FROM "pganon_work"."r0_left0" AS "l" JOIN
"pganon_work"."r0_individuals" AS "i" ON "i"."rid" = "l"."rid" UNION ALL SELECT "u"."block",
"u"."unit" AS "rid", FALSE AS "residual", "u"."people", "u"."records", "u"."largest", CAST(NULL AS
INT[]) AS "held0", CAST(NULL AS INT[]) AS "counts0", CAST(NULL AS INT[]) AS "holders0", "u"."lo0",
"u"."hi0", "u"."n0", "u"."b1" FROM (SELECT "m"."block", "m"."unit", CAST(COUNT(*) AS INT) AS
"people", CAST(SUM("i"."n") AS BIGINT) AS "records", MAX("i"."n") AS "largest", MIN("i"."lo0") AS
"lo0", MAX("i"."hi0") AS "hi0", BOOL_OR("i"."n0") AS "n0",
CAST(STRING_TO_ARRAY(STRING_AGG(ARRAY_TO_STRING("i"."b1", ','), ','), ',') AS INT[]) AS "b1" FROM
(SELECT "n"."middle" AS "block", "c"."gid" AS "unit", "c"."rid" FROM (SELECT "u".* FROM (SELECT
"g"."rid", "g"."gid" FROM "pganon_work"."r0_grown" AS "g" JOIN "pganon_work"."r0_spans" AS "s" ON
"s"."block" = ("g"."gid" >> 32) WHERE NOT "s"."several" UNION ALL SELECT "r"."rid", "r"."gid" FROM
"pganon_work"."r0_regrown" AS "r") AS "u") AS "c" JOIN (SELECT DISTINCT "s"."label", (("s"."place" -
0 + 4) / 3 - 1) * 3 + 0 AS "middle" FROM "pganon_work"."r0_spans" AS "s") AS "n" ON "n"."label" =
("c"."gid" >> 32) JOIN (SELECT DISTINCT "x"."block" FROM "pganon_work"."r0_left0" AS "x") AS "l" ON
"l"."block" = "n"."middle") AS "m" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."rid" =
"m"."rid" GROUP BY "m"."block", "m"."unit") AS "u") AS "u";

-- partition.units1: the same with the classes of neighbouring places
-- [danonyir]
CREATE TABLE pganon_work.r0_units1 AS SELECT "u".* FROM (SELECT "l"."block", "l"."rid", TRUE AS
"residual", 1 AS "people", CAST("i"."n" AS BIGINT) AS "records", "i"."n" AS "largest",
CAST("i"."held0" AS INT[]) AS "held0", CAST(NULL AS INT[]) AS "counts0", CAST(NULL AS INT[]) AS
"holders0", "i"."lo0", "i"."hi0", "i"."n0", "i"."b1" FROM "pganon_work"."r0_left1" AS "l" JOIN
"pganon_work"."r0_individuals" AS "i" ON "i"."rid" = "l"."rid" UNION ALL SELECT "u"."block",
"u"."unit" AS "rid", FALSE AS "residual", "u"."people", "u"."records", "u"."largest", CAST(NULL AS
INT[]) AS "held0", CAST(NULL AS INT[]) AS "counts0", CAST(NULL AS INT[]) AS "holders0", "u"."lo0",
"u"."hi0", "u"."n0", "u"."b1" FROM (SELECT "m"."block", "m"."unit", CAST(COUNT(*) AS INT) AS
"people", CAST(SUM("i"."n") AS BIGINT) AS "records", MAX("i"."n") AS "largest", MIN("i"."lo0") AS
"lo0", MAX("i"."hi0") AS "hi0", BOOL_OR("i"."n0") AS "n0",
CAST(STRING_TO_ARRAY(STRING_AGG(ARRAY_TO_STRING("i"."b1", ','), ','), ',') AS INT[]) AS "b1" FROM
(SELECT "n"."middle" AS "block", "c"."gid" AS "unit", "c"."rid" FROM (SELECT "u".* FROM (SELECT
"g"."rid", "g"."gid" FROM "pganon_work"."r0_grown" AS "g" JOIN "pganon_work"."r0_spans" AS "s" ON
"s"."block" = ("g"."gid" >> 32) WHERE NOT "s"."several" UNION ALL SELECT "r"."rid", "r"."gid" FROM
"pganon_work"."r0_regrown" AS "r" UNION ALL SELECT "r"."rid", "r"."gid" FROM
"pganon_work"."r0_joined0" AS "r") AS "u") AS "c" JOIN (SELECT DISTINCT "s"."label", (("s"."place" -
1 + 4) / 3 - 1) * 3 + 1 AS "middle" FROM "pganon_work"."r0_spans" AS "s") AS "n" ON "n"."label" =
("c"."gid" >> 32) JOIN (SELECT DISTINCT "x"."block" FROM "pganon_work"."r0_left1" AS "x") AS "l" ON
"l"."block" = "n"."middle") AS "m" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."rid" =
"m"."rid" GROUP BY "m"."block", "m"."unit") AS "u") AS "u";

-- partition.units2: the same with the classes of neighbouring places
-- [danonyir]
CREATE TABLE pganon_work.r0_units2 AS SELECT "u".* FROM (SELECT "l"."block", "l"."rid", TRUE AS
"residual", 1 AS "people", CAST("i"."n" AS BIGINT) AS "records", "i"."n" AS "largest",
CAST("i"."held0" AS INT[]) AS "held0", CAST(NULL AS INT[]) AS "counts0", CAST(NULL AS INT[]) AS
"holders0", "i"."lo0", "i"."hi0", "i"."n0", "i"."b1" FROM "pganon_work"."r0_left2" AS "l" JOIN
"pganon_work"."r0_individuals" AS "i" ON "i"."rid" = "l"."rid" UNION ALL SELECT "u"."block",
"u"."unit" AS "rid", FALSE AS "residual", "u"."people", "u"."records", "u"."largest", CAST(NULL AS
INT[]) AS "held0", CAST(NULL AS INT[]) AS "counts0", CAST(NULL AS INT[]) AS "holders0", "u"."lo0",
"u"."hi0", "u"."n0", "u"."b1" FROM (SELECT "m"."block", "m"."unit", CAST(COUNT(*) AS INT) AS
"people", CAST(SUM("i"."n") AS BIGINT) AS "records", MAX("i"."n") AS "largest", MIN("i"."lo0") AS
"lo0", MAX("i"."hi0") AS "hi0", BOOL_OR("i"."n0") AS "n0",
CAST(STRING_TO_ARRAY(STRING_AGG(ARRAY_TO_STRING("i"."b1", ','), ','), ',') AS INT[]) AS "b1" FROM
(SELECT "n"."middle" AS "block", "c"."gid" AS "unit", "c"."rid" FROM (SELECT "u".* FROM (SELECT
"g"."rid", "g"."gid" FROM "pganon_work"."r0_grown" AS "g" JOIN "pganon_work"."r0_spans" AS "s" ON
"s"."block" = ("g"."gid" >> 32) WHERE NOT "s"."several" UNION ALL SELECT "r"."rid", "r"."gid" FROM
"pganon_work"."r0_regrown" AS "r" UNION ALL SELECT "r"."rid", "r"."gid" FROM
"pganon_work"."r0_joined0" AS "r" UNION ALL SELECT "r"."rid", "r"."gid" FROM
"pganon_work"."r0_joined1" AS "r") AS "u") AS "c" JOIN (SELECT DISTINCT "s"."label", (("s"."place" -
2 + 4) / 3 - 1) * 3 + 2 AS "middle" FROM "pganon_work"."r0_spans" AS "s") AS "n" ON "n"."label" =
("c"."gid" >> 32) JOIN (SELECT DISTINCT "x"."block" FROM "pganon_work"."r0_left2" AS "x") AS "l" ON
"l"."block" = "n"."middle") AS "m" JOIN "pganon_work"."r0_individuals" AS "i" ON "i"."rid" =
"m"."rid" GROUP BY "m"."block", "m"."unit") AS "u") AS "u";

-- partition.value_cells: records by quasi-identifiers and sensitive value
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_value_cells AS SELECT CAST(DENSE_RANK() OVER (ORDER BY "g"."c0" = 0,
"g"."c0", "g"."c1" = 0, "g"."c1") AS integer) AS "cell", "g".* FROM (SELECT COUNT(*) AS "n",
"c"."c0", "c"."c1", "c"."s0" AS "value" FROM "pganon_work"."r0_coded" AS "c" GROUP BY "c"."c0",
"c"."c1", "c"."s0") AS "g";

-- partition.values0: values of zip in every bucket
-- [lgb_mdp, local_bucketization, local_generalization]
CREATE TABLE pganon_stage.r0_values0 AS SELECT "x"."x0" AS "zip_bucket", "x"."x1" AS "zip", COUNT(*)
AS "count" FROM (SELECT "r"."b" AS "x0", "r"."v" AS "x1" FROM (SELECT "h"."rid", "n"."b0" AS "b",
"h"."v" FROM "pganon_work"."r0_bucketed0" AS "h" JOIN "pganon_work"."r0_numbers_b0" AS "n" ON
"n"."gid" = "h"."b") AS "r" ORDER BY "r"."b", "r"."v") AS "x" GROUP BY "x"."x0", "x"."x1" ORDER BY
"x"."x0", "x"."x1";

-- partition.values0: values of zip in every bucket
-- [lgb_ncp]
CREATE TABLE pganon_stage.r0_values0 AS SELECT "x"."x0" AS "zip_bucket", "x"."x1" AS "zip", COUNT(*)
AS "count" FROM (SELECT "r"."b" AS "x0", "r"."v" AS "x1" FROM (SELECT "h"."rid", "n"."b0" AS "b",
"h"."v" FROM (SELECT "s"."rid", "s"."b", "p"."v0" AS "v" FROM "pganon_work"."r0_shared" AS "s" JOIN
(SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0",
"c"."v1", "c"."p0", "c"."record", "c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c") AS "p" ON
"p"."rid" = "s"."rid" WHERE "s"."lead" = 0 AND "p"."s0" > 0) AS "h" JOIN
"pganon_work"."r0_numbers_b0" AS "n" ON "n"."gid" = "h"."b") AS "r" ORDER BY "r"."b", "r"."v") AS
"x" GROUP BY "x"."x0", "x"."x1" ORDER BY "x"."x0", "x"."x1";

-- partition.values0_key: an index that the published views join on
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE INDEX ON "pganon_stage"."r0_values0" ("zip_bucket");

-- partition.values1: values of disease in every bucket
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_stage.r0_values1 AS SELECT "x"."x0" AS "disease_bucket", "x"."x1" AS "disease",
COUNT(*) AS "count" FROM (SELECT "r"."b" AS "x0", "r"."v" AS "x1" FROM (SELECT "p"."v1" AS "v",
(SELECT ARRAY_AGG("n"."b1" ORDER BY "n"."gid") FROM "pganon_work"."r0_numbers_b1" AS
"n")[("h"."base" + ("g"."rid" - "h"."first" + "h"."shift") % "h"."modulo") + 1] AS "b" FROM (SELECT
"c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1", "c"."v0", "c"."v1",
"c"."p0", "c"."record", "c"."o0" FROM "pganon_work"."r0_coded" AS "c") AS "p" JOIN
"pganon_work"."r0_ranges1" AS "h" ON "h"."first" = "p"."rid" CROSS JOIN LATERAL
GENERATE_SERIES("h"."first", "h"."last" - 1) AS "g"("rid")) AS "r" ORDER BY "r"."b", "r"."v") AS "x"
GROUP BY "x"."x0", "x"."x1" ORDER BY "x"."x0", "x"."x1";

-- partition.values1: values of drug in every bucket
-- [lgb_ncp]
CREATE TABLE pganon_stage.r0_values1 AS SELECT "x"."x0" AS "drug_bucket", "x"."x1" AS "drug",
COUNT(*) AS "count" FROM (SELECT "r"."b" AS "x0", "r"."v" AS "x1" FROM (SELECT "h"."rid", "n"."b0"
AS "b", "h"."v" FROM (SELECT "s"."rid", "s"."b", "p"."v1" AS "v" FROM "pganon_work"."r0_shared" AS
"s" JOIN (SELECT "c"."rid", "c"."hides" AS "display", "c"."c0", "c"."c1", "c"."s0", "c"."s1",
"c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0", "c"."o1" FROM "pganon_work"."r0_coded" AS "c")
AS "p" ON "p"."rid" = "s"."rid" WHERE "s"."lead" = 0 AND "p"."s1" > 0) AS "h" JOIN
"pganon_work"."r0_numbers_b0" AS "n" ON "n"."gid" = "h"."b") AS "r" ORDER BY "r"."b", "r"."v") AS
"x" GROUP BY "x"."x0", "x"."x1" ORDER BY "x"."x0", "x"."x1";

-- partition.values1: values of disease in every bucket
-- [local_generalization]
CREATE TABLE pganon_stage.r0_values1 AS SELECT "x"."x0" AS "disease_bucket", "x"."x1" AS "disease",
COUNT(*) AS "count" FROM (SELECT "r"."b" AS "x0", "r"."v" AS "x1" FROM (SELECT "h"."rid", "n"."b1"
AS "b", "h"."v" FROM "pganon_work"."r0_bucketed1" AS "h" JOIN "pganon_work"."r0_numbers_b1" AS "n"
ON "n"."gid" = "h"."b") AS "r" ORDER BY "r"."b", "r"."v") AS "x" GROUP BY "x"."x0", "x"."x1" ORDER
BY "x"."x0", "x"."x1";

-- partition.values1_key: an index that the published views join on
-- [lgb_mdp, local_bucketization, local_generalization]
CREATE INDEX ON "pganon_stage"."r0_values1" ("disease_bucket");

-- partition.values1_key: an index that the published views join on
-- [lgb_ncp]
CREATE INDEX ON "pganon_stage"."r0_values1" ("drug_bucket");

-- partition.vector_blocks: priors that are linked at a time
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_vector_blocks AS SELECT ("a"."place" - 1) * 1 / 40 AS "block",
"a"."vector" FROM (SELECT "h"."vector", ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."vector") AS
"place" FROM (WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0", CAST("p"."y1" AS bigint) AS
"x1", "p"."vector" AS "k0" FROM (SELECT "c".*, (CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0"
END) AS BIGINT) * 126 + (-86)) / 80 AS "y0", (CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1"
END) AS BIGINT) * 126 + (-86)) / 80 AS "y1" FROM (SELECT "f"."vector", "c"."c0", "c"."c1" FROM
(SELECT "v"."vector", MIN("v"."cell") AS "cell" FROM "pganon_work"."r0_cell_vectors" AS "v" GROUP BY
"v"."vector") AS "f" JOIN "pganon_work"."r0_qi_cells" AS "c" ON "c"."cell" = "f"."cell") AS "c") AS
"p" OFFSET '0'), "pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 32 = 0
THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0 THEN CASE WHEN "x0" & 32 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) | (("x1" & 32) << 5) AS "w0", "k0"
AS "k0" FROM "pass0" OFFSET '0'), "pass2" AS (SELECT CASE WHEN "x1" & 16 = 0 THEN "x1" ELSE (~CASE
WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 16 = 0 THEN CASE WHEN
"x0" & 16 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 16) << 5) | (("x1" &
16) << 4) AS "w0", "k0" AS "k0" FROM "pass1" OFFSET '0'), "pass3" AS (SELECT CASE WHEN "x1" & 8 = 0
THEN "x1" ELSE (~CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 8
= 0 THEN CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 8)
<< 4) | (("x1" & 8) << 3) AS "w0", "k0" AS "k0" FROM "pass2" OFFSET '0'), "pass4" AS (SELECT CASE
WHEN "x1" & 4 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0",
CASE WHEN "x1" & 4 = 0 THEN CASE WHEN "x0" & 4 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1",
"w0" | (("x0" & 4) << 3) | (("x1" & 4) << 2) AS "w0", "k0" AS "k0" FROM "pass3" OFFSET '0'), "pass5"
AS (SELECT CASE WHEN "x1" & 2 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0")
END) END AS "x0", CASE WHEN "x1" & 2 = 0 THEN CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0") END ELSE
"x1" END AS "x1", "w0" | (("x0" & 2) << 2) | (("x1" & 2) << 1) AS "w0", "k0" AS "k0" FROM "pass4"
OFFSET '0'), "pass6" AS (SELECT "w0" | (("x0" & 1) << 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0"
FROM "pass5" OFFSET '0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) # ("w0" >> 3) AS "w0",
"k0" AS "k0" FROM "pass6" OFFSET '0'), "pass8" AS (SELECT "w0" # ("w0" >> 4) # ("w0" >> 8) AS "w0",
"k0" AS "k0" FROM "pass7" OFFSET '0') SELECT "k0" AS "vector", "w0" AS "h0" FROM "pass8") AS "h") AS
"a";

-- partition.vectors: sensitive values of the records, in random order
-- [msb]
CREATE TABLE pganon_work.r0_vectors AS SELECT CAST(((ROW_NUMBER() OVER (ORDER BY "k"."rid") - 1) /
50000) AS INT) AS "block", "k"."rid", "k"."s0", "k"."s1" FROM "pganon_work"."r0_coded" AS "k";

-- partition.vectors: distinct priors
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_vectors AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "d"."first") AS INT)
AS "vector", "d"."probabilities" FROM (SELECT "p"."probabilities", MIN("p"."cell") AS "first" FROM
"pganon_work"."r0_cell_priors" AS "p" GROUP BY "p"."probabilities") AS "d";

-- partition.whole: values of all records
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_whole AS SELECT "g".*, "a0"."codes" AS "c0", "a1"."codes" AS "c1" FROM
(SELECT DISTINCT "r"."whole" FROM (SELECT 1 AS "whole", "c".* FROM "pganon_work"."r0_cells" AS "c")
AS "r") AS "g" JOIN (SELECT ARRAY_AGG("e"."c0") AS "codes", "e"."whole" FROM (SELECT DISTINCT
"r"."whole", "r"."c0" FROM (SELECT 1 AS "whole", "c".* FROM "pganon_work"."r0_cells" AS "c") AS "r")
AS "e" GROUP BY "e"."whole") AS "a0" ON "a0"."whole" = "g"."whole" JOIN (SELECT ARRAY_AGG("e"."c1")
AS "codes", "e"."whole" FROM (SELECT DISTINCT "r"."whole", "r"."c1" FROM (SELECT 1 AS "whole", "c".*
FROM "pganon_work"."r0_cells" AS "c") AS "r") AS "e" GROUP BY "e"."whole") AS "a1" ON "a1"."whole" =
"g"."whole";
