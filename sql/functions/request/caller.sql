-- The role that calls a function with the rights of its owner: the one of SET ROLE, else the login.
CREATE FUNCTION pganon.caller() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
RETURN coalesce(nullif(current_setting('role'), 'none'), session_user);

COMMENT ON FUNCTION pganon.caller() IS 'the role that calls, also where a function runs as its owner';
