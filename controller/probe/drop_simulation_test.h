// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A network of two leaves and some spines between them that loses packets for a known cause, and
// tells what became of each as analyzers would; for tests.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_SIMULATION_TEST_H
#define TRUMPET_CONTROLLER_PROBE_DROP_SIMULATION_TEST_H

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "controller/probe/drop_evidence.h"

namespace trumpet::testing {

class LossyNetwork {
 public:
  // Does a packet that takes that way vanish?  `at` is its number in the order of sending.
  using Vanishes = std::function<bool(const ProbePacket& packet, uint32_t spine, uint64_t at)>;

  explicit LossyNetwork(uint64_t seed) : random_(seed), hash_seed_(seed * 0x9e3779b97f4a7c15) {}

  uint32_t spines = 1;
  bool is_behind_spine = false;  // packets vanish there, and not before it
  double copy_loss = 0;
  Vanishes vanishes = [](const ProbePacket&, uint32_t, uint64_t) { return false; };

  uint32_t SpineOf(const ProbePacket& packet) const {
    uint64_t hash = hash_seed_;
    const auto mix = [&hash](uint64_t value) {
      hash = (hash ^ value) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    };
    mix(static_cast<uint64_t>(packet.src.value));
    mix(static_cast<uint64_t>(packet.dst.value));
    mix(packet.protocol);
    const bool has_ports = packet.protocol == kProtocolUdp || packet.protocol == kProtocolTcp;
    if (has_ports) mix(uint64_t{packet.src_port} << 16 | packet.dst_port);
    return static_cast<uint32_t>(hash >> 20) % spines;
  }

  DropOutcome Send(size_t kind, const ProbePacket& packet) {
    const uint32_t spine = SpineOf(packet);
    const bool is_lost = vanishes(packet, spine, sent_++);
    const std::vector<std::string> way = {"leaf1", NameOf(spine), "leaf2"};
    const size_t came = is_lost ? (is_behind_spine ? 2 : 1) : way.size();
    DropOutcome outcome;
    outcome.kind = kind;
    for (size_t i = 0; i < came; ++i) {
      if (!IsChance(copy_loss)) outcome.path.push_back(way[i]);
    }
    if (outcome.path.empty()) return outcome;
    outcome.behind = outcome.path.back();
    outcome.fate = outcome.behind == "leaf2" ? ProbeFate::kPassed : ProbeFate::kLost;
    if (outcome.fate != ProbeFate::kLost) return outcome;
    const bool is_first = outcome.behind == "leaf1";
    outcome.copies_odds = is_first ? 1e-4 : 1e-2;  // as judges have it, without numbers
    if (!is_first) outcome.towards = {"leaf2"};
    for (uint32_t i = 0; is_first && i < spines; ++i) outcome.towards.push_back(NameOf(i));
    return outcome;
  }

  static std::string NameOf(uint32_t spine) { return "spine" + std::to_string(spine + 1); }
  bool IsChance(double rate) { return std::uniform_real_distribution<double>()(random_) < rate; }
  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
  const uint64_t hash_seed_;
  uint64_t sent_ = 0;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_SIMULATION_TEST_H
