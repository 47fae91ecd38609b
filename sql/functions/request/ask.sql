-- Ask for a version of a release, or for a change of what is shown of it (revert, drop), and wait for the end,
-- with a notice on every change and every five seconds. What went wrong is given, and not raised: of what is
-- raised every CALL on the way would add its lines. It commits, so it has no SET clause; under a
-- hostile search_path a name or an operator could be anybody's, so names are qualified, and comparing is
-- left to functions.
CREATE PROCEDURE pganon.ask(
    p_change text,
    p_release text,
    p_parameters jsonb,
    p_wait interval,
    INOUT failed text DEFAULT NULL,
    INOUT said text DEFAULT NULL,
    INOUT hint text DEFAULT NULL
)
    LANGUAGE plpgsql
AS $$
DECLARE
    since timestamp with time zone := pg_catalog.clock_timestamp();
    queued bigint;
    told timestamp with time zone;
    seen pg_catalog.text;
    note pg_catalog.text;
    done boolean;
BEGIN
    CALL pganon.may_wait(p_change, failed, said, hint);
    IF failed IS NOT NULL THEN
        RETURN;
    END IF;
    BEGIN
        IF p_change IS NULL THEN
            queued := pganon.request_release(p_release, p_parameters);
        ELSE
            queued := pganon.request_change(p_release, p_change);
        END IF;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS
            failed = RETURNED_SQLSTATE, said = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
        IF pg_catalog.starts_with(failed, 'PA') THEN
            RETURN;
        END IF;
        RAISE;
    END;
    COMMIT;
    LOOP
        SELECT p.seen, p.told, p.note, p.done, p.failed, p.said, p.hint
        INTO seen, told, note, done, failed, said, hint
        FROM pganon.request_progress(queued, since, p_wait, seen, told) AS p;
        COMMIT;
        IF note IS NOT NULL THEN
            RAISE NOTICE '%', note;
        END IF;
        EXIT WHEN done;
        PERFORM pg_catalog.pg_sleep(0.5);
        COMMIT;
    END LOOP;
END
$$;

COMMENT ON PROCEDURE pganon.ask(text, text, jsonb, interval, text, text, text) IS
    'ask for a version or a change of a release, and wait; gives what went wrong';
