-- Takes all privileges of others on pganon's schemas and their objects away; fails if any stay.
DO $$
DECLARE
    schemas constant text[] := '{pganon,pganon_private,pganon_work,pganon_stage,pganon_data}';
    statement text;
    still_held text;
BEGIN
    FOR statement IN SELECT DISTINCT g.revoke FROM pganon.granted(schemas) AS g LOOP
        EXECUTE statement;
    END LOOP;
    SELECT string_agg(g.held, '; ' ORDER BY g.held) INTO still_held FROM pganon.granted(schemas) AS g;
    IF still_held IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA121',
            MESSAGE = 'these privileges cannot be revoked: ' || still_held,
            HINT = 'have the role that granted them revoke them, then try again';
    END IF;
END
$$;
