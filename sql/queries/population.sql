-- Populations, and what is remembered of them.

-- known --
-- Populations that are near, or of that name: id, name, sources, key, and whether they are near: some
-- version is about them, or some were forgotten, and they share a relation, or are `copied`.
SELECT
    p.id, p.name,
    array_agg(DISTINCT r.policy_source) FILTER (WHERE r.name IS NOT NULL),
    ARRAY(SELECT jsonb_array_elements_text(p.key)),
    bool_or(n.is_near)
FROM pganon_private.population AS p
LEFT JOIN pganon_private.version AS v ON v.population = p.id
LEFT JOIN pganon_private.release AS r ON r.name = v.release
CROSS JOIN LATERAL (
    SELECT (
        v.release IS NOT NULL
        OR EXISTS (SELECT FROM pganon_private.forgotten AS f WHERE f.population = p.id)
    ) AND (
        p.sources && %(sources)s::text[] OR p.id = %(copied)s::bigint
    ) AS is_near
) AS n
WHERE p.name = %(name)s OR n.is_near
GROUP BY p.id
ORDER BY p.id;

-- of_release --
-- Population of the newest version of a release that is about one: id, name, source, key.
SELECT p.id, p.name, ARRAY[r.policy_source], ARRAY(SELECT jsonb_array_elements_text(p.key))
FROM pganon_private.version AS v
JOIN pganon_private.population AS p ON p.id = v.population
JOIN pganon_private.release AS r ON r.name = v.release
WHERE v.release = %(release)s
ORDER BY v.version DESC
LIMIT 1;

-- one_at_a_time --
-- Until the transaction ends nobody else adds a population.
LOCK TABLE pganon_private.population IN SHARE ROW EXCLUSIVE MODE;

-- has_forgotten --
-- Whether anybody of a population was forgotten.
SELECT EXISTS (SELECT FROM pganon_private.forgotten AS f WHERE f.population = %(population)s);

-- add --
-- A population of nobody's version yet, which a failed run of the same source left; else a new one.
WITH unused AS (
    SELECT p.id
    FROM pganon_private.population AS p
    WHERE p.name IS NOT DISTINCT FROM %(name)s AND p.sources = %(sources)s::text[]
        AND p.key = %(key)s
        AND NOT EXISTS (SELECT FROM pganon_private.version AS v WHERE v.population = p.id)
    ORDER BY p.id
    LIMIT 1
),

made AS (
    INSERT INTO pganon_private.population (name, sources, key)
    SELECT %(name)s, %(sources)s, %(key)s WHERE NOT EXISTS (SELECT FROM unused)
    RETURNING id
)

SELECT u.id FROM unused AS u UNION ALL SELECT m.id FROM made AS m;

-- of_run --
-- Whose secret makes the digests of a run.
UPDATE pganon_private.run_secret SET population = %(population)s WHERE run_id = %(run_id)s;

-- counter --
-- How often what is known of it changed, which nobody changes before the transaction ends; and whether
-- anybody of it was forgotten.
SELECT p.counter, EXISTS (SELECT FROM pganon_private.forgotten AS f WHERE f.population = p.id)
FROM pganon_private.population AS p WHERE p.id = %(population)s FOR UPDATE;

-- count --
-- What is known of it changed; with the name and the sources of a version. Nothing if it is not as known.
UPDATE pganon_private.population AS p
SET
    counter = p.counter + 1,
    name = coalesce(%(name)s, p.name),
    sources = ARRAY(
        SELECT DISTINCT s.name
        FROM unnest(p.sources || %(sources)s::text[]) AS s(name)
        ORDER BY s.name
    )
WHERE p.id = %(population)s AND (%(known)s::bigint IS NULL OR p.counter = %(known)s);

-- versions --
-- Versions about a population, the oldest first. Who reads a version that grew reads all that it is
-- made of. Readers are those who have the names now, and those who were renamed. Without its secrets a version is not the same as another.
SELECT
    v.release, v.version, v.run_id, v.members_table, v.relations, v.manner,
    CASE WHEN s.run_id IS NOT NULL THEN v.partition_hash END AS partition_hash,
    sha256(v.source_fingerprint || int8send(s.partition_seed)) AS drawn,
    ARRAY(
        SELECT (i.item ->> 'run_id')::bigint
        FROM jsonb_array_elements(v.increments) WITH ORDINALITY AS i(item, place)
        ORDER BY i.place
    ) AS increments,
    r.readable_by, v.policy ->> 'audiences', v.over_versions, v.sources,
    v.policy ->> 'source'
FROM pganon_private.version AS v
LEFT JOIN pganon_private.run_secret AS s ON s.run_id = v.run_id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(DISTINCT n.name), '{}') AS readable_by
    FROM pganon_private.version AS w
    CROSS JOIN LATERAL unnest(w.readable_by, w.readable_ids) AS k(name, id)
    LEFT JOIN pg_roles AS o ON o.oid = k.id
    CROSS JOIN LATERAL (VALUES (k.name), (o.rolname::text)) AS n(name)
    WHERE w.release = v.release AND n.name IS NOT NULL
        AND (
            w.version = v.version
            OR w.increments @> jsonb_build_array(jsonb_build_object('run_id', v.run_id))
        )
) AS r
WHERE v.population = %(population)s
ORDER BY v.published_at, v.run_id;

-- drawn --
-- Fingerprint of a source and of the seed of a run.
SELECT sha256(%(source)s::bytea || int8send(s.partition_seed))
FROM pganon_private.run_secret AS s
WHERE s.run_id = %(run_id)s;

-- value_sets --
-- Who has which signature of columns: tables, their fingerprint, and the run with its secrets.
SELECT s.person_table, s.set_table, s.fingerprint, s.run_id
FROM pganon_private.value_sets AS s
WHERE s.population = %(population)s AND s.columns = %(columns)s::text[];

-- all_value_sets --
-- The same of a population.
SELECT s.columns, s.person_table, s.set_table, s.run_id
FROM pganon_private.value_sets AS s
WHERE s.population = %(population)s
ORDER BY s.columns;

-- forget_value_sets --
-- Before others take their place; the tables are dropped by name.
DELETE FROM pganon_private.value_sets AS s
WHERE s.population = %(population)s AND s.columns = %(columns)s::text[]
RETURNING s.person_table, s.set_table;

-- add_value_sets --
-- Who has which signature from now on.
INSERT INTO pganon_private.value_sets (
    population, columns, person_table, set_table, fingerprint, run_id
)
VALUES (
    %(population)s, %(columns)s::text[], %(person)s, %(sets)s, %(fingerprint)s, %(run_id)s
);

-- value_sets_fingerprint --
-- The fingerprint of tables whose people have other digests.
UPDATE pganon_private.value_sets AS s
SET fingerprint = %(fingerprint)s
WHERE s.population = %(population)s AND s.columns = %(columns)s::text[];

-- cross --
-- A pair of versions that may tell more together than either promises.
INSERT INTO pganon_private.crossing (run_id, other_run, reason, people)
VALUES (%(run_id)s, %(other_run)s, %(reason)s, %(people)s)
ON CONFLICT DO NOTHING;

-- promise --
-- What the guarantee of a version is worth beside others from now on, and of those that it became
-- part of; what is void stays so.
UPDATE pganon_private.version AS v
SET
    over_versions = %(state)s,
    guarantee = (
        SELECT coalesce(jsonb_agg(
            i.item || jsonb_build_object('over_versions', %(said)s::text) ORDER BY i.place
        ), '[]')
        FROM jsonb_array_elements(v.guarantee) WITH ORDINALITY AS i(item, place)
    )
WHERE v.over_versions <> 'void' AND (
    v.run_id = %(run_id)s
    OR v.increments @> jsonb_build_array(jsonb_build_object('run_id', %(run_id)s::bigint))
);

-- crossings --
-- Pairs of versions of a population that are void beside each other: runs, reason and people.
SELECT c.run_id, c.other_run, c.reason, c.people
FROM pganon_private.crossing AS c
WHERE c.run_id IN (SELECT v.run_id FROM pganon_private.version AS v WHERE v.population = %(population)s)
ORDER BY c.at, c.run_id, c.other_run;

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

-- forget_version --
-- A version of which nothing but the row is left; no other is compared with it.
UPDATE pganon_private.version AS v
SET population = NULL, members_table = NULL, relations = '[]', manner = %(manner)s
WHERE v.release = %(release)s AND v.version = %(version)s;

-- by_id --
-- Name, sources, key and counter of a population.
SELECT p.name, p.sources, ARRAY(SELECT jsonb_array_elements_text(p.key)), p.counter
FROM pganon_private.population AS p
WHERE p.id = %(population)s;

-- cohorts --
-- Runs that committed to newcomers of a population.
SELECT c.run_id FROM pganon_private.cohorts AS c WHERE c.population = %(population)s ORDER BY 1;
