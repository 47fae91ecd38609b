-- evidence.candidates_0_sizes: how many values of disease groups have
-- [anatomy, slicing, slamsa, msb]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."size"), 0) AS "smallest", COALESCE(MAX("g"."size"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT SUM("h"."n") AS "n", COUNT(*) AS "size", "h"."group_id" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS
"r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" GROUP BY "h"."group_id") AS "g";

-- evidence.candidates_1_sizes: how many values of drug groups have
-- [slamsa, msb]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."size"), 0) AS "smallest", COALESCE(MAX("g"."size"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT SUM("h"."n") AS "n", COUNT(*) AS "size", "h"."group_id" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r"
GROUP BY "r"."by0", "r"."key0") AS "h") AS "h" GROUP BY "h"."group_id") AS "g";

-- evidence.candidates_1_sizes: how many combinations of set person remain in clusters
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."size"), 0) AS "smallest", COALESCE(MAX("g"."size"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT "k"."n", "c"."supported" AS "size" FROM "pganon_work"."r0_combinations" AS
"c" JOIN "pganon_work"."r0_cluster_codes" AS "k" ON "k"."cluster_no" = "c"."cluster_no" WHERE
"c"."value" = 1) AS "g";

-- evidence.candidates_2_sizes: how many combinations of set place remain in clusters
-- [qs_greedy, qs_efficient]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."size"), 0) AS "smallest", COALESCE(MAX("g"."size"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."size" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT "k"."n", "c"."supported" AS "size" FROM "pganon_work"."r0_combinations" AS
"c" JOIN "pganon_work"."r0_cluster_codes" AS "k" ON "k"."cluster_no" = "c"."cluster_no" WHERE
"c"."value" = 2) AS "g";

-- evidence.distribution0: distribution of attribute 1 in the source and in the release
-- [one_dimensional, mondrian, sloms, lgb_mdp, lgb_ncp, local_bucketization, local_generalization,
-- beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, qs_greedy, qs_efficient]
SELECT COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("e"."edge", COALESCE("e"."n", 0), COALESCE("e"."p", 0),
COALESCE("e"."q", 0)) ORDER BY "e"."edge"), '[]') AS "bins", COALESCE(MAX("e"."unit"), '') AS "unit"
FROM (SELECT "b"."n", "b"."unit", "b"."p" / SUM("b"."p") OVER () AS "p", "b"."q",
TRIM_SCALE("g"."bin" * "s"."step") AS "edge" FROM (SELECT "u"."low", "u"."high",
COALESCE(NULLIF(GREATEST(CASE WHEN "u"."raw" <= "u"."ten" THEN "u"."ten" WHEN "u"."raw" <= 2 *
"u"."ten" THEN 2 * "u"."ten" WHEN "u"."raw" <= 5 * "u"."ten" THEN 5 * "u"."ten" ELSE 10 * "u"."ten"
END, 1), 0), 1) AS "step" FROM (SELECT "t"."low", "t"."high", ("t"."high" - "t"."low") / 14 AS
"raw", POWER(CAST(10 AS DECIMAL), FLOOR(LOG(NULLIF("t"."high" - "t"."low", 0) / 14))) AS "ten" FROM
(SELECT MIN("k"."x") FILTER(WHERE "k"."upto" >= 0.05) AS "low", MIN("k"."x") FILTER(WHERE "k"."upto"
>= 0.95) AS "high" FROM (SELECT "c"."x", SUM("c"."p") OVER (ORDER BY "c"."x") AS "upto" FROM (SELECT
"m"."p", "m"."q", "d"."n" AS "n", "u"."unit", CAST("d"."value" AS DECIMAL) AS "x" FROM
"pganon_work"."r0_mdist0" AS "m" JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" = "m"."code"
CROSS JOIN (SELECT '' AS "unit") AS "u" WHERE "d"."code" > 0) AS "c") AS "k") AS "t") AS "u") AS "s"
CROSS JOIN LATERAL GENERATE_SERIES(FLOOR("s"."low" / "s"."step") - 1, FLOOR("s"."high" / "s"."step")
+ 1) AS "g"("bin") LEFT JOIN (SELECT "b"."bin", CAST(SUM("b"."n") AS BIGINT) AS "n", MAX("b"."unit")
AS "unit", SUM("b"."p") AS "p", COALESCE(SUM("b"."q") / NULLIF(SUM(SUM("b"."q")) OVER (), 0), 0) AS
"q" FROM (SELECT LEAST(GREATEST(FLOOR("c"."x" / "s"."step"), FLOOR("s"."low" / "s"."step") - 1),
FLOOR("s"."high" / "s"."step") + 1) AS "bin", "c"."n", "c"."p", "c"."q", "c"."unit" FROM (SELECT
"m"."p", "m"."q", "d"."n" AS "n", "u"."unit", CAST("d"."value" AS DECIMAL) AS "x" FROM
"pganon_work"."r0_mdist0" AS "m" JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" = "m"."code"
CROSS JOIN (SELECT '' AS "unit") AS "u" WHERE "d"."code" > 0) AS "c" CROSS JOIN (SELECT "u"."low",
"u"."high", COALESCE(NULLIF(GREATEST(CASE WHEN "u"."raw" <= "u"."ten" THEN "u"."ten" WHEN "u"."raw"
<= 2 * "u"."ten" THEN 2 * "u"."ten" WHEN "u"."raw" <= 5 * "u"."ten" THEN 5 * "u"."ten" ELSE 10 *
"u"."ten" END, 1), 0), 1) AS "step" FROM (SELECT "t"."low", "t"."high", ("t"."high" - "t"."low") /
14 AS "raw", POWER(CAST(10 AS DECIMAL), FLOOR(LOG(NULLIF("t"."high" - "t"."low", 0) / 14))) AS "ten"
FROM (SELECT MIN("k"."x") FILTER(WHERE "k"."upto" >= 0.05) AS "low", MIN("k"."x") FILTER(WHERE
"k"."upto" >= 0.95) AS "high" FROM (SELECT "c"."x", SUM("c"."p") OVER (ORDER BY "c"."x") AS "upto"
FROM (SELECT "m"."p", "m"."q", "d"."n" AS "n", "u"."unit", CAST("d"."value" AS DECIMAL) AS "x" FROM
"pganon_work"."r0_mdist0" AS "m" JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" = "m"."code"
CROSS JOIN (SELECT '' AS "unit") AS "u" WHERE "d"."code" > 0) AS "c") AS "k") AS "t") AS "u") AS
"s") AS "b" GROUP BY "b"."bin") AS "b" ON "b"."bin" = "g"."bin") AS "e";

-- evidence.distribution0: distribution of attribute 1 in the source and in the release
-- [full_domain]
SELECT COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("r"."label", "r"."p", "r"."q") ORDER BY (-"r"."place"))
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."p") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_source",
CAST(COALESCE(SUM("r"."q") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_release"
FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2, COALESCE("l"."enough",
"l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN "c"."kinds" > 19 + 1
THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE "c"."upto" >= 11) OVER ()
AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*) OVER () AS "kinds",
SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER () AS "rare" FROM
(SELECT LEFT(CAST("d"."value" AS text), 80) AS "label", "d"."code", "d"."code" AS "key", "d"."n" AS
"n", "d"."n" AS "first", "m"."p", "m"."q" FROM "pganon_work"."r0_mdist0" AS "m" JOIN
"pganon_work"."r0_dict0" AS "d" ON "d"."code" = "m"."code") AS "v" WINDOW "w" AS (ORDER BY "v"."n",
"v"."key")) AS "c") AS "l") AS "r";

-- evidence.distribution0: distribution of attribute 1 in the source and in the release
-- [danonyir]
SELECT COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("e"."edge", COALESCE("e"."n", 0), COALESCE("e"."p", 0),
COALESCE("e"."q", 0)) ORDER BY "e"."edge"), '[]') AS "bins", COALESCE(MAX("e"."unit"), '') AS "unit"
FROM (SELECT "b"."n", "b"."unit", "b"."p" / SUM("b"."p") OVER () AS "p", "b"."q",
TRIM_SCALE("g"."bin" * "s"."step") AS "edge" FROM (SELECT "u"."low", "u"."high",
COALESCE(NULLIF(GREATEST(CASE WHEN "u"."raw" <= "u"."ten" THEN "u"."ten" WHEN "u"."raw" <= 2 *
"u"."ten" THEN 2 * "u"."ten" WHEN "u"."raw" <= 5 * "u"."ten" THEN 5 * "u"."ten" ELSE 10 * "u"."ten"
END, 1), 0), 1) AS "step" FROM (SELECT "t"."low", "t"."high", ("t"."high" - "t"."low") / 14 AS
"raw", POWER(CAST(10 AS DECIMAL), FLOOR(LOG(NULLIF("t"."high" - "t"."low", 0) / 14))) AS "ten" FROM
(SELECT MIN("k"."x") FILTER(WHERE "k"."upto" >= 0.05) AS "low", MIN("k"."x") FILTER(WHERE "k"."upto"
>= 0.95) AS "high" FROM (SELECT "c"."x", SUM("c"."p") OVER (ORDER BY "c"."x") AS "upto" FROM (SELECT
"m"."p", "m"."q", COALESCE("h"."first", 0) AS "n", "u"."unit", CAST("d"."value" AS DECIMAL) AS "x"
FROM "pganon_work"."r0_mdist0" AS "m" JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" =
"m"."code" CROSS JOIN (SELECT '' AS "unit") AS "u" LEFT JOIN "pganon_work"."r0_holders0" AS "h" ON
"h"."key" = "d"."code" WHERE "d"."code" > 0) AS "c") AS "k") AS "t") AS "u") AS "s" CROSS JOIN
LATERAL GENERATE_SERIES(FLOOR("s"."low" / "s"."step") - 1, FLOOR("s"."high" / "s"."step") + 1) AS
"g"("bin") LEFT JOIN (SELECT "b"."bin", CAST(SUM("b"."n") AS BIGINT) AS "n", MAX("b"."unit") AS
"unit", SUM("b"."p") AS "p", COALESCE(SUM("b"."q") / NULLIF(SUM(SUM("b"."q")) OVER (), 0), 0) AS "q"
FROM (SELECT LEAST(GREATEST(FLOOR("c"."x" / "s"."step"), FLOOR("s"."low" / "s"."step") - 1),
FLOOR("s"."high" / "s"."step") + 1) AS "bin", "c"."n", "c"."p", "c"."q", "c"."unit" FROM (SELECT
"m"."p", "m"."q", COALESCE("h"."first", 0) AS "n", "u"."unit", CAST("d"."value" AS DECIMAL) AS "x"
FROM "pganon_work"."r0_mdist0" AS "m" JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" =
"m"."code" CROSS JOIN (SELECT '' AS "unit") AS "u" LEFT JOIN "pganon_work"."r0_holders0" AS "h" ON
"h"."key" = "d"."code" WHERE "d"."code" > 0) AS "c" CROSS JOIN (SELECT "u"."low", "u"."high",
COALESCE(NULLIF(GREATEST(CASE WHEN "u"."raw" <= "u"."ten" THEN "u"."ten" WHEN "u"."raw" <= 2 *
"u"."ten" THEN 2 * "u"."ten" WHEN "u"."raw" <= 5 * "u"."ten" THEN 5 * "u"."ten" ELSE 10 * "u"."ten"
END, 1), 0), 1) AS "step" FROM (SELECT "t"."low", "t"."high", ("t"."high" - "t"."low") / 14 AS
"raw", POWER(CAST(10 AS DECIMAL), FLOOR(LOG(NULLIF("t"."high" - "t"."low", 0) / 14))) AS "ten" FROM
(SELECT MIN("k"."x") FILTER(WHERE "k"."upto" >= 0.05) AS "low", MIN("k"."x") FILTER(WHERE "k"."upto"
>= 0.95) AS "high" FROM (SELECT "c"."x", SUM("c"."p") OVER (ORDER BY "c"."x") AS "upto" FROM (SELECT
"m"."p", "m"."q", COALESCE("h"."first", 0) AS "n", "u"."unit", CAST("d"."value" AS DECIMAL) AS "x"
FROM "pganon_work"."r0_mdist0" AS "m" JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" =
"m"."code" CROSS JOIN (SELECT '' AS "unit") AS "u" LEFT JOIN "pganon_work"."r0_holders0" AS "h" ON
"h"."key" = "d"."code" WHERE "d"."code" > 0) AS "c") AS "k") AS "t") AS "u") AS "s") AS "b" GROUP BY
"b"."bin") AS "b" ON "b"."bin" = "g"."bin") AS "e";

-- evidence.distribution0: distribution of attribute 1 in the source and in the release
-- [geneir]
SELECT COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("r"."label", "r"."p", "r"."q") ORDER BY (-"r"."place"))
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."p") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_source",
CAST(COALESCE(SUM("r"."q") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_release"
FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2, COALESCE("l"."enough",
"l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN "c"."kinds" > 19 + 1
THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE "c"."upto" >= 11) OVER ()
AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*) OVER () AS "kinds",
SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER () AS "rare" FROM
(SELECT LEFT(CAST("d"."value" AS text), 80) AS "label", "d"."code", "d"."code" AS "key",
COALESCE("h"."n", 0) AS "n", COALESCE("h"."first", 0) AS "first", "m"."p", "m"."q" FROM
"pganon_work"."r0_mdist0" AS "m" JOIN "pganon_work"."r0_dict0" AS "d" ON "d"."code" = "m"."code"
LEFT JOIN "pganon_work"."r0_holders0" AS "h" ON "h"."key" = "d"."code") AS "v" WINDOW "w" AS (ORDER
BY "v"."n", "v"."key")) AS "c") AS "l") AS "r";

-- evidence.distribution1: distribution of attribute 2 in the source and in the release
-- [one_dimensional, mondrian, full_domain, sloms, lgb_mdp, lgb_ncp, local_bucketization,
-- local_generalization, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, qs_greedy,
-- qs_efficient]
SELECT COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("r"."label", "r"."p", "r"."q") ORDER BY (-"r"."place"))
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."p") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_source",
CAST(COALESCE(SUM("r"."q") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_release"
FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2, COALESCE("l"."enough",
"l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN "c"."kinds" > 19 + 1
THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE "c"."upto" >= 11) OVER ()
AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*) OVER () AS "kinds",
SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER () AS "rare" FROM
(SELECT LEFT(CAST("d"."value" AS text), 80) AS "label", "d"."code", "d"."code" AS "key", "d"."n" AS
"n", "d"."n" AS "first", "m"."p", "m"."q" FROM "pganon_work"."r0_mdist1" AS "m" JOIN
"pganon_work"."r0_dict1" AS "d" ON "d"."code" = "m"."code") AS "v" WINDOW "w" AS (ORDER BY "v"."n",
"v"."key")) AS "c") AS "l") AS "r";

-- evidence.distribution1: distribution of attribute 2 in the source and in the release
-- [danonyir, geneir]
SELECT COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("r"."label", "r"."p", "r"."q") ORDER BY (-"r"."place"))
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."p") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_source",
CAST(COALESCE(SUM("r"."q") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_release"
FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2, COALESCE("l"."enough",
"l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN "c"."kinds" > 19 + 1
THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE "c"."upto" >= 11) OVER ()
AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*) OVER () AS "kinds",
SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER () AS "rare" FROM
(SELECT LEFT(CAST("d"."value" AS text), 80) AS "label", "d"."code", "d"."code" AS "key",
COALESCE("h"."n", 0) AS "n", COALESCE("h"."first", 0) AS "first", "m"."p", "m"."q" FROM
"pganon_work"."r0_mdist1" AS "m" JOIN "pganon_work"."r0_dict1" AS "d" ON "d"."code" = "m"."code"
LEFT JOIN "pganon_work"."r0_holders1" AS "h" ON "h"."key" = "d"."code") AS "v" WINDOW "w" AS (ORDER
BY "v"."n", "v"."key")) AS "c") AS "l") AS "r";

-- evidence.exactness0: how exact attribute 1 still is
-- [one_dimensional, mondrian, full_domain, sloms, lgb_mdp, lgb_ncp, local_bucketization,
-- local_generalization, beta_primacy, kinc, kagg, js_reduce, danonyir, geneir]
SELECT SUM("w"."n") FILTER(WHERE "w"."low" = "w"."high" AND NOT "w"."z" OR "w"."low" IS NULL AND
"w"."covers" <= 1) / SUM("w"."n") AS "exact", CASE WHEN (SUM(CAST("w"."n" AS DECIMAL) *
CAST(("w"."high" - "w"."low") AS DECIMAL)) / NULLIF(SUM(CAST("w"."n" AS DECIMAL)) FILTER(WHERE
"w"."low" IS NOT NULL), 0)) < 1e308 THEN ROUND((SUM(CAST("w"."n" AS DECIMAL) * CAST(("w"."high" -
"w"."low") AS DECIMAL)) / NULLIF(SUM(CAST("w"."n" AS DECIMAL)) FILTER(WHERE "w"."low" IS NOT NULL),
0)), 40) END AS "width" FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0) /
SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover0" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id0" AS "id" FROM
"pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w";

-- evidence.exactness0: how exact attribute 1 still is
-- [kinc_mic, kagg_mic]
SELECT SUM("w"."n") FILTER(WHERE "w"."covers" <= 1) / SUM("w"."n") AS "exact", SUM("w"."n" *
"w"."covers") / SUM("w"."n") AS "width" FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers",
0) / SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover0" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id0" AS "id" FROM
"pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w";

-- evidence.exactness0: how exact attribute 1 still is
-- [qs_greedy, qs_efficient]
SELECT COALESCE(SUM("e"."n") FILTER(WHERE CARDINALITY("e"."held") = 1), 0) / SUM("e"."n") AS
"exact", SUM("e"."n" * CARDINALITY("e"."held")) / SUM("e"."n") AS "width" FROM (SELECT "k"."n",
"k"."c0" AS "held" FROM "pganon_work"."r0_cluster_codes" AS "k") AS "e";

-- evidence.exactness1: how exact attribute 2 still is
-- [one_dimensional, mondrian, sloms, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce,
-- danonyir]
SELECT SUM("w"."n") FILTER(WHERE "w"."covers" <= 1) / SUM("w"."n") AS "exact", SUM("w"."n" *
"w"."covers") / SUM("w"."n") AS "width" FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers",
0) / SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover1" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id1" AS "id" FROM
"pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w";

-- evidence.exactness1: how exact attribute 2 still is
-- [full_domain]
SELECT COALESCE(SUM("e"."n") FILTER(WHERE (CASE WHEN "e"."n1" AND "e"."hi1" > 0 THEN 1 WHEN
"e"."hi1" = 0 THEN 0 ELSE (1) END) = 0), 0) / SUM("e"."n") AS "exact", SUM("e"."n" * (CASE WHEN
"e"."n1" AND "e"."hi1" > 0 THEN 1 WHEN "e"."hi1" = 0 THEN 0 ELSE (1) END)) / SUM("e"."n") AS "width"
FROM (SELECT "e".* FROM "pganon_work"."r0_extents" AS "e") AS "e";

-- evidence.exactness1: how exact attribute 2 still is
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT SUM("w"."n") FILTER(WHERE "w"."covers" <= 1) / SUM("w"."n") AS "exact", SUM("w"."n" *
"w"."covers") / SUM("w"."n") AS "width" FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers",
0) / SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover1" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id1" AS "id" FROM
"pganon_work"."r0_mshown" AS "b" WHERE "b"."z1" IS NOT NULL) AS "b" GROUP BY "b"."id") AS "w" ON
"w"."id" = "c"."id") AS "w";

-- evidence.exactness1: how exact attribute 2 still is
-- [qs_greedy, qs_efficient]
SELECT COALESCE(SUM("e"."n") FILTER(WHERE CARDINALITY("e"."held") = 1), 0) / SUM("e"."n") AS
"exact", SUM("e"."n" * CARDINALITY("e"."held")) / SUM("e"."n") AS "width" FROM (SELECT "k"."n",
"k"."c1" AS "held" FROM "pganon_work"."r0_cluster_codes" AS "k") AS "e";

-- evidence.exactness1: how exact attribute 2 still is
-- [geneir]
SELECT COALESCE(SUM("e"."n") FILTER(WHERE (CASE WHEN "e"."n1" AND "e"."hi1" > 0 THEN 1 WHEN
"e"."hi1" = 0 THEN 0 ELSE (CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code", "t"."level")
FROM "pganon_work"."r0_level1" AS "t")[("e"."lo1" - 1) * 2 + 0 + 1]) >= "e"."hi1" THEN 0 ELSE 1 END)
END) = 0), 0) / SUM("e"."n") AS "exact", SUM("e"."n" * (CASE WHEN "e"."n1" AND "e"."hi1" > 0 THEN 1
WHEN "e"."hi1" = 0 THEN 0 ELSE (CASE WHEN ((SELECT ARRAY_AGG("t"."hi" ORDER BY "t"."code",
"t"."level") FROM "pganon_work"."r0_level1" AS "t")[("e"."lo1" - 1) * 2 + 0 + 1]) >= "e"."hi1" THEN
0 ELSE 1 END) END)) / SUM("e"."n") AS "width" FROM (SELECT "e".* FROM "pganon_work"."r0_extents" AS
"e") AS "e";

-- evidence.holders0: how many people have the values of attribute 1
-- [danonyir, geneir]
CREATE TABLE pganon_work.r0_holders0 AS WITH "once" AS MATERIALIZED (SELECT DISTINCT "h"."person",
"h"."key" FROM (SELECT "c"."individual" AS "person", "c"."c0" AS "key" FROM "pganon_work"."r0_coded"
AS "c") AS "h"), "placed" AS MATERIALIZED (SELECT "c"."key", "c"."n", ROW_NUMBER() OVER (ORDER BY
"c"."n", "c"."key") AS "place" FROM (SELECT "o"."key", COUNT(*) AS "n" FROM "once" AS "o" GROUP BY
"o"."key") AS "c") SELECT "p"."key", "p"."n", COALESCE("f"."n", 0) AS "first" FROM "placed" AS "p"
LEFT JOIN (SELECT "r"."place", COUNT(*) AS "n" FROM (SELECT "o"."person", MIN("q"."place") AS
"place" FROM "once" AS "o" JOIN "placed" AS "q" ON "q"."key" = "o"."key" GROUP BY "o"."person") AS
"r" GROUP BY "r"."place") AS "f" ON "f"."place" = "p"."place";

-- evidence.holders1: how many people have the values of attribute 2
-- [danonyir, geneir]
CREATE TABLE pganon_work.r0_holders1 AS WITH "once" AS MATERIALIZED (SELECT DISTINCT "h"."person",
"h"."key" FROM (SELECT "c"."individual" AS "person", "c"."c1" AS "key" FROM "pganon_work"."r0_coded"
AS "c") AS "h"), "placed" AS MATERIALIZED (SELECT "c"."key", "c"."n", ROW_NUMBER() OVER (ORDER BY
"c"."n", "c"."key") AS "place" FROM (SELECT "o"."key", COUNT(*) AS "n" FROM "once" AS "o" GROUP BY
"o"."key") AS "c") SELECT "p"."key", "p"."n", COALESCE("f"."n", 0) AS "first" FROM "placed" AS "p"
LEFT JOIN (SELECT "r"."place", COUNT(*) AS "n" FROM (SELECT "o"."person", MIN("q"."place") AS
"place" FROM "once" AS "o" JOIN "placed" AS "q" ON "q"."key" = "o"."key" GROUP BY "o"."person") AS
"r" GROUP BY "r"."place") AS "f" ON "f"."place" = "p"."place";

-- evidence.metric_cover0: what the published values of attribute 1 cover
-- [one_dimensional, mondrian, full_domain, sloms, lgb_mdp, lgb_ncp, local_bucketization,
-- local_generalization, beta_primacy, kinc, kagg, js_reduce, danonyir, geneir]
CREATE TABLE pganon_work.r0_mcover0 AS SELECT "k"."id", "k"."z", CAST("k"."z" AS INT) +
COALESCE("b"."hi" - "b"."lo" + 1, 0) AS "covers", (CASE WHEN "k"."z" THEN COALESCE("t"."nulls", 0)
ELSE 0 END) + COALESCE("h"."upto" - "l"."upto" + "l"."n", 0) AS "mass", COALESCE("b"."lo", 1) AS
"lo", COALESCE("b"."hi", 0) AS "hi", CAST(ROUND("b"."low" - "t"."lowest", 40) AS DOUBLE PRECISION)
AS "low", CAST(ROUND("b"."high" - "t"."lowest", 40) AS DOUBLE PRECISION) AS "high", CASE WHEN
"b"."id" IS NOT NULL THEN CAST(ROUND(COALESCE(("b"."low" - "t"."first") / NULLIF("t"."last" -
"t"."first", 0), 0), 40) AS DOUBLE PRECISION) END AS "start", CASE WHEN "b"."id" IS NOT NULL THEN
CAST(ROUND(COALESCE(("b"."high" - "t"."first") / NULLIF("t"."last" - "t"."first", 0), 0), 40) AS
DOUBLE PRECISION) END AS "stop", CAST(NULL AS "varbit") AS "bits" FROM (SELECT DISTINCT "s"."id0" AS
"id", "s"."g0" AS "g", "s"."z0" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k" LEFT JOIN
(SELECT "c"."id", MIN("c"."seen") FILTER(WHERE "c"."side" = 'l') + 1 AS "lo", MAX("c"."seen")
FILTER(WHERE "c"."side" = 'u') AS "hi", MIN(CASE WHEN "c"."place" = '-Infinity' THEN "c"."first"
ELSE (CEIL("c"."place") + CAST(("c"."kind" = 2 AND "c"."place" = CEIL("c"."place")) AS INT)) END)
FILTER(WHERE "c"."side" = 'l') AS "low", MAX(CASE WHEN "c"."place" = 'Infinity' THEN "c"."last" ELSE
(FLOOR("c"."place") - CAST(("c"."kind" = 0 AND "c"."place" = FLOOR("c"."place")) AS INT)) END)
FILTER(WHERE "c"."side" = 'u') AS "high" FROM (SELECT "e".*, COUNT(*) FILTER(WHERE "e"."kind" = 1)
OVER (ORDER BY "e"."place", "e"."kind") AS "seen", MIN("e"."place") FILTER(WHERE "e"."kind" = 1)
OVER () AS "first", MAX("e"."place") FILTER(WHERE "e"."kind" = 1) OVER () AS "last" FROM (SELECT
"u".* FROM (SELECT "v"."place", 1 AS "kind", 0 AS "id", 'v' AS "side" FROM
"pganon_work"."r0_mplaces0" AS "v" WHERE "v"."code" > 0 UNION ALL SELECT
COALESCE(CAST(LOWER("k"."g") AS DECIMAL), CAST('-Infinity' AS DECIMAL)) AS "place", CASE WHEN
LOWER_INC("k"."g") OR LOWER_INF("k"."g") THEN 0 ELSE 2 END AS "kind", "k"."id", 'l' AS "side" FROM
(SELECT DISTINCT "s"."id0" AS "id", "s"."g0" AS "g", "s"."z0" AS "z" FROM "pganon_work"."r0_mshown"
AS "s") AS "k" WHERE "k"."g" IS NOT NULL UNION ALL SELECT COALESCE(CAST(UPPER("k"."g") AS DECIMAL),
CAST('Infinity' AS DECIMAL)) AS "place", CASE WHEN UPPER_INC("k"."g") OR UPPER_INF("k"."g") THEN 2
ELSE 0 END AS "kind", "k"."id", 'u' AS "side" FROM (SELECT DISTINCT "s"."id0" AS "id", "s"."g0" AS
"g", "s"."z0" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k" WHERE "k"."g" IS NOT NULL) AS
"u") AS "e") AS "c" WHERE "c"."side" <> 'v' GROUP BY "c"."id") AS "b" ON "b"."id" = "k"."id" LEFT
JOIN "pganon_work"."r0_mplaces0" AS "l" ON "l"."code" = "b"."lo" LEFT JOIN
"pganon_work"."r0_mplaces0" AS "h" ON "h"."code" = "b"."hi" CROSS JOIN (SELECT SUM("q"."n")
FILTER(WHERE "q"."code" = 0) AS "nulls", MIN("q"."place") AS "first", MAX("q"."place") AS "last",
MIN("q"."place") AS "lowest" FROM "pganon_work"."r0_mplaces0" AS "q") AS "t";

-- evidence.metric_cover0: what the published values of attribute 1 cover
-- [kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_mcover0 AS SELECT "k"."id", "k"."z", CAST("k"."z" AS INT) +
COALESCE("b"."hi" - "b"."lo" + 1, 0) AS "covers", (CASE WHEN "k"."z" THEN COALESCE("t"."nulls", 0)
ELSE 0 END) + COALESCE("h"."upto" - "l"."upto" + "l"."n", 0) AS "mass", COALESCE("b"."lo", 1) AS
"lo", COALESCE("b"."hi", 0) AS "hi", CAST(ROUND("b"."low" - "t"."lowest", 40) AS DOUBLE PRECISION)
AS "low", CAST(ROUND("b"."high" - "t"."lowest", 40) AS DOUBLE PRECISION) AS "high", CASE WHEN
"b"."id" IS NOT NULL THEN CAST(ROUND(COALESCE(("b"."low" - "t"."first") / NULLIF("t"."last" -
"t"."first", 0), 0), 40) AS DOUBLE PRECISION) END AS "start", CASE WHEN "b"."id" IS NOT NULL THEN
CAST(ROUND(COALESCE(("b"."high" - "t"."first") / NULLIF("t"."last" - "t"."first", 0), 0), 40) AS
DOUBLE PRECISION) END AS "stop", CAST(NULL AS "varbit") AS "bits" FROM (SELECT DISTINCT "s"."id0" AS
"id", "s"."g0" AS "g", "s"."z0" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k" LEFT JOIN
(SELECT "n"."id", "n"."code" AS "lo", "n"."code" AS "hi", "n"."place" AS "low", "n"."place" AS
"high" FROM (SELECT "m"."id", "m"."place", CASE WHEN "b"."code" IS NULL OR "m"."place" - "a"."place"
<= "b"."place" - "m"."place" THEN "a"."code" ELSE "b"."code" END AS "code" FROM (SELECT "c".* FROM
(SELECT "e".*, COUNT(*) FILTER(WHERE "e"."kind" = 0) OVER (ORDER BY "e"."place", "e"."kind") AS
"seen" FROM (SELECT "u".* FROM (SELECT "v"."place", 0 AS "kind", 0 AS "id" FROM
"pganon_work"."r0_mplaces0" AS "v" WHERE "v"."code" > 0 UNION ALL SELECT CAST("k"."g" AS DECIMAL) AS
"place", 1 AS "kind", "k"."id" FROM (SELECT DISTINCT "s"."id0" AS "id", "s"."g0" AS "g", "s"."z0" AS
"z" FROM "pganon_work"."r0_mshown" AS "s") AS "k" WHERE "k"."g" IS NOT NULL) AS "u") AS "e") AS "c"
WHERE "c"."kind" = 1) AS "m" LEFT JOIN "pganon_work"."r0_mplaces0" AS "a" ON "a"."code" = "m"."seen"
LEFT JOIN "pganon_work"."r0_mplaces0" AS "b" ON "b"."code" = "m"."seen" + 1) AS "n") AS "b" ON
"b"."id" = "k"."id" LEFT JOIN "pganon_work"."r0_mplaces0" AS "l" ON "l"."code" = "b"."lo" LEFT JOIN
"pganon_work"."r0_mplaces0" AS "h" ON "h"."code" = "b"."hi" CROSS JOIN (SELECT SUM("q"."n")
FILTER(WHERE "q"."code" = 0) AS "nulls", MIN("q"."place") AS "first", MAX("q"."place") AS "last",
MIN("q"."place") AS "lowest" FROM "pganon_work"."r0_mplaces0" AS "q") AS "t";

-- evidence.metric_cover1: what the published values of attribute 2 cover
-- [one_dimensional, mondrian, sloms, lgb_mdp, lgb_ncp, local_bucketization, local_generalization,
-- beta_primacy, kinc, kagg, js_reduce, danonyir]
CREATE TABLE pganon_work.r0_mcover1 AS SELECT "k"."id", "k"."z", COUNT("d"."code") AS "covers",
COALESCE(SUM("d"."n"), 0) AS "mass", CAST(COALESCE(MIN("d"."code") FILTER(WHERE "d"."code" > 0), 1)
AS BIGINT) AS "lo", CAST(COALESCE(MAX("d"."code"), 0) AS BIGINT) AS "hi", CAST(NULL AS DOUBLE
PRECISION) AS "low", CAST(NULL AS DOUBLE PRECISION) AS "high", CAST(NULL AS DOUBLE PRECISION) AS
"start", CAST(NULL AS DOUBLE PRECISION) AS "stop", COALESCE(BIT_OR(SET_BIT(CAST(REPEAT('0', 41) AS
"varbit"), "d"."code", 1)), CAST(REPEAT('0', 41) AS "varbit")) AS "bits" FROM (SELECT DISTINCT
"s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k"
LEFT JOIN (SELECT "u".* FROM (SELECT "k"."id", "d"."code" FROM (SELECT DISTINCT "s"."id1" AS "id",
"s"."g1" AS "g", "s"."z1" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k" CROSS JOIN LATERAL
UNNEST("k"."g") AS "u"("element") JOIN "pganon_work"."r0_dict1" AS "d" ON CAST(CAST("d"."value" AS
text) AS TEXT) COLLATE "C" = CAST("u"."element" AS TEXT) COLLATE "C" UNION ALL SELECT "k"."id", 0 AS
"code" FROM (SELECT DISTINCT "s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM
"pganon_work"."r0_mshown" AS "s") AS "k" WHERE "k"."z") AS "u") AS "m" ON "m"."id" = "k"."id" LEFT
JOIN "pganon_work"."r0_dict1" AS "d" ON "d"."code" = "m"."code" GROUP BY "k"."id", "k"."z";

-- evidence.metric_cover1: what the published values of attribute 2 cover
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_mcover1 AS SELECT "k"."id", "k"."z", CAST("k"."z" AS INT) +
COALESCE("t"."hi" - "t"."lo" + 1, 0) AS "covers", COALESCE("t"."lo", 1) AS "lo", COALESCE("t"."hi",
0) AS "hi" FROM (SELECT DISTINCT "s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM
"pganon_work"."r0_mshown" AS "s") AS "k" LEFT JOIN (SELECT CAST("t"."label" AS TEXT) COLLATE "C" AS
"label", MIN("t"."lo") AS "lo", MAX("t"."hi") AS "hi" FROM "pganon_work"."r0_level1" AS "t" GROUP BY
1) AS "t" ON "t"."label" = CAST("k"."g" AS TEXT) COLLATE "C";

-- evidence.metric_cover1: what the published values of attribute 2 cover
-- [kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_mcover1 AS SELECT "k"."id", "k"."z", COUNT("d"."code") AS "covers",
COALESCE(SUM("d"."n"), 0) AS "mass", CAST(COALESCE(MIN("d"."code") FILTER(WHERE "d"."code" > 0), 1)
AS BIGINT) AS "lo", CAST(COALESCE(MAX("d"."code"), 0) AS BIGINT) AS "hi", CAST(NULL AS DOUBLE
PRECISION) AS "low", CAST(NULL AS DOUBLE PRECISION) AS "high", CAST(NULL AS DOUBLE PRECISION) AS
"start", CAST(NULL AS DOUBLE PRECISION) AS "stop", COALESCE(BIT_OR(SET_BIT(CAST(REPEAT('0', 41) AS
"varbit"), "d"."code", 1)), CAST(REPEAT('0', 41) AS "varbit")) AS "bits" FROM (SELECT DISTINCT
"s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k"
LEFT JOIN (SELECT "u".* FROM (SELECT "k"."id", "d"."code" FROM (SELECT DISTINCT "s"."id1" AS "id",
"s"."g1" AS "g", "s"."z1" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k" CROSS JOIN LATERAL
UNNEST(ARRAY["k"."g"]) AS "u"("element") JOIN "pganon_work"."r0_dict1" AS "d" ON
CAST(CAST("d"."value" AS text) AS TEXT) COLLATE "C" = CAST("u"."element" AS TEXT) COLLATE "C" UNION
ALL SELECT "k"."id", 0 AS "code" FROM (SELECT DISTINCT "s"."id1" AS "id", "s"."g1" AS "g", "s"."z1"
AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k" WHERE "k"."z") AS "u") AS "m" ON "m"."id" =
"k"."id" LEFT JOIN "pganon_work"."r0_dict1" AS "d" ON "d"."code" = "m"."code" GROUP BY "k"."id",
"k"."z";

-- evidence.metric_distribution0: source and published distribution of attribute 1
-- [one_dimensional, mondrian, full_domain, sloms, lgb_mdp, lgb_ncp, local_bucketization,
-- local_generalization, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, danonyir, geneir]
CREATE TABLE pganon_work.r0_mdist0 AS SELECT "v"."code", "v"."at", CAST("v"."n" AS DOUBLE PRECISION)
/ SUM("v"."n") OVER () AS "p", COALESCE("s"."share", 0) AS "q" FROM "pganon_work"."r0_mplaces0" AS
"v" LEFT JOIN (SELECT "u".* FROM (SELECT "r"."code", CASE WHEN "r"."covers" > 0 THEN
GREATEST("r"."share", 0) ELSE 0 END AS "share" FROM (SELECT "e"."code", SUM(SUM("e"."share")) OVER
(ORDER BY "e"."code") AS "share", SUM(SUM("e"."one")) OVER (ORDER BY "e"."code") AS "covers" FROM
(SELECT "u".* FROM (SELECT "w"."lo" AS "code", "w"."share", 1 AS "one" FROM (SELECT "c".*, "w"."n",
"w"."n" / NULLIF("c"."covers", 0) / SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover0"
AS "c" JOIN (SELECT "b"."id", CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n",
"b"."id0" AS "id" FROM "pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON
"w"."id" = "c"."id") AS "w" WHERE "w"."lo" <= "w"."hi" UNION ALL SELECT "w"."hi" + 1 AS "code",
-"w"."share" AS "share", -1 AS "one" FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0)
/ SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover0" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id0" AS "id" FROM
"pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w"
WHERE "w"."lo" <= "w"."hi" UNION ALL SELECT "p"."code", CAST(0 AS DOUBLE PRECISION) AS "share", 0 AS
"one" FROM "pganon_work"."r0_mplaces0" AS "p" WHERE "p"."code" > 0) AS "u") AS "e" GROUP BY
"e"."code") AS "r" UNION ALL SELECT 0 AS "code", SUM("w"."share") FILTER(WHERE "w"."z") AS "share"
FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0) / SUM("w"."n") OVER () AS "share"
FROM "pganon_work"."r0_mcover0" AS "c" JOIN (SELECT "b"."id", CAST(SUM("b"."n") AS DOUBLE PRECISION)
AS "n" FROM (SELECT "b"."n", "b"."id0" AS "id" FROM "pganon_work"."r0_mshown" AS "b") AS "b" GROUP
BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w") AS "u") AS "s" ON "s"."code" = "v"."code";

-- evidence.metric_distribution0: source and published distribution of attribute 1
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_mdist0 AS SELECT "d"."code", CAST("d"."n" AS DOUBLE PRECISION) /
SUM("d"."n") OVER () AS "p", COALESCE("s"."n" / SUM("s"."n") OVER (), 0) AS "q" FROM
"pganon_work"."r0_dict0" AS "d" LEFT JOIN (SELECT "u"."code", SUM("u"."n") AS "n" FROM (SELECT
CAST("e"."n" AS DOUBLE PRECISION) / CARDINALITY("e"."held") AS "n", UNNEST("e"."held") AS "code"
FROM (SELECT "k"."n", "k"."c0" AS "held" FROM "pganon_work"."r0_cluster_codes" AS "k") AS "e") AS
"u" GROUP BY "u"."code") AS "s" ON "s"."code" = "d"."code";

-- evidence.metric_distribution1: source and published distribution of attribute 2
-- [one_dimensional, mondrian, sloms, beta_primacy, kinc, kagg, js_reduce, danonyir]
CREATE TABLE pganon_work.r0_mdist1 AS SELECT "v"."code", "v"."at", CAST("v"."n" AS DOUBLE PRECISION)
/ SUM("v"."n") OVER () AS "p", COALESCE("s"."share", 0) AS "q" FROM "pganon_work"."r0_mplaces1" AS
"v" LEFT JOIN (SELECT "m"."code", SUM("w"."share") AS "share" FROM (SELECT "u".* FROM (SELECT
"k"."id", "d"."code" FROM (SELECT DISTINCT "s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM
"pganon_work"."r0_mshown" AS "s") AS "k" CROSS JOIN LATERAL UNNEST("k"."g") AS "u"("element") JOIN
"pganon_work"."r0_dict1" AS "d" ON CAST(CAST("d"."value" AS text) AS TEXT) COLLATE "C" =
CAST("u"."element" AS TEXT) COLLATE "C" UNION ALL SELECT "k"."id", 0 AS "code" FROM (SELECT DISTINCT
"s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k"
WHERE "k"."z") AS "u") AS "m" JOIN (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0) /
SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover1" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id1" AS "id" FROM
"pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w" ON
"w"."id" = "m"."id" GROUP BY "m"."code") AS "s" ON "s"."code" = "v"."code";

-- evidence.metric_distribution1: source and published distribution of attribute 2
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_mdist1 AS SELECT "v"."code", "v"."at", CAST("v"."n" AS DOUBLE PRECISION)
/ SUM("v"."n") OVER () AS "p", COALESCE("s"."share", 0) AS "q" FROM "pganon_work"."r0_mplaces1" AS
"v" LEFT JOIN (SELECT "u".* FROM (SELECT "r"."code", CASE WHEN "r"."covers" > 0 THEN
GREATEST("r"."share", 0) ELSE 0 END AS "share" FROM (SELECT "e"."code", SUM(SUM("e"."share")) OVER
(ORDER BY "e"."code") AS "share", SUM(SUM("e"."one")) OVER (ORDER BY "e"."code") AS "covers" FROM
(SELECT "u".* FROM (SELECT "w"."lo" AS "code", "w"."share", 1 AS "one" FROM (SELECT "c".*, "w"."n",
"w"."n" / NULLIF("c"."covers", 0) / SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover1"
AS "c" JOIN (SELECT "b"."id", CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n",
"b"."id1" AS "id" FROM "pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON
"w"."id" = "c"."id") AS "w" WHERE "w"."lo" <= "w"."hi" UNION ALL SELECT "w"."hi" + 1 AS "code",
-"w"."share" AS "share", -1 AS "one" FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0)
/ SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover1" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id1" AS "id" FROM
"pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w"
WHERE "w"."lo" <= "w"."hi" UNION ALL SELECT "p"."code", CAST(0 AS DOUBLE PRECISION) AS "share", 0 AS
"one" FROM "pganon_work"."r0_mplaces1" AS "p" WHERE "p"."code" > 0) AS "u") AS "e" GROUP BY
"e"."code") AS "r" UNION ALL SELECT 0 AS "code", SUM("w"."share") FILTER(WHERE "w"."z") AS "share"
FROM (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0) / SUM("w"."n") OVER () AS "share"
FROM "pganon_work"."r0_mcover1" AS "c" JOIN (SELECT "b"."id", CAST(SUM("b"."n") AS DOUBLE PRECISION)
AS "n" FROM (SELECT "b"."n", "b"."id1" AS "id" FROM "pganon_work"."r0_mshown" AS "b") AS "b" GROUP
BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w") AS "u") AS "s" ON "s"."code" = "v"."code";

-- evidence.metric_distribution1: source and published distribution of attribute 2
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_mdist1 AS SELECT "v"."code", "v"."at", CAST("v"."n" AS DOUBLE PRECISION)
/ SUM("v"."n") OVER () AS "p", COALESCE("s"."share", 0) AS "q" FROM "pganon_work"."r0_mplaces1" AS
"v" LEFT JOIN (SELECT "m"."code", SUM("w"."share") AS "share" FROM (SELECT "u".* FROM (SELECT
"k"."id", "d"."code" FROM (SELECT DISTINCT "s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM
"pganon_work"."r0_mshown" AS "s") AS "k" CROSS JOIN LATERAL UNNEST("k"."g") AS "u"("element") JOIN
"pganon_work"."r0_dict1" AS "d" ON CAST(CAST("d"."value" AS text) AS TEXT) COLLATE "C" =
CAST("u"."element" AS TEXT) COLLATE "C" UNION ALL SELECT "k"."id", 0 AS "code" FROM (SELECT DISTINCT
"s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k"
WHERE "k"."z") AS "u") AS "m" JOIN (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0) /
SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover1" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id1" AS "id" FROM
"pganon_work"."r0_mshown" AS "b" WHERE "b"."z1" IS NOT NULL) AS "b" GROUP BY "b"."id") AS "w" ON
"w"."id" = "c"."id") AS "w" ON "w"."id" = "m"."id" GROUP BY "m"."code") AS "s" ON "s"."code" =
"v"."code";

-- evidence.metric_distribution1: source and published distribution of attribute 2
-- [kinc_mic, kagg_mic]
CREATE TABLE pganon_work.r0_mdist1 AS SELECT "v"."code", "v"."at", CAST("v"."n" AS DOUBLE PRECISION)
/ SUM("v"."n") OVER () AS "p", COALESCE("s"."share", 0) AS "q" FROM "pganon_work"."r0_mplaces1" AS
"v" LEFT JOIN (SELECT "m"."code", SUM("w"."share") AS "share" FROM (SELECT "u".* FROM (SELECT
"k"."id", "d"."code" FROM (SELECT DISTINCT "s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM
"pganon_work"."r0_mshown" AS "s") AS "k" CROSS JOIN LATERAL UNNEST(ARRAY["k"."g"]) AS "u"("element")
JOIN "pganon_work"."r0_dict1" AS "d" ON CAST(CAST("d"."value" AS text) AS TEXT) COLLATE "C" =
CAST("u"."element" AS TEXT) COLLATE "C" UNION ALL SELECT "k"."id", 0 AS "code" FROM (SELECT DISTINCT
"s"."id1" AS "id", "s"."g1" AS "g", "s"."z1" AS "z" FROM "pganon_work"."r0_mshown" AS "s") AS "k"
WHERE "k"."z") AS "u") AS "m" JOIN (SELECT "c".*, "w"."n", "w"."n" / NULLIF("c"."covers", 0) /
SUM("w"."n") OVER () AS "share" FROM "pganon_work"."r0_mcover1" AS "c" JOIN (SELECT "b"."id",
CAST(SUM("b"."n") AS DOUBLE PRECISION) AS "n" FROM (SELECT "b"."n", "b"."id1" AS "id" FROM
"pganon_work"."r0_mshown" AS "b") AS "b" GROUP BY "b"."id") AS "w" ON "w"."id" = "c"."id") AS "w" ON
"w"."id" = "m"."id" GROUP BY "m"."code") AS "s" ON "s"."code" = "v"."code";

-- evidence.metric_distribution1: source and published distribution of attribute 2
-- [qs_greedy, qs_efficient]
CREATE TABLE pganon_work.r0_mdist1 AS SELECT "d"."code", CAST("d"."n" AS DOUBLE PRECISION) /
SUM("d"."n") OVER () AS "p", COALESCE("s"."n" / SUM("s"."n") OVER (), 0) AS "q" FROM
"pganon_work"."r0_dict1" AS "d" LEFT JOIN (SELECT "u"."code", SUM("u"."n") AS "n" FROM (SELECT
CAST("e"."n" AS DOUBLE PRECISION) / CARDINALITY("e"."held") AS "n", UNNEST("e"."held") AS "code"
FROM (SELECT "k"."n", "k"."c1" AS "held" FROM "pganon_work"."r0_cluster_codes" AS "k") AS "e") AS
"u" GROUP BY "u"."code") AS "s" ON "s"."code" = "d"."code";

-- evidence.metric_places0: places of the values of attribute 1
-- [one_dimensional, mondrian, sloms, lgb_mdp, lgb_ncp, local_bucketization, local_generalization,
-- beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, danonyir]
CREATE TABLE pganon_work.r0_mplaces0 AS SELECT "x"."code", "x"."n", "x"."upto", "x"."place",
CAST(ROUND("x"."place" - (MIN("x"."place") OVER ()), 40) AS DOUBLE PRECISION) AS "away", CASE WHEN
"x"."place" IS NOT NULL THEN "x"."position" END AS "at" FROM (SELECT "d"."code", "d"."n",
SUM("d"."n") OVER (ORDER BY "d"."code") - COALESCE(SUM("d"."n") FILTER(WHERE "d"."code" = 0) OVER
(), 0) AS "upto", CAST("d"."value" AS DECIMAL) AS "place", "d"."position" FROM
"pganon_work"."r0_dict0" AS "d") AS "x";

-- evidence.metric_places0: places of the values of attribute 1
-- [full_domain, geneir]
CREATE TABLE pganon_work.r0_mplaces0 AS SELECT "x"."code", "x"."n", "x"."upto", "x"."place",
CAST(ROUND("x"."place" - (MIN("x"."place") OVER ()), 40) AS DOUBLE PRECISION) AS "away", CASE WHEN
"x"."place" IS NOT NULL THEN CAST(ROUND(COALESCE(("x"."place" - (MIN("x"."place") OVER ())) /
NULLIF((MAX("x"."place") OVER ()) - (MIN("x"."place") OVER ()), 0), 0), 40) AS DOUBLE PRECISION) END
AS "at" FROM (SELECT "d"."code", "d"."n", SUM("d"."n") OVER (ORDER BY "d"."code") -
COALESCE(SUM("d"."n") FILTER(WHERE "d"."code" = 0) OVER (), 0) AS "upto", CAST("d"."value" AS
DECIMAL) AS "place" FROM "pganon_work"."r0_dict0" AS "d") AS "x";

-- evidence.metric_places1: places of the values of attribute 2
-- [one_dimensional, mondrian, full_domain, sloms, lgb_mdp, lgb_ncp, local_bucketization,
-- local_generalization, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce, danonyir, geneir]
CREATE TABLE pganon_work.r0_mplaces1 AS SELECT "d"."code", "d"."n", SUM("d"."n") OVER (ORDER BY
"d"."code") - COALESCE(SUM("d"."n") FILTER(WHERE "d"."code" = 0) OVER (), 0) AS "upto", CAST(NULL AS
DECIMAL) AS "place", CAST(NULL AS DOUBLE PRECISION) AS "away", CAST(NULL AS DOUBLE PRECISION) AS
"at" FROM "pganon_work"."r0_dict1" AS "d";

-- evidence.metric_shown: published values by group
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce,
-- danonyir, geneir]
CREATE TABLE pganon_work.r0_mshown AS WITH "f" AS MATERIALIZED (SELECT "p"."group_id", "p"."n",
"p"."x0" AS "g0", "p"."x0" IS NULL AS "z0", "p"."x1" AS "g1", "p"."x2" AS "z1" FROM (SELECT "r"."n",
"g"."class_id" AS "group_id", "g"."age", "g"."zip", "g"."zip_null" FROM "pganon_stage"."r0_classes"
AS "g" JOIN (SELECT "r"."class_id" AS "number", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS
"r" GROUP BY "r"."class_id") AS "r" ON "r"."number" = "g"."class_id") AS "p"("n", "group_id", "x0",
"x1", "x2")) SELECT "f".*, COALESCE("d0"."id", CAST("f"."z0" AS INT) - 1, -2) AS "id0",
COALESCE("d1"."id", CAST("f"."z1" AS INT) - 1, -2) AS "id1" FROM "f" LEFT JOIN (SELECT "d"."g",
"d"."z", ROW_NUMBER() OVER () AS "id" FROM (SELECT DISTINCT "f"."g0" AS "g", "f"."z0" AS "z" FROM
"f" WHERE "f"."g0" IS NOT NULL) AS "d") AS "d0" ON "d0"."g" = "f"."g0" AND "d0"."z" = "f"."z0" LEFT
JOIN (SELECT "d"."g", "d"."z", ROW_NUMBER() OVER () AS "id" FROM (SELECT DISTINCT "f"."g1" AS "g",
"f"."z1" AS "z" FROM "f" WHERE "f"."g1" IS NOT NULL) AS "d") AS "d1" ON "d1"."g" = "f"."g1" AND
"d1"."z" = "f"."z1";

-- evidence.metric_shown: published values by group
-- [sloms]
CREATE TABLE pganon_work.r0_mshown AS WITH "f" AS MATERIALIZED (SELECT "p"."group_id", "p"."n",
"p"."x0" AS "g0", "p"."x0" IS NULL AS "z0", "p"."x1" AS "g1", "p"."x2" AS "z1" FROM (SELECT COUNT(*)
AS "n", "g"."class_id" AS "group_id", "g"."age", "g"."zip", "g"."zip_null" FROM
"pganon_stage"."r0_qit" AS "g" GROUP BY "g"."class_id", "g"."age", "g"."zip", "g"."zip_null") AS
"p"("n", "group_id", "x0", "x1", "x2")) SELECT "f".*, COALESCE("d0"."id", CAST("f"."z0" AS INT) - 1,
-2) AS "id0", COALESCE("d1"."id", CAST("f"."z1" AS INT) - 1, -2) AS "id1" FROM "f" LEFT JOIN (SELECT
"d"."g", "d"."z", ROW_NUMBER() OVER () AS "id" FROM (SELECT DISTINCT "f"."g0" AS "g", "f"."z0" AS
"z" FROM "f" WHERE "f"."g0" IS NOT NULL) AS "d") AS "d0" ON "d0"."g" = "f"."g0" AND "d0"."z" =
"f"."z0" LEFT JOIN (SELECT "d"."g", "d"."z", ROW_NUMBER() OVER () AS "id" FROM (SELECT DISTINCT
"f"."g1" AS "g", "f"."z1" AS "z" FROM "f" WHERE "f"."g1" IS NOT NULL) AS "d") AS "d1" ON "d1"."g" =
"f"."g1" AND "d1"."z" = "f"."z1";

-- evidence.metric_shown: published values by group
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
CREATE TABLE pganon_work.r0_mshown AS WITH "f" AS MATERIALIZED (SELECT "p"."group_id", "p"."n",
"p"."x0" AS "g0", "p"."x0" IS NULL AS "z0", "p"."x1" AS "g1", "p"."x2" AS "z1" FROM (SELECT "r"."n",
"g"."group_id" AS "group_id", "g"."age", "g"."zip", "g"."zip_null" FROM "pganon_stage"."r0_groups"
AS "g" JOIN (SELECT "r"."group_id" AS "number", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS
"r" GROUP BY "r"."group_id") AS "r" ON "r"."number" = "g"."group_id") AS "p"("n", "group_id", "x0",
"x1", "x2")) SELECT "f".*, COALESCE("d0"."id", CAST("f"."z0" AS INT) - 1, -2) AS "id0",
COALESCE("d1"."id", CAST("f"."z1" AS INT) - 1, -2) AS "id1" FROM "f" LEFT JOIN (SELECT "d"."g",
"d"."z", ROW_NUMBER() OVER () AS "id" FROM (SELECT DISTINCT "f"."g0" AS "g", "f"."z0" AS "z" FROM
"f" WHERE "f"."g0" IS NOT NULL) AS "d") AS "d0" ON "d0"."g" = "f"."g0" AND "d0"."z" = "f"."z0" LEFT
JOIN (SELECT "d"."g", "d"."z", ROW_NUMBER() OVER () AS "id" FROM (SELECT DISTINCT "f"."g1" AS "g",
"f"."z1" AS "z" FROM "f" WHERE "f"."g1" IS NOT NULL) AS "d") AS "d1" ON "d1"."g" = "f"."g1" AND
"d1"."z" = "f"."z1";

-- evidence.record_risk: the chance to find each record
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY("g"."hidden", "g"."label", "g"."people",
"g"."attackers") ORDER BY "g"."hidden", "g"."people" DESC, "g"."key"), '[]') AS "groups" FROM
(SELECT COUNT(*) AS "people", JSONB_BUILD_OBJECT('prosecutor', JSONB_BUILD_ARRAY(CAST(SUM(1.0 /
"r"."prosecutor") AS DOUBLE PRECISION), PERCENTILE_DISC(CAST(ARRAY[0.5, 0.9, 0.95, 0.99, 1] AS
float8[])) WITHIN GROUP (ORDER BY "r"."prosecutor" DESC), ARRAY[COUNT(*) FILTER(WHERE
"r"."prosecutor" <= 11)])) AS "attackers", FALSE AS "hidden", CAST(NULL AS TEXT) AS "label", 0 AS
"key" FROM (SELECT "m".* FROM (SELECT "m"."group_id", "m"."n", "m"."n" AS "prosecutor" FROM
"pganon_work"."r0_mshown" AS "m") AS "m" CROSS JOIN LATERAL GENERATE_SERIES(1, "m"."n")) AS "r") AS
"g" WHERE "g"."people" > 0;

-- evidence.released_sizes_sizes: sizes of the classes
-- [one_dimensional, mondrian, full_domain, sloms, lgb_mdp, lgb_ncp, local_bucketization,
-- local_generalization, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."n"), 0) AS "smallest", COALESCE(MAX("g"."n"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 0 AND 11), 0) AS BIGINT) AS "above0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT "m"."n" FROM "pganon_work"."r0_mshown" AS "m") AS "g";

-- evidence.released_sizes_sizes: sizes of the classes
-- [danonyir, geneir]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."n"), 0) AS "smallest", COALESCE(MAX("g"."n"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 0 AND 11), 0) AS BIGINT) AS "above0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT "t"."total" AS "n" FROM (SELECT "r"."class_id", COUNT(DISTINCT
"r"."individual_no") AS "total" FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id") AS
"t") AS "g";

-- evidence.shares0: how common values of disease are in groups
-- [one_dimensional, mondrian, full_domain, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."class_id") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."class_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."class_id") AS "number" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "class_id" FROM
(SELECT "r"."by0", "r"."key0", COUNT(*) AS "n" FROM (SELECT "t"."class_id" AS "by0",
CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0" FROM "pganon_stage"."r0_records" AS "t" ORDER BY
"t"."class_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS
"h") AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".* FROM (SELECT CAST(MAX("s"."most") AS DOUBLE
PRECISION) AS "most", CAST((SUM("s"."commonest") / SUM("s"."total")) AS DOUBLE PRECISION) AS "mean",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 0), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 1), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares0: how common values of disease are in groups
-- [anatomy, slicing, slamsa, msb]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."group_id") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."group_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."group_id") AS "number" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS
"r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".* FROM
(SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") /
SUM("s"."total")) AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE
"s"."step" = 0), 0) AS BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step"
= 1), 0) AS BIGINT) AS "people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS
BIGINT) AS "people2", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS
"people3", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares0: how common values of disease are in groups
-- [sloms]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."group_id") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."group_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."group_id") AS "number" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st1" AS "t" ORDER BY "t"."group_id", CAST("t"."disease" AS TEXT) COLLATE "C") AS
"r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".* FROM
(SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") /
SUM("s"."total")) AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE
"s"."step" = 0), 0) AS BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step"
= 1), 0) AS BIGINT) AS "people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS
BIGINT) AS "people2", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS
"people3", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares0: how common values of zip are in groups
-- [lgb_mdp, lgb_ncp, local_bucketization]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."zip_bucket") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."zip_bucket") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."zip_bucket") AS "number" FROM
(SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS
"zip_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT
"t"."zip_bucket" AS "by0", CAST("t"."zip" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_values0" AS "t" ORDER BY "t"."zip_bucket", CAST("t"."zip" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".*
FROM (SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") /
SUM("s"."total")) AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE
"s"."step" = 0), 0) AS BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step"
= 1), 0) AS BIGINT) AS "people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS
BIGINT) AS "people2", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS
"people3", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares0: how common values of zip are in groups
-- [local_generalization]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."group_id") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."group_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."group_id") AS "number" FROM (SELECT
"r"."group_id", COALESCE('=' || CAST((CAST("t"."zip" AS TEXT) COLLATE "C") AS text), '') AS "value",
COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_values0" AS "t" ON
"t"."zip_bucket" = "r"."zip_bucket" GROUP BY 1, 2) AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".*
FROM (SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") /
SUM("s"."total")) AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE
"s"."step" = 0), 0) AS BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step"
= 1), 0) AS BIGINT) AS "people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS
BIGINT) AS "people2", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS
"people3", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares0: how common values of disease are in groups
-- [danonyir, geneir]
WITH "totals" AS MATERIALIZED (SELECT "r"."class_id", COUNT(DISTINCT "r"."individual_no") AS "total"
FROM "pganon_stage"."r0_records" AS "r" GROUP BY "r"."class_id"), "shares" AS MATERIALIZED (SELECT
"r"."value", CASE WHEN "r"."number" = 1 THEN CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1,
0) AS INT) END AS "step", SUM("r"."n") AS "n", MAX("r"."n" / "r"."total") AS "highest",
MAX("r"."most" / "r"."total") AS "most", SUM("r"."most") AS "commonest", SUM("r"."total") AS "total"
FROM (SELECT "h"."value", "h"."n", CAST("t"."total" AS DECIMAL) AS "total", MAX("h"."n") OVER
(PARTITION BY "h"."class_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."class_id") AS "number"
FROM (SELECT "r"."value", COUNT(DISTINCT "r"."individual") AS "n", "r"."class_id" FROM (SELECT
"r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' || CAST((CAST("r"."disease" AS
TEXT) COLLATE "C") AS text), '') AS "value" FROM "pganon_stage"."r0_records" AS "r") AS "r" GROUP BY
"r"."value", "r"."class_id") AS "h" JOIN (SELECT "t".* FROM "totals" AS "t") AS "t" ON
"t"."class_id" = "h"."class_id") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".* FROM (SELECT
CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") / SUM("s"."total"))
AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 0), 0) AS
BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 1), 0) AS BIGINT) AS
"people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", COALESCE("h"."n", 0) AS "n",
COALESCE("h"."first", 0) AS "first", "b"."highest", "b"."n" / (SELECT CAST(SUM("t"."total") AS
DECIMAL) FROM (SELECT "t".* FROM "totals" AS "t") AS "t") AS "share", COALESCE("h"."first", 0) /
(SELECT CAST(SUM("t"."total") AS DECIMAL) FROM (SELECT "t".* FROM "totals" AS "t") AS "t") AS "part"
FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM "shares" AS "s"
GROUP BY "s"."value") AS "b" LEFT JOIN (WITH "once" AS MATERIALIZED (SELECT DISTINCT "h"."person",
"h"."key" FROM (SELECT "p"."person", "p"."value" AS "key" FROM (SELECT "r"."individual" AS "person",
"r"."value" FROM (SELECT "r"."class_id", "r"."individual_no" AS "individual", COALESCE('=' ||
CAST((CAST("r"."disease" AS TEXT) COLLATE "C") AS text), '') AS "value" FROM
"pganon_stage"."r0_records" AS "r") AS "r") AS "p") AS "h"), "placed" AS MATERIALIZED (SELECT
"c"."key", "c"."n", ROW_NUMBER() OVER (ORDER BY "c"."n", "c"."key") AS "place" FROM (SELECT
"o"."key", COUNT(*) AS "n" FROM "once" AS "o" GROUP BY "o"."key") AS "c") SELECT "p"."key", "p"."n",
COALESCE("f"."n", 0) AS "first" FROM "placed" AS "p" LEFT JOIN (SELECT "r"."place", COUNT(*) AS "n"
FROM (SELECT "o"."person", MIN("q"."place") AS "place" FROM "once" AS "o" JOIN "placed" AS "q" ON
"q"."key" = "o"."key" GROUP BY "o"."person") AS "r" GROUP BY "r"."place") AS "f" ON "f"."place" =
"p"."place") AS "h" ON "h"."key" = "b"."value") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key"))
AS "c") AS "l") AS "r") AS "v";

-- evidence.shares1: how common values of drug are in groups
-- [slamsa, msb]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."group_id") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."group_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."group_id") AS "number" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r"
GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".* FROM
(SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") /
SUM("s"."total")) AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE
"s"."step" = 0), 0) AS BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step"
= 1), 0) AS BIGINT) AS "people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS
BIGINT) AS "people2", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS
"people3", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares1: how common values of drug are in groups
-- [sloms]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."group_id") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."group_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."group_id") AS "number" FROM (SELECT
COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS "group_id" FROM
(SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT "t"."group_id" AS
"by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_st2" AS "t" ORDER BY "t"."group_id", CAST("t"."drug" AS TEXT) COLLATE "C") AS "r"
GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".* FROM
(SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") /
SUM("s"."total")) AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE
"s"."step" = 0), 0) AS BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step"
= 1), 0) AS BIGINT) AS "people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS
BIGINT) AS "people2", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS
"people3", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares1: how common values of disease are in groups
-- [lgb_mdp, local_bucketization]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."disease_bucket") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."disease_bucket") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."disease_bucket") AS "number"
FROM (SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS
"disease_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM
(SELECT "t"."disease_bucket" AS "by0", CAST("t"."disease" AS TEXT) COLLATE "C" AS "key0",
"t"."count" AS "n" FROM "pganon_stage"."r0_values1" AS "t" ORDER BY "t"."disease_bucket",
CAST("t"."disease" AS TEXT) COLLATE "C") AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS
"r" GROUP BY 1, 2) SELECT "c".*, "v".* FROM (SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS
"most", CAST((SUM("s"."commonest") / SUM("s"."total")) AS DOUBLE PRECISION) AS "mean",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 0), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 1), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares1: how common values of drug are in groups
-- [lgb_ncp]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."drug_bucket") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."drug_bucket") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."drug_bucket") AS "number" FROM
(SELECT COALESCE('=' || CAST(("h"."key0") AS text), '') AS "value", "h"."n", "h"."by0" AS
"drug_bucket" FROM (SELECT "r"."by0", "r"."key0", CAST(SUM("r"."n") AS BIGINT) AS "n" FROM (SELECT
"t"."drug_bucket" AS "by0", CAST("t"."drug" AS TEXT) COLLATE "C" AS "key0", "t"."count" AS "n" FROM
"pganon_stage"."r0_values1" AS "t" ORDER BY "t"."drug_bucket", CAST("t"."drug" AS TEXT) COLLATE "C")
AS "r" GROUP BY "r"."by0", "r"."key0") AS "h") AS "h") AS "r" GROUP BY 1, 2) SELECT "c".*, "v".*
FROM (SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most", CAST((SUM("s"."commonest") /
SUM("s"."total")) AS DOUBLE PRECISION) AS "mean", CAST(COALESCE(SUM("s"."total") FILTER(WHERE
"s"."step" = 0), 0) AS BIGINT) AS "people0", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step"
= 1), 0) AS BIGINT) AS "people1", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS
BIGINT) AS "people2", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS
"people3", CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.shares1: how common values of disease are in groups
-- [local_generalization]
WITH "shares" AS MATERIALIZED (SELECT "r"."value", CASE WHEN "r"."number" = 1 THEN
CAST(GREATEST(CEIL("r"."most" * 20 / "r"."total") - 1, 0) AS INT) END AS "step", SUM("r"."n") AS
"n", MAX("r"."n" / "r"."total") AS "highest", MAX("r"."most" / "r"."total") AS "most",
SUM("r"."most") AS "commonest", SUM("r"."total") AS "total" FROM (SELECT "h"."value", "h"."n",
SUM("h"."n") OVER (PARTITION BY "h"."group_id") AS "total", MAX("h"."n") OVER (PARTITION BY
"h"."group_id") AS "most", ROW_NUMBER() OVER (PARTITION BY "h"."group_id") AS "number" FROM (SELECT
"r"."group_id", COALESCE('=' || CAST((CAST("t"."disease" AS TEXT) COLLATE "C") AS text), '') AS
"value", COUNT(*) AS "n" FROM "pganon_stage"."r0_records" AS "r" JOIN "pganon_stage"."r0_values1" AS
"t" ON "t"."disease_bucket" = "r"."disease_bucket" GROUP BY 1, 2) AS "h") AS "r" GROUP BY 1, 2)
SELECT "c".*, "v".* FROM (SELECT CAST(MAX("s"."most") AS DOUBLE PRECISION) AS "most",
CAST((SUM("s"."commonest") / SUM("s"."total")) AS DOUBLE PRECISION) AS "mean",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 0), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 1), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 2), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 3), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 4), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 5), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 6), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 7), 0) AS BIGINT) AS "people7",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 8), 0) AS BIGINT) AS "people8",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 9), 0) AS BIGINT) AS "people9",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 10), 0) AS BIGINT) AS "people10",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 11), 0) AS BIGINT) AS "people11",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 12), 0) AS BIGINT) AS "people12",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 13), 0) AS BIGINT) AS "people13",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 14), 0) AS BIGINT) AS "people14",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 15), 0) AS BIGINT) AS "people15",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 16), 0) AS BIGINT) AS "people16",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 17), 0) AS BIGINT) AS "people17",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 18), 0) AS BIGINT) AS "people18",
CAST(COALESCE(SUM("s"."total") FILTER(WHERE "s"."step" = 19), 0) AS BIGINT) AS "people19" FROM
"shares" AS "s" WHERE NOT "s"."step" IS NULL) AS "c" CROSS JOIN (SELECT
COALESCE(JSONB_AGG(JSONB_BUILD_ARRAY(CASE WHEN "r"."label" = '' THEN NULL ELSE SUBSTRING("r"."label"
FROM 2 FOR 80) END, ROUND("r"."share", 6), ROUND("r"."highest", 6)) ORDER BY "r"."place" DESC)
FILTER(WHERE NOT "r"."hidden"), '[]') AS "values", COUNT(*) FILTER(WHERE "r"."hidden") AS "others",
CAST(COALESCE(SUM("r"."part") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION) AS "others_share",
CAST(COALESCE(MAX("r"."highest" / "r"."share") FILTER(WHERE "r"."hidden"), 0) AS DOUBLE PRECISION)
AS "others_times" FROM (SELECT "l".*, "l"."few" > 0 AND "l"."place" <= GREATEST("l"."few", 2,
COALESCE("l"."enough", "l"."kinds")) AS "hidden" FROM (SELECT "c".*, GREATEST("c"."rare", CASE WHEN
"c"."kinds" > 19 + 1 THEN "c"."kinds" - 19 ELSE 0 END) AS "few", MIN("c"."place") FILTER(WHERE
"c"."upto" >= 11) OVER () AS "enough" FROM (SELECT "v".*, ROW_NUMBER() OVER "w" AS "place", COUNT(*)
OVER () AS "kinds", SUM("v"."first") OVER "w" AS "upto", COUNT(*) FILTER(WHERE "v"."n" < 11) OVER ()
AS "rare" FROM (SELECT "b"."value" AS "label", "b"."value" AS "key", "b"."n" AS "n", "b"."n" AS
"first", "b"."highest", "b"."n" / (SUM("b"."n") OVER ()) AS "share", "b"."n" / (SUM("b"."n") OVER
()) AS "part" FROM (SELECT "s"."value", SUM("s"."n") AS "n", MAX("s"."highest") AS "highest" FROM
"shares" AS "s" GROUP BY "s"."value") AS "b") AS "v" WINDOW "w" AS (ORDER BY "v"."n", "v"."key")) AS
"c") AS "l") AS "r") AS "v";

-- evidence.source_sizes_sizes: sizes of the groups of the source
-- [one_dimensional, mondrian, full_domain]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."n"), 0) AS "smallest", COALESCE(MAX("g"."n"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 0 AND 11), 0) AS BIGINT) AS "above0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT COUNT(*) AS "n" FROM (SELECT "u".* FROM (SELECT "t"."combination" FROM
"pganon_work"."r0_coded" AS "t") AS "u") AS "r" GROUP BY "r"."combination") AS "g";

-- evidence.source_sizes_sizes: sizes of the groups of the source
-- [sloms, beta_primacy, kinc, kagg, kinc_mic, kagg_mic, js_reduce]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."n"), 0) AS "smallest", COALESCE(MAX("g"."n"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 0 AND 11), 0) AS BIGINT) AS "above0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT COUNT(*) AS "n" FROM (SELECT "u".* FROM (SELECT "t"."c0", "t"."c1" FROM
"pganon_work"."r0_coded" AS "t") AS "u") AS "r" GROUP BY "r"."c0", "r"."c1") AS "g";

-- evidence.source_sizes_sizes: sizes of the groups of the source
-- [lgb_mdp, lgb_ncp, local_bucketization, local_generalization]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."n"), 0) AS "smallest", COALESCE(MAX("g"."n"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 0 AND 11), 0) AS BIGINT) AS "above0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT COUNT(*) AS "n" FROM (SELECT "u".* FROM (SELECT "t"."c0", "t"."c1", "t"."f0"
FROM "pganon_work"."r0_coded" AS "t") AS "u") AS "r" GROUP BY "r"."c0", "r"."c1", "r"."f0") AS "g";

-- evidence.source_sizes_sizes: sizes of the groups of the source
-- [danonyir, geneir]
SELECT COUNT(*) AS "groups", CAST(COALESCE(SUM("g"."n"), 0) AS BIGINT) AS "people",
COALESCE(MIN("g"."n"), 0) AS "smallest", COALESCE(MAX("g"."n"), 0) AS "largest",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 0 AND 11), 0) AS BIGINT) AS "above0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 1 AND 1), 0) AS BIGINT) AS "people0",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 2 AND 2), 0) AS BIGINT) AS "people1",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 3 AND 5), 0) AS BIGINT) AS "people2",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 6 AND 10), 0) AS BIGINT) AS "people3",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 11 AND 20), 0) AS BIGINT) AS "people4",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 21 AND 50), 0) AS BIGINT) AS "people5",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 51 AND 100), 0) AS BIGINT) AS "people6",
CAST(COALESCE(SUM("g"."n") FILTER(WHERE "g"."n" BETWEEN 101 AND 2147483648), 0) AS BIGINT) AS
"people7" FROM (SELECT COUNT(*) AS "n" FROM (SELECT ARRAY_AGG(DISTINCT ARRAY[CAST("c"."c0" AS
bigint), CAST("c"."c1" AS bigint)]) AS "cells" FROM "pganon_work"."r0_coded" AS "c" GROUP BY
"c"."individual") AS "s" GROUP BY "s"."cells") AS "g";
