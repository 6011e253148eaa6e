// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceMaker: frames -> copies -> traces -> what became of each packet, and sums in which every
// frame and every copy is counted once.
//
//   TraceMaker maker(options, routes, [](const TraceReport& report) { ... });
//   maker.TakeFrames(frames, count);     // copies in tunnels; TakeFrame() takes one
//   maker.Advance(now);                  // tells what is complete
//   maker.Finish();                      // and the rest
//
// Threads: one.  Memory: that of the table of traces, taken at the start.  Lifetime: `routes` must
// outlive it.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_MAKER_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_MAKER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "controller/analyzer/copy_sequences.h"
#include "controller/analyzer/hop_times.h"
#include "controller/analyzer/trace_copy.h"
#include "controller/analyzer/trace_judge.h"
#include "controller/analyzer/trace_table.h"
#include "lib/base/units.h"
#include "lib/packet/pcap_reader.h"

namespace trumpet {

constexpr size_t kTraceFaults = 5;

struct TraceMakerOptions {
  TraceCopyOptions copies;
  TraceTableOptions table;
  JudgeOptions judge;
  // All copies of a switch come here, slices' too, so that gaps in their numbers are copies that
  // were lost; not so behind something that spreads them over analyzers.
  bool sees_all_copies = true;
};

// What became of a packet once; borrowed for the call.
struct TraceReport {
  uint64_t id = 0;
  const Trace* trace = nullptr;
  const TracePass* pass = nullptr;
  // Abnormal, marked or of a protocol; or it was told as such before.
  bool is_kept = false;
};

struct TraceSums {
  // frames = copies + other + no_origin + malformed
  uint64_t frames = 0;
  uint64_t copies = 0;
  uint64_t other = 0;      // no tunnel
  uint64_t no_origin = 0;  // a tunnel that does not say which switch
  uint64_t malformed = 0;
  // copies = in_traces + duplicates + shed + waiting
  uint64_t in_traces = 0;
  uint64_t duplicates = 0;
  uint64_t shed = 0;     // beyond the hops that a trace keeps
  uint64_t waiting = 0;  // in traces that are not told yet
  // Copies that did not come: by numbers of switches that number them, else by what traces lack.
  uint64_t lost_by_number = 0;
  uint64_t lost_by_trace = 0;
  uint64_t packets = 0;                         // passes through the network
  std::array<uint64_t, kTraceFaults> faults{};  // as TraceFault
  uint64_t kept = 0;                            // packets, see TraceReport
};

struct SwitchSums {
  uint64_t received = 0;  // copies
  uint64_t lost = 0;      // by their numbers
  bool has_numbers = false;
  bool is_counted = false;     // the switch tells how many it has sent
  uint64_t lost_at_least = 0;  // by that
};

class TraceMaker {
 public:
  using Tell = std::function<void(const TraceReport& report)>;
  using Learn = std::function<void(const Trace& trace)>;

  // `learn` is called with each trace before it is judged; may be null.
  TraceMaker(const TraceMakerOptions& options, const TraceRoutes& routes, Tell tell,
             Learn learn = nullptr);

  // A copy in a tunnel that says which switch made it.  False, and nothing is counted: it is a copy
  // of a slice or none at all, and options.copies.leaves_slices is set.
  bool TakeFrame(const Frame& frame, Nanos time);
  // Many in their order, with what TakeFrame() would answer for each: the same, and cheaper.
  // `is_taken` has room for `count` answers, or is null.
  void TakeFrames(const TimedFrame* frames, size_t count, bool* is_taken);
  // The same, with an Advance() to the time of each behind it.
  void TakeInTime(const TimedFrame* frames, size_t count);
  // A frame as it came to a switch, captured there.
  void TakeFrameOf(uint16_t switch_number, const Frame& frame, Nanos time);
  // The switch says that it has sent so many copies in all; it was asked at one time, and this came
  // at the other.  For switches that do not number their copies (SentCounts); packets that lack
  // copies of it, and have been told, may be told again.
  void TakeSent(uint16_t switch_number, uint64_t sent, Nanos asked_at, Nanos told_at);
  // The rules of these switches are changing, and of no others; rising (RuleChanges).
  void SetChanging(const std::vector<uint16_t>& switches, Nanos now) {
    changes_.Set(switches, now);
  }
  // At most so many; true: there may be more.
  bool Advance(Nanos now, size_t max_traces = SIZE_MAX);
  void Finish();

  TraceSums sums() const;
  std::map<uint16_t, SwitchSums> switch_sums() const;
  size_t trace_count() const { return table_.trace_count(); }
  const TraceTableCounters& table_counters() const { return table_.counters(); }

 private:
  static constexpr size_t kBurst = 32;
  static constexpr size_t kMaxUncounted = 65536;

  // A trace of which more will be known when the switch has told how many copies it sent.
  struct Uncounted {
    Uint128 key = 0;
    UncountedCopy copy;
  };

  bool IsLeft(TraceVerdict verdict) const;
  void Take(TraceVerdict verdict, const TraceCopy& copy);
  void Take(const TimedFrame* frames, size_t count, bool* is_taken, bool advances);
  void TakeBurst(const TimedFrame* frames, size_t count, bool* is_taken, bool advances);
  bool TakeSequence(const TraceHop& hop);
  bool HasNumbers(const TraceStage& stage) const;
  void NoteUncounted(Uint128 key, const TracePass& pass);
  void CountAgain(Nanos now);
  void Judge(Trace* trace);
  void TellAgain();

  const TraceMakerOptions options_;
  const TraceRoutes& routes_;
  const Tell tell_;
  const Learn learn_;
  CopySequences sequences_;
  SentCounts counts_;
  RuleChanges changes_;
  HopTimes hop_times_;
  std::vector<SwitchSums> switches_;  // by number
  TraceSums sums_;
  TraceTable table_;
  std::array<TraceCopy, kBurst> copies_;  // that are being taken
  std::array<TraceVerdict, kBurst> verdicts_{};
  std::vector<TracePass> passes_;  // of the trace that is being judged
  std::vector<Uncounted> uncounted_;
  std::vector<Uint128> again_;  // traces of which more is known now than when they were told
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_MAKER_H
