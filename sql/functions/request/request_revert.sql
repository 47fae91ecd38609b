-- Ask for the version before the current one to be shown again; for the steward.
CREATE FUNCTION pganon.request_revert(release text) RETURNS bigint
    LANGUAGE sql VOLATILE
RETURN pganon.request_change($1, 'revert');

COMMENT ON FUNCTION pganon.request_revert(text) IS
    'ask for the version before to be shown; gives the number of the request';
