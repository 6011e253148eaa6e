#!/usr/bin/env bash
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# build-aux/count-tests counts single cases, and never a failure as nothing.

set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=$(mktemp -d) || exit 99
trap 'rm -rf "$build"' EXIT
passed=0
failed=0

# result NAME PASS|FAIL|SKIP LOG-LINE...: what a test program left behind.
result() {
  printf ':test-result: %s\n:global-test-result: %s\n' "$2" "$2" >"$build/$1.trs"
  printf '%s\n' "${@:3}" >"$build/$1.log"
}

# expect NAME COUNT: checks the count, and clears the directory.
expect() {
  local got
  got=$("$top/build-aux/count-tests" "$build" 2>/dev/null)
  if [ "$got" = "$2" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $1: $got instead of $2"
  fi
  rm -rf "${build:?}"/*
}

expect 'nothing is nothing' '0 passed, 0 failed'

result one PASS '[==========] 7 tests from 2 test suites ran. (1 ms total)' '[  PASSED  ] 7 tests.'
result two PASS '[  PASSED  ] 1 test.'
expect 'counts the cases of GoogleTest' '8 passed, 0 failed'

result one FAIL '[  FAILED  ] Suite.Case (0 ms)' '[  PASSED  ] 5 tests.' \
  '[  FAILED  ] 2 tests, listed below:' '[  FAILED  ] Suite.Case'
expect 'counts failed cases of GoogleTest' '5 passed, 2 failed'

result one FAIL '[       OK ] Suite.Case (0 ms)' 'Segmentation fault'
expect 'a crash is a failure' '0 passed, 1 failed'

result one FAIL '[  PASSED  ] 5 tests.' 'ERROR: LeakSanitizer: detected memory leaks'
expect 'a leak found at exit is a failure' '5 passed, 1 failed'

result one PASS 'some talk' '12 passed, 0 failed'
result two FAIL '3 passed, 4 failed' 'ends here'
expect 'believes the last line of a script' '15 passed, 4 failed'

result one PASS 'some talk'
expect 'a silent program counts as one' '1 passed, 0 failed'

result one SKIP 'needs root'
expect 'a skipped one counts as neither' '0 passed, 0 failed'

mkdir -p "$build/fuzz-build"
result fuzz-build/one FAIL ''
expect 'leaves other builds inside alone' '0 passed, 0 failed'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
