#!/usr/bin/env bash
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# trumpet-db: makes, serves and tells of a database of events.

set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
export OVS_RUNDIR=$work OVS_LOGDIR=$work OVS_DBDIR=$work PATH=$PATH:/usr/sbin
passed=0
failed=0

cleanup() {
  local pidfile
  for pidfile in "$work"/*.pid; do
    [ ! -s "$pidfile" ] || kill "$(cat "$pidfile")" 2>/dev/null
  done
  rm -rf "$work"
}
trap cleanup EXIT

# expect TEXT COMMAND...: succeeds and says TEXT.
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1)
  if [ $? = 0 ] && [[ $output == *"$text"* ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $*: $output (wanted: $text)"
  fi
}

db() { "$top/utilities/trumpet-db" "$@"; }

expect 'usage: trumpet-db' db help
expect "made $work/trumpet.db" db create
expect '' db create

# By a server of its own.
db serve --detach --pidfile="$work/own.pid" --no-chdir -vconsole:off --log-file="$work/own.log"
expect 'serves Trumpet, schema 1.' db status "unix:$work/trumpet-db.sock"
expect 'is up to date' db convert "unix:$work/trumpet-db.sock"

# By one that serves something else already.
echo '{"name": "Other", "version": "1.0.0", "tables": {}}' >"$work/other.schema"
ovsdb-tool create "$work/other.db" "$work/other.schema"
ovsdb-server --remote=punix:"$work/db.sock" --unixctl="$work/other.ctl" --detach --no-chdir \
  --pidfile="$work/other.pid" -vconsole:off --log-file="$work/other.log" "$work/other.db"
expect 'serves' db add --file="$work/second.db" --control="$work/other.ctl"
expect 'is served already' db add --file="$work/second.db" --control="$work/other.ctl"
expect 'serves Trumpet, schema 1.' db status

# An older file is brought up to date, with what is in it.
python3 - "$top/controller/store/trumpet.ovsschema" >"$work/old.schema" <<'END'
import json
import sys

with open(sys.argv[1]) as file:
    schema = json.load(file)
schema["version"] = "1.0.0"
del schema["cksum"], schema["tables"]["Slice"]
print(json.dumps(schema))
END
ovsdb-tool create "$work/old.db" "$work/old.schema"
ovsdb-tool transact "$work/old.db" \
  '["Trumpet",{"op":"insert","table":"Event","row":{"name":"kept","definition":"{}"}}]' >/dev/null
expect "brought $work/old.db up to date" db create --file="$work/old.db"
expect kept ovsdb-tool query "$work/old.db" '["Trumpet",{"op":"select","table":"Event","where":[]}]'
expect rows ovsdb-tool query "$work/old.db" '["Trumpet",{"op":"select","table":"Slice","where":[]}]'

# The schema's own checksum.
wanted=$(sed -n 's/.*"cksum": "\(.*\)".*/\1/p' "$top/controller/store/trumpet.ovsschema")
expect "$wanted" bash -c "sed '/\"cksum\": *\"[0-9 ]*\",/d' '$top/controller/store/trumpet.ovsschema' | cksum"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
