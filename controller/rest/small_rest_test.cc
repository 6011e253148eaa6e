// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The HTTP API over an event manager without hosts, for rest_api_test.py:
//
//   small_rest TOKEN_FILE REPORTS_PER_SECOND REPLAY [KEY CERTIFICATE]
//
// It says its port, publishes that many reports of the event "load", and ends with its input.

#include <event2/event.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/measure/measurement_manager.h"
#include "controller/probe/bounce_book.h"
#include "controller/probe/drop_book.h"
#include "controller/probe/probe_book.h"
#include "controller/rest/rest_server.h"
#include "controller/slice/campaign_loop.h"
#include "controller/store/memory_event_store.h"
#include "controller/trace/reshuffler_book.h"
#include "controller/trace/trace_counter_book.h"
#include "controller/trace/trace_rule_book.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr Nanos kRound = 10 * kNanosPerMilli;
constexpr char kTwoRouters[] = "{switches: [{name: A}, {name: B}], links: [{from: A, to: B}]}";

std::vector<NetworkReport> MakeReports(size_t count, Nanos now) {
  NetworkReport one;
  one.report.event = "load";
  one.report.start_ns = now - 10 * kNanosPerMilli;
  one.report.end_ns = now;
  one.host_count = 1;
  std::vector<NetworkReport> reports(count, one);
  for (size_t i = 0; i < count; ++i) {
    reports[i].report.bucket_json = R"({"dstPort":)" + std::to_string(i) + "}";
  }
  return reports;
}

// A reshuffler of two analyzers, of which one has gone.
class OneReshuffler final : public ReshufflerBook {
 public:
  ReshufflersView View() const override {
    ReshufflersView view;
    view.analyzers = {{"an1", "192.0.2.21", 1, AnalyzerState::kAlive, kRound, 128},
                      {"an2", "192.0.2.22", 1, AnalyzerState::kAway, 0, 128}};
    ReshufflerView one;
    one.name = "shuf1";
    one.address = "192.0.2.9";
    one.port = 7;
    one.state = ReshufflerState::kInOrder;
    one.slots = SlotTable(kReshuffleSlots, 0);
    one.counts = {true, 12, 0, {9, 3}};
    one.changes = 1;
    one.moved_slots = 128;
    one.last_move = {1, {"an2"}, {}, 128, 240 * kNanosPerMilli};
    view.reshufflers = {one};
    return view;
  }
};

// Trace rules in a network without switches, kept.
class KeptRules final : public TraceRuleBook {
 public:
  explicit KeptRules(event_base* base)
      : later_(base, [this] {
          for (const auto& action : std::exchange(actions_, {})) action();
        }) {}

  void Put(TraceRules rules, const std::string& caller, Done done) override {
    if (rules.rules.empty()) {
      return Later([done] { done({Status::Error("there is no rule in it"), false, false}); });
    }
    const bool is_new = !view_;
    view_.emplace();
    view_->record.changed_by = caller;
    view_->at.resize(rules.rules.size());
    view_->rules = std::move(rules);
    Later([done, is_new] { done({Status::Ok(), false, is_new}); });
  }
  void Remove(Done done) override {
    view_.reset();
    Later([done] { done({}); });
  }
  std::optional<TraceRuleSetView> View() const override { return view_; }
  bool is_store_ready() const override { return true; }

 private:
  void Later(std::function<void()> action) {
    actions_.push_back(std::move(action));
    later_.RunSoon();
  }

  std::optional<TraceRuleSetView> view_;
  std::vector<std::function<void()>> actions_;
  LoopEvent later_;
};

// Probes of a network with one switch, leaf1: each is done when it is looked at again.
class KeptProbes final : public ProbeBook {
 public:
  ProbeStart Start(const ProbeRequest& request, const std::string& caller,
                   const std::string& tenant) override {
    if (request.switch_name != "leaf1") {
      return {0, ProbeStart::Refusal::kWrong, "there is no switch '" + request.switch_name + "'"};
    }
    if (request.port != "3") return {0, ProbeStart::Refusal::kNotNow, "the switch is away"};
    ProbeView& view = views_.emplace_back();
    view.id = views_.size();
    view.caller = caller;
    view.tenant = tenant;
    view.request = request;
    view.in_port = 3;
    view.began = 1'700'000'000 * kNanosPerSecond;
    return {view.id, ProbeStart::Refusal::kNone, ""};
  }
  const ProbeView* Find(uint64_t id) const override {
    return id == 0 || id > views_.size() ? nullptr : &views_[id - 1];
  }
  std::vector<const ProbeView*> List() const override {
    std::vector<const ProbeView*> list;
    for (auto view = views_.rbegin(); view != views_.rend(); ++view) {
      view->state = ProbeState::kDone;
      view->sent = {view->began, view->began + kNanosPerSecond};
      view->traces = {
          {0, "an1", "00000000000000ab", 0, "delivered", 1, "leaf1", {}, {{"leaf1", 64, 5}}}};
      view->conclusion = ConcludeProbe(view->traces, view->sent.size());
      list.push_back(&*view);
    }
    return list;
  }

 private:
  mutable std::deque<ProbeView> views_;
};

// Likewise of links: that of leaf1 to spine1 is known.
class KeptBounces final : public BounceBook {
 public:
  ProbeStart Start(const BounceRequest& request, const std::string& caller) override {
    if (request.switch_name != "leaf1") {
      return {0, ProbeStart::Refusal::kWrong, "there is no switch '" + request.switch_name + "'"};
    }
    if (request.to == "spine2") return {0, ProbeStart::Refusal::kNotNow, "the switch is away"};
    BounceView& view = views_.emplace_back();
    view.id = views_.size();
    view.caller = caller;
    view.request = request;
    view.link = {"leaf1", 3, "spine1", 4};
    view.began = 1'700'000'000 * kNanosPerSecond;
    return {view.id, ProbeStart::Refusal::kNone, ""};
  }
  const BounceView* Find(uint64_t id) const override {
    return id == 0 || id > views_.size() ? nullptr : &views_[id - 1];
  }
  std::vector<const BounceView*> List() const override {
    std::vector<const BounceView*> list;
    for (auto view = views_.rbegin(); view != views_.rend(); ++view) {
      view->state = ProbeState::kDone;
      view->sent = view->request.count;
      view->findings = ConcludeBounce(
          {{0, false, 1000}, {0, true, 22'400}, {1, false, 5000}, {1, true, 35'000}}, view->sent);
      list.push_back(&*view);
    }
    return list;
  }

 private:
  mutable std::deque<BounceView> views_;
};

// Searches of that network: each has ended when it is looked at the second time, with a fault of
// one port.
class KeptSearches final : public DropBook {
 public:
  ProbeStart Start(const DropSearchRequest& request, const std::string& caller,
                   const std::string& tenant) override {
    if (request.switch_name != "leaf1") {
      return {0, ProbeStart::Refusal::kWrong, "there is no switch '" + request.switch_name + "'"};
    }
    if (request.port != "3") return {0, ProbeStart::Refusal::kNotNow, "the switch is away"};
    DropSearchView& view = views_.emplace_back();
    view.id = views_.size();
    view.caller = caller;
    view.tenant = tenant;
    view.request = request;
    view.began = 1'700'000'000 * kNanosPerSecond;
    view.probes = {7, 8};
    view.sent = 43;
    return {view.id, ProbeStart::Refusal::kNone, ""};
  }
  bool Stop(uint64_t id) override {
    DropSearchView& view = views_[id - 1];
    if (view.state != DropSearchState::kRunning) return false;
    End(&view, DropSearchState::kStopped);
    return true;
  }
  const DropSearchView* Find(uint64_t id) const override {
    return id == 0 || id > views_.size() ? nullptr : &views_[id - 1];
  }
  std::vector<const DropSearchView*> List() const override {
    std::vector<const DropSearchView*> list;
    for (auto view = views_.rbegin(); view != views_.rend(); ++view) {
      const bool is_due = view->state == DropSearchState::kRunning && view->ended != 0;
      view->ended = 1;
      if (is_due) End(&*view, DropSearchState::kDone);
      list.push_back(&*view);
    }
    return list;
  }

 private:
  static void End(DropSearchView* view, DropSearchState state) {
    DropSuspicion suspicion;
    suspicion.packet = view->request.packet;
    DropEvidence evidence(suspicion);
    const auto add = [&](size_t kind, ProbeFate fate, size_t count) {
      DropOutcome outcome{kind, fate, 1e-6, "leaf1", {"spine1"}, {"leaf1"}, "00000000000000ab"};
      if (fate == ProbeFate::kPassed) outcome.path.emplace_back("spine1");
      for (size_t i = 0; i < count; ++i) evidence.Add(outcome);
    };
    add(0, ProbeFate::kLost, 40);
    const auto other = KindAt(suspicion, DropField::kDstPort, DropSide::kUp, 1);
    if (other) add(evidence.AddKind(*other), ProbeFate::kPassed, 3);
    view->state = state;
    view->ended = view->began + 8 * kNanosPerSecond;
    view->findings = ConcludeDrops(evidence);
    view->kinds = {{DropField::kNone, "", evidence.flow(), {"00000000000000ab"}, {}}};
    if (other) {
      view->kinds.push_back({other->field,
                             DropValue(other->packet, other->field),
                             evidence.tally(1),
                             {},
                             {"00000000000000ab"}});
    }
  }

  mutable std::deque<DropSearchView> views_;
};

int Main(int argc, char** argv) {
  if (argc < 4) return 2;
  const double per_round = std::atof(argv[2]) * kRound / kNanosPerSecond;
  const OwnedLoop owner(event_base_new());
  event_base* const base = owner.get();
  SystemWireClock clock;
  MemoryEventStore store(base, 1);
  ReportHub hub(nullptr);
  EventManagerParts manager_parts;
  manager_parts.base = base;
  manager_parts.store = &store;
  manager_parts.reports = &hub;
  manager_parts.clock = &clock;
  EventManager manager(manager_parts, EventManagerOptions());
  manager.Start();

  MemoryEventStore campaign_store(base, 1);
  CampaignParts campaign_parts;
  campaign_parts.clock = &clock;
  campaign_parts.store = &campaign_store;
  campaign_parts.reports = &hub;
  CampaignLoop campaigns(base, campaign_parts, CampaignOptions());
  const auto topology = ParseTopologyYaml(kTwoRouters, "topology");
  campaigns.manager().SetTopology(*topology);
  campaigns.manager().Start();

  MemoryEventStore measurement_store(base, 1);
  MeasurementParts measurement_parts;
  measurement_parts.base = base;
  measurement_parts.clock = &clock;
  measurement_parts.store = &measurement_store;
  measurement_parts.hosts = &manager;
  measurement_parts.draw_seed = [] { return uint64_t{1}; };
  measurement_parts.log = [](const char*, const std::string&) {};
  MeasurementManager measurements(measurement_parts);
  measurements.Start();

  KeptRules trace_rules(base);
  KeptProbes probes;
  KeptBounces bounces;
  KeptSearches drops;
  const OneReshuffler reshufflers;

  RestParts parts;
  parts.base = base;
  parts.trace_rules = &trace_rules;
  parts.probes = &probes;
  parts.bounces = &bounces;
  parts.drops = &drops;
  parts.reshufflers = &reshufflers;
  MemoryEventStore counter_store(base, 1);
  TraceCounterBook counters({base, &clock, &counter_store, [](const std::string&) {},
                             [](const char*, const std::string&) {}});
  counters.Start();
  parts.trace_counters = &counters;
  parts.campaigns = &campaigns.manager();
  parts.measurements = &measurements;
  parts.events = &manager;
  parts.reports = &hub;
  parts.clock = &clock;
  RestOptions options;
  options.listen = {argc > 5 ? "pssl:0:127.0.0.1" : "ptcp:0:127.0.0.1"};
  if (argc > 5) options.tls = {argv[4], argv[5], ""};
  options.access.token_file = argv[1];
  options.simulation.program = argv[3];
  options.simulation.max_memory_bytes = 0;  // sanitizers reserve more than any limit
  auto server = RestServer::Start(parts, options);
  if (!server.ok()) {
    std::fprintf(stderr, "small_rest: %s\n", server.message().c_str());
    return 1;
  }
  std::printf("%u\n", static_cast<unsigned>((*server)->ports().at(0)));
  std::fflush(stdout);

  double due = 0;
  LoopEvent publisher(base, [&] {
    due += per_round;
    const auto count = static_cast<size_t>(due);
    due -= static_cast<double>(count);
    if (count > 0) hub.Publish(MakeReports(count, clock.UnixNow()), "");
  });
  publisher.RunEvery(kRound);
  event* const input = event_new(
      base, STDIN_FILENO, EV_READ | EV_PERSIST,
      [](int fd, short, void* loop) {
        char piece[64];
        if (read(fd, piece, sizeof piece) <= 0)
          event_base_loopbreak(static_cast<event_base*>(loop));
      },
      base);
  event_add(input, nullptr);
  event_base_dispatch(base);
  event_free(input);
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
