#!/usr/bin/env bash
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Every fuzz target runs clean over its corpus: the seeds, and each input that
# once broke it.  $fuzz_programs is the list, from the Makefile.

set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
passed=0
failed=0
for program in ${fuzz_programs-}; do
  corpus=$top/tests/corpus/$(basename "$program")
  # Files one by one: libFuzzer, given a folder, would go on from there and never end.
  mapfile -d '' inputs < <(find "$corpus" -type f -print0)
  if [ ${#inputs[@]} -gt 0 ] && "./$program" "${inputs[@]}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $program over $corpus (a target without a corpus fails, too)"
  fi
done
for corpus in "$top"/tests/corpus/*/; do
  name=$(basename "$corpus")
  case " ${fuzz_programs-} " in
    *"/$name "*) ;;
    *) [ "$name" = '*' ] || { failed=$((failed + 1)); echo "FAIL: tests/corpus/$name has no fuzz target"; } ;;
  esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
