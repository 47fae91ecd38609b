-- Queries that read what the catalog says about a source. Everything is asked by name of the
-- namespace or by oid; pg_catalog is readable by every role.

-- relation --
-- The relation of that schema and name, and what the current role may do with it.
SELECT
    c.oid,
    c.relkind::text,
    pg_catalog.pg_get_userbyid(c.relowner)::text AS owner,
    pg_catalog.row_security_active(c.oid) AS row_security,
    c.relispopulated AS populated,
    c.relpersistence = 't' AS temporary,
    pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS may_use_schema,
    pg_catalog.has_any_column_privilege(c.oid, 'SELECT') AS may_select,
    current_user::text AS role
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname = %(name)s;

-- columns --
-- Columns in order, domains resolved. `not_null` only if every member of an inheritance tree has
-- an enforced, validated constraint; a domain's NOT NULL is not one, the server lets NULL in.
WITH RECURSIVE member AS (
    SELECT c.oid, c.relkind
    FROM pg_catalog.pg_class AS c
    WHERE c.oid = %(oid)s
    UNION
    SELECT c.oid, c.relkind
    FROM member AS m
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent = m.oid
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
),
type_chain AS (
    SELECT a.attnum, a.atttypid AS type, a.atttypmod AS modifier
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT c.attnum, t.typbasetype, t.typtypmod
    FROM type_chain AS c
    JOIN pg_catalog.pg_type AS t ON t.oid = c.type AND t.typtype = 'd'
)
SELECT
    a.attnum,
    a.attname::text,
    a.atttypid AS type_oid,
    pg_catalog.format_type(a.atttypid, a.atttypmod) AS type_name,
    t.oid AS base_oid,
    pg_catalog.format_type(t.oid, c.modifier) AS base,
    t.typname::text,
    t.typtype::text,
    n.nspname = 'pg_catalog' AS built_in,
    NOT EXISTS (
        SELECT
        FROM member AS m
        LEFT JOIN pg_catalog.pg_attribute AS o
            ON o.attrelid = m.oid AND o.attname = a.attname AND NOT o.attisdropped
        WHERE m.relkind NOT IN ('r', 'p')
            OR o.attnotnull IS NOT TRUE
            OR EXISTS (
                SELECT
                FROM pg_catalog.pg_constraint AS k
                WHERE k.conrelid = m.oid AND k.contype = 'n' AND NOT k.convalidated
                    AND k.conkey = ARRAY[o.attnum]
            )
    ) AS not_null,
    COALESCE(l.collisdeterministic, true) AS collation_deterministic,
    pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable
FROM type_chain AS c
JOIN pg_catalog.pg_type AS t ON t.oid = c.type AND t.typtype <> 'd'
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = %(oid)s AND a.attnum = c.attnum
LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
ORDER BY a.attnum;

-- primary_key --
-- Columns of the primary key in its order; none for a parent whose children it does not bind.
SELECT a.attname::text
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = %(oid)s
    AND i.indisprimary AND i.indisvalid AND i.indimmediate
    AND k.place <= i.indnkeyatts
    AND (
        c.relkind = 'p'
        OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid)
    )
ORDER BY k.place;

-- unique_columns --
-- Columns that a unique index of one column covers for every row.
SELECT DISTINCT a.attname::text
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %(oid)s
    AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
    AND i.indnkeyatts = 1;

-- readable_relations --
-- Relations that the current role may read, for suggestions.
SELECT n.nspname::text, c.relname::text
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname
LIMIT 10000;
