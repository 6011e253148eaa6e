// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TemChild: the event manager in a process of its own, for bench-tem.
//
// It does what trumpet-controller does, with a store in memory, and writes every report as a line
// of JSON to a subscriber at the other end of a socket.  Commands are lines: "put N YAML-BYTES"
// followed by the YAML, "clear", "stats", "end"; each is answered by a line of JSON.

#ifndef TRUMPET_TESTS_BENCH_TEM_CHILD_H
#define TRUMPET_TESTS_BENCH_TEM_CHILD_H

#include "lib/wire/tls_context.h"

namespace trumpet {

struct TemChildSockets {
  int commands = -1;
  int reports = -1;
};

// Runs until "end" comes or the sockets are closed; the first line of `commands` is the port.
int RunTemChild(const TemChildSockets& sockets, const TlsFiles& tls, bool splits_thresholds);

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_TEM_CHILD_H
