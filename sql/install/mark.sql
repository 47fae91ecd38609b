-- Tables whose rows a dump of the extension has, and sequences with their place. Not those that the
-- script fills, which a restored dump would fill twice, nor those of sessions. The sequence of
-- workers is among them: a request names its worker, and no other may get the number.
DO $$
DECLARE
    member regclass;
BEGIN
    FOR member IN
        SELECT c.oid
        FROM pg_extension AS e
        JOIN pg_depend AS d
            ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
            AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
        JOIN pg_class AS c ON c.oid = d.objid
        WHERE e.extname = 'pganon' AND c.relkind IN ('r', 'S') AND c.relname <> ALL (
            '{migration,object_set,object_set_number_seq,activity,worker,action,action_id_seq}'::name[]
        )
    LOOP
        PERFORM pg_extension_config_dump(member, '');
    END LOOP;
END
$$;
