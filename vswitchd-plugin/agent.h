// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Agent: runs the monitors of this switch.  Makes and lends them to the packet threads, publishes
// events, gathers what the threads deliver, and has the verdicts given.
//
//   off       nothing is lent; the thread sleeps until told
//   running   enabled and events are installed
//   ending    disabled in the middle of intervals: those are still decided, with complete false
//
// Every change (events, settings, threads, ports, the clocks) is taken in by Step(), which brings
// things from how they are to how they should be, and then gathers.  Only the kill switch does not
// wait for it: SetEnabled(false) closes the gate of all hooks before it returns.  Nor does the
// watchdog: a packet thread closes a gate of its own, and the agent takes it as SetEnabled(false)
// from that instant on (docs/adr/0006).
//
// A verdict waits until every thread has delivered all it saw in the interval.  A thread that is
// late by more than one epoch (10 ms at least) is not waited for: the verdict is given without, as
// incomplete.
//
// With a controller (settings) the thread also keeps the session with it, and installs its events
// beside those of this switch: controller_link.h, network_desk.h, docs/adr/0014.
//
// Threads: one of its own from the first Configure() to Stop().  Public functions: the main thread,
// AddThread() and RemoveThread() also packet threads.  Step() and StepOrGiveUp() only for tests.

#ifndef TRUMPET_VSWITCHD_PLUGIN_AGENT_H
#define TRUMPET_VSWITCHD_PLUGIN_AGENT_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/model/host_place.h"
#include "lib/tpm/observation.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/peer_exchange.h"
#include "lib/tpm/trigger_program.h"
#include "vswitchd-plugin/agent_status.h"
#include "vswitchd-plugin/carrier_ports.h"
#include "vswitchd-plugin/controller_link.h"
#include "vswitchd-plugin/delivery_desk.h"
#include "vswitchd-plugin/event_registry.h"
#include "vswitchd-plugin/host.h"
#include "vswitchd-plugin/measurement_table.h"
#include "vswitchd-plugin/monitor_slot.h"
#include "vswitchd-plugin/network_desk.h"
#include "vswitchd-plugin/port_table.h"
#include "vswitchd-plugin/report_log.h"
#include "vswitchd-plugin/settings.h"
#include "vswitchd-plugin/slice_table.h"
#include "vswitchd-plugin/wall_clock.h"

namespace trumpet {

struct AgentParts {
  const Host* host = nullptr;
  EventRegistry* events = nullptr;
  PortTable* ports = nullptr;
  ReportLog* reports = nullptr;
  const CarrierPorts* carriers = nullptr;  // null: there are none
  std::function<ClockReading()> read_clocks = ReadSystemClocks;
  std::function<Result<std::unique_ptr<PacketMonitor>>(const MonitorOptions&)> make_monitor =
      PacketMonitor::Create;
  uint64_t hash_seed = 0;      // unknown to those who send packets
  bool has_own_thread = true;  // false: whoever owns the agent calls Step()
  event_base* base = nullptr;  // of who calls Step(), for the session with a controller
  std::string database;        // remotes of the switch's own; empty, or no remotes: it is not read
};

class Agent {
 public:
  // All parts must outlive the agent.
  explicit Agent(AgentParts parts);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // New settings; the first ones start the agent's thread.  False when that could not be started.
  bool Configure(const Settings& settings);

  // Lets the monitors run, or detaches all hooks: when SetEnabled(false) returns true, no packet
  // thread touches a monitor.  False: a thread did not leave its hook within 100 ms; it will not
  // enter again.
  bool SetEnabled(bool enabled);

  // Which addresses are this host's and which are monitored at all, as a controller says: events
  // that follow `observe` count by it from the next program on.  Null: not known, they count
  // everything.
  void SetPlace(std::shared_ptr<const HostPlace> place);

  // What is on is its own affair; the agent only cleans up and tells the controller.
  SliceTable& slices() { return slices_; }
  // Likewise the measurement programs, which run whenever the monitor is enabled.
  MeasurementTable& measurements() { return measurements_; }
  Nanos MonotonicNow() const { return parts_.read_clocks().monotonic_ns; }

  // Something else changed (events, ports): take it in soon.
  void Wake();

  // A packet thread came, or goes.  The answer is valid until RemoveThread(), which does not wait.
  ThreadMonitor* AddThread(const trumpet_thread_info& info);
  void RemoveThread(ThreadMonitor* thread);

  bool has_thread() const { return thread_.joinable() || !parts_.has_own_thread; }

  // Ends and joins the thread.  Monitors stay in place.
  void Stop();

  AgentStatus Snapshot() const;
  const WallClock& clock() const { return rules_.clock; }

  // One round; the answer is the monotonic instant of the next one, INT64_MAX: when woken.
  Nanos Step();
  // The same; without the memory for it the monitor is switched off, and waits to be enabled again.
  Nanos StepOrGiveUp() noexcept;

 private:
  enum class Mode { kOff, kRunning, kEnding };

  // What others ask for, under mutex_.
  struct Wishes {
    Settings settings;
    bool enabled = false;
    std::optional<Nanos> off_since;                  // monotonic
    std::optional<WatchdogTrip> watchdog;            // why enabled is false
    std::vector<std::pair<Nanos, Nanos>> off_times;  // monotonic, not yet taken in
    std::vector<std::unique_ptr<MonitorSlot>> come;
    std::shared_ptr<const HostPlace> place;
  };

  // A trigger set that was taken and is not answered yet.
  struct DueAnswer {
    ControllerSet::Taken set;
    uint64_t version = 0;  // of the registry that holds it
  };

  void Run();
  bool WaitUntil(Nanos monotonic_ns);
  void GiveUp(const char* why) noexcept;
  bool Switch(bool enabled);
  void UpdateAttached();

  // Step() in order.
  Nanos ReadTime();
  void HeedWatchdog(Nanos now);
  void TakeWishes(Nanos now);
  void DropEndedThreads(Nanos now);
  void ReachMode(Nanos now);
  void Start(Nanos now);
  void OpenGate();
  void Pause(Nanos now);
  void End();
  void Restart(Nanos now, const char* why, bool drops_monitors);
  void DropMonitors();
  void UpdateObservation();
  void FollowController(Nanos now);
  void FollowSlices();
  void TakeSets(Nanos now);
  bool RunsEverywhere() const;
  void AnswerController();
  void UpdateProgram();
  Nanos PreparingTime() const;
  void PublishTo(MonitorSlot* slot);
  void UpdateThreads();
  void MakeMonitor(MonitorSlot* slot);
  void LoseMonitor(MonitorSlot* slot);
  void UpdateZones();
  Nanos RaiseFloor(Nanos now);
  void Gather(Nanos now);
  Nanos FirstComing();
  Nanos NextRound(Nanos now) const;
  Nanos NextRoundOfEvents(Nanos now) const;
  void KeepStatus(Nanos now, bool at_once);
  bool HasMonitor() const;
  static std::string NameOf(const MonitorSlot& slot);

  const AgentParts parts_;
  ThreadRules rules_;

  mutable std::mutex mutex_;  // wishes_, poked_, stops_, kept_, and changes of slots_ themselves
  std::condition_variable poke_;
  Wishes wishes_;
  bool poked_ = false;
  bool stops_ = false;
  AgentStatus kept_;         // what Snapshot() cannot read itself
  std::mutex switch_mutex_;  // switching on and off as a whole: others may ask, and the watchdog
  std::mutex attach_mutex_;
  bool attached_ = false;                 // under attach_mutex_
  std::atomic<bool> wants_hooks_{false};  // running: packets are needed
  std::atomic<bool> is_enabled_{false};
  // Found no memory when they came.  Nobody tells when they end, so there is one until the process
  // ends.
  std::atomic<uint64_t> unknown_threads_{0};

  // Shared by the monitors in slots_, which it outlives.  Made with the first of them.
  std::unique_ptr<PeerExchange> peers_;

  SliceTable slices_;
  MeasurementTable measurements_;
  uint64_t slice_places_version_ = 0;  // of the facts that it was told

  // The agent's own; slots_ is changed under mutex_ and read by Snapshot().
  std::vector<std::unique_ptr<MonitorSlot>> slots_;
  // Of threads no longer in slots_, and changed with it.
  uint64_t ended_threads_ = 0;
  MonitorCounters ended_;
  NetworkDesk network_;
  DeliveryDesk desk_;
  ControllerLink link_;
  std::deque<DueAnswer> due_answers_;
  bool set_is_due_ = false;               // one was taken and is not installed yet
  std::vector<EventError> event_errors_;  // of the set that was taken last
  bool shares_are_stale_ = false;
  Nanos all_shown_since_ = 0;                // the last thread was given its monitor then
  Settings settings_;                        // as of the last Step()
  std::optional<Settings> memory_settings_;  // those that count from the first monitor on
  bool enabled_ = false;
  bool has_heeded_watchdog_ = false;  // since it closed its gate
  Mode mode_ = Mode::kOff;
  std::shared_ptr<const TriggerProgram> program_;  // shared with the monitors that run it
  bool monitors_track_tcp_ = false;                // by the last program, though it may have ended
  uint64_t program_version_ = 0;
  uint64_t generation_ = 0;
  Nanos program_lead_ns_ = 0;
  Nanos replaced_epoch_ns_ = 0;  // of the programs that run until program_ begins
  std::shared_ptr<const HostPlace> place_;
  std::shared_ptr<const Observation> observation_;   // what program_ counts by; may be null
  std::shared_ptr<const HostPlace> observed_place_;  // what it was made from
  std::vector<uint32_t> observed_uplinks_;
  std::vector<std::string> uplink_patterns_;  // of which those are
  uint64_t uplinks_version_ = UINT64_MAX;     // of the ports
  bool observation_is_new_ = false;           // program_ does not know it
  ZoneMap zones_;
  bool zones_are_stale_ = true;
  uint64_t ports_version_ = 0;
  ParseOptions parse_;
  Nanos last_round_ns_ = 0;
  Nanos marked_until_ = 0;  // kEnding: what was marked missing already
  Nanos ending_until_ = 0;  // kEnding: the open intervals end by then
  Nanos kept_at_ = INT64_MIN;
  bool has_laggards_ = false;  // some thread has not delivered the last epoch yet
  Nanos running_since_ = 0;
  Nanos unmonitored_since_ = 0;  // for threads without a monitor: marked missing up to here
  uint64_t stalls_ = 0;
  uint64_t failed_monitors_ = 0;
  uint64_t interruptions_ = 0;

  std::thread thread_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_AGENT_H
