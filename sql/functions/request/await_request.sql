-- Wait for the end of a request, with a notice on every change and every five seconds. It commits,
-- so it has no SET clause; under a hostile search_path a name or an operator could be anybody's, so
-- names are qualified, and comparing is left to functions.
CREATE PROCEDURE pganon.await_request(p_id bigint, p_wait interval)
    LANGUAGE plpgsql
AS $$
DECLARE
    since timestamp with time zone := pg_catalog.clock_timestamp();
    told timestamp with time zone;
    seen pg_catalog.text;
    note pg_catalog.text;
    done boolean;
BEGIN
    LOOP
        SELECT p.seen, p.told, p.note, p.done INTO seen, told, note, done
        FROM pganon.request_progress(p_id, since, p_wait, seen, told) AS p;
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

COMMENT ON PROCEDURE pganon.await_request(bigint, interval) IS 'wait for the end of a request';
