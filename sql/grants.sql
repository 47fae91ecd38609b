-- Who may do what with the objects of schema pganon. Runs last; before it, every privilege of
-- everybody but the owner has been revoked, so what is not granted here is the owner's alone.
GRANT USAGE ON SCHEMA pganon TO PUBLIC;
GRANT SELECT ON pganon.releases TO PUBLIC;
