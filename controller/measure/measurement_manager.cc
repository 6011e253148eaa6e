// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measurement_manager.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

MeasurementManager::Outcome Wrong(const std::string& text) {
  return {Status::Error(text), false, false};
}
MeasurementManager::Outcome Conflict(const std::string& text) {
  return {Status::Error(text), true, false};
}

// Of copies, too: who tags those only is told twice what he need not know.
bool TagsHeaders(const MeasureProgram& program) {
  return std::any_of(program.nodes.begin(), program.nodes.end(), [](const MeasureNode& node) {
    return node.kind == MeasureNodeKind::kTag &&
           (node.field == kIpv4Tos || node.field == kIpv4Id || node.field == kIpv4Checksum);
  });
}

}  // namespace

MeasurementManager::MeasurementManager(const MeasurementParts& parts)
    : parts_(parts),
      reader_(parts.base,
              [this](const std::string& host, const CellsRequest& request) {
                return parts_.hosts->SendProgram(host, request).status();
              }),
      asker_(parts.base,
             [this](const std::string& host, const CellsRequest& request) {
               return parts_.hosts->SendProgram(host, request).status();
             }),
      states_(this),
      later_event_(parts.base,
                   [this] {
                     for (const auto& action : std::exchange(later_, {})) action();
                   }),
      rounds_(parts.base) {
  parts_.hosts->ListenToPrograms(
      [this](const std::string& host, const Message* message) { OnMessage(host, message); });
  parts_.hosts->SetMeasuredSource(&states_);
}

MeasurementManager::~MeasurementManager() {
  parts_.hosts->SetMeasuredSource(nullptr);
  parts_.hosts->ListenToPrograms(nullptr);
}

void MeasurementManager::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

// --- what is stored ----------------------------------------------------------

void MeasurementManager::StandBy() {
  parts_.store->Stop();
  is_ready_ = is_loaded_ = false;
  live_.clear();
  enabling_.clear();
  rounds_.Abort("another controller acts now");
}

void MeasurementManager::OnEventsLoaded(const StoreIdentity&, std::vector<EventRecord> records) {
  std::map<std::string, Live> before;
  before.swap(live_);
  for (EventRecord& record : records) {
    const auto known = before.find(record.name);
    if (known != before.end()) live_[record.name] = std::move(known->second);
    Take(std::move(record));
  }
  is_loaded_ = true;
  early_counts_.clear();
  ForgetUnfinished();
  for (const auto& [name, live] : live_) {
    if (live.record.is_enabled) ReleaseTags(live);
  }
  SyncAll();
}

void MeasurementManager::OnEventsChanged(std::vector<EventChange> changes) {
  for (EventChange& change : changes) {
    if (change.put) {
      Take(std::move(*change.put));
    } else {
      live_.erase(change.name);
    }
  }
  SyncAll();
}

void MeasurementManager::OnStoreState(StoreState state, const std::string& text) {
  is_ready_ = state == StoreState::kReady;
  store_text_ = text;
  if (!is_loaded_) return;
  ForgetUnfinished();
  SyncAll();
}

void MeasurementManager::Take(EventRecord record) {
  Live& live = live_[record.name];
  if (live.record.id == record.id) {
    const bool is_new = !live.record.is_enabled && record.is_enabled;
    live.record = std::move(record);
    if (is_new) ReleaseTags(live);
    return;
  }
  live = Live();
  live.record = std::move(record);
  auto definition =
      ReadMeasurementDefinition(live.record.definition, live.record.name, /*is_stored=*/true);
  if (definition.ok()) {
    live.definition = std::move(*definition);
    auto program = CompileMeasurement(live.definition);
    if (program.ok()) live.program = std::move(*program);
    if (!program.ok()) live.problem = program.message();
  } else {
    live.problem = definition.message();
  }
  TakeEarlyCounts(&live);
  for (const auto& [host, programs] : running_) NoteRuns(&live, host);
  if (!live.problem.empty()) {
    parts_.log("err", "measurement " + live.record.name + ": " + live.problem);
  }
}

// A controller before us has ended in the middle of installing it.
void MeasurementManager::ForgetUnfinished() {
  if (!is_ready_) return;
  for (const auto& [name, live] : live_) {
    if (live.record.is_enabled || IsInstalling({name, live.record.id})) continue;
    EventChange change;
    change.name = name;
    change.expected_id = live.record.id;
    change.expected_enabled = false;
    Write(std::move(change), [](const Result<uint32_t>&) {});
  }
}

void MeasurementManager::Write(EventChange change, std::function<void(Result<uint32_t>)> done) {
  std::vector<EventChange> changes;
  changes.push_back(std::move(change));
  parts_.store->Write(std::move(changes),
                      [alive = std::weak_ptr<bool>(alive_),
                       done = std::move(done)](const Result<std::vector<uint32_t>>& ids) {
                        if (alive.expired()) return;
                        done(ids.ok() ? Result<uint32_t>(ids->front()) : ids.status());
                      });
}

// --- hosts -------------------------------------------------------------------

void MeasurementManager::OnMessage(const std::string& host, const Message* message) {
  if (message == nullptr) {
    running_.erase(host);
    early_counts_.erase(host);
    for (auto& [name, live] : live_) live.refusals.erase(host);
    reader_.OnHostGone(host);
    asker_.OnHostGone(host);
    rounds_.OnHostGone(host);
  } else if (const auto* list = std::get_if<ProgramList>(message)) {
    OnList(host, *list);
  } else if (const auto* ack = std::get_if<ProgramAck>(message)) {
    OnAck(host, *ack);
  } else if (const auto* answer = std::get_if<CellsAnswer>(message)) {
    reader_.OnAnswer(host, *answer);
    asker_.OnAnswer(host, *answer);
  } else if (const auto* counts = std::get_if<ProgramCounts>(message)) {
    OnCounts(host, *counts);
  }
}

void MeasurementManager::OnCounts(const std::string& host, const ProgramCounts& counts) {
  const auto found = live_.find(counts.program.name);
  if (found != live_.end() && found->second.record.id == counts.program.id) {
    Live& live = found->second;
    return live.copies.Take(host, counts, live.program.endpoints.size());
  }
  if (is_loaded_) return;  // it is being removed
  auto& early = early_counts_[host];
  if (early.size() < kMaxMeasurements) early[counts.program.id] = counts;
}

// Hosts may have told before the store has.
void MeasurementManager::TakeEarlyCounts(Live* live) {
  for (auto& [host, early] : early_counts_) {
    const auto counts = early.find(live->record.id);
    if (counts == early.end()) continue;
    live->copies.Take(host, counts->second, live->program.endpoints.size());
  }
}

void MeasurementManager::OnList(const std::string& host, const ProgramList& list) {
  auto& running = running_[host];
  running.clear();
  for (const ProgramName& program : list.programs) running.insert({program.name, program.id});
  for (auto& [name, live] : live_) {
    NoteRuns(&live, host);
    // It may have gone before it heard that all run it.
    if (live.record.is_enabled) ReleaseTags(live, host);
  }
  SyncHost(host);
}

void MeasurementManager::NoteRuns(Live* live, const std::string& host) const {
  const auto running = running_.find(host);
  if (running == running_.end()) return;
  if (running->second.count({live->record.name, live->record.id}) == 0) return;
  live->ran_on.insert(host);
}

void MeasurementManager::OnAck(const std::string& host, const ProgramAck& ack) {
  const std::pair<std::string, uint32_t> key(ack.program.name, ack.program.id);
  if (ack.is_on) {
    running_[host].insert(key);
  } else {
    running_[host].erase(key);
  }
  const auto found = live_.find(ack.program.name);
  if (found != live_.end() && found->second.record.id == ack.program.id) {
    if (ack.error.empty()) {
      found->second.refusals.erase(host);
    } else {
      found->second.refusals[host] = ack.error;
    }
    NoteRuns(&found->second, host);
  }
  rounds_.OnAck(host, ack);
}

bool MeasurementManager::IsFor(const Live& live, const std::string& host) const {
  const std::vector<std::string>& hosts = live.definition.hosts;
  if (hosts.empty() || std::binary_search(hosts.begin(), hosts.end(), host)) return true;
  const auto view = parts_.hosts->FindHost(host);
  return view && std::binary_search(hosts.begin(), hosts.end(), view->name);
}

bool MeasurementManager::IsInstalling(const ProgramName& program) const {
  return rounds_.IsTurningOn(program) || enabling_.count({program.name, program.id}) != 0;
}

void MeasurementManager::SyncAll() {
  std::vector<std::string> hosts;  // one that cannot be told goes at once
  for (const auto& [host, programs] : running_) hosts.push_back(host);
  for (const std::string& host : hosts) SyncHost(host);
}

// What it runs and should not is taken off first, which makes room for what it should run.
void MeasurementManager::SyncHost(const std::string& host) {
  if (!is_ready_ || !is_loaded_) return;
  const auto found = running_.find(host);
  if (found == running_.end()) return;
  const auto running = found->second;
  for (const auto& [name, id] : running) {
    const auto wanted = live_.find(name);
    const bool is_wanted = wanted != live_.end() && wanted->second.record.id == id &&
                           (wanted->second.record.is_enabled || IsInstalling({name, id}));
    if (!is_wanted) TurnOff(host, {name, id});
  }
  for (auto& [name, live] : live_) {
    const bool runs = running.count({name, live.record.id}) != 0;
    if (runs || !live.record.is_enabled || !live.problem.empty() || !IsFor(live, host)) continue;
    if (live.refusals.count(host) != 0) continue;
    if (PlaceAt(live.definition.places, NamedOf(host)).tells_of_copies() &&
        !parts_.hosts->TakesEndpoints(host)) {
      live.refusals[host] = "its agent is too old for endpoints of measurement programs";
      continue;
    }
    static_cast<void>(TurnOn(live, host));
  }
}

Status MeasurementManager::TurnOn(const Live& live, const std::string& host) {
  ProgramOn on{{live.record.name, live.record.id},
               live.definition.seed,
               live.program,
               PlaceAt(live.definition.places, NamedOf(host))};
  on.place.holds_tags = !live.record.is_enabled;
  return parts_.hosts->SendProgram(host, on).status();
}

// All run it now, so that what one switch tags another takes out.
void MeasurementManager::ReleaseTags(const Live& live) {
  std::vector<std::string> hosts;  // one that cannot be told goes at once
  for (const auto& [host, programs] : running_) hosts.push_back(host);
  for (const std::string& host : hosts) ReleaseTags(live, host);
}

void MeasurementManager::ReleaseTags(const Live& live, const std::string& host) {
  const auto running = running_.find(host);
  if (running == running_.end() || !TagsHeaders(live.program)) return;
  if (running->second.count({live.record.name, live.record.id}) == 0) return;
  static_cast<void>(TurnOn(live, host));
}

NamedHost MeasurementManager::NamedOf(const std::string& host) const {
  const auto view = parts_.hosts->FindHost(host);
  return view ? NamedHost{view->id, view->name} : NamedHost{host, host};
}

// A host that is away hears of it when it comes back.
void MeasurementManager::TurnOff(const std::string& host, const ProgramName& program) {
  static_cast<void>(parts_.hosts->SendProgram(host, ProgramOff{program}));
}

// --- what users ask for ------------------------------------------------------

Result<std::vector<std::string>> MeasurementManager::ChooseHosts(
    const MeasurementDefinition& definition) const {
  std::vector<std::string> chosen;
  for (const std::string& name : definition.hosts) {
    const auto host = parts_.hosts->FindHost(name);
    if (!host || running_.count(host->id) == 0) {
      return Status::Error("host " + name + " is not connected, or takes no measurement programs");
    }
    chosen.push_back(host->id);
  }
  if (!definition.hosts.empty()) return chosen;
  for (const auto& [host, programs] : running_) chosen.push_back(host);
  if (chosen.empty()) return Status::Error("no host that takes measurement programs is connected");
  return chosen;
}

// A name that nobody has is one that was misspelt.
Status MeasurementManager::CheckPlaces(const MeasurementDefinition& definition) const {
  for (const std::string& host : HostsNamed(definition.places)) {
    if (parts_.hosts->FindHost(host)) continue;
    return Status::Error("edges and switches: no host " + host.substr(0, 64) + " is known");
  }
  return Status::Ok();
}

MeasurementManager::Outcome MeasurementManager::CheckPut(
    const MeasurementDefinition& definition) const {
  if (!is_ready_) return Conflict("measurements cannot be changed now: " + store_text_);
  const auto known = live_.find(definition.name);
  if (known == live_.end()) {
    if (live_.size() < kMaxMeasurements) return {};
    return Conflict(std::to_string(kMaxMeasurements) +
                    " measurements are installed; that is the most");
  }
  if (!known->second.record.is_enabled) {
    return Conflict("the measurement is being installed or removed");
  }
  if (known->second.definition.IsSameAs(definition)) return {};
  return Conflict("measurement '" + definition.name +
                  "' is another one; remove it first (what it holds is lost then)");
}

void MeasurementManager::Put(MeasurementDefinition definition, const Caller& caller, Done done) {
  const auto answer = [&](const Outcome& outcome) {
    Later([done = std::move(done), outcome] { done(outcome); });
  };
  const auto program = CompileMeasurement(definition);
  if (!program.ok()) return answer(Wrong(program.message()));
  const Outcome checked = CheckPut(definition);
  if (!checked.status.ok() || live_.count(definition.name) != 0) return answer(checked);
  auto hosts = ChooseHosts(definition);
  if (!hosts.ok()) return answer(Conflict(hosts.message()));
  const Status placed = CheckPlaces(definition);
  if (!placed.ok()) return answer(Conflict(placed.message()));
  const bool reads_number = ReadsMeasureField(*program, kSwitchId);
  if (reads_number || !definition.places.endpoints.empty()) {  // copies name their switch, too
    std::vector<NamedHost> named;
    for (const std::string& host : *hosts) named.push_back(NamedOf(host));
    const Status numbered = NumberHosts(named, &definition.places);
    if (!numbered.ok() && reads_number) return answer(Conflict(numbered.message()));
  }
  definition.seed = parts_.draw_seed() >> 1 | 1;  // JSON's numbers and OVSDB's have a sign
  EventChange change;
  change.name = definition.name;
  change.expected_id = 0;
  EventRecord& record = change.put.emplace();
  record.name = definition.name;
  record.definition = PrintMeasurementDefinition(definition);
  record.is_enabled = false;
  record.created_ns = record.changed_ns = parts_.clock->UnixNow();
  record.changed_by = caller.name;
  // Whoever reads the store now must know that it is under way.
  Write(std::move(change), [this, name = definition.name, hosts = std::move(*hosts),
                            done = std::move(done)](const Result<uint32_t>& id) {
    if (!id.ok()) return done(Conflict(id.message()));
    Install({name, *id}, hosts, done);
  });
}

void MeasurementManager::Install(const ProgramName& program, const std::vector<std::string>& hosts,
                                 Done done) {
  const auto live = live_.find(program.name);
  if (live == live_.end() || live->second.record.id != program.id) {
    return done(Conflict("the measurement was removed meanwhile"));
  }
  rounds_.Begin(program, /*is_on=*/true, {hosts.begin(), hosts.end()},
                [this, program, hosts, done = std::move(done)](const std::string& error) {
                  FinishInstall(program, hosts, error, done);
                });
  for (const std::string& host : hosts) {
    const Status sent = TurnOn(live->second, host);
    if (!sent.ok()) rounds_.OnAck(host, {program, false, sent.message()});
  }
}

void MeasurementManager::FinishInstall(const ProgramName& program,
                                       const std::vector<std::string>& hosts,
                                       const std::string& error, const Done& done) {
  EventChange change;
  change.name = program.name;
  change.expected_id = program.id;
  change.expected_enabled = false;
  const auto live = live_.find(program.name);
  const bool is_there = live != live_.end() && live->second.record.id == program.id;
  if (error.empty() && is_there) {
    change.put = live->second.record;
    change.put->is_enabled = true;
    enabling_.insert({program.name, program.id});
    return Write(std::move(change), [this, program, done](const Result<uint32_t>& id) {
      enabling_.erase({program.name, program.id});
      done(id.ok() ? Outcome{Status::Ok(), false, true} : Conflict(id.message()));
    });
  }
  for (const std::string& host : hosts) TurnOff(host, program);
  const std::string why = error.empty() ? "it was removed meanwhile" : error;
  Write(std::move(change), [done, why](const Result<uint32_t>&) {
    done(Conflict("the measurement is installed nowhere: " + why));
  });
}

void MeasurementManager::Remove(const std::string& name, Done done) {
  const auto live = live_.find(name);
  if (live == live_.end() || !is_ready_) {
    const std::string why = is_ready_ ? "there is no measurement named '" + name + "'"
                                      : "measurements cannot be changed now: " + store_text_;
    return Later([done = std::move(done), why] { done(Conflict(why)); });
  }
  const std::vector<std::string> readers = parts_.hosts->ReadersOf(name);
  if (!readers.empty()) {
    return Later([done = std::move(done), name, reader = readers[0]] {
      done(Conflict("event '" + reader + "' reads measurement '" + name +
                    "'; remove the event first"));
    });
  }
  EventChange change;
  change.name = name;
  change.expected_id = live->second.record.id;
  const ProgramName program{name, live->second.record.id};
  Write(std::move(change), [this, program, done = std::move(done)](const Result<uint32_t>& id) {
    if (!id.ok()) return done(Conflict(id.message()));
    std::set<std::string> waiting;
    for (const auto& [host, programs] : running_) {
      if (programs.count({program.name, program.id}) != 0) waiting.insert(host);
    }
    rounds_.Begin(program, /*is_on=*/false, waiting, [done](const std::string& error) {
      done(error.empty() ? Outcome() : Conflict(error + "; it is removed there later"));
    });
  });
}

}  // namespace trumpet
