-- Queries of `pganon assess`: calls of the measuring functions.

-- installed --
-- Whether the newest measuring function is there and may be called.
SELECT coalesce(
    pg_catalog.has_function_privilege(
        pg_catalog.to_regprocedure(
            'pganon.quasi_identifiers(regclass, text[], numeric, integer)')::pg_catalog.oid,
        'EXECUTE'
    ) AND pg_catalog.has_schema_privilege(
        pg_catalog.to_regnamespace('pganon')::pg_catalog.oid, 'USAGE'
    ),
    false
);

-- relation --
-- Whether there is a relation of that qualified name.
SELECT pg_catalog.to_regclass(%(name)s) IS NOT NULL;

-- assess --
-- Every measure of the worst class, and what violates the required parameters.
SELECT *
FROM pganon.assess(
    %(relation)s::pg_catalog.regclass, %(qi)s::pg_catalog.text[],
    %(sensitive)s::pg_catalog.text[], %(individual)s::pg_catalog.text,
    %(required)s::pg_catalog.jsonb, %(l)s::pg_catalog.int4, %(others)s::pg_catalog.bool
);

-- risk --
-- Risks of re-identification and the distribution of class sizes.
SELECT *
FROM pganon.risk(
    %(relation)s::pg_catalog.regclass, %(qi)s::pg_catalog.text[],
    %(population)s::pg_catalog.regclass, %(individual)s::pg_catalog.text,
    weight => %(weight)s::pg_catalog.text, household => %(household)s::pg_catalog.text,
    max_global => %(max_global)s::pg_catalog.numeric
);

-- weight_of --
-- Sample weights as an expression over the relation `t`.
SELECT pganon.weight_of(%(relation)s::pg_catalog.regclass, %(weight)s::pg_catalog.text);

-- suda --
-- Records that few columns single out, and what that says of the population.
SELECT *
FROM pganon.suda(
    %(relation)s::pg_catalog.regclass, %(qi)s::pg_catalog.text[], %(suda)s::pg_catalog.int4,
    %(fraction)s::pg_catalog.numeric
);

-- distinguishing --
-- Sets of quasi-identifiers up to a size by how far they single records out.
SELECT *
FROM pganon.distinguishing(
    %(relation)s::pg_catalog.regclass, %(qi)s::pg_catalog.text[], %(largest)s::pg_catalog.int4
);

-- set_figures --
-- How far some sets of columns single records out.
SELECT *
FROM pganon.set_figures(
    %(relation)s::pg_catalog.regclass, %(columns)s::pg_catalog.text[],
    %(sets)s::pg_catalog.text[]
);

-- columns --
-- All columns of a relation, but for those whose values have no equality.
SELECT pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY a.attnum)
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
WHERE
    a.attrelid = %(relation)s::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped
    AND t.typcategory <> 'G' AND t.typname NOT IN ('json', 'xml');

-- quasi_identifiers --
-- Minimal sets of columns that tell most pairs of records apart.
SELECT *
FROM pganon.quasi_identifiers(
    %(relation)s::pg_catalog.regclass, %(columns)s::pg_catalog.text[],
    %(separation)s::pg_catalog.numeric, %(largest)s::pg_catalog.int4
);

-- lookalikes --
-- Sensitive columns with values in several spellings, and how many these values are.
SELECT c.name, l.number
FROM pg_catalog.unnest(%(sensitive)s::pg_catalog.text[]) AS c(name)
CROSS JOIN LATERAL pganon.lookalikes(%(relation)s::pg_catalog.regclass, c.name) AS l(number)
WHERE l.number > 0;
