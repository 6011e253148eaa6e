// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementManager: the measurement programs of a network, from a user's text to what all hosts
// have measured together.  The one thing that REST and the daemon know of controller/measure.
//
// Installing is all or nothing: the measurement is stored as not yet enabled, every host that it is
// for is told, and only when all of them run it, it is enabled; if one refuses or says nothing, it
// is taken off all the others again and forgotten.  What a crash leaves half done is taken off
// at the next start.  Once it is enabled, hosts that connect later get it, too; they find what
// differs from what they run, and nothing else is touched.
//
// Threads: one, that of the libevent loop.  Calls back never come from within a call.
// Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_MANAGER_H
#define TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_MANAGER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/measure/cell_reader.h"
#include "controller/measure/copy_counts.h"
#include "controller/measure/measured_states.h"
#include "controller/measure/measurement_definition.h"
#include "controller/measure/program_asker.h"
#include "controller/measure/program_rounds.h"
#include "controller/store/event_store.h"
#include "controller/tem/caller.h"
#include "controller/tem/event_manager.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

struct MeasurementParts {
  event_base* base = nullptr;
  const WireClock* clock = nullptr;
  EventStore* store = nullptr;  // of measurements, not of events
  EventManager* hosts = nullptr;
  std::function<uint64_t()> draw_seed;  // unknown to those who send packets
  std::function<void(const char* level, const std::string& text)> log;
};

enum class MeasurementOnHost : uint8_t { kWaiting, kRunning, kRefused, kAway };

struct MeasurementHost {
  std::string id;
  MeasurementOnHost state = MeasurementOnHost::kWaiting;
  std::string error;  // kRefused
  std::optional<uint8_t> switch_id = std::nullopt;
  std::optional<ProgramCopies> copies = std::nullopt;  // as it has told last
};

struct NetworkMeasurement {
  EventRecord record;
  MeasurementDefinition definition;
  MeasureProgram program;
  std::string problem;                 // why a stored one does not run
  std::vector<MeasurementHost> hosts;  // that it is for, as far as known; by id
  ProgramCopies copies = {};           // of all hosts, those that have gone included
};

class MeasurementManager final : private EventStoreListener {
 public:
  static constexpr size_t kMaxMeasurements = 64;                // as many as a switch takes
  static constexpr uint64_t kMaxCellsRead = uint64_t{1} << 20;  // of one read

  explicit MeasurementManager(const MeasurementParts& parts);
  ~MeasurementManager() override;
  MeasurementManager(const MeasurementManager&) = delete;
  MeasurementManager& operator=(const MeasurementManager&) = delete;

  // Opens the store; hosts get programs from then on.
  void Start() { parts_.store->Start(this); }
  // Another controller acts now; until Start().  Programs stay where they are.
  void StandBy();

  // `is_conflict`: it cannot be done as things are now; otherwise what was asked for is wrong.
  struct Outcome {
    Status status = Status::Ok();
    bool is_conflict = false;
    bool is_new = false;  // Put(): it was not there before
  };
  using Done = std::function<void(const Outcome&)>;
  // Nothing changes if the same is installed already.  Another one of that name is to be removed
  // first: its state would be lost.
  void Put(MeasurementDefinition definition, const Caller& caller, Done done);
  // Answers when no host that is connected runs it any more.
  void Remove(const std::string& name, Done done);

  std::vector<NetworkMeasurement> Measurements() const;
  std::optional<NetworkMeasurement> Find(const std::string& name) const;
  // The definition and program of one that runs; null: it does not.  They hold until the next turn
  // of the loop.
  const MeasurementDefinition* FindDefinition(const std::string& name) const;
  const MeasureProgram* FindProgram(const std::string& name) const;
  std::vector<std::string> Names() const;

  // From all hosts that run it, or that one (by id or name).  An error, and no call back, if it
  // cannot be asked; else the number of the read, for CellReader's SoFar() and End().
  Result<uint64_t> Read(const std::string& name, const std::string& host,
                        std::vector<CellQuestion> questions, CellReader::Done done);
  CellReader& reader() { return reader_; }

  // Has tasks of ctrl answer a packet with these fields at all hosts that run it, or that one.  An
  // error, and no call back, if it cannot be asked.
  Status Ask(const std::string& name, const std::string& host, std::vector<AskedField> fields,
             ProgramAsker::Done done);

  bool is_store_ready() const { return is_ready_; }
  const std::string& store_state() const { return store_text_; }

 private:
  struct Live {
    EventRecord record;
    MeasurementDefinition definition;
    MeasureProgram program;
    std::string problem;
    std::map<std::string, std::string> refusals;  // by host
    std::set<std::string> ran_on;                 // hosts, whether connected or not
    CopyCounts copies;
  };

  void OnEventsLoaded(const StoreIdentity& identity, std::vector<EventRecord> records) override;
  void OnEventsChanged(std::vector<EventChange> changes) override;
  void OnStoreState(StoreState state, const std::string& text) override;
  void Take(EventRecord record);
  void ForgetUnfinished();

  void OnMessage(const std::string& host, const Message* message);
  void OnList(const std::string& host, const ProgramList& list);
  // Until it is forgotten, readings without it are not complete.
  void NoteRuns(Live* live, const std::string& host) const;
  void OnAck(const std::string& host, const ProgramAck& ack);
  void OnCounts(const std::string& host, const ProgramCounts& counts);
  void TakeEarlyCounts(Live* live);
  void SyncHost(const std::string& host);
  void SyncAll();
  bool IsFor(const Live& live, const std::string& host) const;
  NamedHost NamedOf(const std::string& host) const;  // by id or name
  Status CheckPlaces(const MeasurementDefinition& definition) const;
  Status TurnOn(const Live& live, const std::string& host);
  void ReleaseTags(const Live& live);
  void ReleaseTags(const Live& live, const std::string& host);
  void TurnOff(const std::string& host, const ProgramName& program);

  Result<std::vector<std::string>> ChooseHosts(const MeasurementDefinition& definition) const;
  Outcome CheckPut(const MeasurementDefinition& definition) const;
  void Write(EventChange change, std::function<void(Result<uint32_t>)> done);
  void Install(const ProgramName& program, const std::vector<std::string>& hosts, Done done);
  // From its round until its record says that it runs: hosts are to keep it.
  bool IsInstalling(const ProgramName& program) const;
  void FinishInstall(const ProgramName& program, const std::vector<std::string>& hosts,
                     const std::string& error, const Done& done);
  void Later(std::function<void()> action);
  NetworkMeasurement MakeView(const Live& live) const;
  struct Askable {
    std::vector<std::string> hosts;
    std::vector<SilentHost> silent;
  };
  static Askable AskableOf(const NetworkMeasurement& view, const std::string& host);
  static std::string NobodyToAsk(const Askable& askable, const NetworkMeasurement& view,
                                 const std::string& host);

  const MeasurementParts parts_;
  std::map<std::string, Live> live_;  // by name
  // What hosts have said that they run, of those that are connected.
  std::map<std::string, std::set<std::pair<std::string, uint32_t>>> running_;
  // What they have told of measurements before the store has, by id.
  std::map<std::string, std::map<uint32_t, ProgramCounts>> early_counts_;
  bool is_loaded_ = false;
  bool is_ready_ = false;
  std::string store_text_ = "not opened yet";
  CellReader reader_;
  ProgramAsker asker_;
  MeasuredStates states_;  // what events read
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
  ProgramRounds rounds_;
  std::set<std::pair<std::string, uint32_t>> enabling_;  // all hosts run it, the store is to hear
  // Of calls back of the store, which may outlive us.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_MANAGER_H
