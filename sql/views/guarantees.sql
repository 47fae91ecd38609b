-- The statements of which the guarantees of those releases consist. Who may see them is decided by
-- pganon.releases alone.
-- Behind a fence: see pganon.requests.
CREATE VIEW pganon.guarantees AS
SELECT f.*
FROM pg_catalog.unnest(ARRAY(
    SELECT q
    FROM (
        SELECT
            r.release,
            r.version,
            s.position,
            s.item ->> 'requirement' AS requirement,
            s.item ->> 'reader' AS reader,
            ARRAY(
                SELECT a.assumed
                FROM pg_catalog.jsonb_array_elements_text(s.item -> 'assumes')
                    WITH ORDINALITY AS a(assumed, place)
                ORDER BY a.place
            ) AS assumes,
            s.item ->> 'over_versions' AS over_versions,
            s.item AS details
        FROM pganon.releases AS r
        JOIN pganon_private.version AS v ON v.release = r.release AND v.version = r.version
        CROSS JOIN LATERAL (
            -- Another version may cross this one long after it was promised.
            SELECT
                g.position,
                CASE
                    WHEN v.over_versions = 'void'
                        THEN g.item || '{"over_versions": "readers of one version"}'::pg_catalog.jsonb
                    ELSE g.item
                END AS item
            FROM pg_catalog.jsonb_array_elements(v.guarantee) WITH ORDINALITY AS g(item, position)
        ) AS s
    ) AS q
)) AS f(
    release text, version integer, "position" bigint, requirement text, reader text, assumes text[],
    over_versions text, details jsonb
);

COMMENT ON VIEW pganon.guarantees IS
    'guarantees of the releases that you may read: a requirement, and the reader against whom it holds';
COMMENT ON COLUMN pganon.guarantees.assumes IS
    'what must also be true of that reader; the requirement says nothing about one of whom it is not';
COMMENT ON COLUMN pganon.guarantees.over_versions IS
    'who of these readers may have other versions about the same people, too';
COMMENT ON COLUMN pganon.guarantees.details IS
    'model, column, parameters and options of the method, as pganon show --json has them';
