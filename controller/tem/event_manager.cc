// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/event_manager.h"

#include <utility>

#include "controller/plan/cost.h"
#include "controller/plan/filter_scope.h"
#include "controller/tem/event_manager_impl.h"
#include "lib/lang/event/event_language.h"
#include "lib/packet/prefix.h"

namespace trumpet {
namespace {

std::string Listed(const std::vector<Prefix>& prefixes) {
  constexpr size_t kMost = 8;
  std::string list;
  for (size_t i = 0; i < prefixes.size() && i < kMost; ++i) {
    list += (i == 0 ? "" : ", ") + PrintPrefix(prefixes[i]);
  }
  return prefixes.size() > kMost ? list + ", ..." : list;
}

constexpr char kControllerMode[] = "controller";
constexpr char kReadsItself[] = "the controller reads the values and decides by itself";

const char* ModeName(TriggerMode mode) {
  switch (mode) {
    case TriggerMode::kHost:
      return "host";
    case TriggerMode::kThreshold:
      return "threshold";
    default:
      return "partials";
  }
}

}  // namespace

// --- reading, and changes ----------------------------------------------------------------------

// "is not ...", or nothing.
std::string EventManager::Impl::WhyNotFor(const EventSpec& spec, const Caller& caller) const {
  const bool is_measured = !MeasuredStatesOf(spec.predicate).empty();
  if (is_measured && !caller.tenant.empty()) {
    return "is not for tenants: measurements see the packets of all";
  }
  if (caller.prefixes.empty() || IsConfinedTo(spec.filter, caller.prefixes)) return "";
  return "is not confined to the addresses of '" + caller.name + "' (" + Listed(caller.prefixes) +
         "): its filter must hold of nothing else, as dstIP=" + PrintPrefix(caller.prefixes[0]) +
         " does";
}

Result<std::vector<EventSpec>> EventManager::Impl::Read(const std::string& document,
                                                        DocumentFormat format,
                                                        const std::string& source_name,
                                                        const Caller& caller) const {
  const MeasuredCheck check = CheckOfMeasured();
  auto specs = format == DocumentFormat::kJson ? ParseEventsJson(document, source_name, check)
                                               : ParseEventsYaml(document, source_name, check);
  if (!specs.ok()) return specs;
  std::string errors;
  for (const EventSpec& spec : *specs) {
    const std::string why = WhyNotFor(spec, caller);
    if (why.empty()) continue;
    errors += (errors.empty() ? "" : "\n") + source_name + ": event '" + spec.name + "' " + why;
  }
  if (!errors.empty()) return Status::Error(errors);
  return specs;
}

EventCheck EventManager::Impl::MakeCheck(EventSpec spec, const Caller& caller) const {
  EventCheck check;
  check.line = PrintEventLine(spec);
  check.json = PrintEventJson(spec);
  check.exists = events_.Find(spec.name, caller) != nullptr;
  for (const MeasuredState& state : MeasuredStatesOf(spec.predicate)) {
    check.reads.push_back(MeasuredStateText(state));
  }
  if (!check.reads.empty()) {
    check.mode = kControllerMode;
    check.why_not_threshold = kReadsItself;
    check.spec = std::move(spec);
    return check;
  }
  const Positions positions = PositionsOf(spec);
  for (const auto& [id, host] : hosts_.all()) {
    if (IsPlaced(positions, *host)) check.hosts.push_back(id);
  }
  const TriggerPlan plan = MakeTriggerPlan(spec);
  const ThresholdSplit split = SplitThreshold(plan);
  const bool is_of_host = spec.scope == Scope::kHost;
  if (is_of_host) {
    check.why_not_threshold = "each host decides by itself";
  } else if (!split.is_sound()) {
    check.why_not_threshold = split.why_not;
  } else if (!MaySplit(check.hosts.size())) {
    check.why_not_threshold = WhyNotSplit(check.hosts.size());
  }
  check.mode = is_of_host ? "host" : check.why_not_threshold.empty() ? "threshold" : "partials";
  const EventCost cost = EstimateCost(plan);
  check.words_per_bucket = cost.words_per_bucket;
  check.bytes_per_interval = is_of_host ? 0 : cost.bytes_per_interval;
  check.ns_per_packet = cost.ns_per_packet;
  if (check.hosts.empty()) {
    check.warnings.push_back("no host is known that could see such packets");
  }
  check.spec = std::move(spec);
  return check;
}

void EventManager::Impl::Write(Result<std::vector<EventChange>> changes,
                               std::vector<std::string> names, Changed done) {
  std::vector<EventChange> list;
  if (changes.ok()) list = std::move(*changes);
  // Even what needs no change, or cannot be, is answered from the loop.
  const Status refused = changes.ok() ? Status::Ok() : changes.status();
  if (!refused.ok() || list.empty()) {
    answers_.push_back([this, refused, names = std::move(names), done = std::move(done)] {
      if (refused.ok()) {
        done(RecordsOf(names));
      } else {
        done(refused);
      }
    });
    answer_.RunSoon();
    return;
  }
  const EventBook::Additions additions = events_.BeginAdding(list);
  parts_.store->Write(std::move(list),
                      [this, additions, names = std::move(names),
                       done = std::move(done)](const Result<std::vector<uint32_t>>& ids) {
                        events_.EndAdding(additions);
                        if (ids.ok()) {
                          done(RecordsOf(names));
                        } else {
                          done(ids.status());
                        }
                      });
}

void EventManager::Impl::Answer() {
  std::vector<std::function<void()>> answers;
  answers.swap(answers_);
  for (const auto& answer : answers) answer();
}

// As they are now; those that have gone have id 0.
std::vector<EventRecord> EventManager::Impl::RecordsOf(
    const std::vector<std::string>& names) const {
  std::vector<EventRecord> records;
  for (const std::string& name : names) {
    if (const LiveEvent* event = events_.Find(name)) {
      records.push_back(event->record);
    } else {
      records.emplace_back();
      records.back().name = name;
    }
  }
  return records;
}

// --- views -------------------------------------------------------------------------------------

EventView EventManager::Impl::MakeView(const LiveEvent& event) const {
  EventView view;
  view.record = event.record;
  view.problem = event.problem;
  view.line = event.line;
  if (event.plan != nullptr) view.spec = event.spec();
  for (const MeasuredState& state : MeasuredStatesOf(view.spec.predicate)) {
    view.reads.push_back(MeasuredStateText(state));
  }
  if (!event.is_running) return view;
  view.mode = event.is_measured ? kControllerMode : ModeName(event.mode);
  view.why_not_threshold = event.why_not_threshold;
  view.changed_ns = event.changed_ns;
  view.last_report_ns = event.last_report_ns;
  if (event.is_measured) {
    view.problem = measured_.ProblemOf(event.spec());
    const MeasuredEvent* const measured = measured_.Find(event.record.id);
    if (measured != nullptr) view.counters = measured->counters();
    return view;
  }
  const auto tally = tallies_.find(event.record.id);
  if (!event.is_placed) {  // what is counted is of its life before
    view.wanted = static_cast<uint32_t>(CountHosts(event.hosts));
  } else if (tally != tallies_.end()) {
    view.wanted = tally->second.wanted;
    view.applied = tally->second.applied;
    view.last_applied_ns = tally->second.last_applied_ns;
  }
  if (const NetworkEvent* verdicts = desk_.verdicts().Find(event.record.id)) {
    view.counters = verdicts->counters();
    if (verdicts->reports_all()) {
      view.why_not_threshold = "it came to more hosts than pay for that; each tells everything";
    }
  } else {
    view.counters = event.host_counters;
  }
  return view;
}

HostView EventManager::Impl::MakeHostView(const ManagedHost& host) const {
  HostView view;
  view.id = host.id;
  view.name = host.name;
  view.is_connected = host.session != nullptr;
  view.is_in_topology = host.is_in_file;
  view.address = host.address;
  view.software = host.software;
  view.connected_since_ns = host.connected_since_ns;
  view.last_seen_ns = host.last_seen_ns;
  view.sessions = host.sessions;
  view.last_error = host.last_error.empty() ? host.sync.last_error() : host.last_error;
  view.epoch_ns = host.epoch_ns;
  view.set_generation = host.sync.generation();
  view.events_wanted = host.sync.wanted_count();
  view.events_applied = host.sync.applied_count();
  view.ended_until_ns = host.ended_until_ns;
  view.is_monitor_off = host.is_monitor_off;
  view.counters = host.past;
  view.facts = host.facts;
  view.port_count = host.facts.ports.size();
  view.prefixes = host.prefixes;
  if (host.session != nullptr) {
    const Session& session = *host.session;
    const Nanos monotonic = parts_.clock->MonotonicNow();
    view.last_seen_ns = Now() - (monotonic - session.last_heard_at());
    view.queued_bytes = session.queued_bytes();
    view.counters.Add(session.counters());
    if (session.clock_estimate().has_estimate()) {
      view.clock_offset_ns = session.clock_estimate().OffsetAt(monotonic);
      view.skew_bound_ns = session.clock_estimate().BoundAt(monotonic);
      view.rtt_ns = session.clock_estimate().last_rtt();
    }
  }
  return view;
}

EventOnHost EventManager::Impl::MakeEventOnHost(const ManagedHost& host, uint32_t event_id) const {
  EventOnHost on_host;
  on_host.host = host.id;
  TriggerSync::View view;
  if (!host.sync.Find(event_id, &view)) return on_host;
  on_host.applied_ns = view.applied_ns;
  on_host.acknowledged_ns = view.acknowledged_ns;
  on_host.error = view.error;
  switch (view.state) {
    case SyncState::kWaiting:
      on_host.state = HostApplication::kWaiting;
      break;
    case SyncState::kSent:
      on_host.state = HostApplication::kSent;
      break;
    case SyncState::kApplied:
      on_host.state = HostApplication::kApplied;
      break;
    case SyncState::kRefused:
      on_host.state = HostApplication::kRefused;
      break;
  }
  const bool is_on_its_way =
      on_host.state == HostApplication::kWaiting || on_host.state == HostApplication::kSent;
  if (host.session == nullptr && is_on_its_way) on_host.state = HostApplication::kUnreachable;
  return on_host;
}

// --- the facade --------------------------------------------------------------------------------

EventManager::EventManager(const EventManagerParts& parts, const EventManagerOptions& options)
    : impl_(std::make_unique<Impl>(parts, options)) {}

EventManager::~EventManager() = default;

Result<uint16_t> EventManager::Listen(const Address& address, TlsContext* tls) {
  return impl_->Listen(address, tls);
}

void EventManager::SetTopology(Topology topology) { impl_->SetTopology(std::move(topology)); }
void EventManager::Start() { impl_->Start(); }
void EventManager::Stop() { impl_->Stop(); }
void EventManager::Tick() { impl_->Tick(); }

Result<std::vector<EventCheck>> EventManager::Check(const std::string& document,
                                                    DocumentFormat format,
                                                    const std::string& source_name,
                                                    const Caller& caller) const {
  auto specs = impl_->Read(document, format, source_name, caller);
  if (!specs.ok()) return specs.status();
  std::vector<EventCheck> checks;
  for (EventSpec& spec : *specs) checks.push_back(impl_->MakeCheck(std::move(spec), caller));
  return checks;
}

void EventManager::Put(const std::string& document, DocumentFormat format,
                       const std::string& source_name, IfThere if_there, const Caller& caller,
                       Changed done) {
  const auto specs = impl_->Read(document, format, source_name, caller);
  if (!specs.ok()) {
    impl_->Write(specs.status(), {}, std::move(done));
    return;
  }
  std::vector<std::string> names;
  for (const EventSpec& spec : *specs) names.push_back(spec.name);
  impl_->Write(impl_->events_.PlanPut(*specs, if_there == IfThere::kRefuse, caller, impl_->Now()),
               std::move(names), std::move(done));
}

void EventManager::Remove(const std::vector<std::string>& names, const Caller& caller,
                          Changed done) {
  impl_->Write(impl_->events_.PlanRemove(names, caller), names, std::move(done));
}

void EventManager::SetEnabled(const std::string& name, bool enabled, const Caller& caller,
                              Changed done) {
  impl_->Write(impl_->events_.PlanSetEnabled(name, enabled, caller, impl_->Now()), {name},
               std::move(done));
}

std::vector<EventView> EventManager::Events(const Caller& caller) const {
  std::vector<EventView> views;
  for (const auto& [name, event] : impl_->events_.all()) {
    if (EventBook::MaySee(caller, event->record)) views.push_back(impl_->MakeView(*event));
  }
  return views;
}

std::optional<EventView> EventManager::FindEvent(const std::string& name,
                                                 const Caller& caller) const {
  const LiveEvent* const event = impl_->events_.Find(name, caller);
  if (event == nullptr) return std::nullopt;
  return impl_->MakeView(*event);
}

std::vector<EventOnHost> EventManager::HostsOf(const std::string& name) const {
  std::vector<EventOnHost> list;
  const LiveEvent* const event = impl_->events_.Find(name);
  if (event == nullptr) return list;
  TriggerSync::View view;
  for (const auto& [id, host] : impl_->hosts_.all()) {
    if (!host->sync.Find(event->record.id, &view)) continue;
    list.push_back(impl_->MakeEventOnHost(*host, event->record.id));
  }
  return list;
}

std::vector<HostView> EventManager::Hosts() const {
  std::vector<HostView> views;
  for (const auto& [id, host] : impl_->hosts_.all()) views.push_back(impl_->MakeHostView(*host));
  return views;
}

std::optional<HostView> EventManager::FindHost(const std::string& id_or_name) const {
  const ManagedHost* const host = impl_->hosts_.FindByName(id_or_name);
  if (host == nullptr) return std::nullopt;
  return impl_->MakeHostView(*host);
}

const Topology& EventManager::topology() const { return impl_->topology_; }

bool EventManager::Impl::IsAbleTo(const ManagedHost* host, uint64_t capability) {
  return host != nullptr && host->session != nullptr &&
         (host->session->capabilities() & capability) != 0;
}

Result<std::string> EventManager::Impl::SendTo(const std::string& id_or_name, uint64_t capability,
                                               const char* what, const Message& order) {
  const ManagedHost* const host = hosts_.FindByName(id_or_name);
  if (host == nullptr || host->session == nullptr) {
    return Status::Error("host " + id_or_name + " is not connected");
  }
  if (!IsAbleTo(host, capability)) {
    return Status::Error("the agent of host " + id_or_name + " is too old for " + what);
  }
  const std::string id = host->id;
  if (Status sent = host->session->Send(order); !sent.ok()) return sent;
  return id;
}

bool EventManager::TakesSlices(const std::string& id_or_name) const {
  const ManagedHost* const host = impl_->hosts_.FindByName(id_or_name);
  return Impl::IsAbleTo(host, kCapabilitySlices) && !host->is_monitor_off;
}

Result<std::string> EventManager::SendSlice(const std::string& id_or_name, const Message& order) {
  return impl_->SendTo(id_or_name, kCapabilitySlices, "slices", order);
}

bool EventManager::TakesPrograms(const std::string& id_or_name) const {
  return Impl::IsAbleTo(impl_->hosts_.FindByName(id_or_name), kCapabilityPrograms);
}

bool EventManager::TakesEndpoints(const std::string& id_or_name) const {
  return Impl::IsAbleTo(impl_->hosts_.FindByName(id_or_name), kCapabilityCollect);
}

Result<std::string> EventManager::SendProgram(const std::string& id_or_name, const Message& order) {
  const auto* const on = std::get_if<ProgramOn>(&order);
  const auto* const cells = std::get_if<CellsRequest>(&order);
  if ((on != nullptr && on->place.tells_of_copies()) || (cells != nullptr && cells->is_request)) {
    return impl_->SendTo(id_or_name, kCapabilityCollect,
                         "endpoints and requests of measurement programs", order);
  }
  return impl_->SendTo(id_or_name, kCapabilityPrograms, "measurement programs", order);
}

void EventManager::ListenToPrograms(ProgramListener listener) {
  impl_->program_listener_ = std::move(listener);
}

void EventManager::ListenToSlices(SliceListener listener) {
  impl_->slice_listener_ = std::move(listener);
}

NetworkCounters EventManager::network_counters() const {
  NetworkCounters sum = impl_->desk_.verdicts().counters();
  AddTo(impl_->measured_.counters(), &sum);
  return sum;
}
ListenerCounters EventManager::listener_counters() const { return impl_->CountListeners(); }
const NetworkBudget& EventManager::budget() const { return impl_->desk_.verdicts().budget(); }
const VerdictLatencies& EventManager::latencies() const { return impl_->desk_.latencies(); }
size_t EventManager::connected_hosts() const { return impl_->connected_hosts_; }
bool EventManager::is_store_ready() const { return impl_->store_ == StoreState::kReady; }
bool EventManager::is_standing_by() const { return impl_->store_ == StoreState::kStandby; }
bool EventManager::is_settled() const { return impl_->IsSettled(); }
const std::string& EventManager::store_state() const { return impl_->store_text_; }

}  // namespace trumpet
