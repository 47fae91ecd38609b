-- Do something as the role that calls: a row of pganon.action, whose check knows that role in the frame of
-- the call. What the row asks for has been done when it is read. Runs with the rights of the caller.
CREATE FUNCTION pganon.act(
    p_kind text,
    p_release text DEFAULT NULL,
    p_parameters jsonb DEFAULT NULL,
    p_not_before timestamptz DEFAULT NULL,
    p_request bigint DEFAULT NULL,
    p_reason text DEFAULT NULL
)
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given bigint;
    hint text;
BEGIN
    -- People decide, so it is the login that counts: no role taken by SET ROLE, and no function of
    -- somebody else. The view refuses that in any case, and does not say why.
    IF p_kind IN ('approve', 'reject') AND current_user <> session_user THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA411',
            MESSAGE = format('"%s" logged in, and "%s" may not decide for it', session_user, current_user),
            HINT = 'decide under the role that logged in (RESET ROLE), and not in a function of another role';
    END IF;
    INSERT INTO pganon.action (actor, kind, release, parameters, not_before, request, reason)
    VALUES (current_user, p_kind, p_release, p_parameters, p_not_before, p_request, p_reason)
    RETURNING id INTO given;
    DELETE FROM pganon.action AS a WHERE a.id = given RETURNING a.result INTO given;
    RETURN given;
EXCEPTION WHEN OTHERS THEN
    IF SQLSTATE NOT LIKE 'PA%' THEN
        RAISE;
    END IF;
    -- Raised anew: else a line of context comes with it for every function that was on the way.
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM, HINT = hint;
END
$$;

COMMENT ON FUNCTION pganon.act(text, text, jsonb, timestamptz, bigint, text) IS
    'do something as the role that calls; gives the number of a request';
