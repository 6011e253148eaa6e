// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The switches that packets of a probe have to pass, one behind the other, and the flows that see
// to it (docs/probes.md, ADR 0057).
//
// Such packets go to an address of Ethernet that is drawn for this probe and belongs to nobody, so
// no other packet meets these flows.  Each switch but the last one sends them out of the link to
// the next; the last one gives them their own address back, and forwards them as ever.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_VIA_ROUTE_H
#define TRUMPET_CONTROLLER_PROBE_VIA_ROUTE_H

#include <cstdint>
#include <string>
#include <vector>

#include "controller/openflow/openflow_switch.h"
#include "controller/probe/bounce_book.h"
#include "lib/base/status.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {

// Below the trace rules, which copy first and then forward, and above everything else.
constexpr uint16_t kViaPriority = 64899;  // in table 0

struct ViaHop {
  std::string switch_name;
  uint32_t in_port = 0;
  uint32_t out_port = 0;  // 0: the last one, which forwards them as ever
};

// From where packets come in, over a link to each of `via` from the one before.
Result<std::vector<ViaHop>> FindVia(const std::string& switch_name, uint32_t in_port,
                                    const std::vector<std::string>& via,
                                    const std::vector<BounceLink>& links);

struct ViaFlow {
  uint64_t probe = 0;
  MacBytes address{};  // nobody's
  MacBytes to{};       // whose packets they are
  Nanos lasts = 0;     // then the flow ends by itself
};

// What these flows of all probes are known by.
OpenflowClaim ViaClaim();

OpenflowRule ViaRuleOf(const ViaHop& hop, const ViaFlow& flow);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_VIA_ROUTE_H
