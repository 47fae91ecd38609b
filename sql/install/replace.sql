-- Puts a function or view, whose statements are the first %s, in the place of one on which others have
-- built. Where that cannot be, because names or types have changed, what they have built goes: the second
-- %s is its name, the third of how many types it takes arguments, the fourth a statement that drops it.
DO $pganon$
DECLARE
    made constant text := %s;
BEGIN
    BEGIN
        EXECUTE made;
        IF (
            SELECT count(*) FROM pg_proc AS p
            WHERE p.pronamespace = 'pganon'::regnamespace AND p.proname = %s
        ) > %s THEN
            RAISE EXCEPTION 'it stands beside the one before';
        END IF;
        RETURN;
    EXCEPTION WHEN others THEN
        NULL;
    END;
    EXECUTE %s;
    EXECUTE made;
END
$pganon$;
