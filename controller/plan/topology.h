// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Topology: hosts with the prefixes behind them, switches and links, as a file says and as agents
// report.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_PLAN_TOPOLOGY_H
#define TRUMPET_CONTROLLER_PLAN_TOPOLOGY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/prefix.h"

namespace trumpet {

struct TopologyHost {
  std::string id;                   // as in the hello of its agent
  std::string name;                 // for people; as the id if the file does not say
  std::vector<Prefix> prefixes;     // of the workloads behind its edge ports
  std::vector<uint64_t> macs;       // likewise, 48 bits each; from agents
  std::string attached_to;          // switch; may be empty
  std::vector<std::string> labels;  // "rack=r1", ...
};

struct TopologySwitch {
  std::string name;
  uint64_t datapath_id = 0;               // 0: none
  std::vector<uint32_t> edge_ports = {};  // behind which are hosts, and no switches
  bool is_in_file = true;
};

enum class LinkSource : uint8_t { kFile, kLldp, kBoth };

struct TopologyLink {
  std::string from;  // names of hosts or switches
  std::string to;
  uint32_t weight = 1;
  LinkSource source = LinkSource::kFile;
  uint32_t from_port = 0;  // as OpenFlow numbers them, if LLDP has told; else 0
  uint32_t to_port = 0;
  Nanos age = 0;  // of what LLDP told last, where somebody asks for it
};

struct Topology {
  std::vector<TopologyHost> hosts;
  std::vector<TopologySwitch> switches;
  std::vector<TopologyLink> links;
  std::vector<TopologyLink> lost_links;  // of the file, that LLDP has seen and sees no more
};

constexpr size_t kMaxTopologyPrefixes = 65536;  // of all hosts
constexpr size_t kMaxTopologySwitches = 65536;
constexpr uint32_t kMaxTopologyWeight = 1'000'000;

// docs/topology.md says how it is written.  Errors name line and column, like those of events.
Result<Topology> ParseTopologyYaml(std::string_view text, std::string_view source_name);
// The same keys in JSON; or, if there is a key `nodes`, a graph as networkx writes it
// ("node-link"): its nodes are switches.
Result<Topology> ParseTopologyJson(std::string_view text, std::string_view source_name);
// JSON if the name ends in .json, else YAML.
Result<Topology> ParseTopology(std::string_view text, std::string_view source_name);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_TOPOLOGY_H
