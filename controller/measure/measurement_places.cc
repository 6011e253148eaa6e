// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measurement_places.h"

#include <utility>

#include "lib/model/measure_program.h"
#include "lib/wire/copy_address.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;
using Places = MeasurementPlaces;

constexpr size_t kMaxNamedHosts = 4096;

std::string Said(const std::string& text) { return "'" + text.substr(0, 64) + "'"; }

Result<Places::Ports> ReadPorts(const Json& value) {
  if (!value.is_array() || value.size() > kMaxEdgePorts) {
    return Status::Error("edges takes a list of at most " + std::to_string(kMaxEdgePorts) +
                         " ports, or such a list of each host");
  }
  Places::Ports ports;
  for (const Json& port : value) {
    const bool is_text = port.is_string() && !port.get_ref<const std::string&>().empty() &&
                         port.get_ref<const std::string&>().size() <= kMaxTextBytes;
    if (!is_text) return Status::Error("edges takes names of ports, or patterns of them");
    ports.push_back(port.get<std::string>());
  }
  return ports;
}

Status ReadEdges(const Json& value, Places* places) {
  places->edges.reset();
  places->edges_of.reset();
  if (!value.is_object()) {
    auto ports = ReadPorts(value);
    if (!ports.ok()) return ports.status();
    places->edges = std::move(*ports);
    return Status::Ok();
  }
  if (value.size() > kMaxNamedHosts) return Status::Error("edges names too many hosts");
  places->edges_of.emplace();
  for (const auto& [host, list] : value.items()) {
    auto ports = ReadPorts(list);
    if (!ports.ok()) return ports.status();
    (*places->edges_of)[host] = std::move(*ports);
  }
  return Status::Ok();
}

Status ReadNumbers(const Json& value, Places::Numbers* numbers) {
  numbers->clear();
  std::set<uint8_t> taken;
  for (const auto& [host, number] : value.items()) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > UINT8_MAX) {
      return Status::Error("switches: " + Said(host) + " takes a number up to 255");
    }
    const auto one = number.get<uint8_t>();
    if (!taken.insert(one).second) {
      return Status::Error("switches: " + Said(host) + " has the number " + std::to_string(one) +
                           " of another one");
    }
    (*numbers)[host] = one;
  }
  return Status::Ok();
}

Status ReadEndpoints(const Json& value, EndpointAddresses* endpoints) {
  endpoints->clear();
  if (!value.is_object() || value.size() > kMaxMeasureNames) {
    return Status::Error("endpoints takes an object of endpoints and their addresses");
  }
  for (const auto& [name, address] : value.items()) {
    if (!address.is_string()) {
      return Status::Error("endpoints: " + Said(name) + " takes an address as text");
    }
    const auto& text = address.get_ref<const std::string&>();
    const auto parsed = ParseCopyAddress(text);
    if (!parsed.ok()) {
      return Status::Error("endpoints: " + Said(name) + " is " + Said(text) + "; " +
                           parsed.message());
    }
    (*endpoints)[name] = text;
  }
  return Status::Ok();
}

Status ReadRate(const Json& value, std::optional<uint32_t>* rate) {
  const bool is_rate = value.is_number_unsigned() && value.get<uint64_t>() >= 1 &&
                       value.get<uint64_t>() <= kMaxCopiesPerSecond;
  if (!is_rate) {
    return Status::Error("copy_rate takes 1 to " + std::to_string(kMaxCopiesPerSecond) +
                         " copies a second");
  }
  *rate = value.get<uint32_t>();
  return Status::Ok();
}

template <typename Value>
const Value* FindFor(const std::map<std::string, Value>& values, const NamedHost& host) {
  auto found = values.find(host.id);
  if (found == values.end()) found = values.find(host.name);
  return found == values.end() ? nullptr : &found->second;
}

}  // namespace

Result<bool> ReadMeasurementPlace(const std::string& key, const Json& value, bool is_stored,
                                  Places* places) {
  Status status = Status::Ok();
  if (key == "edges") {
    status = ReadEdges(value, places);
  } else if (key == "switches" || (key == "drawn" && is_stored)) {
    if (!value.is_object() || value.size() > kMaxNamedHosts) {
      return Status::Error(key + " takes an object of hosts and their numbers");
    }
    status = ReadNumbers(value, key == "drawn" ? &places->drawn : &places->numbers);
  } else if (key == "endpoints") {
    status = ReadEndpoints(value, &places->endpoints);
  } else if (key == "copy_rate") {
    status = ReadRate(value, &places->copies_per_second);
  } else if (key == "lab") {
    if (!value.is_boolean()) return Status::Error("lab takes true or false");
    places->is_lab = value.get<bool>();
  } else {
    return false;
  }
  if (!status.ok()) return status;
  return true;
}

void PrintMeasurementPlaces(const Places& places, bool is_stored, Json* json) {
  if (places.edges) (*json)["edges"] = *places.edges;
  if (places.edges_of) {
    Json& edges = (*json)["edges"] = Json::object();
    for (const auto& [host, ports] : *places.edges_of) edges[host] = ports;
  }
  if (!places.numbers.empty()) (*json)["switches"] = places.numbers;
  if (is_stored && !places.drawn.empty()) (*json)["drawn"] = places.drawn;
  if (places.is_lab) (*json)["lab"] = true;
  if (!places.endpoints.empty()) (*json)["endpoints"] = places.endpoints;
  if (places.copies_per_second) (*json)["copy_rate"] = *places.copies_per_second;
}

MeasurementPlace PlaceAt(const Places& places, const NamedHost& host) {
  MeasurementPlace place;
  place.edges = places.edges;
  if (places.edges_of) {
    const Places::Ports* const ports = FindFor(*places.edges_of, host);
    place.edges = ports == nullptr ? Places::Ports() : *ports;
  }
  const uint8_t* number = FindFor(places.numbers, host);
  if (number == nullptr) number = FindFor(places.drawn, host);
  if (number != nullptr) place.switch_id = *number;
  place.is_lab = places.is_lab;
  place.endpoints = places.endpoints;
  place.copies_per_second = places.copies_per_second.value_or(kDefaultCopiesPerSecond);
  return place;
}

std::set<std::string> HostsNamed(const Places& places) {
  std::set<std::string> hosts;
  if (places.edges_of) {
    for (const auto& [host, ports] : *places.edges_of) hosts.insert(host);
  }
  for (const auto& [host, number] : places.numbers) hosts.insert(host);
  return hosts;
}

Status NumberHosts(const std::vector<NamedHost>& hosts, Places* places) {
  std::set<unsigned> taken;
  for (const auto& [host, number] : places->numbers) taken.insert(number);
  unsigned next = 1;
  for (const NamedHost& host : hosts) {
    if (PlaceAt(*places, host).switch_id) continue;
    while (taken.count(next) != 0) ++next;
    if (next > UINT8_MAX) {
      return Status::Error(
          "the program reads switch.id, which numbers at most 255 switches; name "
          "fewer hosts");
    }
    places->drawn[host.id] = static_cast<uint8_t>(next++);
  }
  return Status::Ok();
}

}  // namespace trumpet
