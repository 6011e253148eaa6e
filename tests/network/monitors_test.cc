// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Packets to network-wide verdicts: hosts with a packet monitor each, against one monitor that sees
// the packets of all.  (That one is held against evaluators of its own elsewhere.)

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "controller/tem/network_verdicts.h"
#include "lib/base/hash.h"
#include "lib/tpm/packet_threads_test_kit.h"
#include "lib/tpm/tcp_traffic_test.h"
#include "lib/verdict/event_feed.h"

namespace trumpet::testing {
namespace {

using namespace kit;

constexpr Nanos kEpoch = Ms(10);

// Every kind of aggregate and of TCP variable, per flow, per port and for all together.
HostVerdicts::Plans SomePlans() {
  HostVerdicts::Plans plans;
  uint32_t id = 1;
  const auto add = [&](const Expr& operand, const Granularity& granularity, int64_t above) {
    EventSpec spec =
        Event(id, Op(operand, ExprOp::kGreater, Num(above)), granularity, 10 * (1 + id % 3));
    spec.for_count = 1 + id % 2;
    plans.push_back(Plan(spec));
    ++id;
  };
  const Expr volume = Var(Variable::kVolume);
  for (const Granularity& granularity : {ByFlow(), ByPort(), Granularity()}) {
    add(Sum(Variable::kBytes), granularity, 300);
    add(Sum(Variable::kPackets), granularity, 2);
    add(Agg(AggregateKind::kStddev, volume), granularity, 100);
    add(Agg(AggregateKind::kMin, Var(Variable::kTtl)), granularity, 40);
    add(Agg(AggregateKind::kAvg, Op(volume, ExprOp::kDivide, Var(Variable::kTtl))), granularity, 5);
    add(Sum(Variable::kIsLost), granularity, 0);
    add(Agg(AggregateKind::kMax, Var(Variable::kRtt)), granularity, 1000);
    add(Agg(AggregateKind::kCount, Var(Variable::kRwnd)), granularity, 1);
  }
  add(Op(Var(Variable::kAck), ExprOp::kSubtract, Var(Variable::kAckLastEpoch)), ByFlow(), -1);
  add(Op(Var(Variable::kSeq), ExprOp::kSubtract, Var(Variable::kAck)), ByFlow(), 100);
  add(Var(Variable::kDup), ByFlow(), 0);
  return plans;
}

// What an agent does: a monitor, and for each event what the controller is told.
class MonitoredHost : public DeliverySink, public FeedSink {
 public:
  MonitoredHost(const HostVerdicts::Plans& plans, uint32_t number, NetworkVerdicts* network)
      : number_(number), network_(network) {
    monitor_ = std::move(*PacketMonitor::Create(ThreadsHost::SmallOptions()));
    EXPECT_TRUE(monitor_->Publish(TriggerProgram::Make(plans, 1, INT64_MIN)).ok());
    for (const auto& plan : plans) {
      const uint32_t id = plan->spec.id;
      feeds_[id] = std::make_unique<EventFeed>(plan, 0, number);
      network_->Invite(id, number_, &output_);
      network_->Join(id, number_, 0);
    }
  }

  void See(const FlowKey& flow, const Shot& shot, Nanos now, uint8_t ttl) {
    const ShotFrame frame(flow, shot, ttl);
    monitor_->OnBatch(&frame.frame(), 1, false, 0, flow.zone, now);
  }

  void Tell(Nanos until) {
    while (monitor_->OnIdle(until)) monitor_->Drain(this);
    monitor_->Drain(this);
    until = std::min(until, monitor_->clean_until());
    for (auto& [id, feed] : feeds_) feed->Close(until, this);
    network_->EndUntil(number_, until, until);
  }

  // Takes an order for a share as the wire would bring it, and confirms.
  void Take(const ShareOrder& order, NetworkOutput* output) {
    const Nanos from = feeds_.at(order.event_id)->SetShare(order.share);
    network_->ShareApplied(order.event_id, number_, order.share.generation, from, output);
  }
  void Take(const PollOrder& poll) {
    PartialView cells;
    cells.event_id = poll.event_id;
    cells.epoch_start = poll.start_ns;
    cells.bucket_key = poll.bucket_key;
    const EventFeed& feed = *feeds_.at(poll.event_id);
    const FeedAnswer answer = feed.Answer(poll.bucket_key, poll.start_ns, &cells);
    network_->Answer(number_, answer, cells, feed.plan().word_count, 0, 0);
  }
  NetworkOutput* output() { return &output_; }

  void OnPartial(const PartialView& partial) override {
    EXPECT_TRUE(feeds_.at(partial.event_id)->Add(partial));
  }
  void OnFlowState(const FlowStateUpdate& update) override { network_->Add(number_, update); }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override {
    network_->AddIncomplete(number_, start, end, reasons, 0);
  }
  void OnCells(const PartialView& cells) override {
    network_->Add(number_, cells, feeds_.at(cells.event_id)->plan().word_count);
  }
  void OnIncomplete(uint32_t event, Nanos start, Nanos end, uint32_t reasons) override {
    network_->AddIncomplete(number_, start, end, reasons, event);
  }

 private:
  uint32_t number_;
  NetworkVerdicts* network_;
  NetworkOutput output_;
  std::unique_ptr<PacketMonitor> monitor_;
  std::map<uint32_t, std::unique_ptr<EventFeed>> feeds_;
};

class MonitoredNetwork {
 public:
  MonitoredNetwork(const HostVerdicts::Plans& plans, size_t hosts, bool splits) : verdicts_({}) {
    for (const auto& plan : plans) {
      NetworkEventOptions options;
      options.splits_threshold = splits;
      EXPECT_TRUE(verdicts_.Install(plan, 0, options).ok());
    }
    for (size_t i = 0; i < hosts; ++i) {
      const uint32_t number = *verdicts_.AddHost("h" + std::to_string(i));
      hosts_.push_back(std::make_unique<MonitoredHost>(plans, number, &verdicts_));
      Send(hosts_.back()->output());
    }
  }

  MonitoredHost& host(size_t i) { return *hosts_[i]; }
  size_t host_count() const { return hosts_.size(); }

  void Tell(Nanos now) {
    for (auto& host : hosts_) host->Tell(now);
    NetworkOutput output;
    do {
      output.polls.clear();
      verdicts_.Advance(now, SIZE_MAX, &output);
      Send(&output);
    } while (!output.polls.empty());
    for (NetworkReport& report : output.reports) {
      if (report.is_clear) continue;
      report.report.detected_ns = 0;
      lines_.push_back(ToJsonLine(report.report));
    }
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines = lines_;
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  NetworkCounters counters() const { return verdicts_.counters(); }

 private:
  void Send(NetworkOutput* output) {
    for (size_t i = 0; i < output->shares.size(); ++i) {
      const ShareOrder order = output->shares[i];
      if (order.host < hosts_.size()) hosts_[order.host]->Take(order, output);
    }
    output->shares.clear();
    for (const PollOrder& poll : output->polls) hosts_[poll.host]->Take(poll);
  }

  NetworkVerdicts verdicts_;
  std::vector<std::unique_ptr<MonitoredHost>> hosts_;
  std::vector<std::string> lines_;
};

// The host that both directions of a connection pass.
size_t HostOf(const FlowKey& flow, uint64_t seed, size_t hosts) {
  const FlowKey key = flow.src_ip < flow.dst_ip ? flow : Reversed(flow);
  return HashBytes(&key, sizeof key, seed) % hosts;
}

void Drive(uint64_t seed, int packets, ThreadsHost* one, MonitoredNetwork* network) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  RandomTraffic traffic(static_cast<uint32_t>(seed), static_cast<uint32_t>(1 + random() % 9));
  Nanos boundary = 0;
  Nanos now = 0;
  const auto tell = [&](Nanos at) {
    one->VisitAll(at);
    one->Decide(at);
    network->Tell(at);
  };
  for (int i = 0; i < packets; ++i) {
    const RandomTraffic::Event event = traffic.Next();
    const Nanos last = now;
    now = event.now + i;  // so that no two packets are of the same time
    const auto ttl = static_cast<uint8_t>(1 + random() % 200);
    if (boundary == 0) {
      boundary = CellOf(now, kEpoch) * kEpoch;
      tell(boundary);
    }
    for (; boundary <= now; boundary += kEpoch) {
      tell(boundary);
      const bool is_quiet = boundary - last > 10 * kEpoch && now - boundary > 400 * kEpoch;
      if (is_quiet) boundary = (CellOf(now, kEpoch) - 1) * kEpoch;
    }
    one->See(0, event.flow, event.shot, now, ttl);
    network->host(HostOf(event.flow, seed, network->host_count()))
        .See(event.flow, event.shot, now, ttl);
  }
  for (int i = 0; i < 30; ++i) tell(boundary + i * kEpoch);
}

void Compare(uint64_t seed, bool splits, size_t* report_count, uint64_t* polls) {
  const HostVerdicts::Plans plans = SomePlans();
  ThreadsHost one(plans, 1);
  MonitoredNetwork network(plans, 2 + seed % 7, splits);
  Drive(seed, 1500, &one, &network);
  std::vector<std::string> expected;
  for (const Report& report : one.reports()) expected.push_back(ToJsonLine(report));
  std::sort(expected.begin(), expected.end());
  const std::vector<std::string> found = network.lines();
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    ASSERT_EQ(found[i], expected[i]) << "seed " << seed;
  }
  ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
  *report_count += found.size();
  *polls += network.counters().polls;
  EXPECT_EQ(network.counters().late_partials, 0u);
  EXPECT_EQ(network.counters().malformed, 0u);
}

TEST(NetworkOfMonitors, DecidesLikeOneMonitorThatSeesAllPackets) {
  size_t report_count = 0;
  uint64_t polls = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Compare(seed, /*splits=*/false, &report_count, &polls);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(report_count, 10000u);
  EXPECT_EQ(polls, 0u);
}

TEST(NetworkOfMonitors, DecidesAlikeWithSplitThresholds) {
  size_t report_count = 0;
  uint64_t polls = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Compare(seed, /*splits=*/true, &report_count, &polls);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(report_count, 10000u);
  EXPECT_GT(polls, 100u);
}

}  // namespace
}  // namespace trumpet::testing
