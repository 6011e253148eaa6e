// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <map>

#include "controller/plan/slice/planner.h"

namespace trumpet::slice {
namespace {

std::string Join(const Network& network, const std::vector<int>& routers) {
  std::string text;
  for (int router : routers) text += (text.empty() ? "" : " ") + network.NameOf(router);
  return text.empty() ? "nowhere" : text;
}

// Without digits that nobody reads: "15", "0.45".
std::string Number(double value) {
  std::string text = std::to_string(value);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string Megabits(int64_t bps) { return Number(static_cast<double>(bps) / 1e6) + " Mb/s"; }

std::string Title(const SliceCampaign& campaign, const PlannedQuery& query) {
  const SliceQuery& asked = campaign.queries[query.query];
  return std::string(asked.action == SliceAction::kMirror ? "MIRROR " : "CONFINE ") +
         PrintPrefix(query.prefix) + " ON " + PrintSliceRegion(asked.regions[query.region]) +
         (asked.name.empty() ? "" : " (" + asked.name + ")");
}

std::string Places(const SliceCampaign& campaign, const Network& network, const PlannedQuery& query,
                   const std::string& number) {
  const bool is_mirror = campaign.queries[query.query].action == SliceAction::kMirror;
  std::string text = number + "  " + Title(campaign, query) + "\n";
  text += std::string("    ") + (is_mirror ? "path:      " : "region:    ") +
          Join(network, query.routers) + "\n";
  text += "    mirror at: " + Join(network, query.locations) + "\n";
  text += "    why:       " + query.why + "\n";
  if (is_mirror) text += "    cost:      " + Megabits(query.cost_bps) + "\n";
  return text;
}

std::string PackingText(const Packing& packing) {
  std::string text =
      "packing: every MIRROR query once in " + std::to_string(packing.slots.size()) + " slots; ";
  switch (packing.proof) {
    case PackingProof::kCounting:
      return text + "no fewer do (bound L2)\n";
    case PackingProof::kPatterns:
      return text + "no fewer do (linear program over patterns)\n";
    case PackingProof::kNone:
      break;
  }
  return text + "not fewer than " + std::to_string(packing.least) + " do" +
         (packing.is_cut_short ? " (time ran out)\n" : "\n");
}

std::string FillText(const FillResult& fill) {
  const std::string text = "fill: " + Number(fill.objective) + " beyond the repeated packing, ";
  if (fill.is_proven) return text + "the most there is\n";
  return text + "and no more than " + Number(fill.bound) +
         (fill.is_cut_short ? " can be (time ran out)\n" : " can be\n");
}

std::string SlotsText(const SlicePlan& plan) {
  std::string text;
  for (size_t first = 0; first < plan.schedule.slots.size();) {
    const Slot& slot = plan.schedule.slots[first];
    size_t last = first;
    while (last + 1 < plan.schedule.slots.size() && plan.schedule.slots[last + 1] == slot) ++last;
    int64_t rate = 0;
    std::string queries;
    for (int query : slot) {
      queries += " Q" + std::to_string(plan.confined.size() + static_cast<size_t>(query) + 1);
      rate += plan.mirrored[static_cast<size_t>(query)].cost_bps;
    }
    const std::string from = std::to_string(first + 1);
    text += (first == last ? "    slot " + from
                           : "    slots " + from + "-" + std::to_string(last + 1)) +
            ":" + (queries.empty() ? " CONFINE only" : queries + ", " + Megabits(rate)) + "\n";
    first = last + 1;
  }
  return text;
}

// In the slot where it copies most.
std::string RatesText(const SlicePlan& plan, const Network& network) {
  std::map<std::string, int64_t> most;
  for (const Slot& slot : plan.schedule.slots) {
    std::map<int, int64_t> rates;
    for (int number : slot) {
      const PlannedQuery& query = plan.mirrored[static_cast<size_t>(number)];
      for (int router : query.locations) {
        rates[router] += query.cost_bps / static_cast<int64_t>(query.locations.size());
      }
    }
    for (const auto& [router, rate] : rates) {
      int64_t& known = most[network.NameOf(router)];
      known = std::max(known, rate);
    }
  }
  std::string text;
  for (const auto& [router, rate] : most) {
    text += "    " + router + ": " + Megabits(rate) + "\n";
  }
  return text.empty() ? "" : "copies towards the collector, at most:\n" + text;
}

}  // namespace

std::string ExplainPlan(const SlicePlan& plan, const SliceCampaign& campaign,
                        const Network& network) {
  std::string text;
  size_t number = 0;
  for (const auto* queries : {&plan.confined, &plan.mirrored}) {
    for (const PlannedQuery& query : *queries) {
      text += Places(campaign, network, query, "Q" + std::to_string(++number));
    }
  }
  text += "slots: " + std::to_string(plan.times.slots) + " of " + Number(plan.times.slot_ms) +
          " ms, each within " + Megabits(campaign.using_bps) + "; CONFINE queries in all of them\n";
  if (!plan.mirrored.empty()) {
    text += PackingText(plan.packing);
    text += FillText(plan.schedule.fill) + SlotsText(plan) + RatesText(plan, network);
  }
  for (const std::string& warning : plan.warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace trumpet::slice
