-- Take away requests that ended a quarter of a year ago; the ledger says what was made. Those that were
-- decided stay, with the decision. What others have locked is left for later. Gives how many went.
CREATE FUNCTION pganon.tidy_requests() RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM pganon_private.request AS r
    WHERE r.id IN (
        SELECT q.id
        FROM pganon_private.request AS q
        WHERE q.finished_at < clock_timestamp() - interval '2160 hours'
            AND NOT EXISTS (SELECT FROM pganon_private.approval AS a WHERE a.request = q.id)
            AND NOT EXISTS (SELECT FROM pganon_private.held AS h WHERE h.request = q.id)
        FOR UPDATE SKIP LOCKED
    );
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pganon.tidy_requests() IS 'take away requests that ended long ago; gives how many';
