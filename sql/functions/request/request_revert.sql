-- Ask for the version before the current one to be shown again; for the steward.
CREATE FUNCTION pganon.request_revert(release text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (
        SELECT FROM pganon_private.release AS r WHERE r.name = $1 AND r.current_version IS NOT NULL
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA401',
            MESSAGE = format('there is no release "%s" that is shown', $1),
            HINT = '`pganon releases` lists them';
    END IF;
    RETURN pganon.enqueue(
        $1,
        coalesce((SELECT max(p.revision) FROM pganon_private.policy AS p WHERE p.release = $1), 0),
        'revert', 'request', '{}', pganon.caller(), NULL
    );
END
$$;

COMMENT ON FUNCTION pganon.request_revert(text) IS
    'ask for the version before to be shown; gives the number of the request';
