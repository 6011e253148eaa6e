#!/usr/bin/env bash
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# build-aux/ovs-build takes the series of the source's version, from trees and tarballs, and leaves nothing
# behind where it fails.  Its sources here have two files.

set -u
top=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# expect NAME WANTED GOT
expect() {
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $1: '$3' instead of '$2'"
  fi
}

# source_of VERSION: a tree with that version.
source_of() {
  mkdir -p "$work/$1/openvswitch"
  echo "AC_INIT(openvswitch, $1, bugs@openvswitch.org)" >"$work/$1/openvswitch/configure.ac"
  echo plain >"$work/$1/openvswitch/text"
  tar cf "$work/$1/openvswitch.tar.gz" -C "$work/$1" openvswitch
}

# patch_to NAME WORD: a patch that makes WORD of what is in the text.
patch_to() {
  printf -- '--- a/text\n+++ b/text\n@@ -1 +1 @@\n-plain\n+%s\n' "$2" >"$work/patches/$1"
}

# applied SOURCE: what the text is then.
applied() {
  rm -rf "$work/out"
  "$top/build-aux/ovs-build" --source "$1" --patches "$work/patches" --apply "$work/out" 2>"$work/error" && cat "$work/out/text"
}

for version in 3.1.0 3.5.0 4.0.1; do source_of "$version"; done
mkdir "$work/patches"
patch_to one.patch common
patch_to two.patch newer
echo 'one.patch  # a remark' >"$work/patches/series"
printf '# for 4.0\n\ntwo.patch\n' >"$work/patches/series-4.0"

expect 'a tarball with the usual series' common "$(applied "$work/3.1.0/openvswitch.tar.gz")"
expect 'a tree likewise' common "$(applied "$work/3.5.0/openvswitch")"
expect 'a version with a series of its own' newer "$(applied "$work/4.0.1/openvswitch")"
expect 'a tarball of it' newer "$(applied "$work/4.0.1/openvswitch.tar.gz")"

echo other >"$work/3.1.0/openvswitch/text"
applied "$work/3.1.0/openvswitch" >/dev/null
expect 'a patch that does not apply' 1 $?
expect 'and says which' 1 "$(grep -c 'one.patch does not apply' "$work/error")"
"$top/build-aux/ovs-build" --source "$work/3.1.0/openvswitch" --patches "$work/patches" --cache "$work/cache" 2>/dev/null
expect 'is no build' 1 $?
expect 'of which nothing is left' '' "$(find "$work/cache" -mindepth 1 -type d)"
echo 'AC_INIT(other, 1)' >"$work/3.5.0/openvswitch/configure.ac"
applied "$work/3.5.0/openvswitch" >/dev/null
expect 'another source' 1 "$(grep -c 'is not the source of Open vSwitch' "$work/error")"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
