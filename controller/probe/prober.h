// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Prober: sends the packets of probes into the network as if they came in at a port of a switch,
// and asks the analyzers what became of them (docs/probes.md).
//
// A packet goes by PACKET_OUT through the tables of its switch, so nothing has to be changed there.
// It bears the debug bit of the trace rules, by which all switches copy it; no host takes it
// (lib/packet/probe_frame.h).  All probes together send no more than Options::rate packets per
// second, in bursts of a tenth of a second; what has to wait is counted.
//
// A probe that has to pass certain switches has a flow at each of them while it runs, for packets
// to an address that is drawn for this probe (via_route.h).
//
// Packets of a probe are all alike, or each as whoever begins it says (StartSeries()).
//
// A probe ends when there is a trace of each of its packets, or its wait is over.  The last kKept
// ones are remembered.
//
// Threads: that of the libevent loop; nothing is called back.  Lifetime: the parts must outlive it;
// its end drops answers.

#ifndef TRUMPET_CONTROLLER_PROBE_PROBER_H
#define TRUMPET_CONTROLLER_PROBE_PROBER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/probe/probe_book.h"
#include "controller/probe/probe_rate.h"
#include "controller/probe/via_route.h"
#include "controller/trace/trace_rule_book.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

// Whoever knows what became of packets: the analyzers.  ask() is 0 if there are too many questions.
struct TraceWitness {
  std::function<bool()> is_alone;
  std::function<uint64_t(TraceQuestion question, TraceAsker::Answer answer)> ask;
};

struct ProberCounters {
  uint64_t probes = 0;
  uint64_t packets = 0;
  uint64_t held = 0;     // times that a packet had to wait for the rate of all
  uint64_t refused = 0;  // probes
  uint64_t traced = 0;   // packets of which there was a trace
};

class Prober final : public ProbeBook {
 public:
  static constexpr size_t kMaxRunning = 32;
  static constexpr size_t kKept = 256;
  static constexpr Nanos kTick = 10 * kNanosPerMilli;
  static constexpr Nanos kBurst = ProbeRate::kBurst;
  static constexpr Nanos kFirstAsk = 1500 * kNanosPerMilli;  // a trace takes a second at least
  static constexpr Nanos kAskAgain = 500 * kNanosPerMilli;
  static constexpr uint32_t kDefaultRate = 100;
  // Beyond what the rate of one takes, with others under way, where flows wait for its packets.
  static constexpr Nanos kViaPatience = 30 * kNanosPerSecond;

  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    OpenflowNet* net = nullptr;
    TraceWitness traces;
    const TraceRuleBook* rules = nullptr;
    std::function<std::vector<BounceLink>()> links;  // that are known now, both ways
    // What OpenFlow calls a switch that a user may call otherwise.
    std::function<std::string(const std::string& name)> name_of;
    uint32_t rate = kDefaultRate;  // packets per second of all probes
    uint64_t seed = 0;             // of numbers of probes; unknown to those who send packets
    std::function<void(const char* level, const std::string& text)> log;
  };

  explicit Prober(const Parts& parts);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  ProbeStart Start(const ProbeRequest& request, const std::string& caller,
                   const std::string& tenant) override;
  const ProbeView* Find(uint64_t id) const override;
  std::vector<const ProbeView*> List() const override;

  // Likewise with these packets, instead of so many like that of `request`.
  ProbeStart StartSeries(ProbeRequest request, std::vector<ProbePacket> packets,
                         const std::string& caller, const std::string& tenant);
  // Sends no more, and waits no longer.
  void Stop(uint64_t id);
  // The bits of DSCP by which switches copy packets now; 0: none.
  uint8_t debug_dscp() const;

  // Of all packets of probes; whatever else sends some takes its share from it.
  ProbeRate* rate() { return &rate_; }
  size_t running_count() const { return running_.size(); }
  const ProberCounters& counters() const { return counters_; }

 private:
  struct Kept {
    ProbeView view;
    uint64_t number = 0;  // in the order of their beginning
    uint64_t datapath_id = 0;
    uint8_t debug_dscp = 0;
    std::vector<ProbePacket> packets;  // of a series; empty: they are all alike
    std::vector<std::string> frames;   // that were sent
    Nanos next_at = 0;                 // monotonic: the next packet, or the next question
    Nanos deadline = 0;
    std::vector<ViaHop> via;              // empty: it goes as the switches have it
    std::vector<OpenflowRule> via_rules;  // at each of them
    MacBytes via_address{};
    Nanos sends_until = 0;     // with flows that end
    bool is_prepared = false;  // they are there
    bool is_asking = false;
    std::string cursor;  // behind which a page of the answer begins
  };

  ProbeStart Refuse(ProbeStart::Refusal refusal, std::string why);
  void AddNotes(ProbeView* view, uint8_t* debug_dscp) const;
  Result<std::vector<ViaHop>> FindHops(const ProbeRequest& request, uint32_t in_port,
                                       ProbeStart::Refusal* refusal) const;
  void PlanVia(Kept* probe);
  void Prepare(uint64_t id, size_t which);
  void RemoveVia(Kept* probe);
  void NoteWay(Kept* probe) const;
  void Tick();
  void Send(Kept* probe, Nanos now);
  void SendOne(Kept* probe, OpenflowSwitch* which, Nanos now);
  void BeginWaiting(Kept* probe, Nanos now);
  void Ask(Kept* probe);
  void Take(uint64_t id, const TraceFindings& findings);
  void TakeTrace(Kept* probe, ProbeTrace trace);
  void End(Kept* probe);
  void Forget();

  const Parts parts_;
  std::mt19937_64 random_;
  std::map<uint64_t, Kept> probes_;     // by id
  std::map<uint64_t, uint64_t> order_;  // ids by number
  std::vector<uint64_t> running_;       // whose turn it is first
  uint64_t next_number_ = 1;
  ProbeRate rate_;
  ProberCounters counters_;
  LoopEvent ticker_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_PROBER_H
