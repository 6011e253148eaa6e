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
  Segments(const Network& network, const std::vector<int>& path)
      : network_(network),
        path_(path),
        hops_to_end_(static_cast<size_t>(network.router_count()), kFar),
        is_visited_(static_cast<size_t>(network.router_count()), false) {}

  // The segments judged from now on end at this position of the path.
  void SetEnd(int end);

  // Is path[start..end] the only simple path of its length between its ends?
  bool IsUnambiguous(int start);

  bool is_cut_short() const { return is_cut_short_; }
  uint64_t steps() const { return steps_; }

 private:
  static constexpr int kFar = 1 << 30;

  // Is there a way from `router` to the end in exactly `hops` hops that leaves the path or has left
  // it already?  `position` is that of `router` in the path while it follows it.
  bool FindOther(int router, int hops, int position, bool has_left);

  const Network& network_;
  const std::vector<int>& path_;
  int end_ = 0;
  std::vector<int> hops_to_end_;
  std::vector<int> reached_;
  std::vector<bool> is_visited_;
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
    for (const NetworkLink& link : network_.LinksOf(reached_[i])) {
      if (hops_to_end_[static_cast<size_t>(link.to)] != kFar) continue;
      hops_to_end_[static_cast<size_t>(link.to)] = hops;
      reached_.push_back(link.to);
    }
  }
}

bool Segments::FindOther(int router, int hops, int position, bool has_left) {
  if (hops == 0) return has_left;
  if (++steps_ > limit_) {
    is_cut_short_ = true;
    return true;
  }
  is_visited_[static_cast<size_t>(router)] = true;
  // Along the path first: what leaves it near its end has the least left to search.
  bool is_found = !has_left && FindOther(path_[static_cast<size_t>(position) + 1], hops - 1,
                                         position + 1, false);
  const int follows = has_left ? -1 : path_[static_cast<size_t>(position) + 1];
  const std::vector<NetworkLink>& links = network_.LinksOf(router);
  for (size_t i = 0; i < links.size() && !is_found; ++i) {
    const int next = links[i].to;
    const int needed = hops_to_end_[static_cast<size_t>(next)];
    // The end itself comes last only.
    if (next == follows || needed >= hops || is_visited_[static_cast<size_t>(next)]) continue;
    if (needed == 0 && hops > 1) continue;
    is_found = FindOther(next, hops - 1, position + 1, true);
  }
  is_visited_[static_cast<size_t>(router)] = false;
  return is_found;
}

bool Segments::IsUnambiguous(int start) {
  if (end_ - start == 1) return true;
  limit_ = std::min(steps_ + kMaxSegmentSteps, kMaxPathSteps);
  return !FindOther(path_[static_cast<size_t>(start)], end_ - start, start, false);
}

}  // namespace

KeyPoints FindKeyPoints(const Network& network, const std::vector<int>& path) {
  const size_t length = path.size();
  Segments segments(network, path);
  // Of the best cut of path[0..i]: how many segments, and where the last one starts.
  std::vector<int> count(length, 0);
  std::vector<int> from(length, 0);
  std::vector<int> by_count{0};  // positions, fewest segments first
  for (size_t end = 1; end < length; ++end) {
    segments.SetEnd(static_cast<int>(end));
    // The position before is always good enough, so the search ends.
    const auto start = std::find_if(by_count.begin(), by_count.end(),
                                    [&](int position) { return segments.IsUnambiguous(position); });
    from[end] = *start;
    count[end] = count[static_cast<size_t>(*start)] + 1;
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
  result.is_minimal = !segments.is_cut_short();
  result.steps = segments.steps();
  return result;
}

}  // namespace trumpet::slice
