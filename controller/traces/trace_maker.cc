// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_maker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "controller/analyzer/set_back.h"
#include "lib/model/trace_rule.h"

namespace trumpet {
namespace {

// What is noted of a trace until it is told again: counts by fault, then these.
constexpr size_t kDuplicates = kTraceFaults;
constexpr size_t kLost = kDuplicates + 1;
constexpr size_t kKept = kLost + 1;
constexpr size_t kInTrace = kKept + 1;
static_assert(kInTrace < kTraceNotes);

// Longer than a switch takes to tell what it has sent; then it tells no more.
constexpr Nanos kUncountedFor = 5 * kNanosPerSecond;

bool IsAbnormal(const TracePass& pass) {
  return pass.fault == TraceFault::kDropped || pass.fault == TraceFault::kLoop || pass.is_off_route;
}

// The same of all revisions.  Equal bytes may be sent again when the trace is forgotten, so when it
// began counts; passes beyond the first get ids of their own.
uint64_t IdOf(const Trace& trace, size_t pass) {
  const auto begin = static_cast<uint64_t>(trace.hops.front().time);
  const uint64_t bytes = static_cast<uint64_t>(trace.key) ^ static_cast<uint64_t>(trace.key >> 64);
  return bytes + begin * 0xff51afd7ed558ccdu + pass * 0x9e3779b97f4a7c15u;
}

}  // namespace

TraceMaker::TraceMaker(const TraceMakerOptions& options, const TraceRoutes& routes, Tell tell,
                       Learn learn)
    : options_(options),
      routes_(routes),
      tell_(std::move(tell)),
      learn_(std::move(learn)),
      table_(options.table, [this](Trace& trace) { Judge(&trace); }) {}

bool TraceMaker::TakeFrame(const Frame& frame, Nanos time) {
  const TimedFrame timed{time, frame};
  bool is_taken = false;
  TakeBurst(&timed, 1, &is_taken, false);
  return is_taken;
}

void TraceMaker::TakeFrames(const TimedFrame* frames, size_t count, bool* is_taken) {
  Take(frames, count, is_taken, false);
}

void TraceMaker::TakeInTime(const TimedFrame* frames, size_t count) {
  Take(frames, count, nullptr, true);
}

void TraceMaker::Take(const TimedFrame* frames, size_t count, bool* is_taken, bool advances) {
  for (size_t at = 0; at < count; at += kBurst) {
    bool* const answers = is_taken == nullptr ? nullptr : is_taken + at;
    TakeBurst(frames + at, std::min(kBurst, count - at), answers, advances);
  }
}

// All are read, then what they need of the table is fetched, then each is taken in its turn: a
// trace that is told meanwhile is judged by what came before, and by nothing that came behind.
void TraceMaker::TakeBurst(const TimedFrame* frames, size_t count, bool* is_taken, bool advances) {
  for (size_t i = 0; i < count; ++i) {
    verdicts_[i] = ReadTraceCopy(frames[i].frame, frames[i].time, options_.copies, &copies_[i]);
  }
  if (count > 1) table_.Fetch(copies_.data(), count);
  for (size_t i = 0; i < count; ++i) {
    const bool is_left = IsLeft(verdicts_[i]);
    if (is_taken != nullptr) is_taken[i] = !is_left;
    if (!is_left) {
      Take(verdicts_[i], copies_[i]);
    } else if (verdicts_[i] == TraceVerdict::kSlice) {
      TakeSequence(copies_[i].hop);
      // What tries the rules is copied, and counted, by their flows.
      const TraceHop& hop = copies_[i].hop;
      if (IsTraceTag(hop.tag)) counts_.Take(hop.switch_number, hop.time);
    }
    if (advances) Advance(frames[i].time);
  }
}

bool TraceMaker::IsLeft(TraceVerdict verdict) const {
  return options_.copies.leaves_slices &&
         (verdict == TraceVerdict::kSlice || verdict == TraceVerdict::kOther);
}

bool TraceMaker::TakeSequence(const TraceHop& hop) {
  if (!hop.has_sequence || !options_.sees_all_copies) return false;
  sequences_.Take(hop.switch_number, hop.sequence, hop.time);
  return true;
}

void TraceMaker::TakeFrameOf(uint16_t switch_number, const Frame& frame, Nanos time) {
  TraceCopy& copy = copies_.front();
  Take(ReadTraceFrame(frame, time, switch_number, options_.copies, &copy), copy);
}

void TraceMaker::Take(TraceVerdict verdict, const TraceCopy& copy) {
  ++sums_.frames;
  switch (verdict) {
    case TraceVerdict::kOther:
      ++sums_.other;
      return;
    case TraceVerdict::kNoOrigin:
      ++sums_.no_origin;
      return;
    case TraceVerdict::kMalformed:
      ++sums_.malformed;
      return;
    case TraceVerdict::kSlice:  // has been left
    case TraceVerdict::kCopy:
      break;
  }
  ++sums_.copies;
  const TraceHop& hop = copy.hop;
  if (hop.switch_number >= switches_.size()) switches_.resize(size_t{hop.switch_number} + 1);
  SwitchSums& from = switches_[hop.switch_number];
  ++from.received;
  if (TakeSequence(hop)) from.has_numbers = true;
  counts_.Take(hop.switch_number, hop.time);
  table_.Take(copy);
}

// It is one switch, and numbers its copies.
bool TraceMaker::HasNumbers(const TraceStage& stage) const {
  return stage.size() == 1 && stage[0] < switches_.size() && switches_[stage[0]].has_numbers;
}

void TraceMaker::TakeSent(uint16_t switch_number, uint64_t sent, Nanos asked_at, Nanos told_at) {
  if (options_.sees_all_copies) counts_.Tell(switch_number, sent, asked_at, told_at);
}

void TraceMaker::NoteUncounted(Uint128 key, const TracePass& pass) {
  for (const UncountedCopy& copy : pass.uncounted) {
    if (uncounted_.size() < kMaxUncounted) uncounted_.push_back({key, copy});
  }
}

// Those of which more is known now are told again, and those of which nothing ever will be are let
// go.
void TraceMaker::CountAgain(Nanos now) {
  const auto is_over = [&](const Uncounted& one) {
    const bool is_counted = counts_.IsSettled(one.copy.switch_number, one.copy.until);
    if (is_counted) again_.push_back(one.key);
    return is_counted || now - one.copy.until > kUncountedFor || WasSetBack(one.copy.until, now);
  };
  uncounted_.erase(std::remove_if(uncounted_.begin(), uncounted_.end(), is_over), uncounted_.end());
}

bool TraceMaker::Advance(Nanos now, size_t max_traces) {
  if (counts_.Advance(now)) CountAgain(now);
  const bool has_more = table_.Advance(now, max_traces);
  TellAgain();
  return has_more;
}

void TraceMaker::Finish() {
  table_.Finish();
  TellAgain();
}

// Those of which that is said have claimed before, so that no more come of it.
void TraceMaker::TellAgain() {
  if (again_.empty()) return;
  std::vector<Uint128> keys = std::exchange(again_, {});
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const Uint128 key : keys) table_.TellAgain(key);
}

// What was counted of the trace before is taken back.
void TraceMaker::Judge(Trace* trace) {
  auto& notes = trace->notes;
  for (size_t i = 0; i < kTraceFaults; ++i) {
    sums_.faults[i] -= notes[i];
    sums_.packets -= notes[i];
  }
  sums_.duplicates -= notes[kDuplicates];
  sums_.lost_by_trace -= notes[kLost];
  const bool was_kept = notes[kKept] > 0;
  sums_.kept -= notes[kKept];
  sums_.in_traces -= notes[kInTrace];
  notes = {};
  if (learn_) learn_(*trace);
  const CopyLosses losses = {&sequences_, &counts_, &changes_, &hop_times_};
  JudgeTrace(*trace, routes_, losses, options_.judge, &passes_);
  for (size_t i = 0; i < passes_.size(); ++i) {
    ClaimMissing(trace->key, &sequences_, &passes_[i], &again_);
    NoteUncounted(trace->key, passes_[i]);
    NoteHops(passes_[i], &hop_times_);
    const TracePass& pass = passes_[i];
    ++notes[static_cast<size_t>(pass.fault)];
    notes[kDuplicates] += pass.duplicates;
    notes[kInTrace] += static_cast<uint32_t>(pass.hops.size());
    for (const TraceStage& stage : pass.lost_copies) {
      if (!HasNumbers(stage)) ++notes[kLost];
    }
    const bool is_marked = (trace->packet.marks & (kMarkProtocol | kMarkDebug | kMarkProbe)) != 0;
    const bool is_kept = is_marked || was_kept || IsAbnormal(pass);
    notes[kKept] += is_kept ? 1 : 0;
    tell_({IdOf(*trace, i), trace, &pass, is_kept});
  }
  for (size_t i = 0; i < kTraceFaults; ++i) {
    sums_.faults[i] += notes[i];
    sums_.packets += notes[i];
  }
  sums_.duplicates += notes[kDuplicates];
  sums_.lost_by_trace += notes[kLost];
  sums_.kept += notes[kKept];
  sums_.in_traces += notes[kInTrace];
}

TraceSums TraceMaker::sums() const {
  TraceSums sums = sums_;
  sums.shed = table_.counters().hops_not_kept;
  sums.waiting = sums.copies - sums.in_traces - sums.duplicates - sums.shed;
  for (const auto& [number, from] : switch_sums()) sums.lost_by_number += from.lost;
  return sums;
}

std::map<uint16_t, SwitchSums> TraceMaker::switch_sums() const {
  std::map<uint16_t, SwitchSums> sums;
  for (size_t i = 0; i < switches_.size(); ++i) {
    const auto number = static_cast<uint16_t>(i);
    if (switches_[i].received == 0) continue;
    sums[number] = switches_[i];
    sums[number].lost = sequences_.lost(number);
    sums[number].is_counted = counts_.IsTold(number) && !sums[number].has_numbers;
    sums[number].lost_at_least = counts_.lost(number);
  }
  return sums;
}

}  // namespace trumpet
