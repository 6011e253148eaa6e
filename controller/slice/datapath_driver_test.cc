// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/datapath_driver.h"

#include "controller/tem/event_manager_kit_test.h"

namespace trumpet {
namespace {

class DatapathDriverTest : public EventManagerHostsTest {
 protected:
  DatapathDriverTest() {
    driver_ = std::make_unique<DatapathDriver>(
        loop_.base(), manager_.get(),
        [this](const std::string& name) -> std::optional<DatapathPlace> {
          if (name == "nowhere") return std::nullopt;
          const std::string host = name.substr(0, 2);  // of "h0" and of "h0-east"
          return DatapathPlace{host, "br-" + name, 7, flow_};
        });
    driver_->OnEnd([this](const SliceEnd& end) { ends_.push_back(end); });
  }
  ~DatapathDriverTest() override { driver_.reset(); }

  static SliceSpec Spec(uint32_t tag, Nanos duration = 5 * kNanosPerMilli) {
    SliceSpec spec;
    spec.tag = tag;
    spec.duration = duration;
    spec.max_packets = 9;
    return spec;
  }
  void TurnOn(const std::string& name, const SliceSpec& spec) {
    driver_->TurnOn(name, spec, Note());
    EXPECT_TRUE(answers_.empty()) << "an answer from within the call";
  }
  SliceDriver::Done Note() {
    return
        [this](const Status& status) { answers_.push_back(status.ok() ? "ok" : status.message()); };
  }
  std::string Answer() {
    EXPECT_TRUE(RunUntil([&] { return !answers_.empty(); }));
    if (answers_.empty()) return "none";
    const std::string answer = answers_.front();
    answers_.erase(answers_.begin());
    return answer;
  }
  // What the agent of that host was told last.
  template <typename Order>
  Order Next(size_t agent) {
    EXPECT_TRUE(RunUntil([&] { return !Agent(agent).slice_orders.empty(); }));
    Order order = std::get<Order>(Agent(agent).slice_orders.front());
    Agent(agent).slice_orders.erase(Agent(agent).slice_orders.begin());
    return order;
  }

  CopyFlowState flow_ = CopyFlowState::kAdministrators;
  std::unique_ptr<DatapathDriver> driver_;
  std::vector<SliceEnd> ends_;
  std::vector<std::string> answers_;
};

TEST_F(DatapathDriverTest, TurnsASliceOnAndTellsItsEndOnce) {
  Connect(0);
  EXPECT_TRUE(driver_->Serves("h0"));
  EXPECT_FALSE(driver_->Serves("h1"));
  EXPECT_FALSE(driver_->Serves("nowhere"));
  TurnOn("h0", Spec(7));
  const auto order = Next<SliceOn>(0);
  EXPECT_EQ(order.slice.tag, 7u);
  EXPECT_EQ(order.slice.bridge, "br-h0");
  EXPECT_EQ(order.slice.max_packets, 9u);
  Agent(0).Send(SliceAck{"br-h0", 7, true, ""});
  EXPECT_EQ(Answer(), "ok");
  Agent(0).Send(HostSliceEnd{"br-h0", 7, 3, 180, 1, 5 * kNanosPerMilli, 4 * kNanosPerMilli});
  Agent(0).Send(HostSliceEnd{"br-h0", 7, 3, 180, 1, 5 * kNanosPerMilli, 4 * kNanosPerMilli});
  ASSERT_TRUE(RunUntil([&] { return !ends_.empty(); }));
  loop_.RunReady();
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_EQ(ends_[0].switch_name, "h0");
  EXPECT_EQ(ends_[0].packets, 3u);
  EXPECT_EQ(ends_[0].withheld, 1u);
  EXPECT_EQ(ends_[0].lasted, 5 * kNanosPerMilli);
}

TEST_F(DatapathDriverTest, SaysWhyASliceIsNotOn) {
  Connect(0);
  TurnOn("nowhere", Spec(1));
  EXPECT_EQ(Answer(), "switch 'nowhere': its host is not known");
  TurnOn("h1", Spec(1));
  EXPECT_EQ(Answer(), "switch 'h1': host h1 is not connected");
  TurnOn("h0", Spec(1));
  TurnOn("h0", Spec(1));
  EXPECT_EQ(Answer(), "switch 'h0': the tag is in use");
  Agent(0).Send(SliceAck{"br-h0", 1, false, "the monitor of this switch is off"});
  EXPECT_EQ(Answer(), "switch 'h0': the monitor of this switch is off");
  EXPECT_TRUE(ends_.empty());
}

TEST_F(DatapathDriverTest, TurnsASliceOff) {
  Connect(0);
  driver_->TurnOff("h0", 5, Note());
  EXPECT_EQ(Answer(), "ok");
  TurnOn("h0", Spec(5, kNanosPerSecond));
  Agent(0).Send(SliceAck{"br-h0", 5, true, ""});
  EXPECT_EQ(Answer(), "ok");
  Next<SliceOn>(0);
  driver_->TurnOff("h0", 5, Note());
  const auto off = Next<SliceOff>(0);
  EXPECT_EQ(off.bridge, "br-h0");
  EXPECT_EQ(off.tag, 5u);
  EXPECT_TRUE(answers_.empty());
  Agent(0).Send(HostSliceEnd{"br-h0", 5, 1, 60, 0, 9, 0});
  EXPECT_EQ(Answer(), "ok");
  EXPECT_EQ(ends_.size(), 1u);
}

TEST_F(DatapathDriverTest, KeepsBridgesOfOneHostApart) {
  Connect(0);
  for (const char* name : {"h0-east", "h0-west"}) TurnOn(name, Spec(7));
  EXPECT_EQ(Next<SliceOn>(0).slice.bridge, "br-h0-east");
  EXPECT_EQ(Next<SliceOn>(0).slice.bridge, "br-h0-west");
  Agent(0).Send(SliceAck{"br-h0-west", 7, false, "no bridge 'br-h0-west' is known"});
  EXPECT_EQ(Answer(), "switch 'h0-west': no bridge 'br-h0-west' is known");
  Agent(0).Send(SliceAck{"br-h0-east", 7, true, ""});
  EXPECT_EQ(Answer(), "ok");
  TurnOn("h0-west", Spec(7));
  Agent(0).Send(SliceAck{"br-h0-west", 7, true, ""});
  EXPECT_EQ(Answer(), "ok");
  Agent(0).Send(HostSliceEnd{"br-h0-west", 7, 2, 120, 0, 5 * kNanosPerMilli, 0});
  Agent(0).Send(HostSliceEnd{"br-h0-south", 7, 9, 999, 0, 5 * kNanosPerMilli, 0});
  Agent(0).Send(HostSliceEnd{"br-h0-east", 7, 3, 180, 0, 5 * kNanosPerMilli, 0});
  ASSERT_TRUE(RunUntil([&] { return ends_.size() == 2; }));
  EXPECT_EQ(ends_[0].switch_name, "h0-west");
  EXPECT_EQ(ends_[0].packets, 2u);
  EXPECT_EQ(ends_[1].switch_name, "h0-east");
  EXPECT_EQ(ends_[1].packets, 3u);
}

TEST_F(DatapathDriverTest, MarksForTheFlowThatCopiesAsMuchAsIsAskedFor) {
  Connect(0);
  SliceSpec spec = Spec(7);
  spec.snap_bytes = 100;
  TurnOn("h0", spec);
  EXPECT_EQ(Next<SliceOn>(0).slice.mark, 0u);  // the administrator knows what he wants
  flow_ = CopyFlowState::kOurs;
  TurnOn("h0", Spec(8));
  EXPECT_EQ(Next<SliceOn>(0).slice.mark, 0x721u);
  spec.tag = 9;
  spec.snap_bytes = kSliceSnapBytes;
  TurnOn("h0", spec);
  EXPECT_EQ(Next<SliceOn>(0).slice.mark, 0x722u);
  spec.tag = 10;
  spec.snap_bytes = 100;
  TurnOn("h0", spec);
  EXPECT_EQ(Answer(), "switch 'h0': it copies packets whole or their first 192 bytes, not 100");
  EXPECT_TRUE(driver_->Serves("h0"));
  flow_ = CopyFlowState::kMissing;
  EXPECT_FALSE(driver_->Serves("h0"));
  TurnOn("h0", Spec(11));
  EXPECT_EQ(Answer(),
            "switch 'h0': the flows that copy what it marks are not there; openflow/list says why");
}

TEST_F(DatapathDriverTest, AHostThatGoesLeavesNothingOpen) {
  Connect(0);
  TurnOn("h0", Spec(1, kNanosPerMilli));
  Agent(0).Send(SliceAck{"br-h0", 1, true, ""});
  EXPECT_EQ(Answer(), "ok");
  TurnOn("h0", Spec(2));
  Agent(0).Kill();
  EXPECT_EQ(Answer(), "switch 'h0': its host has gone");
  driver_->TurnOff("h0", 1, Note());
  EXPECT_EQ(Answer(), "host h0 is not connected; the slice ends by itself");
  ASSERT_TRUE(RunUntil([&] { return !ends_.empty(); }));
  EXPECT_EQ(ends_[0].tag, 1u);
  EXPECT_EQ(ends_[0].lasted, 0);
  EXPECT_FALSE(driver_->Serves("h0"));
}

}  // namespace
}  // namespace trumpet
