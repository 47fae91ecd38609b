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
BEGIN
    INSERT INTO pganon.action (actor, kind, release, parameters, not_before, request, reason)
    VALUES (current_user, p_kind, p_release, p_parameters, p_not_before, p_request, p_reason)
    RETURNING id INTO given;
    DELETE FROM pganon.action AS a WHERE a.id = given RETURNING a.result INTO given;
    RETURN given;
END
$$;

COMMENT ON FUNCTION pganon.act(text, text, jsonb, timestamptz, bigint, text) IS
    'do something as the role that calls; gives the number of a request';
