-- Say why a decision is not taken from this frame; the view pganon.action refuses it in any case. People
-- decide, so it is the login that counts: no role taken by SET ROLE, and no function of somebody else.
CREATE FUNCTION pganon.assert_login() RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_user <> session_user THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('"%s" logged in, and "%s" may not decide for it', session_user, current_user),
            HINT = 'decide under the role that logged in (RESET ROLE), and not in a function of another role';
    END IF;
END
$$;

COMMENT ON FUNCTION pganon.assert_login() IS 'refuse a decision that is not that of the login itself';
