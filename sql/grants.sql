-- Privileges on the objects of schema pganon. Runs last; before it, every privilege of everybody
-- but the owner has been revoked, so anything not granted here is accessible only to the owner.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN SELECT o.statement FROM pganon.open_to_all() AS o LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
