// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs hosts with real agents, the wire and the event manager in simulated time over the packets of
// a case (tests/network/exactness makes them), and prints what subscribers are told: a JSON object
// a line.
//
//   network_replay --hosts N --threads N --split yes|no [--deadline MS] [--offsets US,US,...]
//                  [--late HOST,...] DIRECTORY
//
// Offsets are how far the hosts' clocks are ahead, in microseconds.  Late hosts are not there at
// the beginning.
//
// The directory holds topology.yaml, events.yaml and packets.txt: the instant at which traffic may
// begin, then a line per passage of a packet: its instant, the host, u(plink) or e(dge), the packet
// thread, the frame's length on the wire, and what was captured of it in hexadecimal.  It may hold
// story.txt (replay_story_test.h).  State is printed at the end, and before each act of the story.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/network/agent_network_test.h"
#include "tests/network/replay_story_test.h"

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
  std::vector<Nanos> late;  // hosts
  Nanos deadline_ns = 0;    // 0: one interval
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
    } else if (name == "--late") {
      options.late = ReadList(value);
    } else if (name == "--deadline") {
      options.deadline_ns = std::stoll(value) * kNanosPerMilli;
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
  // Hosts that are late need not have applied anything.
  const auto is_done = [&] {
    if (!answer || !manager.is_settled()) return false;
    for (const EventView& event : manager.Events(Caller())) {
      for (const EventOnHost& host : manager.HostsOf(event.record.name)) {
        const auto view = manager.FindHost(host.host);
        if (view->is_connected && host.state != HostApplication::kApplied) return false;
      }
    }
    return true;
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

void SetTopology(const Options& options, AgentNetwork* network) {
  auto topology =
      ParseTopologyYaml(ReadFile(options.directory + "/topology.yaml"), "topology.yaml");
  if (!topology.ok()) Fail(topology.message());
  network->manager().SetTopology(std::move(*topology));
}

void AddPorts(StillSwitch* host) {
  host->plugin.UpdatePort(kUplinkPort, "up0", "system", true);
  host->plugin.UpdatePort(kEdgePort, "vm0", "tap", true);
}

void Receive(const Passage& passage, bool is_calm, AgentNetwork* network) {
  if (!network->has_host(passage.host)) return;
  StillSwitch& host = network->host(passage.host);
  const trumpet_frame frame{passage.captured.data(), static_cast<uint32_t>(passage.captured.size()),
                            passage.wire_bytes};
  if (host.fake.is_attached()) {
    uint32_t mark;
    host.threads[passage.thread]->OnReceive(&frame, 1, passage.is_uplink ? kUplinkPort : kEdgePort,
                                            host.monotonic / 1000, &mark);
  } else if (is_calm && host.plugin.events().count() != 0) {
    Fail("a host's hooks are not attached");
  }
}

void Replay(const Options& options) {
  const Traffic traffic =
      ReadTraffic(options.directory + "/packets.txt", options.hosts, options.threads);
  AgentNetworkOptions kit;
  kit.threads_per_host = static_cast<int>(options.threads);
  kit.config = {{"trumpet-uplinks", "up*"}};
  kit.manager.max_threshold_hosts = options.splits ? options.hosts : 0;
  kit.manager.event.deadline_ns = options.deadline_ns;
  AgentNetwork network(options.hosts, kit);
  for (size_t i = 0; i < options.offsets_ns.size() && i < options.hosts; ++i) {
    network.host(i).wall_shift = options.offsets_ns[i];
  }
  for (size_t i = 0; i < options.hosts; ++i) AddPorts(&network.host(i));
  for (const Nanos host : options.late) network.StopHost(static_cast<size_t>(host));
  SetTopology(options, &network);
  Story story(
      &network, options.directory, [&](size_t host) { AddPorts(&network.StartHost(host)); },
      [&] { SetTopology(options, &network); });
  if (auto connected = network.ConnectAll(); !connected) Fail(connected.message());
  Install(ReadFile(options.directory + "/events.yaml"), &network);
  const Nanos longest = LongestInterval(&network);
  if (network.now() + 3 * longest > traffic.begin) Fail("took too long to install the events");
  network.RunTo(traffic.begin - 2 * longest, kIdleStep);
  network.RunTo(traffic.begin);
  for (const Passage& passage : traffic.passages) {
    story.RunTo(passage.at);
    Receive(passage, story.is_empty(), &network);
  }
  story.RunTo(network.now() + 3 * LongestInterval(&network) + 30 * kNanosPerMilli);
  // Clocks that are behind end their intervals later.
  if (!options.offsets_ns.empty()) {
    network.RunTo(network.now() + 100 * kNanosPerMilli, kNanosPerMilli);
  }
  story.Note();
  story.NoteSessions();
  for (const auto& row : network.reports()) std::cout << row->json << "\n";
}

}  // namespace
}  // namespace trumpet::testing

int main(int argc, char** argv) {
  trumpet::testing::Replay(trumpet::testing::ReadOptions(argc, argv));
  return 0;
}
