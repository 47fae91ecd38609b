-- A restored dump brings the secret of the installation along. Where there is none, the first
-- command makes one.
DELETE FROM pganon_private.installation_secret;
