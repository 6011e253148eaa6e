#!/usr/bin/env bash
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Prometheus reads our rules, and they fire when alerts_test.yaml says.  With Debian's promtool, of
# $TRUMPET_TOOLS (build-aux/fetch-tools) or else the one that is installed.

set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
rules=$top/docs/monitoring
promtool=/usr/bin/promtool
[ -z "${TRUMPET_TOOLS-}" ] || promtool=$TRUMPET_TOOLS/prometheus/start
passed=0
failed=0

if [ ! -x "$promtool" ]; then
  echo "$promtool is not there; build-aux/fetch-tools fetches it"
  [ -z "${TRUMPET_TOOLS-}" ] || { echo '0 passed, 1 failed'; exit 1; }
  exit 77
fi

# expect STATUS NAME COMMAND...
expect() {
  local output status=0
  output=$("${@:3}" 2>&1) || status=1
  if [ $status = "$1" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL: %s\n%s\n' "$2" "$output"
  fi
}

expect 0 'Prometheus reads the rules' "$promtool" check rules "$rules/alerts.yaml"
expect 0 'rules fire when they should' "$promtool" test rules "$rules/alerts_test.yaml"

# Nor would the second pass whatever the rules say.
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cp "$rules/alerts_test.yaml" "$work/"
sed 's/trumpet_host_connected == 0/trumpet_host_connected == 2/' "$rules/alerts.yaml" >"$work/alerts.yaml"
expect 1 'a rule that does not fire is noticed' "$promtool" test rules "$work/alerts_test.yaml"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
