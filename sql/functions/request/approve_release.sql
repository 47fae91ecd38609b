-- Approve a release that waits for it, as a second person; see decide_request.sql. `evidence` is the digest
-- of what was looked at.
CREATE FUNCTION pganon.approve_release(id bigint, reason text, evidence text DEFAULT NULL)
    RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pganon.assert_login();
    PERFORM pganon.act(
        'approve', p_parameters => jsonb_build_object('evidence', $3), p_request => $1, p_reason => $2
    );
END
$$;

COMMENT ON FUNCTION pganon.approve_release(bigint, text, text) IS 'approve a release that waits for a second person';
