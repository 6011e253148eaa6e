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

# old_file VERSION TABLE...: a file of an older schema, without these tables.
old_file() {
  local version=$1
  shift
  python3 - "$top/controller/store/trumpet.ovsschema" "$version" "$@" >"$work/old.schema" <<'END'
import json
import sys

with open(sys.argv[1]) as file:
    schema = json.load(file)
schema["version"] = sys.argv[2]
del schema["cksum"]
for table in sys.argv[3:]:
    del schema["tables"][table]
    del schema["tables"]["Trumpet_Global"]["columns"][f"next_{table.lower()}_id"]
print(json.dumps(schema))
END
  rm -f "$work/old.db"
  ovsdb-tool create "$work/old.db" "$work/old.schema"
}

insert() {
  ovsdb-tool transact "$work/old.db" \
    "[\"Trumpet\",{\"op\":\"insert\",\"table\":\"$1\",\"row\":$2}]" >/dev/null
}

rows_of() {
  ovsdb-tool query "$work/old.db" "[\"Trumpet\",{\"op\":\"select\",\"table\":\"$1\",\"where\":[]}]"
}

# Older files are brought up to date, with what is in them.
old_file 1.0.0 Slice Measurement Trace_Rules Trace_Counter
insert Event '{"name":"kept","definition":"{}"}'
expect "brought $work/old.db up to date" db create --file="$work/old.db"
expect kept rows_of Event
expect '"rows":[]' rows_of Slice
expect '"rows":[]' rows_of Measurement

old_file 1.1.0 Measurement Trace_Rules Trace_Counter
insert Event '{"name":"kept","definition":"{}"}'
insert Slice '{"name":"campaign","definition":"{}"}'
insert Trumpet_Global '{"controller_id":7,"next_event_id":8,"next_slice_id":9}'
expect "brought $work/old.db up to date" db create --file="$work/old.db"
expect kept rows_of Event
expect campaign rows_of Slice
expect '"next_event_id":8' rows_of Trumpet_Global
expect '"next_slice_id":9' rows_of Trumpet_Global
expect '"next_measurement_id":0' rows_of Trumpet_Global
expect '"rows":[]' rows_of Measurement

old_file 1.2.0 Trace_Rules Trace_Counter
insert Measurement '{"name":"program","definition":"{}"}'
insert Trumpet_Global '{"controller_id":7,"next_measurement_id":8}'
expect "brought $work/old.db up to date" db create --file="$work/old.db"
expect program rows_of Measurement
expect '"next_measurement_id":8' rows_of Trumpet_Global
expect '"next_trace_rules_id":0' rows_of Trumpet_Global
expect '"rows":[]' rows_of Trace_Rules

old_file 1.3.0 Trace_Counter
insert Trace_Rules '{"name":"rules","definition":"{}"}'
insert Trumpet_Global '{"controller_id":7,"next_trace_rules_id":8}'
expect "brought $work/old.db up to date" db create --file="$work/old.db"
expect rules rows_of Trace_Rules
expect '"next_trace_rules_id":8' rows_of Trumpet_Global
expect '"next_trace_counter_id":0' rows_of Trumpet_Global
expect '"rows":[]' rows_of Trace_Counter

# The schema's own checksum.
wanted=$(sed -n 's/.*"cksum": "\(.*\)".*/\1/p' "$top/controller/store/trumpet.ovsschema")
expect "$wanted" bash -c "sed '/\"cksum\": *\"[0-9 ]*\",/d' '$top/controller/store/trumpet.ovsschema' | cksum"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
