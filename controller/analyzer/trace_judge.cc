// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_judge.h"

#include <algorithm>
#include <utility>

#include "controller/analyzer/trace_loops.h"

namespace trumpet {
namespace {

// Of a copy of a switch whose numbers have no gap, or which has sent no copy that did not come:
// clocks may have erred.
constexpr double kLostWithoutGap = 1e-6;

// Equal ones stay in their order.  Most lists are in order, and std::stable_sort() takes memory.
template <typename Before>
void Sort(std::vector<TraceHop>* hops, const Before& before) {
  if (std::is_sorted(hops->begin(), hops->end(), before)) return;
  std::stable_sort(hops->begin(), hops->end(), before);
}

bool WasNumbered(const std::vector<TracePass>& passes, const TraceHop& hop) {
  if (!hop.has_sequence) return false;
  for (const TracePass& pass : passes) {
    for (const TraceHop& other : pass.hops) {
      const bool is_same = other.has_sequence && other.switch_number == hop.switch_number &&
                           other.sequence == hop.sequence;
      if (is_same) return true;
    }
  }
  return false;
}

// Where the packet came to the switch first: a loop brings it back at another port.
bool IsFirstPort(const TraceHop& hop, const TracePass& pass) {
  const auto first = std::find_if(pass.hops.begin(), pass.hops.end(), [&hop](const TraceHop& one) {
    return one.switch_number == hop.switch_number;
  });
  return first != pass.hops.end() && first->tag == hop.tag;
}

enum class Place : uint8_t { kHere, kDuplicate, kNextPass };

Place PlaceOf(const TraceHop& hop, const TracePass& pass, const Trace& trace,
              const TraceRoutes& routes, const JudgeOptions& options) {
  for (auto other = pass.hops.rbegin(); other != pass.hops.rend(); ++other) {
    if (!IsSamePort(*other, hop) || other->ttl != hop.ttl) continue;
    const Nanos gap = hop.time - other->time;
    if (routes.IsEdge(hop, trace) && IsFirstPort(hop, pass)) {
      return gap >= options.resend_after ? Place::kNextPass : Place::kDuplicate;
    }
    return gap >= options.repeat_after ? Place::kNextPass : Place::kHere;
  }
  return Place::kHere;
}

// No port has more copies than there are of where packets come in: equal ones followed each other
// closely, and none went round.
bool WereSentAgain(const Trace& trace, const TraceRoutes& routes,
                   const std::vector<TracePass>& passes, const TracePass& pass) {
  size_t sent = 0;
  for (const TracePass& one : passes) {
    sent += one.sent_again;
    sent += std::any_of(one.hops.begin(), one.hops.end(), [&](const TraceHop& hop) {
      return routes.IsEdge(hop, trace) && IsFirstPort(hop, one);
    });
  }
  return std::all_of(pass.hops.begin(), pass.hops.end(), [&](const TraceHop& hop) {
    size_t copies = 0;
    for (const TraceHop& other : trace.hops) {
      if (!IsSamePort(hop, other)) continue;
      if (hop.ttl != other.ttl) return false;
      ++copies;
    }
    return copies <= sent;
  });
}

bool IsEarlier(const TraceHop& a, const TraceHop& b) { return a.time < b.time; }

void SplitHops(const std::vector<TraceHop>& hops, const Trace& trace, const TraceRoutes& routes,
               const JudgeOptions& options, std::vector<TracePass>* passes) {
  for (const TraceHop& hop : hops) {
    if (WasNumbered(*passes, hop)) {
      ++passes->back().duplicates;
      continue;
    }
    switch (PlaceOf(hop, passes->back(), trace, routes, options)) {
      case Place::kDuplicate:
        ++passes->back().duplicates;
        ++passes->back().sent_again;
        break;
      case Place::kNextPass:
        passes->emplace_back();
        [[fallthrough]];
      case Place::kHere:
        passes->back().hops.push_back(hop);
        break;
    }
  }
}

// In the order of arrival, which is that of the trace unless clocks step back.
void SplitPasses(const Trace& trace, const TraceRoutes& routes, const JudgeOptions& options,
                 std::vector<TracePass>* passes) {
  passes->resize(1);
  passes->front().Clear();
  if (std::is_sorted(trace.hops.begin(), trace.hops.end(), IsEarlier)) {
    return SplitHops(trace.hops, trace, routes, options, passes);
  }
  std::vector<TraceHop> hops = trace.hops;
  std::stable_sort(hops.begin(), hops.end(), IsEarlier);
  SplitHops(hops, trace, routes, options, passes);
}

class Judge {
 public:
  Judge(const Trace& trace, const TraceRoutes& routes, const CopyLosses& losses,
        const JudgeOptions& options, TracePass* pass)
      : trace_(trace),
        routes_(routes),
        sequences_(losses.sequences),
        counts_(losses.counts),
        changes_(losses.changes),
        hop_times_(losses.hop_times),
        options_(options),
        pass_(*pass) {}

  void Run() {
    if (WentAsItOught()) return;
    for (const TraceHop& hop : pass_.hops) {
      after_.push_back(routes_.After(hop.switch_number, trace_));
    }
    TraceWay behind;
    const TraceHop* last = FindLast(&behind);
    if (last == nullptr) {
      pass_.fault = TraceFault::kNotKnown;
      pass_.last_switch = pass_.hops.back().switch_number;
      return;
    }
    pass_.last_switch = last->switch_number;
    LookBetween(*last);
    LookBehind(*last, behind);
  }

 private:
  using Stages = std::optional<TraceWay>;

  // Most do: from an edge, by one switch of each stage, to where they leave.  The rest of Run()
  // would say the same of them, and take longer.
  bool WentAsItOught() {
    const TraceHop& first = pass_.hops.front();
    const TraceHop& last = pass_.hops.back();
    if (!routes_.IsEdge(first, trace_)) return false;
    const Stages after = routes_.After(first.switch_number, trace_);
    if (!after || after->size() + 1 != pass_.hops.size()) return false;
    for (size_t i = 0; i < after->size(); ++i) {
      if (!Contains((*after)[i], pass_.hops[i + 1].switch_number)) return false;
    }
    const Stages behind = routes_.After(last.switch_number, trace_);
    if (!behind || !behind->empty()) return false;
    pass_.last_switch = last.switch_number;
    return true;
  }

  const Stages& After(const TraceHop& hop) const {
    return after_[static_cast<size_t>(&hop - pass_.hops.data())];
  }

  bool WasSeenIn(const TraceStage& stage) const {
    return std::any_of(pass_.hops.begin(), pass_.hops.end(), [&stage](const TraceHop& hop) {
      return Contains(stage, hop.switch_number);
    });
  }

  // The last hop from which the packet was to go nowhere that it was seen.  Time alone would not
  // do: copies overtake each other on their way to the analyzer.
  const TraceHop* FindLast(TraceWay* behind) const {
    const TraceHop* last = nullptr;
    for (const TraceHop& hop : pass_.hops) {
      const Stages& after = After(hop);
      if (!after) continue;
      const bool was_seen_later =
          std::any_of(after->begin(), after->end(),
                      [this](const TraceStage& stage) { return WasSeenIn(stage); });
      if (was_seen_later) continue;
      last = &hop;
      *behind = *after;
    }
    return last;
  }

  // From where it came in to `last`: what is missing there are copies.
  void LookBetween(const TraceHop& last) {
    const TraceHop* const first = FindFirst();
    pass_.is_start_missing = !routes_.IsEdge(*first, trace_);
    std::vector<TraceStage> way = {{first->switch_number}};
    const Stages& after = After(*first);
    if (after) way.insert(way.end(), after->begin(), after->end());
    const auto end = std::find_if(way.begin(), way.end(), [&last](const TraceStage& stage) {
      return Contains(stage, last.switch_number);
    });
    for (const TraceHop& hop : pass_.hops) {
      const bool is_on_way = std::any_of(way.begin(), way.end(), [&hop](const TraceStage& stage) {
        return Contains(stage, hop.switch_number);
      });
      if (is_on_way || routes_.MayPass(first->switch_number, hop.switch_number, trace_)) continue;
      pass_.is_off_route = true;
    }
    if (end == way.end() || pass_.is_off_route) return;
    for (auto stage = way.begin(); stage != end; ++stage) {
      if (WasSeenIn(*stage)) continue;
      const auto before =
          std::find_if(pass_.hops.rbegin(), pass_.hops.rend(), [&](const TraceHop& hop) {
            return std::any_of(way.begin(), stage, [&hop](const TraceStage& one) {
              return Contains(one, hop.switch_number);
            });
          });
      const Nanos since = before == pass_.hops.rend() ? first->time : before->time;
      const Nanos from = since - options_.hop_time, until = last.time + options_.hop_time;
      if (HasChangedRules(*stage, from, until)) continue;
      pass_.lost_copies.push_back(*stage);
      NoteMissing(*stage, from, since, until, true);
    }
  }

  // Copies that are missing there are not lost then; the pass remembers.
  bool HasChangedRules(const TraceStage& stage, Nanos from, Nanos until) {
    if (changes_ == nullptr) return false;
    const bool has_changed = std::any_of(stage.begin(), stage.end(), [&](uint16_t one) {
      return changes_->Between(one, from, until);
    });
    pass_.has_changed_rules |= has_changed;
    return has_changed;
  }

  // The hop that no other leads to, as far as is known.
  const TraceHop* FindFirst() const {
    const TraceHop* first = &pass_.hops.front();
    for (const TraceHop& hop : pass_.hops) {
      const Stages& after = After(hop);
      if (!after) continue;
      const bool leads_there = std::any_of(
          after->begin(), after->end(),
          [first](const TraceStage& stage) { return Contains(stage, first->switch_number); });
      if (leads_there) first = &hop;
    }
    return first;
  }

  void LookBehind(const TraceHop& last, const TraceWay& behind) {
    if (behind.empty()) return;
    const Nanos from = last.time - options_.hop_time;
    Nanos until = last.time;
    for (const TraceStage& stage : behind) {
      until += options_.hop_time;
      if (!HasChangedRules(stage, from, until)) continue;
      pass_.fault = TraceFault::kNotKnown;
      return;
    }
    double all_lost = 1;
    until = last.time;
    for (const TraceStage& stage : behind) {
      until += options_.hop_time;
      all_lost *= CopyLoss(stage, from, until);
      NoteMissing(stage, from, last.time, until, false);
    }
    const double dropped = options_.packet_loss;
    pass_.drop_probability = dropped / (dropped + (1 - dropped) * all_lost);
    pass_.fault = pass_.drop_probability > 0.5 ? TraceFault::kDropped : TraceFault::kCopiesLost;
    pass_.expected_next = behind.front();
  }

  void NoteMissing(const TraceStage& stage, Nanos from, Nanos around, Nanos until,
                   bool is_certain) {
    if (sequences_ == nullptr || stage.size() != 1) return;
    if (LostAround(stage.front(), from, &until).lost == 0) return;
    const Nanos slow = hop_times_ == nullptr ? 0 : hop_times_->slow();
    const Nanos spread = std::max(options_.hop_time, slow);
    pass_.missing.push_back({stage.front(), from, around, until, spread, is_certain});
  }

  // Where no copy was lost within the usual time but one was later, when hops are as slow as they
  // have been of late, it is that one that is looked for.
  CopySequences::Around LostAround(uint16_t switch_number, Nanos from, Nanos* until) const {
    const auto usual = sequences_->Between(switch_number, from, *until);
    if (usual.lost > 0 || hop_times_ == nullptr) return usual;
    const Nanos later = *until - options_.hop_time + hop_times_->slowest();
    if (later <= *until) return usual;
    const auto late = sequences_->Between(switch_number, from, later);
    if (late.lost == 0) return usual;
    *until = later;
    return late;
  }

  // The greatest of the switches that it may have passed.
  double CopyLoss(const TraceStage& stage, Nanos from, Nanos until) const {
    double greatest = 0;
    for (const uint16_t switch_number : stage) {
      greatest = std::max(greatest, CopyLossAt(switch_number, from, until));
    }
    return greatest;
  }

  double CopyLossAt(uint16_t switch_number, Nanos from, Nanos until) const {
    Nanos end = until;
    CopySequences::Around around;
    if (sequences_ != nullptr) around = LostAround(switch_number, from, &end);
    if (around.is_known && around.lost == 0) return kLostWithoutGap;
    if (around.is_known) return static_cast<double>(around.lost) / std::max(1.0, around.made);
    const bool has_numbers = sequences_ != nullptr && sequences_->Numbers(switch_number);
    if (has_numbers || counts_ == nullptr || !counts_->IsTold(switch_number)) {
      return options_.copy_loss;
    }
    const SentCounts::Around counted = counts_->Between(switch_number, from, until);
    if (counted.is_none) return kLostWithoutGap;
    if (!counts_->IsSettled(switch_number, until))
      pass_.uncounted.push_back({switch_number, until});
    if (!counted.is_known) return options_.copy_loss;
    return std::clamp(options_.copy_loss, counted.least, counted.most);
  }

  const Trace& trace_;
  const TraceRoutes& routes_;
  const CopySequences* const sequences_;
  const SentCounts* const counts_;
  const RuleChanges* const changes_;
  const HopTimes* const hop_times_;
  const JudgeOptions& options_;
  TracePass& pass_;
  std::vector<Stages> after_;  // of each hop of the pass
};

}  // namespace

void TracePass::Clear() {
  std::vector<TraceHop> memory = std::move(hops);
  *this = TracePass();
  hops = std::move(memory);
  hops.clear();
}

void NoteHops(const TracePass& pass, HopTimes* times) {
  if (pass.fault != TraceFault::kNone || !pass.lost_copies.empty()) return;
  for (size_t i = 1; i < pass.hops.size(); ++i) {
    const Nanos time = pass.hops[i].time;
    times->Take(time, time - pass.hops[i - 1].time);
  }
}

void ClaimMissing(Uint128 key, CopySequences* sequences, TracePass* pass,
                  std::vector<Uint128>* others) {
  double lost_share = 1;
  for (const MissingCopy& one : pass->missing) {
    const auto contest = sequences->Claim(one, key);
    if (!one.is_certain) lost_share = std::min(lost_share, contest.lost_share);
    others->insert(others->end(), contest.others.begin(), contest.others.end());
  }
  if (pass->fault != TraceFault::kCopiesLost || lost_share > CopySequences::kLikely) return;
  pass->fault = TraceFault::kDropped;
  pass->drop_probability = std::max(pass->drop_probability, 1 - lost_share);
}

void JudgeTrace(const Trace& trace, const TraceRoutes& routes, const CopyLosses& losses,
                const JudgeOptions& options, std::vector<TracePass>* passes) {
  if (trace.hops.empty()) return passes->clear();
  SplitPasses(trace, routes, options, passes);
  for (TracePass& pass : *passes) {
    const bool has_repeats = HasRepeats(pass);
    if (has_repeats && !WereSentAgain(trace, routes, *passes, pass) && FindLoop(&pass)) {
      pass.fault = TraceFault::kLoop;
      pass.last_switch = pass.hops.back().switch_number;
    } else if (has_repeats) {
      RemoveRepeats(&pass);
    }
    Sort(&pass.hops, [](const TraceHop& a, const TraceHop& b) { return a.ttl > b.ttl; });
    if (pass.fault != TraceFault::kLoop) {
      Judge(trace, routes, losses, options, &pass).Run();
    }
  }
}

}  // namespace trumpet
