// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/status_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/base/text_table.h"
#include "lib/tpm/peer_exchange.h"
#include "vswitchd-plugin/json_line.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;
using std::to_string;

std::string StateOf(const AgentStatus& agent, size_t event_count) {
  if (agent.is_enabled && event_count == 0) return "waiting: no event is installed";
  if (agent.is_enabled) return agent.is_running ? "running" : "starting";
  if (agent.watchdog) return "off: watchdog";
  if (agent.settings.enable) return "off: by trumpet/disable";
  return "off: trumpet-enable is false";
}

struct Loss {
  const char* key;
  const char* text;
  uint64_t count;
};

// Everything that was seen and not counted, or counted and not used.
std::vector<Loss> LossesOf(const StatusInput& input) {
  const AgentStatus& agent = input.agent;
  MonitorCounters sum = agent.ended;
  for (const ThreadStatus& thread : agent.threads) AddCounters(thread.counters, &sum);
  return {
      {"uncounted_packets", "packets of flows without room", sum.uncounted_packets},
      {"uncounted_bytes", "bytes of flows without room", sum.uncounted_bytes},
      {"partly_counted_packets", "packets not counted for all events they match",
       sum.partly_counted_packets},
      {"partly_counted_bytes", "bytes not counted for all events they match",
       sum.partly_counted_bytes},
      {"withheld_packets", "packets of new flows withheld under attack",
       sum.withheld_packets - sum.credited_packets},
      {"withheld_bytes", "bytes of new flows withheld under attack",
       sum.withheld_bytes - sum.credited_bytes},
      {"undecodable", "frames too short for a header", sum.undecodable},
      {"tunnels_too_deep", "tunnels nested too deep to look into", sum.tunnels_too_deep},
      {"epochs_skipped", "epochs that ended before the last sweep", sum.epochs_skipped},
      {"partials_dropped", "partial counts without room in the ring", sum.partials_dropped},
      {"connections_evicted", "TCP connections given up while alive", sum.connections_evicted},
      {"history_evicted", "TCP history given up early", sum.history_evicted},
      {"rtt_samples_orphaned", "round-trip times of flows given up", sum.rtt_samples_orphaned},
      {"peer_messages_lost", "packets that one thread could not tell another",
       sum.peer_messages_lost},
      {"peer_backlogs", "batches counted before what other threads told", sum.peer_backlogs},
      {"peer_entries_evicted", "connections that lost their place in the threads' directory",
       sum.peer_entries_evicted},
      {"directions_moved", "connections' directions that changed threads", sum.directions_moved},
      {"buckets_evicted", "buckets beyond the cap of their event or of all",
       agent.verdicts.buckets_evicted},
      {"late_partials", "partial counts that came after the verdict", agent.verdicts.late_partials},
      {"unknown_partials", "partial counts of deleted events", agent.verdicts.unknown_partials},
      {"stalls", "verdicts that did not wait for a late thread", agent.stalls},
      {"failed_monitors", "threads without the memory they need", agent.failed_monitors},
      {"interruptions", "interruptions: off, set anew, or the clock jumped", agent.interruptions},
      {"reports_forgotten", "older reports that trumpet/reports no longer shows",
       input.reports_forgotten},
  };
}

std::string ClockText(const AgentStatus& agent) {
  std::string text = agent.clock_ahead_ns == 0
                         ? "in step"
                         : "set back; " + to_string(agent.clock_ahead_ns / kNanosPerMicro) +
                               " us still to make up for";
  const WallClockCounters& clock = agent.clock;
  return text + " (" + to_string(clock.steps_forward) + " steps forward, " +
         to_string(clock.steps_back) + " back, " + to_string(clock.restarts) + " restarts)";
}

std::string MicrosText(Nanos duration) { return to_string(duration / kNanosPerMicro) + " us"; }

std::string LinkText(const LinkStatus& link) {
  std::string text = "controller:  " + link.address + ", ";
  text += link.is_connected ? "connected" : "not connected";
  if (!link.controller_name.empty()) text += " to " + link.controller_name;
  if (link.since_ns != 0) text += " since " + FormatTime(link.since_ns);
  text += ", as host " + link.host_id + "\n             " + to_string(link.events) + " events";
  if (link.generation != 0) text += ", set " + to_string(link.generation) + " runs";
  if (link.has_clock) {
    text += ", round trip " + MicrosText(link.rtt_ns) + ", its clock " +
            MicrosText(link.controller_ahead_ns) + " ahead, give or take " +
            MicrosText(link.skew_bound_ns);
  }
  text += "\n             " + to_string(link.queued_bytes) + " bytes and " +
          to_string(link.desk.reports_waiting) + " reports wait, " +
          to_string(link.desk.questions) + " questions";
  for (size_t kind = 0; kind < link.dropped.size(); ++kind) {
    if (link.dropped[kind] == 0) continue;
    text += ", " + to_string(link.dropped[kind]) + " " +
            MessageKindName(static_cast<MessageKind>(kind)) + " dropped";
  }
  if (!link.database.empty()) {
    text += "\n             " + link.database + ": " + to_string(link.ports) + " ports, told " +
            to_string(link.facts_sent) + " times";
    if (link.facts_left_out != 0) text += ", " + to_string(link.facts_left_out) + " rows left out";
  }
  if (!link.last_error.empty()) text += "\n             last error: " + link.last_error;
  return text + "\n";
}

Json LinkJson(const LinkStatus& link) {
  Json dropped = Json::object();
  for (size_t kind = 0; kind < link.dropped.size(); ++kind) {
    dropped[MessageKindName(static_cast<MessageKind>(kind))] = link.dropped[kind];
  }
  return {{"address", link.address},
          {"connected", link.is_connected},
          {"since_ns", link.since_ns},
          {"host_id", link.host_id},
          {"controller_name", link.controller_name},
          {"controller_id", link.controller_id},
          {"generation", link.generation},
          {"events", link.events},
          {"attempts", link.attempts},
          {"established", link.established},
          {"rtt_ns", link.rtt_ns},
          {"controller_ahead_ns", link.controller_ahead_ns},
          {"skew_bound_ns", link.has_clock ? Json(link.skew_bound_ns) : Json()},
          {"queued_bytes", link.queued_bytes},
          {"bytes_sent", link.bytes_sent},
          {"bytes_received", link.bytes_received},
          {"reports_waiting", link.desk.reports_waiting},
          {"reports_dropped", link.desk.reports_dropped},
          {"questions", link.desk.questions},
          {"questions_waiting", link.desk.questions_waiting},
          {"questions_refused", link.desk.questions_refused},
          {"dropped", dropped},
          {"database", link.database},
          {"ports", link.ports},
          {"facts_sent", link.facts_sent},
          {"facts_left_out", link.facts_left_out},
          {"last_error", link.last_error}};
}

std::string MillisText(Nanos duration) { return to_string(duration / kNanosPerMilli) + " ms"; }

std::string WatchdogText(const WatchdogTrip& trip) {
  std::string text = ", since " + FormatTime(trip.overruns.at_ns);
  if (trip.thread.empty()) return text;
  text += ": steps of";
  for (const Nanos step : trip.overruns.step_ns) text += " " + to_string(step / kNanosPerMicro);
  return text + " us on " + trip.thread + " with a budget of " +
         to_string(trip.overruns.budget_ns / kNanosPerMicro) + " us; see trumpet/enable";
}

Json WatchdogJson(const WatchdogTrip& trip) {
  return {{"since_ns", trip.overruns.at_ns},
          {"thread", trip.thread},
          {"step_ns", trip.overruns.step_ns},
          {"budget_ns", trip.overruns.budget_ns}};
}

// One thing that a packet thread has room for.
struct Room {
  const char* key;
  const char* text;
  uint64_t used;
  uint64_t cap;
};

std::vector<Room> RoomOf(const ThreadStatus& thread) {
  const MonitorCounters& counters = thread.counters;
  const MonitorMemory& memory = thread.memory;
  return {{"flows", "flows", counters.flows, memory.flows},
          {"statistics_bytes", "statistics", counters.stat_bytes, memory.stat_bytes},
          {"connections", "connections", counters.connections, memory.connections},
          {"history_blocks", "history", counters.history_blocks, memory.history_blocks},
          {"sets", "sets", counters.sets, memory.sets},
          {"set_bytes", "set bytes", counters.set_bytes, memory.set_bytes},
          {"ring_bytes", "ring", thread.ring_used_bytes, memory.ring_bytes},
          {"mailbox_messages", "mailbox", thread.mailbox_messages, PeerExchange::kMailboxMessages}};
}

const char* PageKind(const MonitorMemory& memory) {
  if (memory.reserved_bytes != 0) return "huge, reserved";
  return memory.transparent_bytes != 0 ? "huge" : "plain";
}

// Use and cap of each thread, then of the agent.
std::string MemoryText(const AgentStatus& agent) {
  TextTable table({"thread", ">MiB", ">huge MiB", "pages", ">of", ">used", ">cap"});
  for (const ThreadStatus& thread : agent.threads) {
    if (!thread.has_monitor) continue;
    const MonitorMemory& memory = thread.memory;
    std::string first = thread.name();
    std::string taken = to_string(memory.bytes >> 20);
    std::string huge = to_string((memory.reserved_bytes + memory.transparent_bytes) >> 20);
    std::string kind = PageKind(memory);
    for (const Room& room : RoomOf(thread)) {
      table.Add({first, taken, huge, kind, room.text, to_string(room.used), to_string(room.cap)});
      first = taken = huge = kind = "";
    }
  }
  table.Add({"agent", "", "", "", "buckets", to_string(agent.verdicts.buckets),
             to_string(agent.settings.max_total_buckets)});
  return "memory use:\n" + table.ToString(2);
}

std::string StatusText(const StatusInput& input) {
  const AgentStatus& agent = input.agent;
  std::string text = "state:       " + StateOf(agent, input.event_count);
  if (!agent.is_enabled && agent.watchdog) text += WatchdogText(*agent.watchdog);
  text += "\n";
  text += "events:      " + to_string(input.event_count) + " installed";
  if (agent.epoch_ns != 0) text += ", epoch " + MillisText(agent.epoch_ns);
  if (agent.generation != 0) text += ", program " + to_string(agent.generation);
  text += "\nreports:     " + to_string(input.reports_total) + " made, " +
          to_string(agent.verdicts.intervals_decided) + " intervals decided, " +
          to_string(agent.verdicts.buckets) + " buckets\n";
  const auto lent = std::count_if(agent.threads.begin(), agent.threads.end(),
                                  [](const ThreadStatus& thread) { return thread.has_monitor; });
  text += "memory:      " + to_string(agent.in_force.memory_mb) + " MiB per packet thread, " +
          to_string(lent * int64_t{agent.in_force.memory_mb}) + " MiB taken\n";
  text += "wall clock:  " + ClockText(agent) + "\n";
  if (agent.link.is_configured) text += LinkText(agent.link);
  text += "versions:    trumpet " TRUMPET_VERSION ", Open vSwitch " + input.ovs_version + "\n";

  text += "threads:\n";
  TextTable threads({"thread", ">numa", "attached", ">program", ">packets", ">matched", ">flows",
                     ">partials", ">ring drops"});
  for (const ThreadStatus& thread : agent.threads) {
    const MonitorCounters& counters = thread.counters;
    threads.Add({thread.name(), thread.is_pmd ? to_string(thread.numa_id) : "-",
                 thread.is_attached && agent.is_enabled ? "yes" : "no",
                 to_string(thread.generation), to_string(counters.packets),
                 to_string(counters.matched_packets), to_string(counters.flows),
                 to_string(counters.partials), to_string(counters.partials_dropped)});
  }
  if (agent.ended_threads != 0) {
    const MonitorCounters& ended = agent.ended;
    threads.Add({"ended: " + to_string(agent.ended_threads), "-", "-", "-",
                 to_string(ended.packets), to_string(ended.matched_packets), "-",
                 to_string(ended.partials), to_string(ended.partials_dropped)});
  }
  text += threads.ToString(2);

  text += MemoryText(agent);

  text += "ports:\n";
  TextTable ports({">inPort", "name", "type", "uplink"});
  for (const PortInfo& port : input.ports) {
    const bool is_uplink = IsUplink(port, agent.settings.uplinks);
    ports.Add({to_string(port.number), port.name, port.type, is_uplink ? "yes" : "no"});
  }
  text += ports.ToString(2);

  text += "losses:\n";
  TextTable losses({">count", "what"});
  bool has_lost = false;
  for (const Loss& loss : LossesOf(input)) {
    if (loss.count == 0) continue;
    has_lost = true;
    losses.Add({to_string(loss.count), loss.text});
  }
  return text + (has_lost ? losses.ToString(2) : "  none\n");
}

Json CountersJson(const MonitorCounters& c) {
  return {{"packets", c.packets},
          {"bytes", c.bytes},
          {"batches", c.batches},
          {"undecodable", c.undecodable},
          {"tunnels_too_deep", c.tunnels_too_deep},
          {"matched_packets", c.matched_packets},
          {"flows", c.flows},
          {"flows_added", c.flows_added},
          {"flows_reclaimed", c.flows_reclaimed},
          {"uncounted_packets", c.uncounted_packets},
          {"uncounted_bytes", c.uncounted_bytes},
          {"partly_counted_packets", c.partly_counted_packets},
          {"partly_counted_bytes", c.partly_counted_bytes},
          {"withheld_packets", c.withheld_packets},
          {"withheld_bytes", c.withheld_bytes},
          {"credited_packets", c.credited_packets},
          {"credited_bytes", c.credited_bytes},
          {"admission_threshold_bytes", c.admission_threshold_bytes},
          {"admission_rounds", c.admission_rounds},
          {"epochs", c.epochs},
          {"epochs_skipped", c.epochs_skipped},
          {"epochs_withheld", c.epochs_withheld},
          {"batch_cycles", c.batch_cycles},
          {"sweep_cycles", c.sweep_cycles},
          {"sweep_steps", c.sweep_steps},
          {"swept_flows", c.swept_flows},
          {"swept_sets", c.swept_sets},
          {"partials", c.partials},
          {"partials_dropped", c.partials_dropped},
          {"rtt_samples", c.rtt_samples},
          {"rtt_samples_orphaned", c.rtt_samples_orphaned},
          {"connections", c.connections},
          {"connections_evicted", c.connections_evicted},
          {"history_evicted", c.history_evicted},
          {"peer_messages_sent", c.peer_messages_sent},
          {"peer_messages_taken", c.peer_messages_taken},
          {"peer_messages_lost", c.peer_messages_lost},
          {"peer_backlogs", c.peer_backlogs},
          {"peer_entries_evicted", c.peer_entries_evicted},
          {"directions_moved", c.directions_moved},
          {"late_samples", c.late_samples}};
}

Json MemoryJson(const ThreadStatus& thread) {
  Json json = {{"bytes", thread.memory.bytes},
               {"reserved_huge_bytes", thread.memory.reserved_bytes},
               {"transparent_huge_bytes", thread.memory.transparent_bytes}};
  for (const Room& room : RoomOf(thread)) json[room.key] = {{"used", room.used}, {"cap", room.cap}};
  return json;
}

Json StatusJson(const StatusInput& input) {
  const AgentStatus& agent = input.agent;
  Json threads = Json::array();
  for (const ThreadStatus& thread : agent.threads) {
    threads.push_back({{"thread", thread.name()},
                       {"is_pmd", thread.is_pmd},
                       {"core", thread.core_id},
                       {"numa", thread.numa_id},
                       {"has_monitor", thread.has_monitor},
                       {"attached", thread.is_attached && agent.is_enabled},
                       {"generation", thread.generation},
                       {"memory", MemoryJson(thread)},
                       {"counters", CountersJson(thread.counters)}});
  }
  Json ports = Json::array();
  for (const PortInfo& port : input.ports) {
    ports.push_back({{"inPort", port.number},
                     {"name", port.name},
                     {"type", port.type},
                     {"uplink", IsUplink(port, agent.settings.uplinks)}});
  }
  Json losses = Json::object();
  for (const Loss& loss : LossesOf(input)) losses[loss.key] = loss.count;
  const Json ended = {{"count", agent.ended_threads}, {"counters", CountersJson(agent.ended)}};
  return {{"enabled", agent.is_enabled},
          {"running", agent.is_running && agent.is_enabled},
          {"state", StateOf(agent, input.event_count)},
          {"watchdog", agent.watchdog ? WatchdogJson(*agent.watchdog) : Json()},
          {"events", input.event_count},
          {"generation", agent.generation},
          {"epoch_ms", agent.epoch_ns / kNanosPerMilli},
          {"reports", input.reports_total},
          {"intervals_decided", agent.verdicts.intervals_decided},
          {"buckets", agent.verdicts.buckets},
          {"max_total_buckets", agent.settings.max_total_buckets},
          {"memory_mb_per_thread", agent.in_force.memory_mb},
          {"wall_clock",
           {{"ahead_ns", agent.clock_ahead_ns},
            {"steps_forward", agent.clock.steps_forward},
            {"steps_back", agent.clock.steps_back},
            {"restarts", agent.clock.restarts}}},
          {"controller", agent.link.is_configured ? LinkJson(agent.link) : Json()},
          {"versions", {{"trumpet", TRUMPET_VERSION}, {"ovs", input.ovs_version}}},
          {"threads", threads},
          {"ended_threads", ended},
          {"ports", ports},
          {"losses", losses}};
}

}  // namespace

std::string FormatStatus(const StatusInput& input, bool as_json) {
  return as_json ? JsonText(StatusJson(input)) : StatusText(input);
}

std::string FormatFlowTables(const AgentStatus& agent, bool as_json) {
  TextTable table({"thread", ">flows", ">of at most", ">added", ">reclaimed", ">without room",
                   ">connections", ">evicted alive", ">rtt samples"});
  Json rows = Json::array();
  for (const ThreadStatus& thread : agent.threads) {
    const MonitorCounters& c = thread.counters;
    table.Add({thread.name(), to_string(c.flows), to_string(thread.memory.flows),
               to_string(c.flows_added), to_string(c.flows_reclaimed),
               to_string(c.uncounted_packets), to_string(c.connections),
               to_string(c.connections_evicted), to_string(c.rtt_samples)});
    rows.push_back({{"thread", thread.name()},
                    {"flows", c.flows},
                    {"max_flows", thread.memory.flows},
                    {"flows_added", c.flows_added},
                    {"flows_reclaimed", c.flows_reclaimed},
                    {"uncounted_packets", c.uncounted_packets},
                    {"connections", c.connections},
                    {"connections_evicted", c.connections_evicted},
                    {"history_evicted", c.history_evicted},
                    {"rtt_samples", c.rtt_samples}});
  }
  if (as_json) return JsonText(rows);
  return agent.threads.empty() ? "no packet thread\n" : table.ToString(0);
}

}  // namespace trumpet
