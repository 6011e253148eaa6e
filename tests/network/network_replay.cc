// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs hosts with real agents, the wire and the event manager in simulated time over the packets of
// a case (tests/network/exactness makes them), and prints what subscribers are told: a JSON object
// a line.
//
//   network_replay --hosts N --threads N --split yes|no [--offsets US,US,...]
//                  [--stall HOST,FROM_NS,FOR_NS] DIRECTORY
//
// Offsets are how far the hosts' clocks are ahead, in microseconds.  A host that is stalled
// receives packets, but its agent does nothing until the time is over.
//
// The directory holds topology.yaml, events.yaml and packets.txt: the instant at which traffic may
// begin, then a line per passage of a packet: its instant, the host, u(plink) or e(dge), the packet
// thread, the frame's length on the wire, and what was captured of it in hexadecimal.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/network/agent_network_test.h"

namespace trumpet::testing {
namespace {

constexpr uint32_t kUplinkPort = 1;
constexpr uint32_t kEdgePort = 2;
constexpr Nanos kIdleStep = 5 * kNanosPerMilli;

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << "network_replay: " << what << "\n";
  std::exit(1);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) Fail("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Passage {
  Nanos at = 0;
  size_t host = 0;
  bool is_uplink = false;
  size_t thread = 0;
  uint32_t wire_bytes = 0;
  std::vector<uint8_t> captured;
};

struct Traffic {
  Nanos begin = 0;
  std::vector<Passage> passages;
};

std::vector<uint8_t> FromHex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

Traffic ReadTraffic(const std::string& path, size_t hosts, size_t threads) {
  std::istringstream text(ReadFile(path));
  Traffic traffic;
  text >> traffic.begin;
  Passage passage;
  std::string way;
  std::string hex;
  while (text >> passage.at >> passage.host >> way >> passage.thread >> passage.wire_bytes >> hex) {
    if (passage.host >= hosts || passage.thread >= threads) Fail("a packet of no host in " + path);
    passage.is_uplink = way == "u";
    passage.captured = FromHex(hex);
    traffic.passages.push_back(passage);
  }
  if (!text.eof()) Fail("cannot read a line of " + path);
  return traffic;
}

struct Options {
  size_t hosts = 2;
  size_t threads = 1;
  bool splits = false;
  std::vector<Nanos> offsets_ns;
  std::vector<Nanos> stall;  // host, from when, for how long; or empty
  std::string directory;
};

std::vector<Nanos> ReadList(const std::string& text) {
  std::vector<Nanos> numbers;
  std::istringstream list(text);
  for (std::string number; std::getline(list, number, ',');) numbers.push_back(std::stoll(number));
  return numbers;
}

Options ReadOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.substr(0, 2) != "--") {
      options.directory = name;
      continue;
    }
    if (++i == argc) Fail(name + " takes a value");
    const std::string value = argv[i];
    if (name == "--hosts") {
      options.hosts = static_cast<size_t>(std::stoul(value));
    } else if (name == "--threads") {
      options.threads = static_cast<size_t>(std::stoul(value));
    } else if (name == "--offsets") {
      for (const Nanos offset : ReadList(value)) {
        options.offsets_ns.push_back(offset * kNanosPerMicro);
      }
    } else if (name == "--stall") {
      options.stall = ReadList(value);
      if (options.stall.size() != 3) Fail("--stall takes three numbers");
    } else if (name == "--split") {
      options.splits = value == "yes";
    } else {
      Fail("there is no option " + name);
    }
  }
  if (options.directory.empty()) Fail("needs a directory");
  return options;
}

// Some events are for no host at all.
void Install(const std::string& yaml, AgentNetwork* network) {
  EventManager& manager = network->manager();
  std::optional<Result<std::vector<EventRecord>>> answer;
  manager.Put(yaml, DocumentFormat::kYaml, "events.yaml", EventManager::IfThere::kRefuse, Caller(),
              [&answer](Result<std::vector<EventRecord>> records) { answer = std::move(records); });
  const auto is_done = [&] {
    if (!answer || !manager.is_settled()) return false;
    const std::vector<EventView> events = manager.Events(Caller());
    return std::all_of(events.begin(), events.end(),
                       [](const EventView& event) { return event.applied >= event.wanted; });
  };
  if (auto done = network->RunUntil(is_done); !done) Fail(done.message());
  if (!answer->ok()) Fail(answer->message());
}

Nanos LongestInterval(AgentNetwork* network) {
  Nanos longest = kNanosPerMilli;
  for (const EventView& event : network->manager().Events(Caller())) {
    longest = std::max(longest, event.spec.interval_ns());
  }
  return longest;
}

void RunTo(Nanos until, const Options& options, AgentNetwork* network) {
  if (!options.stall.empty()) {
    const auto host = static_cast<size_t>(options.stall[0]);
    const Nanos from = options.stall[1];
    const Nanos to = from + options.stall[2];
    if (network->now() < from && until >= from) {
      network->RunTo(from);
      network->host(host).is_stalled = true;
    }
    if (network->now() < to && until >= to) {
      network->RunTo(to);
      network->host(host).is_stalled = false;
    }
  }
  network->RunTo(until);
}

void Replay(const Options& options) {
  const Traffic traffic =
      ReadTraffic(options.directory + "/packets.txt", options.hosts, options.threads);
  AgentNetworkOptions kit;
  kit.threads_per_host = static_cast<int>(options.threads);
  kit.config = {{"trumpet-uplinks", "up*"}};
  kit.manager.max_threshold_hosts = options.splits ? options.hosts : 0;
  // Steps of the simulated time are long for intervals of 1 ms.  Hosts in trouble have no more than
  // usual.
  const bool is_in_trouble = !options.offsets_ns.empty() || !options.stall.empty();
  if (!is_in_trouble) kit.manager.event.deadline_ns = 20 * kNanosPerMilli;
  AgentNetwork network(options.hosts, kit);
  for (size_t i = 0; i < options.offsets_ns.size() && i < options.hosts; ++i) {
    network.host(i).wall_shift = options.offsets_ns[i];
  }
  for (size_t i = 0; i < options.hosts; ++i) {
    network.host(i).plugin.UpdatePort(kUplinkPort, "up0", "system", true);
    network.host(i).plugin.UpdatePort(kEdgePort, "vm0", "tap", true);
  }
  auto topology =
      ParseTopologyYaml(ReadFile(options.directory + "/topology.yaml"), "topology.yaml");
  if (!topology.ok()) Fail(topology.message());
  network.manager().SetTopology(std::move(*topology));
  if (auto connected = network.ConnectAll(); !connected) Fail(connected.message());
  Install(ReadFile(options.directory + "/events.yaml"), &network);
  const Nanos longest = LongestInterval(&network);
  if (network.now() + 3 * longest > traffic.begin) Fail("took too long to install the events");
  network.RunTo(traffic.begin - 2 * longest, kIdleStep);
  network.RunTo(traffic.begin);
  for (const Passage& passage : traffic.passages) {
    RunTo(passage.at, options, &network);
    StillSwitch& host = network.host(passage.host);
    const trumpet_frame frame{passage.captured.data(),
                              static_cast<uint32_t>(passage.captured.size()), passage.wire_bytes};
    if (!host.fake.is_attached()) {
      // No event may be here at all, if none can match a packet of this host.
      if (host.plugin.events().count() != 0) Fail("a host's hooks are not attached");
      continue;
    }
    host.threads[passage.thread]->OnReceive(&frame, 1, passage.is_uplink ? kUplinkPort : kEdgePort,
                                            host.monotonic / 1000);
  }
  RunTo(network.now() + 3 * longest + 30 * kNanosPerMilli, options, &network);
  if (is_in_trouble) network.RunTo(network.now() + 150 * kNanosPerMilli, kNanosPerMilli);
  for (const auto& row : network.reports()) std::cout << row->json << "\n";
}

}  // namespace
}  // namespace trumpet::testing

int main(int argc, char** argv) {
  trumpet::testing::Replay(trumpet::testing::ReadOptions(argc, argv));
  return 0;
}
