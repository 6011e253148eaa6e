// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SliceTable with several bridges beside a twin that is a list of what is on.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "vswitchd-plugin/fake_switch_test.h"
#include "vswitchd-plugin/slice_table.h"

namespace trumpet {
namespace {

using testing::StillSwitch;

constexpr uint32_t kMark = 0x721;
constexpr int kSteps = 20000;

// The obvious way.
class SliceTableTwin {
 public:
  bool TurnOn(const SliceSpec& spec, Nanos now) {
    for (const One& one : on_) {
      const bool meets =
          spec.bridge.empty() || one.spec.bridge.empty() || one.spec.bridge == spec.bridge;
      if (one.spec.tag == spec.tag && meets) return false;
    }
    on_.push_back({spec, now + spec.duration, 0});
    return true;
  }
  void TurnOff(const std::string& bridge, uint32_t tag) {
    End([&](const One& one) {
      return one.spec.tag == tag && (bridge.empty() || one.spec.bridge == bridge);
    });
  }
  void EndDue(Nanos now) {
    End([&](const One& one) { return one.deadline <= now; });
  }
  // The mark of a packet that comes to this bridge; 0: none.
  uint32_t Receive(const std::string& bridge) {
    for (One& one : on_) {
      const SliceSpec& spec = one.spec;
      const bool is_there = spec.bridge.empty() || spec.bridge == bridge;
      const bool is_full = spec.max_packets != 0 && one.packets == spec.max_packets;
      if (!is_there || is_full) continue;
      ++one.packets;
      return (spec.mark == 0 ? kMark : uint32_t{spec.mark}) << 20 | spec.tag;
    }
    return 0;
  }
  std::vector<uint64_t> packets() const {
    std::vector<uint64_t> all;
    for (const One& one : on_) all.push_back(one.packets);
    return all;
  }
  uint64_t ended_packets() const { return ended_packets_; }

 private:
  struct One {
    SliceSpec spec;
    Nanos deadline = 0;
    uint64_t packets = 0;
  };

  template <typename IsOver>
  void End(const IsOver& is_over) {
    for (const One& one : on_) ended_packets_ += is_over(one) ? one.packets : 0;
    on_.erase(std::remove_if(on_.begin(), on_.end(), is_over), on_.end());
  }

  std::vector<One> on_;  // as they were turned on
  uint64_t ended_packets_ = 0;
};

class SliceTableRandomTest : public ::testing::Test {
 protected:
  SliceTableRandomTest() : still_(1) {
    still_.plugin.SetConfig({{"trumpet-enable", "true"}});
    still_.plugin.UpdatePort(7, "vm7", "dpdkvhostuserclient", true);
    still_.plugin.UpdatePort(8, "vm8", "dpdkvhostuserclient", true);
    still_.RunMs(1);
    SlicePlaces places;
    places.ports_of = {{"br-7", {"vm7"}}, {"br-8", {"vm8"}}};
    table().SetPlaces(std::move(places));
  }

  SliceTable& table() { return still_.plugin.agent().slices(); }
  Nanos now() const { return still_.monotonic; }
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  // Few tags and bridges, so that they meet.
  std::string AnyBridge() {
    const std::vector<std::string> bridges = {"", "br-7", "br-8"};
    return bridges[Below(3)];
  }
  uint32_t AnyTag() { return 1 + Below(3); }

  void TurnOne() {
    SliceSpec spec;
    spec.bridge = AnyBridge();
    spec.tag = AnyTag();
    spec.duration = static_cast<Nanos>(1 + Below(20)) * kNanosPerMilli;
    spec.max_packets = Below(8);
    spec.mark = static_cast<uint16_t>(Below(3));
    ASSERT_EQ(table().TurnOn(spec, now()).ok(), twin_.TurnOn(spec, now()));
  }
  void EndOne() {
    const std::string bridge = AnyBridge();
    const uint32_t tag = AnyTag();
    table().TurnOff(bridge, tag, now());
    twin_.TurnOff(bridge, tag);
  }
  void PassTime() {
    still_.monotonic += static_cast<Nanos>(Below(4)) * kNanosPerMilli;
    table().EndDue(now());
    twin_.EndDue(now());
  }
  void ReceiveOne() {
    const uint32_t port = 7 + Below(2);
    const uint32_t mark = twin_.Receive("br-" + std::to_string(port));
    ASSERT_EQ(still_.Receive(still_.threads[0], 1, 0x0a008001, port), mark == 0 ? 0 : 1);
    if (mark == 0) return;
    ASSERT_EQ(still_.last_mark, mark);
    ++marked_;
  }
  void ExpectTheSame() {
    const SliceTableStatus status = table().Snapshot(now());
    std::vector<uint64_t> packets;
    for (const SliceStatus& slice : status.on) packets.push_back(slice.counts.packets);
    ASSERT_EQ(packets, twin_.packets());
    ASSERT_EQ(status.packets, twin_.ended_packets());
  }

  StillSwitch still_;
  SliceTableTwin twin_;
  std::mt19937 random_{20261122};
  uint64_t marked_ = 0;
};

TEST_F(SliceTableRandomTest, KeepsBridgesApartAsItsTwinDoes) {
  for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    switch (Below(4)) {
      case 0:
        TurnOne();
        break;
      case 1:
        EndOne();
        break;
      case 2:
        PassTime();
        break;
      default:
        ReceiveOne();
    }
    ExpectTheSame();
  }
  EXPECT_GT(marked_, 1000u);
}

}  // namespace
}  // namespace trumpet
