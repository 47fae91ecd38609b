#!/bin/sh
# The role that owns pganon: it may make schemas, and is no superuser.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
\getenv password STEWARD_PASSWORD
CREATE ROLE steward LOGIN PASSWORD :'password';
GRANT CREATE ON DATABASE :"DBNAME" TO steward;
SQL
