-- Ask for a change of what is shown of a release, of a kind that needs no policy; for the steward.
CREATE FUNCTION pganon.request_change(p_release text, p_kind text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pganon_private.release AS r WHERE r.name = p_release AND r.current_version IS NOT NULL
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401',
            MESSAGE = format('there is no release "%s" that is shown', p_release),
            HINT = '`pganon releases` lists them';
    END IF;
    RETURN pganon.enqueue(
        p_release,
        coalesce((SELECT max(p.revision) FROM pganon_private.policy AS p WHERE p.release = p_release), 0),
        p_kind, 'request', '{}', to_regrole(quote_ident(current_user)), NULL
    );
END
$$;

COMMENT ON FUNCTION pganon.request_change(text, text) IS
    'ask for a change of what is shown of a release; gives the number of the request';
