#!/bin/bash
# Makes the database once, by a server that is not to stay, as the official image does.
set -euo pipefail
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb --username="$POSTGRES_USER" --auth-local="$POSTGRES_HOST_AUTH_METHOD" --encoding=UTF8 >/dev/null
    pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start >/dev/null
    createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
    pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
exec "$@"
