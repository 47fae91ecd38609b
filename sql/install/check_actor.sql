-- Who may make an extension of pganon, or change it: the role that owns it, or will. Its functions
-- run with the rights of their owner, and a dump does not know who that was.
DO $$
DECLARE
    owner name := (
        SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'pganon_private'
    );
BEGIN
    IF (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA122',
            MESSAGE = 'functions of pganon would run with the rights of a superuser',
            HINT = 'connect as the role that is to own pganon, or SET ROLE to it; to restore a dump,'
                ' CREATE EXTENSION pganon as that role first, or pg_restore --role=OWNER';
    END IF;
    IF owner <> current_user THEN
        RAISE EXCEPTION USING
            ERRCODE = 'PA122',
            MESSAGE = format('pganon in this database belongs to the role "%s"', owner),
            HINT = 'connect as that role';
    END IF;
END
$$;
