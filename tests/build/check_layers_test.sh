#!/usr/bin/env bash
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# build-aux/check-layers finds every kind of planted violation, names its place,
# and accepts what the table allows.

set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
tree=$(mktemp -d) || exit 99
trap 'rm -rf "$tree"' EXIT
passed=0
failed=0

# fresh: an innocent tree of four files.
fresh() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/lib/{base,packet,model,tpm,lang/event,measure} "$tree"/vswitchd-plugin \
    "$tree"/controller/{plan,openflow,tem,notify} "$tree"/tests
  plant lib/base/status.h '#include <string>'
  plant lib/packet/key.h '#include "lib/base/status.h"'
  plant lib/tpm/sweep.h '#include "lib/packet/key.h"' '#include "lib/tpm/sweep.h"'
  plant vswitchd-plugin/glue.h '#include <stdint.h>'
}

# plant FILE LINE...: writes FILE in the tree.
plant() {
  local file=$1
  shift
  printf '%s\n' "$@" >"$tree/$file"
}

# expect NAME STATUS PATTERN: runs the checker; its output must match PATTERN.
expect() {
  local output status
  output=$("$top/build-aux/check-layers" "$tree" 2>&1)
  status=$?
  if [ "$status" = "$2" ] && grep -qE -- "$3" <<<"$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL: %s: status %s, wanted %s and /%s/ in:\n%s\n' "$1" "$status" "$2" "$3" "$output"
  fi
}

fresh
expect 'accepts an innocent tree' 0 '^check-layers: 4 files, 0 violations$'

plant lib/base/clock.cc '#include "lib/base/status.h"' '' '#include "lib/packet/key.h"'
expect 'finds an include upwards' 1 '^lib/base/clock.cc:3: lib/base must not include lib/packet'

fresh
plant lib/tpm/odd.cc '  #  include "lib/lang/event/ast.h"'
plant lib/lang/event/ast.h ''
expect 'finds an include sideways, however it is spaced' 1 '^lib/tpm/odd.cc:1: lib/tpm must not include lib/lang'

fresh
plant lib/tpm/sweep_test.cc '#include "lib/measure/op.h"'
plant lib/measure/op.h ''
expect 'holds tests beside a unit to the same rule' 1 '^lib/tpm/sweep_test.cc:1: lib/tpm must not'

fresh
plant controller/tem/session.cc '#include "lib/tpm/sweep.h"'
expect 'keeps the controller from the packet monitor' 1 '^controller/tem/session.cc:1: controller/tem must not'

fresh
plant controller/plan/plan.h '#include "controller/openflow/session.h"'
plant controller/openflow/session.h ''
expect 'keeps planners from switches' 1 '^controller/plan/plan.h:1: controller/plan must not include controller/openflow'

fresh
plant controller/notify/post.cc '#include "controller/tem/session.h"' '#include "lib/packet/key.h"'
plant controller/tem/session.h ''
expect 'takes the table literally' 1 '^controller/notify/post.cc:2: controller/notify must not include lib/packet'

fresh
plant lib/tpm/sweep.cc '#include <sys/socket.h>' '#include <netinet/in.h>'
expect 'keeps sockets out of the packet path' 1 '^lib/tpm/sweep.cc:2: netinet/in.h must not be seen in lib/tpm'

fresh
plant vswitchd-plugin/agent.cc '#include <openvswitch/vlog.h>'
expect 'keeps headers of Open vSwitch in few files' 1 \
  '^vswitchd-plugin/agent.cc:1: openvswitch/vlog.h may be included by vswitchd-plugin/ovs_glue.c and .*controller/daemon/ovs_daemon.c.* only'

fresh
plant vswitchd-plugin/agent.cc '#include "dp-packet.h"'
expect 'also when they are quoted' 1 '^vswitchd-plugin/agent.cc:1: dp-packet.h may be included by'

fresh
plant vswitchd-plugin/ovs_glue.c '#include <config.h>' '#include "dp-packet.h"' \
  '#include "openvswitch/vlog.h"' '#include "vswitchd-plugin/glue.h"' '#include "lib/tpm/sweep.h"'
expect 'lets that one file include them' 0 '5 files, 0 violations'

fresh
plant vswitchd-plugin/ovs_glue.c '#include "controller/tem/session.h"'
plant controller/tem/session.h ''
expect 'but holds it to the table otherwise' 1 '^vswitchd-plugin/ovs_glue.c:1: vswitchd-plugin must not'

fresh
plant lib/tpm/sweep.cc '#include "sweep.h"'
expect 'wants paths from the project root' 1 '^lib/tpm/sweep.cc:1: "sweep.h" is no path of a module'

fresh
plant lib/tpm/sweep.cc '#include "lib/base/none.h"'
expect 'finds an include of nothing' 1 '^lib/tpm/sweep.cc:1: "lib/base/none.h" does not exist'

fresh
plant lib/base/sly.cc '#include <lib/packet/key.h>'
expect 'is not fooled by angle brackets' 1 '^lib/base/sly.cc:1: write "lib/packet/key.h" with quotes'

fresh
plant lib/base/sly.cc '#define WHAT "lib/packet/key.h"' '#include WHAT'
expect 'is not fooled by a macro' 1 '^lib/base/sly.cc:2: an #include through a macro'

fresh
plant tests/all.cc '#include "lib/tpm/sweep.h"' '#include "vswitchd-plugin/glue.h"'
expect 'lets tests cross modules' 0 ' 0 violations'

fresh
mkdir -p "$tree/lib/new"
plant lib/new/thing.h ''
expect 'wants a line in the table for a new module' 1 '^lib/new/thing.h:1: belongs to no module'

rm -rf "${tree:?}"/*
expect 'does not call an empty tree clean' 1 'no C or C\+\+ file'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
