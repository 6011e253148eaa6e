// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/link_discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

namespace trumpet {
namespace {

using Frame = std::vector<uint8_t>;
using Ends = std::pair<SwitchPortId, SwitchPortId>;

constexpr Nanos kStep = 100 * kNanosPerMilli;

// Switches and wires on a clock of their own: frames are lost, and late.
class Wires final : public PacketPort, public LinkListener {
 public:
  explicit Wires(uint64_t seed) : random_(seed) {
    LldpIdentity identity;
    identity.speaker = 5;
    discovery_ = std::make_unique<LinkDiscovery>(
        LinkDiscoveryOptions(), identity, [this] { return random_(); }, this, this);
  }

  LinkDiscovery& discovery() { return *discovery_; }
  Nanos now() const { return now_; }
  bool Chance(double of) { return std::uniform_real_distribution<>()(random_) < of; }
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  void AddSwitch(uint64_t id, uint32_t ports) {
    std::set<uint32_t>& up = up_[id];
    for (uint32_t port = 1; port <= ports; ++port) up.insert(port);
    discovery_->SetPorts(id, up, now_);
  }
  void Connect(SwitchPortId a, SwitchPortId b) {
    Disconnect(a);
    Disconnect(b);
    peers_[a] = b;
    peers_[b] = a;
  }
  void Disconnect(SwitchPortId a) {
    const auto found = peers_.find(a);
    if (found == peers_.end()) return;
    cut_[EndsOf(a, found->second)] = now_;
    peers_.erase(found->second);
    peers_.erase(a);
  }
  // Of frames, from now on.
  void SetLoss(double loss) { loss_ = loss; }
  void SetPorts(uint64_t id, std::set<uint32_t> up) {
    up_[id] = std::move(up);
    discovery_->SetPorts(id, up_[id], now_);
  }
  void Run(Nanos time) {
    for (const Nanos end = now_ + time; now_ < end;) {
      now_ += kStep / 4;
      std::vector<Flying> landing;
      for (size_t i = 0; i < flying_.size();) {
        if (flying_[i].at > now_) {
          ++i;
          continue;
        }
        landing.push_back(std::move(flying_[i]));
        flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      for (const Flying& one : landing) Deliver(one.to, one.frame);
      discovery_->Tick(now_);
    }
  }
  void Deliver(SwitchPortId to, const Frame& frame) {
    discovery_->OnPacketIn(to, frame.data(), frame.size(), now_);
  }

  std::set<Ends> Found() const {
    std::set<Ends> ends;
    for (const DiscoveredLink& link : discovery_->Links()) ends.insert({link.a, link.b});
    return ends;
  }
  // Wires between ports that are up.
  std::set<Ends> Real() const {
    std::set<Ends> ends;
    for (const auto& [a, b] : peers_) {
      if (IsUp(a) && IsUp(b)) ends.insert(EndsOf(a, b));
    }
    return ends;
  }
  bool WasRealSince(const Ends& ends, Nanos since) const {
    const auto cut = cut_.find(ends);
    return Real().count(ends) != 0 || (cut != cut_.end() && cut->second >= since);
  }
  static Ends EndsOf(SwitchPortId a, SwitchPortId b) { return a < b ? Ends(a, b) : Ends(b, a); }

  void SendPacketOut(uint64_t datapath_id, uint32_t port, const Frame& frame) override {
    const auto peer = peers_.find({datapath_id, port});
    if (peer == peers_.end() || !IsUp(peer->second)) return;
    last_frames_.push_back(frame);
    if (Chance(loss_)) return;
    flying_.push_back({now_ + static_cast<Nanos>(Below(50)) * kNanosPerMilli, peer->second, frame});
  }
  void OnLinks() override { ++changes; }

  int changes = 0;
  std::vector<Frame> last_frames_;

 private:
  struct Flying {
    Nanos at;
    SwitchPortId to;
    Frame frame;
  };
  bool IsUp(SwitchPortId id) const {
    const auto found = up_.find(id.datapath_id);
    return found != up_.end() && found->second.count(id.port) != 0;
  }

  std::mt19937_64 random_;
  std::unique_ptr<LinkDiscovery> discovery_;
  std::map<SwitchPortId, SwitchPortId> peers_;
  std::map<uint64_t, std::set<uint32_t>> up_;
  std::map<Ends, Nanos> cut_;
  std::vector<Flying> flying_;
  double loss_ = 0;
  Nanos now_ = 1'000 * kNanosPerSecond;
};

TEST(LinkDiscovery, FindsALinkAndForgetsItByAge) {
  Wires wires(1);
  wires.AddSwitch(1, 2);
  wires.AddSwitch(2, 2);
  wires.Connect({1, 2}, {2, 1});
  wires.Run(500 * kNanosPerMilli);
  EXPECT_EQ(wires.Found(), (std::set<Ends>{{{1, 2}, {2, 1}}}));
  EXPECT_EQ(wires.changes, 1);
  wires.Run(10 * kNanosPerSecond);
  EXPECT_EQ(wires.changes, 1) << "being seen again is no change";
  EXPECT_GT(wires.discovery().Links()[0].seen, wires.now() - 2 * kNanosPerSecond);
  wires.Disconnect({1, 2});
  wires.Run(3 * kNanosPerSecond);
  EXPECT_EQ(wires.Found().size(), 1u);
  wires.Run(2 * kNanosPerSecond);
  EXPECT_EQ(wires.Found().size(), 0u);
}

TEST(LinkDiscovery, DropsALinkAtOnceWithItsPortOrSwitch) {
  Wires wires(2);
  wires.AddSwitch(1, 2);
  wires.AddSwitch(2, 2);
  wires.Connect({1, 1}, {2, 1});
  wires.Connect({1, 2}, {2, 2});
  wires.Run(kNanosPerSecond);
  EXPECT_EQ(wires.Found().size(), 2u) << "parallel links are two";
  wires.SetPorts(1, {2});
  EXPECT_EQ(wires.Found().size(), 1u);
  wires.discovery().RemoveSwitch(2);
  EXPECT_EQ(wires.Found().size(), 0u);
}

TEST(LinkDiscovery, TakesNoWireThatCarriesOneWayOnlyForALink) {
  Wires wires(3);
  wires.AddSwitch(1, 1);
  wires.AddSwitch(2, 1);
  wires.Connect({1, 1}, {2, 1});
  wires.discovery().SetPorts(1, {}, wires.now());  // hears nothing, says nothing
  wires.Run(3 * kNanosPerSecond);
  EXPECT_EQ(wires.Found().size(), 0u);
  EXPECT_GT(wires.discovery().counters().from_unknown_ports, 0u);
}

TEST(LinkDiscovery, IgnoresEdgePortsAndCountsWhatTheySend) {
  Wires wires(4);
  wires.AddSwitch(1, 2);
  wires.AddSwitch(2, 2);
  wires.Connect({1, 1}, {2, 1});
  wires.Connect({1, 2}, {2, 2});
  wires.Run(kNanosPerSecond);
  wires.discovery().SetEdgePorts({{1, 2}});
  EXPECT_EQ(wires.Found(), (std::set<Ends>{{{1, 1}, {2, 1}}}));
  wires.last_frames_.clear();
  wires.Run(3 * kNanosPerSecond);
  EXPECT_EQ(wires.Found().size(), 1u);
  EXPECT_GT(wires.discovery().counters().from_edge_ports, 0u) << "2/2 goes on asking";
}

TEST(LinkDiscovery, BelievesNoFrameTwiceNorLateNorChanged) {
  Wires wires(5);
  wires.AddSwitch(1, 3);
  wires.AddSwitch(2, 3);
  wires.Connect({1, 1}, {2, 1});
  wires.Run(10 * kNanosPerSecond);
  const std::set<Ends> found = wires.Found();
  const LinkDiscoveryCounters before = wires.discovery().counters();
  for (const Frame& frame : wires.last_frames_) {
    wires.Deliver({1, 3}, frame);
    wires.Deliver({2, 3}, frame);
  }
  EXPECT_EQ(wires.discovery().counters().stale - before.stale, wires.last_frames_.size() * 2);
  EXPECT_EQ(wires.discovery().counters().accepted, before.accepted);
  for (Frame frame : wires.last_frames_) {
    frame[70] ^= 1;
    wires.Deliver({1, 3}, frame);
  }
  EXPECT_EQ(wires.discovery().counters().forged, wires.last_frames_.size());
  EXPECT_EQ(wires.Found(), found);
}

TEST(LinkDiscovery, BelievesNoLateFrameThatNeverCame) {
  Wires wires(7);
  wires.SetLoss(1);
  wires.AddSwitch(1, 1);
  wires.AddSwitch(2, 1);
  wires.Connect({1, 1}, {2, 1});
  wires.Run(kStep);
  const std::vector<Frame> lost = wires.last_frames_;
  ASSERT_EQ(lost.size(), 2u);
  wires.Run(2 * kNanosPerSecond);
  wires.Deliver({2, 1}, lost[0]);
  wires.Deliver({1, 1}, lost[1]);
  EXPECT_EQ(wires.discovery().counters().stale, 2u);
  EXPECT_EQ(wires.Found().size(), 0u);
}

TEST(LinkDiscovery, LeavesOutPortsBeyondItsMemory) {
  LinkDiscoveryOptions options;
  options.max_ports = 3;
  options.max_burst = 2;
  Wires wires(6);
  LinkDiscovery small(
      options, LldpIdentity(), [&] { return wires.Below(UINT64_MAX); }, &wires, nullptr);
  small.SetPorts(1, {1, 2, 3, 4, 5}, 0);
  EXPECT_EQ(small.counters().ports_left_out, 2u);
  small.Tick(0);
  EXPECT_EQ(small.counters().sent, 2u);
  small.Tick(1);
  EXPECT_EQ(small.counters().sent, 3u);
  small.Tick(2);
  EXPECT_EQ(small.counters().sent, 3u);
}

// Wires are pulled and plugged, ports and switches come and go, frames are lost and forged: no link
// is ever told that was not there lately, and when peace comes, exactly those that are there.
TEST(LinkDiscovery, TellsOfRandomNetworksWhatIsThere) {
  const LinkDiscoveryOptions options;
  for (uint64_t seed = 100; seed < 130; ++seed) {
    Wires wires(seed);
    const uint64_t switches = 2 + wires.Below(8);
    const auto any_port = [&] {
      return SwitchPortId{1 + wires.Below(switches), static_cast<uint32_t>(1 + wires.Below(6))};
    };
    for (uint64_t id = 1; id <= switches; ++id) wires.AddSwitch(id, 6);
    for (int round = 0; round < 60; ++round) {
      wires.SetLoss(wires.Chance(0.5) ? 0.3 : 0);
      const SwitchPortId a = any_port(), b = any_port();
      if (wires.Chance(0.5) && a != b) wires.Connect(a, b);
      if (wires.Chance(0.3)) wires.Disconnect(any_port());
      if (wires.Chance(0.2)) wires.SetPorts(a.datapath_id, {1, 2, 3});
      if (wires.Chance(0.2)) wires.SetPorts(b.datapath_id, {1, 2, 3, 4, 5, 6});
      for (const Frame& frame : wires.last_frames_) {
        if (!wires.Chance(0.1)) continue;
        Frame forged = frame;
        forged[wires.Below(forged.size())] ^= static_cast<uint8_t>(1 + wires.Below(255));
        wires.Deliver(any_port(), forged);
      }
      wires.last_frames_.clear();
      wires.Run(static_cast<Nanos>(wires.Below(30)) * kStep);
      const Nanos since = wires.now() - options.forget_after - options.interval;
      for (const Ends& ends : wires.Found()) {
        EXPECT_TRUE(wires.WasRealSince(ends, since)) << "seed " << seed << ", round " << round;
      }
    }
    wires.SetLoss(0);
    wires.Run(6 * kNanosPerSecond);
    std::set<Ends> real = wires.Real();
    EXPECT_EQ(wires.Found(), real) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trumpet
