// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventManager: the events of the network, from a user's text to reports.  The one thing that REST,
// commands and the daemon know of controller/tem.
//
//   text -> Check -> Change -> EventStore -> placement -> sessions -> hosts
//   hosts -> sessions -> NetworkVerdicts -> ReportHub -> whoever asked
//
// Threads: one, that of the libevent loop.  Nothing blocks.  Calls back come from the loop, never
// from within a call.
// Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_H
#define TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/store/event_store.h"
#include "controller/tem/caller.h"
#include "controller/tem/latency_histogram.h"
#include "controller/tem/measured_source.h"
#include "controller/tem/network_verdicts.h"
#include "controller/tem/report_hub.h"
#include "lib/base/status.h"
#include "lib/lang/event/event_language.h"
#include "lib/model/event_spec.h"
#include "lib/wire/listener.h"
#include "lib/wire/tls_context.h"

struct event_base;

namespace trumpet {

enum class DocumentFormat : uint8_t { kYaml, kJson };

// One event of a text, and what would become of it.
struct EventCheck {
  EventSpec spec;
  std::string line;                 // canonical
  std::string json;                 // canonical, as it would be stored
  bool exists = false;              // an event of that name is there and would be replaced
  std::vector<std::string> hosts;   // ids, to which it would go now
  std::string mode;                 // "host", "partials", "threshold" or "controller"
  std::vector<std::string> reads;   // measured values: measure("hh").flows
  std::string why_not_threshold;    // empty in that mode
  uint32_t words_per_bucket = 0;    // 8 bytes each, that a host keeps and sends
  uint64_t bytes_per_interval = 0;  // on the wire per host, for 1,000 buckets with packets
  double ns_per_packet = 0;         // of a host's packet thread, when packets match; an estimate
  std::vector<std::string> warnings;
};

enum class HostApplication : uint8_t { kWaiting, kSent, kApplied, kRefused, kUnreachable };

struct EventOnHost {
  std::string host;
  HostApplication state = HostApplication::kWaiting;
  Nanos applied_ns = 0;       // on the host's clock: from then on it counts
  Nanos acknowledged_ns = 0;  // ours
  std::string error;
};

struct EventView {
  EventRecord record;
  EventSpec spec;
  std::string line;
  std::string mode;
  std::string why_not_threshold;
  std::vector<std::string> reads;  // measured values
  std::string problem;        // why a stored event does not run; empty: it does, or is disabled
  uint32_t wanted = 0;        // hosts that it is placed on
  uint32_t applied = 0;       // of these, connected hosts whose packet threads run it
  Nanos changed_ns = 0;       // when it was last sent out
  Nanos last_applied_ns = 0;  // when all ran it, or the last of those that do yet; 0: none does
  NetworkCounters counters;
  Nanos last_report_ns = 0;
};

struct HostView {
  std::string id;
  std::string name;
  bool is_connected = false;
  bool is_in_topology = false;
  std::string address;
  std::string software;
  Nanos connected_since_ns = 0;
  Nanos last_seen_ns = 0;
  uint64_t sessions = 0;  // so far
  std::string last_error;
  Nanos epoch_ns = 0;
  Nanos clock_offset_ns = 0;  // its clock before ours
  Nanos skew_bound_ns = 0;
  Nanos rtt_ns = 0;
  uint64_t set_generation = 0;
  uint32_t events_wanted = 0;
  uint32_t events_applied = 0;
  size_t queued_bytes = 0;
  Nanos ended_until_ns = 0;     // all it counted before has come
  bool is_monitor_off = false;  // by its administrator or the watchdog; known while it is connected
  SessionCounters counters;
  std::vector<Prefix> prefixes;
  HostFacts facts;
  size_t port_count = 0;  // in facts
};

struct EventManagerOptions {
  std::string name;  // of this controller, for agents
  ListenerOptions listener;
  NetworkOptions network;
  NetworkEventOptions event;  // of events that say nothing themselves
  size_t max_events = 4096;
  size_t max_events_per_tenant = 512;
  bool binds_hosts_to_certificates = true;  // a host's id must be in its certificate
  Nanos forget_hosts_after_ns = 0;          // not connected; 0: never
  // Of sets of events on their way to all hosts.  Further hosts wait until as much is acknowledged:
  // a thousand that are sent thousands of events at once fill memory and networks, and answer
  // nothing else in time.
  size_t max_set_bytes = 8u << 20;
  // An event whose threshold can be split is, while it is on so many hosts or fewer: beyond that
  // questions cost more than they save (docs/life-of-an-event.md).
  size_t max_threshold_hosts = 4;
};

struct EventManagerParts {
  event_base* base = nullptr;
  EventStore* store = nullptr;
  ReportHub* reports = nullptr;
  const WireClock* clock = nullptr;
  std::function<void(const char* level, const std::string& text)> log;  // "info", "warn", "err"
};

class EventManager {
 public:
  EventManager(const EventManagerParts& parts, const EventManagerOptions& options);
  ~EventManager();
  EventManager(const EventManager&) = delete;
  EventManager& operator=(const EventManager&) = delete;

  // Agents are taken in here; may be called for several addresses.  `tls` as Listener::Listen().
  Result<uint16_t> Listen(const Address& address, TlsContext* tls);
  // Replaces the topology from the file; what agents say of themselves is added.
  void SetTopology(Topology topology);
  // Opens the store; agents get events from then on.
  void Start();
  // Takes leave of the agents.
  void Stop();
  // All that goes by time, at once.  It comes by itself, but not if ListenerOptions::tick is 0.
  void Tick();

  // --- events ---
  // Nothing is changed.  An error has a line for each wrong event, with its place.
  Result<std::vector<EventCheck>> Check(const std::string& document, DocumentFormat format,
                                        const std::string& source_name, const Caller& caller) const;
  using Changed = std::function<void(Result<std::vector<EventRecord>>)>;
  enum class IfThere : uint8_t { kReplace, kRefuse };
  // Adds or replaces the events of a text, all or none.
  void Put(const std::string& document, DocumentFormat format, const std::string& source_name,
           IfThere if_there, const Caller& caller, Changed done);
  void Remove(const std::vector<std::string>& names, const Caller& caller, Changed done);
  void SetEnabled(const std::string& name, bool enabled, const Caller& caller, Changed done);

  // By name; only what the caller may see.
  std::vector<EventView> Events(const Caller& caller) const;
  std::optional<EventView> FindEvent(const std::string& name, const Caller& caller) const;
  std::vector<EventOnHost> HostsOf(const std::string& name) const;

  // --- hosts ---
  std::vector<HostView> Hosts() const;
  std::optional<HostView> FindHost(const std::string& id_or_name) const;
  // Of the file, with what agents have said.
  const Topology& topology() const;

  // --- slices in the datapath ---
  bool TakesSlices(const std::string& id_or_name) const;
  // A SliceOn or SliceOff for a host; the answer is its id.  An error if it cannot be told.
  Result<std::string> SendSlice(const std::string& id_or_name, const Message& order);
  // Hears every SliceAck and SliceEnd, and null when a host's session has ended.
  using SliceListener = std::function<void(const std::string& host_id, const Message* message)>;
  void ListenToSlices(SliceListener listener);

  // --- measurement programs ---
  bool TakesPrograms(const std::string& id_or_name) const;
  // Its agent is not too old for endpoints and requests of programs.
  bool TakesEndpoints(const std::string& id_or_name) const;
  // A ProgramOn, ProgramOff or CellsRequest for a host; the answer is its id.
  Result<std::string> SendProgram(const std::string& id_or_name, const Message& order);
  // Hears every ProgramList, ProgramAck, CellsAnswer and ProgramCounts, and null when a host's
  // session has ended.
  using ProgramListener = SliceListener;
  void ListenToPrograms(ProgramListener listener);

  // --- measured values ---
  // Where events get them from; null: nowhere.  It must outlive what is set.
  void SetMeasuredSource(MeasuredSource* source);
  // What is wrong with a state that an event reads, for parsers.
  MeasuredCheck measured_check() const;
  // Names of events, enabled or not, that read the measurement.
  std::vector<std::string> ReadersOf(const std::string& measurement) const;

  // --- how it is ---
  NetworkCounters network_counters() const;
  ListenerCounters listener_counters() const;
  const NetworkBudget& budget() const;
  const VerdictLatencies& latencies() const;
  size_t connected_hosts() const;
  bool is_store_ready() const;
  bool is_standing_by() const;  // another controller acts; agents are sent away
  // No set is under way or due: every connected host runs what it should, or has refused it.
  bool is_settled() const;
  const std::string& store_state() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_H
