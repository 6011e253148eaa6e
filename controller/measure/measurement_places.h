// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementPlaces: what hosts are told beside the program: where the network ends, which number
// switch.id is, and where copies go.
//
//   "edges": ["vm*"]                        at every host
//   "edges": {"h1": ["left"], "h3": []}     hosts that are not named have none
//   "switches": {"h1": 1, "h3": 3}          without: numbered from 1 on when it is installed
//   "lab": true                             header checksums may carry tags
//   "endpoints": {"C": "udp:10.0.0.9:4729"} where copies go, from every host
//   (lib/wire/copy_address.h) "copy_rate": 1000                       copies that leave a host in a
//   second, at most
//
// Hosts are named by their id or name.  Without "edges", all ports but uplinks and tunnels are edge
// ports; each switch knows which these are.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_PLACES_H
#define TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_PLACES_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "lib/base/status.h"
#include "lib/model/measure_place.h"

namespace trumpet {

struct MeasurementPlaces {
  using Ports = std::vector<std::string>;
  using Numbers = std::map<std::string, uint8_t>;

  std::optional<Ports> edges;                            // at every host
  std::optional<std::map<std::string, Ports>> edges_of;  // by host
  Numbers numbers;                                       // by host, as the user wants them
  Numbers drawn;                                         // by id, of the others
  bool is_lab = false;
  EndpointAddresses endpoints;
  std::optional<uint32_t> copies_per_second;

  bool IsSameAs(const MeasurementPlaces& other) const {
    return std::tie(edges, edges_of, numbers, is_lab, endpoints, copies_per_second) ==
           std::tie(other.edges, other.edges_of, other.numbers, other.is_lab, other.endpoints,
                    other.copies_per_second);
  }
};

// Takes one key of a measurement; an error names it.  False: it is no key of places.
Result<bool> ReadMeasurementPlace(const std::string& key, const nlohmann::ordered_json& value,
                                  bool is_stored, MeasurementPlaces* places);
// Adds the keys, the drawn numbers if it is to be stored.
void PrintMeasurementPlaces(const MeasurementPlaces& places, bool is_stored,
                            nlohmann::ordered_json* json);

struct NamedHost {
  std::string id;
  std::string name;
};

MeasurementPlace PlaceAt(const MeasurementPlaces& places, const NamedHost& host);

// All hosts that are named.
std::set<std::string> HostsNamed(const MeasurementPlaces& places);

// Numbers those among `hosts` that have none yet, from 1 on.  An error if there are too many.
Status NumberHosts(const std::vector<NamedHost>& hosts, MeasurementPlaces* places);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_PLACES_H
