// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Readers of maps.  The files come from outside: they are bounded, and errors name file and line.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_NETWORK_FILES_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_NETWORK_FILES_H

#include <cstddef>
#include <string_view>

#include "controller/plan/slice/network.h"
#include "controller/plan/topology.h"

namespace trumpet::slice {

constexpr size_t kMaxRouters = 100'000;
constexpr size_t kMaxLinks = 200'000;
constexpr size_t kMaxLinksOfRouter = 2'000;

// One link per line: `from to weight`, one space between; names are anything without spaces.
// Empty lines, and lines that start with '#', are skipped.
Result<Network> ParseEdges(std::string_view text, std::string_view source_name);

// GML as the Internet Topology Zoo writes it: `graph [ node [ id 0 ... ] edge [ source 0
// target 1 ... ] ]`.  Routers are named by their ids; an edge's `weight`, if it has one, is a whole
// number from 1.
Result<Network> ParseGml(std::string_view text, std::string_view source_name);

// The switches of a topology and the links between them; hosts are no routers.
Network NetworkOf(const Topology& topology);

// A topology from a file of any kind: GML if the name ends in .gml, else as ParseTopology() does.
// The routers of a map in GML are switches; its weights go up to kMaxTopologyWeight.
Result<Topology> ParseTopologyFile(std::string_view text, std::string_view source_name);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_NETWORK_FILES_H
