-- encode.coded: values become codes
-- [one_dimensional, mondrian, full_domain]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code0", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code1", 0) AS smallint) AS "c1", COALESCE("l0"."added", 0) +
(COALESCE("l1"."added", 0)) AS "combination", "t"."s0" AS "v0", "t"."p0", "t"."record", "t"."o0",
"t"."o1", CAST(COALESCE("e0"."code", 1) AS integer) AS "s0" FROM "pganon_work"."r0_snap" AS "t" LEFT
JOIN (SELECT "d0"."code" AS "code0", "d0"."value" AS "value0", "d0"."code" AS "combination",
CAST("d0"."code" AS bigint) * 41 AS "added" FROM "pganon_work"."r0_dict0" AS "d0" OFFSET '0') AS
"l0" ON "l0"."value0" = "t"."q0" LEFT JOIN (SELECT "d1"."code" AS "code1", "d1"."value" AS "value1",
"d1"."code" AS "combination", CAST("d1"."code" AS bigint) * 1 AS "added" FROM
"pganon_work"."r0_dict1" AS "d1" OFFSET '0') AS "l1" ON "l1"."value1" = "t"."q1" LEFT JOIN
"pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" = (CAST("t"."s0" AS TEXT) COLLATE "C");

-- encode.coded: values become codes
-- [anatomy]
CREATE TABLE pganon_work.r0_coded AS SELECT "h"."c0", "h"."c1", "h"."v0", "h"."p0", "h"."record",
"h"."o0", "h"."o1", "h"."draw", "h"."s0", ROW_NUMBER() OVER (ORDER BY "h"."h0", "h"."draw") AS
"place" FROM (WITH "pass0" AS (SELECT CAST("p"."y0" AS bigint) AS "x0", CAST("p"."y1" AS bigint) AS
"x1", "p"."c0" AS "k0", "p"."c1" AS "k1", "p"."v0" AS "k2", "p"."p0" AS "k3", "p"."record" AS "k4",
"p"."o0" AS "k5", "p"."o1" AS "k6", "p"."draw" AS "k7", "p"."s0" AS "k8" FROM (SELECT "c".*,
(CAST((CASE WHEN "c"."c0" = 0 THEN 41 ELSE "c"."c0" END) AS BIGINT) * 126 + (-86)) / 80 AS "y0",
(CAST((CASE WHEN "c"."c1" = 0 THEN 41 ELSE "c"."c1" END) AS BIGINT) * 126 + (-86)) / 80 AS "y1" FROM
(SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0", CAST(COALESCE("l1"."code", 0) AS
smallint) AS "c1", "t"."s0" AS "v0", "t"."p0", "t"."record", "t"."o0", "t"."o1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0",
"t"."record"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s"
WHERE "s"."run_id" = 0)) AS "draw", CAST(COALESCE("e0"."code", 1) AS integer) AS "s0" FROM
"pganon_work"."r0_snap" AS "t" LEFT JOIN "pganon_work"."r0_dict0" AS "l0" ON "l0"."value" = "t"."q0"
LEFT JOIN "pganon_work"."r0_dict1" AS "l1" ON "l1"."value" = "t"."q1" LEFT JOIN
"pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" = (CAST("t"."s0" AS TEXT) COLLATE "C")) AS "c") AS
"p" OFFSET '0'), "pass1" AS (SELECT CASE WHEN "x1" & 32 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 32 = 0
THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 32 = 0 THEN CASE WHEN "x0" & 32 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", (("x0" & 32) << 6) | (("x1" & 32) << 5) AS "w0", "k0"
AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5", "k6" AS "k6", "k7" AS
"k7", "k8" AS "k8" FROM "pass0" OFFSET '0'), "pass2" AS (SELECT CASE WHEN "x1" & 16 = 0 THEN "x1"
ELSE (~CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 16 = 0 THEN
CASE WHEN "x0" & 16 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 16) << 5)
| (("x1" & 16) << 4) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4",
"k5" AS "k5", "k6" AS "k6", "k7" AS "k7", "k8" AS "k8" FROM "pass1" OFFSET '0'), "pass3" AS (SELECT
CASE WHEN "x1" & 8 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END) END AS
"x0", CASE WHEN "x1" & 8 = 0 THEN CASE WHEN "x0" & 8 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS
"x1", "w0" | (("x0" & 8) << 4) | (("x1" & 8) << 3) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS
"k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5", "k6" AS "k6", "k7" AS "k7", "k8" AS "k8" FROM
"pass2" OFFSET '0'), "pass4" AS (SELECT CASE WHEN "x1" & 4 = 0 THEN "x1" ELSE (~CASE WHEN "x0" & 4 =
0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 4 = 0 THEN CASE WHEN "x0" & 4 = 0 THEN
"x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 4) << 3) | (("x1" & 4) << 2) AS "w0",
"k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5", "k6" AS "k6",
"k7" AS "k7", "k8" AS "k8" FROM "pass3" OFFSET '0'), "pass5" AS (SELECT CASE WHEN "x1" & 2 = 0 THEN
"x1" ELSE (~CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0") END) END AS "x0", CASE WHEN "x1" & 2 = 0
THEN CASE WHEN "x0" & 2 = 0 THEN "x0" ELSE (~"x0") END ELSE "x1" END AS "x1", "w0" | (("x0" & 2) <<
2) | (("x1" & 2) << 1) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS
"k4", "k5" AS "k5", "k6" AS "k6", "k7" AS "k7", "k8" AS "k8" FROM "pass4" OFFSET '0'), "pass6" AS
(SELECT "w0" | (("x0" & 1) << 1) | (("x1" & 1) << 0) AS "w0", "k0" AS "k0", "k1" AS "k1", "k2" AS
"k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5", "k6" AS "k6", "k7" AS "k7", "k8" AS "k8" FROM
"pass5" OFFSET '0'), "pass7" AS (SELECT "w0" # ("w0" >> 1) # ("w0" >> 2) # ("w0" >> 3) AS "w0", "k0"
AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5", "k6" AS "k6", "k7" AS
"k7", "k8" AS "k8" FROM "pass6" OFFSET '0'), "pass8" AS (SELECT "w0" # ("w0" >> 4) # ("w0" >> 8) AS
"w0", "k0" AS "k0", "k1" AS "k1", "k2" AS "k2", "k3" AS "k3", "k4" AS "k4", "k5" AS "k5", "k6" AS
"k6", "k7" AS "k7", "k8" AS "k8" FROM "pass7" OFFSET '0') SELECT "k0" AS "c0", "k1" AS "c1", "k2" AS
"v0", "k3" AS "p0", "k4" AS "record", "k5" AS "o0", "k6" AS "o1", "k7" AS "draw", "k8" AS "s0", "w0"
AS "h0" FROM "pass8") AS "h";

-- encode.coded: values become codes
-- [slicing, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1", "t"."s0" AS "v0", "t"."p0", "t"."record",
"t"."o0", "t"."o1", ROW_NUMBER() OVER (ORDER BY
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0",
"t"."record"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s"
WHERE "s"."run_id" = 0))) AS "rid", CAST(COALESCE("e0"."code", 1) AS integer) AS "s0" FROM
"pganon_work"."r0_snap" AS "t" LEFT JOIN "pganon_work"."r0_dict0" AS "l0" ON "l0"."value" = "t"."q0"
LEFT JOIN "pganon_work"."r0_dict1" AS "l1" ON "l1"."value" = "t"."q1" LEFT JOIN
"pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" = (CAST("t"."s0" AS TEXT) COLLATE "C");

-- encode.coded: values become codes
-- [slamsa, msb, sloms]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1", "t"."s0" AS "v0", "t"."s1" AS "v1", "t"."p0",
"t"."record", "t"."o0", ROW_NUMBER() OVER (ORDER BY
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1", "t"."p0",
"t"."record"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s"
WHERE "s"."run_id" = 0))) AS "rid", CAST(COALESCE("e0"."code", 1) AS integer) AS "s0",
CAST(COALESCE("e1"."code", 1) AS integer) AS "s1" FROM "pganon_work"."r0_snap" AS "t" LEFT JOIN
"pganon_work"."r0_dict0" AS "l0" ON "l0"."value" = "t"."q0" LEFT JOIN "pganon_work"."r0_dict1" AS
"l1" ON "l1"."value" = "t"."q1" LEFT JOIN "pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" =
(CAST("t"."s0" AS TEXT) COLLATE "C") LEFT JOIN "pganon_work"."r0_sdict1" AS "e1" ON "e1"."value" =
(CAST("t"."s1" AS TEXT) COLLATE "C");

-- encode.coded: values become codes
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1", "t"."s0" AS "v0", "t"."s1" AS "v1", "t"."p0",
"t"."record", "t"."o0", "t"."f0", (CAST((NOT "t"."f0") AS INT) * 1) AS "hides", ROW_NUMBER() OVER
(ORDER BY COALESCE("e1"."code", 1), HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."record"),
(SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS
TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" =
0))) AS "rid", CAST(CASE WHEN "t"."f0" THEN COALESCE("e0"."code", 1) ELSE 0 END AS integer) AS "s0",
CAST(COALESCE("e1"."code", 1) AS integer) AS "s1" FROM "pganon_work"."r0_snap" AS "t" LEFT JOIN
"pganon_work"."r0_dict0" AS "l0" ON "l0"."value" = "t"."q0" LEFT JOIN "pganon_work"."r0_dict1" AS
"l1" ON "l1"."value" = "t"."q1" LEFT JOIN "pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" =
(CAST("t"."s0" AS TEXT) COLLATE "C") LEFT JOIN "pganon_work"."r0_sdict1" AS "e1" ON "e1"."value" =
(CAST("t"."s1" AS TEXT) COLLATE "C");

-- encode.coded: values become codes
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1", "t"."s0" AS "v0", "t"."s1" AS "v1", "t"."p0",
"t"."record", "t"."o0", "t"."o1", "t"."f0", (CAST((NOT "t"."f0") AS INT) * 1) AS "hides",
ROW_NUMBER() OVER (ORDER BY COALESCE("e1"."code", 1),
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."record"), (SELECT "s"."partition_seed" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed"
FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0))) AS "rid", CAST(CASE WHEN
"t"."f0" THEN COALESCE("e0"."code", 1) ELSE 0 END AS integer) AS "s0", CAST(COALESCE("e1"."code", 1)
AS integer) AS "s1" FROM "pganon_work"."r0_snap" AS "t" LEFT JOIN "pganon_work"."r0_dict0" AS "l0"
ON "l0"."value" = "t"."q0" LEFT JOIN "pganon_work"."r0_dict1" AS "l1" ON "l1"."value" = "t"."q1"
LEFT JOIN "pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" = (CAST("t"."s0" AS TEXT) COLLATE "C")
LEFT JOIN "pganon_work"."r0_sdict1" AS "e1" ON "e1"."value" = (CAST("t"."s1" AS TEXT) COLLATE "C");

-- encode.coded: values become codes
-- [local_generalization]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1", "t"."s0" AS "v0", "t"."s1" AS "v1", "t"."p0",
"t"."record", "t"."o0", "t"."f0", (CAST((NOT "t"."f0") AS INT) * 1) AS "hides", ROW_NUMBER() OVER
(ORDER BY HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1",
"t"."p0", "t"."f0", "t"."record"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret"
AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0))) AS "rid", CAST(CASE WHEN "t"."f0"
THEN COALESCE("e0"."code", 1) ELSE 0 END AS integer) AS "s0", CAST(COALESCE("e1"."code", 1) AS
integer) AS "s1" FROM "pganon_work"."r0_snap" AS "t" LEFT JOIN "pganon_work"."r0_dict0" AS "l0" ON
"l0"."value" = "t"."q0" LEFT JOIN "pganon_work"."r0_dict1" AS "l1" ON "l1"."value" = "t"."q1" LEFT
JOIN "pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" = (CAST("t"."s0" AS TEXT) COLLATE "C") LEFT
JOIN "pganon_work"."r0_sdict1" AS "e1" ON "e1"."value" = (CAST("t"."s1" AS TEXT) COLLATE "C");

-- encode.coded: values become codes
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1", "t"."p0", "t"."record", "t"."o0", "t"."o1",
ROW_NUMBER() OVER (ORDER BY HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1",
"t"."p0", "t"."record"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s"
WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret"
AS "s" WHERE "s"."run_id" = 0))) AS "rid" FROM "pganon_work"."r0_snap" AS "t" LEFT JOIN
"pganon_work"."r0_dict0" AS "l0" ON "l0"."value" = "t"."q0" LEFT JOIN "pganon_work"."r0_dict1" AS
"l1" ON "l1"."value" = "t"."q1";

-- encode.coded: values become codes
-- [danonyir, geneir]
CREATE TABLE pganon_work.r0_coded AS SELECT CAST(COALESCE("l0"."code", 0) AS smallint) AS "c0",
CAST(COALESCE("l1"."code", 0) AS smallint) AS "c1", "t"."s0" AS "v0", "t"."p0", "t"."record",
"t"."individual", ROW_NUMBER() OVER (ORDER BY
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0", "t"."record",
"t"."individual"), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS TEXT), (SELECT "s"."partition_seed" FROM "pganon_private"."run_secret" AS "s"
WHERE "s"."run_id" = 0))) AS "rid", CAST(COALESCE("e0"."code", 1) AS integer) AS "s0" FROM
"pganon_work"."r0_snap" AS "t" LEFT JOIN "pganon_work"."r0_dict0" AS "l0" ON "l0"."value" = "t"."q0"
LEFT JOIN "pganon_work"."r0_dict1" AS "l1" ON "l1"."value" = "t"."q1" LEFT JOIN
"pganon_work"."r0_sdict0" AS "e0" ON "e0"."value" = (CAST("t"."s0" AS TEXT) COLLATE "C");

-- encode.dictionary0: codes of age
-- [one_dimensional, mondrian, anatomy, slicing, slamsa, msb, sloms, lgb_mdp, lgb_ncp,
-- local_bucketization, local_generalization, beta_primacy, kinc, kagg, kinc_mic, kagg_mic,
-- js_reduce, qs_greedy, qs_efficient, danonyir]
CREATE TABLE pganon_work.r0_dict0 AS SELECT "r".* FROM (SELECT CAST(ROW_NUMBER() OVER (ORDER BY
"v"."value") AS INT) AS "code", "v"."value", "v"."n", CAST(ROUND(COALESCE((CAST("v"."value" AS
DECIMAL) - (MIN(CAST("v"."value" AS DECIMAL)) OVER ())) / NULLIF((MAX(CAST("v"."value" AS DECIMAL))
OVER ()) - (MIN(CAST("v"."value" AS DECIMAL)) OVER ()), 0), 0), 40) AS DOUBLE PRECISION) AS
"position" FROM "pganon_work"."r0_values0" AS "v" WHERE "v"."value" IS NOT NULL) AS "r" UNION ALL
SELECT 0 AS "code", "v"."value", "v"."n", CAST(NULL AS DOUBLE PRECISION) AS "position" FROM
"pganon_work"."r0_values0" AS "v" WHERE "v"."value" IS NULL;

-- encode.dictionary0: codes of age
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_dict0 AS SELECT "l"."code", "l"."value", "l"."n", CAST(NULL AS DOUBLE
PRECISION) AS "position" FROM "pganon_work"."r0_leafcodes0" AS "l" UNION ALL SELECT 0 AS "code",
"v"."value", "v"."n", CAST(NULL AS DOUBLE PRECISION) AS "position" FROM "pganon_work"."r0_values0"
AS "v" WHERE "v"."value" IS NULL;

-- encode.dictionary1: codes of zip
-- [one_dimensional, mondrian, anatomy, slicing, slamsa, msb, sloms, lgb_mdp, lgb_ncp,
-- local_bucketization, local_generalization, beta_primacy, kinc, kagg, kinc_mic, kagg_mic,
-- js_reduce, qs_greedy, qs_efficient, danonyir]
CREATE TABLE pganon_work.r0_dict1 AS SELECT "r".* FROM (SELECT CAST(ROW_NUMBER() OVER (ORDER BY
"v"."value") AS INT) AS "code", "v"."value", "v"."n", CAST(NULL AS DOUBLE PRECISION) AS "position"
FROM "pganon_work"."r0_values1" AS "v" WHERE "v"."value" IS NOT NULL) AS "r" UNION ALL SELECT 0 AS
"code", "v"."value", "v"."n", CAST(NULL AS DOUBLE PRECISION) AS "position" FROM
"pganon_work"."r0_values1" AS "v" WHERE "v"."value" IS NULL;

-- encode.dictionary1: codes of zip
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_dict1 AS SELECT "l"."code", "l"."value", "l"."n", CAST(NULL AS DOUBLE
PRECISION) AS "position" FROM "pganon_work"."r0_leafcodes1" AS "l" UNION ALL SELECT 0 AS "code",
"v"."value", "v"."n", CAST(NULL AS DOUBLE PRECISION) AS "position" FROM "pganon_work"."r0_values1"
AS "v" WHERE "v"."value" IS NULL;

-- encode.encoded: every record that the rules for NULL keep is encoded once
-- [all]
SELECT 0 AS "unknown";

-- encode.histogram0: distinct values of age, zip
-- [one_dimensional, mondrian, full_domain, anatomy, slicing, slamsa, msb, sloms, beta_primacy,
-- kinc, kagg, kinc_mic, kagg_mic, js_reduce, qs_greedy, qs_efficient, danonyir, geneir]
CREATE TABLE pganon_work.r0_histogram0 AS SELECT COUNT(*) AS "n", GROUPING("s"."q0", "s"."q1") AS
"other", "s"."q0", "s"."q1" FROM "pganon_work"."r0_snap" AS "s" GROUP BY GROUPING SETS (("s"."q0"),
("s"."q1"));

-- encode.histogram0: distinct values of age, zip
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_histogram0 AS SELECT COUNT(*) AS "n", GROUPING("s"."q0", "s"."q1") AS
"other", "s"."q0", "s"."q1", "s"."f0" FROM "pganon_work"."r0_snap" AS "s" GROUP BY GROUPING SETS
(("s"."q0"), ("s"."q1", "s"."f0"));

-- encode.leafcodes0: leaves of age from left to right
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_leafcodes0 AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "t"."value") AS
INT) AS "code", "t"."value", "v"."n", "t"."labels", "t"."lowers", "t"."uppers" FROM
"pganon_work"."r0_tree_0" AS "t" JOIN "pganon_work"."r0_values0" AS "v" ON "v"."value" =
"t"."value";

-- encode.leafcodes1: leaves of zip from left to right
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_leafcodes1 AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY (SELECT
ARRAY_AGG("x"."label" ORDER BY "x"."place" DESC) FROM UNNEST("t"."labels") WITH ORDINALITY AS
"x"("label", "place")) COLLATE "C", "t"."value") AS INT) AS "code", "t"."value", "v"."n",
"t"."labels" FROM "pganon_work"."r0_tree_1" AS "t" JOIN "pganon_work"."r0_values1" AS "v" ON
"v"."value" = "t"."value";

-- encode.leaves0: values of age that need an ancestor
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_leaves0 AS SELECT "v"."value", "v"."n" FROM "pganon_work"."r0_values0"
AS "v" WHERE "v"."value" IS NOT NULL;

-- encode.leaves1: values of zip that need an ancestor
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_leaves1 AS SELECT "v"."value", "v"."n" FROM "pganon_work"."r0_values1"
AS "v" WHERE "v"."value" IS NOT NULL;

-- encode.levels0: ancestors of every value of age
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_level0 AS SELECT "s"."code", CAST("s"."level" AS INT) AS "level",
"s"."label", "s"."lo", "s"."hi", CASE WHEN "s"."level" = 0 THEN 0 ELSE CAST((("s"."upper" -
"s"."lower")) AS DOUBLE PRECISION) / MAX(CAST((("s"."upper" - "s"."lower")) AS DOUBLE PRECISION))
FILTER(WHERE "s"."level" = "s"."top") OVER () END AS "loss", "s"."lower", "s"."upper" FROM (SELECT
"f".*, MIN("f"."code") OVER (PARTITION BY "f"."level", "f"."label") AS "lo", MAX("f"."code") OVER
(PARTITION BY "f"."level", "f"."label") AS "hi", MAX("f"."level") OVER () AS "top" FROM (SELECT
"l"."code", "x"."place" - 1 AS "level", "x"."label", "l"."lowers"["x"."place" - 1] AS "lower",
"l"."uppers"["x"."place" - 1] AS "upper" FROM "pganon_work"."r0_leafcodes0" AS "l" CROSS JOIN
LATERAL UNNEST("l"."labels") WITH ORDINALITY AS "x"("label", "place")) AS "f") AS "s";

-- encode.levels1: ancestors of every value of zip
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_level1 AS SELECT "s"."code", CAST("s"."level" AS INT) AS "level",
"s"."label", "s"."lo", "s"."hi", CASE WHEN "s"."hi" = "s"."lo" THEN 0 ELSE CAST(("s"."hi" - "s"."lo"
+ 1) AS DOUBLE PRECISION) / MAX("s"."hi") OVER () END AS "loss" FROM (SELECT "f".*, MIN("f"."code")
OVER (PARTITION BY "f"."level", "f"."label") AS "lo", MAX("f"."code") OVER (PARTITION BY
"f"."level", "f"."label") AS "hi", MAX("f"."level") OVER () AS "top" FROM (SELECT "l"."code",
"x"."place" - 1 AS "level", "x"."label" FROM "pganon_work"."r0_leafcodes1" AS "l" CROSS JOIN LATERAL
UNNEST("l"."labels") WITH ORDINALITY AS "x"("label", "place")) AS "f") AS "s";

-- encode.reference0_source: distribution of zip (source)
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_work.r0_ref0_source AS SELECT "x"."code" AS "value", "x"."code" AS "position",
"x"."n", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT
"d"."code", "d"."n" FROM "pganon_work"."r0_sdict0" AS "d") AS "x";

-- encode.reference0_source: distribution of disease (source)
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_ref0_source AS SELECT "x"."code" AS "value", "x"."code" AS "position",
"x"."n", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT
"d"."code", "d"."n" FROM "pganon_work"."r0_sdict0" AS "d") AS "x";

-- encode.republication: the source compared with that of earlier versions
-- [all]
SELECT 0 AS "nothing";

-- encode.sensitive0: values of disease
-- [one_dimensional, mondrian, full_domain, anatomy, slicing, slamsa, msb, sloms, beta_primacy,
-- kinc, kagg, kinc_mic, kagg_mic, js_reduce, danonyir, geneir]
CREATE TABLE pganon_work.r0_sdict0 AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "g"."place") AS INT)
AS "code", "g"."value", "g"."n" FROM (SELECT "t"."value", MIN("t"."place") AS "place", COUNT(*) AS
"n" FROM (SELECT CAST("t"."s0" AS TEXT) COLLATE "C" AS "value", CAST("t"."s0" AS TEXT) COLLATE "C"
AS "place" FROM "pganon_work"."r0_snap" AS "t") AS "t" GROUP BY "t"."value") AS "g";

-- encode.sensitive0: values of zip
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_sdict0 AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "g"."place") AS INT)
AS "code", "g"."value", "g"."n" FROM (SELECT "t"."value", MIN("t"."place") AS "place", COUNT(*) AS
"n" FROM (SELECT CAST("t"."s0" AS TEXT) COLLATE "C" AS "value", CAST("t"."s0" AS TEXT) COLLATE "C"
AS "place" FROM (SELECT "t".* FROM "pganon_work"."r0_snap" AS "t" WHERE "t"."f0") AS "t") AS "t"
GROUP BY "t"."value") AS "g";

-- encode.sensitive1: values of drug
-- [slamsa, msb, sloms, lgb_ncp]
CREATE TABLE pganon_work.r0_sdict1 AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "g"."place") AS INT)
AS "code", "g"."value", "g"."n" FROM (SELECT "t"."value", MIN("t"."place") AS "place", COUNT(*) AS
"n" FROM (SELECT CAST("t"."s1" AS TEXT) COLLATE "C" AS "value", CAST("t"."s1" AS TEXT) COLLATE "C"
AS "place" FROM "pganon_work"."r0_snap" AS "t") AS "t" GROUP BY "t"."value") AS "g";

-- encode.sensitive1: values of disease
-- [lgb_mdp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_sdict1 AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "g"."place") AS INT)
AS "code", "g"."value", "g"."n" FROM (SELECT "t"."value", MIN("t"."place") AS "place", COUNT(*) AS
"n" FROM (SELECT CAST("t"."s1" AS TEXT) COLLATE "C" AS "value", CAST("t"."s1" AS TEXT) COLLATE "C"
AS "place" FROM "pganon_work"."r0_snap" AS "t") AS "t" GROUP BY "t"."value") AS "g";

-- encode.sizes: sizes of the dictionaries
-- [one_dimensional, mondrian, anatomy, slicing, beta_primacy, kinc, kagg, kinc_mic, kagg_mic,
-- js_reduce, danonyir]
SELECT 0 AS "nothing", (SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict0" AS "d") AS
"m0", (SELECT COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict0" AS "d") AS
"null0", (SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict1" AS "d") AS "m1", (SELECT
COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict1" AS "d") AS "null1", (SELECT
COUNT(*) FROM "pganon_work"."r0_sdict0" AS "d") AS "sm0", (SELECT COALESCE(MAX("d"."code")
FILTER(WHERE "d"."value" IS NULL), 0) FROM "pganon_work"."r0_sdict0" AS "d") AS "snull0", (SELECT
COUNT(*) FROM (SELECT 1 AS "one" FROM "pganon_work"."r0_sdict0" AS "d" GROUP BY
"pganon".looks("d"."value") HAVING COUNT(*) > 1) AS "g") AS "slooks0";

-- encode.sizes: sizes of the dictionaries
-- [full_domain, geneir]
SELECT 0 AS "nothing", (SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict0" AS "d") AS
"m0", (SELECT COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict0" AS "d") AS
"null0", (SELECT COALESCE(MAX("l"."level"), 0) FROM "pganon_work"."r0_level0" AS "l") AS "levels0",
(SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict1" AS "d") AS "m1", (SELECT
COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict1" AS "d") AS "null1", (SELECT
COALESCE(MAX("l"."level"), 0) FROM "pganon_work"."r0_level1" AS "l") AS "levels1", (SELECT COUNT(*)
FROM "pganon_work"."r0_sdict0" AS "d") AS "sm0", (SELECT COALESCE(MAX("d"."code") FILTER(WHERE
"d"."value" IS NULL), 0) FROM "pganon_work"."r0_sdict0" AS "d") AS "snull0", (SELECT COUNT(*) FROM
(SELECT 1 AS "one" FROM "pganon_work"."r0_sdict0" AS "d" GROUP BY "pganon".looks("d"."value") HAVING
COUNT(*) > 1) AS "g") AS "slooks0";

-- encode.sizes: sizes of the dictionaries
-- [slamsa, msb, sloms, lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT 0 AS "nothing", (SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict0" AS "d") AS
"m0", (SELECT COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict0" AS "d") AS
"null0", (SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict1" AS "d") AS "m1", (SELECT
COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict1" AS "d") AS "null1", (SELECT
COUNT(*) FROM "pganon_work"."r0_sdict0" AS "d") AS "sm0", (SELECT COALESCE(MAX("d"."code")
FILTER(WHERE "d"."value" IS NULL), 0) FROM "pganon_work"."r0_sdict0" AS "d") AS "snull0", (SELECT
COUNT(*) FROM (SELECT 1 AS "one" FROM "pganon_work"."r0_sdict0" AS "d" GROUP BY
"pganon".looks("d"."value") HAVING COUNT(*) > 1) AS "g") AS "slooks0", (SELECT COUNT(*) FROM
"pganon_work"."r0_sdict1" AS "d") AS "sm1", (SELECT COALESCE(MAX("d"."code") FILTER(WHERE
"d"."value" IS NULL), 0) FROM "pganon_work"."r0_sdict1" AS "d") AS "snull1", (SELECT COUNT(*) FROM
(SELECT 1 AS "one" FROM "pganon_work"."r0_sdict1" AS "d" GROUP BY "pganon".looks("d"."value") HAVING
COUNT(*) > 1) AS "g") AS "slooks1";

-- encode.sizes: sizes of the dictionaries
-- [qs_greedy, qs_efficient]
SELECT 0 AS "nothing", (SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict0" AS "d") AS
"m0", (SELECT COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict0" AS "d") AS
"null0", (SELECT COALESCE(MAX("d"."code"), 0) FROM "pganon_work"."r0_dict1" AS "d") AS "m1", (SELECT
COALESCE(BOOL_OR("d"."code" = 0), FALSE) FROM "pganon_work"."r0_dict1" AS "d") AS "null1";

-- encode.source: fingerprint of the source
-- [one_dimensional, mondrian, full_domain, anatomy, slicing, beta_primacy, kinc, kagg, kinc_mic,
-- kagg_mic, js_reduce]
SELECT SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('cfdf41ca5e1eda88c3aa6489c2be3c525cffda4dfb7136ccd6b9744ea7126441' || ':' ||
"x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b", 'UTF8')) AS "source_plain",
SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('2d7e442ff09c8cd64b038b8516f16673dc67b3153ae7e43c617506ce1fa43288' || ':' ||
"x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b", 'UTF8')) AS "source_rows" FROM
(SELECT COUNT(*) AS "row_count", CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_a"
FROM "pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_b",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_b" FROM (SELECT "r"."hash",
CAST(HASH_RECORD_EXTENDED(ROW("r"."hash", "r"."key0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "keyed" FROM (SELECT
CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "hash", "t"."record" AS "key0" FROM
"pganon_work"."r0_snap" AS "t" OFFSET '0') AS "r" OFFSET '0') AS "k") AS "x";

-- encode.source: fingerprint of the source
-- [slamsa, msb, sloms]
SELECT SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('5bd1498137703e56334103849f4f15ee43155a0c30e617d27d61c959b5740be3' || ':' ||
"x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b", 'UTF8')) AS "source_plain",
SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('54254582ea69c189d9326e37dffb4641906b34e63cb8ac27748eab05813d653d' || ':' ||
"x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b", 'UTF8')) AS "source_rows" FROM
(SELECT COUNT(*) AS "row_count", CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_a"
FROM "pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_b",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_b" FROM (SELECT "r"."hash",
CAST(HASH_RECORD_EXTENDED(ROW("r"."hash", "r"."key0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "keyed" FROM (SELECT
CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1", "t"."p0"), (SELECT
"s"."seed_a" FROM "pganon_private"."installation_secret" AS "s")) AS TEXT) AS "hash", "t"."record"
AS "key0" FROM "pganon_work"."r0_snap" AS "t" OFFSET '0') AS "r" OFFSET '0') AS "k") AS "x";

-- encode.source: fingerprint of the source
-- [lgb_mdp, local_bucketization, local_generalization]
SELECT SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('1b307b141c02f0842d17b7932ef16589f5dedd88fbd23bc85d5a7b693bb3a01e' || ':' ||
"x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b", 'UTF8')) AS "source_plain",
SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('3b179ed56634b095184171f58bc015c8e723b9cf5e2bce4cab14c66578d771e2' || ':' ||
"x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b", 'UTF8')) AS "source_rows" FROM
(SELECT COUNT(*) AS "row_count", CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_a"
FROM "pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_b",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_b" FROM (SELECT "r"."hash",
CAST(HASH_RECORD_EXTENDED(ROW("r"."hash", "r"."key0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "keyed" FROM (SELECT
CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1", "t"."p0", "t"."f0"), (SELECT
"s"."seed_a" FROM "pganon_private"."installation_secret" AS "s")) AS TEXT) AS "hash", "t"."record"
AS "key0" FROM "pganon_work"."r0_snap" AS "t" OFFSET '0') AS "r" OFFSET '0') AS "k") AS "x";

-- encode.source: fingerprint of the source
-- [lgb_ncp]
SELECT SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('e1aeb815d0d01ee1bf5bf124536eae0db8d84cd2a6927974790d9acec28e3665' || ':' ||
"x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b", 'UTF8')) AS "source_plain",
SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('fb8697af4f8f6f4839b747e2c270c8dd7745b43d089f8357d7c624bd5d01434d' || ':' ||
"x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b", 'UTF8')) AS "source_rows" FROM
(SELECT COUNT(*) AS "row_count", CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_a"
FROM "pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_b",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_b" FROM (SELECT "r"."hash",
CAST(HASH_RECORD_EXTENDED(ROW("r"."hash", "r"."key0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "keyed" FROM (SELECT
CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."s1", "t"."p0", "t"."f0"), (SELECT
"s"."seed_a" FROM "pganon_private"."installation_secret" AS "s")) AS TEXT) AS "hash", "t"."record"
AS "key0" FROM "pganon_work"."r0_snap" AS "t" OFFSET '0') AS "r" OFFSET '0') AS "k") AS "x";

-- encode.source: fingerprint of the source
-- [qs_greedy, qs_efficient]
SELECT SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('5a219cc669db8271c01a9ebaea8bca00d8aa8d15b35a38e08ef3b2bdedb5b8f1' || ':' ||
"x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b", 'UTF8')) AS "source_plain",
SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('20c7cb8f85843c95afc8ad7e6f3cd857d9c99697766d52ce2986b395c1198272' || ':' ||
"x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b", 'UTF8')) AS "source_rows" FROM
(SELECT COUNT(*) AS "row_count", CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_a"
FROM "pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_b",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_b" FROM (SELECT "r"."hash",
CAST(HASH_RECORD_EXTENDED(ROW("r"."hash", "r"."key0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "keyed" FROM (SELECT
CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."p0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "hash", "t"."record" AS "key0" FROM
"pganon_work"."r0_snap" AS "t" OFFSET '0') AS "r" OFFSET '0') AS "k") AS "x";

-- encode.source: fingerprint of the source
-- [danonyir, geneir]
SELECT SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('cfdf41ca5e1eda88c3aa6489c2be3c525cffda4dfb7136ccd6b9744ea7126441' || ':' ||
"x"."row_count" || ':' || "x"."sum_a" || ':' || "x"."sum_b", 'UTF8')) AS "source_plain",
SHA256((SELECT "s"."key" FROM "pganon_private"."installation_secret" AS "s") ||
CONVERT_TO('ead05686285bed22180993cf91c144c6d951add76da5473a8d6b4cb9c4574baa' || ':' ||
"x"."row_count" || ':' || "x"."keyed_a" || ':' || "x"."keyed_b", 'UTF8')) AS "source_rows" FROM
(SELECT COUNT(*) AS "row_count", CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_a"
FROM "pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."hash", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "sum_b",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_a",
CAST(COALESCE(SUM(HASHTEXTEXTENDED("k"."keyed", (SELECT "s"."seed_b" FROM
"pganon_private"."installation_secret" AS "s"))), 0) AS TEXT) AS "keyed_b" FROM (SELECT "r"."hash",
CAST(HASH_RECORD_EXTENDED(ROW("r"."hash", "r"."key0", "r"."key1"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "keyed" FROM (SELECT
CAST(HASH_RECORD_EXTENDED(ROW("t"."q0", "t"."q1", "t"."s0", "t"."p0"), (SELECT "s"."seed_a" FROM
"pganon_private"."installation_secret" AS "s")) AS TEXT) AS "hash", "t"."record" AS "key0",
"t"."individual" AS "key1" FROM "pganon_work"."r0_snap" AS "t" OFFSET '0') AS "r" OFFSET '0') AS
"k") AS "x";

-- encode.tidy: what dictionaries were made from
-- [all]
DROP TABLE pganon_work.r0_histogram0;

-- encode.tidy: the snapshot is not needed any more
-- [all]
DROP TABLE pganon_work.r0_snap;

-- encode.tree_0_build: hierarchy of column age: ancestors of every value
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_tree_0 AS SELECT "b"."value", ARRAY[ CAST(("b"."value") AS TEXT) COLLATE
"C", '[' || CAST(("b"."l0") AS TEXT) || ',' || CAST(("b"."u0") AS TEXT) || ')', '[' ||
CAST(("b"."l1") AS TEXT) || ',' || CAST(("b"."u1") AS TEXT) || ')', '*' ] AS "labels",
ARRAY["b"."l0", "b"."l1", MIN("b"."l1") OVER ()] AS "lowers", ARRAY["b"."u0", "b"."u1",
MAX("b"."u1") OVER ()] AS "uppers" FROM (SELECT "b".*, TRIM_SCALE("b"."l0" + CAST('5' AS DECIMAL))
AS "u0", TRIM_SCALE("b"."l1" + CAST('10' AS DECIMAL)) AS "u1" FROM (SELECT "b"."value",
TRIM_SCALE("b"."x" - (("b"."x" - CAST('0' AS DECIMAL)) % CAST('5' AS DECIMAL) + CAST('5' AS
DECIMAL)) % CAST('5' AS DECIMAL)) AS "l0", TRIM_SCALE("b"."x" - (("b"."x" - CAST('0' AS DECIMAL)) %
CAST('10' AS DECIMAL) + CAST('10' AS DECIMAL)) % CAST('10' AS DECIMAL)) AS "l1" FROM (SELECT
"v"."value", CAST("v"."value" AS DECIMAL) AS "x" FROM "pganon_work"."r0_leaves0" AS "v") AS "b") AS
"b") AS "b";

-- encode.tree_0_size: hierarchy of column age: one row per value
-- [full_domain, geneir]
SELECT (SELECT COUNT(*) FROM "pganon_work"."r0_leaves0" AS "v") AS "distinct_values", COUNT(*) AS
"rows", COALESCE(MAX(CARDINALITY("t"."labels")), 1) - 1 AS "levels",
COALESCE(MIN(CARDINALITY("t"."labels")), 1) - 1 AS "fewest_levels" FROM "pganon_work"."r0_tree_0" AS
"t";

-- encode.tree_0_span: hierarchy of column age: no value is NaN or infinite
-- [full_domain, geneir]
SELECT COUNT(*) AS "outside_values", CAST(COALESCE(SUM("v"."n"), 0) AS BIGINT) AS "outside_records"
FROM "pganon_work"."r0_leaves0" AS "v" WHERE (CAST("v"."value" AS TEXT) IN ('NaN', 'Infinity',
'-Infinity'));

-- encode.tree_1_build: hierarchy of column zip: ancestors of every value
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_tree_1 AS SELECT "v"."value", ARRAY[ CAST(("v"."value") AS TEXT) COLLATE
"C", LEFT(CAST(("v"."value") AS TEXT) COLLATE "C", 1) || REPEAT('*',
GREATEST(LENGTH(CAST(("v"."value") AS TEXT) COLLATE "C") - 1, 0)), '*' ] AS "labels" FROM
"pganon_work"."r0_leaves1" AS "v";

-- encode.tree_1_size: hierarchy of column zip: one row per value
-- [full_domain, geneir]
SELECT (SELECT COUNT(*) FROM "pganon_work"."r0_leaves1" AS "v") AS "distinct_values", COUNT(*) AS
"rows", COALESCE(MAX(CARDINALITY("t"."labels")), 1) - 1 AS "levels",
COALESCE(MIN(CARDINALITY("t"."labels")), 1) - 1 AS "fewest_levels" FROM "pganon_work"."r0_tree_1" AS
"t";

-- encode.values0: distinct values of age
-- [all]
CREATE TABLE pganon_work.r0_values0 AS SELECT "h"."q0" AS "value", "h"."n" FROM
"pganon_work"."r0_histogram0" AS "h" WHERE "h"."other" = 1;

-- encode.values1: distinct values of zip
-- [one_dimensional, mondrian, full_domain, anatomy, slicing, slamsa, msb, sloms, beta_primacy,
-- kinc, kagg, kinc_mic, kagg_mic, js_reduce, qs_greedy, qs_efficient, danonyir, geneir]
CREATE TABLE pganon_work.r0_values1 AS SELECT "h"."q1" AS "value", "h"."n" FROM
"pganon_work"."r0_histogram0" AS "h" WHERE "h"."other" = 2;

-- encode.values1: distinct values of zip where they are shown
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_values1 AS SELECT "h"."q1" AS "value", "h"."n" FROM
"pganon_work"."r0_histogram0" AS "h" WHERE "h"."other" = 2 AND NOT "h"."f0";
