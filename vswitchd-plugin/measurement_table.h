// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementTable: the measurement programs that are installed at this switch.
//
// Each packet thread has a state of its own for each program; they are read as one.  The state of a
// thread that has ended is read on, and goes to the next thread that comes.  A program runs on all
// threads or is not installed at all; only a thread that comes later may find no memory, which is
// logged and counted.
//
// Together the programs stay within the switch's budget (program_loader.h).  Programs that read the
// port a packet leaves by, have roles by place or tag forwarded packets run where packets leave;
// one of those that are installed may tag.  Packets that a program collects are counted, sent to
// the endpoints that have an address, and the last few kept.
//
// Threads: locked; any thread off the packet path.  A call that changes what is on waits until no
// packet thread uses what was on before: as long as one hook takes, and at most 100 ms.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_TABLE_H
#define TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_TABLE_H

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/program_state.h"
#include "vswitchd-plugin/carrier_ports.h"
#include "vswitchd-plugin/copy_sender.h"
#include "vswitchd-plugin/edge_ports.h"
#include "vswitchd-plugin/host.h"
#include "vswitchd-plugin/measurement_place.h"
#include "vswitchd-plugin/port_table.h"
#include "vswitchd-plugin/thread_monitor.h"
#include "vswitchd-plugin/thread_programs.h"

namespace trumpet {

constexpr size_t kMaxMeasurements = 64;
constexpr size_t kKeptCopies = 256;  // of the packets that a program has collected

// Who has installed a program.
struct MeasurementOrigin {
  uint32_t id = 0;    // that the controller gave it; 0: it was installed at this switch
  uint64_t seed = 0;  // of the controller's: the same at all hosts whose cells are to be merged

  bool is_controller() const { return id != 0; }
};

// One installed program.  `replicas`, `copies` and what they hold belong to the table.
struct Measurement {
  struct Replica {
    std::unique_ptr<ProgramState> state;
    const ThreadMonitor* thread = nullptr;  // null: it has ended
    std::unique_ptr<std::atomic<uint64_t>> untagged = std::make_unique<std::atomic<uint64_t>>(0);
  };

  std::string name;
  MeasurementOrigin origin;
  Nanos since = 0;  // Unix time
  std::unique_ptr<const CompiledProgram> program;
  MeasurementPlace place;
  MeasurementWay way;
  std::atomic<bool> holds_tags{false};
  EdgePorts edges;
  std::vector<uint32_t> edge_numbers;  // of the edge ports that exist
  SharedCells shared;
  std::vector<Replica> replicas;
  std::deque<CollectedPacket> copies;  // the last ones, oldest first
  uint64_t answered = 0;               // of those collected: answers to requests of ctrl
  uint64_t unbound = 0;                // of those taken in: their endpoint has no address
  std::unique_ptr<CopySender> sender;  // null: they stay here
};

// A program and the states of its threads, which live as long as this does.
struct MeasurementView {
  std::shared_ptr<const Measurement> measurement;
  std::vector<const ProgramState*> states;  // at least one

  const CompiledProgram& program() const { return *measurement->program; }
};

struct MeasurementStatus {
  MeasurementView view;
  uint64_t threads = 0;  // that run it
  uint64_t collected = 0;
  uint64_t lost = 0;  // of those collected: the switch did not keep up
  uint64_t unbound = 0;
  uint64_t evictions = 0;
  uint64_t late_flips = 0;
  std::vector<uint32_t> edge_numbers;
  uint64_t untagged = 0;            // packets at the first hop that could not carry tags
  CarrierPorts::Counters carriers;  // of all programs together
  std::vector<CollectedPacket> copies;
  std::vector<CopyTarget> targets;
};

// What became of the packets that a program has collected.
struct MeasurementCopies {
  std::string name;
  MeasurementOrigin origin;
  Nanos since = 0;  // Unix time
  ProgramCopies copies;
};

struct MeasurementTableStatus {
  std::vector<MeasurementStatus> programs;  // as they were installed
  MeasureBudget budget;
  CostCertificate used;
  uint64_t refused = 0;
  uint64_t without_memory = 0;  // threads that came and found none
  uint64_t requests = 0;        // of ctrl that were answered
  uint64_t refused_requests = 0;
};

// Why `name` can not be the name of a program; empty if it can.
std::string MeasurementNameProblem(const std::string& name);

PacketValues FieldsOf(const CollectedPacket& packet);

class MeasurementTable {
 public:
  // `host`, `ports` and `carriers` (null: there are none) must outlive the table.  `seed` is
  // unknown to those who send packets.  `on_change` is called without a lock whenever a program was
  // installed or removed.
  MeasurementTable(const Host* host, const PortTable* ports, const CarrierPorts* carriers,
                   uint64_t seed, std::function<void()> on_change);

  void AddThread(ThreadMonitor* thread);
  void RemoveThread(ThreadMonitor* thread);  // its hooks are not called again

  // An error, and nothing has changed, if the name is taken, the program is unsound, goes over what
  // is left of the budget, or needs what this switch does not do or `place` does not tell.
  Status Add(const std::string& name, const MeasureProgram& program, Nanos now,
             const MeasurementPlace& place = {}, const MeasurementOrigin& origin = {});
  // An error, too, if it has another origin: each removes what he has installed.
  Status Remove(const std::string& name, uint32_t origin_id = 0);
  // The program of that origin holds tags no longer (MeasurementPlace::holds_tags).
  void ReleaseTags(const std::string& name, uint32_t origin_id);
  // For programs installed later.
  void SetBudget(const MeasureBudget& budget);
  // Patterns of trumpet-uplinks, from the next Follow() on.
  void SetUplinks(const std::vector<std::string>& patterns);
  // At which headers are the outer ones of tunnels, and carry no tags; likewise.
  void SetTunnelPorts(const ParseOptions& parse);

  // Takes in what was collected and sends it, clears retired epochs and follows ports that come and
  // go; to be called every spacing(), and when a port has come or gone.  `now` is monotonic.
  void Follow(Nanos now);
  Nanos spacing() const { return spacing_.load(); }  // 0: nothing is installed
  bool is_any_on() const { return spacing() != 0; }

  // Has tasks of ctrl answer a packet with these fields; what they collect goes where that of
  // packets does.  An error: they cannot, or there is no such program.
  Result<std::vector<CollectedPacket>> Ask(const std::string& name, const PacketValues& request,
                                           Nanos unix_now, Nanos now);
  // The same for the packets of ctrl that the switch was handed by packet-out.
  void AnswerRequests(Nanos unix_now, Nanos now);

  Result<MeasurementView> Find(const std::string& name) const;
  Result<MeasurementStatus> Show(const std::string& name) const;
  MeasurementTableStatus Snapshot() const;
  std::vector<MeasurementCopies> Copies() const;

 private:
  struct Thread {
    ThreadMonitor* monitor = nullptr;
    std::unique_ptr<ThreadPrograms> programs;  // null: it has none
  };
  using Measurements = std::vector<std::shared_ptr<Measurement>>;
  // Other switches hear a moment sooner or later that a program is gone.
  struct Ending {
    std::shared_ptr<const TagsLeft> tags;
    Nanos until = 0;  // monotonic; 0: until kTagsLeft after the next Follow()
  };
  static constexpr Nanos kTagsLeft = kNanosPerSecond;
  static constexpr size_t kMostEndings = 4;
  static constexpr uint64_t kNoPorts = UINT64_MAX;

  Result<std::shared_ptr<Measurement>> Make(const std::string& name, const MeasureProgram& program,
                                            const MeasurementPlace& place,
                                            const MeasurementOrigin& origin);
  Status CheckTags(const Measurement& measurement) const;
  void FollowPorts();
  void KeepTagsLeft(const Measurement& measurement);
  void EndTagsLeft(Nanos now);
  Status Load(const MeasureProgram& program, Measurement* measurement) const;
  Status CheckRoom(const std::string& name) const;
  bool GiveState(const ThreadMonitor* thread, int numa_id, Measurement* measurement);
  bool GiveStates(Measurement* measurement);
  std::unique_ptr<ThreadPrograms> ProgramsOf(const Measurements& measurements,
                                             const ThreadMonitor* thread) const;
  bool WantsSent(const ThreadMonitor& thread) const;
  void Publish(Measurements next);
  Status AnswerFrame(const std::vector<uint8_t>& frame, Nanos unix_now, Nanos now);
  static void Keep(const CollectedPacket& packet, Nanos now, Measurement* measurement);
  static void TakeCollected(Nanos now, Measurement* measurement);
  std::shared_ptr<Measurement> FindLocked(const std::string& name) const;
  MeasurementStatus StatusOf(const std::shared_ptr<Measurement>& measurement) const;

  const Host* const host_;
  const PortTable* const ports_;
  const CarrierPorts* const carriers_;
  const uint64_t seed_;
  const std::function<void()> on_change_;
  std::atomic<Nanos> spacing_{0};
  std::atomic<uint64_t> made_states_{0};

  std::mutex change_mutex_;  // one change at a time; taken before mutex_
  mutable std::mutex mutex_;
  std::vector<Thread> threads_;
  Measurements measurements_;
  std::vector<Ending> endings_;  // oldest first
  MeasureBudget budget_ = kDefaultMeasureBudget;
  CostCertificate used_;
  bool is_any_sent_ = false;   // takes packets as they leave
  bool is_any_asked_ = false;  // has tasks of ctrl
  std::vector<std::string> uplinks_;
  ParseOptions parse_;
  bool is_stale_ = false;              // threads do not know endings_ or parse_ yet
  uint64_t ports_version_ = kNoPorts;  // that edges are of
  uint64_t refused_ = 0;
  uint64_t without_memory_ = 0;
  uint64_t requests_ = 0;
  uint64_t refused_requests_ = 0;
  // A packet thread that was stopped by the machine inside a hook may still use these.
  std::vector<std::unique_ptr<ThreadPrograms>> retired_programs_;
  Measurements retired_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_TABLE_H
