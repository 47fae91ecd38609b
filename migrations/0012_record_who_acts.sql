-- Who acts is written in the caller's own frame: a row of `action`, inserted through the view
-- pganon.action, whose check compares `actor` with current_user. Roles are kept by number beside the
-- name: a role that is renamed, or dropped and made again, is not the one that was named.

CREATE TABLE pganon_private.action (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor name NOT NULL,
    kind text NOT NULL
        CONSTRAINT action_kind CHECK (kind IN ('request', 'cancel', 'approve', 'reject')),
    release text,
    parameters jsonb,
    not_before timestamptz,
    request bigint,
    reason text,
    result bigint
);

COMMENT ON TABLE pganon_private.action IS
    'what a role does; a row ends with the transaction in which it is read';

-- The only function that runs with the rights of its owner. It trusts `actor`, which the view has
-- checked, and nothing of the session, not even what a day is there.
CREATE FUNCTION pganon_private.perform() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET "TimeZone" = 'UTC'
AS $$
DECLARE
    made bigint;
BEGIN
    IF TG_RELID <> 'pganon_private.action'::regclass THEN
        RAISE EXCEPTION USING ERRCODE = 'PA411', MESSAGE = 'this trigger is for pganon_private.action';
    END IF;
    made := pganon.perform(NEW);
    UPDATE pganon_private.action AS a SET result = made WHERE a.id = NEW.id;
    -- Those that nobody read.
    DELETE FROM pganon_private.action AS a WHERE a.actor = NEW.actor AND a.id <> NEW.id;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION pganon_private.perform() FROM PUBLIC;

-- After the statement, and so after the check of the view.
CREATE TRIGGER action_performed
    AFTER INSERT ON pganon_private.action
    FOR EACH ROW EXECUTE FUNCTION pganon_private.perform();
ALTER TABLE pganon_private.action ENABLE ALWAYS TRIGGER action_performed;

CREATE TABLE pganon_private.policy_role (
    release text NOT NULL,
    revision integer NOT NULL,
    purpose text NOT NULL CONSTRAINT policy_role_purpose CHECK (purpose IN ('request', 'approve')),
    role text NOT NULL,
    role_id oid NOT NULL,
    PRIMARY KEY (release, revision, purpose, role),
    FOREIGN KEY (release, revision) REFERENCES pganon_private.policy (release, revision)
);

COMMENT ON TABLE pganon_private.policy_role IS
    'roles that a policy names, as they were when it was applied; number 0 is PUBLIC';

INSERT INTO pganon_private.policy_role (release, revision, purpose, role, role_id)
SELECT DISTINCT p.release, p.revision, n.purpose, n.name, coalesce(r.oid, 0)
FROM pganon_private.policy AS p
CROSS JOIN LATERAL (
    VALUES ('request', p.document #> '{requests,roles}'),
        ('approve', p.document #> '{publish,approval,by}')
) AS l(purpose, roles)
CROSS JOIN LATERAL json_array_elements_text(
    CASE json_typeof(l.roles) WHEN 'array' THEN l.roles ELSE '[]' END
) AS e(name)
CROSS JOIN LATERAL (SELECT l.purpose, e.name) AS n(purpose, name)
LEFT JOIN pg_catalog.pg_roles AS r ON r.rolname = n.name
WHERE r.oid IS NOT NULL OR (n.purpose = 'request' AND n.name = 'public');

ALTER TABLE pganon_private.policy ADD COLUMN applied_login_id oid;
UPDATE pganon_private.policy AS p SET applied_login_id = r.oid
FROM pg_catalog.pg_roles AS r WHERE r.rolname = p.applied_login;
ALTER TABLE pganon_private.policy ALTER COLUMN applied_login_id
    SET DEFAULT pg_catalog.to_regrole(pg_catalog.quote_ident(session_user));

ALTER TABLE pganon_private.request DROP COLUMN approvers;
ALTER TABLE pganon_private.request ADD COLUMN requester_id oid, ADD COLUMN login_id oid;
UPDATE pganon_private.request AS q
SET requester_id = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = q.requester),
    login_id = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = q.login);
ALTER TABLE pganon_private.request
    ALTER COLUMN requester SET DEFAULT current_user,
    ALTER COLUMN requester_id SET DEFAULT pg_catalog.to_regrole(pg_catalog.quote_ident(current_user)),
    ALTER COLUMN login_id SET DEFAULT pg_catalog.to_regrole(pg_catalog.quote_ident(session_user));

DROP INDEX pganon_private.request_equal;
CREATE UNIQUE INDEX request_equal ON pganon_private.request (
    release, revision, kind, requester_id, parameters, coalesce(not_before, '-infinity')
) WHERE state = 'waiting' AND attempts = 0;
CREATE INDEX request_by_requester ON pganon_private.request (requester_id, started_at);
