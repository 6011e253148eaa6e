// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/run_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Estimate& estimate) {
  if (!estimate.is_known) return nullptr;
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

Json ToJson(const PathCounts& counts) {
  return {{"seen", counts.packets},
          {"followed", counts.followed},
          {"strayed", counts.strayed},
          {"at_ingress", counts.ingress},
          {"at_both_ends", counts.both},
          {"unjudged", counts.entered - counts.ingress},
          {"silent_flows", counts.silent_flows},
          {"copies_expected", counts.copy_trials},
          {"copies_missing", counts.copies_missing}};
}

Json ToJson(const DelayStatistics& delays) {
  return {{"packets", delays.packets},
          {"p5_ns", delays.low},
          {"median_ns", delays.median},
          {"p95_ns", delays.high},
          {"error_ns", delays.error}};
}

const CopyLatency* Find(const std::vector<CopyLatency>& latencies, const std::string& name) {
  const auto found =
      std::find_if(latencies.begin(), latencies.end(),
                   [&](const CopyLatency& latency) { return latency.switch_name == name; });
  return found == latencies.end() ? nullptr : &*found;
}

// Of each location, how many routers of the path are before it; empty if one is not on it.
std::vector<uint16_t> HopsOf(const ExpectedSlice& slice) {
  std::vector<uint16_t> hops;
  auto from = slice.path.begin();
  for (const std::string& location : slice.locations) {
    from = std::find(from, slice.path.end(), location);
    if (from == slice.path.end()) return {};
    hops.push_back(static_cast<uint16_t>(from - slice.path.begin()));
    ++from;
  }
  return hops;
}

std::vector<SeenCopy> CopiesOf(const SliceRecord& slice) {
  std::vector<SeenCopy> copies;
  copies.reserve(slice.packets.size());
  for (const KeptPacket& packet : slice.packets) {
    if (!packet.is_ip) continue;
    copies.push_back({packet.identity, packet.flow, packet.time, packet.location, packet.ttl});
  }
  return copies;
}

}  // namespace

RunAnswerMaker::Query* RunAnswerMaker::Count(const SliceRecord& slice) {
  Query& query = queries_[slice.expected.query];
  if (query.slots.empty()) query.first = slice.expected;
  query.slots.push_back(slice.expected.slot);
  query.not_kept += slice.not_kept;
  for (const SliceTally& tally : slice.tallies) {
    SliceTally& sum = query.tallies[tally.switch_name];
    sum.packets += tally.packets;
    sum.bytes += tally.bytes;
    sum.copy_bytes += tally.copy_bytes;
  }
  return &query;
}

void RunAnswerMaker::AddConfine(const SliceRecord& slice) {
  if (!slice.expected.is_confine) return;
  Query* const query = Count(slice);
  for (const KeptPacket& packet : slice.packets) {
    if (!packet.is_ip) continue;
    query->left.insert(packet.identity);
    left_.insert(packet.identity);
  }
}

void RunAnswerMaker::AddMirror(const SliceRecord& slice) {
  if (slice.expected.is_confine) return;
  Query* const query = Count(slice);
  const std::vector<uint16_t> hops = HopsOf(slice.expected);
  if (hops.empty() || hops.size() > kMaxMatchedLocations) return;
  const MatchedPackets matched = MatchCopies(CopiesOf(slice), hops, options_.match_window);
  const HasLeft has_left = [this](Uint128 identity) { return left_.count(identity) != 0; };
  query->counts.Add(CountPath(matched, has_left));
  AddDelays(matched, &query->delays);
}

void RunAnswerMaker::TellMirror(const Query& query, const std::vector<CopyLatency>& latencies,
                                Json* json) const {
  const std::vector<std::string>& locations = query.first.locations;
  const PathEstimates estimates =
      EstimatePath(query.counts, locations.size(), NormalReach(options_.confidence));
  (*json)["packets"] = ToJson(query.counts);
  (*json)["loss"] = ToJson(estimates.loss);
  (*json)["copy_loss"] = ToJson(estimates.copy_loss);
  (*json)["share"] = ToJson(estimates.share);
  (*json)["delay"] = nullptr;
  if (locations.size() < 2 || query.delays.empty()) return;
  const CopyLatency* const from = Find(latencies, locations.front());
  const CopyLatency* const to = Find(latencies, locations.back());
  if (from == nullptr || to == nullptr) {
    const std::string& unknown = from == nullptr ? locations.front() : locations.back();
    (*json)["no_delay"] = "how long copies of switch '" + unknown +
                          "' take to the analyzer is not known: probes of it have not come, or it "
                          "takes no slices by OpenFlow";
    return;
  }
  (*json)["delay"] = ToJson(DescribeDelays(query.delays, *from, *to));
}

std::string RunAnswerMaker::Finish(const std::vector<CopyLatency>& latencies) const {
  Json answer = {{"run", run_}, {"analyzer", analyzer_}, {"confidence", options_.confidence}};
  answer["queries"] = Json::array();
  for (const auto& [number, query] : queries_) {
    Json told = {{"query", number},
                 {"name", query.first.name},
                 {"kind", query.first.is_confine ? "confine" : "mirror"},
                 {"prefix", PrintPrefix(query.first.prefix)},
                 {"path", query.first.path},
                 {"locations", query.first.locations},
                 {"slots", query.slots}};
    told["copies"] = Json::array();
    for (const std::string& location : query.first.locations) {
      const SliceTally& tally = query.tallies.at(location);
      told["copies"].push_back({{"switch", location},
                                {"packets", tally.packets},
                                {"bytes", tally.bytes},
                                {"copy_bytes", tally.copy_bytes}});
    }
    told["not_kept"] = query.not_kept;
    if (query.first.is_confine) {
      told["violations"] = query.left.size();
    } else {
      TellMirror(query, latencies, &told);
    }
    answer["queries"].push_back(std::move(told));
  }
  return answer.dump(-1, ' ', true);
}

}  // namespace trumpet
