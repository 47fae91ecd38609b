set -e
psql -q -c "CREATE EXTENSION pganon VERSION 'unpackaged'" -c "ALTER EXTENSION pganon UPDATE"
pg_dump --format=custom --exclude-schema=pganon_work --file=backup "$ADMIN"
psql "$ADMIN" -q -c "CREATE DATABASE \"${PGDATABASE}_copy\"" -c "GRANT CREATE ON DATABASE \"${PGDATABASE}_copy\" TO steward"
psql "$ADMIN" -q -c "ALTER DATABASE \"${PGDATABASE}_copy\" SET extension_control_path = '\$system:$PWD/pganon-files'"
psql -q -d "${PGDATABASE}_copy" -c "CREATE EXTENSION pganon"
pg_restore --exit-on-error -d "$ADMIN dbname=${PGDATABASE}_copy" backup
pganon releases --dsn "dbname=${PGDATABASE}_copy"
psql "$ADMIN" -q -c "DROP DATABASE \"${PGDATABASE}_copy\" WITH (FORCE)"
set +e
