// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/live_traces.h"

#include <event2/event.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/store/trace_folder.h"
#include "controller/traces/program_kit_test.h"
#include "controller/traces/trace_network.h"
#include "lib/model/trace_rule.h"

namespace trumpet {
namespace {

using test_frames::Bytes;
using trace_network::kBegin;
using trace_network::Network;
using trace_network::TimedBytes;

constexpr Nanos kNow = kBegin + 60 * kNanosPerSecond;

// The same frame with the tag of a trace rule instead of tag 5.
Bytes OfTraceRule(Bytes frame) {
  const size_t key = 14 + 20 + 4;
  const uint32_t tag = TraceTag(0, 5);
  frame[key + 1] = static_cast<uint8_t>((frame[key + 1] & 0xf0) | tag >> 16);
  frame[key + 2] = static_cast<uint8_t>(tag >> 8);
  frame[key + 3] = static_cast<uint8_t>(tag);
  return frame;
}

class LiveTracesTest : public testing::Test {
 protected:
  LiveTracesTest() : folder_(testing::TempDir() + "trumpet-live-XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~LiveTracesTest() override {
    traces_.reset();
    std::filesystem::remove_all(folder_);
  }

  LiveTracesOptions Options() const {
    LiveTracesOptions options;
    options.store.folder = folder_;
    options.topology = *ParseTopology(kTopology, "net.yaml");
    EXPECT_TRUE(AddSwitches(options.topology, &options.switches).ok());
    options.maker.copies.leaves_slices = true;
    options.maker.copies.seed = 5;
    options.maker.table.quiet = 100 * kNanosPerMilli;
    options.maker.table.max_traces = 1 << 12;
    options.maker.table.max_hops = 1 << 14;
    return options;
  }
  void Open(const LiveTracesOptions& options) {
    auto opened = LiveTraces::Open(
        base_.get(), options, [] { return kNow; },
        [this](const char*, const std::string& text) { log_ += text + "\n"; });
    ASSERT_TRUE(opened.ok()) << opened.message();
    traces_ = std::move(*opened);
  }
  void TakeAll(const Network& network) {
    for (const TimedBytes& frame : network.Frames()) {
      const Bytes bytes = OfTraceRule(frame.bytes);
      const auto size = static_cast<uint32_t>(bytes.size());
      EXPECT_TRUE(traces_->Take({bytes.data(), size, size}, frame.time));
    }
  }
  void RunUntil(const std::function<bool()>& is_done) {
    bool is_late = false;
    LoopEvent alarm(base_.get(), [&] { is_late = true; });
    alarm.RunAfter(60 * kNanosPerSecond);
    while (!is_done() && !is_late) event_base_loop(base_.get(), EVLOOP_ONCE);
    EXPECT_FALSE(is_late);
  }
  std::vector<StoredTrace> Stored() const {
    const auto found = FindInTraceFolder(folder_, {});
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : std::vector<StoredTrace>();
  }

  std::string folder_;
  OwnedLoop base_{event_base_new()};
  std::string log_;
  std::unique_ptr<LiveTraces> traces_;
};

TEST_F(LiveTracesTest, TellWhatTheRulesOfTheControllerHaveBrought) {
  Open(Options());  // with a topology of its own
  ToldNetwork told;
  told.rules = {{"all", 0, 64}};
  traces_->SetNetwork(PrintToldNetwork(told));
  RunUntil([this] { return !traces_->Show()["rules"].empty(); });
  TakeAll(trace_network::WithADrop());
  RunUntil([this] { return traces_->maker().sums().waiting == 0; });
  const auto rules = traces_->Show()["rules"];
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0]["rule"], "all");
  EXPECT_EQ(rules[0]["packets"], traces_->maker().sums().packets);
  EXPECT_EQ(rules[0]["truncated"], 0);  // they are of 58 bytes
  EXPECT_NE(traces_->switches().names().size(), 0u);
}

TEST_F(LiveTracesTest, StoreWhatIsAbnormalAndSumUpTheRest) {
  Open(Options());
  TakeAll(trace_network::WithADrop());
  RunUntil([this] { return traces_->counters().stored == 1; });
  const TraceSums sums = traces_->maker().sums();
  EXPECT_EQ(sums.copies, 599u);
  EXPECT_EQ(sums.in_traces, 599u);
  EXPECT_EQ(sums.waiting, 0u);
  EXPECT_EQ(sums.packets, 200u);
  EXPECT_EQ(sums.faults[static_cast<size_t>(TraceFault::kDropped)], 1u);
  const auto stored = Stored();
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(traces_->switches().NameOf(stored[0].last_switch), "spine1");
  // The sums of links are written once a second, what was dropped before that.
  uint64_t packets = 0;
  RunUntil([&] {
    packets = 0;
    const auto links = LinksInTraceFolder(folder_, 0, INT64_MAX);
    EXPECT_TRUE(links.ok());
    for (const LinkCounters& link : *links) packets += link.values[kLinkPackets];
    return packets != 0;
  });
  EXPECT_EQ(packets, 200u + 199u);
  EXPECT_EQ(log_, "");
}

TEST_F(LiveTracesTest, AnswerQuestionsFromTheStore) {
  Open(Options());
  TakeAll(trace_network::WithADrop());
  RunUntil([this] { return traces_->counters().stored == 1; });
  size_t found = 0;
  TraceQuery query;
  query.fault = static_cast<uint8_t>(TraceFault::kDropped);
  traces_->Find(query, [&](const auto& answer, const std::string& /*missing*/) {
    found = answer.ok() ? answer->size() : 99;
  });
  EXPECT_EQ(found, 0u);  // from the loop, not from within the call
  RunUntil([&] { return found != 0; });
  EXPECT_EQ(found, 1u);
  query.id = Stored()[0].id;
  EXPECT_EQ(FindInTraceFolder(folder_, query)->size(), 1u);
  query.id = *query.id + 1;
  EXPECT_EQ(FindInTraceFolder(folder_, query)->size(), 0u);
}

TEST_F(LiveTracesTest, LeaveSlicesAndWhatIsNoTunnel) {
  Open(Options());
  const Network network = trace_network::WithADrop();
  for (const TimedBytes& frame : network.Frames()) {
    const auto size = static_cast<uint32_t>(frame.bytes.size());
    EXPECT_FALSE(traces_->Take({frame.bytes.data(), size, size}, frame.time));
  }
  const Bytes packet = trace_network::Packet(1, 1, 64);
  EXPECT_FALSE(traces_->Take(
      {packet.data(), static_cast<uint32_t>(packet.size()), static_cast<uint32_t>(packet.size())},
      kBegin));
  EXPECT_EQ(traces_->maker().sums().frames, 0u);
}

TEST_F(LiveTracesTest, EndWithAllTracesTold) {
  Open(Options());
  TakeAll(trace_network::WithADrop());
  traces_.reset();
  EXPECT_EQ(Stored().size(), 1u);
}

// Numbers of a switch whose copies are spread over analyzers have gaps that mean nothing.
TEST_F(LiveTracesTest, HeedNoNumbersWhereOthersTakeCopiesToo) {
  LiveTracesOptions options = Options();
  options.maker.sees_all_copies = false;
  Open(options);
  Network network;
  for (uint32_t i = 0; i < 100; ++i) network.Cross({1, 2, 4}, kBegin + i * kNanosPerMilli, 0, i);
  for (const TimedBytes& frame : network.Frames()) {
    Bytes bytes = OfTraceRule(frame.bytes);
    if ((frame.time / kNanosPerMilli) % 2 == 1) continue;
    const auto size = static_cast<uint32_t>(bytes.size());
    traces_->Take({bytes.data(), size, size}, frame.time);
  }
  EXPECT_EQ(traces_->maker().sums().lost_by_number, 0u);
}

// Ten times what there is room for: everything is in the sums, whatever became of it.
TEST_F(LiveTracesTest, CountEverythingInOverload) {
  LiveTracesOptions options = Options();
  options.maker.table.max_traces = 64;
  options.maker.table.max_hops = 128;
  options.maker.table.max_hops_of_trace = 2;
  Open(options);
  Network network;
  for (uint32_t i = 0; i < 640; ++i) network.Cross({1, 2, 4}, kBegin + i * 1000, 0, i, kTcpSyn);
  TakeAll(network);
  RunUntil([this] { return traces_->maker().sums().waiting == 0; });
  const TraceSums sums = traces_->maker().sums();
  EXPECT_EQ(sums.copies, 1920u);
  EXPECT_EQ(sums.in_traces + sums.duplicates + sums.shed, 1920u);
  EXPECT_GT(traces_->maker().table_counters().evicted, 0u);
}

// What the counter says is stored is there, though the process was killed.
TEST_F(LiveTracesTest, LoseNothingThatIsStoredWhenKilled) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    base_.reset(event_base_new());
    Open(Options());
    TakeAll(trace_network::WithADrop());
    RunUntil([this] { return traces_->counters().stored > 0; });
    const uint64_t stored = traces_->counters().stored;
    const ssize_t written = write(told[1], &stored, sizeof stored);
    (void)written;
    kill(getpid(), SIGKILL);
  }
  uint64_t stored = 0;
  EXPECT_EQ(read(told[0], &stored, sizeof stored), static_cast<ssize_t>(sizeof stored));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_GT(stored, 0u);
  EXPECT_EQ(Stored().size(), stored);
  close(told[0]);
  close(told[1]);
  Open(Options());  // and it goes on
}

TEST_F(LiveTracesTest, SayWhichFolderCannotBeMade) {
  std::ofstream(folder_ + "/file") << "no folder";
  LiveTracesOptions options = Options();
  options.store.folder = folder_ + "/file/traces";
  auto opened = LiveTraces::Open(
      base_.get(), options, [] { return kNow; }, nullptr);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.message().find(folder_), std::string::npos);
}

}  // namespace
}  // namespace trumpet
