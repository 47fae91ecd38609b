-- Approve a release that waits for it, as a second person; see decide_request.sql. `evidence` is the digest
-- of what was looked at.
CREATE FUNCTION pganon.approve_release(id bigint, reason text, evidence text DEFAULT NULL)
    RETURNS bigint
    LANGUAGE sql VOLATILE
RETURN pganon.act(
    'approve',
    p_parameters => pg_catalog.jsonb_build_object('evidence', $3),
    p_request => $1,
    p_reason => $2
);

COMMENT ON FUNCTION pganon.approve_release(bigint, text, text) IS
    'approve a release that waits for a second person; gives the number of its request';
