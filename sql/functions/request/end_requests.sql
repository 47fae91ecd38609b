-- Cancel what was asked of a release that is not shown any more, and end its schedule. A worker
-- that runs it finds its request gone when it wants to publish.
CREATE FUNCTION pganon.end_requests(p_release text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Who is about to cancel or decide one, in an open transaction, holds up nobody: workers pass
    -- over what was asked before this.
    UPDATE pganon_private.request AS r
    SET state = 'cancelled', worker = NULL, finished_at = clock_timestamp(), code = 'withdrawn'
    WHERE r.release = p_release AND (
        r.state IN ('running', 'approved')
        OR r.id IN (
            SELECT q.id
            FROM pganon_private.request AS q
            WHERE q.release = p_release AND q.state IN ('waiting', 'awaiting_approval')
            FOR UPDATE SKIP LOCKED
        )
    );
    DELETE FROM pganon_private.schedule AS s WHERE s.release = p_release;
END
$$;

COMMENT ON FUNCTION pganon.end_requests(text) IS
    'cancel what was asked of a release, and end its schedule';
