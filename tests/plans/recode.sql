-- recode.arrays0: arrays of values for attribute 1
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_arrays0 AS SELECT "e"."codes", ARRAY_AGG(CAST("d"."value" AS integer)
ORDER BY "d"."value") AS "members" FROM (SELECT "k"."codes", UNNEST("k"."codes") AS "code" FROM
(SELECT DISTINCT "c"."c0" AS "codes" FROM "pganon_work"."r0_cluster_codes" AS "c") AS "k") AS "e"
JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" = "e"."code" GROUP BY "e"."codes";

-- recode.arrays1: arrays of values for attribute 2
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_arrays1 AS SELECT "e"."codes", ARRAY_AGG(CAST("d"."value" AS text) ORDER
BY "d"."value") AS "members" FROM (SELECT "k"."codes", UNNEST("k"."codes") AS "code" FROM (SELECT
DISTINCT "c"."c1" AS "codes" FROM "pganon_work"."r0_cluster_codes" AS "c") AS "k") AS "e" JOIN
"pganon_work"."r0_dict1" AS "d" ON "d"."code" = "e"."code" GROUP BY "e"."codes";

-- recode.audit: the priors of the records of every class
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic]
CREATE TABLE pganon_stage.r0_audit AS SELECT "x"."class_id", "k"."cluster", "x"."prior", "x"."n"
FROM (SELECT "g"."class_id", "v"."vector" AS "prior", COUNT(*) AS "n" FROM
"pganon_work"."r0_grouped_classes" AS "g" JOIN "pganon_work"."r0_qi_cells" AS "q" ON "q"."c0" =
"g"."c0" AND "q"."c1" = "g"."c1" JOIN "pganon_work"."r0_cell_vectors" AS "v" ON "v"."cell" =
"q"."cell" GROUP BY 1, 2) AS "x" JOIN "pganon_work"."r0_vector_clusters" AS "k" ON "k"."vector" =
"x"."prior" ORDER BY 1, 3;

-- recode.audit: the priors of the records of every class
-- [js_reduce]
CREATE TABLE pganon_stage.r0_audit AS SELECT "x"."class_id", "x"."class_id" AS "cluster",
"x"."prior", "x"."n" FROM (SELECT "g"."class_id", "v"."vector" AS "prior", COUNT(*) AS "n" FROM
"pganon_work"."r0_grouped_classes" AS "g" JOIN "pganon_work"."r0_qi_cells" AS "q" ON "q"."c0" =
"g"."c0" AND "q"."c1" = "g"."c1" JOIN "pganon_work"."r0_cell_vectors" AS "v" ON "v"."cell" =
"q"."cell" GROUP BY 1, 2) AS "x" ORDER BY 1, 3;

-- recode.bags: insensitive values of every cluster, shuffled
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_bags AS SELECT "r"."cluster_no", ARRAY_AGG("c"."p0" ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST(0 || ':' || "c"."rid" AS text), 'UTF8'))) AS "p0" FROM
"pganon_work"."r0_cluster_records" AS "r" JOIN "pganon_work"."r0_coded" AS "c" ON "c"."rid" =
"r"."rid" GROUP BY "r"."cluster_no";

-- recode.centres0: centres of the classes in attribute 1
-- [kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_centres0 AS SELECT "m"."class_id", BOOL_OR("m"."code" = 0) AS
"has_null", CAST((AVG(CAST("m"."value" AS DECIMAL))) AS integer) AS "value" FROM (SELECT
"g"."class_id", "g"."c0" AS "code", "d"."value" FROM "pganon_work"."r0_grouped_classes" AS "g" LEFT
JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" = "g"."c0" AND "g"."c0" > 0) AS "m" GROUP BY
"m"."class_id";

-- recode.centres1: centres of the classes in attribute 2
-- [kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_centres1 AS SELECT "f"."class_id", "f"."has_null", CAST("f"."value" AS
text) AS "value" FROM (SELECT DISTINCT ON ("c"."class_id") "c"."class_id", BOOL_OR("c"."code" = 0)
OVER (PARTITION BY "c"."class_id") AS "has_null", "c"."value" FROM (SELECT "m"."class_id",
"m"."code", "m"."value", COUNT(*) AS "n" FROM (SELECT "g"."class_id", "g"."c1" AS "code",
"d"."value" FROM "pganon_work"."r0_grouped_classes" AS "g" LEFT JOIN "pganon_work"."r0_dict1" AS "d"
ON "d"."code" = "g"."c1" AND "g"."c1" > 0) AS "m" GROUP BY "m"."class_id", "m"."code", "m"."value")
AS "c" ORDER BY "c"."class_id", "c"."n" DESC, "c"."code") AS "f";

-- recode.classes: generalized quasi-identifiers of every class
-- [one_dimensional, mondrian, beta_primacy, kinc, kagg, js_reduce, danonyir]
CREATE TABLE pganon_stage.r0_classes AS SELECT "e"."class_id", CAST((CASE WHEN "e"."hi0" = 0 THEN
NULL ELSE NUMRANGE(TRIM_SCALE(CAST("l0"."value" AS DECIMAL)), TRIM_SCALE(CAST("h0"."value" AS
DECIMAL)), '[]') END) AS numrange) AS "age", CAST(("x1"."members") AS text[]) AS "zip", "e"."b1_0" &
1 = 1 AS "zip_null" FROM "pganon_work"."r0_extents" AS "e" LEFT JOIN "pganon_work"."r0_dict0" AS
"l0" ON "l0"."code" = "e"."lo0" LEFT JOIN "pganon_work"."r0_dict0" AS "h0" ON "h0"."code" =
"e"."hi0" LEFT JOIN "pganon_work"."r0_sets1" AS "x1" ON "x1"."b1_0" = "e"."b1_0" ORDER BY
"e"."class_id";

-- recode.classes: generalized quasi-identifiers of every class
-- [full_domain]
CREATE TABLE pganon_stage.r0_classes AS SELECT "e"."class_id", CAST((CASE WHEN "e"."hi0" = 0 THEN
NULL WHEN "a0"."level" = 0 THEN NUMRANGE(TRIM_SCALE(CAST("l0"."value" AS DECIMAL)),
TRIM_SCALE(CAST("l0"."value" AS DECIMAL)), '[]') WHEN "a0"."level" = 1 THEN NUMRANGE((SELECT
MIN("t"."lower") FROM "pganon_work"."r0_level0" AS "t" JOIN "pganon_work"."r0_released0" AS "r" ON
"r"."code" = "t"."code" WHERE "t"."level" = 0), (SELECT MAX("t"."upper") FROM
"pganon_work"."r0_level0" AS "t" JOIN "pganon_work"."r0_released0" AS "r" ON "r"."code" = "t"."code"
WHERE "t"."level" = 0)) ELSE NUMRANGE("a0"."lower", "a0"."upper") END) AS numrange) AS "age",
CAST((CASE WHEN "e"."hi1" = 0 THEN NULL ELSE "a1"."label" END) AS text) AS "zip", "e"."n1" AS
"zip_null" FROM "pganon_work"."r0_extents" AS "e" LEFT JOIN "pganon_work"."r0_level0" AS "a0" ON
"a0"."code" = "e"."lo0" AND "a0"."level" = (1) LEFT JOIN "pganon_work"."r0_dict0" AS "l0" ON
"l0"."code" = "e"."lo0" LEFT JOIN "pganon_work"."r0_level1" AS "a1" ON "a1"."code" = "e"."lo1" AND
"a1"."level" = (1) ORDER BY "e"."class_id";

-- recode.classes: generalized quasi-identifiers of every class
-- [kinc_mic, kagg_mic]
CREATE TABLE pganon_stage.r0_classes AS SELECT "e"."class_id", CAST(("x0"."value") AS integer) AS
"age", CAST(("x1"."value") AS text) AS "zip", "x1"."has_null" AS "zip_null" FROM
"pganon_work"."r0_extents" AS "e" LEFT JOIN "pganon_work"."r0_centres0" AS "x0" ON "x0"."class_id" =
"e"."class_id" LEFT JOIN "pganon_work"."r0_centres1" AS "x1" ON "x1"."class_id" = "e"."class_id"
ORDER BY "e"."class_id";

-- recode.classes: generalized quasi-identifiers of every class
-- [geneir]
CREATE TABLE pganon_stage.r0_classes AS SELECT "e"."class_id", CAST((CASE WHEN "e"."hi0" = 0 THEN
NULL WHEN "a0"."level" = 0 THEN NUMRANGE(TRIM_SCALE(CAST("l0"."value" AS DECIMAL)),
TRIM_SCALE(CAST("l0"."value" AS DECIMAL)), '[]') WHEN "a0"."level" = 1 THEN NUMRANGE((SELECT
MIN("t"."lower") FROM "pganon_work"."r0_level0" AS "t" JOIN "pganon_work"."r0_released0" AS "r" ON
"r"."code" = "t"."code" WHERE "t"."level" = 0), (SELECT MAX("t"."upper") FROM
"pganon_work"."r0_level0" AS "t" JOIN "pganon_work"."r0_released0" AS "r" ON "r"."code" = "t"."code"
WHERE "t"."level" = 0)) ELSE NUMRANGE("a0"."lower", "a0"."upper") END) AS numrange) AS "age",
CAST((CASE WHEN "e"."hi1" = 0 THEN NULL ELSE "a1"."label" END) AS text) AS "zip", "e"."n1" AS
"zip_null" FROM "pganon_work"."r0_extents" AS "e" LEFT JOIN "pganon_work"."r0_level0" AS "a0" ON
"a0"."code" = "e"."lo0" AND "a0"."level" = (CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY
"t"."code", "t"."level") FROM "pganon_work"."r0_level0" AS "t")[("e"."lo0" - 1) * 2 + 0 + 1]) >=
"e"."hi0" THEN 0 ELSE 1 END) LEFT JOIN "pganon_work"."r0_dict0" AS "l0" ON "l0"."code" = "e"."lo0"
LEFT JOIN "pganon_work"."r0_level1" AS "a1" ON "a1"."code" = "e"."lo1" AND "a1"."level" = (CASE WHEN
((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level1" AS
"t")[("e"."lo1" - 1) * 2 + 0 + 1]) >= "e"."hi1" THEN 0 ELSE 1 END) ORDER BY "e"."class_id";

-- recode.classes_key: an index that the published views join on
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce,
-- danonyir, geneir]
ALTER TABLE "pganon_stage"."r0_classes" ADD PRIMARY KEY ("class_id");

-- recode.cluster_cells: the cells of every cluster
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_cluster_cells AS SELECT "n"."gid", "n"."cluster_no", "a"."cell",
"a"."n", "c"."c0", "c"."c1" FROM "pganon_work"."r0_assigned" AS "a" JOIN
"pganon_work"."r0_numbers_cluster_no" AS "n" ON "n"."gid" = "a"."gid" JOIN "pganon_work"."r0_cells"
AS "c" ON "c"."cell" = "a"."cell";

-- recode.cluster_codes: codes of every cluster
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_cluster_codes AS SELECT CAST(SUM("r"."n") AS BIGINT) AS "n",
"r"."cluster_no", ARRAY_AGG(DISTINCT "r"."c0") AS "c0", ARRAY_AGG(DISTINCT "r"."c1") AS "c1" FROM
"pganon_work"."r0_cluster_cells" AS "r" GROUP BY "r"."cluster_no";

-- recode.cluster_records: the cluster of every record
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_cluster_records AS SELECT "s"."cluster_no", "r"."rid" FROM (SELECT
"x"."cell", "c"."rid", ROW_NUMBER() OVER (PARTITION BY "x"."cell" ORDER BY "c"."rid") AS "place"
FROM "pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_cells" AS "x" ON "x"."c0" = "c"."c0" AND
"x"."c1" = "c"."c1") AS "r" JOIN (SELECT "k"."cell", "k"."cluster_no", "k"."n", SUM("k"."n") OVER
(PARTITION BY "k"."cell" ORDER BY "k"."gid") AS "last" FROM "pganon_work"."r0_cluster_cells" AS "k")
AS "s" ON "s"."cell" = "r"."cell" AND "r"."place" > "s"."last" - "s"."n" AND "r"."place" <=
"s"."last";

-- recode.clusters: every cluster with the values of its records
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_stage.r0_clusters AS SELECT "k"."cluster_no", CAST("a0"."members" AS integer[])
AS "age", CAST("a1"."members" AS text[]) AS "zip", CAST("b"."p0" AS integer[]) AS "cost", "k"."n" AS
"size" FROM "pganon_work"."r0_cluster_codes" AS "k" JOIN "pganon_work"."r0_arrays0" AS "a0" ON
"a0"."codes" = "k"."c0" JOIN "pganon_work"."r0_arrays1" AS "a1" ON "a1"."codes" = "k"."c1" JOIN
"pganon_work"."r0_bags" AS "b" ON "b"."cluster_no" = "k"."cluster_no" ORDER BY "k"."cluster_no";

-- recode.clusters_key: an index that the published views join on
-- [qs_greedy, qs_efficient]
ALTER TABLE "pganon_stage"."r0_clusters" ADD PRIMARY KEY ("cluster_no");

-- recode.different: how many records differ, as the statistics of their columns say
-- [one_dimensional, mondrian, full_domain]
SELECT CAST((LEAST((SELECT COUNT(*) FROM "pganon_work"."r0_numbers_class_id" AS "n") *
EXP(LEAST((SELECT CASE WHEN COUNT("p"."n_distinct") = 2 THEN COALESCE(SUM(LN(CASE WHEN
"p"."n_distinct" < 0 THEN -"p"."n_distinct" * CAST(40 AS float8) ELSE "p"."n_distinct" END + 1)), 0)
ELSE LN(CAST(40 AS float8)) END FROM "pg_catalog"."pg_stats" AS "p" WHERE "p"."schemaname" =
'pganon_work' AND "p"."tablename" = 'r0_coded' AND "p"."attname" = ANY(CAST(ARRAY['v0', 'p0'] AS
text[]))), LN(CAST(40 AS float8)))), CAST(40 AS float8))) AS bigint) AS "different_records";

-- recode.extents: size and extent of every class
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce,
-- danonyir, geneir]
CREATE TABLE pganon_work.r0_extents AS SELECT "e".*, "r"."n" FROM "pganon_work"."r0_extents_only" AS
"e" JOIN (SELECT "t"."class_id", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "t" GROUP BY
"t"."class_id") AS "r" ON "r"."class_id" = "e"."class_id";

-- recode.extents: extent of every class
-- [sloms]
CREATE TABLE pganon_work.r0_extents AS SELECT "c"."class_id", MIN("c"."c0") FILTER(WHERE "c"."c0" >
0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS "n0", BIT_OR(CAST(1 AS BIGINT) <<
"c"."c1") AS "b1_0", COUNT(*) AS "n" FROM "pganon_work"."r0_grouped_classes" AS "c" GROUP BY
"c"."class_id";

-- recode.extents: extent of every class
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_extents AS SELECT "s"."n", "e"."class_id", "e"."lo0", "e"."hi0",
"e"."n0", "e"."b1_0" FROM (SELECT "c"."class_id", MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0",
MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS "n0", BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0"
FROM "pganon_work"."r0_grouped_classes" AS "c" GROUP BY "c"."class_id") AS "e" JOIN
"pganon_work"."r0_group_sizes" AS "s" ON "s"."group_id" = "e"."class_id";

-- recode.generalized: generalized quasi-identifiers of every class
-- [sloms, lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_generalized AS SELECT "e"."class_id", CAST((CASE WHEN "e"."hi0" = 0 THEN
NULL ELSE NUMRANGE(TRIM_SCALE(CAST("l0"."value" AS DECIMAL)), TRIM_SCALE(CAST("h0"."value" AS
DECIMAL)), '[]') END) AS numrange) AS "age", CAST(("x1"."members") AS text[]) AS "zip", "e"."b1_0" &
1 = 1 AS "zip_null" FROM "pganon_work"."r0_extents" AS "e" LEFT JOIN "pganon_work"."r0_dict0" AS
"l0" ON "l0"."code" = "e"."lo0" LEFT JOIN "pganon_work"."r0_dict0" AS "h0" ON "h0"."code" =
"e"."hi0" LEFT JOIN "pganon_work"."r0_sets1" AS "x1" ON "x1"."b1_0" = "e"."b1_0";

-- recode.group_records0: the buckets of every record, part 1 of them
-- [anatomy]
CREATE TABLE pganon_work.r0_group_records0 AS SELECT "r"."c0", "r"."c1", "r"."v0", "r"."p0",
"r"."record", "r"."o0", "r"."o1", "n0"."b0" FROM (SELECT "d"."c0", "d"."c1", "d"."v0", "d"."p0",
"d"."record", "d"."o0", "d"."o1", (CAST("d"."block" AS BIGINT) << 32) + CAST(("d"."place" %
("d"."size" / 2)) AS BIGINT) * 2654435761 % 4294967296 AS "b0" FROM (SELECT "v"."block", "v"."size",
ROW_NUMBER() OVER (PARTITION BY "v"."block" ORDER BY "v"."start", "p"."draw") - 1 AS "place",
"p"."c0", "p"."c1", "p"."v0", "p"."p0", "p"."record", "p"."o0", "p"."o1" FROM
"pganon_work"."r0_coded" AS "p" JOIN "pganon_work"."r0_starts" AS "v" ON "v"."piece" =
CAST((CAST(("p"."place" - 1) AS BIGINT) * 8 / 1000) AS INT) AND "v"."value" = "p"."s0") AS "d") AS
"r" JOIN "pganon_work"."r0_numbers_b0" AS "n0" ON "n0"."gid" = "r"."b0" ORDER BY "n0"."b0";

-- recode.group_records0: the buckets of every record
-- [slicing]
CREATE TABLE pganon_work.r0_group_records0 AS SELECT "r"."c0", "r"."c1", "r"."v0", "r"."p0",
"r"."record", "r"."o0", "r"."o1", "n0"."b0" FROM (SELECT "c"."c0", "c"."c1", "c"."v0", "c"."p0",
"c"."record", "c"."o0", "c"."o1", "g"."b0" FROM "pganon_work"."r0_grouped" AS "g" JOIN
"pganon_work"."r0_coded" AS "c" ON "c"."rid" = "g"."rid") AS "r" JOIN "pganon_work"."r0_numbers_b0"
AS "n0" ON "n0"."gid" = "r"."b0" ORDER BY "n0"."b0";

-- recode.group_records0: the buckets of every record
-- [slamsa, msb]
CREATE TABLE pganon_work.r0_group_records0 AS SELECT "r"."c0", "r"."c1", "r"."v0", "r"."v1",
"r"."p0", "r"."record", "r"."o0", "n0"."b0" FROM (SELECT "c"."c0", "c"."c1", "c"."v0", "c"."v1",
"c"."p0", "c"."record", "c"."o0", "g"."b0" FROM "pganon_work"."r0_grouped" AS "g" JOIN
"pganon_work"."r0_coded" AS "c" ON "c"."rid" = "g"."rid") AS "r" JOIN "pganon_work"."r0_numbers_b0"
AS "n0" ON "n0"."gid" = "r"."b0" ORDER BY "n0"."b0";

-- recode.group_records0: the buckets of every record
-- [sloms]
CREATE TABLE pganon_work.r0_group_records0 AS SELECT "r"."c0", "r"."c1", "r"."v0", "r"."v1",
"r"."p0", "r"."record", "r"."o0", "n0"."b0", "n1"."b1", "n2"."b2" FROM (SELECT "c"."c0", "c"."c1",
"c"."v0", "c"."v1", "c"."p0", "c"."record", "c"."o0", "g"."b0", "g"."b1", "g"."b2" FROM
"pganon_work"."r0_grouped" AS "g" JOIN "pganon_work"."r0_coded" AS "c" ON "c"."rid" = "g"."rid") AS
"r" JOIN "pganon_work"."r0_numbers_b0" AS "n0" ON "n0"."gid" = "r"."b0" JOIN
"pganon_work"."r0_numbers_b1" AS "n1" ON "n1"."gid" = "r"."b1" JOIN "pganon_work"."r0_numbers_b2" AS
"n2" ON "n2"."gid" = "r"."b2" ORDER BY "n0"."b0";

-- recode.group_sizes: how many records every group has
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_group_sizes AS SELECT "r"."group_id", "r"."display", COUNT(*) AS "n"
FROM "pganon_work"."r0_local_grouped" AS "r" GROUP BY "r"."group_id", "r"."display";

-- recode.grouped_classes: the class of every cell
-- [one_dimensional, mondrian, full_domain]
CREATE TABLE pganon_work.r0_grouped_classes AS SELECT "n"."class_id", "g"."c0", "g"."c1",
CAST("g"."c0" AS bigint) * 41 + (CAST("g"."c1" AS bigint) * 1) AS "combination" FROM
"pganon_work"."r0_grouped" AS "g" JOIN "pganon_work"."r0_numbers_class_id" AS "n" ON "n"."gid" =
"g"."gid";

-- recode.grouped_classes: the class of every record
-- [sloms]
CREATE TABLE pganon_work.r0_grouped_classes AS SELECT "r"."b0" AS "class_id", "r"."c0", "r"."c1"
FROM "pganon_work"."r0_group_records0" AS "r";

-- recode.grouped_classes: the class of every cell
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, danonyir, geneir]
CREATE TABLE pganon_work.r0_grouped_classes AS SELECT "n"."class_id", "g"."c0", "g"."c1", "g"."rid"
FROM "pganon_work"."r0_grouped" AS "g" JOIN "pganon_work"."r0_numbers_class_id" AS "n" ON "n"."gid"
= "g"."gid";

-- recode.groups: what the records of every group show
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_stage.r0_groups AS SELECT "d"."group_id", CAST(SUBSTRING("f"."form" FROM 1 FOR
1) AS TEXT) AS "zip_form", "e"."age" AS "age", CAST(CASE WHEN (SUBSTRING("f"."form" FROM 1 FOR 1) =
'g') THEN "e"."zip" END AS text[]) AS "zip", CAST(CASE WHEN (SUBSTRING("f"."form" FROM 1 FOR 1) =
'g') THEN "e"."zip_null" END AS boolean) AS "zip_null" FROM "pganon_work"."r0_group_sizes" AS "d"
JOIN (SELECT DISTINCT "d"."display", "d"."form" FROM "pganon_work"."r0_displays" AS "d") AS "f" ON
"f"."display" = "d"."display" JOIN "pganon_work"."r0_generalized" AS "e" ON "e"."class_id" =
"d"."group_id" ORDER BY "d"."group_id";

-- recode.groups_key: an index that the published views join on
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
ALTER TABLE "pganon_stage"."r0_groups" ADD PRIMARY KEY ("group_id");

-- recode.histogram: the values of every group, which later groups may be compared with
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."class_id" AS "link", "h"."value", "h"."n"
FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS
"class_id" FROM (SELECT "r"."by0", "r"."key0", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0",
CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM "pganon_stage"."r0_records" AS "t" ORDER BY
"t"."class_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS
"h") AS "h") AS "h") AS "u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [anatomy, slicing]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."group_id" AS "link", "h"."value",
CAST(SUM("h"."n") AS BIGINT) AS "n" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS
"value", "h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS
BIGINT) AS "n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS
"key0", "t"."count" AS "n" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id",
CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" GROUP
BY 1, 2) AS "h") AS "u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [slamsa, msb]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."group_id" AS "link", "h"."value",
CAST(SUM("h"."n") AS BIGINT) AS "n" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS
"value", "h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS
BIGINT) AS "n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS
"key0", "t"."count" AS "n" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id",
CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" GROUP
BY 1, 2) AS "h" UNION ALL SELECT 2 AS "col", CAST(("h"."link") AS BIGINT) AS "link", "h"."value",
"h"."n" FROM (SELECT "h"."group_id" AS "link", "h"."value", CAST(SUM("h"."n") AS BIGINT) AS "n" FROM
(SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id"
FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id"
AS "by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r"
GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" GROUP BY 1, 2) AS "h") AS "u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [sloms]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."group_id" AS "link", "h"."value",
CAST(SUM("h"."n") AS BIGINT) AS "n" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS
"value", "h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS
BIGINT) AS "n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS
"key0", "t"."count" AS "n" FROM "pganon_stage"."r0_st1" AS "t" ORDER BY "t"."group_id",
CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" GROUP
BY 1, 2) AS "h" UNION ALL SELECT 2 AS "col", CAST(("h"."link") AS BIGINT) AS "link", "h"."value",
"h"."n" FROM (SELECT "h"."group_id" AS "link", "h"."value", CAST(SUM("h"."n") AS BIGINT) AS "n" FROM
(SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id"
FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id"
AS "by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st2" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r"
GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" GROUP BY 1, 2) AS "h") AS "u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."zip_bucket" AS "link", "h"."value",
"h"."n" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0"
AS "zip_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT
"t"."zip_bucket" AS "by0", CAST("t"."zip" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", CAST("t"."zip" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "h" UNION ALL SELECT 2 AS "col",
CAST(("h"."link") AS BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."disease_bucket" AS
"link", "h"."value", "h"."n" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS
"value", "h"."n", "h"."by0" AS "disease_bucket" FROM (SELECT "r"."by0", "r"."key0",
CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."disease_bucket" AS "by0", CAST("t"."disease"
AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_values1" AS "t" ORDER BY
"t"."disease_bucket", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0",
"r"."key0") AS "h") AS "h") AS "h") AS "u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [lgb_ncp]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."zip_bucket" AS "link", "h"."value",
"h"."n" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0"
AS "zip_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT
"t"."zip_bucket" AS "by0", CAST("t"."zip" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", CAST("t"."zip" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "h" UNION ALL SELECT 2 AS "col",
CAST(("h"."link") AS BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."drug_bucket" AS
"link", "h"."value", "h"."n" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS
"value", "h"."n", "h"."by0" AS "drug_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n")
AS BIGINT) AS "n" FROM (SELECT "t"."drug_bucket" AS "by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS
"key0", "t"."count" AS "n" FROM "pganon_stage"."r0_values1" AS "t" ORDER BY "t"."drug_bucket",
CAST("t"."drug" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "h")
AS "u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [local_generalization]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."group_id" AS "link", "h"."value", "h"."n"
FROM (SELECT "r"."group_id", COALESCE('=' || CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text),
'') AS "value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" JOIN
"pganon_stage"."r0_values0" AS "t" ON "t"."zip_bucket" = "r"."zip_bucket" GROUP BY 1, 2) AS "h") AS
"h" UNION ALL SELECT 2 AS "col", CAST(("h"."link") AS BIGINT) AS "link", "h"."value", "h"."n" FROM
(SELECT "h"."group_id" AS "link", "h"."value", "h"."n" FROM (SELECT "r"."group_id", COALESCE('=' ||
CAST((CAST("t"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", COUNT(*) AS "n" FROM
"pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_values1" AS "t" ON "t"."disease_bucket" =
"r"."disease_bucket" GROUP BY 1, 2) AS "h") AS "h") AS "u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "c"."cluster_no" AS "link", COALESCE('=' ||
CAST(("v"."value") AS text), '') AS "value", CAST(("c"."size" - CARDINALITY("c"."age") + 1) AS
BIGINT) AS "n" FROM "pganon_stage"."r0_clusters" AS "c" CROSS JOIN LATERAL UNNEST("c"."age") AS
"v"("value")) AS "h" UNION ALL SELECT 2 AS "col", CAST(("h"."link") AS BIGINT) AS "link",
"h"."value", "h"."n" FROM (SELECT "c"."cluster_no" AS "link", COALESCE('=' || CAST(("v"."value") AS
text), '') AS "value", CAST(("c"."size" - CARDINALITY("c"."zip") + 1) AS BIGINT) AS "n" FROM
"pganon_stage"."r0_clusters" AS "c" CROSS JOIN LATERAL UNNEST("c"."zip") AS "v"("value")) AS "h") AS
"u";

-- recode.histogram: the values of every group, which later groups may be compared with
-- [danonyir, geneir]
CREATE TABLE pganon_stage.r0_histogram AS SELECT "u".* FROM (SELECT 1 AS "col", CAST(("h"."link") AS
BIGINT) AS "link", "h"."value", "h"."n" FROM (SELECT "h"."class_id" AS "link", "h"."value", "h"."n"
FROM (SELECT "r"."value", COUNT(DISTINCT "r"."individual") AS "n", "r"."class_id" FROM (SELECT
"r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' || CAST((CAST("r"."disease" AS
TEXT) COLLATE "C") AS text), '') AS "value" FROM "pganon_stage"."r0_records" AS "r") AS "r" GROUP BY
"r"."value", "r"."class_id") AS "h") AS "h") AS "u";

-- recode.levels: labels of all levels above released values
-- [full_domain]
CREATE TABLE pganon_stage.r0_levels AS SELECT "u".* FROM (SELECT DISTINCT 'zip' AS "attribute",
"t"."level", "t"."label" FROM "pganon_work"."r0_level1" AS "t" WHERE "t"."code" IN (SELECT "g"."c1"
FROM "pganon_work"."r0_grouped_classes" AS "g")) AS "u";

-- recode.members: the steward's memory of who was in which class
-- [one_dimensional, mondrian, full_domain]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "t"."member", "t"."class_id",
CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0", UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64))
AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret"
AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE
"s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v1",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."class_id" AS
"class_id", "g"."value0" AS "v0", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v1" FROM (SELECT
"c"."record", "g"."class_id", COALESCE('=' || CAST((CAST("c"."v0" AS TEXT) COLLATE "C") AS text),
'') AS "value0", "c"."p0" FROM "pganon_work"."r0_coded" AS "c" JOIN
"pganon_work"."r0_grouped_classes" AS "g" ON "g"."combination" = "c"."combination") AS "g" OFFSET
'0') AS "t" UNION ALL SELECT "p"."person" AS "member", CASE WHEN "p"."judged" THEN
CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS
"class_id", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT "u".* FROM (SELECT
CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", TRUE AS "judged" FROM (SELECT DISTINCT "c"."record" AS "key" FROM
"pganon_work"."r0_coded" AS "c" LEFT JOIN "pganon_work"."r0_grouped_classes" AS "g" ON
"g"."combination" = "c"."combination" WHERE "g"."class_id" IS NULL) AS "p") AS "u") AS "p") AS "u";

-- recode.members: the steward's memory of who was in which bucket
-- [anatomy, slicing]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "t"."member", "t"."group_id",
CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0", UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64))
AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret"
AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE
"s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v1",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."b0" AS
"group_id", COALESCE('=' || CAST((CAST("g"."v0" AS TEXT) COLLATE "C") AS text), '') AS "v0",
COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v1" FROM "pganon_work"."r0_group_records0" AS "g"
OFFSET '0') AS "t" UNION ALL SELECT "p"."person" AS "member", CASE WHEN "p"."judged" THEN
CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS
"group_id", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT "u".* FROM (SELECT
CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", TRUE AS "judged" FROM (SELECT "r"."key" FROM (SELECT "u".* FROM (SELECT
"c"."record" AS "key", 1 AS "n" FROM "pganon_work"."r0_coded" AS "c" UNION ALL SELECT "g"."record"
AS "key", -1 AS "n" FROM "pganon_work"."r0_group_records0" AS "g") AS "u") AS "r" GROUP BY "r"."key"
HAVING SUM("r"."n") > 0) AS "p") AS "u") AS "p") AS "u";

-- recode.members: the steward's memory of who was in which bucket
-- [slamsa, msb]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "t"."member", "t"."group_id",
CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0", UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64))
AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret"
AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE
"s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v1",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))), HASHTEXTEXTENDED("t"."v2", UUID_HASH_EXTENDED("t"."member", (SELECT
CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8),
'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) AS "secret") AS "k"))) ] AS bigint[]) AS "marks" FROM
(SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex')
AS UUID) AS "member", "g"."b0" AS "group_id", COALESCE('=' || CAST((CAST("g"."v0" AS TEXT) COLLATE
"C") AS text), '') AS "v0", COALESCE('=' || CAST((CAST("g"."v1" AS TEXT) COLLATE "C") AS text), '')
AS "v1", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v2" FROM
"pganon_work"."r0_group_records0" AS "g" OFFSET '0') AS "t" UNION ALL SELECT "p"."person" AS
"member", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY
"p"."person")) AS INT) ELSE 0 END AS "group_id", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT
"u".* FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", TRUE AS "judged" FROM (SELECT "r"."key" FROM (SELECT "u".* FROM (SELECT
"c"."record" AS "key", 1 AS "n" FROM "pganon_work"."r0_coded" AS "c" UNION ALL SELECT "g"."record"
AS "key", -1 AS "n" FROM "pganon_work"."r0_group_records0" AS "g") AS "u") AS "r" GROUP BY "r"."key"
HAVING SUM("r"."n") > 0) AS "p") AS "u") AS "p") AS "u";

-- recode.members: the steward's memory of who was in which bucket
-- [sloms]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "t"."member", "t"."class_id",
"t"."st1_group_id", "t"."st2_group_id", CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))), HASHTEXTEXTENDED("t"."v1", UUID_HASH_EXTENDED("t"."member", (SELECT
CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8),
'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v2",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."b0" AS
"class_id", "g"."b1" AS "st1_group_id", "g"."b2" AS "st2_group_id", COALESCE('=' ||
CAST((CAST("g"."v0" AS TEXT) COLLATE "C") AS text), '') AS "v0", COALESCE('=' || CAST((CAST("g"."v1"
AS TEXT) COLLATE "C") AS text), '') AS "v1", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v2"
FROM "pganon_work"."r0_group_records0" AS "g" OFFSET '0') AS "t" UNION ALL SELECT "p"."person" AS
"member", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY
"p"."person")) AS INT) ELSE 0 END AS "class_id", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER()
OVER (PARTITION BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS "st1_group_id", CASE
WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY "p"."person"))
AS INT) ELSE 0 END AS "st2_group_id", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT "u".* FROM
(SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", TRUE AS "judged" FROM (SELECT "r"."key" FROM (SELECT "u".* FROM (SELECT
"c"."record" AS "key", 1 AS "n" FROM "pganon_work"."r0_coded" AS "c" UNION ALL SELECT "g"."record"
AS "key", -1 AS "n" FROM "pganon_work"."r0_group_records0" AS "g") AS "u") AS "r" GROUP BY "r"."key"
HAVING SUM("r"."n") > 0) AS "p") AS "u") AS "p") AS "u";

-- recode.members: the steward's memory of who was in which group and which buckets
-- [lgb_mdp, local_bucketization]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "u".* FROM (SELECT "t"."member",
"t"."group_id", "t"."zip_bucket", "t"."disease_bucket", CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))), HASHTEXTEXTENDED("t"."v1", UUID_HASH_EXTENDED("t"."member", (SELECT
CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8),
'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v2",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."group_id" AS
"group_id", "g"."b0" AS "zip_bucket", "g"."b1" AS "disease_bucket", CASE WHEN "g"."b0" IS NOT NULL
THEN COALESCE('=' || CAST((CAST("g"."v0" AS TEXT) COLLATE "C") AS text), '') END AS "v0", CASE WHEN
"g"."b1" IS NOT NULL THEN COALESCE('=' || CAST((CAST("g"."v1" AS TEXT) COLLATE "C") AS text), '')
END AS "v1", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v2" FROM
"pganon_work"."r0_local_grouped" AS "g" OFFSET '0') AS "t" UNION ALL SELECT "p"."person" AS
"member", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY
"p"."person")) AS INT) ELSE 0 END AS "group_id", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER()
OVER (PARTITION BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS "zip_bucket", CASE
WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY "p"."person"))
AS INT) ELSE 0 END AS "disease_bucket", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT "u".* FROM
(SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", TRUE AS "judged" FROM (SELECT "r"."key" FROM (SELECT "u".* FROM (SELECT
"c"."record" AS "key", 1 AS "n" FROM "pganon_work"."r0_coded" AS "c" UNION ALL SELECT "g"."record"
AS "key", -1 AS "n" FROM "pganon_work"."r0_local_grouped" AS "g") AS "u") AS "r" GROUP BY "r"."key"
HAVING SUM("r"."n") > 0) AS "p") AS "u") AS "p") AS "u") AS "u" ORDER BY "u"."member";

-- recode.members: the steward's memory of who was in which group and which buckets
-- [lgb_ncp]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "u".* FROM (SELECT "t"."member",
"t"."group_id", "t"."zip_bucket", "t"."drug_bucket", CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))), HASHTEXTEXTENDED("t"."v1", UUID_HASH_EXTENDED("t"."member", (SELECT
CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8),
'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v2",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."group_id" AS
"group_id", "g"."b0" AS "zip_bucket", "g"."b1" AS "drug_bucket", CASE WHEN "g"."b0" IS NOT NULL THEN
COALESCE('=' || CAST((CAST("g"."v0" AS TEXT) COLLATE "C") AS text), '') END AS "v0", CASE WHEN
"g"."b1" IS NOT NULL THEN COALESCE('=' || CAST((CAST("g"."v1" AS TEXT) COLLATE "C") AS text), '')
END AS "v1", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v2" FROM
"pganon_work"."r0_local_grouped" AS "g" OFFSET '0') AS "t" UNION ALL SELECT "p"."person" AS
"member", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY
"p"."person")) AS INT) ELSE 0 END AS "group_id", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER()
OVER (PARTITION BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS "zip_bucket", CASE
WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY "p"."person"))
AS INT) ELSE 0 END AS "drug_bucket", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT "u".* FROM
(SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", TRUE AS "judged" FROM (SELECT "r"."key" FROM (SELECT "u".* FROM (SELECT
"c"."record" AS "key", 1 AS "n" FROM "pganon_work"."r0_coded" AS "c" UNION ALL SELECT "g"."record"
AS "key", -1 AS "n" FROM "pganon_work"."r0_local_grouped" AS "g") AS "u") AS "r" GROUP BY "r"."key"
HAVING SUM("r"."n") > 0) AS "p") AS "u") AS "p") AS "u") AS "u" ORDER BY "u"."member";

-- recode.members: the steward's memory of who was in which group and which buckets
-- [local_generalization]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "u".* FROM (SELECT "t"."member",
"t"."group_id", "t"."zip_bucket", "t"."disease_bucket", CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))), HASHTEXTEXTENDED("t"."v1", UUID_HASH_EXTENDED("t"."member", (SELECT
CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8),
'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v2",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."group_id" AS
"group_id", "g"."b0" AS "zip_bucket", "g"."b1" AS "disease_bucket", CASE WHEN "g"."b0" IS NOT NULL
THEN COALESCE('=' || CAST((CAST("g"."v0" AS TEXT) COLLATE "C") AS text), '') END AS "v0", CASE WHEN
"g"."b1" IS NOT NULL THEN COALESCE('=' || CAST((CAST("g"."v1" AS TEXT) COLLATE "C") AS text), '')
END AS "v1", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v2" FROM
"pganon_work"."r0_local_grouped" AS "g" OFFSET '0') AS "t" UNION ALL SELECT "p"."person" AS
"member", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY
"p"."person")) AS INT) ELSE 0 END AS "group_id", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER()
OVER (PARTITION BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS "zip_bucket", CASE
WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY "p"."person"))
AS INT) ELSE 0 END AS "disease_bucket", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT "u".* FROM
(SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", FALSE AS "judged" FROM (SELECT "r"."key" FROM (SELECT "u".* FROM (SELECT
"c"."record" AS "key", 1 AS "n" FROM "pganon_work"."r0_coded" AS "c" UNION ALL SELECT "g"."record"
AS "key", -1 AS "n" FROM "pganon_work"."r0_local_grouped" AS "g") AS "u") AS "r" GROUP BY "r"."key"
HAVING SUM("r"."n") > 0) AS "p") AS "u") AS "p") AS "u") AS "u" ORDER BY "u"."member";

-- recode.members: the steward's memory of who was in which class
-- [beta_primacy, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "t"."member", "t"."class_id",
CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0", UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64))
AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret"
AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE
"s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v1",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."class_id" AS
"class_id", "g"."value0" AS "v0", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v1" FROM (SELECT
"c"."record", "g"."class_id", COALESCE('=' || CAST((CAST("c"."v0" AS TEXT) COLLATE "C") AS text),
'') AS "value0", "c"."p0" FROM "pganon_work"."r0_coded" AS "c" JOIN
"pganon_work"."r0_grouped_classes" AS "g" ON "g"."rid" = "c"."rid") AS "g" OFFSET '0') AS "t" UNION
ALL SELECT "p"."person" AS "member", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION
BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS "class_id", CAST(NULL AS BIGINT[]) AS
"marks" FROM (SELECT "u".* FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret",
"s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p"
ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR
16), 'hex') AS UUID) AS "person", TRUE AS "judged" FROM (SELECT DISTINCT "c"."record" AS "key" FROM
"pganon_work"."r0_coded" AS "c" LEFT JOIN "pganon_work"."r0_grouped_classes" AS "g" ON "g"."rid" =
"c"."rid" WHERE "g"."class_id" IS NULL) AS "p") AS "u") AS "p") AS "u";

-- recode.members: the steward's memory of who was in which class
-- [kinc]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "t"."member", "t"."class_id",
CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0", UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64))
AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret"
AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE
"s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v1",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."class_id" AS
"class_id", "g"."value0" AS "v0", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v1" FROM (SELECT
"c"."record", "g"."class_id", COALESCE('=' || CAST((CAST("c"."v0" AS TEXT) COLLATE "C") AS text),
'') AS "value0", "c"."p0" FROM "pganon_work"."r0_coded" AS "c" JOIN
"pganon_work"."r0_grouped_classes" AS "g" ON "g"."rid" = "c"."rid") AS "g" OFFSET '0') AS "t" UNION
ALL SELECT "p"."person" AS "member", -1 AS "class_id", CAST(NULL AS BIGINT[]) AS "marks" FROM
(SELECT "u".* FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key")
FROM "pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id"
= "s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex')
AS UUID) AS "person", TRUE AS "judged" FROM (SELECT DISTINCT "c"."record" AS "key" FROM
"pganon_work"."r0_coded" AS "c" LEFT JOIN "pganon_work"."r0_grouped_classes" AS "g" ON "g"."rid" =
"c"."rid" WHERE "g"."class_id" IS NULL) AS "p") AS "u") AS "p") AS "u";

-- recode.members: the steward's memory of who was in which cluster
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT "t"."member", "t"."cluster_no",
CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0", UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64))
AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret"
AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE
"s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v1",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))), HASHTEXTEXTENDED("t"."v2", UUID_HASH_EXTENDED("t"."member", (SELECT
CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8),
'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) AS "secret") AS "k"))) ] AS bigint[]) AS "marks" FROM
(SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("g"."record", 'UTF8')) FROM 1 FOR 16), 'hex')
AS UUID) AS "member", "g"."cluster_no" AS "cluster_no", "g"."value0" AS "v0", "g"."value1" AS "v1",
COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v2" FROM (SELECT "g"."cluster_no", "c"."record",
COALESCE('=' || CAST((CAST("d0"."value" AS integer)) AS text), '') AS "value0", COALESCE('=' ||
CAST((CAST("d1"."value" AS text)) AS text), '') AS "value1", "c"."p0" FROM "pganon_work"."r0_coded"
AS "c" JOIN "pganon_work"."r0_cluster_records" AS "g" ON "g"."rid" = "c"."rid" JOIN
"pganon_work"."r0_dict0" AS "d0" ON "d0"."code" = "c"."c0" JOIN "pganon_work"."r0_dict1" AS "d1" ON
"d1"."code" = "c"."c1") AS "g" OFFSET '0') AS "t" UNION ALL SELECT "p"."person" AS "member", CASE
WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION BY "p"."judged" ORDER BY "p"."person"))
AS INT) ELSE 0 END AS "cluster_no", CAST(NULL AS BIGINT[]) AS "marks" FROM (SELECT "u".* FROM
(SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR 16), 'hex') AS
UUID) AS "person", TRUE AS "judged" FROM (SELECT "r"."key" FROM (SELECT "u".* FROM (SELECT
"c"."record" AS "key", 1 AS "n" FROM "pganon_work"."r0_coded" AS "c" UNION ALL SELECT "g"."record"
AS "key", -1 AS "n" FROM (SELECT "g"."cluster_no", "c"."record", COALESCE('=' ||
CAST((CAST("d0"."value" AS integer)) AS text), '') AS "value0", COALESCE('=' ||
CAST((CAST("d1"."value" AS text)) AS text), '') AS "value1", "c"."p0" FROM "pganon_work"."r0_coded"
AS "c" JOIN "pganon_work"."r0_cluster_records" AS "g" ON "g"."rid" = "c"."rid" JOIN
"pganon_work"."r0_dict0" AS "d0" ON "d0"."code" = "c"."c0" JOIN "pganon_work"."r0_dict1" AS "d1" ON
"d1"."code" = "c"."c1") AS "g") AS "u") AS "r" GROUP BY "r"."key" HAVING SUM("r"."n") > 0) AS "p")
AS "u") AS "p") AS "u";

-- recode.members: the steward's memory of who was in which class
-- [danonyir, geneir]
CREATE TABLE pganon_stage.r0_members AS SELECT "u".* FROM (SELECT DISTINCT "t"."member",
"t"."class_id", CAST(ARRAY[ HASHTEXTEXTENDED("t"."v0", UUID_HASH_EXTENDED("t"."member", (SELECT
CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('marks' AS BYTEA)) FROM 1 FOR 8),
'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) AS "secret") AS "k"))), HASHTEXTEXTENDED("t"."v1",
UUID_HASH_EXTENDED("t"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k"))) ] AS bigint[]) AS "marks" FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) ||
CONVERT_TO("g"."individual", 'UTF8')) FROM 1 FOR 16), 'hex') AS UUID) AS "member", "g"."class_id" AS
"class_id", "g"."value0" AS "v0", COALESCE('=' || CAST(("g"."p0") AS text), '') AS "v1" FROM (SELECT
"c"."individual", "g"."class_id", COALESCE('=' || CAST((CAST("c"."v0" AS TEXT) COLLATE "C") AS
text), '') AS "value0", "c"."p0" FROM "pganon_work"."r0_coded" AS "c" JOIN
"pganon_work"."r0_grouped_classes" AS "g" ON "g"."rid" = "c"."rid") AS "g" OFFSET '0') AS "t" UNION
ALL SELECT "p"."person" AS "member", CASE WHEN "p"."judged" THEN CAST((-ROW_NUMBER() OVER (PARTITION
BY "p"."judged" ORDER BY "p"."person")) AS INT) ELSE 0 END AS "class_id", CAST(NULL AS BIGINT[]) AS
"marks" FROM (SELECT "u".* FROM (SELECT CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret",
"s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p"
ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("p"."key", 'UTF8')) FROM 1 FOR
16), 'hex') AS UUID) AS "person", TRUE AS "judged" FROM (SELECT DISTINCT "c"."individual" AS "key"
FROM "pganon_work"."r0_coded" AS "c" LEFT JOIN "pganon_work"."r0_grouped_classes" AS "g" ON
"g"."rid" = "c"."rid" WHERE "g"."class_id" IS NULL) AS "p") AS "u") AS "p") AS "u";

-- recode.numbers_b0: random numbers for the buckets
-- [anatomy]
CREATE TABLE pganon_work.r0_numbers_b0 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b0:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b0"
FROM (SELECT ((CAST("e"."block" AS BIGINT) << 32) + CAST("e"."number" AS BIGINT) * 2654435761 %
4294967296) AS "gid" FROM (SELECT "b"."block", GENERATE_SERIES(0, "b"."size" / 2 - 1) AS "number"
FROM (SELECT "l"."block", CAST(SUM("h"."n") AS BIGINT) AS "size" FROM "pganon_work"."r0_hist_0" AS
"h" JOIN "pganon_work"."r0_leaves" AS "l" ON "l"."piece" = "h"."node" GROUP BY 1) AS "b") AS "e") AS
"g";

-- recode.numbers_b0: random numbers for the buckets
-- [slicing, slamsa, msb, sloms]
CREATE TABLE pganon_work.r0_numbers_b0 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b0:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b0"
FROM (SELECT "r"."gid" FROM (SELECT "s"."b0" AS "gid" FROM "pganon_work"."r0_grouped" AS "s" ORDER
BY "s"."b0") AS "r" GROUP BY "r"."gid") AS "g";

-- recode.numbers_b1: random numbers for the buckets
-- [sloms]
CREATE TABLE pganon_work.r0_numbers_b1 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b1:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b1"
FROM (SELECT "r"."gid" FROM (SELECT "s"."b1" AS "gid" FROM "pganon_work"."r0_grouped" AS "s" ORDER
BY "s"."b1") AS "r" GROUP BY "r"."gid") AS "g";

-- recode.numbers_b2: random numbers for the buckets
-- [sloms]
CREATE TABLE pganon_work.r0_numbers_b2 AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('b2:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS "b2"
FROM (SELECT "r"."gid" FROM (SELECT "s"."b2" AS "gid" FROM "pganon_work"."r0_grouped" AS "s" ORDER
BY "s"."b2") AS "r" GROUP BY "r"."gid") AS "g";

-- recode.numbers_class_id: random numbers for the classes
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce,
-- danonyir, geneir]
CREATE TABLE pganon_work.r0_numbers_class_id AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER BY
SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('class_id:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS
"class_id" FROM (SELECT "r"."gid" FROM (SELECT "s"."gid" AS "gid" FROM "pganon_work"."r0_grouped" AS
"s" ORDER BY "s"."gid") AS "r" GROUP BY "r"."gid") AS "g";

-- recode.numbers_cluster_no: random numbers for the clusters
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_numbers_cluster_no AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER (ORDER
BY SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0) ||
CONVERT_TO(CAST('cluster_no:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS INT) AS
"cluster_no" FROM (SELECT "r"."gid" FROM (SELECT "s"."gid" AS "gid" FROM "pganon_work"."r0_assigned"
AS "s" ORDER BY "s"."gid") AS "r" GROUP BY "r"."gid") AS "g";

-- recode.numbers_individual_no: random numbers for the individuals
-- [danonyir, geneir]
CREATE TABLE pganon_work.r0_numbers_individual_no AS SELECT "g"."gid", CAST((ROW_NUMBER() OVER
(ORDER BY SHA256((SELECT "s"."key" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)
|| CONVERT_TO(CAST('individual_no:' || CAST("g"."gid" AS text) AS text), 'UTF8')), "g"."gid")) AS
INT) AS "individual_no" FROM (SELECT "r"."gid" FROM (SELECT "s"."rid" AS "gid" FROM
"pganon_work"."r0_classed" AS "s" ORDER BY "s"."rid") AS "r" GROUP BY "r"."gid") AS "g";

-- recode.people: groups with fewer than 4 people
-- [one_dimensional, mondrian, full_domain]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 4) AS "few0", COUNT(*) FILTER(WHERE
"g"."n1" < 4) AS "few1" FROM (SELECT "u".* FROM (SELECT COUNT(DISTINCT "r"."o0") AS "n0",
COUNT(DISTINCT "r"."o1") AS "n1" FROM (SELECT "g"."class_id", "c"."o0", "c"."o1" FROM
"pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_grouped_classes" AS "g" ON "g"."combination"
= "c"."combination") AS "r" WHERE "r"."class_id" IS NOT NULL GROUP BY "r"."class_id") AS "u") AS
"g";

-- recode.people: groups with fewer than 2 people
-- [anatomy, slicing]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 2) AS "few0", COUNT(*) FILTER(WHERE
"g"."n1" < 2) AS "few1" FROM (SELECT "u".* FROM (SELECT COUNT(DISTINCT "r"."o0") AS "n0",
COUNT(DISTINCT "r"."o1") AS "n1" FROM "pganon_work"."r0_group_records0" AS "r" WHERE "r"."b0" IS NOT
NULL GROUP BY "r"."b0") AS "u") AS "g";

-- recode.people: groups with fewer than 2 people
-- [slamsa, msb]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 2) AS "few0" FROM (SELECT "u".* FROM
(SELECT COUNT(DISTINCT "r"."o0") AS "n0" FROM "pganon_work"."r0_group_records0" AS "r" WHERE
"r"."b0" IS NOT NULL GROUP BY "r"."b0") AS "u") AS "g";

-- recode.people: groups with fewer than 2 people
-- [sloms]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 2) AS "few0" FROM (SELECT "u".* FROM
(SELECT COUNT(DISTINCT "r"."o0") AS "n0" FROM "pganon_work"."r0_group_records0" AS "r" WHERE
"r"."b0" IS NOT NULL GROUP BY "r"."b0" UNION ALL SELECT COUNT(DISTINCT "r"."o0") AS "n0" FROM
"pganon_work"."r0_group_records0" AS "r" WHERE "r"."b1" IS NOT NULL GROUP BY "r"."b1" UNION ALL
SELECT COUNT(DISTINCT "r"."o0") AS "n0" FROM "pganon_work"."r0_group_records0" AS "r" WHERE "r"."b2"
IS NOT NULL GROUP BY "r"."b2") AS "u") AS "g";

-- recode.people: groups with fewer than 2 people
-- [lgb_mdp, local_bucketization, local_generalization]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 2) AS "few0" FROM (SELECT "u".* FROM
(SELECT COUNT(DISTINCT "r"."o0") AS "n0" FROM "pganon_work"."r0_local_grouped" AS "r" WHERE
"r"."group_id" IS NOT NULL GROUP BY "r"."group_id") AS "u") AS "g";

-- recode.people: groups with fewer than 2 people
-- [lgb_ncp]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 2) AS "few0", COUNT(*) FILTER(WHERE
"g"."n1" < 2) AS "few1" FROM (SELECT "u".* FROM (SELECT COUNT(DISTINCT "r"."o0") AS "n0",
COUNT(DISTINCT "r"."o1") AS "n1" FROM "pganon_work"."r0_local_grouped" AS "r" WHERE "r"."group_id"
IS NOT NULL GROUP BY "r"."group_id") AS "u") AS "g";

-- recode.people: groups with fewer than 2 people
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 2) AS "few0", COUNT(*) FILTER(WHERE
"g"."n1" < 2) AS "few1" FROM (SELECT "u".* FROM (SELECT COUNT(DISTINCT "r"."o0") AS "n0",
COUNT(DISTINCT "r"."o1") AS "n1" FROM (SELECT "g"."class_id", "c"."o0", "c"."o1" FROM
"pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_grouped_classes" AS "g" ON "g"."rid" =
"c"."rid") AS "r" WHERE "r"."class_id" IS NOT NULL GROUP BY "r"."class_id") AS "u") AS "g";

-- recode.people: groups with fewer than 4 people
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) AS "groups", COUNT(*) FILTER(WHERE "g"."n0" < 4) AS "few0", COUNT(*) FILTER(WHERE
"g"."n1" < 4) AS "few1" FROM (SELECT "u".* FROM (SELECT COUNT(DISTINCT "r"."o0") AS "n0",
COUNT(DISTINCT "r"."o1") AS "n1" FROM (SELECT "g"."cluster_no", "c"."o0", "c"."o1" FROM
"pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_cluster_records" AS "g" ON "g"."rid" =
"c"."rid") AS "r" WHERE "r"."cluster_no" IS NOT NULL GROUP BY "r"."cluster_no") AS "u") AS "g";

-- recode.prior: the priors
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_stage.r0_prior AS SELECT "v"."vector" AS "prior", "v"."probabilities" FROM
"pganon_work"."r0_vectors" AS "v" ORDER BY "v"."vector";

-- recode.qit1: quasi-identifiers with the numbers of their buckets
-- [anatomy, slamsa, msb]
CREATE TABLE pganon_stage.r0_qit AS SELECT "r"."b0" AS "group_id", CAST("l0"."value" AS integer) AS
"age", CAST("l1"."value" AS text) AS "zip", "r"."p0" AS "cost" FROM
"pganon_work"."r0_group_records0" AS "r" JOIN "pganon_work"."r0_dict0" AS "l0" ON "l0"."code" =
"r"."c0" JOIN "pganon_work"."r0_dict1" AS "l1" ON "l1"."code" = "r"."c1" ORDER BY "r"."b0",
"l0"."code", "l1"."code", "r"."p0";

-- recode.qit1: quasi-identifiers with the numbers of their buckets
-- [slicing]
CREATE TABLE pganon_stage.r0_qit AS SELECT "x"."x0" AS "group_id", "x"."x4" AS "age", "x"."x5" AS
"zip", "x"."x3" AS "cost", COUNT(*) AS "count" FROM (SELECT "r"."b0" AS "x0", "l0"."code" AS "x1",
"l1"."code" AS "x2", "r"."p0" AS "x3", CAST("l0"."value" AS integer) AS "x4", CAST("l1"."value" AS
text) AS "x5" FROM "pganon_work"."r0_group_records0" AS "r" JOIN "pganon_work"."r0_dict0" AS "l0" ON
"l0"."code" = "r"."c0" JOIN "pganon_work"."r0_dict1" AS "l1" ON "l1"."code" = "r"."c1" ORDER BY
"r"."b0", "l0"."code", "l1"."code", "r"."p0", CAST("l0"."value" AS integer), CAST("l1"."value" AS
text)) AS "x" GROUP BY "x"."x0", "x"."x1", "x"."x2", "x"."x3", "x"."x4", "x"."x5" ORDER BY "x"."x0",
"x"."x1", "x"."x2", "x"."x3";

-- recode.qit1: quasi-identifiers with the numbers of their buckets
-- [sloms]
CREATE TABLE pganon_stage.r0_qit AS SELECT "r"."b0" AS "class_id", "r"."b1" AS "st1_group_id",
"r"."b2" AS "st2_group_id", "e"."age" AS "age", "e"."zip" AS "zip", "e"."zip_null" AS "zip_null",
"r"."p0" AS "cost" FROM "pganon_work"."r0_group_records0" AS "r" JOIN "pganon_work"."r0_generalized"
AS "e" ON "e"."class_id" = "r"."b0" ORDER BY "r"."b0", "r"."b1", "r"."b2", "r"."p0";

-- recode.qit1_key: an index that the published views join on
-- [anatomy, slicing, slamsa, msb]
CREATE INDEX ON "pganon_stage"."r0_qit" ("group_id");

-- recode.qit1_key: an index that the published views join on
-- [sloms]
CREATE INDEX ON "pganon_stage"."r0_qit" ("class_id");

-- recode.records: sensitive and insensitive values of every record with its class
-- [one_dimensional, mondrian, full_domain]
CREATE TABLE pganon_stage.r0_records AS SELECT "r"."class_id", "r"."v0" AS "disease", "r"."p0" AS
"cost" FROM (SELECT GENERATE_SERIES(1, "r"."n") AS "place", "r"."class_id", "r"."v0", "r"."p0" FROM
(SELECT CAST(SUM("c"."n") AS BIGINT) AS "n", "g"."class_id", "c"."v0", "c"."p0" FROM (SELECT
COUNT(*) AS "n", "c"."combination" AS "combination", "c"."v0" AS "v0", "c"."p0" AS "p0" FROM
"pganon_work"."r0_coded" AS "c" GROUP BY "c"."combination", "c"."v0", "c"."p0") AS "c" JOIN
"pganon_work"."r0_grouped_classes" AS "g" ON "g"."combination" = "c"."combination" GROUP BY
"g"."class_id", "c"."v0", "c"."p0") AS "r" ORDER BY "r"."class_id", "r"."v0", "r"."p0") AS "r" ORDER
BY "r"."class_id", "r"."v0", "r"."p0";

-- recode.records: every record with its group and its buckets
-- [lgb_mdp, local_bucketization, local_generalization]
CREATE TABLE pganon_stage.r0_records AS SELECT "r"."group_id" AS "group_id", "r"."b0" AS
"zip_bucket", "r"."b1" AS "disease_bucket", "r"."p0" AS "cost" FROM "pganon_work"."r0_local_grouped"
AS "r" ORDER BY "r"."group_id", "r"."b0", "r"."b1", "r"."p0";

-- recode.records: every record with its group and its buckets
-- [lgb_ncp]
CREATE TABLE pganon_stage.r0_records AS SELECT "r"."group_id" AS "group_id", "r"."b0" AS
"zip_bucket", "r"."b1" AS "drug_bucket", "r"."p0" AS "cost" FROM "pganon_work"."r0_local_grouped" AS
"r" ORDER BY "r"."group_id", "r"."b0", "r"."b1", "r"."p0";

-- recode.records: sensitive and insensitive values of every record with its class
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_stage.r0_records AS SELECT "g"."class_id", "c"."v0" AS "disease", "c"."p0" AS
"cost" FROM "pganon_work"."r0_coded" AS "c" JOIN "pganon_work"."r0_grouped_classes" AS "g" ON
"g"."rid" = "c"."rid" ORDER BY "g"."class_id", "c"."v0", "c"."p0";

-- recode.records: sensitive and insensitive values of every record with its class
-- [danonyir, geneir]
CREATE TABLE pganon_stage.r0_records AS SELECT "g"."class_id", "n"."individual_no", "c"."v0" AS
"disease", "c"."p0" AS "cost" FROM "pganon_work"."r0_coded" AS "c" JOIN
"pganon_work"."r0_grouped_classes" AS "g" ON "g"."rid" = "c"."rid" JOIN
"pganon_work"."r0_individuals" AS "i" ON "i"."individual" = "c"."individual" JOIN
"pganon_work"."r0_numbers_individual_no" AS "n" ON "n"."gid" = "i"."rid" ORDER BY "g"."class_id",
"n"."individual_no", "c"."v0", "c"."p0";

-- recode.records_key: an index that the published views join on
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE INDEX ON "pganon_stage"."r0_records" ("group_id");

-- recode.reference: distribution of the source that closeness is held against
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_stage.r0_reference AS SELECT CAST(0 AS SMALLINT) AS "attribute", COALESCE('=' ||
CAST(("x"."value") AS text), '') AS "value", "x"."code" AS "position", "x"."n" FROM
"pganon_work"."r0_sdict0" AS "x";

-- recode.reference: combinations that exist, which supported ones are counted by
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_stage.r0_reference AS SELECT CAST(1 AS SMALLINT) AS "attribute_set",
COALESCE('=' || CAST((CAST("d1"."value" AS integer)) AS text), '') COLLATE "C" AS "v1" FROM
"pganon_work"."r0_support1" AS "s" JOIN "pganon_work"."r0_dict0" AS "d1" ON ("d1"."code" + 1) =
"s"."v1" UNION ALL SELECT CAST(2 AS SMALLINT) AS "attribute_set", COALESCE('=' ||
CAST((CAST("d1"."value" AS text)) AS text), '') COLLATE "C" AS "v1" FROM "pganon_work"."r0_support2"
AS "s" JOIN "pganon_work"."r0_dict1" AS "d1" ON ("d1"."code" + 42) = "s"."v1";

-- recode.released0: released values of attribute 1
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_released0 AS SELECT "d"."code", "d"."value" FROM
"pganon_work"."r0_dict0" AS "d" WHERE "d"."code" > 0 AND "d"."code" IN (SELECT "g"."c0" FROM
"pganon_work"."r0_grouped_classes" AS "g");

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
-- [one_dimensional, mondrian, full_domain, beta_primacy, kagg, kinc_mic, kagg_mic, js_reduce]
CREATE TABLE pganon_stage.r0_remembered_groups AS SELECT "g"."grp", "g"."people", "g"."who1" AS
"who1", "g"."who2" AS "who2", "g"."held" AS "held" FROM (SELECT CAST("e"."grp" AS BIGINT) AS "grp",
COUNT(*) AS "people", BIT_XOR("e"."who1") AS "who1", BIT_XOR("e"."who2") AS "who2", CASE WHEN
"e"."grp" > 0 THEN CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2])] AS bigint[]) END AS
"held" FROM (SELECT "m".*, UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who1", UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who2" FROM (SELECT "m"."member", "m"."class_id" AS "grp", "m"."marks"
FROM "pganon_stage"."r0_members" AS "m") AS "m" WHERE "m"."grp" <> 0) AS "e" GROUP BY "e"."grp") AS
"g";

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
-- [anatomy, slicing]
CREATE TABLE pganon_stage.r0_remembered_groups AS SELECT "g"."grp", "g"."people", "g"."who1" AS
"who1", "g"."who2" AS "who2", "g"."held" AS "held" FROM (SELECT CAST("e"."grp" AS BIGINT) AS "grp",
COUNT(*) AS "people", BIT_XOR("e"."who1") AS "who1", BIT_XOR("e"."who2") AS "who2", CASE WHEN
"e"."grp" > 0 THEN CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2])] AS bigint[]) END AS
"held" FROM (SELECT "m".*, UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who1", UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who2" FROM (SELECT "m"."member", "m"."group_id" AS "grp", "m"."marks"
FROM "pganon_stage"."r0_members" AS "m") AS "m" WHERE "m"."grp" <> 0) AS "e" GROUP BY "e"."grp") AS
"g";

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
-- [slamsa, msb, lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_stage.r0_remembered_groups AS SELECT "g"."grp", "g"."people", "g"."who1" AS
"who1", "g"."who2" AS "who2", "g"."held" AS "held" FROM (SELECT CAST("e"."grp" AS BIGINT) AS "grp",
COUNT(*) AS "people", BIT_XOR("e"."who1") AS "who1", BIT_XOR("e"."who2") AS "who2", CASE WHEN
"e"."grp" > 0 THEN CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2]),
BIT_XOR("e"."marks"[3])] AS bigint[]) END AS "held" FROM (SELECT "m".*,
UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k")) AS "who1", UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who2" FROM (SELECT "m"."member", "m"."group_id" AS "grp", "m"."marks"
FROM "pganon_stage"."r0_members" AS "m") AS "m" WHERE "m"."grp" <> 0) AS "e" GROUP BY "e"."grp") AS
"g";

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
-- [sloms]
CREATE TABLE pganon_stage.r0_remembered_groups AS SELECT "g"."grp", "g"."people", "g"."who1" AS
"who1", "g"."who2" AS "who2", "g"."held" AS "held" FROM (SELECT CAST("e"."grp" AS BIGINT) AS "grp",
COUNT(*) AS "people", BIT_XOR("e"."who1") AS "who1", BIT_XOR("e"."who2") AS "who2", CASE WHEN
"e"."grp" > 0 THEN CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2]),
BIT_XOR("e"."marks"[3])] AS bigint[]) END AS "held" FROM (SELECT "m".*,
UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k")) AS "who1", UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who2" FROM (SELECT "m"."member", "m"."class_id" AS "grp", "m"."marks"
FROM "pganon_stage"."r0_members" AS "m") AS "m" WHERE "m"."grp" <> 0) AS "e" GROUP BY "e"."grp") AS
"g";

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
-- [kinc]
CREATE TABLE pganon_stage.r0_remembered_groups AS SELECT "g"."grp", "g"."people", "g"."who1" AS
"who1", "g"."who2" AS "who2", CASE WHEN "g"."grp" < 0 THEN "l"."held" ELSE "g"."held" END AS "held"
FROM (SELECT CAST("e"."grp" AS BIGINT) AS "grp", COUNT(*) AS "people", BIT_XOR("e"."who1") AS
"who1", BIT_XOR("e"."who2") AS "who2", CASE WHEN "e"."grp" > 0 THEN
CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2])] AS bigint[]) END AS "held" FROM (SELECT
"m".*, UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who1", UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who2" FROM (SELECT "m"."member", "m"."class_id" AS "grp", "m"."marks"
FROM "pganon_stage"."r0_members" AS "m") AS "m" WHERE "m"."grp" <> 0) AS "e" GROUP BY "e"."grp") AS
"g" JOIN (SELECT CAST(ARRAY[ BIT_XOR(HASHTEXTEXTENDED("c"."disease",
UUID_HASH_EXTENDED("c"."person", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('marks' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k")))), CAST(NULL AS BIGINT) ] AS bigint[]) AS "held" FROM (SELECT "u".* FROM (SELECT
CAST(ENCODE(SUBSTRING(SHA256((SELECT COALESCE("p"."secret", "s"."key") FROM
"pganon_private"."run_secret" AS "s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" =
"s"."population" WHERE "s"."run_id" = 0) || CONVERT_TO("c"."record", 'UTF8')) FROM 1 FOR 16), 'hex')
AS UUID) AS "person", COALESCE('=' || CAST((CAST("c"."v0" AS TEXT) COLLATE "C") AS text), '') AS
"disease", COALESCE('=' || CAST(("c"."p0") AS text), '') AS "cost" FROM "pganon_work"."r0_coded" AS
"c") AS "u") AS "c" JOIN (SELECT "m"."member" FROM "pganon_stage"."r0_members" AS "m" WHERE
"m"."class_id" < 0) AS "m" ON "m"."member" = "c"."person") AS "l" ON TRUE;

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_stage.r0_remembered_groups AS SELECT "g"."grp", "g"."people", "g"."who1" AS
"who1", "g"."who2" AS "who2", "g"."held" AS "held" FROM (SELECT CAST("e"."grp" AS BIGINT) AS "grp",
COUNT(*) AS "people", BIT_XOR("e"."who1") AS "who1", BIT_XOR("e"."who2") AS "who2", CASE WHEN
"e"."grp" > 0 THEN CAST(ARRAY[BIT_XOR("e"."marks"[1]), BIT_XOR("e"."marks"[2]),
BIT_XOR("e"."marks"[3])] AS bigint[]) END AS "held" FROM (SELECT "m".*,
UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k")) AS "who1", UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who2" FROM (SELECT "m"."member", "m"."cluster_no" AS "grp",
"m"."marks" FROM "pganon_stage"."r0_members" AS "m") AS "m" WHERE "m"."grp" <> 0) AS "e" GROUP BY
"e"."grp") AS "g";

-- recode.remembered groups: who is in a group, in numbers that the next versions are compared by
-- [danonyir, geneir]
CREATE TABLE pganon_stage.r0_remembered_groups AS SELECT "g"."grp", "g"."people", "g"."who1" AS
"who1", "g"."who2" AS "who2", "g"."held" AS "held" FROM (SELECT CAST("e"."grp" AS BIGINT) AS "grp",
COUNT(*) AS "people", BIT_XOR("e"."who1") AS "who1", BIT_XOR("e"."who2") AS "who2", CASE WHEN
"e"."grp" > 0 THEN CAST(ARRAY[] AS BIGINT[]) END AS "held" FROM (SELECT "m".*,
UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' || ENCODE(SUBSTRING(SHA256("k"."secret" ||
CAST('who1' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS BIGINT) FROM (SELECT (SELECT
COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS "s" LEFT JOIN
"pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id" = 0) AS
"secret") AS "k")) AS "who1", UUID_HASH_EXTENDED("m"."member", (SELECT CAST(CAST(('x' ||
ENCODE(SUBSTRING(SHA256("k"."secret" || CAST('who2' AS BYTEA)) FROM 1 FOR 8), 'hex')) AS BIT(64)) AS
BIGINT) FROM (SELECT (SELECT COALESCE("p"."secret", "s"."key") FROM "pganon_private"."run_secret" AS
"s" LEFT JOIN "pganon_private"."population" AS "p" ON "p"."id" = "s"."population" WHERE "s"."run_id"
= 0) AS "secret") AS "k")) AS "who2" FROM (SELECT "m"."member", "m"."class_id" AS "grp", "m"."marks"
FROM (SELECT DISTINCT "m"."member", "m"."class_id", CAST(NULL AS BIGINT[]) AS "marks" FROM
"pganon_stage"."r0_members" AS "m") AS "m") AS "m" WHERE "m"."grp" <> 0) AS "e" GROUP BY "e"."grp")
AS "g";

-- recode.sets1: arrays of values for attribute 2
-- [one_dimensional, mondrian, sloms, lgb_mdp, lgb_ncp, local_bucketization, local_generalization,
-- beta_primacy, kinc, kagg, js_reduce, danonyir]
CREATE TABLE pganon_work.r0_sets1 AS SELECT "k"."b1_0", (SELECT ARRAY_AGG(CAST("d"."value" AS text)
ORDER BY "d"."code") FROM "pganon_work"."r0_dict1" AS "d" WHERE "d"."code" > 0 AND CASE "d"."code"
>> 6 WHEN 0 THEN ("k"."b1_0" >> ("d"."code" & 63)) & 1 = 1 END) AS "members" FROM (SELECT DISTINCT
"e"."b1_0" FROM "pganon_work"."r0_extents" AS "e") AS "k";

-- recode.shares: the distribution that is published
-- [kinc]
CREATE TABLE pganon_stage.r0_shares AS SELECT CAST(("d"."value") AS text) AS "disease", CAST("d"."n"
AS DOUBLE PRECISION) / SUM("d"."n") OVER () AS "share" FROM "pganon_work"."r0_sdict0" AS "d" ORDER
BY "d"."code";

-- recode.sizes: records per class
-- [one_dimensional, mondrian, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, danonyir]
CREATE TABLE pganon_work.r0_extents_only AS SELECT "c"."class_id", MIN("c"."c0") FILTER(WHERE
"c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS "n0", BIT_OR(CAST(1 AS BIGINT)
<< "c"."c1") AS "b1_0" FROM "pganon_work"."r0_grouped_classes" AS "c" GROUP BY "c"."class_id";

-- recode.sizes: records per class
-- [full_domain]
CREATE TABLE pganon_work.r0_extents_only AS SELECT "x"."class_id" AS "class_id", "x"."lo0" AS "lo0",
"x"."hi0" AS "hi0", "x"."n0" AS "n0", "x"."lo1" AS "lo1", "x"."hi1" AS "hi1", "x"."n1" AS "n1" FROM
(SELECT "c"."class_id", MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0",
MIN("c"."c0") = 0 AS "n0", MIN("c"."c1") FILTER(WHERE "c"."c1" > 0) AS "lo1", MAX("c"."c1") AS
"hi1", MIN("c"."c1") = 0 AS "n1" FROM "pganon_work"."r0_grouped_classes" AS "c" GROUP BY
"c"."class_id") AS "x";

-- recode.sizes: records per class
-- [geneir]
CREATE TABLE pganon_work.r0_extents_only AS SELECT "u"."class_id", COALESCE("a0"."lo", "u"."lo0") AS
"lo0", COALESCE("a0"."hi", "u"."hi0") AS "hi0", "u"."n0", COALESCE("a1"."lo", "u"."lo1") AS "lo1",
COALESCE("a1"."hi", "u"."hi1") AS "hi1", "u"."n1" FROM (SELECT "x".*, "n"."gid" AS "unit" FROM
(SELECT "c"."class_id", MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0",
MIN("c"."c0") = 0 AS "n0", MIN("c"."c1") FILTER(WHERE "c"."c1" > 0) AS "lo1", MAX("c"."c1") AS
"hi1", MIN("c"."c1") = 0 AS "n1" FROM "pganon_work"."r0_grouped_classes" AS "c" GROUP BY
"c"."class_id") AS "x" JOIN "pganon_work"."r0_numbers_class_id" AS "n" ON "n"."class_id" =
"x"."class_id") AS "u" LEFT JOIN (SELECT "t"."code", "t"."level", MIN("t"."code") OVER (PARTITION BY
"t"."level", "t"."lo") AS "lo", MAX("t"."code") OVER (PARTITION BY "t"."level", "t"."lo") AS "hi"
FROM "pganon_work"."r0_level0" AS "t" WHERE "t"."code" IN (SELECT "g"."c0" FROM
"pganon_work"."r0_grouped_classes" AS "g")) AS "a0" ON "a0"."code" = "u"."lo0" AND "a0"."level" =
GREATEST((CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level") FROM
"pganon_work"."r0_level0" AS "t")[("u"."lo0" - 1) * 2 + 0 + 1]) >= "u"."hi0" THEN 0 ELSE 1 END),
(((SELECT ARRAY_AGG((SELECT CAST(COUNT(*) AS INT) FROM "pganon_work"."r0_sequence" AS "q" WHERE
"q"."step" <= "s"."sweep" AND "q"."attribute" = 0) ORDER BY "s"."sweep") FROM GENERATE_SERIES(0,
(SELECT COUNT(*) FROM "pganon_work"."r0_sequence" AS "q")) AS "s"("sweep")))[("u"."unit" >> 32) +
1])) LEFT JOIN (SELECT "t"."code", "t"."level", MIN("t"."code") OVER (PARTITION BY "t"."level",
"t"."lo") AS "lo", MAX("t"."code") OVER (PARTITION BY "t"."level", "t"."lo") AS "hi" FROM
"pganon_work"."r0_level1" AS "t" WHERE "t"."code" IN (SELECT "g"."c1" FROM
"pganon_work"."r0_grouped_classes" AS "g")) AS "a1" ON "a1"."code" = "u"."lo1" AND "a1"."level" =
GREATEST((CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level") FROM
"pganon_work"."r0_level1" AS "t")[("u"."lo1" - 1) * 2 + 0 + 1]) >= "u"."hi1" THEN 0 ELSE 1 END),
(((SELECT ARRAY_AGG((SELECT CAST(COUNT(*) AS INT) FROM "pganon_work"."r0_sequence" AS "q" WHERE
"q"."step" <= "s"."sweep" AND "q"."attribute" = 1) ORDER BY "s"."sweep") FROM GENERATE_SERIES(0,
(SELECT COUNT(*) FROM "pganon_work"."r0_sequence" AS "q")) AS "s"("sweep")))[("u"."unit" >> 32) +
1]));

-- recode.st1: sensitive values of every bucket with their numbers of records
-- [anatomy, slicing]
CREATE TABLE pganon_stage.r0_st AS SELECT "x"."x0" AS "group_id", "x"."x1" AS "disease", COUNT(*) AS
"count" FROM (SELECT "r"."b0" AS "x0", "r"."v0" AS "x1" FROM "pganon_work"."r0_group_records0" AS
"r" ORDER BY "r"."b0", "r"."v0") AS "x" GROUP BY "x"."x0", "x"."x1" ORDER BY "x"."x0", "x"."x1";

-- recode.st1: sensitive values of every bucket with their numbers of records
-- [slamsa, msb]
CREATE TABLE pganon_stage.r0_st AS SELECT "x"."x0" AS "group_id", "x"."x1" AS "disease", "x"."x2" AS
"drug", COUNT(*) AS "count" FROM (SELECT "r"."b0" AS "x0", "r"."v0" AS "x1", "r"."v1" AS "x2" FROM
"pganon_work"."r0_group_records0" AS "r" ORDER BY "r"."b0", "r"."v0", "r"."v1") AS "x" GROUP BY
"x"."x0", "x"."x1", "x"."x2" ORDER BY "x"."x0", "x"."x1", "x"."x2";

-- recode.st1: sensitive values of every bucket with their numbers of records
-- [sloms]
CREATE TABLE pganon_stage.r0_st1 AS SELECT "x"."x0" AS "group_id", "x"."x1" AS "disease", COUNT(*)
AS "count" FROM (SELECT "r"."b1" AS "x0", "r"."v0" AS "x1" FROM "pganon_work"."r0_group_records0" AS
"r" ORDER BY "r"."b1", "r"."v0") AS "x" GROUP BY "x"."x0", "x"."x1" ORDER BY "x"."x0", "x"."x1";

-- recode.st1_key: an index that the published views join on
-- [anatomy, slicing, slamsa, msb]
CREATE INDEX ON "pganon_stage"."r0_st" ("group_id");

-- recode.st1_key: an index that the published views join on
-- [sloms]
CREATE INDEX ON "pganon_stage"."r0_st1" ("group_id");

-- recode.st2: sensitive values of every bucket with their numbers of records
-- [sloms]
CREATE TABLE pganon_stage.r0_st2 AS SELECT "x"."x0" AS "group_id", "x"."x1" AS "drug", COUNT(*) AS
"count" FROM (SELECT "r"."b2" AS "x0", "r"."v1" AS "x1" FROM "pganon_work"."r0_group_records0" AS
"r" ORDER BY "r"."b2", "r"."v1") AS "x" GROUP BY "x"."x0", "x"."x1" ORDER BY "x"."x0", "x"."x1";

-- recode.st2_key: an index that the published views join on
-- [sloms]
CREATE INDEX ON "pganon_stage"."r0_st2" ("group_id");

-- recode.starts: where the records of every value begin
-- [anatomy]
CREATE TABLE pganon_work.r0_starts AS SELECT "p"."piece", "p"."value", "b"."block", "b"."size",
"b"."start" FROM (SELECT "l"."block", "h"."node" AS "piece", "h"."value", "h"."n" FROM
"pganon_work"."r0_hist_0" AS "h" JOIN "pganon_work"."r0_leaves" AS "l" ON "l"."piece" = "h"."node")
AS "p" JOIN (SELECT "c"."block", "c"."value", CAST((SUM("c"."n") OVER (PARTITION BY "c"."block")) AS
BIGINT) AS "size", CAST((SUM("c"."n") OVER (PARTITION BY "c"."block" ORDER BY "c"."n" DESC,
"c"."value" rows BETWEEN UNBOUNDED preceding AND CURRENT ROW) - "c"."n") AS BIGINT) AS "start" FROM
(SELECT "p"."block", "p"."value", CAST(SUM("p"."n") AS integer) AS "n" FROM (SELECT "l"."block",
"h"."node" AS "piece", "h"."value", "h"."n" FROM "pganon_work"."r0_hist_0" AS "h" JOIN
"pganon_work"."r0_leaves" AS "l" ON "l"."piece" = "h"."node") AS "p" GROUP BY "p"."block",
"p"."value") AS "c") AS "b" ON "b"."block" = "p"."block" AND "b"."value" = "p"."value";

-- recode.subtracted: what the published distribution tells of suppressed records
-- [kinc]
SELECT CAST(COALESCE(SUM("l"."n"), 0) AS BIGINT) AS "withheld", CAST(((0 + (SELECT "w"."failing"
FROM (SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure",
"g"."class_id" FROM (SELECT "h"."value", "h"."n", "h"."class_id" FROM (SELECT 1 AS "class_id",
"f"."value", "f"."n" - COALESCE("p"."n", 0) AS "n" FROM (SELECT "f"."value", "f"."position", "f"."n"
FROM "pganon_stage"."r0_reference" AS "f" WHERE "f"."attribute" = 0) AS "f" LEFT JOIN (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n" FROM (SELECT "r"."key0",
COUNT(*) AS "n" FROM (SELECT CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM
"pganon_stage"."r0_records" AS "t" ORDER BY CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY
"r"."key0") AS "h") AS "p" ON "p"."value" = "f"."value" WHERE "f"."n" > COALESCE("p"."n", 0)) AS
"h") AS "g" GROUP BY "g"."class_id") AS "groups") AS "w") + (SELECT "w"."failing" FROM (SELECT
COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 3.000000000003)) AS "failing",
MAX("groups"."measure") AS "measured" FROM (SELECT CASE WHEN BOOL_AND(COALESCE(CAST("g"."n" AS
DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION)) - 1
<= 1e-12 - LN(NULLIF("g"."share", 0))) THEN GREATEST(MAX(COALESCE(CAST("g"."n" AS DOUBLE PRECISION)
/ "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION))) - 1, 0) ELSE
CAST('Infinity' AS DOUBLE PRECISION) END AS "measure", "g"."class_id" FROM (SELECT "h"."value",
"h"."n", "h"."class_id", SUM("h"."n") OVER (PARTITION BY "h"."class_id") AS "total",
COALESCE("r"."share", 0) AS "share", COALESCE("r"."position", 0) AS "position" FROM (SELECT 1 AS
"class_id", "f"."value", "f"."n" - COALESCE("p"."n", 0) AS "n" FROM (SELECT "f"."value",
"f"."position", "f"."n" FROM "pganon_stage"."r0_reference" AS "f" WHERE "f"."attribute" = 0) AS "f"
LEFT JOIN (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n" FROM (SELECT
"r"."key0", COUNT(*) AS "n" FROM (SELECT CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM
"pganon_stage"."r0_records" AS "t" ORDER BY CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY
"r"."key0") AS "h") AS "p" ON "p"."value" = "f"."value" WHERE "f"."n" > COALESCE("p"."n", 0)) AS "h"
LEFT JOIN (SELECT "x"."value", "x"."position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER
() AS "share" FROM (SELECT "f"."value", "f"."position", "f"."n" FROM "pganon_stage"."r0_reference"
AS "f" WHERE "f"."attribute" = 0) AS "x") AS "r" ON "r"."value" = "h"."value") AS "g" GROUP BY
"g"."class_id") AS "groups") AS "w"))) AS BIGINT) AS "missed" FROM (SELECT 1 AS "class_id",
"f"."value", "f"."n" - COALESCE("p"."n", 0) AS "n" FROM (SELECT "f"."value", "f"."position", "f"."n"
FROM "pganon_stage"."r0_reference" AS "f" WHERE "f"."attribute" = 0) AS "f" LEFT JOIN (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n" FROM (SELECT "r"."key0",
COUNT(*) AS "n" FROM (SELECT CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM
"pganon_stage"."r0_records" AS "t" ORDER BY CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY
"r"."key0") AS "h") AS "p" ON "p"."value" = "f"."value" WHERE "f"."n" > COALESCE("p"."n", 0)) AS
"l";

-- recode.tidy: what is known from where values begin
-- [anatomy]
DROP TABLE pganon_work.r0_leaves, pganon_work.r0_hist_0;
