-- publish.publish: views, grants and ledger in one transaction
-- [one_dimensional]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE
VIEW "published"."visits" AS SELECT "c"."class_id" AS "class_id", "c"."age" AS "age", "c"."zip" AS
"zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM
"pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" =
"r"."class_id"; CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "c"."class_id" AS
"class_id", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS
"age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."disease"
AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";

-- publish.publish: views, grants and ledger in one transaction
-- [mondrian]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_cuts" SET SCHEMA "pganon_private"; ALTER
TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE VIEW
"published"."visits" AS SELECT "c"."class_id" AS "class_id", "c"."age" AS "age", "c"."zip" AS "zip",
"c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM
"pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" =
"r"."class_id"; CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "c"."class_id" AS
"class_id", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS
"age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."disease"
AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";

-- publish.publish: views, grants and ledger in one transaction
-- [full_domain]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_levels" SET SCHEMA "pganon_private"; ALTER
TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE VIEW
"published"."visits" AS SELECT "c"."class_id" AS "class_id", "c"."age" AS "age", "c"."zip" AS "zip",
"c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM
"pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" =
"r"."class_id"; CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "c"."class_id" AS
"class_id", CAST((CEIL(LOWER("c"."age"))) AS bigint) AS "age_low", CAST((CASE WHEN
UPPER_INC("c"."age") THEN FLOOR(UPPER("c"."age")) ELSE CEIL(UPPER("c"."age")) - 1 END) AS bigint) AS
"age_high", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost"
AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON
"c"."class_id" = "r"."class_id";

-- publish.publish: views, grants and ledger in one transaction
-- [anatomy]
ALTER TABLE "pganon_stage"."r0_qit" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_st" SET
SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER
TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE VIEW
"published"."visits" AS SELECT "q"."group_id", "q"."age", "q"."zip", "q"."cost", "t0"."disease", 1.0
* "t0"."count" / "s0"."n" AS "probability" FROM "pganon_data"."r0_qit" AS "q" JOIN
"pganon_data"."r0_st" AS "t0" ON "t0"."group_id" = "q"."group_id" JOIN (SELECT "u"."group_id",
SUM("u"."count") AS "n" FROM "pganon_data"."r0_st" AS "u" GROUP BY "u"."group_id") AS "s0" ON
"s0"."group_id" = "q"."group_id"; CREATE OR REPLACE VIEW "published"."visits_qit" AS SELECT
"t"."group_id", "t"."age", "t"."zip", "t"."cost" FROM "pganon_data"."r0_qit" AS "t"; CREATE OR
REPLACE VIEW "published"."visits_st" AS SELECT "t"."group_id", "t"."disease", "t"."count" FROM
"pganon_data"."r0_st" AS "t";

-- publish.publish: views, grants and ledger in one transaction
-- [slicing]
ALTER TABLE "pganon_stage"."r0_qit" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_st" SET
SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER
TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE VIEW
"published"."visits" AS SELECT "q"."group_id", "q"."age", "q"."zip", "q"."cost", "t0"."disease",
CAST("q"."count" AS DECIMAL) * "t0"."count" / "s0"."n" AS "expected" FROM "pganon_data"."r0_qit" AS
"q" JOIN "pganon_data"."r0_st" AS "t0" ON "t0"."group_id" = "q"."group_id" JOIN (SELECT
"u"."group_id", SUM("u"."count") AS "n" FROM "pganon_data"."r0_st" AS "u" GROUP BY "u"."group_id")
AS "s0" ON "s0"."group_id" = "q"."group_id"; CREATE OR REPLACE VIEW "published"."visits_qit" AS
SELECT "t"."group_id", "t"."age", "t"."zip", "t"."cost", "t"."count" FROM "pganon_data"."r0_qit" AS
"t"; CREATE OR REPLACE VIEW "published"."visits_st" AS SELECT "t"."group_id", "t"."disease",
"t"."count" FROM "pganon_data"."r0_st" AS "t";

-- publish.publish: views, grants and ledger in one transaction
-- [slamsa, msb]
ALTER TABLE "pganon_stage"."r0_qit" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_st" SET
SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER
TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE VIEW
"published"."visits" AS SELECT "q"."group_id", "q"."age", "q"."zip", "q"."cost", "t0"."disease",
"t0"."drug", 1.0 * "t0"."count" / "s0"."n" AS "probability" FROM "pganon_data"."r0_qit" AS "q" JOIN
"pganon_data"."r0_st" AS "t0" ON "t0"."group_id" = "q"."group_id" JOIN (SELECT "u"."group_id",
SUM("u"."count") AS "n" FROM "pganon_data"."r0_st" AS "u" GROUP BY "u"."group_id") AS "s0" ON
"s0"."group_id" = "q"."group_id"; CREATE OR REPLACE VIEW "published"."visits_qit" AS SELECT
"t"."group_id", "t"."age", "t"."zip", "t"."cost" FROM "pganon_data"."r0_qit" AS "t"; CREATE OR
REPLACE VIEW "published"."visits_st" AS SELECT "t"."group_id", "t"."disease", "t"."drug",
"t"."count" FROM "pganon_data"."r0_st" AS "t";

-- publish.publish: views, grants and ledger in one transaction
-- [sloms]
ALTER TABLE "pganon_stage"."r0_qit" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_st1"
SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_st2" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram"
SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA
"pganon_private"; CREATE OR REPLACE VIEW "published"."visits" AS SELECT "q"."class_id",
"q"."st1_group_id", "q"."st2_group_id", "q"."age", "q"."zip", "q"."zip_null", "q"."cost",
"t0"."disease", "t1"."drug", (1.0 * "t0"."count" / "s0"."n") * "t1"."count" / "s1"."n" AS
"probability" FROM "pganon_data"."r0_qit" AS "q" JOIN "pganon_data"."r0_st1" AS "t0" ON
"t0"."group_id" = "q"."st1_group_id" JOIN (SELECT "u"."group_id", SUM("u"."count") AS "n" FROM
"pganon_data"."r0_st1" AS "u" GROUP BY "u"."group_id") AS "s0" ON "s0"."group_id" =
"q"."st1_group_id" JOIN "pganon_data"."r0_st2" AS "t1" ON "t1"."group_id" = "q"."st2_group_id" JOIN
(SELECT "u"."group_id", SUM("u"."count") AS "n" FROM "pganon_data"."r0_st2" AS "u" GROUP BY
"u"."group_id") AS "s1" ON "s1"."group_id" = "q"."st2_group_id"; CREATE OR REPLACE VIEW
"published"."visits_qit" AS SELECT "t"."class_id", "t"."st1_group_id", "t"."st2_group_id",
"t"."age", "t"."zip", "t"."zip_null", "t"."cost" FROM "pganon_data"."r0_qit" AS "t"; CREATE OR
REPLACE VIEW "published"."visits_st1" AS SELECT "t"."group_id", "t"."disease", "t"."count" FROM
"pganon_data"."r0_st1" AS "t"; CREATE OR REPLACE VIEW "published"."visits_st2" AS SELECT
"t"."group_id", "t"."drug", "t"."count" FROM "pganon_data"."r0_st2" AS "t";

-- publish.publish: views, grants and ledger in one transaction
-- [lgb_mdp, local_bucketization, local_generalization]
ALTER TABLE "pganon_stage"."r0_groups" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_values0" SET
SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_values1" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram"
SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA
"pganon_private"; CREATE OR REPLACE VIEW "published"."visits" AS SELECT "r"."group_id" AS
"group_id", "c"."age" AS "age", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."zip_bucket"
AS "zip_bucket", "c"."zip_form" AS "zip_form", "r"."disease_bucket" AS "disease_bucket", "r"."cost"
AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_groups" AS "c" ON
"c"."group_id" = "r"."group_id"; CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT
"r"."group_id" AS "group_id", CAST((LOWER("c"."age")) AS integer) AS "age_low",
CAST((UPPER("c"."age")) AS integer) AS "age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip",
"c"."zip_null" AS "zip_null", "r"."zip_bucket" AS "zip_bucket", "c"."zip_form" AS "zip_form",
"r"."disease_bucket" AS "disease_bucket", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS
"r" JOIN "pganon_data"."r0_groups" AS "c" ON "c"."group_id" = "r"."group_id"; CREATE OR REPLACE VIEW
"published"."visits_values_zip" AS SELECT CAST("t"."zip_bucket" AS integer) AS "zip_bucket",
CAST("t"."zip" AS text) AS "zip", CAST("t"."count" AS bigint) AS "count" FROM
"pganon_data"."r0_values0" AS "t"; CREATE OR REPLACE VIEW "published"."visits_values_disease" AS
SELECT CAST("t"."disease_bucket" AS integer) AS "disease_bucket", CAST("t"."disease" AS text) AS
"disease", CAST("t"."count" AS bigint) AS "count" FROM "pganon_data"."r0_values1" AS "t";

-- publish.publish: views, grants and ledger in one transaction
-- [lgb_ncp]
ALTER TABLE "pganon_stage"."r0_groups" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_values0" SET
SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_values1" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram"
SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA
"pganon_private"; CREATE OR REPLACE VIEW "published"."visits" AS SELECT "r"."group_id" AS
"group_id", "c"."age" AS "age", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."zip_bucket"
AS "zip_bucket", "c"."zip_form" AS "zip_form", "r"."drug_bucket" AS "drug_bucket", "r"."cost" AS
"cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_groups" AS "c" ON
"c"."group_id" = "r"."group_id"; CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT
"r"."group_id" AS "group_id", CAST((LOWER("c"."age")) AS integer) AS "age_low",
CAST((UPPER("c"."age")) AS integer) AS "age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip",
"c"."zip_null" AS "zip_null", "r"."zip_bucket" AS "zip_bucket", "c"."zip_form" AS "zip_form",
"r"."drug_bucket" AS "drug_bucket", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_groups" AS "c" ON "c"."group_id" = "r"."group_id"; CREATE OR REPLACE VIEW
"published"."visits_values_zip" AS SELECT CAST("t"."zip_bucket" AS integer) AS "zip_bucket",
CAST("t"."zip" AS text) AS "zip", CAST("t"."count" AS bigint) AS "count" FROM
"pganon_data"."r0_values0" AS "t"; CREATE OR REPLACE VIEW "published"."visits_values_drug" AS SELECT
CAST("t"."drug_bucket" AS integer) AS "drug_bucket", CAST("t"."drug" AS text) AS "drug",
CAST("t"."count" AS bigint) AS "count" FROM "pganon_data"."r0_values1" AS "t";

-- publish.publish: views, grants and ledger in one transaction
-- [beta_primacy, kagg, js_reduce]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_reference" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_audit" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_prior" SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA
"pganon_private"; CREATE OR REPLACE VIEW "published"."visits" AS SELECT "c"."class_id" AS
"class_id", "c"."age" AS "age", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS
"disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id"; CREATE OR REPLACE VIEW
"published"."visits_flat" AS SELECT "c"."class_id" AS "class_id", CAST((LOWER("c"."age")) AS
integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS "age_high", ARRAY_TO_STRING("c"."zip",
' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM
"pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" =
"r"."class_id";

-- publish.publish: views, grants and ledger in one transaction
-- [kinc]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_shares" SET
SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER
TABLE "pganon_stage"."r0_reference" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_audit" SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_prior" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE
VIEW "published"."visits" AS SELECT "c"."class_id" AS "class_id", "c"."age" AS "age", "c"."zip" AS
"zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost" AS "cost" FROM
"pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON "c"."class_id" =
"r"."class_id"; CREATE OR REPLACE VIEW "published"."visits_flat" AS SELECT "c"."class_id" AS
"class_id", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS integer) AS
"age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null", "r"."disease"
AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id"; CREATE OR REPLACE VIEW
"published"."visits_reference" AS SELECT "s"."disease", "s"."share" FROM "pganon_data"."r0_shares"
AS "s";

-- publish.publish: views, grants and ledger in one transaction
-- [kinc_mic, kagg_mic]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_reference" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_audit" SET SCHEMA "pganon_private"; ALTER TABLE
"pganon_stage"."r0_prior" SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA
"pganon_private"; CREATE OR REPLACE VIEW "published"."visits" AS SELECT "c"."class_id" AS
"class_id", "c"."age" AS "age", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS
"disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";

-- publish.publish: views, grants and ledger in one transaction
-- [qs_greedy, qs_efficient]
ALTER TABLE "pganon_stage"."r0_clusters" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_members" SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_reference"
SET SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE
VIEW "published"."visits" AS SELECT "c"."cluster_no", "c"."age", "c"."zip", "c"."cost", "c"."size"
FROM "pganon_data"."r0_clusters" AS "c"; CREATE OR REPLACE VIEW "published"."visits_expanded" AS
SELECT "c"."cluster_no", CAST("u0"."v" AS integer) AS "age", CAST("u1"."v" AS text) AS "zip" FROM
"pganon_data"."r0_clusters" AS "c" CROSS JOIN UNNEST("c"."age") AS "u0"("v") CROSS JOIN
UNNEST("c"."zip") AS "u1"("v");

-- publish.publish: views, grants and ledger in one transaction
-- [danonyir]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE
VIEW "published"."visits" AS SELECT "c"."class_id" AS "class_id", "r"."individual_no" AS
"individual_no", "c"."age" AS "age", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."disease"
AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id"; CREATE OR REPLACE VIEW
"published"."visits_flat" AS SELECT "c"."class_id" AS "class_id", "r"."individual_no" AS
"individual_no", CAST((LOWER("c"."age")) AS integer) AS "age_low", CAST((UPPER("c"."age")) AS
integer) AS "age_high", ARRAY_TO_STRING("c"."zip", ' | ') AS "zip", "c"."zip_null" AS "zip_null",
"r"."disease" AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id";

-- publish.publish: views, grants and ledger in one transaction
-- [geneir]
ALTER TABLE "pganon_stage"."r0_classes" SET SCHEMA "pganon_data"; ALTER TABLE
"pganon_stage"."r0_records" SET SCHEMA "pganon_data"; ALTER TABLE "pganon_stage"."r0_members" SET
SCHEMA "pganon_private"; ALTER TABLE "pganon_stage"."r0_histogram" SET SCHEMA "pganon_private";
ALTER TABLE "pganon_stage"."r0_remembered_groups" SET SCHEMA "pganon_private"; CREATE OR REPLACE
VIEW "published"."visits" AS SELECT "c"."class_id" AS "class_id", "r"."individual_no" AS
"individual_no", "c"."age" AS "age", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."disease"
AS "disease", "r"."cost" AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN
"pganon_data"."r0_classes" AS "c" ON "c"."class_id" = "r"."class_id"; CREATE OR REPLACE VIEW
"published"."visits_flat" AS SELECT "c"."class_id" AS "class_id", "r"."individual_no" AS
"individual_no", CAST((CEIL(LOWER("c"."age"))) AS bigint) AS "age_low", CAST((CASE WHEN
UPPER_INC("c"."age") THEN FLOOR(UPPER("c"."age")) ELSE CEIL(UPPER("c"."age")) - 1 END) AS bigint) AS
"age_high", "c"."zip" AS "zip", "c"."zip_null" AS "zip_null", "r"."disease" AS "disease", "r"."cost"
AS "cost" FROM "pganon_data"."r0_records" AS "r" JOIN "pganon_data"."r0_classes" AS "c" ON
"c"."class_id" = "r"."class_id";
