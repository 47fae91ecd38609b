-- Why a request was refused or failed, in words, for the steward.

ALTER TABLE pganon_private.request ADD COLUMN reason text, ADD COLUMN hint text;
ALTER TABLE pganon_private.request ALTER COLUMN reason SET STATISTICS 0, ALTER COLUMN hint SET STATISTICS 0;

COMMENT ON COLUMN pganon_private.request.reason IS 'why it was refused or failed, in words';
COMMENT ON COLUMN pganon_private.request.hint IS 'what to do then';
