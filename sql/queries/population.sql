-- Populations, and what is remembered of them.

-- known --
-- Populations that some version is about, or of that name: id, name, sources with all that they come
-- from, sources alone, key.
SELECT
    p.id, p.name, p.sources,
    array_agg(DISTINCT r.policy_source) FILTER (WHERE r.name IS NOT NULL),
    ARRAY(SELECT jsonb_array_elements_text(p.key))
FROM pganon_private.population AS p
LEFT JOIN pganon_private.version AS v ON v.population = p.id
LEFT JOIN pganon_private.release AS r ON r.name = v.release
WHERE p.name = %(name)s
    OR (v.release IS NOT NULL AND (p.sources && %(sources)s::text[] OR p.id = %(copied)s::bigint))
GROUP BY p.id
ORDER BY p.id;

-- of_release --
-- Population of the newest version of a release that is about one: id, name, sources, key.
SELECT p.id, p.name, p.sources, ARRAY(SELECT jsonb_array_elements_text(p.key))
FROM pganon_private.version AS v
JOIN pganon_private.population AS p ON p.id = v.population
WHERE v.release = %(release)s
ORDER BY v.version DESC
LIMIT 1;

-- one_at_a_time --
-- Until the transaction ends nobody else adds a population.
LOCK TABLE pganon_private.population IN SHARE ROW EXCLUSIVE MODE;

-- unused --
-- A population of nobody's version yet, which a failed run of the same source left.
SELECT p.id
FROM pganon_private.population AS p
WHERE p.name IS NOT DISTINCT FROM %(name)s AND p.sources = %(sources)s::text[]
    AND p.key = %(key)s
    AND NOT EXISTS (SELECT FROM pganon_private.version AS v WHERE v.population = p.id)
ORDER BY p.id
LIMIT 1;

-- add --
-- A new population.
INSERT INTO pganon_private.population (name, sources, key)
VALUES (%(name)s, %(sources)s, %(key)s)
RETURNING id;

-- of_run --
-- Whose secret makes the digests of a run.
UPDATE pganon_private.run_secret SET population = %(population)s WHERE run_id = %(run_id)s;

-- counter --
-- How often the memory changed; nobody changes it before the transaction ends.
SELECT p.counter FROM pganon_private.population AS p WHERE p.id = %(population)s FOR UPDATE;

-- count --
-- The memory changed; with the name and the sources of a version.
UPDATE pganon_private.population AS p
SET
    counter = p.counter + 1,
    name = coalesce(%(name)s, p.name),
    sources = ARRAY(
        SELECT DISTINCT s.name
        FROM unnest(p.sources || %(sources)s::text[]) AS s(name)
        ORDER BY s.name
    )
WHERE p.id = %(population)s;

-- memories --
-- What is remembered of a population, by audience.
SELECT
    m.audience, m.columns, m.floors, m.person_table, m.cell_table, m.value_table, m.own_tables,
    m.runs, m.fingerprint, m.run_id, m.value_sets_of, m.value_set_table,
    NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = to_regclass(m.person_table) AND a.attname = 'marks'
    ) AS marked_apart,
    NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = to_regclass(m.value_table) AND a.attname = 'value'
    ) AS packed
FROM pganon_private.memory AS m
WHERE m.population = %(population)s
ORDER BY m.audience;

-- forget_memories --
-- Take away what was remembered but for these audiences; the tables are dropped by name.
DELETE FROM pganon_private.memory AS m
WHERE m.population = %(population)s AND m.audience <> ALL (%(kept)s::text[])
RETURNING m.person_table, m.cell_table, m.value_table, m.value_set_table, m.own_tables;

-- add_memory --
-- What is remembered from now on.
INSERT INTO pganon_private.memory (
    population, audience, columns, floors, person_table, cell_table, value_table, own_tables, runs,
    fingerprint, run_id, value_sets_of, value_set_table
)
VALUES (
    %(population)s, %(audience)s, %(columns)s, %(floors)s, %(person)s, %(cell)s, %(value)s, %(own)s,
    %(runs)s, %(fingerprint)s, %(run_id)s, %(value_sets_of)s::text[], %(value_set)s
);

-- versions --
-- Versions about a population, the oldest first. Who reads a version that grew reads all that it is
-- made of.
SELECT
    v.release, v.version, v.run_id, v.method, v.members_table, v.relations, v.guard,
    v.published_at, v.dropped_at, r.readable_by, v.policy -> 'columns', v.policy ->> 'audiences'
FROM pganon_private.version AS v
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN bool_and(w.readable_by IS NOT NULL) THEN
            coalesce(array_agg(DISTINCT n.name) FILTER (WHERE n.name IS NOT NULL), '{}')
    END AS readable_by
    FROM pganon_private.version AS w
    LEFT JOIN LATERAL unnest(w.readable_by) AS n(name) ON true
    WHERE w.release = v.release
        AND (
            w.version = v.version
            OR w.increments @> jsonb_build_array(jsonb_build_object('run_id', v.run_id))
        )
) AS r
WHERE v.population = %(population)s
ORDER BY v.published_at, v.run_id;

-- fingerprint_again --
-- The fingerprint of a version whose members have other digests.
UPDATE pganon_private.version AS v
SET fingerprint = pganon.fingerprint(
    v.run_id,
    ARRAY(
        SELECT to_regclass(t.name)
        FROM unnest(%(relations)s::text[]) WITH ORDINALITY AS t(name, place)
        ORDER BY t.place
    )
)
WHERE v.run_id = %(run_id)s;

-- memory_fingerprint --
-- The fingerprint of a memory whose people have other digests.
UPDATE pganon_private.memory AS m
SET fingerprint = %(fingerprint)s
WHERE m.population = %(population)s AND m.audience = %(audience)s;

-- forget_version --
-- A version of which nothing but the row is left; no other is compared with it.
UPDATE pganon_private.version AS v
SET population = NULL, members_table = NULL, relations = '[]', guard = %(guard)s
WHERE v.release = %(release)s AND v.version = %(version)s;

-- columns --
-- Columns of a table with their types.
SELECT a.attname::text, format_type(a.atttypid, a.atttypmod)
FROM pg_attribute AS a
WHERE a.attrelid = to_regclass(%(table)s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;

-- enter --
-- A version that was published before populations were known.
UPDATE pganon_private.version AS v
SET population = %(population)s, guard = %(guard)s
WHERE v.release = %(release)s AND v.version = %(version)s;

-- by_id --
-- Name, sources, key and counter of a population.
SELECT p.name, p.sources, ARRAY(SELECT jsonb_array_elements_text(p.key)), p.counter
FROM pganon_private.population AS p
WHERE p.id = %(population)s;

-- cohorts --
-- Runs that committed to newcomers of a population.
SELECT c.run_id FROM pganon_private.cohorts AS c WHERE c.population = %(population)s ORDER BY 1;
