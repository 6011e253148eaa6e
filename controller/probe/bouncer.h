// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Bouncer: measures round trips of links by packets that the switch at the other end sends back
// (docs/probes.md, ADR 0055).
//
// For the time of a bounce each of the two switches has one flow of ours, for packets to an address
// of Ethernet that is drawn for this bounce and belongs to nobody, from the port of the link: there
// they are sent back where they came from, with one hop less; here they are copied and end.  The
// packet goes out by PACKET_OUT, copied as well.  The flows have a timeout, should the controller
// be gone.
//
// Copies bear tags that no slice and no trace rule has.  Packets have their share of the rate of
// all probes.  The last kKept bounces are remembered.
//
// Threads: that of the libevent loop; nothing is called back.  Lifetime: the parts must outlive it;
// its end drops answers.

#ifndef TRUMPET_CONTROLLER_PROBE_BOUNCER_H
#define TRUMPET_CONTROLLER_PROBE_BOUNCER_H

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/probe/bounce_book.h"
#include "controller/probe/probe_rate.h"
#include "controller/slice/openflow_driver.h"
#include "lib/base/loop_event.h"
#include "lib/model/slice_copies.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

// What the flows of all bounces are known by.
OpenflowClaim BounceClaim();

struct BouncerCounters {
  uint64_t bounces = 0;
  uint64_t refused = 0;
  uint64_t packets = 0;
  uint64_t returned = 0;
};

class Bouncer final : public BounceBook {
 public:
  static constexpr size_t kMaxRunning = 32;
  static constexpr size_t kKept = 256;
  static constexpr uint16_t kPriority = 64998;  // in table 0
  static constexpr Nanos kTick = 5 * kNanosPerMilli;
  static constexpr Nanos kFirstAsk = 200 * kNanosPerMilli;
  static constexpr Nanos kAskAgain = 500 * kNanosPerMilli;
  // Beyond what the rate of one takes, with others under way.
  static constexpr Nanos kPatience = 30 * kNanosPerSecond;

  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    OpenflowNet* net = nullptr;
    std::function<bool()> has_analyzer;
    std::function<void(const std::vector<ExpectedSlice>& slices)> expect;
    // For copies of a tag, whichever analyzer has them; at most so many of each.
    std::function<void(uint32_t tag, uint32_t max_packets,
                       std::function<void(const Result<BounceRecords>&)> answer)>
        ask;
    OpenflowDriver::FindPort find_port;              // to the analyzers
    std::function<std::vector<BounceLink>()> links;  // that are known now, both ways
    // What OpenFlow calls a switch that a user may call otherwise.
    std::function<std::string(const std::string& name)> name_of;
    ProbeRate* rate = nullptr;
    uint64_t seed = 0;  // of numbers and addresses; unknown to those who send packets
    std::function<void(const char* level, const std::string& text)> log;
  };

  explicit Bouncer(const Parts& parts);
  Bouncer(const Bouncer&) = delete;
  Bouncer& operator=(const Bouncer&) = delete;

  ProbeStart Start(const BounceRequest& asked, const std::string& caller) override;
  const BounceView* Find(uint64_t id) const override;
  std::vector<const BounceView*> List() const override;

  size_t running_count() const { return running_.size(); }
  const BouncerCounters& counters() const { return counters_; }

 private:
  struct Kept {
    BounceView view;
    size_t slot = 0;  // of kMaxRunning: says the tag
    MacBytes address{};
    std::array<uint64_t, 2> datapaths{};  // here, there
    std::array<OpenflowRule, 2> flows;
    std::string actions;       // of packets that go out
    bool is_prepared = false;  // the flows are there
    bool is_asking = false;
    bool has_answer = false;
    Nanos next_at = 0;   // monotonic: the next packet, or the next question
    Nanos deadline = 0;  // of sending, then of waiting
  };

  ProbeStart Refuse(ProbeStart::Refusal refusal, std::string why);
  // What is missing, if anything is.
  std::string WhyNotNow(const BounceLink& link) const;
  uint64_t Begin(const BounceRequest& request, const std::string& caller, const BounceLink& link);
  std::optional<BounceLink> FindLink(const BounceRequest& request, const OpenflowSwitch& which,
                                     std::string* why) const;
  size_t FreeSlot() const;
  void Plan(const OpenflowCopyPort& copy, Kept* bounce);
  void Expect(const Kept& bounce, uint16_t switch_number);
  void Prepare(uint64_t id, size_t which);
  void Tick();
  void Send(Kept* bounce, Nanos now);
  bool SendOne(Kept* bounce);
  void BeginWaiting(Kept* bounce, Nanos now);
  void Ask(Kept* bounce);
  void End(Kept* bounce);
  void Forget();

  const Parts parts_;
  std::mt19937_64 random_;
  std::map<uint64_t, Kept> bounces_;  // by id
  std::vector<uint64_t> order_;       // the oldest first
  std::vector<uint64_t> running_;
  size_t last_slot_ = 0;
  BouncerCounters counters_;
  LoopEvent ticker_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_BOUNCER_H
