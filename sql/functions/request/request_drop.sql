-- Ask for a release to be dropped, with its views and stored tables; for the steward.
CREATE FUNCTION pganon.request_drop(release text) RETURNS bigint
    LANGUAGE sql VOLATILE
RETURN pganon.request_change($1, 'drop');

COMMENT ON FUNCTION pganon.request_drop(text) IS
    'ask for a release to be dropped; gives the number of the request';
