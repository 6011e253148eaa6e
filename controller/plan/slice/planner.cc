// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/planner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "controller/plan/slice/surrounding.h"
#include "lib/lang/event/suggest.h"

namespace trumpet::slice {
namespace {

constexpr size_t kMaxPlanned = 20'000;  // paths and regions of a campaign
constexpr int64_t kStepsOfBudget = 10'000;

// Two regions of one query may be the same, or share a path, and a prefix may stand in it twice.
bool IsAmong(const std::vector<PlannedQuery>& planned, const PlannedQuery& query) {
  return std::any_of(planned.begin(), planned.end(), [&](const PlannedQuery& other) {
    return other.query == query.query && other.prefix == query.prefix &&
           other.routers == query.routers;
  });
}

class Planner {
 public:
  Planner(const SliceCampaign& campaign, const event_lang::Source& source, const Network& network,
          const SlicePlanOptions& options)
      : campaign_(campaign), source_(source), network_(network), options_(options) {}

  Result<SlicePlan> Plan();

 private:
  Status ErrorAt(size_t offset, const std::string& message) const {
    return Status::Error(source_.ErrorAt(offset, message));
  }
  Result<std::vector<RegionStep>> StepsOf(const SliceRegion& region) const;
  PathEnds EndsOf(const Prefix& prefix) const;
  int64_t RateOf(const Prefix& prefix) const;
  Status PlanRegion(size_t query, size_t region, const Prefix& prefix);
  const KeyPoints& KeyPointsOf(const Path& path);
  Status Mirror(const PlannedQuery& query, size_t offset);
  size_t CountConfined() const;
  OptimalSurrounding Surround(const std::vector<int>& region, const std::vector<int>& egresses);
  Status Confine(PlannedQuery query, size_t offset, const std::vector<Path>& paths,
                 const std::vector<int>& egresses);
  Status MakeSchedule();

  const SliceCampaign& campaign_;
  const event_lang::Source& source_;
  const Network& network_;
  const SlicePlanOptions& options_;
  SlicePlan plan_;
  std::vector<size_t> offsets_;  // of the regions of `mirrored`
  Distances distances_{network_};
  std::map<Path, KeyPoints> key_points_;           // one path may be asked for with many prefixes
  size_t to_confine_ = CountConfined();            // regions to come
  double confine_seconds_ = options_.seconds / 2;  // for them
};

Result<std::vector<RegionStep>> Planner::StepsOf(const SliceRegion& region) const {
  std::vector<RegionStep> steps;
  for (const SliceStep& step : region.steps) {
    RegionStep& added = steps.emplace_back();
    if (step.is_arrow) continue;
    added.router = network_.Find(step.router);
    if (added.router) continue;
    std::vector<std::string> names;
    for (int router = 0; router < std::min(network_.router_count(), 1000); ++router) {
      names.push_back(network_.NameOf(router));
    }
    return ErrorAt(step.offset, QuoteName(step.router) + " is no router of the network" +
                                    event_lang::DidYouMean(step.router, names));
  }
  return steps;
}

PathEnds Planner::EndsOf(const Prefix& prefix) const {
  PathEnds ends{options_.borders, options_.borders};
  int longest = -1;
  for (const RoutedPrefix& route : options_.routes) {
    const bool covers = route.prefix.is_ipv6 == prefix.is_ipv6 &&
                        FirstOf(route.prefix) <= FirstOf(prefix) &&
                        LastOf(route.prefix) >= LastOf(prefix);
    if (!covers || static_cast<int>(route.prefix.length) <= longest) continue;
    longest = route.prefix.length;
    ends.egresses = route.egresses;
  }
  return ends;
}

// What exporters of samples told may be anything; more than the largest budget is as good as that.
int64_t Planner::RateOf(const Prefix& prefix) const {
  for (const PrefixRate& rate : options_.rates) {
    if (rate.prefix == prefix) return std::min(rate.rate_bps, kMaxCost);
  }
  return options_.rate_bps;
}

const KeyPoints& Planner::KeyPointsOf(const Path& path) {
  const auto [at, is_new] = key_points_.try_emplace(path);
  if (!is_new) return at->second;
  const uint64_t left = options_.most_steps - std::min(plan_.steps, options_.most_steps);
  at->second = FindKeyPoints(network_, path, std::min(kMaxPathSteps, left));
  plan_.steps += at->second.steps;
  return at->second;
}

Status Planner::Mirror(const PlannedQuery& query, size_t offset) {
  const Status status = CheckSimplePath(network_, query.routers);
  if (!status.ok()) return ErrorAt(offset, status.message());
  if (IsAmong(plan_.mirrored, query)) return Status::Ok();
  const KeyPoints& points = KeyPointsOf(query.routers);
  plan_.mirrored.push_back(query);
  offsets_.push_back(offset);
  PlannedQuery& planned = plan_.mirrored.back();
  for (int position : points.positions) {
    planned.locations.push_back(query.routers[static_cast<size_t>(position)]);
  }
  planned.why =
      "between two of them no other simple path has the same length, so the TTL proves the path "
      "(Theorem 1); " +
      std::string(points.is_minimal ? "no fewer prove it (dynamic programming)"
                                    : "perhaps fewer prove it: a search was cut short");
  // Whole kb/s, so that the schedule counts in steps that a table can hold; where that is much of
  // the budget, less.
  const int64_t step = std::clamp<int64_t>(campaign_.using_bps / kStepsOfBudget, 1, 1000);
  const int64_t steps = (RateOf(query.prefix) + step - 1) / step;
  planned.cost_bps = steps * step * static_cast<int64_t>(planned.locations.size());
  if (planned.cost_bps <= campaign_.using_bps) return Status::Ok();
  if (options_.is_capped) {
    planned.is_capped = true;
    planned.cost_bps = campaign_.using_bps;
    return Status::Ok();
  }
  return ErrorAt(offset, "copies of " + PrintPrefix(query.prefix) + " from " +
                             std::to_string(planned.locations.size()) + " routers take " +
                             std::to_string(planned.cost_bps) + " b/s, and USING allows " +
                             std::to_string(campaign_.using_bps));
}

size_t Planner::CountConfined() const {
  size_t count = 0;
  for (const SliceQuery& query : campaign_.queries) {
    const bool is_confine = query.action == SliceAction::kConfine;
    count += is_confine ? query.prefixes.size() * query.regions.size() : 0;
  }
  return count;
}

// Each region has its share of what those before it have left over.
OptimalSurrounding Planner::Surround(const std::vector<int>& region,
                                     const std::vector<int>& egresses) {
  const double share = confine_seconds_ / static_cast<double>(to_confine_ + 1);
  const Deadline deadline = DeadlineIn(share);
  OptimalSurrounding optimal = FindOptimalSurrounding(network_, region, egresses, deadline);
  confine_seconds_ = std::max(0.0, confine_seconds_ - share + SecondsUntil(deadline));
  return optimal;
}

Status Planner::Confine(PlannedQuery query, size_t offset, const std::vector<Path>& paths,
                        const std::vector<int>& egresses) {
  --to_confine_;
  if (egresses.empty()) {
    return ErrorAt(offset, "no egress router is known, so a way out of the region has no meaning");
  }
  std::set<int> routers;
  for (const Path& path : paths) routers.insert(path.begin(), path.end());
  query.routers.assign(routers.begin(), routers.end());
  const Status status = CheckRegion(network_, query.routers);
  if (!status.ok()) return ErrorAt(offset, status.message());
  if (IsAmong(plan_.confined, query)) return Status::Ok();
  const OptimalSurrounding optimal = Surround(query.routers, egresses);
  if (!optimal.has_egress_inside) {
    plan_.warnings.push_back(
        source_.ErrorAt(offset, "no egress router of " + PrintPrefix(query.prefix) +
                                    " is in the region, so every delivered packet leaves it"));
  }
  query.locations = optimal.routers;
  query.why =
      "every way out that still reaches an egress crosses one of them, without loops and black "
      "holes (Theorem 3); " +
      std::string(optimal.proof == SurroundingProof::kNone
                      ? "perhaps fewer are enough: the search was cut short"
                      : std::string("no fewer are enough (") + NameOf(optimal.proof) + ")") +
      "; " + std::to_string(NodeSurrounding(network_, query.routers).size()) + " neighbours, " +
      std::to_string(EdgeSurrounding(network_, query.routers).size()) + " links out";
  plan_.confined.push_back(std::move(query));
  return Status::Ok();
}

Status Planner::PlanRegion(size_t query, size_t region, const Prefix& prefix) {
  const SliceRegion& asked = campaign_.queries[query].regions[region];
  const auto steps = StepsOf(asked);
  if (!steps) return steps.status();
  const PathEnds ends = EndsOf(prefix);
  const auto paths = ResolveRegion(network_, *steps, ends, &distances_);
  if (!paths) return ErrorAt(asked.offset, paths.message());
  PlannedQuery planned;
  planned.query = query;
  planned.region = region;
  planned.prefix = prefix;
  if (campaign_.queries[query].action == SliceAction::kConfine) {
    return Confine(std::move(planned), asked.offset, *paths, ends.egresses);
  }
  for (const Path& path : *paths) {
    planned.routers = path;
    const Status status = Mirror(planned, asked.offset);
    if (!status.ok()) return status;
    if (plan_.mirrored.size() > kMaxPlanned) {
      return ErrorAt(asked.offset, "with this region the campaign has more than " +
                                       std::to_string(kMaxPlanned) + " paths");
    }
  }
  return Status::Ok();
}

Status Planner::MakeSchedule() {
  const auto times = CountWholeSlots(campaign_.during, options_.longest_path_ms,
                                     options_.shortest_slice_ms, options_.spacing_ms);
  if (!times) return times.status();
  plan_.times = *times;
  ScheduleProblem problem;
  problem.budget = campaign_.using_bps;
  problem.slots = times->slots;
  for (const PlannedQuery& query : plan_.mirrored) {
    problem.costs.push_back(query.cost_bps);
    problem.weights.push_back(campaign_.queries[query.query].weight);
  }
  const Status status = CheckScheduleProblem(problem);
  if (!status.ok()) return status;
  // What CONFINE has left of its half is for the schedule, too.
  const double half = (options_.seconds / 2 + confine_seconds_) / 2;
  plan_.packing = Pack(problem.costs, problem.budget, DeadlineIn(half));
  if (static_cast<int>(plan_.packing.slots.size()) > problem.slots) {
    return Status::Error("its queries " + PackingProblem(plan_.packing, problem.slots) +
                         " within the budget, and there are " + std::to_string(problem.slots) +
                         " in DURING");
  }
  plan_.schedule = FillFreely(problem, plan_.packing.slots, DeadlineIn(half));
  return Status::Ok();
}

Result<SlicePlan> Planner::Plan() {
  for (size_t query = 0; query < campaign_.queries.size(); ++query) {
    const SliceQuery& asked = campaign_.queries[query];
    for (const Prefix& prefix : asked.prefixes) {
      for (size_t region = 0; region < asked.regions.size(); ++region) {
        const Status status = PlanRegion(query, region, prefix);
        if (!status.ok()) return status;
      }
    }
  }
  const Status status = MakeSchedule();
  if (!status.ok()) {
    return Status::Error(std::string(source_.name) + ": the campaign: " + status.message());
  }
  return std::move(plan_);
}

}  // namespace

Result<SlicePlan> PlanSlices(const SliceCampaign& campaign, const event_lang::Source& source,
                             const Network& network, const SlicePlanOptions& options) {
  return Planner(campaign, source, network, options).Plan();
}

}  // namespace trumpet::slice
