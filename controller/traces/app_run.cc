// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/app_run.h"

#include <algorithm>
#include <utility>

#include "controller/analyzer/trace_judge.h"
#include "controller/analyzer/trace_packet.h"
#include "controller/traces/bgp_sessions.h"
#include "controller/traces/latency_app.h"
#include "controller/traces/roce_debugger.h"
#include "controller/traces/session_text.h"
#include "controller/traces/trace_apps.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

Result<uint16_t> FindSwitch(const std::string& name, const std::string& text,
                            const SwitchBook& switches) {
  TraceQuery query;
  const Status set = SetTraceQuery("through", text, switches, &query);
  if (set.ok()) return *query.through;
  return Status::Error(name + ": there is no switch '" + text + "'");
}

Status SetMembers(const std::string& text, const SwitchBook& switches, AppQuestion* question) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const auto number = FindSwitch("members", text.substr(at, end - at), switches);
    if (!number.ok()) return number.status();
    const auto& members = question->members;
    if (std::find(members.begin(), members.end(), *number) != members.end()) {
      return Status::Error("members: " + text.substr(at, end - at) + " is named twice");
    }
    question->members.push_back(*number);
    at = end + 1;
  }
  return Status::Ok();
}

Status TooMany(size_t most) {
  return Status::Error("there are more than " + std::to_string(most) +
                       " traces; ask for a shorter time");
}

Result<std::vector<StoredTrace>> FindTraces(TraceReader* reader, TraceQuery query,
                                            bool is_cut_wrong,
                                            const TraceReader::MayGoOn& may_go_on,
                                            TraceReader::Missing* missing) {
  const size_t most = query.limit;
  query.limit += is_cut_wrong ? 1 : 0;
  auto found = reader->Find(query, may_go_on, missing);
  if (!found.ok() || found->size() <= most) return found;
  return TooMany(most);
}

// Control packets are stored, and of the others those that were lost or marked: what lies between
// them is not known.
Result<Json> DebugRoceTraces(TraceReader* reader, TraceQuery query, bool is_cut_wrong,
                             const SwitchBook& switches, const TraceReader::MayGoOn& may_go_on,
                             TraceReader::Missing* missing) {
  RoceOptions options;
  options.has_all_packets = false;
  RoceDebugger debugger(options);
  // Of RoCE, and of no IP at all: PAUSE.
  const size_t most = query.limit;
  query.marks = kMarkProtocol;
  const auto control = FindTraces(reader, query, is_cut_wrong, may_go_on, missing);
  if (!control.ok()) return control.status();
  for (const StoredTrace& trace : *control) debugger.TakeStored(trace, false);
  query.marks = 0;
  query.limit = most;
  query.fault = static_cast<uint8_t>(TraceFault::kDropped);
  query.dst_port = kRocePort;
  const auto drops = FindTraces(reader, query, is_cut_wrong, may_go_on, missing);
  if (!drops.ok()) return drops.status();
  for (const StoredTrace& trace : *drops) debugger.TakeStored(trace, true);
  return debugger.Findings(switches);
}

// A page at a time: packets of BGP are kept whole, and a day of them need not fit into memory.
Result<Json> TellSessions(TraceReader* reader, TraceQuery query, bool is_cut_wrong,
                          const SwitchBook& switches, const TraceReader::MayGoOn& may_go_on,
                          TraceReader::Missing* missing) {
  constexpr size_t kPage = 10000;
  BgpSessions sessions;
  const size_t most = query.limit;
  query.marks = kMarkProtocol;
  query.protocol = kProtocolTcp;
  for (size_t looked_at = 0;;) {
    query.limit = std::min(kPage, most - looked_at + 1);
    const auto page = reader->Find(query, may_go_on, missing);
    if (!page.ok()) return page.status();
    const size_t taken = std::min(page->size(), most - looked_at);
    for (size_t i = 0; i < taken; ++i) sessions.Take((*page)[i]);
    if (taken < page->size() && is_cut_wrong) return TooMany(most);
    looked_at += taken;
    if (page->size() < query.limit || taken < page->size()) break;
    query.behind = {page->back().start, page->back().id};
  }
  sessions.Finish();
  return SessionFindings(sessions, switches);
}

// Where the second begins that it lies in: links are counted by the second, under its begin.
Nanos SecondOf(Nanos time) {
  return time < 0 ? time : CellOf(time, kNanosPerSecond) * kNanosPerSecond;
}

}  // namespace

Status SetAppWord(const std::string& name, const std::string& value, const SwitchBook& switches,
                  AppQuestion* question) {
  if (name == "app") {
    question->app = value;
    return Status::Ok();
  }
  if (name == "members") return SetMembers(value, switches, question);
  if (name == "at") {
    const auto number = FindSwitch(name, value, switches);
    if (number.ok()) question->at = *number;
    return number.status();
  }
  if (name == "earlier") {
    TraceQuery query;
    const Status set = SetTraceQuery("from", value, switches, &query);
    if (!set.ok()) return Status::Error("earlier" + set.message().substr(4));
    question->earlier = query.from;
    return Status::Ok();
  }
  if (name == "from" || name == "until") {
    return SetTraceQuery(name, value, switches, &question->query);
  }
  return Status::Error(name + ": no application takes that");
}

Status CheckApp(const AppQuestion& question) {
  static constexpr const char* kApps[] = {"drops", "loops", "ecmp", "latency", "roce", "sessions"};
  if (std::find(std::begin(kApps), std::end(kApps), question.app) == std::end(kApps)) {
    return Status::Error("one of drops, loops, ecmp, latency, roce and sessions must be given");
  }
  const bool is_ecmp = question.app == "ecmp";
  if (is_ecmp && (!question.at || question.members.empty())) {
    return Status::Error("ecmp needs at=SWITCH and members=SWITCH,SWITCH,...");
  }
  if (!is_ecmp && (question.at || !question.members.empty())) {
    return Status::Error("at and members are of ecmp");
  }
  if (!question.earlier) return Status::Ok();
  if (question.app != "latency") return Status::Error("earlier is of latency");
  if (question.query.from == INT64_MIN || question.query.until == INT64_MAX) {
    return Status::Error("earlier needs from and until: the earlier time is as long");
  }
  return Status::Ok();
}

Result<Json> RunApp(TraceReader* reader, const AppQuestion& question, bool is_cut_wrong,
                    const SwitchBook& switches, const TraceReader::MayGoOn& may_go_on,
                    TraceReader::Missing* missing) {
  TraceQuery query = question.query;
  if (question.app == "ecmp" || question.app == "drops") {
    const auto links = reader->Links(SecondOf(query.from), query.until, missing);
    if (!links.ok()) return links.status();
    if (question.app == "ecmp") {
      return Json::array({ProfileEcmp(*links, *question.at, question.members, switches)});
    }
    query.fault = static_cast<uint8_t>(TraceFault::kDropped);
    const auto traces = FindTraces(reader, query, is_cut_wrong, may_go_on, missing);
    if (!traces.ok()) return traces.status();
    return DebugDrops(*traces, *links, switches);
  }
  if (question.app == "roce") {
    return DebugRoceTraces(reader, query, is_cut_wrong, switches, may_go_on, missing);
  }
  if (question.app == "sessions") {
    return TellSessions(reader, query, is_cut_wrong, switches, may_go_on, missing);
  }
  if (question.app == "loops") query.fault = static_cast<uint8_t>(TraceFault::kLoop);
  const auto traces = FindTraces(reader, query, is_cut_wrong, may_go_on, missing);
  if (!traces.ok()) return traces.status();
  if (question.app == "loops") return DebugLoops(*traces, switches);
  LatencyBook now;
  for (const StoredTrace& trace : *traces) now.Add(trace);
  if (!question.earlier) return ProfileLatency(now, nullptr, switches);
  query.until =
      *question.earlier + std::min(query.until - query.from, INT64_MAX - *question.earlier);
  query.from = *question.earlier;
  const auto before = FindTraces(reader, query, is_cut_wrong, may_go_on, missing);
  if (!before.ok()) return before.status();
  LatencyBook then;
  for (const StoredTrace& trace : *before) then.Add(trace);
  return ProfileLatency(now, &then, switches);
}

}  // namespace trumpet
