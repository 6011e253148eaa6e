// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The applications over stored traces (trace_apps.h, latency_app.h, roce_debugger.h,
// bgp_sessions.h) by their names and words, for trumpet-analyzer's command line and for the
// controller alike.
//
// Threads: any; calls wait for the disk.

#ifndef TRUMPET_CONTROLLER_TRACES_APP_RUN_H
#define TRUMPET_CONTROLLER_TRACES_APP_RUN_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/trace_reader.h"
#include "controller/store/trace_store.h"
#include "controller/traces/switch_book.h"
#include "controller/traces/trace_query.h"

namespace trumpet {

struct AppQuestion {
  std::string app;   // "drops", "loops", "ecmp", "latency", "roce" or "sessions"
  TraceQuery query;  // from and until; limit: so many traces may be looked at
  std::optional<uint16_t> at;
  std::vector<uint16_t> members;
  std::optional<Nanos> earlier;  // begin of a time as long as the other, to compare it with
};

// "app", "at", "members", "earlier", or a word of traces that is a time.  Errors begin with `name`.
Status SetAppWord(const std::string& name, const std::string& value, const SwitchBook& switches,
                  AppQuestion* question);
// What words say only together.
Status CheckApp(const AppQuestion& question);

// A list of findings; an error if there are more traces than may be looked at and `is_cut_wrong`.
Result<nlohmann::ordered_json> RunApp(TraceReader* reader, const AppQuestion& question,
                                      bool is_cut_wrong, const SwitchBook& switches,
                                      const TraceReader::MayGoOn& may_go_on,
                                      TraceReader::Missing* missing);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_APP_RUN_H
