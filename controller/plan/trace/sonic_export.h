// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Trace rules as Everflow of SONiC: what a config_db.json says of them.
//
// What is left out of the text, because SONiC has no word for it, is told in notes, a line each.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_TRACE_SONIC_EXPORT_H
#define TRUMPET_CONTROLLER_PLAN_TRACE_SONIC_EXPORT_H

#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/trace_rule.h"

namespace trumpet {

// Between which addresses the copies of a switch go.
struct SonicTunnel {
  std::string source;
  std::string destination;
};

struct SonicExport {
  std::string text;
  std::vector<std::string> notes;
};

// JSON: a session for each way to copy, a table for IPv4 and one for IPv6, a rule for each part of
// a filter that SONiC can say.  The error names the rule that it cannot.
Result<SonicExport> ExportSonic(const TraceRules& rules, const SonicTunnel& tunnel);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_TRACE_SONIC_EXPORT_H
