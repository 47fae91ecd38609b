-- A row of the ledger for what happens in SQL. Without a run it is its own.
CREATE FUNCTION pganon.note_event(
    p_event text, p_release text, p_run_id bigint, p_version integer, p_details jsonb
)
    RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made bigint := coalesce(p_run_id, nextval('pganon_private.ledger_id_seq'));
    by_program text;
BEGIN
    SELECT s.program_version INTO by_program
    FROM pganon_private.object_set AS s
    ORDER BY s.number DESC
    LIMIT 1;
    INSERT INTO pganon_private.ledger (run_id, release, version, event, program_version, details)
    VALUES (made, p_release, p_version, p_event, by_program, p_details);
END
$$;

COMMENT ON FUNCTION pganon.note_event(text, text, bigint, integer, jsonb) IS
    'add a row to the ledger';
