-- Text of an expression: loss (NCP summed over the attributes) of the union of a row `c` and the
-- open cluster, which is in the arrays $3 (lowest) and $4 (highest) of whoever runs it: the planner
-- knows them as constants, so that what cannot tell rows apart costs nothing per row.
--
-- Attribute a has the columns x<i> that follow those of the attributes before it. heights[a] = 0, on
-- a line: position in [0, 1], and 1 for NULL or 0. heights[a] = h > 0, in a tree of that height: the
-- ancestors from the leaf up to the child of the root, as numbers. Rows are single records, or
-- clusters (`boxes`) with lo<i> and hi<i> as the bounds of x<i>.
CREATE FUNCTION pganon.qs_loss(heights integer[], boxes boolean DEFAULT false) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    low constant text := CASE WHEN boxes THEN 'c.lo%1$s' ELSE 'c.x%1$s' END;
    high constant text := CASE WHEN boxes THEN 'c.hi%1$s' ELSE 'c.x%1$s' END;
    alike constant text := CASE WHEN boxes
        THEN format('least(%s, $3[%%1$s]) = greatest(%s, $4[%%1$s])', low, high)
        ELSE '$3[%1$s] = $4[%1$s] AND c.x%1$s = $3[%1$s]' END;
    spread constant text := format(
        'coalesce(greatest(%s, $4[%%1$s]) - least(%s, $3[%%1$s]), 0)', high, low);
    terms text[] := '{}';
    arms text;
    i integer := 1;
BEGIN
    FOR a IN 1 .. cardinality(heights) LOOP
        IF heights[a] = 0 THEN
            terms := terms || format('CASE WHEN %s THEN %s ELSE 1 END',
                                     format(alike, i + 1), format(spread, i));
            i := i + 2;
        ELSE
            arms := '';
            FOR l IN 0 .. heights[a] - 1 LOOP
                arms := arms || format(' WHEN %s THEN %s::float8', format(alike, i + l),
                                       l::float8 / heights[a]);
            END LOOP;
            terms := terms || format('CASE%s ELSE 1 END', arms);
            i := i + heights[a];
        END IF;
    END LOOP;
    RETURN array_to_string(terms, ' + ');
END
$$;

COMMENT ON FUNCTION pganon.qs_loss(integer[], boolean) IS
    'SQL text of the loss of a cluster and one more record or cluster together';
