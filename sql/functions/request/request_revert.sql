-- Ask for the version before the current one to be shown again; for the steward.
CREATE FUNCTION pganon.request_revert(release text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pganon.request_change($1, 'revert');
END
$$;

COMMENT ON FUNCTION pganon.request_revert(text) IS
    'ask for the version before to be shown; gives the number of the request';
