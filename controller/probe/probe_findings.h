// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What analyzers have of the packets of a probe, and what follows from all of them together.
//
// Each trace is judged by itself (controller/analyzer/trace_judge.h); where its last copies are
// missing, losing them is often likelier than losing the packet.  That several packets end at the
// same place is another matter: ConcludeProbe() weighs them together.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_PROBE_FINDINGS_H
#define TRUMPET_CONTROLLER_PROBE_PROBE_FINDINGS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/slice/trace_asker.h"
#include "lib/base/units.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {

struct ProbeHop {
  std::string switch_name;
  uint32_t ttl = 0;
  Nanos time = 0;    // when the copy came to the analyzer
  uint32_t tag = 0;  // of the copy
};

// What became of one packet, as docs/traces.md says it.
struct ProbeTrace {
  size_t packet = 0;  // of the probe
  std::string analyzer;
  std::string id;
  uint64_t revision = 0;
  std::string verdict;
  double confidence = 0;  // 0: nothing is known of it
  std::string last_switch;
  std::vector<std::string> expected_next;  // of one that ends too early
  std::vector<ProbeHop> path;
};

// Of one that ends too early: how many times likelier it is that its last copies were lost than
// what became of the packet.
double OddsOfLostCopies(const ProbeTrace& trace);

// Whose trace it is, of the frames that were sent; none if it is of none of them.  Copies may have
// been cut behind eight bytes of the transport's header.
std::optional<ProbeTrace> ReadProbeTrace(const TraceFindings::Found& found,
                                         const std::vector<std::string>& frames);

// How the packet of a trace came in, for such packets to be sent again.
struct ProbeOrigin {
  std::string switch_name;
  uint32_t port = 0;
  ProbePacket packet;
};

// `told` is a trace with its whole packet, as analyzers tell it.  None: it does not say where the
// packet came in, or that is none that a probe can be like.
std::optional<ProbeOrigin> ReadProbeOrigin(const std::string& told);

// "0a1b", of even length and hexadecimal digits only.
std::string FromHex(const std::string& hex);

struct ProbeConclusion {
  // "delivered", "dropped", "copies_lost", "loop", "not_known" as of traces; "some_delivered",
  // "no_copies": there is no trace.
  std::string verdict;
  double confidence = 0;
  std::string last_switch;  // that is known to have had the packets that came least far
  std::string explanation;
};

// `traces` has one of each packet at most, of `sent`.
ProbeConclusion ConcludeProbe(const std::vector<ProbeTrace>& traces, size_t sent);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_PROBE_FINDINGS_H
