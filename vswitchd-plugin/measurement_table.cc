// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_table.h"

#include <algorithm>
#include <utility>

#include "lib/base/hash.h"
#include "lib/lang/event/diagnostic.h"
#include "vswitchd-plugin/monitor_memory.h"
#include "vswitchd-plugin/settings.h"
#include "vswitchd-plugin/wall_clock.h"

namespace trumpet {
namespace {

using event_lang::Quote;

constexpr size_t kMaxNameBytes = 64;
constexpr PageSource::Options kTouched = {/*touches=*/true, /*takes_reserved=*/false};
// The clock is looked at so often; copies and epochs that flip want more.
constexpr Nanos kQuietSpacing = kNanosPerSecond;
constexpr Nanos kBusySpacing = 10 * kNanosPerMilli;

uint64_t Rest(uint64_t all, uint64_t used) { return all > used ? all - used : 0; }

CostCertificate Sum(const CostCertificate& a, const CostCertificate& b) {
  return {a.operators + b.operators, a.hashes + b.hashes, a.cache_lines + b.cache_lines,
          a.bytes + b.bytes};
}

Status NoMemory(const CompiledProgram& program, size_t threads) {
  return Status::Error("the machine has no " +
                       std::to_string((program.cost.bytes * threads >> 20) + 1) +
                       " MiB left, which the program takes");
}

bool IsBusy(const CompiledProgram& program) {
  const auto flips = [](const WindowPlan& window) { return window.flips; };
  return program.collects || std::any_of(program.windows.begin(), program.windows.end(), flips);
}

bool IsAsked(const CompiledProgram& program) {
  return program.entries[kCtrlStream] != CompiledProgram::kNoCode;
}

bool IsEdge(const MeasurementPlace& place, const PortInfo& port,
            const std::vector<std::string>& uplinks) {
  if (!place.edges.has_value()) return !IsUplink(port, uplinks) && !IsTunnel(port);
  return std::any_of(place.edges->begin(), place.edges->end(), [&port](const std::string& pattern) {
    return MatchesPattern(pattern, port.name);
  });
}

// Marks those among `ports` where the network ends for the program.
void SetEdges(const std::vector<PortInfo>& ports, const std::vector<std::string>& uplinks,
              Measurement* measurement) {
  std::vector<uint32_t> numbers;
  for (const PortInfo& port : ports) {
    if (IsEdge(measurement->place, port, uplinks)) numbers.push_back(port.number);
  }
  for (const uint32_t number : numbers) measurement->edges.Set(number, true);
  for (const uint32_t number : measurement->edge_numbers) {
    const bool stays = std::find(numbers.begin(), numbers.end(), number) != numbers.end();
    if (!stays) measurement->edges.Set(number, false);
  }
  measurement->edge_numbers = std::move(numbers);
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

std::string MeasurementNameProblem(const std::string& name) {
  const bool is_word = std::all_of(name.begin(), name.end(), IsNameByte);
  if (is_word && !name.empty() && name.size() <= kMaxNameBytes && name[0] != '-' &&
      name[0] != '.' && name != "json") {
    return "";
  }
  return "the name of a program is " + Quote(name) +
         "; it takes at most 64 letters, digits, '_', '-' and '.', does not begin with '-' or '.', "
         "and is not json";
}

PacketValues FieldsOf(const CollectedPacket& packet) {
  PacketValues values;
  size_t at = 0;
  for (uint64_t left = packet.present; left != 0; left &= left - 1) {
    values.Set(static_cast<MeasureFieldId>(__builtin_ctzll(left)), packet.values[at++]);
  }
  return values;
}

MeasurementTable::MeasurementTable(const Host* host, const PortTable* ports,
                                   const CarrierPorts* carriers, uint64_t seed,
                                   std::function<void()> on_change)
    : host_(host),
      ports_(ports),
      carriers_(carriers),
      seed_(seed),
      on_change_(std::move(on_change)) {}

void MeasurementTable::AddThread(ThreadMonitor* thread) {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool has_all = true;
  for (const auto& measurement : measurements_) {
    has_all &= GiveState(thread, thread->numa_id(), measurement.get());
  }
  if (!has_all) {
    ++without_memory_;
    host_->Warn("a packet thread came, and there is no memory for its measurement programs");
  }
  threads_.push_back({thread, ProgramsOf(measurements_, thread)});
  thread->WantQueueLength(
      std::any_of(measurements_.begin(), measurements_.end(),
                  [](const auto& measurement) { return measurement->way.wants_queue_length; }));
  thread->WantSent(WantsSent(*thread));
  thread->ShowPrograms(threads_.back().programs.get());
}

// Requests come by packet-out, which PMD threads have no part in.
bool MeasurementTable::WantsSent(const ThreadMonitor& thread) const {
  return is_any_sent_ || (is_any_asked_ && !thread.is_pmd());
}

void MeasurementTable::RemoveThread(ThreadMonitor* thread) {
  const std::lock_guard<std::mutex> lock(mutex_);
  thread->ShowPrograms(nullptr);
  for (auto it = threads_.begin(); it != threads_.end(); ++it) {
    if (it->monitor != thread) continue;
    threads_.erase(it);
    break;
  }
  for (const auto& measurement : measurements_) {
    for (auto& replica : measurement->replicas) {
      if (replica.thread == thread) replica.thread = nullptr;
    }
  }
}

// Only what the thread is known by is taken of it, so it may go meanwhile.  False: there is no
// memory.
bool MeasurementTable::GiveState(const ThreadMonitor* thread, int numa_id,
                                 Measurement* measurement) {
  auto& replicas = measurement->replicas;
  const auto free = std::find_if(replicas.begin(), replicas.end(),
                                 [](const auto& replica) { return replica.thread == nullptr; });
  if (free != replicas.end()) {
    free->thread = thread;
    return true;
  }
  const MemoryPreference node(numa_id);
  PageSource source(kTouched);
  ProgramState::Options options;
  options.source = &source;
  options.random_seed = MixBits(seed_ + ++made_states_);
  options.most_back_ns = WallClock::kLargestSlew;
  auto state = ProgramState::Create(measurement->program.get(), &measurement->shared, options);
  if (state == nullptr) return false;
  replicas.emplace_back();
  replicas.back().state = std::move(state);
  replicas.back().thread = thread;
  return true;
}

// To all threads as they are now; some may have come or gone since the program got its states.
bool MeasurementTable::GiveStates(Measurement* measurement) {
  std::vector<const ThreadMonitor*> without;
  for (const Thread& thread : threads_) without.push_back(thread.monitor);
  for (auto& replica : measurement->replicas) {
    const auto owner = std::find(without.begin(), without.end(), replica.thread);
    if (owner != without.end()) {
      without.erase(owner);
    } else {
      replica.thread = nullptr;
    }
  }
  return std::all_of(without.begin(), without.end(), [&](const ThreadMonitor* thread) {
    return GiveState(thread, thread->numa_id(), measurement);
  });
}

std::unique_ptr<ThreadPrograms> MeasurementTable::ProgramsOf(const Measurements& measurements,
                                                             const ThreadMonitor* thread) const {
  std::vector<PlacedProgram> programs;
  for (const auto& measurement : measurements) {
    for (const auto& replica : measurement->replicas) {
      if (replica.thread != thread) continue;
      programs.push_back({replica.state.get(), &measurement->edges, &measurement->holds_tags,
                          replica.untagged.get(), measurement->way});
    }
  }
  if (programs.empty() && endings_.empty()) return nullptr;
  std::vector<std::shared_ptr<const TagsLeft>> left;
  for (const Ending& ending : endings_) left.push_back(ending.tags);
  return std::make_unique<ThreadPrograms>(programs, std::move(left), parse_);
}

// --- changes -----------------------------------------------------------------

Status MeasurementTable::CheckRoom(const std::string& name) const {
  const std::string problem = MeasurementNameProblem(name);
  if (!problem.empty()) return Status::Error(problem);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (FindLocked(name) != nullptr) {
    return Status::Error("a program " + Quote(name) + " is installed already");
  }
  if (measurements_.size() == kMaxMeasurements) {
    return Status::Error(std::to_string(kMaxMeasurements) +
                         " programs are installed; that is the most");
  }
  return Status::Ok();
}

Status MeasurementTable::Load(const MeasureProgram& program, Measurement* measurement) const {
  MeasureLoadOptions options;
  options.seed = measurement->origin.is_controller() ? measurement->origin.seed : seed_;
  options.thread_count = kManyThreads;
  bool is_first = true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    options.budget = {Rest(budget_.operators, used_.operators), Rest(budget_.hashes, used_.hashes),
                      Rest(budget_.cache_lines, used_.cache_lines),
                      Rest(budget_.bytes, used_.bytes)};
    is_first = measurements_.empty();
  }
  auto loaded = LoadMeasureProgram(program, options);
  if (!loaded.ok() && is_first) return loaded.status();
  if (!loaded.ok()) {
    return Status::Error(loaded.message() + ", beside the programs that are installed");
  }
  const bool has_carriers = carriers_ != nullptr && carriers_->has_any_named();
  const Result<MeasurementWay> way = PlanMeasurement(**loaded, measurement->place, has_carriers);
  if (!way.ok()) return way.status();
  measurement->way = *way;
  measurement->program = std::move(*loaded);
  return Status::Ok();
}

// Tags of two programs would overwrite each other.
Status MeasurementTable::CheckTags(const Measurement& measurement) const {
  if (!measurement.way.carriage.has_any()) return Status::Ok();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& other : measurements_) {
    if (!other->way.carriage.has_any()) continue;
    return Status::Error("the program " + Quote(other->name) +
                         " tags forwarded packets already; they carry tags of one program");
  }
  return Status::Ok();
}

Result<std::shared_ptr<Measurement>> MeasurementTable::Make(const std::string& name,
                                                            const MeasureProgram& program,
                                                            const MeasurementPlace& place,
                                                            const MeasurementOrigin& origin) {
  auto measurement = std::make_shared<Measurement>();
  measurement->name = name;
  measurement->place = place;
  measurement->holds_tags.store(place.holds_tags);
  measurement->origin = origin;
  if (Status status = Load(program, measurement.get()); !status.ok()) return status;
  if (Status status = CheckTags(*measurement); !status.ok()) return status;
  auto sender = CopySender::Open(name, *measurement->program, place);
  if (!sender.ok()) return sender.status();
  measurement->sender = std::move(*sender);
  std::vector<std::pair<const ThreadMonitor*, int>> threads;  // with where they run
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Thread& each : threads_) {
      threads.emplace_back(each.monitor, each.monitor->numa_id());
    }
  }
  const uint64_t bytes = measurement->program->cost.bytes * threads.size();
  PageSource source(kTouched);
  bool has_memory =
      CheckMachineHas(bytes).ok() && measurement->shared.Init(*measurement->program, &source);
  for (const auto& [thread, numa_id] : threads) {
    has_memory = has_memory && GiveState(thread, numa_id, measurement.get());
  }
  if (!has_memory) return NoMemory(*measurement->program, threads.size());
  return measurement;
}

Status MeasurementTable::Add(const std::string& name, const MeasureProgram& program, Nanos now,
                             const MeasurementPlace& place, const MeasurementOrigin& origin) {
  {
    const std::lock_guard<std::mutex> change(change_mutex_);
    Status status = CheckRoom(name);
    auto made = status.ok() ? Make(name, program, place, origin)
                            : Result<std::shared_ptr<Measurement>>(status);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (made.ok() && !GiveStates(made->get())) {
      made = NoMemory(*(*made)->program, threads_.size());
    }
    if (!made.ok()) {
      ++refused_;
      return made.status();
    }
    (*made)->since = now;
    SetEdges(ports_->List(), uplinks_, made->get());
    Measurements next = measurements_;
    next.push_back(std::move(*made));
    Publish(std::move(next));
  }
  on_change_();
  return Status::Ok();
}

Status MeasurementTable::Remove(const std::string& name, uint32_t origin_id) {
  {
    const std::lock_guard<std::mutex> change(change_mutex_);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto gone = FindLocked(name);
    if (gone == nullptr) return Status::Error("no program " + Quote(name) + " is installed");
    if (gone->origin.id != origin_id) {
      return Status::Error("program " + Quote(name) +
                           (gone->origin.is_controller()
                                ? " is the controller's; it is removed there"
                                : " was installed at this switch; it is removed there"));
    }
    Measurements next = measurements_;
    next.erase(std::find(next.begin(), next.end(), gone));
    KeepTagsLeft(*gone);
    Publish(std::move(next));
  }
  on_change_();
  return Status::Ok();
}

void MeasurementTable::ReleaseTags(const std::string& name, uint32_t origin_id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto measurement = FindLocked(name);
  if (measurement == nullptr || measurement->origin.id != origin_id) return;
  measurement->holds_tags.store(false);
}

void MeasurementTable::KeepTagsLeft(const Measurement& measurement) {
  if (!measurement.way.carriage.has_header()) return;
  if (endings_.size() == kMostEndings) endings_.erase(endings_.begin());
  const auto left = std::make_shared<TagsLeft>();
  left->carriage = measurement.way.carriage;
  for (const uint32_t number : measurement.edge_numbers) left->edges.Set(number, true);
  endings_.push_back({left, 0});
}

void MeasurementTable::EndTagsLeft(Nanos now) {
  for (Ending& ending : endings_) {
    if (ending.until == 0) ending.until = now + kTagsLeft;
  }
  const auto end = std::find_if(endings_.begin(), endings_.end(),
                                [now](const Ending& ending) { return ending.until > now; });
  if (end == endings_.begin()) return;
  endings_.erase(endings_.begin(), end);
  is_stale_ = true;
}

void MeasurementTable::SetBudget(const MeasureBudget& budget) {
  const std::lock_guard<std::mutex> lock(mutex_);
  budget_ = budget;
}

// All that takes memory comes first: either every thread changes over, or none does.
void MeasurementTable::Publish(Measurements next) {
  std::vector<ThreadMonitor*> monitors;
  std::vector<std::unique_ptr<ThreadPrograms>> programs;
  for (const Thread& thread : threads_) {
    monitors.push_back(thread.monitor);
    programs.push_back(ProgramsOf(next, thread.monitor));
  }
  retired_programs_.reserve(retired_programs_.size() + threads_.size());
  for (const auto& measurement : measurements_) {
    if (std::find(next.begin(), next.end(), measurement) == next.end()) {
      retired_.push_back(measurement);
    }
  }
  measurements_ = std::move(next);
  used_ = {};
  Nanos spacing = measurements_.empty() && endings_.empty() ? 0 : kQuietSpacing;
  bool is_any_sent = !endings_.empty();
  bool is_any_asked = false;
  bool wants_queue_length = false;
  for (const auto& measurement : measurements_) {
    used_ = Sum(used_, measurement->program->cost);
    if (IsBusy(*measurement->program)) spacing = kBusySpacing;
    is_any_sent = is_any_sent || measurement->way.is_sent;
    is_any_asked = is_any_asked || IsAsked(*measurement->program);
    wants_queue_length = wants_queue_length || measurement->way.wants_queue_length;
  }
  is_any_sent_ = is_any_sent;
  is_any_asked_ = is_any_asked;
  host_->ops().set_tx_wanted(is_any_sent || is_any_asked);
  for (size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    thread.monitor->ShowPrograms(programs[i].get());
    thread.programs.swap(programs[i]);
    thread.monitor->WantQueueLength(wants_queue_length);
    thread.monitor->WantSent(WantsSent(*thread.monitor));
    if (programs[i] != nullptr) retired_programs_.push_back(std::move(programs[i]));
  }
  spacing_.store(spacing);
  is_stale_ = false;
  if (!WaitUntilLeft(monitors)) return;
  retired_programs_.clear();
  retired_.clear();
}

void MeasurementTable::SetUplinks(const std::vector<std::string>& patterns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (uplinks_ == patterns) return;
  uplinks_ = patterns;
  ports_version_ = kNoPorts;
}

void MeasurementTable::SetTunnelPorts(const ParseOptions& parse) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (parse_.vxlan_ports == parse.vxlan_ports && parse_.geneve_ports == parse.geneve_ports) return;
  parse_ = parse;
  is_stale_ = true;
}

// --- what they have measured -------------------------------------------------

void MeasurementTable::Follow(Nanos now) {
  if (!is_any_on()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  FollowPorts();
  EndTagsLeft(now);
  if (is_stale_) Publish(measurements_);
  for (const auto& measurement : measurements_) {
    if (IsBusy(*measurement->program)) TakeCollected(now, measurement.get());
  }
}

// A port may come again with another number.
void MeasurementTable::FollowPorts() {
  const uint64_t version = ports_->version();
  if (version == ports_version_) return;
  const std::vector<PortInfo> ports = ports_->List();
  for (const auto& measurement : measurements_) SetEdges(ports, uplinks_, measurement.get());
  ports_version_ = version;
}

std::shared_ptr<Measurement> MeasurementTable::FindLocked(const std::string& name) const {
  for (const auto& measurement : measurements_) {
    if (measurement->name == name) return measurement;
  }
  return nullptr;
}

Result<MeasurementStatus> MeasurementTable::Show(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto measurement = FindLocked(name);
  if (measurement == nullptr) return Status::Error("no program " + Quote(name) + " is installed");
  return StatusOf(measurement);
}

Result<MeasurementView> MeasurementTable::Find(const std::string& name) const {
  Result<MeasurementStatus> status = Show(name);
  if (!status.ok()) return status.status();
  if (status->view.states.empty()) return Status::Error("the switch has no packet thread yet");
  return std::move(status->view);
}

MeasurementStatus MeasurementTable::StatusOf(
    const std::shared_ptr<Measurement>& measurement) const {
  MeasurementStatus status;
  if (carriers_ != nullptr) status.carriers = carriers_->counters();
  status.view.measurement = measurement;
  status.edge_numbers = measurement->edge_numbers;
  status.copies.assign(measurement->copies.begin(), measurement->copies.end());
  if (measurement->sender != nullptr) status.targets = measurement->sender->Targets();
  status.unbound = measurement->unbound;
  status.collected = measurement->answered;
  for (const auto& replica : measurement->replicas) {
    const ProgramState::Counters& counters = replica.state->counters();
    status.view.states.push_back(replica.state.get());
    status.untagged += replica.untagged->load(std::memory_order_relaxed);
    status.threads += replica.thread != nullptr ? 1 : 0;
    status.collected += counters.collected.load(std::memory_order_relaxed);
    status.lost += counters.lost.load(std::memory_order_relaxed);
    status.evictions += counters.evictions.load(std::memory_order_relaxed);
    status.late_flips += counters.late_flips.load(std::memory_order_relaxed);
  }
  return status;
}

MeasurementTableStatus MeasurementTable::Snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  MeasurementTableStatus status;
  status.budget = budget_;
  status.used = used_;
  status.refused = refused_;
  status.without_memory = without_memory_;
  status.requests = requests_;
  status.refused_requests = refused_requests_;
  for (const auto& measurement : measurements_) status.programs.push_back(StatusOf(measurement));
  return status;
}

}  // namespace trumpet
