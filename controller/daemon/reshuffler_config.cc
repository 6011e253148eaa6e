// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "controller/daemon/reshuffler_part.h"

namespace trumpet {
namespace {

void ReadAddress(ConfigSection* section, std::string* address) {
  section->Text("address", address);
  in_addr unused;
  if (inet_pton(AF_INET, address->c_str(), &unused) == 1) return;
  section->ComplainOf("address", "'" + *address + "' is no IPv4 address");
}

void ReadTarget(ConfigSection* section, std::vector<ReshuffleTarget>* targets) {
  ReshuffleTarget one;
  size_t weight = 1;
  section->Text("name", &one.member.name);
  section->Count("weight", 0, kMaxReshuffleWeight, &weight);
  one.member.weight = static_cast<uint32_t>(weight);
  ReadAddress(section, &one.address);
  if (one.member.name.empty()) section->Complain("an analyzer needs a name");
  for (const ReshuffleTarget& other : *targets) {
    if (other.member.name == one.member.name) {
      section->ComplainOf("name", "another analyzer has this name");
    }
    if (other.address == one.address) {
      section->ComplainOf("address", "another analyzer has this address");
    }
  }
  if (targets->size() == kMaxReshuffleMembers) {
    section->Complain("there are more than " + std::to_string(kMaxReshuffleMembers) + " analyzers");
  }
  targets->push_back(std::move(one));
}

void ReadBridge(ConfigSection* section, std::vector<ReshufflerPlace>* places) {
  ReshufflerPlace one;
  size_t port = 0;
  section->Text("switch", &one.name);
  section->Count("port", 1, 0xfeff, &port);
  one.bridge.port = static_cast<uint32_t>(port);
  ReadAddress(section, &one.bridge.address);
  if (one.name.empty() || port == 0) {
    section->Complain("a reshuffler needs a switch and the port of its tunnel");
  }
  const bool is_named = std::any_of(places->begin(), places->end(),
                                    [&](const auto& other) { return other.name == one.name; });
  if (is_named) section->ComplainOf("switch", "another reshuffler has this switch");
  places->push_back(std::move(one));
}

}  // namespace

void ReadReshufflers(ConfigSection* section, ReshufflersConfig* config) {
  config->bridges.clear();
  config->analyzers.clear();
  section->Sections("bridges", [&](ConfigSection* one) { ReadBridge(one, &config->bridges); });
  section->Sections("analyzers", [&](ConfigSection* one) { ReadTarget(one, &config->analyzers); });
  section->Duration("silence", 200 * kNanosPerMilli, 60 * kNanosPerSecond, &config->health.silence);
  section->Duration("return_after", 0, 3600 * kNanosPerSecond, &config->health.return_after);
  if (!config->bridges.empty() && config->analyzers.empty()) {
    section->Complain("reshufflers need analyzers");
  }
}

std::string ReshufflerProblem(const ReshufflersConfig& config, const OpenflowConfig& openflow) {
  for (const ReshufflerPlace& place : config.bridges) {
    const auto is_it = [&](const OpenflowSwitchConfig& one) { return one.name == place.name; };
    if (std::any_of(openflow.switches.begin(), openflow.switches.end(), is_it)) continue;
    return "reshuffler '" + place.name + "' is none of 'openflow: switches'";
  }
  return "";
}

Nanos AskInterval(const ReshufflersConfig& config) {
  const Nanos often = std::max<Nanos>(config.health.silence / 6, 50 * kNanosPerMilli);
  return config.bridges.empty() ? kNanosPerSecond : std::min(often, kNanosPerSecond);
}

}  // namespace trumpet
