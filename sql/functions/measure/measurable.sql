-- Refuses what cannot be measured: a relation that is no table or view, or an empty one, no or
-- repeated columns, individuals that are NULL. Gives the relation's name as FROM takes it.
CREATE FUNCTION pganon.measurable(
    rel regclass, qi text[], sensitive text[] DEFAULT '{}', individual text DEFAULT NULL
)
    RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    twice text;
    found boolean;
    missing bigint;
    person text;
BEGIN
    IF rel IS NULL OR NOT EXISTS (
        SELECT FROM pg_class WHERE oid = rel AND relkind IN ('r', 'p', 'v', 'm', 'f')
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA111',
            MESSAGE = format('%s is not a table or view', coalesce(rel::text, 'NULL'));
    END IF;
    IF coalesce(cardinality(qi), 0) = 0 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = 'no quasi-identifying column is named',
            HINT = 'give the columns that others could know about a person';
    END IF;
    SELECT c INTO twice FROM unnest(qi || sensitive || individual) AS c
    WHERE c IS NOT NULL GROUP BY c HAVING count(*) > 1 LIMIT 1;
    IF twice IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA114', MESSAGE = format('column %I is named twice', twice),
            HINT = 'a column is quasi-identifying, sensitive or tells individuals apart';
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s LIMIT 1)', rel) INTO found;
    IF NOT found THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA115', MESSAGE = format('%s has no records', rel),
            HINT = 'there is nothing to measure';
    END IF;
    IF individual IS NOT NULL THEN
        person := (pganon.comparable(rel, individual)).expression;
        EXECUTE format('SELECT count(*) FROM %s AS t WHERE %s IS NULL', rel, person) INTO missing;
        IF missing > 0 THEN
            RAISE EXCEPTION USING
                ERRCODE = 'PA116',
                MESSAGE = format('column %I is NULL in %s records', individual, missing),
                HINT = 'every record needs an individual';
        END IF;
    END IF;
    RETURN rel::text;
END
$$;

COMMENT ON FUNCTION pganon.measurable(regclass, text[], text[], text) IS
    'the name of a relation that can be measured by these columns; raises where it cannot';
