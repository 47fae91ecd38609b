-- How a role does something that its own rights do not allow: by a row with its name. The check of the
-- view is evaluated in the frame of who inserts. There current_user is that role, also where other
-- people's code runs inside of a session: an index expression under ANALYZE, a function that runs as its
-- owner. Decisions are taken by the login itself.
CREATE VIEW pganon.action WITH (security_barrier) AS
SELECT a.id, a.actor, a.kind, a.release, a.parameters, a.not_before, a.request, a.reason, a.result
FROM pganon_private.action AS a
WHERE a.actor = current_user
    AND (a.kind = 'request' OR a.kind = 'cancel' OR session_user = current_user)
WITH CHECK OPTION;

COMMENT ON VIEW pganon.action IS 'what you ask pganon to do, while it is being done; functions use it';
