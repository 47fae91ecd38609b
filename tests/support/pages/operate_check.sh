set -e
psql "$ADMIN" -q -c "CREATE DATABASE \"${PGDATABASE}_copy\"" -c "GRANT CREATE ON DATABASE \"${PGDATABASE}_copy\" TO steward"
psql "$ADMIN dbname=${PGDATABASE}_copy" -q -v ON_ERROR_STOP=1 -f backup.sql >/dev/null
pganon init --dsn "dbname=${PGDATABASE}_copy"
pganon verify visits --dsn "dbname=${PGDATABASE}_copy"
pganon run visits.yaml --dsn "dbname=${PGDATABASE}_copy"
psql "$ADMIN" -q -c "DROP DATABASE \"${PGDATABASE}_copy\" WITH (FORCE)"
set +e
