-- snapshot.inspect: count records, NULLs and values that cannot be placed
-- [one_dimensional, mondrian, full_domain, anatomy, slicing, beta_primacy, kinc, kagg, kinc_mic,
-- kagg_mic, js_reduce]
SELECT COUNT(*) AS "records", COUNT(*) FILTER(WHERE "t"."q0" IS NULL) AS "nulls_q0", COUNT(*)
FILTER(WHERE "t"."q1" IS NULL) AS "nulls_q1", COUNT(*) FILTER(WHERE "t"."s0" IS NULL) AS "nulls_s0"
FROM "pganon_work"."r0_snap" AS "t";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
-- [slamsa, msb, sloms]
SELECT COUNT(*) AS "records", COUNT(*) FILTER(WHERE "t"."q0" IS NULL) AS "nulls_q0", COUNT(*)
FILTER(WHERE "t"."q1" IS NULL) AS "nulls_q1", COUNT(*) FILTER(WHERE "t"."s0" IS NULL) AS "nulls_s0",
COUNT(*) FILTER(WHERE "t"."s1" IS NULL) AS "nulls_s1" FROM "pganon_work"."r0_snap" AS "t";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT COUNT(*) AS "records", COUNT(*) FILTER(WHERE "t"."q0" IS NULL) AS "nulls_q0", COUNT(*)
FILTER(WHERE (NOT "t"."f0") AND ("t"."q1" IS NULL)) AS "nulls_q1", COUNT(*) FILTER(WHERE "t"."f0"
AND ("t"."s0" IS NULL)) AS "nulls_s0", COUNT(*) FILTER(WHERE "t"."s1" IS NULL) AS "nulls_s1" FROM
"pganon_work"."r0_snap" AS "t";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) AS "records", COUNT(*) FILTER(WHERE "t"."q0" IS NULL) AS "nulls_q0", COUNT(*)
FILTER(WHERE "t"."q1" IS NULL) AS "nulls_q1" FROM "pganon_work"."r0_snap" AS "t";

-- snapshot.inspect: count records, NULLs and values that cannot be placed
-- [danonyir, geneir]
SELECT COUNT(*) AS "records", COUNT(*) FILTER(WHERE "t"."q0" IS NULL) AS "nulls_q0", COUNT(*)
FILTER(WHERE "t"."q1" IS NULL) AS "nulls_q1", COUNT(*) FILTER(WHERE "t"."s0" IS NULL) AS "nulls_s0",
COUNT(DISTINCT "t"."individual") AS "individuals", COUNT(*) - COUNT("t"."individual") AS "nobody",
COALESCE(MAX("m"."n"), 0) AS "most_each" FROM "pganon_work"."r0_snap" AS "t" CROSS JOIN (SELECT
MAX("e"."n") AS "n" FROM (SELECT COUNT(*) AS "n" FROM "pganon_work"."r0_snap" AS "t" GROUP BY
"t"."individual") AS "e") AS "m";

-- snapshot.snapshot: read the source, once
-- [one_dimensional, mondrian, full_domain, anatomy, slicing, beta_primacy, kinc, kagg, kinc_mic,
-- kagg_mic, js_reduce]
CREATE TABLE pganon_work.r0_snap AS SELECT CAST("src"."age" AS bigint) AS "q0", CAST("src"."zip" AS
TEXT) COLLATE "C" AS "q1", "src"."disease" AS "s0", "src"."cost" AS "p0", CAST(("src"."id") AS text)
AS "record", HASHTEXTEXTENDED(CAST((CAST("src"."person" AS TEXT) COLLATE "C") AS text), 0) AS "o0",
HASHTEXTEXTENDED(CAST((CAST("src"."drug" AS TEXT) COLLATE "C") AS text), 0) AS "o1" FROM
"public"."visit" AS "src";

-- snapshot.snapshot: read the source, once
-- [slamsa, msb, sloms]
CREATE TABLE pganon_work.r0_snap AS SELECT CAST("src"."age" AS bigint) AS "q0", CAST("src"."zip" AS
TEXT) COLLATE "C" AS "q1", "src"."disease" AS "s0", "src"."drug" AS "s1", "src"."cost" AS "p0",
CAST(("src"."id") AS text) AS "record", HASHTEXTEXTENDED(CAST((CAST("src"."person" AS TEXT) COLLATE
"C") AS text), 0) AS "o0" FROM "public"."visit" AS "src";

-- snapshot.snapshot: read the source, once
-- [lgb_mdp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_snap AS SELECT "t"."q0" AS "q0", CASE WHEN NOT "t"."f0" THEN "t"."q1"
END AS "q1", CASE WHEN "t"."f0" THEN "t"."s0" END AS "s0", "t"."s1" AS "s1", "t"."p0" AS "p0",
"t"."record" AS "record", "t"."o0" AS "o0", "t"."f0" AS "f0" FROM (SELECT CAST("src"."age" AS
bigint) AS "q0", CAST("src"."zip" AS TEXT) COLLATE "C" AS "q1", "src"."zip" AS "s0", "src"."disease"
AS "s1", "src"."cost" AS "p0", CAST(("src"."id") AS text) AS "record",
HASHTEXTEXTENDED(CAST((CAST("src"."person" AS TEXT) COLLATE "C") AS text), 0) AS "o0", ("age" < 22)
IS DISTINCT FROM FALSE AS "f0" FROM "public"."visit" AS "src" OFFSET '0') AS "t";

-- snapshot.snapshot: read the source, once
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_snap AS SELECT "t"."q0" AS "q0", CASE WHEN NOT "t"."f0" THEN "t"."q1"
END AS "q1", CASE WHEN "t"."f0" THEN "t"."s0" END AS "s0", "t"."s1" AS "s1", "t"."p0" AS "p0",
"t"."record" AS "record", "t"."o0" AS "o0", "t"."o1" AS "o1", "t"."f0" AS "f0" FROM (SELECT
CAST("src"."age" AS bigint) AS "q0", CAST("src"."zip" AS TEXT) COLLATE "C" AS "q1", "src"."zip" AS
"s0", "src"."drug" AS "s1", "src"."cost" AS "p0", CAST(("src"."id") AS text) AS "record",
HASHTEXTEXTENDED(CAST((CAST("src"."person" AS TEXT) COLLATE "C") AS text), 0) AS "o0",
HASHTEXTEXTENDED(CAST((CAST("src"."disease" AS TEXT) COLLATE "C") AS text), 0) AS "o1", ("age" < 25)
IS DISTINCT FROM FALSE AS "f0" FROM "public"."visit" AS "src" OFFSET '0') AS "t";

-- snapshot.snapshot: read the source, once
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_snap AS SELECT CAST("src"."age" AS bigint) AS "q0", CAST("src"."zip" AS
TEXT) COLLATE "C" AS "q1", "src"."cost" AS "p0", CAST(("src"."id") AS text) AS "record",
HASHTEXTEXTENDED(CAST((CAST("src"."person" AS TEXT) COLLATE "C") AS text), 0) AS "o0",
HASHTEXTEXTENDED(CAST((CAST("src"."disease" AS TEXT) COLLATE "C") AS text), 0) AS "o1" FROM
"public"."visit" AS "src";

-- snapshot.snapshot: read the source, once
-- [danonyir, geneir]
CREATE TABLE pganon_work.r0_snap AS SELECT CAST("src"."age" AS bigint) AS "q0", CAST("src"."zip" AS
TEXT) COLLATE "C" AS "q1", "src"."disease" AS "s0", "src"."cost" AS "p0", CAST(("src"."id") AS text)
AS "record", CAST((CAST("src"."person" AS TEXT) COLLATE "C") AS text) AS "individual" FROM
"public"."visit" AS "src";
