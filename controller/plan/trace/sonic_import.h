// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Everflow of SONiC as trace rules: the tables MIRROR_SESSION, POLICER, ACL_TABLE and ACL_RULE of a
// config_db.json.  Other tables are passed over.
//
// What cannot be said by trace rules is told in notes, a line each, and never left out silently.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_TRACE_SONIC_IMPORT_H
#define TRUMPET_CONTROLLER_PLAN_TRACE_SONIC_IMPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/trace_rule.h"

namespace trumpet {

struct SonicSession {
  std::string name;
  std::map<std::string, std::string> fields;  // as they are in the table: "dst_ip"

  std::string Get(const std::string& key) const;  // empty: it has none
  bool is_span() const;                           // to a port of the same switch
};

struct SonicImport {
  TraceRules rules;
  std::vector<SonicSession> sessions;
  std::vector<std::string> notes;
};

// OpenFlow's numbers of SONiC's ports: "Ethernet0".
using SonicPorts = std::map<std::string, uint32_t>;

// The error is of a text that is no config_db, whose rules are too many, or of a session whose
// sampling or length is no number.
Result<SonicImport> ImportSonic(std::string_view text, std::string_view source_name,
                                const SonicPorts& ports);

// As `show mirror_session` shows them; none is active, for nothing is installed yet.
std::string SonicSessionTable(const std::vector<SonicSession>& sessions);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_TRACE_SONIC_IMPORT_H
