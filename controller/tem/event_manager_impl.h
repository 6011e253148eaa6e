// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The inside of EventManager: what joins the store, the hosts and the verdicts.
//
// A change of an event goes: OnEventsChanged -> Begin/Halt -> tasks (this event to all hosts) ->
// TriggerSync of each host -> pump -> TriggerSet.  Tasks and the pump work in slices of time, so
// that thousands of events for a thousand hosts do not hold up deliveries.
//
// event_manager.cc has what users ask for, event_manager_events.cc the store's side,
// event_manager_measured.cc what is about measured values, event_manager_hosts.cc that of the
// agents, event_manager_verdicts.cc what comes of verdicts, event_manager_runs.cc what the
// controller before this one had told of, event_manager_topology.cc who is where.

#ifndef TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_IMPL_H
#define TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_IMPL_H

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/plan/placement.h"
#include "controller/tem/event_book.h"
#include "controller/tem/event_manager.h"
#include "controller/tem/host_book.h"
#include "controller/tem/measured_desk.h"
#include "controller/tem/report_rate.h"
#include "controller/tem/verdict_desk.h"
#include "lib/base/loop_event.h"

namespace trumpet {

class EventManager::Impl final : public SessionOwner,
                                 public EventStoreListener,
                                 public VerdictSink {
 public:
  Impl(const EventManagerParts& parts, const EventManagerOptions& options);
  ~Impl() override;

  Result<uint16_t> Listen(const Address& address, TlsContext* tls);
  void SetTopology(Topology topology);
  void Start() { parts_.store->Start(this); }
  void Stop();
  void Tick();

  Result<std::vector<EventSpec>> Read(const std::string& document, DocumentFormat format,
                                      const std::string& source_name, const Caller& caller) const;
  std::string WhyNotFor(const EventSpec& spec, const Caller& caller) const;
  EventCheck MakeCheck(EventSpec spec, const Caller& caller) const;
  MeasuredCheck CheckOfMeasured() const;
  std::vector<std::string> ReadersOf(const std::string& measurement) const;
  void Write(Result<std::vector<EventChange>> changes, std::vector<std::string> names,
             Changed done);
  std::vector<EventRecord> RecordsOf(const std::vector<std::string>& names) const;
  EventView MakeView(const LiveEvent& event) const;
  HostView MakeHostView(const ManagedHost& host) const;
  EventOnHost MakeEventOnHost(const ManagedHost& host, uint32_t event_id) const;
  ListenerCounters CountListeners() const;
  static bool IsAbleTo(const ManagedHost* host, uint64_t capability);
  Result<std::string> SendTo(const std::string& id_or_name, uint64_t capability, const char* what,
                             const Message& order);
  bool IsSettled() const;
  Nanos Now() const { return parts_.clock->UnixNow(); }

  const EventManagerParts parts_;
  const EventManagerOptions options_;
  TriggerTallies tallies_;
  EventBook events_;
  HostBook hosts_;
  VerdictDesk desk_;
  MeasuredDesk measured_;
  Topology topology_;  // of the file, with what agents have said
  std::unique_ptr<Placement> placement_;
  StoreIdentity identity_;  // of the store, once it is loaded
  bool is_loaded_ = false;
  StoreState store_ = StoreState::kAway;
  bool acts_ =
      false;  // since it was ready, and until it stands by, also while the database is away
  std::string store_text_ = "not opened yet";
  size_t connected_hosts_ = 0;
  SliceListener slice_listener_;
  ProgramListener program_listener_;

 private:
  // --- events ---
  void OnEventsLoaded(const StoreIdentity& identity, std::vector<EventRecord> records) override;
  void OnEventsChanged(std::vector<EventChange> changes) override;
  void OnStoreState(StoreState state, const std::string& text) override;
  void BeginToAct();
  void StandBy();
  void BeginAllAnew();
  void TakeRecord(EventRecord record);
  void TakeRemoval(const std::string& name);
  void Begin(LiveEvent* event);
  void BeginMeasured(LiveEvent* event);
  void Halt(LiveEvent* event);
  NetworkEventOptions OptionsOf(const EventSpec& spec, size_t host_count);
  bool MaySplit(size_t host_count) const;
  std::string WhyNotSplit(size_t host_count) const;
  uint64_t FreshGeneration();
  void SplitWhereDue();
  void Answer();

  // --- placement, and sets ---
  struct Task {
    enum class Kind : uint8_t {
      kPlaceEvent,  // on all hosts
      kDropEvent,   // from all hosts
      kPlaceHost,   // all events on it
      kTellPlace,   // to the host
    };
    Kind kind;
    uint32_t event_id = 0;
    std::string host_id;
    bool is_of_event() const { return kind == Kind::kPlaceEvent || kind == Kind::kDropEvent; }
  };
  using Positions = std::vector<bool>;  // by position; beyond the end: yes
  Positions PositionsOf(const EventSpec& spec) const;
  static bool IsPlaced(const Positions& positions, const ManagedHost& host) {
    return !host.position || *host.position >= positions.size() || positions[*host.position];
  }
  size_t CountHosts(const Positions& positions) const;
  void MakePlacement();
  void MoveHosts();
  void TellPlace(ManagedHost* host);
  void Add(Task task);
  void PlaceAll(ManagedHost* host);
  // `from` when on the host should count it.
  void Place(const LiveEvent& event, Nanos from, ManagedHost* host);
  void Unplace(uint32_t event_id, ManagedHost* host);
  void RunTask(const Task& task);
  std::vector<Task> TakeEventTasks();
  void RunEventTasks(const std::vector<Task>& batch);
  void Work();
  void Queue(ManagedHost* host);
  bool Pump(ManagedHost* host);
  bool MayBeginSet(ManagedHost* host);
  void CountSet(ManagedHost* host);
  void LookAtSlowHosts();
  bool MakeTrigger(uint32_t event_id, const ThresholdShare* share,
                   TriggerSync::TriggerOnWire* out) const;

  // --- agents ---
  std::optional<Refusal> OnHello(Session* session, const Hello& hello, HelloReply* reply) override;
  void OnEstablished(Session* session) override;
  void OnMessage(Session* session, Message message) override;
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override;
  std::optional<Refusal> CheckIdentity(const Session& session, const Hello& hello,
                                       const ManagedHost* host) const;
  std::optional<Refusal> MakeRoom(ManagedHost* host);
  std::string CertificateName(const Session& session, const Hello& hello) const;
  void LeaveDropped(const ManagedHost& host);
  void Detach(ManagedHost* host, const std::string& why);
  void Take(ManagedHost* host, const TriggerAck& ack);
  std::unordered_map<uint32_t, Nanos> ToldAllSince(const ManagedHost& host,
                                                   const TriggerSync::Outcome& outcome) const;
  void TakeLeave(ManagedHost* host, uint32_t event_id, const TriggerSync::Outcome& outcome);
  void Take(ManagedHost* host, HostFacts facts);
  void Take(ManagedHost* host, const PollReply& reply);
  void Take(ManagedHost* host, HostReport report);
  Status GiveNumber(ManagedHost* host);
  void ForgetHosts();
  void LookAtClocks();

  // --- verdicts ---
  void OnNetworkReports(const std::vector<NetworkReport>& reports) override;
  void OnShareOrder(const ShareOrder& order) override;
  void OnPollOrders(std::vector<PollOrder> orders) override;
  void PublishHostReport(const ManagedHost& host, LiveEvent* event, Report report);
  void PublishHostReports();
  void AskForRuns();
  void AskForNextRuns();
  void TakeRuns(uint32_t event_id, const ReportRows& newest_first);

  void Log(const char* level, const std::string& text) const {
    if (parts_.log) parts_.log(level, text);
  }

  std::vector<std::unique_ptr<Listener>> listeners_;
  bool is_stopping_ = false;
  bool has_stood_by_ = false;  // since it acted last
  std::deque<Task> tasks_;
  std::deque<ManagedHost*> to_pump_;
  std::vector<ManagedHost*> waiting_for_room_;         // connected
  size_t set_bytes_ = 0;                               // sum over hosts
  std::unordered_map<uint32_t, std::string> tenants_;  // of events that may still report
  std::unordered_map<uint32_t, ReportRate> rates_;     // of events of scope host
  std::vector<NetworkReport> host_reports_;            // of such events, in this turn of the loop
  std::deque<uint32_t> ask_runs_of_;  // ids; the store is asked for runs of the first one's event
  uint64_t last_before_ = 0;          // number of the last report before we acted
  // Cleared at the end: the store of reports answers whom it was asked by, and may outlive us.
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
  Topology file_;
  uint64_t placement_version_ = 0;
  bool is_placement_stale_ = false;  // agents have said something else than before
  bool is_split_stale_ = false;      // hosts have come or gone
  uint64_t place_generation_ = 0;
  Nanos most_ahead_ = 0;                        // Unix time, of monotonic time, when we looked
  Nanos next_second_ = 0;                       // monotonic
  std::vector<std::function<void()>> answers_;  // to be given from the loop
  LoopEvent answer_;
  LoopEvent publish_;
  LoopEvent work_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_IMPL_H
