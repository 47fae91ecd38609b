-- What everybody may ask is answered from these tables. Their statistics would show in plans, to roles
-- that see none of the rows: there are none of their columns.
DO $$
DECLARE
    c record;
BEGIN
    FOR c IN
        SELECT format('ALTER TABLE %I.%I ALTER COLUMN %I', n.nspname, t.relname, a.attname) AS alter,
            format_type(a.atttypid, a.atttypmod) AS type,
            EXISTS (
                SELECT FROM pg_stats AS s
                WHERE s.schemaname = n.nspname AND s.tablename = t.relname AND s.attname = a.attname
            ) AS known
        FROM pg_class AS t
        JOIN pg_namespace AS n ON n.oid = t.relnamespace
        JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE n.nspname = 'pganon_private' AND t.relname IN (
            'action', 'approval', 'held', 'ledger', 'policy_role', 'release', 'request', 'version', 'worker'
        )
    LOOP
        IF c.known THEN -- a column that is made anew has none
            EXECUTE format('%s TYPE %s', c.alter, c.type);
        END IF;
        EXECUTE c.alter || ' SET STATISTICS 0';
    END LOOP;
END
$$;
