-- verify.aligned_4: aligned
-- [lgb_ncp]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"u".* FROM (SELECT 1 AS "number" FROM "pganon_stage"."r0_records" AS "r" WHERE FALSE) AS "u") AS
"o") AS "b";

-- verify.alike0: records in groups in which all have one value of zip
-- [local_generalization]
SELECT CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."kinds" = 1) / SUM("g"."n"), 0) AS DOUBLE
PRECISION) AS "share", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "counted" FROM (SELECT COUNT(*)
AS "kinds", SUM("h"."n") AS "n", "h"."group_id" FROM (SELECT "r"."group_id", COALESCE('=' ||
CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '') AS "value", COUNT(*) AS "n" FROM
"pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_values0" AS "t" ON "t"."zip_bucket" =
"r"."zip_bucket" GROUP BY 1, 2) AS "h" GROUP BY "h"."group_id") AS "g";

-- verify.alike1: records in groups in which all have one value of disease
-- [local_generalization]
SELECT CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."kinds" = 1) / SUM("g"."n"), 0) AS DOUBLE
PRECISION) AS "share", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "counted" FROM (SELECT COUNT(*)
AS "kinds", SUM("h"."n") AS "n", "h"."group_id" FROM (SELECT "r"."group_id", COALESCE('=' ||
CAST((CAST("t"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value", COUNT(*) AS "n" FROM
"pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_values1" AS "t" ON "t"."disease_bucket" =
"r"."disease_bucket" GROUP BY 1, 2) AS "h" GROUP BY "h"."group_id") AS "g";

-- verify.anatomy_l_diversity_1: anatomy_l_diversity on disease
-- [anatomy]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) /
CAST(MAX("g"."n") AS DOUBLE PRECISION) AS "measure", "g"."group_id" FROM (SELECT "h"."value",
"h"."n", "h"."group_id" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value",
"h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS
"n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0",
"t"."count" AS "n" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."disease" AS
TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY
"g"."group_id") AS "groups";

-- verify.attacked: records that are attacked, or teach
-- [lgb_mdp]
CREATE TABLE pganon_work.r0_attacked AS SELECT "r".* FROM "pganon_work"."r0_local_grouped" AS "r"
WHERE ("r"."b0" <= 25000 AND "r"."b0" IN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."zip_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values0" AS "t" WHERE
"t"."zip_bucket" <= 25000 GROUP BY "t"."zip_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000)) OR ("r"."b1" <= 25000 AND "r"."b1" IN (SELECT "a"."number" FROM (SELECT
"z"."number", SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."disease_bucket" AS
"number", SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values1" AS "t"
WHERE "t"."disease_bucket" <= 25000 GROUP BY "t"."disease_bucket") AS "z" WHERE "z"."n" <= 250000)
AS "a" WHERE "a"."n" <= 250000)) OR ("r"."group_id" <= 25000 AND "r"."group_id" IN (SELECT
"a"."number" FROM (SELECT "z"."number", SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM
(SELECT "g"."group_id" AS "number", "e"."n" FROM "pganon_stage"."r0_groups" AS "g" JOIN
"pganon_work"."r0_extents" AS "e" ON "e"."class_id" = "g"."group_id" WHERE "g"."zip_form" = 'g' AND
"g"."group_id" <= 25000) AS "z") AS "a" WHERE "a"."n" <= 50000));

-- verify.attacked: records that are attacked, or teach
-- [lgb_ncp]
CREATE TABLE pganon_work.r0_attacked AS SELECT "r".* FROM "pganon_work"."r0_local_grouped" AS "r"
WHERE ("r"."b0" <= 25000 AND "r"."b0" IN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."zip_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values0" AS "t" WHERE
"t"."zip_bucket" <= 25000 GROUP BY "t"."zip_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000)) OR ("r"."b1" <= 25000 AND "r"."b1" IN (SELECT "a"."number" FROM (SELECT
"z"."number", SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."drug_bucket" AS
"number", SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values1" AS "t"
WHERE "t"."drug_bucket" <= 25000 GROUP BY "t"."drug_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a"
WHERE "a"."n" <= 250000)) OR ("r"."group_id" <= 25000 AND "r"."group_id" IN (SELECT "a"."number"
FROM (SELECT "z"."number", SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT
"g"."group_id" AS "number", "e"."n" FROM "pganon_stage"."r0_groups" AS "g" JOIN
"pganon_work"."r0_extents" AS "e" ON "e"."class_id" = "g"."group_id" WHERE "g"."zip_form" = 'g' AND
"g"."group_id" <= 25000) AS "z") AS "a" WHERE "a"."n" <= 50000));

-- verify.attacked: records that are attacked, or teach
-- [local_bucketization]
CREATE TABLE pganon_work.r0_attacked AS SELECT "r".* FROM "pganon_work"."r0_local_grouped" AS "r"
WHERE ("r"."b0" <= 50000 AND "r"."b0" IN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."zip_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values0" AS "t" WHERE
"t"."zip_bucket" <= 50000 GROUP BY "t"."zip_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000)) OR ("r"."b1" <= 25000 AND "r"."b1" IN (SELECT "a"."number" FROM (SELECT
"z"."number", SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."disease_bucket" AS
"number", SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values1" AS "t"
WHERE "t"."disease_bucket" <= 25000 GROUP BY "t"."disease_bucket") AS "z" WHERE "z"."n" <= 250000)
AS "a" WHERE "a"."n" <= 250000)) OR ("r"."group_id" <= 50000 AND "r"."group_id" IN (SELECT
"a"."number" FROM (SELECT "z"."number", SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM
(SELECT "g"."group_id" AS "number", "e"."n" FROM "pganon_stage"."r0_groups" AS "g" JOIN
"pganon_work"."r0_extents" AS "e" ON "e"."class_id" = "g"."group_id" WHERE "g"."zip_form" = 'g' AND
"g"."group_id" <= 50000) AS "z") AS "a" WHERE "a"."n" <= 50000));

-- verify.audit_4: audit
-- [beta_primacy, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT (SELECT COUNT(*) FROM (SELECT
"r"."class_id", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id") AS
"c" FULL JOIN (SELECT "a"."class_id", SUM("a"."n") AS "n", COUNT(DISTINCT "a"."cluster") AS
"clusters" FROM "pganon_stage"."r0_audit" AS "a" GROUP BY "a"."class_id") AS "h" ON "h"."class_id" =
"c"."class_id" WHERE "c"."n" IS DISTINCT FROM "h"."n" OR "h"."clusters" IS DISTINCT FROM 1) +
(SELECT COUNT(*) FROM "pganon_stage"."r0_audit" AS "a" LEFT JOIN "pganon_stage"."r0_prior" AS "p" ON
"p"."prior" = "a"."prior" WHERE "p"."prior" IS NULL) + (SELECT COUNT(*) FROM (SELECT "p"."prior"
FROM "pganon_stage"."r0_prior" AS "p" GROUP BY "p"."prior" HAVING COUNT(*) > 1) AS "twice") +
(SELECT COUNT(*) FROM "pganon_stage"."r0_prior" AS "p" WHERE NOT (SELECT ABS(SUM("x"."p") - 1) <=
0.000001 AND MIN("x"."p") >= 0 FROM UNNEST("p"."probabilities") AS "x"("p")) IS TRUE) AS "measured")
AS "b";

-- verify.audit_5: audit
-- [kinc]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT (SELECT COUNT(*) FROM (SELECT
"r"."class_id", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id") AS
"c" FULL JOIN (SELECT "a"."class_id", SUM("a"."n") AS "n", COUNT(DISTINCT "a"."cluster") AS
"clusters" FROM "pganon_stage"."r0_audit" AS "a" GROUP BY "a"."class_id") AS "h" ON "h"."class_id" =
"c"."class_id" WHERE "c"."n" IS DISTINCT FROM "h"."n" OR "h"."clusters" IS DISTINCT FROM 1) +
(SELECT COUNT(*) FROM "pganon_stage"."r0_audit" AS "a" LEFT JOIN "pganon_stage"."r0_prior" AS "p" ON
"p"."prior" = "a"."prior" WHERE "p"."prior" IS NULL) + (SELECT COUNT(*) FROM (SELECT "p"."prior"
FROM "pganon_stage"."r0_prior" AS "p" GROUP BY "p"."prior" HAVING COUNT(*) > 1) AS "twice") +
(SELECT COUNT(*) FROM "pganon_stage"."r0_prior" AS "p" WHERE NOT (SELECT ABS(SUM("x"."p") - 1) <=
0.000001 AND MIN("x"."p") >= 0 FROM UNNEST("p"."probabilities") AS "x"("p")) IS TRUE) AS "measured")
AS "b";

-- verify.background_knowledge_5: background_knowledge
-- [beta_primacy, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 0.800000001)) AS "failing",
MAX("groups"."measure") AS "measured" FROM (WITH "p" AS MATERIALIZED (SELECT "p"."cluster",
"p"."prior", "p"."probabilities", (SELECT -COALESCE(SUM("x"."p" * LN("x"."p")) / LN(CAST(2 AS DOUBLE
PRECISION)), 0) FROM UNNEST("p"."probabilities") AS "x"("p") WHERE "x"."p" > 0) AS "entropy" FROM
(SELECT "a"."cluster", "a"."prior", "p"."probabilities" FROM (SELECT "x"."cluster", "x"."prior" FROM
"pganon_stage"."r0_audit" AS "x" GROUP BY "x"."cluster", "x"."prior") AS "a" JOIN
"pganon_stage"."r0_prior" AS "p" ON "p"."prior" = "a"."prior") AS "p"), "k0" AS MATERIALIZED (SELECT
"o".*, SQRT((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)),
0) - ("o"."entropy" + "c"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM
UNNEST("o"."probabilities", "c"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS
"r0" FROM "p" AS "o" JOIN (SELECT "m"."cluster", "m"."probabilities", (SELECT -COALESCE(SUM("x"."p"
* LN("x"."p")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) FROM UNNEST("m"."probabilities") AS "x"("p")
WHERE "x"."p" > 0) AS "entropy" FROM (SELECT "x"."cluster", ARRAY_AGG("x"."share" ORDER BY
"x"."place") AS "probabilities" FROM (SELECT "p"."cluster", "u"."place", AVG("u"."share") AS "share"
FROM "p" CROSS JOIN LATERAL UNNEST("p"."probabilities") WITH ORDINALITY AS "u"("share", "place")
GROUP BY "p"."cluster", "u"."place") AS "x" GROUP BY "x"."cluster") AS "m") AS "c" ON "c"."cluster"
= "o"."cluster"), "k1" AS MATERIALIZED (SELECT "o".*, SQRT((SELECT GREATEST(-COALESCE(SUM("x"."m" *
LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("o"."entropy" + "c"."entropy") / 2, 0) FROM
(SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM UNNEST("o"."probabilities", "c"."probabilities") AS
"u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS "r1" FROM "k0" AS "o" JOIN (SELECT DISTINCT ON
("y"."cluster") "y".* FROM "k0" AS "y" ORDER BY "y"."cluster", "y"."r0" DESC NULLS LAST) AS "c" ON
"c"."cluster" = "o"."cluster"), "k2" AS MATERIALIZED (SELECT "o".*, SQRT((SELECT
GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("o"."entropy"
+ "c"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM
UNNEST("o"."probabilities", "c"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS
"r2" FROM "k1" AS "o" JOIN (SELECT DISTINCT ON ("y"."cluster") "y".* FROM "k1" AS "y" ORDER BY
"y"."cluster", "y"."r1" DESC NULLS LAST) AS "c" ON "c"."cluster" = "o"."cluster"), "l" AS
MATERIALIZED (SELECT "k2"."cluster", MAX(GREATEST("k2"."r1", "k2"."r2")) AS "r" FROM "k2" GROUP BY
1) SELECT "l"."cluster", GREATEST("l"."r" * "l"."r", COALESCE("w"."d", 0)) AS "measure" FROM "l"
LEFT JOIN (SELECT "l"."cluster", MAX((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) /
LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("a"."entropy" + "b"."entropy") / 2, 0) FROM (SELECT ("u"."p"
+ "u"."q") / 2 AS "m" FROM UNNEST("a"."probabilities", "b"."probabilities") AS "u"("p", "q")) AS "x"
WHERE "x"."m" > 0)) AS "d" FROM "l" JOIN "k2" AS "a" ON "a"."cluster" = "l"."cluster" JOIN "k2" AS
"b" ON "b"."cluster" = "l"."cluster" WHERE ("a"."r0", "a"."prior") > ("b"."r0", "b"."prior") AND 2 *
"a"."r0" >= "l"."r" - 1e-09 AND LEAST("a"."r0" + "b"."r0", "a"."r1" + "b"."r1", "a"."r2" + "b"."r2")
>= "l"."r" - 1e-09 GROUP BY "l"."cluster") AS "w" ON "w"."cluster" = "l"."cluster") AS "groups";

-- verify.background_knowledge_6: background_knowledge
-- [kinc]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 0.800000001)) AS "failing",
MAX("groups"."measure") AS "measured" FROM (WITH "p" AS MATERIALIZED (SELECT "p"."cluster",
"p"."prior", "p"."probabilities", (SELECT -COALESCE(SUM("x"."p" * LN("x"."p")) / LN(CAST(2 AS DOUBLE
PRECISION)), 0) FROM UNNEST("p"."probabilities") AS "x"("p") WHERE "x"."p" > 0) AS "entropy" FROM
(SELECT "a"."cluster", "a"."prior", "p"."probabilities" FROM (SELECT "x"."cluster", "x"."prior" FROM
"pganon_stage"."r0_audit" AS "x" GROUP BY "x"."cluster", "x"."prior") AS "a" JOIN
"pganon_stage"."r0_prior" AS "p" ON "p"."prior" = "a"."prior") AS "p"), "k0" AS MATERIALIZED (SELECT
"o".*, SQRT((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)),
0) - ("o"."entropy" + "c"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM
UNNEST("o"."probabilities", "c"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS
"r0" FROM "p" AS "o" JOIN (SELECT "m"."cluster", "m"."probabilities", (SELECT -COALESCE(SUM("x"."p"
* LN("x"."p")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) FROM UNNEST("m"."probabilities") AS "x"("p")
WHERE "x"."p" > 0) AS "entropy" FROM (SELECT "x"."cluster", ARRAY_AGG("x"."share" ORDER BY
"x"."place") AS "probabilities" FROM (SELECT "p"."cluster", "u"."place", AVG("u"."share") AS "share"
FROM "p" CROSS JOIN LATERAL UNNEST("p"."probabilities") WITH ORDINALITY AS "u"("share", "place")
GROUP BY "p"."cluster", "u"."place") AS "x" GROUP BY "x"."cluster") AS "m") AS "c" ON "c"."cluster"
= "o"."cluster"), "k1" AS MATERIALIZED (SELECT "o".*, SQRT((SELECT GREATEST(-COALESCE(SUM("x"."m" *
LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("o"."entropy" + "c"."entropy") / 2, 0) FROM
(SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM UNNEST("o"."probabilities", "c"."probabilities") AS
"u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS "r1" FROM "k0" AS "o" JOIN (SELECT DISTINCT ON
("y"."cluster") "y".* FROM "k0" AS "y" ORDER BY "y"."cluster", "y"."r0" DESC NULLS LAST) AS "c" ON
"c"."cluster" = "o"."cluster"), "k2" AS MATERIALIZED (SELECT "o".*, SQRT((SELECT
GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) / LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("o"."entropy"
+ "c"."entropy") / 2, 0) FROM (SELECT ("u"."p" + "u"."q") / 2 AS "m" FROM
UNNEST("o"."probabilities", "c"."probabilities") AS "u"("p", "q")) AS "x" WHERE "x"."m" > 0)) AS
"r2" FROM "k1" AS "o" JOIN (SELECT DISTINCT ON ("y"."cluster") "y".* FROM "k1" AS "y" ORDER BY
"y"."cluster", "y"."r1" DESC NULLS LAST) AS "c" ON "c"."cluster" = "o"."cluster"), "l" AS
MATERIALIZED (SELECT "k2"."cluster", MAX(GREATEST("k2"."r1", "k2"."r2")) AS "r" FROM "k2" GROUP BY
1) SELECT "l"."cluster", GREATEST("l"."r" * "l"."r", COALESCE("w"."d", 0)) AS "measure" FROM "l"
LEFT JOIN (SELECT "l"."cluster", MAX((SELECT GREATEST(-COALESCE(SUM("x"."m" * LN("x"."m")) /
LN(CAST(2 AS DOUBLE PRECISION)), 0) - ("a"."entropy" + "b"."entropy") / 2, 0) FROM (SELECT ("u"."p"
+ "u"."q") / 2 AS "m" FROM UNNEST("a"."probabilities", "b"."probabilities") AS "u"("p", "q")) AS "x"
WHERE "x"."m" > 0)) AS "d" FROM "l" JOIN "k2" AS "a" ON "a"."cluster" = "l"."cluster" JOIN "k2" AS
"b" ON "b"."cluster" = "l"."cluster" WHERE ("a"."r0", "a"."prior") > ("b"."r0", "b"."prior") AND 2 *
"a"."r0" >= "l"."r" - 1e-09 AND LEAST("a"."r0" + "b"."r0", "a"."r1" + "b"."r1", "a"."r2" + "b"."r2")
>= "l"."r" - 1e-09 GROUP BY "l"."cluster") AS "w" ON "w"."cluster" = "l"."cluster") AS "groups";

-- verify.balance: every record is released once or suppressed
-- [one_dimensional, mondrian, full_domain]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."combination") - COUNT(DISTINCT "t"."combination") + GREATEST(COUNT(*) -
COUNT("t"."combination") - 1, 0) AS "repeated" FROM "pganon_work"."r0_grouped_classes" AS "t" UNION
ALL SELECT COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) -
COUNT("t"."member") - 1, 0) AS "repeated" FROM (SELECT "t".* FROM "pganon_stage"."r0_members" AS "t"
WHERE "t"."marks" IS NOT NULL) AS "t") AS "u") AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT
COUNT(*) AS "published" FROM "pganon_stage"."r0_records" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [anatomy]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") -
1, 0) AS "repeated" FROM "pganon_work"."r0_numbers_b0" AS "t" UNION ALL SELECT COUNT("t"."code") -
COUNT(DISTINCT "t"."code") + GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_dict0" AS "t" UNION ALL SELECT COUNT("t"."code") - COUNT(DISTINCT "t"."code") +
GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated" FROM "pganon_work"."r0_dict1" AS "t"
UNION ALL SELECT CAST(COALESCE(SUM("k"."more"), 0) AS BIGINT) AS "repeated" FROM (SELECT COUNT(*) -
1 AS "more" FROM (SELECT "t"."piece", "t"."value" FROM "pganon_work"."r0_starts" AS "t" ORDER BY
"t"."piece", "t"."value") AS "t" GROUP BY "t"."piece", "t"."value" HAVING COUNT(*) > 1) AS "k" UNION
ALL SELECT COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) -
COUNT("t"."member") - 1, 0) AS "repeated" FROM (SELECT "t".* FROM "pganon_stage"."r0_members" AS "t"
WHERE "t"."marks" IS NOT NULL) AS "t") AS "u") AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT
COUNT(*) AS "published" FROM "pganon_stage"."r0_qit" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [slicing]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") -
1, 0) AS "repeated" FROM "pganon_work"."r0_numbers_b0" AS "t" UNION ALL SELECT COUNT("t"."code") -
COUNT(DISTINCT "t"."code") + GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_dict0" AS "t" UNION ALL SELECT COUNT("t"."code") - COUNT(DISTINCT "t"."code") +
GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated" FROM "pganon_work"."r0_dict1" AS "t"
UNION ALL SELECT COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid")
- 1, 0) AS "repeated" FROM "pganon_work"."r0_grouped" AS "t" UNION ALL SELECT COUNT("t"."member") -
COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0) AS "repeated" FROM
(SELECT "t".* FROM "pganon_stage"."r0_members" AS "t" WHERE "t"."marks" IS NOT NULL) AS "t") AS "u")
AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT CAST(COALESCE(SUM("r"."count"), 0) AS BIGINT) AS
"published" FROM "pganon_stage"."r0_qit" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [slamsa, msb]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") -
1, 0) AS "repeated" FROM "pganon_work"."r0_numbers_b0" AS "t" UNION ALL SELECT COUNT("t"."code") -
COUNT(DISTINCT "t"."code") + GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_dict0" AS "t" UNION ALL SELECT COUNT("t"."code") - COUNT(DISTINCT "t"."code") +
GREATEST(COUNT(*) - COUNT("t"."code") - 1, 0) AS "repeated" FROM "pganon_work"."r0_dict1" AS "t"
UNION ALL SELECT COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid")
- 1, 0) AS "repeated" FROM "pganon_work"."r0_grouped" AS "t" UNION ALL SELECT COUNT("t"."member") -
COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0) AS "repeated" FROM
(SELECT "t".* FROM "pganon_stage"."r0_members" AS "t" WHERE "t"."marks" IS NOT NULL) AS "t") AS "u")
AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT COUNT(*) AS "published" FROM
"pganon_stage"."r0_qit" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [sloms]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") -
1, 0) AS "repeated" FROM "pganon_work"."r0_numbers_b0" AS "t" UNION ALL SELECT COUNT("t"."gid") -
COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_numbers_b1" AS "t" UNION ALL SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") +
GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM "pganon_work"."r0_numbers_b2" AS "t"
UNION ALL SELECT COUNT("t"."class_id") - COUNT(DISTINCT "t"."class_id") + GREATEST(COUNT(*) -
COUNT("t"."class_id") - 1, 0) AS "repeated" FROM "pganon_work"."r0_generalized" AS "t" UNION ALL
SELECT COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid") - 1, 0)
AS "repeated" FROM "pganon_work"."r0_grouped" AS "t" UNION ALL SELECT COUNT("t"."member") -
COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0) AS "repeated" FROM
(SELECT "t".* FROM "pganon_stage"."r0_members" AS "t" WHERE "t"."marks" IS NOT NULL) AS "t") AS "u")
AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT COUNT(*) AS "published" FROM
"pganon_stage"."r0_qit" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [lgb_mdp, local_bucketization, local_generalization]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) -
COUNT("t"."member") - 1, 0) AS "repeated" FROM (SELECT "t".* FROM "pganon_stage"."r0_members" AS "t"
WHERE "t"."marks" IS NOT NULL) AS "t" UNION ALL SELECT COUNT("t"."class_id") - COUNT(DISTINCT
"t"."class_id") + GREATEST(COUNT(*) - COUNT("t"."class_id") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_generalized" AS "t" UNION ALL SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid")
+ GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_numbers_group_id" AS "t" UNION ALL SELECT COUNT("t"."gid") - COUNT(DISTINCT
"t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_numbers_b0" AS "t" UNION ALL SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") +
GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM "pganon_work"."r0_numbers_b1" AS
"t") AS "u") AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT COUNT(*) AS "published" FROM
"pganon_stage"."r0_records" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [lgb_ncp]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) -
COUNT("t"."member") - 1, 0) AS "repeated" FROM (SELECT "t".* FROM "pganon_stage"."r0_members" AS "t"
WHERE "t"."marks" IS NOT NULL) AS "t" UNION ALL SELECT COUNT("t"."class_id") - COUNT(DISTINCT
"t"."class_id") + GREATEST(COUNT(*) - COUNT("t"."class_id") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_generalized" AS "t" UNION ALL SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid")
+ GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_numbers_group_id" AS "t" UNION ALL SELECT COUNT("t"."gid") - COUNT(DISTINCT
"t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_numbers_b0" AS "t") AS "u") AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT
COUNT(*) AS "published" FROM "pganon_stage"."r0_records" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid") -
1, 0) AS "repeated" FROM "pganon_work"."r0_grouped_classes" AS "t" UNION ALL SELECT
COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0)
AS "repeated" FROM (SELECT "t".* FROM "pganon_stage"."r0_members" AS "t" WHERE "t"."marks" IS NOT
NULL) AS "t") AS "u") AS "m") AS BIGINT) AS "duplicate_keys" FROM (SELECT COUNT(*) AS "published"
FROM "pganon_stage"."r0_records" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [qs_greedy, qs_efficient]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT 1 AS "repeated" FROM "pganon_work"."r0_cells" AS "c" FULL JOIN (SELECT "a"."cell",
SUM("a"."n") AS "n" FROM "pganon_work"."r0_assigned" AS "a" GROUP BY "a"."cell") AS "x" ON
"x"."cell" = "c"."cell" WHERE "c"."w" IS DISTINCT FROM "x"."n" UNION ALL SELECT COUNT("t"."rid") -
COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_cluster_records" AS "t" UNION ALL SELECT COUNT("t"."cell") - COUNT(DISTINCT
"t"."cell") + GREATEST(COUNT(*) - COUNT("t"."cell") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_cells" AS "t" UNION ALL SELECT CAST(COALESCE(SUM("k"."more"), 0) AS BIGINT) AS
"repeated" FROM (SELECT COUNT(*) - 1 AS "more" FROM (SELECT "t"."c0", "t"."c1" FROM
"pganon_work"."r0_cells" AS "t" ORDER BY "t"."c0", "t"."c1") AS "t" GROUP BY "t"."c0", "t"."c1"
HAVING COUNT(*) > 1) AS "k" UNION ALL SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") +
GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0) AS "repeated" FROM
"pganon_work"."r0_numbers_cluster_no" AS "t" UNION ALL SELECT COUNT("t"."member") - COUNT(DISTINCT
"t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0) AS "repeated" FROM (SELECT "t".*
FROM "pganon_stage"."r0_members" AS "t" WHERE "t"."marks" IS NOT NULL) AS "t") AS "u") AS "m") AS
BIGINT) AS "duplicate_keys" FROM (SELECT CAST(COALESCE(SUM("r"."size"), 0) AS BIGINT) AS "published"
FROM "pganon_stage"."r0_clusters" AS "r") AS "r";

-- verify.balance: every record is released once or suppressed
-- [danonyir, geneir]
SELECT "r"."published", 40 - 1 - "r"."published" AS "unaccounted", (SELECT COUNT(*) FROM
"pganon_work"."r0_coded" AS "c") AS "encoded", CAST((SELECT SUM("m"."repeated") FROM (SELECT "u".*
FROM (SELECT COUNT("t"."rid") - COUNT(DISTINCT "t"."rid") + GREATEST(COUNT(*) - COUNT("t"."rid") -
1, 0) AS "repeated" FROM "pganon_work"."r0_grouped_classes" AS "t" UNION ALL SELECT
COUNT("t"."member") - COUNT(DISTINCT "t"."member") + GREATEST(COUNT(*) - COUNT("t"."member") - 1, 0)
AS "repeated" FROM (SELECT DISTINCT "t"."member", "t"."class_id" FROM (SELECT "t".* FROM
"pganon_stage"."r0_members" AS "t" WHERE "t"."marks" IS NOT NULL) AS "t") AS "t" UNION ALL SELECT
COUNT("t"."individual") - COUNT(DISTINCT "t"."individual") + GREATEST(COUNT(*) -
COUNT("t"."individual") - 1, 0) AS "repeated" FROM "pganon_work"."r0_individuals" AS "t" UNION ALL
SELECT COUNT("t"."gid") - COUNT(DISTINCT "t"."gid") + GREATEST(COUNT(*) - COUNT("t"."gid") - 1, 0)
AS "repeated" FROM "pganon_work"."r0_numbers_individual_no" AS "t") AS "u") AS "m") AS BIGINT) AS
"duplicate_keys" FROM (SELECT COUNT(*) AS "published" FROM "pganon_stage"."r0_records" AS "r") AS
"r";

-- verify.beta_likeness_2: beta_likeness on disease against the source distribution
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 3.000000000003)) AS "failing",
MAX("groups"."measure") AS "measured" FROM (SELECT CASE WHEN BOOL_AND(COALESCE(CAST("g"."n" AS
DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION)) - 1
<= 1e-12 - LN(NULLIF("g"."share", 0))) THEN GREATEST(MAX(COALESCE(CAST("g"."n" AS DOUBLE PRECISION)
/ "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION))) - 1, 0) ELSE
CAST('Infinity' AS DOUBLE PRECISION) END AS "measure", "g"."class_id" FROM (SELECT "h"."value",
"h"."n", "h"."class_id", SUM("h"."n") OVER (PARTITION BY "h"."class_id") AS "total",
COALESCE("r"."share", 0) AS "share", COALESCE("r"."position", 0) AS "position" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "class_id" FROM
(SELECT "r"."by0", "r"."key0", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0",
CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM "pganon_stage"."r0_records" AS "t" ORDER BY
"t"."class_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS
"h") AS "h" LEFT JOIN (SELECT "x"."value", "x"."position", CAST("x"."n" AS DOUBLE PRECISION) /
SUM("x"."n") OVER () AS "share" FROM (SELECT "f"."value", "f"."position", "f"."n" FROM
"pganon_stage"."r0_reference" AS "f" WHERE "f"."attribute" = 0) AS "x") AS "r" ON "r"."value" =
"h"."value") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.beta_likeness_3: beta_likeness on disease against the published distribution
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" <= 3.000000000003)) AS "failing",
MAX("groups"."measure") AS "measured" FROM (SELECT CASE WHEN BOOL_AND(COALESCE(CAST("g"."n" AS
DOUBLE PRECISION) / "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION)) - 1
<= 1e-12 - LN(NULLIF("g"."share", 0))) THEN GREATEST(MAX(COALESCE(CAST("g"."n" AS DOUBLE PRECISION)
/ "g"."total" / NULLIF("g"."share", 0), CAST('Infinity' AS DOUBLE PRECISION))) - 1, 0) ELSE
CAST('Infinity' AS DOUBLE PRECISION) END AS "measure", "g"."class_id" FROM (SELECT "h"."value",
"h"."n", "h"."class_id", SUM("h"."n") OVER (PARTITION BY "h"."class_id") AS "total",
COALESCE("r"."share", 0) AS "share", COALESCE("r"."position", 0) AS "position" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "class_id" FROM
(SELECT "r"."by0", "r"."key0", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0",
CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM "pganon_stage"."r0_records" AS "t" ORDER BY
"t"."class_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS
"h") AS "h" LEFT JOIN (SELECT "x"."value", "x"."position", CAST("x"."n" AS DOUBLE PRECISION) /
SUM("x"."n") OVER () AS "share" FROM (SELECT "f"."value", "f"."position", COALESCE("p"."n", 0) AS
"n" FROM (SELECT "f"."value", "f"."position", "f"."n" FROM "pganon_stage"."r0_reference" AS "f"
WHERE "f"."attribute" = 0) AS "f" LEFT JOIN (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '')
AS "value", "h"."n" FROM (SELECT "r"."key0", COUNT(*) AS "n" FROM (SELECT CAST("t"."disease" AS
TEXT) COLLATE "C" AS "key0" FROM "pganon_stage"."r0_records" AS "t" ORDER BY CAST("t"."disease" AS
TEXT) COLLATE "C") AS "r" GROUP BY "r"."key0") AS "h") AS "p" ON "p"."value" = "f"."value") AS "x")
AS "r" ON "r"."value" = "h"."value") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.bucket_size_6: bucket_size on zip
-- [local_bucketization]
SELECT "w"."failing", COALESCE("w"."measured", 1.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" >= 1)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT
CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."zip_bucket" FROM (SELECT "h"."value", "h"."n",
"h"."zip_bucket" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n",
"h"."by0" AS "zip_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n"
FROM (SELECT "t"."zip_bucket" AS "by0", CAST("t"."zip" AS TEXT) COLLATE "C" AS "key0", "t"."count"
AS "n" FROM "pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", CAST("t"."zip" AS TEXT)
COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY
"g"."zip_bucket") AS "groups") AS "w";

-- verify.bucket_size_7: bucket_size on zip
-- [lgb_mdp]
SELECT "w"."failing", COALESCE("w"."measured", 2.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS "measured" FROM (SELECT
CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."zip_bucket" FROM (SELECT "h"."value", "h"."n",
"h"."zip_bucket" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n",
"h"."by0" AS "zip_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n"
FROM (SELECT "t"."zip_bucket" AS "by0", CAST("t"."zip" AS TEXT) COLLATE "C" AS "key0", "t"."count"
AS "n" FROM "pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", CAST("t"."zip" AS TEXT)
COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY
"g"."zip_bucket") AS "groups") AS "w";

-- verify.buckets0: sizes of the buckets of zip
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT COUNT(*) AS "buckets", CAST(COALESCE(SUM("s"."n"), 0) AS BIGINT) AS "cells",
COALESCE(MIN("s"."n"), 0) AS "smallest", COALESCE(MAX("s"."n"), 0) AS "largest",
CAST(COALESCE(MAX("s"."most" / CAST("s"."n" AS DOUBLE PRECISION)), 0) AS DOUBLE PRECISION) AS
"share" FROM (SELECT CAST(SUM("t"."count") AS BIGINT) AS "n", MAX("t"."count") AS "most" FROM
"pganon_stage"."r0_values0" AS "t" GROUP BY "t"."zip_bucket") AS "s";

-- verify.buckets1: sizes of the buckets of disease
-- [lgb_mdp, local_bucketization, local_generalization]
SELECT COUNT(*) AS "buckets", CAST(COALESCE(SUM("s"."n"), 0) AS BIGINT) AS "cells",
COALESCE(MIN("s"."n"), 0) AS "smallest", COALESCE(MAX("s"."n"), 0) AS "largest",
CAST(COALESCE(MAX("s"."most" / CAST("s"."n" AS DOUBLE PRECISION)), 0) AS DOUBLE PRECISION) AS
"share" FROM (SELECT CAST(SUM("t"."count") AS BIGINT) AS "n", MAX("t"."count") AS "most" FROM
"pganon_stage"."r0_values1" AS "t" GROUP BY "t"."disease_bucket") AS "s";

-- verify.buckets1: sizes of the buckets of drug
-- [lgb_ncp]
SELECT COUNT(*) AS "buckets", CAST(COALESCE(SUM("s"."n"), 0) AS BIGINT) AS "cells",
COALESCE(MIN("s"."n"), 0) AS "smallest", COALESCE(MAX("s"."n"), 0) AS "largest",
CAST(COALESCE(MAX("s"."most" / CAST("s"."n" AS DOUBLE PRECISION)), 0) AS DOUBLE PRECISION) AS
"share" FROM (SELECT CAST(SUM("t"."count") AS BIGINT) AS "n", MAX("t"."count") AS "most" FROM
"pganon_stage"."r0_values1" AS "t" GROUP BY "t"."drug_bucket") AS "s";

-- verify.buckets_2: buckets on zip
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"a"."number" FROM (SELECT "c".* FROM (SELECT "r"."number", COUNT(*) AS "n", 1 AS "least" FROM
(SELECT "t"."zip_bucket" AS "number" FROM "pganon_stage"."r0_records" AS "t" ORDER BY
"t"."zip_bucket") AS "r" GROUP BY "r"."number") AS "c" WHERE "c"."number" IS NOT NULL) AS "a" FULL
JOIN (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least" FROM
(SELECT "t"."zip_bucket" AS "number", "t"."count" AS "count" FROM "pganon_stage"."r0_values0" AS "t"
ORDER BY "t"."zip_bucket") AS "r" GROUP BY "r"."number") AS "b" ON "b"."number" = "a"."number" WHERE
"a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least", "b"."least") < 1) AS "o") AS "b";

-- verify.buckets_3: buckets on disease
-- [lgb_mdp, local_bucketization, local_generalization]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"a"."number" FROM (SELECT "c".* FROM (SELECT "r"."number", COUNT(*) AS "n", 1 AS "least" FROM
(SELECT "t"."disease_bucket" AS "number" FROM "pganon_stage"."r0_records" AS "t" ORDER BY
"t"."disease_bucket") AS "r" GROUP BY "r"."number") AS "c" WHERE "c"."number" IS NOT NULL) AS "a"
FULL JOIN (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least"
FROM (SELECT "t"."disease_bucket" AS "number", "t"."count" AS "count" FROM
"pganon_stage"."r0_values1" AS "t" ORDER BY "t"."disease_bucket") AS "r" GROUP BY "r"."number") AS
"b" ON "b"."number" = "a"."number" WHERE "a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least",
"b"."least") < 1) AS "o") AS "b";

-- verify.buckets_3: buckets on drug
-- [lgb_ncp]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"a"."number" FROM (SELECT "c".* FROM (SELECT "r"."number", COUNT(*) AS "n", 1 AS "least" FROM
(SELECT "t"."drug_bucket" AS "number" FROM "pganon_stage"."r0_records" AS "t" ORDER BY
"t"."drug_bucket") AS "r" GROUP BY "r"."number") AS "c" WHERE "c"."number" IS NOT NULL) AS "a" FULL
JOIN (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least" FROM
(SELECT "t"."drug_bucket" AS "number", "t"."count" AS "count" FROM "pganon_stage"."r0_values1" AS
"t" ORDER BY "t"."drug_bucket") AS "r" GROUP BY "r"."number") AS "b" ON "b"."number" = "a"."number"
WHERE "a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least", "b"."least") < 1) AS "o") AS "b";

-- verify.candidates: combinations that exist in small clusters
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_candidates AS SELECT "u".* FROM (SELECT "u".* FROM (SELECT
"c"."cluster_no", 1 AS "attribute_set", "c"."n" AS "size", CAST(ARRAY[CARDINALITY("c"."c0")] AS
int[]) AS "counts", "l"."combinations" FROM (SELECT "c".* FROM "pganon_work"."r0_cluster_codes" AS
"c" WHERE "c"."n" <= 8) AS "c" JOIN (SELECT ARRAY_AGG(ARRAY["s"."v1"]) AS "combinations",
"s"."cluster_no" FROM (SELECT "e"."cluster_no", "p"."v1" FROM (SELECT ("u"."x" + 1) AS "x",
"u"."cluster_no" FROM (SELECT UNNEST("c"."c0") AS "x", "c"."cluster_no" FROM (SELECT "c".* FROM
"pganon_work"."r0_cluster_codes" AS "c" WHERE "c"."n" <= 8) AS "c") AS "u") AS "e" JOIN (SELECT
DISTINCT "p"."v1" FROM "pganon_work"."r0_support1" AS "p") AS "p" ON "e"."x" = "p"."v1") AS "s"
GROUP BY "s"."cluster_no" HAVING COUNT(*) <= 32) AS "l" ON "l"."cluster_no" = "c"."cluster_no" UNION
ALL SELECT "c"."cluster_no", 2 AS "attribute_set", "c"."n" AS "size",
CAST(ARRAY[CARDINALITY("c"."c1")] AS int[]) AS "counts", "l"."combinations" FROM (SELECT "c".* FROM
"pganon_work"."r0_cluster_codes" AS "c" WHERE "c"."n" <= 8) AS "c" JOIN (SELECT
ARRAY_AGG(ARRAY["s"."v1"]) AS "combinations", "s"."cluster_no" FROM (SELECT "e"."cluster_no",
"p"."v1" FROM (SELECT ("u"."x" + 42) AS "x", "u"."cluster_no" FROM (SELECT UNNEST("c"."c1") AS "x",
"c"."cluster_no" FROM (SELECT "c".* FROM "pganon_work"."r0_cluster_codes" AS "c" WHERE "c"."n" <= 8)
AS "c") AS "u") AS "e" JOIN (SELECT DISTINCT "p"."v1" FROM "pganon_work"."r0_support2" AS "p") AS
"p" ON "e"."x" = "p"."v1") AS "s" GROUP BY "s"."cluster_no" HAVING COUNT(*) <= 32) AS "l" ON
"l"."cluster_no" = "c"."cluster_no") AS "u") AS "u" ORDER BY "u"."size", "u"."cluster_no",
"u"."attribute_set" LIMIT 5000;

-- verify.combinations: combinations of every cluster and QS set
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_combinations AS SELECT "p"."cluster_no", "p"."value", "p"."n" AS
"product", "s"."n" AS "supported" FROM (SELECT "u".* FROM (SELECT 1 AS "value", (CAST(1 AS DOUBLE
PRECISION) * CARDINALITY("c"."c0")) AS "n", "c"."cluster_no" FROM "pganon_work"."r0_cluster_codes"
AS "c" UNION ALL SELECT 2 AS "value", (CAST(1 AS DOUBLE PRECISION) * CARDINALITY("c"."c1")) AS "n",
"c"."cluster_no" FROM "pganon_work"."r0_cluster_codes" AS "c") AS "u") AS "p" JOIN (SELECT "u".*
FROM (SELECT 1 AS "value", COALESCE("s"."n", 0) AS "n", "c"."cluster_no" FROM
"pganon_work"."r0_cluster_codes" AS "c" LEFT JOIN (SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS "n",
"b"."cluster_no" FROM (SELECT "e"."cluster_no", "p"."v1" FROM (SELECT ("u"."x" + 1) AS "x",
"u"."cluster_no" FROM (SELECT UNNEST("c"."c0") AS "x", "c"."cluster_no" FROM
"pganon_work"."r0_cluster_codes" AS "c") AS "u") AS "e" JOIN (SELECT DISTINCT "p"."v1" FROM
"pganon_work"."r0_support1" AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."cluster_no")
AS "s" ON "c"."cluster_no" = "s"."cluster_no" UNION ALL SELECT 2 AS "value", COALESCE("s"."n", 0) AS
"n", "c"."cluster_no" FROM "pganon_work"."r0_cluster_codes" AS "c" LEFT JOIN (SELECT CAST(COUNT(*)
AS DOUBLE PRECISION) AS "n", "b"."cluster_no" FROM (SELECT "e"."cluster_no", "p"."v1" FROM (SELECT
("u"."x" + 42) AS "x", "u"."cluster_no" FROM (SELECT UNNEST("c"."c1") AS "x", "c"."cluster_no" FROM
"pganon_work"."r0_cluster_codes" AS "c") AS "u") AS "e" JOIN (SELECT DISTINCT "p"."v1" FROM
"pganon_work"."r0_support2" AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."cluster_no")
AS "s" ON "c"."cluster_no" = "s"."cluster_no") AS "u") AS "s" ON "s"."cluster_no" = "p"."cluster_no"
AND "s"."value" = "p"."value";

-- verify.counts: combinations per QS set
-- [qs_greedy, qs_efficient]
SELECT 1 AS "counted", (SELECT CAST(MIN("c"."product") AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 1) AS "product1_least", (SELECT
CAST(AVG("c"."product") AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE
"c"."value" = 1) AS "product1_mean", (SELECT CAST(MAX("c"."product") AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 1) AS "product1_most", (SELECT
CAST((PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "c"."product")) AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 1) AS "product1_median", (SELECT
CAST(MIN("c"."supported") AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE
"c"."value" = 1) AS "supported1_least", (SELECT CAST(AVG("c"."supported") AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 1) AS "supported1_mean", (SELECT
CAST(MAX("c"."supported") AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE
"c"."value" = 1) AS "supported1_most", (SELECT CAST((PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
"c"."supported")) AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE "c"."value"
= 1) AS "supported1_median", (SELECT CAST(MIN("c"."product") AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 2) AS "product2_least", (SELECT
CAST(AVG("c"."product") AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE
"c"."value" = 2) AS "product2_mean", (SELECT CAST(MAX("c"."product") AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 2) AS "product2_most", (SELECT
CAST((PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "c"."product")) AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 2) AS "product2_median", (SELECT
CAST(MIN("c"."supported") AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE
"c"."value" = 2) AS "supported2_least", (SELECT CAST(AVG("c"."supported") AS DOUBLE PRECISION) FROM
"pganon_work"."r0_combinations" AS "c" WHERE "c"."value" = 2) AS "supported2_mean", (SELECT
CAST(MAX("c"."supported") AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE
"c"."value" = 2) AS "supported2_most", (SELECT CAST((PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
"c"."supported")) AS DOUBLE PRECISION) FROM "pganon_work"."r0_combinations" AS "c" WHERE "c"."value"
= 2) AS "supported2_median";

-- verify.degree0: how well values of disease are known from their buckets
-- [anatomy, slicing]
SELECT MIN("g"."n" / "g"."most") AS "degree", SUM("g"."n" - "g"."squares" / "g"."n") AS
"reconstruction_error" FROM (SELECT SUM("c"."n") AS "n", SUM("c"."n" * "c"."n") AS "squares",
MAX("c"."n") AS "most" FROM (SELECT "t"."group_id" AS "k0", CAST("t"."count" AS DOUBLE PRECISION) AS
"n" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id") AS "c" GROUP BY "c"."k0") AS "g";

-- verify.degree0: how well values of disease are known from their buckets
-- [slamsa, msb]
SELECT MIN("g"."n" / "g"."most") AS "degree", SUM("g"."n" - "g"."squares" / "g"."n") AS
"reconstruction_error" FROM (SELECT SUM("c"."n") AS "n", SUM("c"."n" * "c"."n") AS "squares",
MAX("c"."n") AS "most" FROM (SELECT "t"."group_id" AS "k0", CAST(SUM("t"."count") AS DOUBLE
PRECISION) AS "n" FROM "pganon_stage"."r0_st" AS "t" GROUP BY "t"."group_id", "t"."disease") AS "c"
GROUP BY "c"."k0") AS "g";

-- verify.degree0: how well values of disease are known from their buckets
-- [sloms]
SELECT MIN("g"."n" / "g"."most") AS "degree", SUM("g"."n" - "g"."squares" / "g"."n") AS
"reconstruction_error" FROM (SELECT SUM("c"."n") AS "n", SUM("c"."n" * "c"."n") AS "squares",
MAX("c"."n") AS "most" FROM (SELECT "t"."group_id" AS "k0", CAST("t"."count" AS DOUBLE PRECISION) AS
"n" FROM "pganon_stage"."r0_st1" AS "t" ORDER BY "t"."group_id") AS "c" GROUP BY "c"."k0") AS "g";

-- verify.degree1: how well values of drug are known from their buckets
-- [slamsa, msb]
SELECT MIN("g"."n" / "g"."most") AS "degree", SUM("g"."n" - "g"."squares" / "g"."n") AS
"reconstruction_error" FROM (SELECT SUM("c"."n") AS "n", SUM("c"."n" * "c"."n") AS "squares",
MAX("c"."n") AS "most" FROM (SELECT "t"."group_id" AS "k0", CAST(SUM("t"."count") AS DOUBLE
PRECISION) AS "n" FROM "pganon_stage"."r0_st" AS "t" GROUP BY "t"."group_id", "t"."drug") AS "c"
GROUP BY "c"."k0") AS "g";

-- verify.degree1: how well values of drug are known from their buckets
-- [sloms]
SELECT MIN("g"."n" / "g"."most") AS "degree", SUM("g"."n" - "g"."squares" / "g"."n") AS
"reconstruction_error" FROM (SELECT SUM("c"."n") AS "n", SUM("c"."n" * "c"."n") AS "squares",
MAX("c"."n") AS "most" FROM (SELECT "t"."group_id" AS "k0", CAST("t"."count" AS DOUBLE PRECISION) AS
"n" FROM "pganon_stage"."r0_st2" AS "t" ORDER BY "t"."group_id") AS "c" GROUP BY "c"."k0") AS "g";

-- verify.distinct_classes_1: distinct_classes
-- [full_domain]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT CAST(COALESCE(SUM("s"."more"), 0) AS
BIGINT) AS "measured" FROM (SELECT COUNT(*) - 1 AS "more" FROM "pganon_stage"."r0_classes" AS "c"
GROUP BY "c"."age", "c"."zip", "c"."zip_null") AS "s") AS "b";

-- verify.distinct_l_diversity_2: distinct_l_diversity on disease
-- [one_dimensional, mondrian]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT COUNT(*) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n",
"h"."class_id" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n",
"h"."by0" AS "class_id" FROM (SELECT "r"."by0", "r"."key0", COUNT(*) AS "n" FROM (SELECT
"t"."class_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM
"pganon_stage"."r0_records" AS "t" ORDER BY "t"."class_id", CAST("t"."disease" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.distinct_l_diversity_3: distinct_l_diversity on disease
-- [danonyir, geneir]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT COUNT(*) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n",
"h"."class_id" FROM (SELECT "r"."value", COUNT(*) AS "n", "r"."class_id" FROM (SELECT
"r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' || CAST((CAST("r"."disease" AS
TEXT) COLLATE "C") AS text), '') AS "value" FROM "pganon_stage"."r0_records" AS "r") AS "r" GROUP BY
"r"."value", "r"."class_id") AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.distinct_l_diversity_5: distinct_l_diversity on disease
-- [full_domain]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT COUNT(*) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n",
"h"."class_id" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n",
"h"."by0" AS "class_id" FROM (SELECT "r"."by0", "r"."key0", COUNT(*) AS "n" FROM (SELECT
"t"."class_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM
"pganon_stage"."r0_records" AS "t" ORDER BY "t"."class_id", CAST("t"."disease" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."class_id") AS "groups";

-- verify.distinct_values_7: distinct_values on zip
-- [local_bucketization]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
1 AS "single" FROM "pganon_stage"."r0_values0" AS "t" HAVING COUNT(DISTINCT COALESCE('=' ||
CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '')) = 1) AS "o") AS "b";

-- verify.distinct_values_8: distinct_values on zip
-- [lgb_mdp]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
1 AS "single" FROM "pganon_stage"."r0_values0" AS "t" HAVING COUNT(DISTINCT COALESCE('=' ||
CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '')) = 1) AS "o") AS "b";

-- verify.fingerprint: a keyed hash of the staged relations
-- [one_dimensional, danonyir, geneir]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records',
'pganon_stage.r0_members', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [mondrian]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records',
'pganon_stage.r0_members', 'pganon_stage.r0_cuts', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [full_domain]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records',
'pganon_stage.r0_members', 'pganon_stage.r0_levels', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [anatomy, slicing, slamsa, msb]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_qit', 'pganon_stage.r0_st',
'pganon_stage.r0_members', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [sloms]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_qit', 'pganon_stage.r0_st1',
'pganon_stage.r0_st2', 'pganon_stage.r0_members', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_groups', 'pganon_stage.r0_records',
'pganon_stage.r0_values0', 'pganon_stage.r0_values1', 'pganon_stage.r0_members',
'pganon_stage.r0_histogram', 'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS
fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [beta_primacy, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records',
'pganon_stage.r0_members', 'pganon_stage.r0_reference', 'pganon_stage.r0_audit',
'pganon_stage.r0_prior', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [kinc]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_classes', 'pganon_stage.r0_records',
'pganon_stage.r0_shares', 'pganon_stage.r0_members', 'pganon_stage.r0_reference',
'pganon_stage.r0_audit', 'pganon_stage.r0_prior', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.fingerprint: a keyed hash of the staged relations
-- [qs_greedy, qs_efficient]
SELECT pganon.fingerprint(0, ARRAY['pganon_stage.r0_clusters', 'pganon_stage.r0_members',
'pganon_stage.r0_reference', 'pganon_stage.r0_histogram',
'pganon_stage.r0_remembered_groups']::pg_catalog.regclass[]) AS fingerprint;

-- verify.forms_1: forms
-- [lgb_mdp, local_bucketization, local_generalization]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"r"."group_id" FROM "pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_groups" AS "g" ON
"g"."group_id" = "r"."group_id" WHERE FALSE OR ("g"."zip_form" IS NULL OR ("r"."zip_bucket" IS NOT
NULL) <> ("g"."zip_form" = 'b')) OR NOT "g"."zip_form" IN ('g', 'b', 'w') OR "r"."disease_bucket" IS
NULL OR ("g"."zip" IS NOT NULL AND "g"."zip_form" IS DISTINCT FROM 'g') OR ("g"."zip_null" IS NOT
NULL AND "g"."zip_form" IS DISTINCT FROM 'g')) AS "o") AS "b";

-- verify.forms_1: forms
-- [lgb_ncp]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"r"."group_id" FROM "pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_groups" AS "g" ON
"g"."group_id" = "r"."group_id" WHERE FALSE OR ("g"."zip_form" IS NULL OR ("r"."zip_bucket" IS NOT
NULL) <> ("g"."zip_form" = 'b')) OR NOT "g"."zip_form" IN ('g', 'b', 'w') OR "r"."drug_bucket" IS
NULL OR ("g"."zip" IS NOT NULL AND "g"."zip_form" IS DISTINCT FROM 'g') OR ("g"."zip_null" IS NOT
NULL AND "g"."zip_form" IS DISTINCT FROM 'g')) AS "o") AS "b";

-- verify.guesses0: values of disease inferred from the staged relations alone
-- [anatomy, slicing, slamsa, msb]
SELECT 1 AS "batches"; SELECT "r"."b0" AS "x0", "r"."c0" AS "x1", "r"."c1" AS "x2", CASE WHEN
"r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS "x3",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST("r"."v0" AS TEXT) COLLATE "C"), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x4" FROM
"pganon_work"."r0_group_records0" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "k"."group_id" AS "number",
SUM("k"."n" * GREATEST("k"."values", 5)) AS "n" FROM (SELECT "t"."group_id", SUM("t"."count") AS
"n", COUNT(*) AS "values" FROM "pganon_stage"."r0_st" AS "t" WHERE "t"."group_id" <= 50000 GROUP BY
"t"."group_id") AS "k" GROUP BY "k"."group_id") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE "a"."n"
<= 250000) AS "c" ON "c"."number" = "r"."b0" WHERE "r"."b0" <= 50000; COPY pganon_work.r0_guesses0
(learner, posterior, correct) FROM STDIN;

-- verify.guesses0: values of disease inferred from the staged relations alone
-- [sloms]
SELECT 1 AS "batches"; SELECT "r"."b1" AS "x0",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("e"."age"), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("e"."zip", "e"."zip_null"), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x2", CASE WHEN "r"."p0" IS NULL
THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS "x3",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST("r"."v0" AS TEXT) COLLATE "C"), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x4" FROM
"pganon_work"."r0_group_records0" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "k"."group_id" AS "number",
SUM("k"."n" * GREATEST("k"."values", 5)) AS "n" FROM (SELECT "t"."group_id", SUM("t"."count") AS
"n", COUNT(*) AS "values" FROM "pganon_stage"."r0_st1" AS "t" WHERE "t"."group_id" <= 50000 GROUP BY
"t"."group_id") AS "k" GROUP BY "k"."group_id") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE "a"."n"
<= 250000) AS "c" ON "c"."number" = "r"."b1" JOIN "pganon_work"."r0_generalized" AS "e" ON
"e"."class_id" = "r"."b0" WHERE "r"."b1" <= 50000; COPY pganon_work.r0_guesses0 (learner, posterior,
correct) FROM STDIN;

-- verify.guesses0: hidden values of zip inferred from buckets
-- [lgb_mdp, lgb_ncp]
SELECT 1 AS "batches"; SELECT "y"."bucket", "y"."x0", "y"."x1", "y"."value" AS "value" FROM (SELECT
"u".* FROM (SELECT "r"."b0" AS "bucket", CAST("r"."c0" AS bigint) AS "x0", CAST(CASE WHEN "r"."p0"
IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("r"."v0" AS TEXT) COLLATE "C") AS text)),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "value"
FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."zip_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values0" AS "t" WHERE
"t"."zip_bucket" <= 25000 GROUP BY "t"."zip_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000) AS "c" ON "c"."number" = "r"."b0" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" WHERE
(SUBSTRING("f"."form" FROM 1 FOR 1) = 'b')) AS "u") AS "y"; COPY pganon_work.r0_guesses0 (learner,
posterior, correct) FROM STDIN;

-- verify.guesses0: hidden values of zip inferred from buckets
-- [local_bucketization]
SELECT 1 AS "batches"; SELECT "y"."bucket", "y"."x0", "y"."x1", "y"."value" AS "value" FROM (SELECT
"u".* FROM (SELECT "r"."b0" AS "bucket", CAST("r"."c0" AS bigint) AS "x0", CAST(CASE WHEN "r"."p0"
IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("r"."v0" AS TEXT) COLLATE "C") AS text)),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "value"
FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."zip_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values0" AS "t" WHERE
"t"."zip_bucket" <= 50000 GROUP BY "t"."zip_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000) AS "c" ON "c"."number" = "r"."b0" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" WHERE
(SUBSTRING("f"."form" FROM 1 FOR 1) = 'b')) AS "u") AS "y"; COPY pganon_work.r0_guesses0 (learner,
posterior, correct) FROM STDIN;

-- verify.guesses1: values of drug inferred from the staged relations alone
-- [slamsa, msb]
SELECT 1 AS "batches"; SELECT "r"."b0" AS "x0", "r"."c0" AS "x1", "r"."c1" AS "x2", CASE WHEN
"r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS "x3",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST("r"."v1" AS TEXT) COLLATE "C"), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x4" FROM
"pganon_work"."r0_group_records0" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "k"."group_id" AS "number",
SUM("k"."n" * GREATEST("k"."values", 5)) AS "n" FROM (SELECT "t"."group_id", SUM("t"."count") AS
"n", COUNT(*) AS "values" FROM "pganon_stage"."r0_st" AS "t" WHERE "t"."group_id" <= 50000 GROUP BY
"t"."group_id") AS "k" GROUP BY "k"."group_id") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE "a"."n"
<= 250000) AS "c" ON "c"."number" = "r"."b0" WHERE "r"."b0" <= 50000; COPY pganon_work.r0_guesses1
(learner, posterior, correct) FROM STDIN;

-- verify.guesses1: values of drug inferred from the staged relations alone
-- [sloms]
SELECT 1 AS "batches"; SELECT "r"."b2" AS "x0",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("e"."age"), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("e"."zip", "e"."zip_null"), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x2", CASE WHEN "r"."p0" IS NULL
THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS "x3",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST("r"."v1" AS TEXT) COLLATE "C"), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT
"s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "x4" FROM
"pganon_work"."r0_group_records0" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "k"."group_id" AS "number",
SUM("k"."n" * GREATEST("k"."values", 5)) AS "n" FROM (SELECT "t"."group_id", SUM("t"."count") AS
"n", COUNT(*) AS "values" FROM "pganon_stage"."r0_st2" AS "t" WHERE "t"."group_id" <= 50000 GROUP BY
"t"."group_id") AS "k" GROUP BY "k"."group_id") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE "a"."n"
<= 250000) AS "c" ON "c"."number" = "r"."b2" JOIN "pganon_work"."r0_generalized" AS "e" ON
"e"."class_id" = "r"."b0" WHERE "r"."b2" <= 50000; COPY pganon_work.r0_guesses1 (learner, posterior,
correct) FROM STDIN;

-- verify.guesses1: hidden values of disease inferred from buckets
-- [lgb_mdp, local_bucketization]
SELECT 1 AS "batches"; SELECT "y"."bucket", "y"."x0", "y"."x1", "y"."x2", "y"."value" AS "value"
FROM (SELECT "u".* FROM (SELECT "r"."b1" AS "bucket", CAST("r"."c0" AS bigint) AS "x0", CAST(CASE
WHEN (SUBSTRING("f"."form" FROM 1 FOR 1) = 'g') THEN "r"."c1" ELSE (-1) END AS bigint) AS "x1",
CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x2",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("r"."v1" AS TEXT) COLLATE "C") AS text)),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "value"
FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."disease_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values1" AS "t" WHERE
"t"."disease_bucket" <= 25000 GROUP BY "t"."disease_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a"
WHERE "a"."n" <= 250000) AS "c" ON "c"."number" = "r"."b1" JOIN (SELECT DISTINCT "d"."display",
"d"."form" FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" WHERE
TRUE) AS "u") AS "y"; COPY pganon_work.r0_guesses1 (learner, posterior, correct) FROM STDIN;

-- verify.guesses1: hidden values of drug inferred from buckets
-- [lgb_ncp]
SELECT 1 AS "batches"; SELECT "y"."bucket", "y"."x0", "y"."x1", "y"."x2", "y"."value" AS "value"
FROM (SELECT "u".* FROM (SELECT "r"."b1" AS "bucket", CAST("r"."c0" AS bigint) AS "x0", CAST(CASE
WHEN (SUBSTRING("f"."form" FROM 1 FOR 1) = 'g') THEN "r"."c1" ELSE (-1) END AS bigint) AS "x1",
CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x2",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("r"."v1" AS TEXT) COLLATE "C") AS text)),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "value"
FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."drug_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values1" AS "t" WHERE
"t"."drug_bucket" <= 25000 GROUP BY "t"."drug_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000) AS "c" ON "c"."number" = "r"."b1" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" WHERE TRUE) AS "u")
AS "y"; COPY pganon_work.r0_guesses1 (learner, posterior, correct) FROM STDIN;

-- verify.individuals_per_class: individuals of the classes, and how well they can be told apart in
-- them
-- [danonyir, geneir]
SELECT CAST(SUM("c"."n") AS BIGINT) AS "individuals", MIN("c"."n") AS "fewest", (SELECT COUNT(*)
FROM (SELECT DISTINCT "h"."individual" FROM (SELECT "u".* FROM (SELECT "p"."individual", COUNT(*)
OVER (PARTITION BY "p"."class_id", "p"."value") AS "holders", COUNT(*) OVER (PARTITION BY
"p"."class_id", "p"."individual") + 0 AS "many" FROM (SELECT DISTINCT "r"."individual", "r"."value",
"r"."class_id" FROM (SELECT "r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' ||
CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value" FROM
"pganon_stage"."r0_records" AS "r") AS "r") AS "p") AS "u") AS "h" WHERE "h"."holders" = 1 AND
"h"."many" > 1) AS "h") AS "exposed", (SELECT MAX("m"."measure") FROM (SELECT "u".* FROM (SELECT
"g"."class_id", MAX(CAST("g"."n" AS DECIMAL) * 1.0000000000000000000000000000000000000000 /
CAST("g"."total" AS DECIMAL)) AS "measure" FROM (SELECT "h"."value", "h"."n", "t"."total",
"h"."class_id" FROM (SELECT "r"."value", COUNT(DISTINCT "r"."individual") AS "n", "r"."class_id"
FROM (SELECT "r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' ||
CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value" FROM
"pganon_stage"."r0_records" AS "r") AS "r" GROUP BY "r"."value", "r"."class_id") AS "h" JOIN (SELECT
COUNT(DISTINCT "r"."individual") AS "total", "r"."class_id" FROM (SELECT "r"."class_id",
"r"."individual_no" AS "individual", COALESCE('=' || CAST((CAST("r"."disease" AS TEXT) COLLATE "C")
AS text), '') AS "value" FROM "pganon_stage"."r0_records" AS "r") AS "r" GROUP BY "r"."class_id") AS
"t" ON ("h"."class_id" = "t"."class_id")) AS "g" GROUP BY "g"."class_id") AS "u") AS "m") AS
"highest_share", (SELECT "g"."n" FROM (SELECT MIN("g"."individuals") AS "n" FROM (SELECT COUNT(*) AS
"individuals" FROM (SELECT "r"."class_id", "r"."individual_no", COUNT(*) AS "n" FROM
"pganon_stage"."r0_records" AS "r" GROUP BY 1, 2) AS "i" GROUP BY "i"."class_id", "i"."n") AS "g")
AS "g") AS "smallest_count_group" FROM (SELECT COUNT(DISTINCT "r"."individual_no") AS "n" FROM
"pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id") AS "c";

-- verify.inferred0: how many values of disease that tells
-- [anatomy, slicing, slamsa, msb, sloms]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, GREATEST(((("l"."accuracy" + 16 / (2 * "l"."n") - 4 * SQRT("l"."accuracy" * (1 -
"l"."accuracy") / "l"."n" + 16 / (4 * POWER("l"."n", 2)))) / (1 + 16 / "l"."n")) - 0.5) / (1 - 0.5),
0) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 - CAST(0.5 AS DOUBLE PRECISION)) AS "n"
FROM (SELECT "g"."learner", COUNT(*) AS "records", AVG("g"."posterior") AS "confidence",
CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
CAST(AVG(CAST(("g"."posterior" > 0.75) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 0.75)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 0.75 AND "g"."hits" > "g"."n" *
CAST(0.75 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(0.75 AS DOUBLE PRECISION) * (1 - 0.75))),
0) AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_guesses0" AS "g" WINDOW
"w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.inferred1: how many values of drug that tells
-- [slamsa, msb, sloms]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, GREATEST(((("l"."accuracy" + 16 / (2 * "l"."n") - 4 * SQRT("l"."accuracy" * (1 -
"l"."accuracy") / "l"."n" + 16 / (4 * POWER("l"."n", 2)))) / (1 + 16 / "l"."n")) - 0.5) / (1 - 0.5),
0) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 - CAST(0.5 AS DOUBLE PRECISION)) AS "n"
FROM (SELECT "g"."learner", COUNT(*) AS "records", AVG("g"."posterior") AS "confidence",
CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
CAST(AVG(CAST(("g"."posterior" > 0.75) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 0.75)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 0.75 AND "g"."hits" > "g"."n" *
CAST(0.75 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(0.75 AS DOUBLE PRECISION) * (1 - 0.75))),
0) AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_guesses1" AS "g" WINDOW
"w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.inferred_guesses0: how many hidden values of zip that tells
-- [lgb_mdp, local_bucketization]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, CAST(0 AS DOUBLE PRECISION) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 -
CAST(1.3 AS DOUBLE PRECISION)) AS "n" FROM (SELECT "g"."learner", COUNT(*) AS "records",
AVG("g"."posterior") AS "confidence", CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS
"accuracy", CAST(AVG(CAST(("g"."posterior" > 1.3) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 1.3)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 1.3 AND "g"."hits" > "g"."n" *
CAST(1.3 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(1.3 AS DOUBLE PRECISION) * (1 - 1.3))), 0)
AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_guesses0" AS "g" WINDOW
"w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.inferred_guesses0: how many hidden values of zip that tells
-- [lgb_ncp]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, GREATEST(((("l"."accuracy" + 16 / (2 * "l"."n") - 4 * SQRT("l"."accuracy" * (1 -
"l"."accuracy") / "l"."n" + 16 / (4 * POWER("l"."n", 2)))) / (1 + 16 / "l"."n")) - 0.5) / (1 - 0.5),
0) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 - CAST(0.5 AS DOUBLE PRECISION)) AS "n"
FROM (SELECT "g"."learner", COUNT(*) AS "records", AVG("g"."posterior") AS "confidence",
CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
CAST(AVG(CAST(("g"."posterior" > 0.75) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 0.75)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 0.75 AND "g"."hits" > "g"."n" *
CAST(0.75 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(0.75 AS DOUBLE PRECISION) * (1 - 0.75))),
0) AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_guesses0" AS "g" WINDOW
"w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.inferred_guesses1: how many hidden values of disease that tells
-- [lgb_mdp, local_bucketization]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, GREATEST(((("l"."accuracy" + 16 / (2 * "l"."n") - 4 * SQRT("l"."accuracy" * (1 -
"l"."accuracy") / "l"."n" + 16 / (4 * POWER("l"."n", 2)))) / (1 + 16 / "l"."n")) - 0.5) / (1 - 0.5),
0) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 - CAST(0.5 AS DOUBLE PRECISION)) AS "n"
FROM (SELECT "g"."learner", COUNT(*) AS "records", AVG("g"."posterior") AS "confidence",
CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
CAST(AVG(CAST(("g"."posterior" > 0.75) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 0.75)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 0.75 AND "g"."hits" > "g"."n" *
CAST(0.75 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(0.75 AS DOUBLE PRECISION) * (1 - 0.75))),
0) AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_guesses1" AS "g" WINDOW
"w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.inferred_guesses1: how many hidden values of drug that tells
-- [lgb_ncp]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, GREATEST(((("l"."accuracy" + 16 / (2 * "l"."n") - 4 * SQRT("l"."accuracy" * (1 -
"l"."accuracy") / "l"."n" + 16 / (4 * POWER("l"."n", 2)))) / (1 + 16 / "l"."n")) - 0.5) / (1 - 0.5),
0) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 - CAST(0.5 AS DOUBLE PRECISION)) AS "n"
FROM (SELECT "g"."learner", COUNT(*) AS "records", AVG("g"."posterior") AS "confidence",
CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
CAST(AVG(CAST(("g"."posterior" > 0.75) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 0.75)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 0.75 AND "g"."hits" > "g"."n" *
CAST(0.75 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(0.75 AS DOUBLE PRECISION) * (1 - 0.75))),
0) AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_guesses1" AS "g" WINDOW
"w" AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.inferred_taught0: how many hidden values of zip that tells
-- [lgb_mdp, local_bucketization]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, CAST(0 AS DOUBLE PRECISION) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 -
CAST(1.3 AS DOUBLE PRECISION)) AS "n" FROM (SELECT "g"."learner", COUNT(*) AS "records",
AVG("g"."posterior") AS "confidence", CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS
"accuracy", CAST(AVG(CAST(("g"."posterior" > 1.3) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 1.3)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 1.3 AND "g"."hits" > "g"."n" *
CAST(1.3 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(1.3 AS DOUBLE PRECISION) * (1 - 1.3))), 0)
AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_taught0" AS "g" WINDOW "w"
AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.inferred_taught0: how many hidden values of zip that tells
-- [lgb_ncp]
SELECT CAST(COALESCE(SUM("m"."records"), 0) AS BIGINT) AS "records", MAX("m"."confidence") AS
"confidence", MAX("m"."accuracy") AS "accuracy", MAX("m"."above") AS "above", MAX("m"."correct") AS
"correct", MAX("m"."share") AS "share", MAX("m"."advantage") AS "advantage" FROM (SELECT "h".* FROM
(SELECT "l".*, GREATEST(((("l"."accuracy" + 16 / (2 * "l"."n") - 4 * SQRT("l"."accuracy" * (1 -
"l"."accuracy") / "l"."n" + 16 / (4 * POWER("l"."n", 2)))) / (1 + 16 / "l"."n")) - 0.5) / (1 - 0.5),
0) AS "advantage" FROM (SELECT "l".*, "l"."records" * (1 - CAST(0.5 AS DOUBLE PRECISION)) AS "n"
FROM (SELECT "g"."learner", COUNT(*) AS "records", AVG("g"."posterior") AS "confidence",
CAST(AVG(CAST("g"."correct" AS INT)) AS DOUBLE PRECISION) AS "accuracy",
CAST(AVG(CAST(("g"."posterior" > 0.75) AS INT)) AS DOUBLE PRECISION) AS "above",
CAST((AVG(CAST("g"."correct" AS INT)) FILTER(WHERE "g"."posterior" > 0.75)) AS DOUBLE PRECISION) AS
"correct", CAST(COALESCE(MAX("g"."n") FILTER(WHERE "g"."posterior" > 0.75 AND "g"."hits" > "g"."n" *
CAST(0.75 AS DOUBLE PRECISION) + 4 * SQRT("g"."n" * CAST(0.75 AS DOUBLE PRECISION) * (1 - 0.75))),
0) AS DOUBLE PRECISION) / COUNT(*) AS "share" FROM (SELECT "g".*, COUNT(*) OVER "w" AS "n",
SUM(CAST("g"."correct" AS INT)) OVER "w" AS "hits" FROM "pganon_work"."r0_taught0" AS "g" WINDOW "w"
AS (PARTITION BY "g"."learner" ORDER BY "g"."posterior" DESC)) AS "g" GROUP BY "g"."learner") AS
"l") AS "l") AS "h" ORDER BY GREATEST("h"."share", "h"."advantage") DESC, "h"."accuracy" DESC,
"h"."learner" LIMIT 1) AS "m";

-- verify.informed0: what of disease is learned by who knows which values go together
-- [anatomy, slicing, slamsa, msb]
SELECT CAST(NULL AS DOUBLE PRECISION) AS "informed";

-- verify.informed0: what of disease is learned by who knows which values go together
-- [sloms]
SELECT MAX("r"."risk") AS "informed" FROM (SELECT MAX("w"."w") / NULLIF(SUM("w"."w"), 0) AS "risk"
FROM (SELECT "h"."value", "q"."class_id", "q"."st1_group_id", "q"."st2_group_id", CAST("h"."n" AS
DOUBLE PRECISION) * COALESCE("m1"."met", 0) AS "w" FROM (SELECT DISTINCT "b"."class_id",
"b"."st1_group_id", "b"."st2_group_id" FROM "pganon_stage"."r0_qit" AS "b") AS "q" JOIN (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st1" AS "t" ORDER BY "t"."group_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS
"r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" ON "h"."group_id" = "q"."st1_group_id" LEFT JOIN
(SELECT "s"."group_id", "l"."value", SUM("s"."share" * "l"."lift") AS "met" FROM (SELECT
"h"."group_id", "h"."value", CAST("h"."n" AS DOUBLE PRECISION) / SUM("h"."n") OVER (PARTITION BY
"h"."group_id") AS "share" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value",
"h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS
"n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0",
"t"."count" AS "n" FROM "pganon_stage"."r0_st2" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS
TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "s" JOIN (SELECT
"p"."value", "p"."other", CAST(COUNT(*) AS DOUBLE PRECISION) * SUM(COUNT(*)) OVER () /
(SUM(COUNT(*)) OVER (PARTITION BY "p"."value") * SUM(COUNT(*)) OVER (PARTITION BY "p"."other")) AS
"lift" FROM (SELECT COALESCE('=' || CAST((CAST("c"."v0" AS TEXT) COLLATE "C") AS text), '') AS
"value", COALESCE('=' || CAST((CAST("c"."v1" AS TEXT) COLLATE "C") AS text), '') AS "other" FROM
"pganon_work"."r0_coded" AS "c") AS "p" GROUP BY "p"."value", "p"."other") AS "l" ON "l"."other" =
"s"."value" GROUP BY "s"."group_id", "l"."value") AS "m1" ON "m1"."group_id" = "q"."st2_group_id"
AND "m1"."value" = "h"."value") AS "w" GROUP BY "w"."class_id", "w"."st1_group_id",
"w"."st2_group_id") AS "r";

-- verify.informed1: what of drug is learned by who knows which values go together
-- [slamsa, msb]
SELECT CAST(NULL AS DOUBLE PRECISION) AS "informed";

-- verify.informed1: what of drug is learned by who knows which values go together
-- [sloms]
SELECT MAX("r"."risk") AS "informed" FROM (SELECT MAX("w"."w") / NULLIF(SUM("w"."w"), 0) AS "risk"
FROM (SELECT "h"."value", "q"."class_id", "q"."st1_group_id", "q"."st2_group_id", CAST("h"."n" AS
DOUBLE PRECISION) * COALESCE("m0"."met", 0) AS "w" FROM (SELECT DISTINCT "b"."class_id",
"b"."st1_group_id", "b"."st2_group_id" FROM "pganon_stage"."r0_qit" AS "b") AS "q" JOIN (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st2" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r"
GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" ON "h"."group_id" = "q"."st2_group_id" LEFT JOIN
(SELECT "s"."group_id", "l"."value", SUM("s"."share" * "l"."lift") AS "met" FROM (SELECT
"h"."group_id", "h"."value", CAST("h"."n" AS DOUBLE PRECISION) / SUM("h"."n") OVER (PARTITION BY
"h"."group_id") AS "share" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value",
"h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS
"n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0",
"t"."count" AS "n" FROM "pganon_stage"."r0_st1" AS "t" ORDER BY "t"."group_id", CAST("t"."disease"
AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "s" JOIN (SELECT
"p"."value", "p"."other", CAST(COUNT(*) AS DOUBLE PRECISION) * SUM(COUNT(*)) OVER () /
(SUM(COUNT(*)) OVER (PARTITION BY "p"."value") * SUM(COUNT(*)) OVER (PARTITION BY "p"."other")) AS
"lift" FROM (SELECT COALESCE('=' || CAST((CAST("c"."v1" AS TEXT) COLLATE "C") AS text), '') AS
"value", COALESCE('=' || CAST((CAST("c"."v0" AS TEXT) COLLATE "C") AS text), '') AS "other" FROM
"pganon_work"."r0_coded" AS "c") AS "p" GROUP BY "p"."value", "p"."other") AS "l" ON "l"."other" =
"s"."value" GROUP BY "s"."group_id", "l"."value") AS "m0" ON "m0"."group_id" = "q"."st1_group_id"
AND "m0"."value" = "h"."value") AS "w" GROUP BY "w"."class_id", "w"."st1_group_id",
"w"."st2_group_id") AS "r";

-- verify.ir_k_anonymity_2: ir_k_anonymity
-- [danonyir, geneir]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT COUNT(*) AS "measure", "g"."class_id" FROM (SELECT "h"."value", "h"."n",
"h"."class_id" FROM (SELECT "r"."individual" AS "value", COUNT(*) AS "n", "r"."class_id" FROM
(SELECT "r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' ||
CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value" FROM
"pganon_stage"."r0_records" AS "r") AS "r" GROUP BY "r"."individual", "r"."class_id") AS "h") AS "g"
GROUP BY "g"."class_id") AS "groups";

-- verify.k_anonymity_1: k_anonymity
-- [one_dimensional, mondrian]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 4)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."class_id" FROM (SELECT
"h"."value", "h"."n", "h"."class_id" FROM (SELECT 1 AS "value", "h"."n", "h"."by0" AS "class_id"
FROM (SELECT "r"."by0", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0" FROM
"pganon_stage"."r0_records" AS "t") AS "r" GROUP BY "r"."by0") AS "h") AS "h") AS "g" GROUP BY
"g"."class_id") AS "groups";

-- verify.k_anonymity_1: k_anonymity
-- [sloms]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."class_id", "g"."shown0",
"g"."shown1", "g"."shown2" FROM (SELECT "h"."value", "h"."n", "h"."class_id", "h"."shown0",
"h"."shown1", "h"."shown2" FROM (SELECT 1 AS "value", "h"."n", "h"."by0" AS "class_id", "h"."by1" AS
"shown0", "h"."by2" AS "shown1", "h"."by3" AS "shown2" FROM (SELECT "r"."by0", "r"."by1", "r"."by2",
"r"."by3", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0", "t"."age" AS "by1", "t"."zip" AS
"by2", "t"."zip_null" AS "by3" FROM "pganon_stage"."r0_qit" AS "t") AS "r" GROUP BY "r"."by0",
"r"."by1", "r"."by2", "r"."by3") AS "h") AS "h") AS "g" GROUP BY "g"."class_id", "g"."shown0",
"g"."shown1", "g"."shown2") AS "groups";

-- verify.k_anonymity_1: k_anonymity
-- [beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."class_id" FROM (SELECT
"h"."value", "h"."n", "h"."class_id" FROM (SELECT 1 AS "value", "h"."n", "h"."by0" AS "class_id"
FROM (SELECT "r"."by0", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0" FROM
"pganon_stage"."r0_records" AS "t") AS "r" GROUP BY "r"."by0") AS "h") AS "h") AS "g" GROUP BY
"g"."class_id") AS "groups";

-- verify.k_anonymity_4: k_anonymity
-- [full_domain]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 4)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."class_id" FROM (SELECT
"h"."value", "h"."n", "h"."class_id" FROM (SELECT 1 AS "value", "h"."n", "h"."by0" AS "class_id"
FROM (SELECT "r"."by0", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0" FROM
"pganon_stage"."r0_records" AS "t") AS "r" GROUP BY "r"."by0") AS "h") AS "h") AS "g" GROUP BY
"g"."class_id") AS "groups";

-- verify.k_anonymity_4: k_anonymity
-- [lgb_mdp, local_generalization]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."group_id" FROM (SELECT
"h"."value", "h"."n", "h"."group_id" FROM (SELECT 1 AS "value", "h"."n", "h"."by0" AS "group_id"
FROM (SELECT "r"."by0", COUNT(*) AS "n" FROM (SELECT "t"."group_id" AS "by0" FROM
"pganon_stage"."r0_records" AS "t") AS "r" GROUP BY "r"."by0") AS "h") AS "h") AS "g" GROUP BY
"g"."group_id") AS "groups";

-- verify.k_anonymity_5: k_anonymity
-- [lgb_ncp]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 2)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT CAST(SUM("g"."n") AS BIGINT) AS "measure", "g"."group_id" FROM (SELECT
"h"."value", "h"."n", "h"."group_id" FROM (SELECT 1 AS "value", "h"."n", "h"."by0" AS "group_id"
FROM (SELECT "r"."by0", COUNT(*) AS "n" FROM (SELECT "t"."group_id" AS "by0" FROM
"pganon_stage"."r0_records" AS "t") AS "r" GROUP BY "r"."by0") AS "h") AS "h") AS "g" GROUP BY
"g"."group_id") AS "groups";

-- verify.local_bucket_diversity_4: local_bucket_diversity on disease
-- [local_bucketization]
SELECT "w"."failing", COALESCE("w"."measured", 2.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM
(SELECT CASE WHEN MAX("g"."n") > 1 THEN 1 ELSE (CAST(SUM("g"."n") AS DOUBLE PRECISION) /
CAST(MAX("g"."n") AS DOUBLE PRECISION)) END AS "measure", "g"."disease_bucket" FROM (SELECT
"h"."value", "h"."n", "h"."disease_bucket" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text),
'') AS "value", "h"."n", "h"."by0" AS "disease_bucket" FROM (SELECT "r"."by0", "r"."key0",
CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."disease_bucket" AS "by0", CAST("t"."disease"
AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_values1" AS "t" ORDER BY
"t"."disease_bucket", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0",
"r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."disease_bucket") AS "groups") AS "w";

-- verify.local_bucket_diversity_5: local_bucket_diversity on disease
-- [lgb_mdp]
SELECT "w"."failing", COALESCE("w"."measured", 2.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM
(SELECT CASE WHEN MAX("g"."n") > 1 THEN 1 ELSE (CAST(SUM("g"."n") AS DOUBLE PRECISION) /
CAST(MAX("g"."n") AS DOUBLE PRECISION)) END AS "measure", "g"."disease_bucket" FROM (SELECT
"h"."value", "h"."n", "h"."disease_bucket" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text),
'') AS "value", "h"."n", "h"."by0" AS "disease_bucket" FROM (SELECT "r"."by0", "r"."key0",
CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."disease_bucket" AS "by0", CAST("t"."disease"
AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_values1" AS "t" ORDER BY
"t"."disease_bucket", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0",
"r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."disease_bucket") AS "groups") AS "w";

-- verify.local_bucket_diversity_6: local_bucket_diversity on drug
-- [lgb_ncp]
SELECT "w"."failing", COALESCE("w"."measured", 2.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM
(SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION) AS
"measure", "g"."drug_bucket" FROM (SELECT "h"."value", "h"."n", "h"."drug_bucket" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "drug_bucket" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."drug_bucket" AS
"by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_values1" AS "t" ORDER BY "t"."drug_bucket", CAST("t"."drug" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."drug_bucket") AS
"groups") AS "w";

-- verify.local_bucket_diversity_7: local_bucket_diversity on zip
-- [lgb_ncp]
SELECT "w"."failing", COALESCE("w"."measured", 2.0) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" >= 1.999999999998)) AS "failing", MIN("groups"."measure") AS "measured" FROM
(SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION) AS
"measure", "g"."zip_bucket" FROM (SELECT "h"."value", "h"."n", "h"."zip_bucket" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "zip_bucket" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."zip_bucket" AS
"by0", CAST("t"."zip" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", CAST("t"."zip" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."zip_bucket") AS
"groups") AS "w";

-- verify.posterior: highest posterior per QS set
-- [qs_greedy, qs_efficient]
SELECT 1 AS "enumerated", (SELECT MAX("p"."posterior") FROM "pganon_work"."r0_posteriors" AS "p"
WHERE "p"."attribute_set" = 1) AS "posterior1", (SELECT COUNT(*) FROM "pganon_work"."r0_posteriors"
AS "p" WHERE "p"."attribute_set" = 1) AS "enumerated1", (SELECT MAX("p"."posterior") FROM
"pganon_work"."r0_posteriors" AS "p" WHERE "p"."attribute_set" = 2) AS "posterior2", (SELECT
COUNT(*) FROM "pganon_work"."r0_posteriors" AS "p" WHERE "p"."attribute_set" = 2) AS "enumerated2";

-- verify.posteriors: how likely the likeliest combination of a small cluster is
-- [qs_greedy, qs_efficient]
SELECT 1 AS "nothing"; SELECT "c"."cluster_no", "c"."attribute_set", "c"."size", "c"."counts",
"c"."combinations" FROM "pganon_work"."r0_candidates" AS "c" ORDER BY "c"."size", "c"."cluster_no",
"c"."attribute_set"; COPY pganon_work.r0_posteriors (cluster_no, attribute_set, posterior) FROM
STDIN;

-- verify.qs_k_anonymity_1: qs_k_anonymity against the supported combinations distribution
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 4)) AS "failing", MIN("groups"."measure") AS
"measured" FROM (SELECT MIN("g"."n") AS "measure", "g"."cluster_no" FROM (SELECT "h"."value",
"h"."n", "h"."cluster_no" FROM (SELECT "u".* FROM (SELECT 1 AS "value", COALESCE("s"."n", 0) AS "n",
"c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c" LEFT JOIN (SELECT CAST(COUNT(*) AS DOUBLE
PRECISION) AS "n", "b"."cluster_no" FROM (SELECT "e"."cluster_no", "p"."v1" FROM (SELECT
COALESCE('=' || CAST(("u"."x") AS text), '') COLLATE "C" AS "x", "u"."cluster_no" FROM (SELECT
UNNEST("c"."age") AS "x", "c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c") AS "u") AS "e"
JOIN (SELECT DISTINCT "p"."v1" FROM (SELECT "r".* FROM "pganon_stage"."r0_reference" AS "r" WHERE
"r"."attribute_set" = 1) AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."cluster_no") AS
"s" ON "c"."cluster_no" = "s"."cluster_no" UNION ALL SELECT 2 AS "value", COALESCE("s"."n", 0) AS
"n", "c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c" LEFT JOIN (SELECT CAST(COUNT(*) AS
DOUBLE PRECISION) AS "n", "b"."cluster_no" FROM (SELECT "e"."cluster_no", "p"."v1" FROM (SELECT
COALESCE('=' || CAST(("u"."x") AS text), '') COLLATE "C" AS "x", "u"."cluster_no" FROM (SELECT
UNNEST("c"."zip") AS "x", "c"."cluster_no" FROM "pganon_stage"."r0_clusters" AS "c") AS "u") AS "e"
JOIN (SELECT DISTINCT "p"."v1" FROM (SELECT "r".* FROM "pganon_stage"."r0_reference" AS "r" WHERE
"r"."attribute_set" = 2) AS "p") AS "p" ON "e"."x" = "p"."v1") AS "b" GROUP BY "b"."cluster_no") AS
"s" ON "c"."cluster_no" = "s"."cluster_no") AS "u") AS "h") AS "g" GROUP BY "g"."cluster_no") AS
"groups";

-- verify.qs_k_anonymity_2: qs_k_anonymity
-- [qs_greedy, qs_efficient]
SELECT MIN("g"."measure") AS "measured", COUNT(*) FILTER(WHERE COALESCE("g"."measure" < 4, TRUE)) AS
"failing" FROM (SELECT "c"."size" AS "measure" FROM "pganon_stage"."r0_clusters" AS "c") AS "g";

-- verify.reference_4: reference on disease
-- [kinc]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"x"."value", "x"."position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share"
FROM (SELECT "f"."value", "f"."position", "f"."n" FROM "pganon_stage"."r0_reference" AS "f" WHERE
"f"."attribute" = 0) AS "x") AS "f" FULL JOIN (SELECT COALESCE('=' || CAST((CAST("s"."disease" AS
TEXT) COLLATE "C") AS text), '') AS "value", "s"."share" FROM "pganon_stage"."r0_shares" AS "s") AS
"s" ON "s"."value" = "f"."value" WHERE "s"."share" IS DISTINCT FROM "f"."share") AS "b";

-- verify.related: association of the other columns with the sensitive ones
-- [anatomy, slicing]
SELECT CAST(COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("v"."i", "v"."j", TRIM_SCALE(ROUND(CAST("v"."value"
AS DECIMAL), 9))) ORDER BY "v"."i", "v"."j"), CAST('[]' AS JSONB)) AS text) AS "association" FROM
(WITH "e" AS MATERIALIZED (SELECT 1 AS "n", (SELECT CASE WHEN COUNT(*) > 32 THEN ARRAY_REMOVE(ARRAY[
MIN("m"."code") FILTER(WHERE "m"."middle" >= 1 * DIV("m"."n", 4) + LEAST(1, "m"."n" % 4)),
MIN("m"."code") FILTER(WHERE "m"."middle" >= 2 * DIV("m"."n", 4) + LEAST(2, "m"."n" % 4)),
MIN("m"."code") FILTER(WHERE "m"."middle" >= 3 * DIV("m"."n", 4) + LEAST(3, "m"."n" % 4)) ], NULL)
END AS "starts" FROM (SELECT "v"."code", SUM("v"."f") OVER (ORDER BY "v"."code") - "v"."f" +
("v"."f" - 1) / 2 AS "middle", SUM("v"."f") OVER () AS "n" FROM (SELECT NULLIF("t"."c0", 0) AS
"code", COUNT(*) AS "f" FROM "pganon_work"."r0_related_records" AS "t" WHERE CASE WHEN "t"."c0" > 0
THEN ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE
"code" > 0)["t"."c0"]) END IS NOT NULL GROUP BY NULLIF("t"."c0", 0)) AS "v") AS "m") AS "e0",
(SELECT CASE WHEN COUNT(*) > 32 THEN ARRAY_REMOVE(ARRAY[ MIN("m"."code") FILTER(WHERE "m"."middle"
>= 1 * DIV("m"."n", 4) + LEAST(1, "m"."n" % 4)), MIN("m"."code") FILTER(WHERE "m"."middle" >= 2 *
DIV("m"."n", 4) + LEAST(2, "m"."n" % 4)), MIN("m"."code") FILTER(WHERE "m"."middle" >= 3 *
DIV("m"."n", 4) + LEAST(3, "m"."n" % 4)) ], NULL) END AS "starts" FROM (SELECT "v"."code",
SUM("v"."f") OVER (ORDER BY "v"."code") - "v"."f" + ("v"."f" - 1) / 2 AS "middle", SUM("v"."f") OVER
() AS "n" FROM (SELECT "t"."i0" AS "code", COUNT(*) AS "f" FROM "pganon_work"."r0_related_records"
AS "t" WHERE CAST("t"."p0" AS DOUBLE PRECISION) IS NOT NULL GROUP BY "t"."i0") AS "v") AS "m") AS
"e2"), "x" AS MATERIALIZED (SELECT CASE WHEN "e"."e0" IS NULL THEN COALESCE(NULLIF("t"."c0", 0), -1)
WHEN CASE WHEN "t"."c0" > 0 THEN ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["t"."c0"]) END IS NULL THEN -1 ELSE
WIDTH_BUCKET(NULLIF("t"."c0", 0), "e"."e0") END AS "k0", COALESCE(NULLIF("t"."c1", 0), -1) AS "k1",
CASE WHEN "e"."e2" IS NULL THEN COALESCE("t"."i0", -1) WHEN CAST("t"."p0" AS DOUBLE PRECISION) IS
NULL THEN -1 ELSE WIDTH_BUCKET("t"."i0", "e"."e2") END AS "k2", COALESCE("t"."s0", -1) AS "k3" FROM
"pganon_work"."r0_related_records" AS "t" CROSS JOIN "e"), "g" AS MATERIALIZED (SELECT CASE WHEN
"x"."k0" IS NOT NULL THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k2" IS NOT NULL THEN 2 WHEN
"x"."k3" IS NOT NULL THEN 3 END AS "i", CASE WHEN "x"."k3" IS NOT NULL THEN 3 WHEN "x"."k2" IS NOT
NULL THEN 2 WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k0" IS NOT NULL THEN 0 END AS "j",
COALESCE("x"."k0", "x"."k1", "x"."k2", "x"."k3") AS "va", COALESCE("x"."k3", "x"."k2", "x"."k1",
"x"."k0") AS "vb", CAST(COUNT(*) AS DOUBLE PRECISION) AS "f" FROM "x" GROUP BY GROUPING SETS
(("x"."k0"), ("x"."k1"), ("x"."k2"), ("x"."k3"), ("x"."k0", "x"."k3"), ("x"."k1", "x"."k3"),
("x"."k2", "x"."k3"))), "d" AS MATERIALIZED (SELECT "g"."i", CAST(COUNT(*) AS DOUBLE PRECISION) AS
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
JOIN "d" AS "b" ON "b"."i" = "s"."j") AS "v";

-- verify.related: association of the other columns with the sensitive ones
-- [slamsa, msb, sloms]
SELECT CAST(COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("v"."i", "v"."j", TRIM_SCALE(ROUND(CAST("v"."value"
AS DECIMAL), 9))) ORDER BY "v"."i", "v"."j"), CAST('[]' AS JSONB)) AS text) AS "association" FROM
(WITH "e" AS MATERIALIZED (SELECT 1 AS "n", (SELECT CASE WHEN COUNT(*) > 32 THEN ARRAY_REMOVE(ARRAY[
MIN("m"."code") FILTER(WHERE "m"."middle" >= 1 * DIV("m"."n", 4) + LEAST(1, "m"."n" % 4)),
MIN("m"."code") FILTER(WHERE "m"."middle" >= 2 * DIV("m"."n", 4) + LEAST(2, "m"."n" % 4)),
MIN("m"."code") FILTER(WHERE "m"."middle" >= 3 * DIV("m"."n", 4) + LEAST(3, "m"."n" % 4)) ], NULL)
END AS "starts" FROM (SELECT "v"."code", SUM("v"."f") OVER (ORDER BY "v"."code") - "v"."f" +
("v"."f" - 1) / 2 AS "middle", SUM("v"."f") OVER () AS "n" FROM (SELECT NULLIF("t"."c0", 0) AS
"code", COUNT(*) AS "f" FROM "pganon_work"."r0_related_records" AS "t" WHERE CASE WHEN "t"."c0" > 0
THEN ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE
"code" > 0)["t"."c0"]) END IS NOT NULL GROUP BY NULLIF("t"."c0", 0)) AS "v") AS "m") AS "e0",
(SELECT CASE WHEN COUNT(*) > 32 THEN ARRAY_REMOVE(ARRAY[ MIN("m"."code") FILTER(WHERE "m"."middle"
>= 1 * DIV("m"."n", 4) + LEAST(1, "m"."n" % 4)), MIN("m"."code") FILTER(WHERE "m"."middle" >= 2 *
DIV("m"."n", 4) + LEAST(2, "m"."n" % 4)), MIN("m"."code") FILTER(WHERE "m"."middle" >= 3 *
DIV("m"."n", 4) + LEAST(3, "m"."n" % 4)) ], NULL) END AS "starts" FROM (SELECT "v"."code",
SUM("v"."f") OVER (ORDER BY "v"."code") - "v"."f" + ("v"."f" - 1) / 2 AS "middle", SUM("v"."f") OVER
() AS "n" FROM (SELECT "t"."i0" AS "code", COUNT(*) AS "f" FROM "pganon_work"."r0_related_records"
AS "t" WHERE CAST("t"."p0" AS DOUBLE PRECISION) IS NOT NULL GROUP BY "t"."i0") AS "v") AS "m") AS
"e2"), "x" AS MATERIALIZED (SELECT CASE WHEN "e"."e0" IS NULL THEN COALESCE(NULLIF("t"."c0", 0), -1)
WHEN CASE WHEN "t"."c0" > 0 THEN ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["t"."c0"]) END IS NULL THEN -1 ELSE
WIDTH_BUCKET(NULLIF("t"."c0", 0), "e"."e0") END AS "k0", COALESCE(NULLIF("t"."c1", 0), -1) AS "k1",
CASE WHEN "e"."e2" IS NULL THEN COALESCE("t"."i0", -1) WHEN CAST("t"."p0" AS DOUBLE PRECISION) IS
NULL THEN -1 ELSE WIDTH_BUCKET("t"."i0", "e"."e2") END AS "k2", COALESCE("t"."s0", -1) AS "k3",
COALESCE("t"."s1", -1) AS "k4" FROM "pganon_work"."r0_related_records" AS "t" CROSS JOIN "e"), "g"
AS MATERIALIZED (SELECT CASE WHEN "x"."k0" IS NOT NULL THEN 0 WHEN "x"."k1" IS NOT NULL THEN 1 WHEN
"x"."k2" IS NOT NULL THEN 2 WHEN "x"."k3" IS NOT NULL THEN 3 WHEN "x"."k4" IS NOT NULL THEN 4 END AS
"i", CASE WHEN "x"."k4" IS NOT NULL THEN 4 WHEN "x"."k3" IS NOT NULL THEN 3 WHEN "x"."k2" IS NOT
NULL THEN 2 WHEN "x"."k1" IS NOT NULL THEN 1 WHEN "x"."k0" IS NOT NULL THEN 0 END AS "j",
COALESCE("x"."k0", "x"."k1", "x"."k2", "x"."k3", "x"."k4") AS "va", COALESCE("x"."k4", "x"."k3",
"x"."k2", "x"."k1", "x"."k0") AS "vb", CAST(COUNT(*) AS DOUBLE PRECISION) AS "f" FROM "x" GROUP BY
GROUPING SETS (("x"."k0"), ("x"."k1"), ("x"."k2"), ("x"."k3"), ("x"."k4"), ("x"."k0", "x"."k3"),
("x"."k0", "x"."k4"), ("x"."k1", "x"."k3"), ("x"."k1", "x"."k4"), ("x"."k2", "x"."k3"), ("x"."k2",
"x"."k4"))), "d" AS MATERIALIZED (SELECT "g"."i", CAST(COUNT(*) AS DOUBLE PRECISION) AS
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
JOIN "d" AS "b" ON "b"."i" = "s"."j") AS "v";

-- verify.related_records: the records of some buckets
-- [anatomy, slicing]
CREATE TABLE pganon_work.r0_related_records AS SELECT "r".*, DENSE_RANK() OVER (ORDER BY "r"."p0")
AS "i0", DENSE_RANK() OVER (ORDER BY "r"."v0") AS "s0" FROM (SELECT "r"."c0", "r"."c1", "r"."v0",
"r"."p0", "r"."record", "r"."o0", "r"."o1" FROM "pganon_work"."r0_group_records0" AS "r" WHERE
"r"."b0" <= 10000 ORDER BY "r"."b0", HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("r"."c0",
"r"."c1", "r"."v0", "r"."p0", "r"."record", "r"."o0", "r"."o1"), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT), (SELECT "s"."seed_a" FROM
"pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) LIMIT 10000) AS "r";

-- verify.related_records: the records of some buckets
-- [slamsa, msb]
CREATE TABLE pganon_work.r0_related_records AS SELECT "r".*, DENSE_RANK() OVER (ORDER BY "r"."p0")
AS "i0", DENSE_RANK() OVER (ORDER BY "r"."v0") AS "s0", DENSE_RANK() OVER (ORDER BY "r"."v1") AS
"s1" FROM (SELECT "r"."c0", "r"."c1", "r"."v0", "r"."v1", "r"."p0", "r"."record", "r"."o0" FROM
"pganon_work"."r0_group_records0" AS "r" WHERE "r"."b0" <= 10000 ORDER BY "r"."b0",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("r"."c0", "r"."c1", "r"."v0", "r"."v1", "r"."p0",
"r"."record", "r"."o0"), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS TEXT), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) LIMIT 10000) AS "r";

-- verify.related_records: the records of some buckets
-- [sloms]
CREATE TABLE pganon_work.r0_related_records AS SELECT "r".*, DENSE_RANK() OVER (ORDER BY "r"."p0")
AS "i0", DENSE_RANK() OVER (ORDER BY "r"."v0") AS "s0", DENSE_RANK() OVER (ORDER BY "r"."v1") AS
"s1" FROM (SELECT "r"."c0", "r"."c1", "r"."v0", "r"."v1", "r"."p0", "r"."record", "r"."o0" FROM
"pganon_work"."r0_group_records0" AS "r" WHERE "r"."b1" <= 10000 ORDER BY "r"."b1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW("r"."c0", "r"."c1", "r"."v0", "r"."v1", "r"."p0",
"r"."record", "r"."o0"), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) AS TEXT), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE
"s"."run_id" = 0)) LIMIT 10000) AS "r";

-- verify.slicing_l_diversity_1: slicing_l_diversity on disease
-- [slicing, slamsa]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) /
CAST(MAX("g"."n") AS DOUBLE PRECISION) AS "measure", "g"."group_id" FROM (SELECT "h"."value",
"h"."n", "h"."group_id" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value",
"h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS
"n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0",
"t"."count" AS "n" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."disease" AS
TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY
"g"."group_id") AS "groups";

-- verify.slicing_l_diversity_1: slicing_l_diversity on disease
-- [msb]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CASE WHEN MAX("g"."n") > 1 THEN 1 ELSE
(CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION)) END AS "measure",
"g"."group_id" FROM (SELECT "h"."value", "h"."n", "h"."group_id" FROM (SELECT COALESCE('=' ||
CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0",
"r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS "by0",
CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_st" AS
"t" ORDER BY "t"."group_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0",
"r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."group_id") AS "groups";

-- verify.slicing_l_diversity_2: slicing_l_diversity on drug
-- [slamsa]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CAST(SUM("g"."n") AS DOUBLE PRECISION) /
CAST(MAX("g"."n") AS DOUBLE PRECISION) AS "measure", "g"."group_id" FROM (SELECT "h"."value",
"h"."n", "h"."group_id" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value",
"h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS
"n" FROM (SELECT "t"."group_id" AS "by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0",
"t"."count" AS "n" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS
TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "g" GROUP BY
"g"."group_id") AS "groups";

-- verify.slicing_l_diversity_2: slicing_l_diversity on drug
-- [msb]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CASE WHEN MAX("g"."n") > 1 THEN 1 ELSE
(CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION)) END AS "measure",
"g"."group_id" FROM (SELECT "h"."value", "h"."n", "h"."group_id" FROM (SELECT COALESCE('=' ||
CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0",
"r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS "by0",
CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_st" AS
"t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0",
"r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."group_id") AS "groups";

-- verify.slicing_l_diversity_2: slicing_l_diversity on disease
-- [sloms]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CASE WHEN MAX("g"."n") > 1 THEN 1 ELSE
(CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION)) END AS "measure",
"g"."group_id" FROM (SELECT "h"."value", "h"."n", "h"."group_id" FROM (SELECT COALESCE('=' ||
CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0",
"r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS "by0",
CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_st1"
AS "t" ORDER BY "t"."group_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0",
"r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."group_id") AS "groups";

-- verify.slicing_l_diversity_3: slicing_l_diversity on drug
-- [sloms]
SELECT COUNT(*) FILTER(WHERE NOT ("groups"."measure" >= 1.999999999998)) AS "failing",
MIN("groups"."measure") AS "measured" FROM (SELECT CASE WHEN MAX("g"."n") > 1 THEN 1 ELSE
(CAST(SUM("g"."n") AS DOUBLE PRECISION) / CAST(MAX("g"."n") AS DOUBLE PRECISION)) END AS "measure",
"g"."group_id" FROM (SELECT "h"."value", "h"."n", "h"."group_id" FROM (SELECT COALESCE('=' ||
CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM (SELECT "r"."by0",
"r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS "by0",
CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_st2" AS
"t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0",
"r"."key0") AS "h") AS "h") AS "g" GROUP BY "g"."group_id") AS "groups";

-- verify.structure_0: structure
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce,
-- danonyir, geneir]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"g"."number" FROM (SELECT "x"."class_id" AS "number", COUNT(*) AS "n" FROM
"pganon_stage"."r0_classes" AS "x" GROUP BY 1) AS "g" FULL JOIN (SELECT "r"."class_id" AS "number"
FROM "pganon_stage"."r0_records" AS "r" GROUP BY 1) AS "h" ON "h"."number" = "g"."number" WHERE
"g"."n" IS DISTINCT FROM 1 OR "h"."number" IS NULL) AS "o") AS "b";

-- verify.structure_0: structure
-- [anatomy, slamsa, msb]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"u".* FROM (SELECT "a"."number" FROM (SELECT "r"."number", COUNT(*) AS "n", 1 AS "least" FROM
(SELECT "t"."group_id" AS "number" FROM "pganon_stage"."r0_qit" AS "t" ORDER BY "t"."group_id") AS
"r" GROUP BY "r"."number") AS "a" FULL JOIN (SELECT "r"."number", SUM("r"."count") AS "n",
MIN(COALESCE("r"."count", 0)) AS "least" FROM (SELECT "t"."group_id" AS "number", "t"."count" AS
"count" FROM "pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number") AS
"b" ON "b"."number" = "a"."number" WHERE "a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least",
"b"."least") < 1) AS "u") AS "o") AS "b";

-- verify.structure_0: structure
-- [slicing]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"u".* FROM (SELECT "a"."number" FROM (SELECT "r"."number", SUM("r"."count") AS "n",
MIN(COALESCE("r"."count", 0)) AS "least" FROM (SELECT "t"."group_id" AS "number", "t"."count" AS
"count" FROM "pganon_stage"."r0_qit" AS "t" ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number")
AS "a" FULL JOIN (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS
"least" FROM (SELECT "t"."group_id" AS "number", "t"."count" AS "count" FROM "pganon_stage"."r0_st"
AS "t" ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number") AS "b" ON "b"."number" = "a"."number"
WHERE "a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least", "b"."least") < 1) AS "u") AS "o") AS
"b";

-- verify.structure_0: structure
-- [sloms]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"u".* FROM (SELECT "a"."number" FROM (SELECT "r"."number", COUNT(*) AS "n", 1 AS "least" FROM
(SELECT "t"."st1_group_id" AS "number" FROM "pganon_stage"."r0_qit" AS "t" ORDER BY
"t"."st1_group_id") AS "r" GROUP BY "r"."number") AS "a" FULL JOIN (SELECT "r"."number",
SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least" FROM (SELECT "t"."group_id" AS
"number", "t"."count" AS "count" FROM "pganon_stage"."r0_st1" AS "t" ORDER BY "t"."group_id") AS "r"
GROUP BY "r"."number") AS "b" ON "b"."number" = "a"."number" WHERE "a"."n" IS DISTINCT FROM "b"."n"
OR LEAST("a"."least", "b"."least") < 1 UNION ALL SELECT "a"."number" FROM (SELECT "r"."number",
COUNT(*) AS "n", 1 AS "least" FROM (SELECT "t"."st2_group_id" AS "number" FROM
"pganon_stage"."r0_qit" AS "t" ORDER BY "t"."st2_group_id") AS "r" GROUP BY "r"."number") AS "a"
FULL JOIN (SELECT "r"."number", SUM("r"."count") AS "n", MIN(COALESCE("r"."count", 0)) AS "least"
FROM (SELECT "t"."group_id" AS "number", "t"."count" AS "count" FROM "pganon_stage"."r0_st2" AS "t"
ORDER BY "t"."group_id") AS "r" GROUP BY "r"."number") AS "b" ON "b"."number" = "a"."number" WHERE
"a"."n" IS DISTINCT FROM "b"."n" OR LEAST("a"."least", "b"."least") < 1) AS "u") AS "o") AS "b";

-- verify.structure_0: structure
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) AS "measured" FROM (SELECT
"g"."number" FROM (SELECT "x"."group_id" AS "number", COUNT(*) AS "n" FROM
"pganon_stage"."r0_groups" AS "x" GROUP BY 1) AS "g" FULL JOIN (SELECT "r"."group_id" AS "number"
FROM "pganon_stage"."r0_records" AS "r" GROUP BY 1) AS "h" ON "h"."number" = "g"."number" WHERE
"g"."n" IS DISTINCT FROM 1 OR "h"."number" IS NULL) AS "o") AS "b";

-- verify.structure_0: structure
-- [qs_greedy, qs_efficient]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT (SELECT COUNT(*) - COUNT(DISTINCT
"c"."cluster_no") + COUNT(*) FILTER(WHERE NOT COALESCE("c"."size" > 0, FALSE) OR
CARDINALITY("c"."cost") IS DISTINCT FROM "c"."size") FROM "pganon_stage"."r0_clusters" AS "c") +
((SELECT COUNT(*) FROM (SELECT DISTINCT "c"."age" AS "a" FROM "pganon_stage"."r0_clusters" AS "c")
AS "d" WHERE COALESCE(CARDINALITY("d"."a"), 0) = 0 OR "d"."a" IS DISTINCT FROM (SELECT
ARRAY_AGG("v"."x" ORDER BY "v"."x") FROM (SELECT DISTINCT "u"."x" AS "x" FROM UNNEST("d"."a") AS
"u"("x")) AS "v"))) + ((SELECT COUNT(*) FROM (SELECT DISTINCT "c"."zip" AS "a" FROM
"pganon_stage"."r0_clusters" AS "c") AS "d" WHERE COALESCE(CARDINALITY("d"."a"), 0) = 0 OR
CAST("d"."a" AS TEXT[]) IS DISTINCT FROM (SELECT ARRAY_AGG("v"."x" ORDER BY "v"."x") FROM (SELECT
DISTINCT CAST("u"."x" AS TEXT) COLLATE "C" AS "x" FROM UNNEST("d"."a") AS "u"("x")) AS "v"))) AS
"measured") AS "b";

-- verify.structure_of_individuals_1: structure_of_individuals
-- [danonyir, geneir]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) FILTER(WHERE "p"."classes"
> 1 OR NOT COALESCE("p"."individual_no" - 0 BETWEEN 1 AND "p"."individuals", FALSE)) AS "measured"
FROM (SELECT "r"."individual_no", COUNT(DISTINCT "r"."class_id") AS "classes", COUNT(*) OVER () AS
"individuals" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."individual_no") AS "p") AS "b";

-- verify.t_closeness_5: t_closeness on zip
-- [local_bucketization]
SELECT "w"."failing", COALESCE("w"."measured", 0.3) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" <= 0.30000000000099997)) AS "failing", MAX("groups"."measure") AS "measured"
FROM (SELECT SUM(GREATEST(CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" - "g"."share", 0)) AS
"measure", "g"."zip_bucket" FROM (SELECT "h"."value", "h"."n", "h"."zip_bucket", SUM("h"."n") OVER
(PARTITION BY "h"."zip_bucket") AS "total", COALESCE("r"."share", 0) AS "share",
COALESCE("r"."position", 0) AS "position" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text),
'') AS "value", "h"."n", "h"."by0" AS "zip_bucket" FROM (SELECT "r"."by0", "r"."key0",
CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."zip_bucket" AS "by0", CAST("t"."zip" AS TEXT)
COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_values0" AS "t" ORDER BY
"t"."zip_bucket", CAST("t"."zip" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS
"h") AS "h" LEFT JOIN (SELECT "x"."value", CAST(ROW_NUMBER() OVER (ORDER BY "x"."place") AS INT) AS
"position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT
"t"."value", MIN("t"."place") AS "place", SUM("t"."count") AS "n" FROM (SELECT COALESCE('=' ||
CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '') AS "value", "t"."zip" AS "place",
"t"."count" FROM "pganon_stage"."r0_values0" AS "t") AS "t" GROUP BY "t"."value") AS "x") AS "r" ON
"r"."value" = "h"."value") AS "g" GROUP BY "g"."zip_bucket") AS "groups") AS "w";

-- verify.t_closeness_6: t_closeness on zip
-- [lgb_mdp]
SELECT "w"."failing", COALESCE("w"."measured", 0.3) AS "measured" FROM (SELECT COUNT(*) FILTER(WHERE
NOT ("groups"."measure" <= 0.30000000000099997)) AS "failing", MAX("groups"."measure") AS "measured"
FROM (SELECT SUM(GREATEST(CAST("g"."n" AS DOUBLE PRECISION) / "g"."total" - "g"."share", 0)) AS
"measure", "g"."zip_bucket" FROM (SELECT "h"."value", "h"."n", "h"."zip_bucket", SUM("h"."n") OVER
(PARTITION BY "h"."zip_bucket") AS "total", COALESCE("r"."share", 0) AS "share",
COALESCE("r"."position", 0) AS "position" FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text),
'') AS "value", "h"."n", "h"."by0" AS "zip_bucket" FROM (SELECT "r"."by0", "r"."key0",
CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."zip_bucket" AS "by0", CAST("t"."zip" AS TEXT)
COLLATE "C" AS "key0", "t"."count" AS "n" FROM "pganon_stage"."r0_values0" AS "t" ORDER BY
"t"."zip_bucket", CAST("t"."zip" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS
"h") AS "h" LEFT JOIN (SELECT "x"."value", CAST(ROW_NUMBER() OVER (ORDER BY "x"."place") AS INT) AS
"position", CAST("x"."n" AS DOUBLE PRECISION) / SUM("x"."n") OVER () AS "share" FROM (SELECT
"t"."value", MIN("t"."place") AS "place", SUM("t"."count") AS "n" FROM (SELECT COALESCE('=' ||
CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '') AS "value", "t"."zip" AS "place",
"t"."count" FROM "pganon_stage"."r0_values0" AS "t") AS "t" GROUP BY "t"."value") AS "x") AS "r" ON
"r"."value" = "h"."value") AS "g" GROUP BY "g"."zip_bucket") AS "groups") AS "w";

-- verify.taught0: hidden values of zip inferred from records that show it
-- [lgb_mdp, lgb_ncp]
SELECT 1 AS "batches"; SELECT "y"."bucket", "y"."x0", "y"."x1", "y"."value" AS "value" FROM (SELECT
"u".* FROM (SELECT "r"."b0" AS "bucket", CAST("r"."c0" AS bigint) AS "x0", CAST(CASE WHEN "r"."p0"
IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("r"."v0" AS TEXT) COLLATE "C") AS text)),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "value"
FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."zip_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values0" AS "t" WHERE
"t"."zip_bucket" <= 25000 GROUP BY "t"."zip_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000) AS "c" ON "c"."number" = "r"."b0" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" WHERE
(SUBSTRING("f"."form" FROM 1 FOR 1) = 'b') UNION ALL SELECT 0 AS "bucket", CAST("r"."c0" AS bigint)
AS "x0", CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint)
AS "x1", HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("d"."value" AS TEXT) COLLATE "C")
AS text)), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0))
AS TEXT), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS
"value" FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "g"."group_id" AS "number", "e"."n"
FROM "pganon_stage"."r0_groups" AS "g" JOIN "pganon_work"."r0_extents" AS "e" ON "e"."class_id" =
"g"."group_id" WHERE "g"."zip_form" = 'g' AND "g"."group_id" <= 25000) AS "z") AS "a" WHERE "a"."n"
<= 50000) AS "g" ON "g"."number" = "r"."group_id" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" LEFT JOIN
"pganon_work"."r0_dict1" AS "d" ON "d"."code" = "r"."c1") AS "u") AS "y"; COPY
pganon_work.r0_taught0 (learner, posterior, correct) FROM STDIN;

-- verify.taught0: hidden values of zip inferred from records that show it
-- [local_bucketization]
SELECT 1 AS "batches"; SELECT "y"."bucket", "y"."x0", "y"."x1", "y"."value" AS "value" FROM (SELECT
"u".* FROM (SELECT "r"."b0" AS "bucket", CAST("r"."c0" AS bigint) AS "x0", CAST(CASE WHEN "r"."p0"
IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint) AS "x1",
HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("r"."v0" AS TEXT) COLLATE "C") AS text)),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS TEXT),
(SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS "value"
FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "t"."zip_bucket" AS "number",
SUM("t"."count") * GREATEST(COUNT(*), 5) AS "n" FROM "pganon_stage"."r0_values0" AS "t" WHERE
"t"."zip_bucket" <= 50000 GROUP BY "t"."zip_bucket") AS "z" WHERE "z"."n" <= 250000) AS "a" WHERE
"a"."n" <= 250000) AS "c" ON "c"."number" = "r"."b0" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" WHERE
(SUBSTRING("f"."form" FROM 1 FOR 1) = 'b') UNION ALL SELECT 0 AS "bucket", CAST("r"."c0" AS bigint)
AS "x0", CAST(CASE WHEN "r"."p0" IS NULL THEN 0 ELSE RANK() OVER (ORDER BY "r"."p0") END AS bigint)
AS "x1", HASHTEXTEXTENDED(CAST(HASH_RECORD_EXTENDED(ROW(CAST((CAST("d"."value" AS TEXT) COLLATE "C")
AS text)), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0))
AS TEXT), (SELECT "s"."seed_a" FROM "pganon_private"."run_secret" AS "s" WHERE "s"."run_id" = 0)) AS
"value" FROM "pganon_work"."r0_attacked" AS "r" JOIN (SELECT "a"."number" FROM (SELECT "z"."number",
SUM("z"."n") OVER (ORDER BY "z"."number") AS "n" FROM (SELECT "g"."group_id" AS "number", "e"."n"
FROM "pganon_stage"."r0_groups" AS "g" JOIN "pganon_work"."r0_extents" AS "e" ON "e"."class_id" =
"g"."group_id" WHERE "g"."zip_form" = 'g' AND "g"."group_id" <= 50000) AS "z") AS "a" WHERE "a"."n"
<= 50000) AS "g" ON "g"."number" = "r"."group_id" JOIN (SELECT DISTINCT "d"."display", "d"."form"
FROM "pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "r"."display" LEFT JOIN
"pganon_work"."r0_dict1" AS "d" ON "d"."code" = "r"."c1") AS "u") AS "y"; COPY
pganon_work.r0_taught0 (learner, posterior, correct) FROM STDIN;

-- verify.uniform_level_2: uniform_level on age
-- [full_domain]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT COUNT(*) FILTER(WHERE "x"."crosses")
AS "measured" FROM (SELECT "s"."v" && LAG("s"."v") OVER (ORDER BY "s"."v") AS "crosses" FROM (SELECT
DISTINCT "c"."age" AS "v" FROM "pganon_stage"."r0_classes" AS "c" WHERE "c"."age" IS NOT NULL) AS
"s") AS "x") AS "b";

-- verify.uniform_level_3: uniform_level on zip
-- [full_domain]
SELECT "b"."measured", "b"."measured" AS "failing" FROM (SELECT "n"."every" - COALESCE("h"."most",
0) AS "measured" FROM (SELECT COUNT(*) AS "every" FROM (SELECT DISTINCT "c"."zip" AS "v" FROM
"pganon_stage"."r0_classes" AS "c" WHERE "c"."zip" IS NOT NULL) AS "s") AS "n" CROSS JOIN (SELECT
MAX("x"."n") AS "most" FROM (SELECT COUNT(*) AS "n" FROM (SELECT DISTINCT "c"."zip" AS "v" FROM
"pganon_stage"."r0_classes" AS "c" WHERE "c"."zip" IS NOT NULL) AS "s" JOIN
"pganon_stage"."r0_levels" AS "l" ON "l"."label" = "s"."v" WHERE "l"."attribute" = 'zip' GROUP BY
"l"."level") AS "x") AS "h") AS "b";

-- verify.utility: loss, discernibility, class sizes
-- [one_dimensional, mondrian, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, danonyir]
SELECT COUNT(*) AS "classes", CAST(SUM("e"."n") AS BIGINT) AS "released", MIN("e"."n") AS
"smallest_class", CAST(AVG("e"."n") AS DOUBLE PRECISION) AS "mean_class", MAX("e"."n") AS
"largest_class", CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
SUM("e"."n" * (((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE ((SELECT
ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" >
0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS
"dict" WHERE "code" > 0)["e"."lo0"]) END) * 1.0 + ((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) -
1) AS DOUBLE PRECISION) / 40) * 1.0)) / 2.0)) AS "weighted_loss", SUM("e"."n" * (CASE WHEN "e"."n0"
AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE ((SELECT ARRAY_AGG("position" ORDER BY
"code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."hi0"]) - ((SELECT
ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" >
0)["e"."lo0"]) END)) / SUM("e"."n") AS "ncp0", SUM("e"."n" * (CAST((BIT_COUNT(CAST("e"."b1_0" AS
BIT(64))) - 1) AS DOUBLE PRECISION) / 40)) / SUM("e"."n") AS "ncp1" FROM (SELECT "e".* FROM
"pganon_work"."r0_extents" AS "e") AS "e";

-- verify.utility: loss, discernibility, class sizes
-- [full_domain]
SELECT COUNT(*) AS "classes", CAST(SUM("e"."n") AS BIGINT) AS "released", MIN("e"."n") AS
"smallest_class", CAST(AVG("e"."n") AS DOUBLE PRECISION) AS "mean_class", MAX("e"."n") AS
"largest_class", CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
SUM("e"."n" * (((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE (SELECT
ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level0" AS
"t")[("e"."lo0" - 1) * 2 + (1) + 1] END) * 1.0 + ((CASE WHEN "e"."n1" AND "e"."hi1" > 0 THEN 1 WHEN
"e"."hi1" = 0 THEN 0 ELSE (SELECT ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level") FROM
"pganon_work"."r0_level1" AS "t")[("e"."lo1" - 1) * 2 + (1) + 1] END) * 1.0)) / 2.0)) AS
"weighted_loss", SUM("e"."n" * (CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN
0 ELSE (SELECT ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level0"
AS "t")[("e"."lo0" - 1) * 2 + (1) + 1] END)) / SUM("e"."n") AS "ncp0", SUM("e"."n" * (CASE WHEN
"e"."n1" AND "e"."hi1" > 0 THEN 1 WHEN "e"."hi1" = 0 THEN 0 ELSE (SELECT ARRAY_AGG("t"."loss" ORDER
BY "t"."code", "t"."level") FROM "pganon_work"."r0_level1" AS "t")[("e"."lo1" - 1) * 2 + (1) + 1]
END)) / SUM("e"."n") AS "ncp1" FROM (SELECT "e".* FROM "pganon_work"."r0_extents" AS "e") AS "e";

-- verify.utility: extent and sizes of the buckets
-- [anatomy, slicing, slamsa, msb, sloms]
SELECT COUNT(*) AS "classes", CAST(SUM("e"."n") AS BIGINT) AS "released", MIN("e"."n") AS
"smallest_class", CAST(AVG("e"."n") AS DOUBLE PRECISION) AS "mean_class", MAX("e"."n") AS
"largest_class", CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
SUM("e"."n" * (((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE ((SELECT
ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" >
0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS
"dict" WHERE "code" > 0)["e"."lo0"]) END) * 1.0 + ((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) -
1) AS DOUBLE PRECISION) / 40) * 1.0)) / 2.0)) AS "weighted_loss", SUM("e"."n" * (CASE WHEN "e"."n0"
AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE ((SELECT ARRAY_AGG("position" ORDER BY
"code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."hi0"]) - ((SELECT
ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" >
0)["e"."lo0"]) END)) / SUM("e"."n") AS "ncp0", SUM("e"."n" * (CAST((BIT_COUNT(CAST("e"."b1_0" AS
BIT(64))) - 1) AS DOUBLE PRECISION) / 40)) / SUM("e"."n") AS "ncp1", 1 AS "partitions" FROM (SELECT
"c"."place", "c"."number", MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS
"hi0", MIN("c"."c0") = 0 AS "n0", BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0", COUNT(*) AS "n"
FROM (SELECT "u".* FROM (SELECT 0 AS "place", "r"."b0" AS "number", "r"."c0", "r"."c1" FROM
"pganon_work"."r0_group_records0" AS "r") AS "u") AS "c" GROUP BY "c"."place", "c"."number") AS "e";

-- verify.utility: loss and sizes of the groups
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT COUNT(*) AS "groups", MIN("e"."n") AS "smallest", MAX("e"."n") AS "largest",
CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
COALESCE(CAST(COALESCE(SUM("e"."n" * ((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" =
0 THEN 0 ELSE (((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS
"dict" WHERE "code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"])) / 1.0 END))), 0) AS DOUBLE
PRECISION) / NULLIF(CAST(COALESCE(SUM("e"."n" * ((1))), 0) AS DOUBLE PRECISION), 0), 0) AS "ncp0",
COALESCE(CAST(COALESCE(SUM("e"."n" * ((CASE WHEN "e"."f1" = 'w' THEN 1 WHEN "e"."f1" = 'g' THEN
CAST(((BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))) - 1) AS DOUBLE PRECISION) / 1 ELSE 0 END))), 0) AS
DOUBLE PRECISION) / NULLIF(CAST(COALESCE(SUM("e"."n" * ((CASE WHEN "e"."f1" = 'w' THEN 1 WHEN
"e"."f1" = 'g' THEN 1 ELSE 0 END))), 0) AS DOUBLE PRECISION), 0), 0) AS "ncp1",
CAST(COALESCE(SUM("e"."n" * ((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0
ELSE (((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE
"code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"])) / 1.0 END))), 0) AS DOUBLE
PRECISION) + (CAST(COALESCE(SUM("e"."n" * ((CASE WHEN "e"."f1" = 'w' THEN 1 WHEN "e"."f1" = 'g' THEN
CAST(((BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))) - 1) AS DOUBLE PRECISION) / 1 ELSE 0 END))), 0) AS
DOUBLE PRECISION)) AS "loss", CAST(COALESCE(SUM("e"."n" * ((CASE WHEN "e"."n0" AND "e"."hi0" > 0
THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE (((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position"
ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"])) / 1.0
END))), 0) AS DOUBLE PRECISION) + (CAST(COALESCE(SUM("e"."n" * ((CASE WHEN "e"."f1" = 'w' THEN 1
WHEN "e"."f1" = 'g' THEN CASE WHEN (CAST(((BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))) - 1) AS DOUBLE
PRECISION) / 1) > 0 THEN ((CAST(((BIT_COUNT(CAST("e"."b1_0" AS BIT(64)))) - 1) AS DOUBLE PRECISION)
/ 1) * 0 + 1) / 1 ELSE 0 END ELSE 0 END))), 0) AS DOUBLE PRECISION)) AS "paper_loss",
CAST(COALESCE(SUM("e"."n" * ((1))), 0) AS DOUBLE PRECISION) + (CAST(COALESCE(SUM("e"."n" * ((CASE
WHEN "e"."f1" = 'w' THEN 1 WHEN "e"."f1" = 'g' THEN 1 ELSE 0 END))), 0) AS DOUBLE PRECISION)) AS
"cells", (SELECT CAST(COALESCE(SUM((1 + (CAST((NOT "c"."f0") AS INT)))), 0) AS BIGINT) FROM
"pganon_work"."r0_coded" AS "c" WHERE NOT EXISTS(SELECT 1 FROM "pganon_work"."r0_local_grouped" AS
"g" WHERE "g"."rid" = "c"."rid")) AS "suppressed_cells" FROM (SELECT "e".*, SUBSTRING("f"."form"
FROM 1 FOR 1) AS "f1" FROM "pganon_work"."r0_extents" AS "e" JOIN "pganon_work"."r0_group_sizes" AS
"d" ON "d"."group_id" = "e"."class_id" JOIN (SELECT DISTINCT "d"."display", "d"."form" FROM
"pganon_work"."r0_displays" AS "d") AS "f" ON "f"."display" = "d"."display") AS "e";

-- verify.utility: loss and sizes of the clusters
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) AS "classes", CAST(SUM("e"."n") AS BIGINT) AS "released", MIN("e"."n") AS
"smallest_class", CAST(AVG("e"."n") AS DOUBLE PRECISION) AS "mean_class", MAX("e"."n") AS
"largest_class", CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
SUM("e"."n" * (((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE ((SELECT
ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" >
0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM "pganon_work"."r0_dict0" AS
"dict" WHERE "code" > 0)["e"."lo0"]) END) * 1.0 + ((CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) >
1) AS INT)) * 1.0)) / 2.0)) AS "weighted_loss", SUM("e"."n" * (CASE WHEN "e"."n0" AND "e"."hi0" > 0
THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE ((SELECT ARRAY_AGG("position" ORDER BY "code") FROM
"pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."hi0"]) - ((SELECT ARRAY_AGG("position"
ORDER BY "code") FROM "pganon_work"."r0_dict0" AS "dict" WHERE "code" > 0)["e"."lo0"]) END)) /
SUM("e"."n") AS "ncp0", SUM("e"."n" * (CAST((BIT_COUNT(CAST("e"."b1_0" AS BIT(64))) > 1) AS INT))) /
SUM("e"."n") AS "ncp1", (SELECT COUNT(*) FILTER(WHERE CARDINALITY("k"."c0") = 1) FROM
"pganon_work"."r0_cluster_codes" AS "k") + ((SELECT COUNT(*) FILTER(WHERE CARDINALITY("k"."c1") = 1)
FROM "pganon_work"."r0_cluster_codes" AS "k")) AS "constants" FROM (SELECT "c"."cluster_no",
MIN("c"."c0") FILTER(WHERE "c"."c0" > 0) AS "lo0", MAX("c"."c0") AS "hi0", MIN("c"."c0") = 0 AS
"n0", BIT_OR(CAST(1 AS BIGINT) << "c"."c1") AS "b1_0", CAST(SUM("c"."n") AS BIGINT) AS "n" FROM
"pganon_work"."r0_cluster_cells" AS "c" GROUP BY "c"."cluster_no") AS "e";

-- verify.utility: loss, discernibility, class sizes
-- [geneir]
SELECT COUNT(*) AS "classes", CAST(SUM("e"."n") AS BIGINT) AS "released", MIN("e"."n") AS
"smallest_class", CAST(AVG("e"."n") AS DOUBLE PRECISION) AS "mean_class", MAX("e"."n") AS
"largest_class", CAST(SUM(CAST("e"."n" AS DECIMAL) * "e"."n") AS DOUBLE PRECISION) AS "squares",
SUM("e"."n" * (((CASE WHEN "e"."n0" AND "e"."hi0" > 0 THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE (SELECT
ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level0" AS
"t")[("e"."lo0" - 1) * 2 + (CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level")
FROM "pganon_work"."r0_level0" AS "t")[("e"."lo0" - 1) * 2 + 0 + 1]) >= "e"."hi0" THEN 0 ELSE 1 END)
+ 1] END) * 1.0 + ((CASE WHEN "e"."n1" AND "e"."hi1" > 0 THEN 1 WHEN "e"."hi1" = 0 THEN 0 ELSE
(SELECT ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level1" AS
"t")[("e"."lo1" - 1) * 2 + (CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level")
FROM "pganon_work"."r0_level1" AS "t")[("e"."lo1" - 1) * 2 + 0 + 1]) >= "e"."hi1" THEN 0 ELSE 1 END)
+ 1] END) * 1.0)) / 2.0)) AS "weighted_loss", SUM("e"."n" * (CASE WHEN "e"."n0" AND "e"."hi0" > 0
THEN 1 WHEN "e"."hi0" = 0 THEN 0 ELSE (SELECT ARRAY_AGG("t"."loss" ORDER BY "t"."code", "t"."level")
FROM "pganon_work"."r0_level0" AS "t")[("e"."lo0" - 1) * 2 + (CASE WHEN ((SELECT ARRAY_AGG("t"."hi"
ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level0" AS "t")[("e"."lo0" - 1) * 2 + 0 +
1]) >= "e"."hi0" THEN 0 ELSE 1 END) + 1] END)) / SUM("e"."n") AS "ncp0", SUM("e"."n" * (CASE WHEN
"e"."n1" AND "e"."hi1" > 0 THEN 1 WHEN "e"."hi1" = 0 THEN 0 ELSE (SELECT ARRAY_AGG("t"."loss" ORDER
BY "t"."code", "t"."level") FROM "pganon_work"."r0_level1" AS "t")[("e"."lo1" - 1) * 2 + (CASE WHEN
((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level") FROM "pganon_work"."r0_level1" AS
"t")[("e"."lo1" - 1) * 2 + 0 + 1]) >= "e"."hi1" THEN 0 ELSE 1 END) + 1] END)) / SUM("e"."n") AS
"ncp1" FROM (SELECT "e".* FROM "pganon_work"."r0_extents" AS "e") AS "e";

-- verify.vulnerable: classes that satisfy their requirement on records and not on individuals
-- [danonyir, geneir]
SELECT COUNT(DISTINCT "v"."class_id") AS "vulnerable" FROM (SELECT "u".* FROM (SELECT "m"."class_id"
FROM (SELECT "s"."measure", "s"."g0" AS "class_id" FROM (WITH "coded" AS MATERIALIZED (SELECT "v".*,
CAST((DENSE_RANK() OVER (PARTITION BY "g0" ORDER BY "v"."value") - 1) AS INT) AS "code", COUNT(*)
OVER (PARTITION BY "g0", "v"."value") AS "holders", COUNT(*) OVER (PARTITION BY "g0",
"v"."individual") AS "many" FROM (SELECT DISTINCT "h"."individual", "h"."value", "h"."class_id" AS
"g0" FROM (SELECT DISTINCT "r"."individual", "r"."value", "r"."class_id" FROM (SELECT
"r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' || CAST((CAST("r"."disease" AS
TEXT) COLLATE "C") AS text), '') AS "value" FROM "pganon_stage"."r0_records" AS "r") AS "r") AS "h")
AS "v"), "bounds" AS MATERIALIZED (SELECT "g0", GREATEST(COUNT(DISTINCT "k"."code") FILTER(WHERE
"k"."many" = 1), CEIL(SUM(1.0 / "k"."holders") - 1e-6)) AS "least" FROM (SELECT "g0",
"i"."individual", MIN("i"."many") AS "many", MIN("i"."code") AS "code", MAX("i"."holders") AS
"holders" FROM "coded" AS "i" GROUP BY "g0", "i"."individual") AS "k" GROUP BY "g0"), "undecided" AS
(SELECT "c".*, MAX("c"."code") OVER (PARTITION BY "g0") + 1 AS "width" FROM (SELECT "c".* FROM
"coded" AS "c" JOIN "bounds" AS "b" ON "c"."g0" = "b"."g0" WHERE "b"."least" < 2) AS "c"),
"families" AS (SELECT "g0", ARRAY_AGG("m"."mask") AS "family" FROM (SELECT "g0", "u"."individual",
BIT_OR(SET_BIT(CAST(REPEAT('0', "u"."width") AS "varbit"), "u"."code", 1)) AS "mask" FROM
"undecided" AS "u" GROUP BY "g0", "u"."individual") AS "m" GROUP BY "g0") SELECT "s".* FROM (SELECT
"g0", CAST(2 AS BIGINT) AS "measure" FROM "bounds" AS "d" WHERE "d"."least" >= 2 UNION ALL SELECT
"g0", CAST("pganon".hitting_set_size("f"."family", 2, 0) AS BIGINT) AS "measure" FROM "families" AS
"f") AS "s") AS "s") AS "m" WHERE NOT ("m"."measure" >= 2)) AS "u") AS "v";
