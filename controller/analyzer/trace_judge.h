// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// JudgeTrace: what became of a packet, by the copies that there are of it.
//
// * A sender without IP IDs may send the same bytes again: a copy of the same switch, port and TTL
//   begins another pass if it is made where packets enter the network, or long after the first.
//   Equal packets that follow each other closely are one: no more than that is known of them.
// * A copy with a number that was there already is a duplicate, and so is one that a switch made
//   twice at a time.
// * A packet that comes to the same port again with another TTL, or to two ports in turn with the
//   same one, is in a loop.
// * Copies that are missing between two that are there were lost, and not the packet.  If all are
//   missing from some switch on, either the packet was lost behind the last that has one, or all
//   those copies were: the probability says which, from the gaps in the numbers of the copies, or
//   from what a switch that does not number them has counted (SentCounts).
// * Where the rules changed meanwhile, copies that are missing say nothing (RuleChanges).
//
// Threads: pure function.

#ifndef TRUMPET_CONTROLLER_ANALYZER_TRACE_JUDGE_H
#define TRUMPET_CONTROLLER_ANALYZER_TRACE_JUDGE_H

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/analyzer/copy_sequences.h"
#include "controller/analyzer/hop_times.h"
#include "controller/analyzer/rule_changes.h"
#include "controller/analyzer/sent_counts.h"
#include "controller/analyzer/trace_table.h"
#include "lib/base/units.h"

namespace trumpet {

// The switches of which a packet passes exactly one: more than one where paths are equal and
// nobody knows which a flow takes.
using TraceStage = std::vector<uint16_t>;

// Stages one behind the other; borrowed.
class TraceWay {
 public:
  TraceWay() = default;
  explicit TraceWay(const std::vector<TraceStage>& stages, size_t first = 0)
      : begin_(stages.data() + first), end_(stages.data() + stages.size()) {}

  const TraceStage* begin() const { return begin_; }
  const TraceStage* end() const { return end_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  const TraceStage& front() const { return *begin_; }
  const TraceStage& operator[](size_t i) const { return begin_[i]; }

 private:
  const TraceStage* begin_ = nullptr;
  const TraceStage* end_ = nullptr;
};

// Where packets ought to go; from the topology, or what else knows the rules of switches.
class TraceRoutes {
 public:
  virtual ~TraceRoutes() = default;
  // The stages behind a switch until the packet leaves the network; empty: it leaves there.  They
  // are kept at least until another trace is asked about.
  virtual std::optional<TraceWay> After(uint16_t switch_number, const Trace& trace) const = 0;
  // The packet may pass there on its way from the other one, although no stage says so: stages do
  // not name all switches of equal ways.
  virtual bool MayPass(uint16_t /*from*/, uint16_t /*switch_number*/,
                       const Trace& /*trace*/) const {
    return false;
  }
  // Such packets come in there from outside of the network.
  virtual bool IsEdge(const TraceHop& hop, const Trace& trace) const = 0;
};

struct JudgeOptions {
  double packet_loss = 0.001;                // of a packet on its way, before anything is known
  double copy_loss = 0.01;                   // of a copy, where its number does not tell
  Nanos resend_after = kNanosPerMilli;       // at an edge
  Nanos repeat_after = 20 * kNanosPerMilli;  // elsewhere: longer than a round of a loop
  // A copy of the next switch would have come within so much of this one's, unless hops have been
  // slower of late.
  Nanos hop_time = kNanosPerMilli;
};

enum class TraceFault : uint8_t {
  kNone,
  kDropped,
  kCopiesLost,  // those of the last switches, more likely than the packet
  kLoop,
  kNotKnown,  // where it ought to go, or whether it was to have copies
};

// How a packet goes round.
enum class TraceLoop : uint8_t {
  kBridged,  // as it is
  kRouted,   // with a TTL that falls
  kOverlay,  // into a tunnel and out of it again, or into another one: a middlebox sends it back
};

// Of a switch whose counts tell nothing of that time yet.
struct UncountedCopy {
  uint16_t switch_number = 0;
  Nanos until = 0;
};

// One way of the packet through the network.
struct TracePass {
  std::vector<TraceHop> hops;  // in the order of the path: falling TTL, then time
  uint32_t duplicates = 0;
  uint32_t sent_again = 0;  // those of them that were made where packets come in
  TraceFault fault = TraceFault::kNone;
  double drop_probability = 0;
  uint16_t last_switch = 0;              // that is known to have had it
  TraceStage expected_next;              // kDropped, kCopiesLost
  std::vector<TraceStage> lost_copies;   // of switches that it passed
  std::vector<MissingCopy> missing;      // those of them, and of kCopiesLost, that have numbers
  std::vector<UncountedCopy> uncounted;  // where more will be known
  std::vector<uint16_t> loop;            // its switches
  TraceLoop loop_kind = TraceLoop::kBridged;
  bool is_off_route = false;       // it passed a switch that it ought not to
  bool is_start_missing = false;   // there is no copy of where it came in
  bool has_changed_rules = false;  // copies are missing where the rules changed

  // Keeps the memory of its hops.
  void Clear();
};

// What is known of copies that did not come; each may be null.
struct CopyLosses {
  const CopySequences* sequences = nullptr;
  const SentCounts* counts = nullptr;  // of switches without numbers
  const RuleChanges* changes = nullptr;
  const HopTimes* hop_times = nullptr;
};

// Of each way that the packet took, in `passes`, whose memory is used again.
void JudgeTrace(const Trace& trace, const TraceRoutes& routes, const CopyLosses& losses,
                const JudgeOptions& options, std::vector<TracePass>* passes);

// How long its hops took, if it lacks none.
void NoteHops(const TracePass& pass, HopTimes* times);

// Claims numbers for the copies that are missing.  If more packets lack their copy than copies were
// lost there, packets were: then this one is dropped, with what that is worth as its probability,
// and so may be those that have claimed before, which are added to `others` the first time.
void ClaimMissing(Uint128 key, CopySequences* sequences, TracePass* pass,
                  std::vector<Uint128>* others);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_TRACE_JUDGE_H
