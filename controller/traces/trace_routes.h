// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Where packets ought to go, for the judge of traces: by the shortest ways of a topology, or as
// most packets of their flow went.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_ROUTES_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_ROUTES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/analyzer/trace_judge.h"
#include "controller/plan/topology.h"
#include "controller/traces/switch_book.h"

namespace trumpet {

// As docs/topology.md says; at most 16 MiB.
Result<Topology> ReadTopologyFile(const std::string& path);
// Those that have no number get the next free ones.
Status AddSwitches(const Topology& topology, SwitchBook* switches);

// All shortest ways, by the weights of links, to the host with the longest prefix of the
// destination.  Of a destination that the topology does not have, nothing is known.
class NetworkRoutes final : public TraceRoutes {
 public:
  // Switches of the topology that `switches` does not have make no copies, and are left out of
  // stages.
  NetworkRoutes(const Topology& topology, const SwitchBook& switches);

  std::optional<TraceWay> After(uint16_t switch_number, const Trace& trace) const override;
  // On any of the shortest ways.
  bool MayPass(uint16_t from, uint16_t switch_number, const Trace& trace) const override;
  bool IsEdge(const TraceHop& hop, const Trace& trace) const override;

 private:
  struct Link {
    size_t to = 0;
    uint32_t weight = 1;
  };
  using Distances = std::vector<uint64_t>;
  struct Ways {
    std::optional<std::vector<TraceStage>> stages;
    std::vector<uint16_t> others;  // on one of the ways, and in no stage
  };
  struct KnownHost {
    IpBytes address{};
    uint8_t ip_family = 0;
    std::optional<size_t> host;
  };

  void ShareWays();
  std::optional<size_t> PlaceOf(uint16_t switch_number) const;
  std::optional<size_t> HostOf(const IpBytes& address, uint8_t ip_family) const;
  std::optional<size_t> FindHost(const IpBytes& address, uint8_t ip_family) const;
  const Distances& DistancesTo(size_t host) const;
  const Ways& WaysOf(size_t from, size_t host) const;
  std::optional<std::vector<TraceStage>> FindStages(size_t from, size_t host) const;
  std::vector<uint16_t> FindOthers(size_t from, size_t host,
                                   const std::optional<std::vector<TraceStage>>& stages) const;

  std::vector<std::optional<uint16_t>> numbers_;  // of switches, in the topology's order
  std::vector<std::optional<size_t>> places_;     // in numbers_, by number
  std::vector<std::vector<Link>> links_;          // of each switch
  // Switches, of each host; hosts at the same switches are one.
  std::vector<std::vector<size_t>> attached_;
  std::vector<bool> is_edge_;
  // By family and length, the longest first, and address.
  std::map<std::tuple<bool, int, Uint128>, size_t> hosts_;
  std::vector<std::pair<bool, int>> lengths_;                // that occur, negative
  mutable std::unordered_map<size_t, Distances> distances_;  // by host, as they are asked for
  mutable std::vector<KnownHost> known_hosts_;               // that were asked for last
  // By switch and host, as they are asked for.  When there are very many, they are put away until
  // there are again: what was borrowed of them stays.
  using WaysByPlace = std::unordered_map<uint64_t, Ways>;
  mutable WaysByPlace ways_;
  mutable WaysByPlace put_away_;
};

// The longest way that a packet of the flow took.  What all packets of a flow fail to do it cannot
// know.
class LearnedRoutes final : public TraceRoutes {
 public:
  explicit LearnedRoutes(size_t max_flows = 1 << 16) : max_flows_(max_flows) {}

  void Learn(const Trace& trace);
  uint64_t flows_not_learned() const { return flows_not_learned_; }

  std::optional<TraceWay> After(uint16_t switch_number, const Trace& trace) const override;
  bool IsEdge(const TraceHop& hop, const Trace& trace) const override;

 private:
  const size_t max_flows_;
  std::unordered_map<uint64_t, std::vector<TraceStage>> ways_;  // of one switch each; by flow
  uint64_t flows_not_learned_ = 0;                              // each trace of one counts
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_ROUTES_H
