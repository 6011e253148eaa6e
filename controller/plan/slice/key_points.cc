// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/key_points.h"

#include <algorithm>
#include <numeric>

namespace trumpet::slice {
namespace {

// Judges the segments of one path.
class Segments {
 public:
  Segments(const Network& network, const std::vector<int>& path, uint64_t most_steps)
      : network_(network),
        path_(path),
        most_steps_(most_steps),
        hops_to_end_(static_cast<size_t>(network.router_count()), kFar),
        is_visited_(static_cast<size_t>(network.router_count()), false) {}

  // The segments judged from now on end at this position of the path.
  void SetEnd(int end);

  // Is path[start..end] the only simple path of its length between its ends?
  bool IsUnambiguous(int start);

  // No step is left: all but neighbours counts as ambiguous.
  bool is_exhausted() const { return steps_ >= most_steps_; }
  bool is_cut_short() const { return is_cut_short_; }
  uint64_t steps() const { return steps_; }

 private:
  static constexpr int kFar = 1 << 30;

  // A router of a way, and how many of its links were tried.
  struct Stop {
    int router = 0;
    size_t tried = 0;
  };

  // Is there a way to the end that leaves the path at this position, as long as the path?
  bool FindOther(int position);
  // The same, from the last of `way_` on.
  bool FindRest(int position);

  const Network& network_;
  const std::vector<int>& path_;
  const uint64_t most_steps_;
  int end_ = 0;
  std::vector<int> hops_to_end_;
  std::vector<int> reached_;
  std::vector<bool> is_visited_;
  std::vector<Stop> way_;  // no recursion: a path may have more routers than a stack has room
  uint64_t steps_ = 0;
  uint64_t limit_ = 0;
  bool is_cut_short_ = false;
};

void Segments::SetEnd(int end) {
  for (int router : reached_) hops_to_end_[static_cast<size_t>(router)] = kFar;
  end_ = end;
  reached_.assign(1, path_[static_cast<size_t>(end)]);
  hops_to_end_[static_cast<size_t>(reached_[0])] = 0;
  for (size_t i = 0; i < reached_.size(); ++i) {
    const int hops = hops_to_end_[static_cast<size_t>(reached_[i])] + 1;
    if (hops > end) break;  // no segment is as long
    steps_ += network_.LinksOf(reached_[i]).size();
    for (const NetworkLink& link : network_.LinksOf(reached_[i])) {
      if (hops_to_end_[static_cast<size_t>(link.to)] != kFar) continue;
      hops_to_end_[static_cast<size_t>(link.to)] = hops;
      reached_.push_back(link.to);
    }
  }
}

bool Segments::FindRest(int position) {
  int hops = end_ - position;  // left behind the last of the way
  while (!way_.empty()) {
    Stop& last = way_.back();
    const std::vector<NetworkLink>& links = network_.LinksOf(last.router);
    if (last.tried == links.size()) {
      if (way_.size() > 1) is_visited_[static_cast<size_t>(last.router)] = false;
      way_.pop_back();
      ++hops;
      continue;
    }
    if (++steps_ > limit_) {
      is_cut_short_ = true;
      return true;
    }
    const int next = links[last.tried++].to;
    const int needed = hops_to_end_[static_cast<size_t>(next)];
    const bool is_path = way_.size() == 1 && next == path_[static_cast<size_t>(position) + 1];
    if (is_path || needed >= hops || is_visited_[static_cast<size_t>(next)]) continue;
    if (needed == 0 && hops > 1) continue;  // the end itself comes last only
    if (needed == 0) return true;
    is_visited_[static_cast<size_t>(next)] = true;
    way_.push_back({next});
    --hops;
  }
  return false;
}

bool Segments::FindOther(int position) {
  way_.assign(1, {path_[static_cast<size_t>(position)]});
  const bool is_found = FindRest(position);
  for (size_t i = 1; i < way_.size(); ++i) {
    is_visited_[static_cast<size_t>(way_[i].router)] = false;
  }
  return is_found;
}

bool Segments::IsUnambiguous(int start) {
  if (end_ - start == 1) return true;
  if (is_exhausted()) return false;
  limit_ = std::min(steps_ + kMaxSegmentSteps, most_steps_);
  for (int i = start; i < end_; ++i) {
    is_visited_[static_cast<size_t>(path_[static_cast<size_t>(i)])] = true;
  }
  // What leaves the path near its end has the least left to search.
  bool is_found = false;
  for (int i = end_ - 1; i >= start; --i) {
    is_found = is_found || FindOther(i);
    is_visited_[static_cast<size_t>(path_[static_cast<size_t>(i)])] = false;
  }
  return !is_found;
}

}  // namespace

KeyPoints FindKeyPoints(const Network& network, const std::vector<int>& path, uint64_t most_steps) {
  const size_t length = path.size();
  Segments segments(network, path, most_steps);
  // Of the best cut of path[0..i]: how many segments, and where the last one starts.
  std::vector<int> count(length, 0);
  std::vector<int> from(length, 0);
  std::vector<int> by_count{0};  // positions, fewest segments first
  for (size_t end = 1; end < length; ++end) {
    from[end] = static_cast<int>(end) - 1;
    if (!segments.is_exhausted()) {
      segments.SetEnd(static_cast<int>(end));
      // The position before is always good enough, so the search ends.
      from[end] = *std::find_if(by_count.begin(), by_count.end(),
                                [&](int position) { return segments.IsUnambiguous(position); });
    }
    count[end] = count[static_cast<size_t>(from[end])] + 1;
    const auto behind =
        std::upper_bound(by_count.begin(), by_count.end(), count[end],
                         [&count](int own, int i) { return own < count[static_cast<size_t>(i)]; });
    by_count.insert(behind, static_cast<int>(end));
  }
  KeyPoints result;
  for (size_t at = length - 1; at > 0; at = static_cast<size_t>(from[at])) {
    result.positions.push_back(static_cast<int>(at));
  }
  result.positions.push_back(0);
  std::reverse(result.positions.begin(), result.positions.end());
  // Both ends are always needed.
  const bool is_least = result.positions.size() <= 2;
  result.is_minimal = is_least || (!segments.is_cut_short() && !segments.is_exhausted());
  result.steps = segments.steps();
  return result;
}

}  // namespace trumpet::slice
