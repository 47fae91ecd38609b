-- Clusters of one block by Greedy (`nearest`) or Efficient QS k-anonymity.
--
-- `cells` (block, place, cell, w, ids, x<i>): equal records are one cell with their number w. Places
-- of a block run from 1; the smallest wins ties, and they are the order that Efficient takes.
-- ids are the values of all attributes, numbered through from 1; columns x as in qs_loss. `sets`
-- and `heights` have one element per attribute; `supports` one relation per set (see
-- qs_universe), or is NULL where products alone count.
--
-- One row per cluster and cell with the number of records; cluster 0 are the records left over.
-- The published listings first ask whether the free records can reach k: here the last cluster
-- takes them all and misses it, which says the same. Equal records come in together while
-- combinations are missing: one by one they would come next, at no loss. Where combinations that
-- exist count, a cluster also has k records: with fewer, its values may fit only a few of them.
CREATE FUNCTION pganon.qs_clusters(
    cells regclass,
    block integer,
    sets integer[],
    heights integer[],
    k bigint,
    min_values integer,
    supports regclass[],
    nearest boolean,
    start integer DEFAULT 1
) RETURNS TABLE (cluster integer, cell integer, n bigint)
    LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000000 ROWS 1000
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    attributes constant integer := cardinality(sets);
    set_count constant integer := (SELECT max(v) FROM unnest(sets) AS v);
    axes constant integer := (SELECT sum(CASE v WHEN 0 THEN 2 ELSE v END) FROM unnest(heights) AS v);
    search record;                 -- see qs_lookups
    candidates integer[];          -- places nearest to the open cluster when they were looked up
    bound float8;                  -- loss with the last of them
    bound_place integer;
    loss float8;
    stream refcursor;
    rest bigint[];                 -- records of a place that are free; NULL counts as none
    used bit varying;              -- places without free records
    combinations record;           -- see qs_known
    bits bit varying[];
    places text[];
    none bit varying[];
    one integer;
    -- the open cluster
    number integer := 1;
    stamp integer[];               -- the last cluster that had a value
    counts integer[];              -- values per attribute
    products bigint[];             -- combinations per set, while below k
    held bit varying[];            -- combinations that have a value of the cluster, per attribute
    common bit varying;
    met boolean[];
    grown boolean[];
    unmet integer;
    least_records constant bigint := CASE WHEN supports IS NULL THEN 1 ELSE k END;
    records bigint;
    lowest float8[];
    highest float8[];
    member_cells integer[] := '{}';
    member_counts bigint[] := '{}';
    -- the cell at hand
    place integer := 0;
    this integer;
    ids integer[];
    xs float8[];
    take bigint;
    id integer;
    s integer;
BEGIN
    EXECUTE format('SELECT array_agg(c.w ORDER BY c.place), array_fill(0, ARRAY[max(v.id)])'
                   ' FROM %s AS c CROSS JOIN LATERAL (SELECT max(i) FROM unnest(c.ids) AS i) AS v(id)'
                   ' WHERE c.block = $1', cells)
        INTO rest, stamp USING block;
    combinations := pganon.qs_known(cells, block, sets, supports, cardinality(stamp));
    bits := combinations.bits;
    places := combinations.places;
    none := combinations.nothing;
    IF nearest THEN
        used := repeat('0', cardinality(rest) + 1)::bit varying;
        search := pganon.qs_lookups(cells, heights, 100);
        EXECUTE format('SELECT %s FROM %s AS c WHERE c.block = $1 AND c.place = $2',
                       search.point, cells)
            INTO xs USING block, start;
    ELSE
        OPEN stream FOR EXECUTE format(
            'SELECT c.place, c.cell, c.ids FROM %s AS c WHERE c.block = $1 ORDER BY c.place', cells)
            USING block;
    END IF;

    <<clusters>>
    LOOP
        counts := array_fill(0, ARRAY[attributes]);
        products := array_fill(1::bigint, ARRAY[set_count]);
        met := array_fill(false, ARRAY[set_count]);
        held := array_fill(NULL::bit varying, ARRAY[attributes]);
        records := 0;
        unmet := set_count + CASE WHEN min_values > 1 THEN attributes ELSE 0 END;
        -- The first record of a cluster is the one farthest from the last of the one before.
        lowest := xs;
        highest := xs;
        LOOP
            IF nearest THEN
                IF member_cells = '{}' THEN
                    EXECUTE search.farthest INTO place, this, ids, xs USING block, used, lowest, highest;
                    candidates := NULL;
                ELSE
                    EXECUTE search.closest INTO place, this, ids, xs, loss
                        USING block, used, lowest, highest, candidates;
                    -- Losses only grow with the cluster: what was not near then is not nearer now.
                    IF place IS NULL OR (loss, place) > (bound, bound_place) THEN
                        EXECUTE search.nearby INTO candidates, bound, bound_place
                            USING block, used, lowest, highest;
                        EXECUTE search.closest INTO place, this, ids, xs, loss
                            USING block, used, lowest, highest, candidates;
                    END IF;
                END IF;
            ELSIF place = 0 OR coalesce(rest[place] <= 0, true) THEN
                FETCH stream INTO place, this, ids;
            END IF;
            EXIT clusters WHEN place IS NULL;

            grown := NULL;
            FOR a IN 1 .. attributes LOOP
                id := ids[a];
                CONTINUE WHEN stamp[id] = number;
                stamp[id] := number;
                counts[a] := counts[a] + 1;
                IF counts[a] = min_values AND min_values > 1 THEN
                    unmet := unmet - 1;
                END IF;
                s := sets[a];
                CONTINUE WHEN met[s];
                grown[s] := true;
                IF counts[a] > 1 AND products[s] < k THEN
                    products[s] := products[s] / (counts[a] - 1) * counts[a];
                END IF;
                IF bits IS NOT NULL THEN
                    common := coalesce(held[a], none[s]);
                    IF bits[id] IS NOT NULL THEN
                        common := common | bits[id];
                    ELSIF places[id] IS NOT NULL THEN
                        FOREACH one IN ARRAY places[id]::integer[] LOOP
                            common := set_bit(common, one, 1);
                        END LOOP;
                    END IF;
                    held[a] := common;
                END IF;
            END LOOP;
            IF grown IS NOT NULL THEN
                FOR s IN 1 .. set_count LOOP
                    CONTINUE WHEN grown[s] IS NULL OR products[s] < k;
                    IF bits IS NOT NULL THEN
                        FOR a IN 1 .. attributes LOOP
                            CONTINUE WHEN sets[a] <> s;
                            common := CASE WHEN a = array_position(sets, s) THEN held[a]
                                           ELSE common & held[a] END;
                        END LOOP;
                        CONTINUE WHEN bit_count(common) < k;
                    END IF;
                    met[s] := true;
                    unmet := unmet - 1;
                END LOOP;
            END IF;

            take := CASE WHEN unmet = 0 THEN least(rest[place], greatest(1, least_records - records))
                         ELSE rest[place] END;
            rest[place] := rest[place] - take;
            records := records + take;
            IF nearest THEN
                IF coalesce(rest[place] <= 0, true) THEN
                    used := set_bit(used, place, 1);
                END IF;
                IF member_cells = '{}' THEN
                    lowest := xs;
                    highest := xs;
                END IF;
                FOR i IN 1 .. axes LOOP
                    lowest[i] := least(lowest[i], xs[i]);
                    highest[i] := greatest(highest[i], xs[i]);
                END LOOP;
            END IF;
            member_cells := member_cells || this;
            member_counts := member_counts || take;
            EXIT WHEN unmet = 0 AND records >= least_records;
        END LOOP;
        RETURN QUERY SELECT number, m.* FROM unnest(member_cells, member_counts) AS m;
        number := number + 1;
        member_cells := '{}';
        member_counts := '{}';
    END LOOP;
    RETURN QUERY SELECT 0, m.* FROM unnest(member_cells, member_counts) AS m;
END
$$;

COMMENT ON FUNCTION pganon.qs_clusters(
    regclass, integer, integer[], integer[], bigint, integer, regclass[], boolean, integer) IS
    'clusters of one block by greedy or efficient QS k-anonymity';
