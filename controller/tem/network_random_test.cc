// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Verdicts across a network against an evaluator of everything that its hosts counted, over random
// events, hosts that come, go and fall silent, and messages that come late, twice and in any order.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "controller/tem/network_test_kit.h"
#include "lib/verdict/slow_host_test.h"

namespace trumpet {
namespace {

using namespace kit;

constexpr Nanos kEpoch = Ms(10);
constexpr Nanos kFlowTimeout = Ms(70);
constexpr int kEpochs = 32;
constexpr int kFlows = 4;
constexpr Nanos kNever = INT64_MAX;

// When a host counts for an event; [from, until).
struct Stay {
  Nanos from = kNever;
  Nanos until = kNever;
};

struct StoryEvent {
  std::shared_ptr<const TriggerPlan> plan;
  Nanos deadline = 0;
  bool is_flow = false;
  bool splits = false;
  std::vector<Stay> stays;                 // by host
  std::vector<uint32_t> hosts_of_packets;  // beside slow.packets
  SlowHost slow{kFlowTimeout};

  Nanos interval() const { return plan->spec.interval_ns(); }
};

// Epochs whose messages are lost; the host says so with the first that is not.
struct Outage {
  int first = kEpochs;
  int last = -1;
  Nanos told_at = kNever;  // when the controller hears of it
  bool Covers(int epoch) const { return first <= epoch && epoch <= last; }
};

struct StoryHost {
  std::string name;
  uint32_t number = 0;
  Outage outage;
  int bad_epoch = -1;      // some packets were not counted
  Nanos flow_timeout = 0;  // told with states; 0: none
  Nanos last_sent = 0;     // a session keeps order: no end overtakes what it ends
};

std::string Line(const std::string& event, const std::string& bucket, Nanos start, Nanos end,
                 const Number& value, const Number& threshold, bool is_clear, bool is_complete,
                 const std::vector<std::string>& silent,
                 const std::map<std::string, uint64_t>& packets) {
  std::string line = std::to_string(end) + " " + event + " " + bucket + " " +
                     std::to_string(start) + " " + value.ToString() + "|" + threshold.ToString() +
                     (is_clear ? " clear" : "") + (is_complete ? " complete" : "");
  for (const std::string& name : silent) line += " -" + name;
  for (const auto& [name, count] : packets) line += " " + name + ":" + std::to_string(count);
  return line;
}

class NetworkStory {
 public:
  NetworkStory(uint64_t seed, bool splits) : random_(seed), splits_(splits) {
    MakeHosts();
    MakeEvents();
    MakePackets();
    MakeFlows();
    LosePackets();
  }

  std::vector<std::string> Expected() const {
    std::vector<std::string> lines;
    for (const StoryEvent& event : events_) {
      const TriggerPlan& plan = *event.plan;
      for (int64_t k = 0; (k + 1) * event.interval() <= kEpochs * kEpoch; ++k) {
        for (const std::string& key : event.slow.Keys(plan)) ExpectOf(event, key, k, &lines);
      }
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  std::vector<std::string> Run() {
    NetworkOptions options;
    options.hash_seed = random_();
    NetworkSim sim(options, [this] { return Below(shortest_deadline_ / 10); });
    sim.answers = [this](uint32_t host, Nanos end) {
      return !hosts_[host].outage.Covers(static_cast<int>(end / kEpoch) - 1);
    };
    for (const StoryHost& host : hosts_) EXPECT_EQ(sim.AddHost(host.name), host.number);
    InstallAll(&sim);
    if (Chance(20)) SetClockBack(&sim);
    for (const StoryEvent& event : events_) {
      for (const StoryHost& host : hosts_) {
        const Stay& stay = event.stays[host.number];
        if (stay.from != kNever) sim.Place(event.plan, host.number, stay.from, stay.until);
      }
    }
    sim.Run(-1);
    if (Chance(50)) SendGuest(&sim);
    for (int epoch = 0; epoch < kEpochs; ++epoch) RunEpoch(epoch, &sim);
    sim.Run((kEpochs + 20) * kEpoch);
    counters_ = sim.verdicts.counters();
    EXPECT_EQ(sim.verdicts.budget().bytes, 0u);
    return Lines(sim.output.reports);
  }

  const NetworkCounters& counters() const { return counters_; }

 private:
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }
  Nanos RandomEpoch(int first, int last) { return (first + Below(last - first)) * kEpoch; }

  // --- what happens ---

  void MakeHosts() {
    hosts_.resize(static_cast<size_t>(2 + Below(7)));
    for (size_t i = 0; i < hosts_.size(); ++i) {
      StoryHost& host = hosts_[i];
      host.name = "h" + std::to_string(i);
      host.number = static_cast<uint32_t>(i);
      if (Chance(50)) host.flow_timeout = Ms(20 + 10 * Below(6));  // over before "too late"
      if (Chance(20)) host.bad_epoch = static_cast<int>(Below(kEpochs));
      if (!Chance(25)) continue;
      host.outage.first = static_cast<int>(Below(kEpochs));
      host.outage.last =
          splits_ || Chance(40) ? kEpochs - 1 : host.outage.first + static_cast<int>(Below(6));
    }
  }

  void MakeEvents() {
    const int64_t count = 1 + Below(3);
    std::vector<Expr> plain = PlainPredicates();
    if (splits_) {
      const Expr twice = Op(Sum(Variable::kVolume), ExprOp::kMultiply, Num(2));
      plain = {Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(1 + Below(90))),
               Op(Agg(AggregateKind::kCount, Var(Variable::kTtl)), ExprOp::kGreaterEqual, Num(3)),
               Op(Num(5 + Below(100)), ExprOp::kLess, twice),
               Op(Op(twice, ExprOp::kDivide, Real(0.01)), ExprOp::kGreaterEqual, Real(7999.5))};
    }
    const std::vector<Expr> flow = FlowPredicates();
    for (uint32_t id = 1; id <= count; ++id) {
      StoryEvent event;
      event.splits = splits_;
      event.is_flow = !splits_ && Chance(40);
      const auto& pool = event.is_flow ? flow : plain;
      const Expr& predicate = pool[static_cast<size_t>(Below(static_cast<int64_t>(pool.size())))];
      const Granularity granularity = event.is_flow ? ByFlow()
                                      : Chance(60)  ? ByPort()
                                                    : Granularity();
      EventSpec spec =
          Event(id, predicate, granularity, static_cast<uint32_t>(10 * (1 + Below(3))));
      spec.for_count = static_cast<uint32_t>(1 + Below(3));
      event.plan = Plan(spec);
      event.slow.plans = {event.plan};
      event.deadline = event.interval() * (1 + Below(6)) / 2;
      shortest_deadline_ = std::min(shortest_deadline_, event.deadline);
      for (size_t host = 0; host < hosts_.size(); ++host) event.stays.push_back(RandomStay(event));
      events_.push_back(std::move(event));
    }
  }

  Stay RandomStay(const StoryEvent& event) {
    Stay stay;
    if (!event.is_flow && Chance(10)) return stay;
    stay.from = !event.is_flow && Chance(20) ? RandomEpoch(1, kEpochs / 2) : 0;
    if (!event.is_flow && Chance(15)) stay.until = RandomEpoch(kEpochs / 2, kEpochs);
    return stay;
  }

  void MakePackets() {
    for (StoryEvent& event : events_) {
      for (int epoch = 0; epoch < kEpochs; ++epoch) {
        const bool is_busy = epoch % 24 < 8;  // then long enough for tails to end
        for (int64_t i = Below(is_busy ? 9 : 2) - (is_busy ? 0 : Below(30)); i > 0; --i) {
          const Nanos start = epoch * kEpoch;
          const auto host = static_cast<uint32_t>(Below(static_cast<int64_t>(hosts_.size())));
          const Stay& stay = event.stays[host];
          if (start < stay.from || start >= stay.until) continue;
          Values packet{{Variable::kPackets, 1}, {Variable::kVolume, Below(splits_ ? 30 : 4)}};
          if (Chance(50)) packet[Variable::kTtl] = Below(5);
          event.slow.packets.push_back(
              {event.plan->spec.id, start, RandomKey(event.plan->spec), packet});
          event.hosts_of_packets.push_back(host);
        }
      }
    }
  }

  std::string RandomKey(const EventSpec& event) {
    if (event.granularity.is_none()) return "";
    if (!event.granularity.is_five_tuple) return PortKey(static_cast<uint32_t>(Below(3)));
    return FlowBucket(static_cast<uint8_t>(Below(kFlows + 1)));  // one has no state
  }

  static Nanos TimeoutOf(const StoryHost& host) {
    return host.flow_timeout != 0 ? host.flow_timeout : kFlowTimeout;
  }

  // Each flow's state grows, rests, dies and starts anew; any host may see its next packet.
  void MakeFlows() {
    std::vector<FlowStateUpdate> flows(kFlows);
    for (int number = 0; number < kFlows; ++number) {
      flows[static_cast<size_t>(number)].flow = Flow(static_cast<uint8_t>(number));
    }
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (FlowStateUpdate& update : flows) {
        FlowState& state = update.state;
        if (!Chance(state.dup % 2 == 0 ? 50 : 7)) continue;
        const auto host = static_cast<uint32_t>(Below(static_cast<int64_t>(hosts_.size())));
        if (hosts_[host].outage.Covers(epoch)) continue;
        const Nanos at = epoch * kEpoch + Below(kEpoch);
        GrowFlow(
            at, TimeoutOf(hosts_[host]), [this](int64_t limit) { return Below(limit); }, &state);
        update.epoch_start = epoch * kEpoch;
        update.epoch_end = update.epoch_start + kEpoch;
        updates_.emplace_back(host, update);
        for (StoryEvent& event : events_) {
          event.slow.updates.push_back(update);
          event.slow.timeouts.push_back(TimeoutOf(hosts_[host]));
        }
      }
    }
  }

  // The last epoch of the interval that holds `epoch`: whose messages bring it.
  static int LastEpochOf(const StoryEvent& event, Nanos epoch_start) {
    const int64_t k = epoch_start / event.interval();
    return static_cast<int>((k + 1) * event.interval() / kEpoch) - 1;
  }

  // What the controller never hears of does not count, for the slow evaluator either.
  void LosePackets() {
    for (StoryEvent& event : events_) {
      counted_.push_back(event.slow.packets);
      owners_.push_back(event.hosts_of_packets);
      std::vector<Counted> kept;
      std::vector<uint32_t> kept_hosts;
      for (size_t i = 0; i < event.slow.packets.size(); ++i) {
        const Counted& counted = event.slow.packets[i];
        const uint32_t host = event.hosts_of_packets[i];
        if (hosts_[host].outage.Covers(LastEpochOf(event, counted.epoch_start))) continue;
        kept.push_back(counted);
        kept_hosts.push_back(host);
      }
      event.slow.packets = std::move(kept);
      event.hosts_of_packets = std::move(kept_hosts);
    }
  }

  // --- how it is told ---

  void RunEpoch(int epoch, NetworkSim* sim) {
    const Nanos end = (epoch + 1) * kEpoch;
    for (size_t e = 0; e < events_.size(); ++e) {
      for (size_t i = 0; i < counted_[e].size(); ++i) {
        if (counted_[e][i].epoch_start == epoch * kEpoch) Count(counted_[e][i], owners_[e][i], sim);
      }
    }
    sim->Run(end - 1);
    for (StoryHost& host : hosts_) {
      auto messages = sim->Close(host.number, end);
      AddUpdates(host.number, epoch, sim, &messages);
      if (host.outage.Covers(epoch)) {  // long after all is decided
        for (auto& message : messages) sim->At(end + 12 * kEpoch + Ms(1), message);
        continue;
      }
      const Nanos at = std::max(host.last_sent + 2, end + Below(shortest_deadline_ / 5));
      host.last_sent = at;
      Deliver(host, epoch, at, std::move(messages), sim);
    }
  }

  void InstallAll(NetworkSim* sim) {
    for (const StoryEvent& event : events_) {
      NetworkEventOptions options;
      options.deadline_ns = event.deadline;
      options.splits_threshold = event.splits;
      options.flow_timeout_ns = kFlowTimeout;
      EXPECT_TRUE(sim->verdicts.Install(event.plan, 0, options, &sim->output).ok());
    }
  }

  // All were ahead, and what they said then is of no account.
  void SetClockBack(NetworkSim* sim) {
    constexpr Nanos kAhead = 2 * kNanosPerSecond;
    for (const StoryHost& host : hosts_) sim->verdicts.EndUntil(host.number, kAhead, kAhead);
    sim->verdicts.Advance(kAhead, SIZE_MAX, &sim->output);
    EXPECT_TRUE(sim->verdicts.NoticeStepBack(0));
    for (const StoryEvent& event : events_) sim->verdicts.Uninstall(event.plan->spec.id, 0);
    InstallAll(sim);
    sim->output = NetworkOutput();
  }

  // A host that tells cells of some intervals ahead, and turns out to owe none of them.
  void SendGuest(NetworkSim* sim) {
    const StoryEvent& event =
        events_[static_cast<size_t>(Below(static_cast<int64_t>(events_.size())))];
    const uint32_t guest = sim->AddHost("guest");
    const Nanos from = (2 + Below(4)) * event.interval();
    sim->At(RandomEpoch(0, 2) + 3, [this, sim, &event, guest, from] {
      const TriggerPlan& plan = *event.plan;
      sim->verdicts.Join(plan.spec.id, guest, from);
      const auto words = CellsOf(plan, {{Variable::kPackets, 1}, {Variable::kVolume, 50}});
      for (int64_t i = Below(6); i >= 0; --i) {
        const std::string key = RandomKey(plan.spec);
        const Nanos start = from + i * event.interval();
        sim->verdicts.Add(guest,
                          PartialOf(plan.spec.id, start, start + event.interval(), key, words),
                          words.size());
      }
      sim->verdicts.RemoveHost(guest, from, &sim->output);
    });
  }

  void Count(const Counted& counted, uint32_t host, NetworkSim* sim) {
    const TriggerPlan& plan = *events_[counted.event - 1].plan;
    const auto words = CellsOf(plan, counted.packet);
    EXPECT_TRUE(sim->feed(host, counted.event)
                    .Add(PartialOf(counted.event, counted.epoch_start, counted.epoch_start + kEpoch,
                                   counted.key, words)));
  }

  void AddUpdates(uint32_t host, int epoch, NetworkSim* sim,
                  std::vector<std::function<void()>>* messages) {
    for (const auto& [owner, update] : updates_) {
      if (owner != host || update.epoch_start != epoch * kEpoch) continue;
      const Nanos timeout = hosts_[host].flow_timeout;
      messages->push_back(
          [sim, host, timeout, update = update] { sim->verdicts.Add(host, update, timeout); });
    }
  }

  void Deliver(StoryHost& host, int epoch, Nanos at, std::vector<std::function<void()>> messages,
               NetworkSim* sim) {
    if (Chance(30) && !messages.empty()) messages.push_back(messages.front());  // told twice
    std::shuffle(messages.begin(), messages.end(), random_);
    if (epoch == host.bad_epoch) {
      messages.push_back([sim, number = host.number, epoch] {
        sim->verdicts.AddIncomplete(number, epoch * kEpoch, (epoch + 1) * kEpoch, kSweepSkipped, 0);
      });
    }
    if (host.outage.last >= 0 && host.outage.last < epoch && host.outage.told_at == kNever) {
      host.outage.told_at = at;
      messages.push_back([sim, number = host.number, outage = host.outage] {
        sim->verdicts.AddIncomplete(number, outage.first * kEpoch, (outage.last + 1) * kEpoch,
                                    kRingFull, 0);
      });
    }
    for (auto& message : messages) {
      if (Chance(20)) sim->At(at + 13 * kEpoch, message);  // once more, too late
      sim->At(at - Below(2), std::move(message));
    }
    sim->At(at + 1,
            [sim, number = host.number, epoch] { sim->EndUntil(number, (epoch + 1) * kEpoch); });
  }

  // --- what follows ---

  bool Owes(const StoryEvent& event, uint32_t host, Nanos start, Nanos end) const {
    const Stay& stay = event.stays[host];
    return stay.from < end && stay.until > start;
  }

  std::vector<std::string> Silent(const StoryEvent& event, int64_t k) const {
    std::vector<std::string> names;
    const Nanos start = k * event.interval();
    const Nanos end = start + event.interval();
    for (const StoryHost& host : hosts_) {
      const bool is_lost = host.outage.Covers(static_cast<int>(end / kEpoch) - 1);
      const bool is_late = host.outage.told_at >= end + event.deadline;
      if (Owes(event, host.number, start, end) && is_lost && is_late) names.push_back(host.name);
    }
    return names;
  }

  bool IsMarked(const StoryEvent& event, int64_t k) const {
    const Nanos start = k * event.interval();
    const Nanos end = start + event.interval();
    for (const StoryHost& host : hosts_) {
      if (!Owes(event, host.number, start, end)) continue;
      const Stay& stay = event.stays[host.number];
      if (stay.from > start || stay.until < end) return true;
      const Outage& outage = host.outage;
      const bool is_told = outage.told_at != kNever && outage.first * kEpoch < end &&
                           (outage.last + 1) * kEpoch > start;
      // Of an outage in mid-interval the controller hears with the interval; else see Silent().
      const bool is_lost = outage.Covers(static_cast<int>(end / kEpoch) - 1);
      if (is_told && (!is_lost || outage.told_at < end + event.deadline)) return true;
      const Nanos bad = host.bad_epoch * kEpoch;
      const bool is_bad = host.bad_epoch >= 0 && bad < end && bad + kEpoch > start;
      if (is_bad && !outage.Covers(host.bad_epoch)) return true;
    }
    return false;
  }

  void ExpectOf(const StoryEvent& event, const std::string& key, int64_t k,
                std::vector<std::string>* lines) const {
    const TriggerPlan& plan = *event.plan;
    const bool fires = event.slow.Fires(plan, key, k);
    const bool is_clear = !fires && event.slow.Fires(plan, key, k - 1);
    if (!fires && !is_clear) return;
    Report report = event.slow.MakeReport(plan, key, k);
    const std::vector<std::string> silent = Silent(event, k);
    const bool is_complete = silent.empty() && !IsMarked(event, k);
    std::map<std::string, uint64_t> packets;
    for (size_t i = 0; i < event.slow.packets.size() && fires; ++i) {
      const Counted& counted = event.slow.packets[i];
      if (counted.key != key || counted.epoch_start / event.interval() != k) continue;
      ++packets[hosts_[event.hosts_of_packets[i]].name];
    }
    if (is_clear) report.value = report.threshold = Number();
    lines->push_back(Line(report.event, report.bucket_json, report.start_ns, report.end_ns,
                          report.value, report.threshold, is_clear, is_complete, silent, packets));
  }

  static std::vector<std::string> Lines(const std::vector<NetworkReport>& reports) {
    std::vector<std::string> lines;
    for (const NetworkReport& network : reports) {
      const Report& report = network.report;
      if (report.end_ns > kEpochs * kEpoch) continue;
      std::map<std::string, uint64_t> packets;
      for (const HostShare& share : network.hosts) packets[share.host] = share.packets;
      const bool is_silent = (report.incomplete_reasons & kHostSilent) != 0;
      EXPECT_EQ(is_silent, !network.silent_hosts.empty());
      lines.push_back(Line(report.event, report.bucket_json, report.start_ns, report.end_ns,
                           report.value, report.threshold, network.is_clear, report.is_complete(),
                           network.silent_hosts, packets));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  std::mt19937_64 random_;
  bool splits_;
  std::vector<StoryHost> hosts_;
  std::vector<StoryEvent> events_;
  std::vector<std::vector<Counted>> counted_;  // by event, also what is lost later
  std::vector<std::vector<uint32_t>> owners_;
  std::vector<std::pair<uint32_t, FlowStateUpdate>> updates_;  // with the host that tells
  Nanos shortest_deadline_ = kNever;
  NetworkCounters counters_;
};

struct Tally {
  size_t reports = 0;
  size_t clears = 0;
  size_t silent = 0;
  uint64_t late = 0;
  uint64_t replaced = 0;
  uint64_t polls = 0;
  uint64_t spared = 0;
};

void RunStories(uint64_t first_seed, uint64_t count, bool splits, Tally* tally) {
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    NetworkStory story(seed, splits);
    const std::vector<std::string> found = story.Run();
    const std::vector<std::string> expected = story.Expected();
    for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
      ASSERT_EQ(found[i], expected[i]) << "seed " << seed << ", line " << i;
    }
    ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
    tally->reports += found.size();
    for (const std::string& line : found) {
      tally->clears += line.find(" clear") != std::string::npos;
      tally->silent += line.find(" -h") != std::string::npos;
    }
    tally->late += story.counters().late_partials;
    tally->replaced += story.counters().replaced_partials;
    tally->polls += story.counters().polls;
    tally->spared += story.counters().polls_spared;
    EXPECT_EQ(story.counters().refused_partials, 0u);
    EXPECT_EQ(story.counters().malformed, 0u);
  }
}

TEST(NetworkVerdicts, AgreeWithTheSlowEvaluatorOfTheUnionOnRandomStories) {
  Tally tally;
  RunStories(1, 2500, /*splits=*/false, &tally);
  if (HasFatalFailure()) return;
  EXPECT_GT(tally.reports, 50000u);  // the stories tell something
  EXPECT_GT(tally.clears, 5000u);
  EXPECT_GT(tally.silent, 5000u);
  EXPECT_GT(tally.late, 1000u);
  EXPECT_GT(tally.replaced, 1000u);
}

TEST(NetworkVerdicts, AgreeWithTheSlowEvaluatorWhereThresholdsAreSplit) {
  Tally tally;
  RunStories(100001, 2500, /*splits=*/true, &tally);
  if (HasFatalFailure()) return;
  EXPECT_GT(tally.reports, 5000u);
  EXPECT_GT(tally.clears, 1000u);
  EXPECT_GT(tally.silent, 500u);
  EXPECT_GT(tally.polls, 5000u);
  EXPECT_GT(tally.spared, 500u);
}

}  // namespace
}  // namespace trumpet
