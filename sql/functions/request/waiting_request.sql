-- The number of an equal request of the same role that waits; NULL for none.
CREATE FUNCTION pganon.waiting_request(
    p_release text,
    p_revision integer,
    p_kind text,
    p_parameters jsonb,
    p_requester_id oid,
    p_not_before timestamptz
)
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT r.id
        FROM pganon_private.request AS r
        WHERE r.release = p_release AND r.revision = p_revision AND r.kind = p_kind
            AND r.requester_id = p_requester_id AND r.parameters = p_parameters
            AND coalesce(r.not_before, '-infinity') = coalesce(p_not_before, '-infinity')
            AND r.state = 'waiting' AND r.attempts = 0
    );
END
$$;

COMMENT ON FUNCTION pganon.waiting_request(text, integer, text, jsonb, oid, timestamptz) IS
    'an equal request that waits';
