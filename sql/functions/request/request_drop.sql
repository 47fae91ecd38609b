-- Ask for a release to be dropped, with its views and stored tables; for the steward.
CREATE FUNCTION pganon.request_drop(release text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pganon.request_change($1, 'drop');
END
$$;

COMMENT ON FUNCTION pganon.request_drop(text) IS
    'ask for a release to be dropped; gives the number of the request';
