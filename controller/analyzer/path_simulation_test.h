// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Packets that cross a simulated network, and the copies that its routers make of them, with the
// truth beside them; for tests.

#ifndef TRUMPET_CONTROLLER_ANALYZER_PATH_SIMULATION_TEST_H
#define TRUMPET_CONTROLLER_ANALYZER_PATH_SIMULATION_TEST_H

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "controller/analyzer/copy_matching.h"
#include "controller/analyzer/packet_identity.h"
#include "lib/packet/test_frames.h"

namespace trumpet {

struct SimulatedPath {
  std::vector<uint16_t> hops{0, 1, 3};  // of the locations
  double link_loss = 0.01;              // of a packet, between two locations
  double copy_loss = 0.02;
  double other_path = 0;  // of flows: another way of equal length, past the inner locations
  double detour = 0;      // of packets: a longer way to the last location
  double copy_twice = 0;  // of copies: made twice by the switch
  Nanos spacing = 100 * kNanosPerMicro;
  Nanos hop_delay = 5 * kNanosPerMilli;
  Nanos jitter = 20 * kNanosPerMicro;
  std::vector<Nanos> latency;  // of each location to the analyzer; missing: 0
  Nanos on = 0;                // of the slot; packets are under way before and after it
  Nanos off = 1000 * kNanosPerSecond;
  Nanos skew = 0;  // each location turns each flow on, and off, up to so much later
};

struct SimulatedPacket {
  bool is_ipv6 = false;
  uint16_t flow = 0;
  uint16_t ip_id = 0;
  std::vector<uint8_t> payload;
};

struct SimulatedCopy {
  std::vector<uint8_t> bytes;  // from Ethernet on
  uint16_t location = 0;
  Nanos time = 0;
  size_t packet = 0;  // the truth
};

struct SimulatedTruth {
  uint64_t seen = 0;  // copies that arrived, on the path
  uint64_t detour = 0;
  bool is_on_path = false;
  bool is_delivered = false;
};

class PathSimulation {
 public:
  PathSimulation(const SimulatedPath& path, uint64_t seed) : path_(path), random_(seed) {
    for (size_t i = 0; i < kFlows; ++i) flow_is_on_path_.push_back(!Chance(path.other_path));
    for (size_t i = 0; path.skew > 0 && i < kFlows * path.hops.size(); ++i) {
      const auto later = [&] { return static_cast<Nanos>(Below(path_.skew)); };
      slots_.push_back({path.on + later(), path.off + later()});
    }
  }

  void Send(const SimulatedPacket& packet) {
    const size_t last = path_.hops.size() - 1;
    const size_t number = truth.size();
    const Nanos start = static_cast<Nanos>(number) * path_.spacing;
    SimulatedTruth told;
    told.is_on_path = IsOnPath(packet.flow);
    const bool is_detour = Chance(path_.detour);
    bool is_alive = true;
    for (size_t at = 0; at <= last; ++at) {
      if (at > 0 && Chance(path_.link_loss)) is_alive = false;
      if (!is_alive) break;
      const bool is_inner = at > 0 && at < last;
      if (is_inner && (is_detour || !told.is_on_path)) continue;
      const int extra = is_detour && at == last ? 2 : 0;
      const Nanos here = start + (path_.hops[at] + extra) * path_.hop_delay + Jitter();
      if (at == last) told.is_delivered = true;
      const Slot slot = SlotOf(packet.flow, at);
      if (here < slot.on || here >= slot.off || Chance(path_.copy_loss)) continue;
      (extra != 0 ? told.detour : told.seen) |= uint64_t{1} << at;
      const auto ttl = static_cast<uint8_t>(60 - path_.hops[at] - extra);
      const Nanos latency = at < path_.latency.size() ? path_.latency[at] : 0;
      copies.push_back({Bytes(packet, ttl), static_cast<uint16_t>(at), here + latency, number});
      if (Chance(path_.copy_twice)) copies.push_back(copies.back());
    }
    truth.push_back(told);
  }

  std::vector<SeenCopy> Seen() const {
    std::vector<SeenCopy> seen;
    for (const SimulatedCopy& copy : copies) {
      const auto identity =
          IdentifyPacket(copy.bytes.data(), static_cast<uint32_t>(copy.bytes.size()), true, 7);
      seen.push_back({identity->hash, identity->flow, copy.time, copy.location, identity->ttl});
    }
    return seen;
  }

  bool IsOnPath(uint16_t flow) const { return flow_is_on_path_[flow % kFlows]; }

  bool Chance(double share) { return std::uniform_real_distribution<double>()(random_) < share; }
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  std::vector<SimulatedCopy> copies;
  std::vector<SimulatedTruth> truth;

 private:
  static constexpr size_t kFlows = 4096;

  struct Slot {
    Nanos on;
    Nanos off;
  };

  Slot SlotOf(uint16_t flow, size_t location) const {
    if (slots_.empty()) return {path_.on, path_.off};
    return slots_[location * kFlows + flow % kFlows];
  }

  Nanos Jitter() { return path_.jitter == 0 ? 0 : static_cast<Nanos>(Below(path_.jitter)); }

  // As a router sees it: TTL, MACs, DSCP and, in IPv4, its checksum are its own.
  std::vector<uint8_t> Bytes(const SimulatedPacket& packet, uint8_t ttl) {
    namespace f = test_frames;
    const auto port = static_cast<uint16_t>(1024 + packet.flow);
    f::Bytes ip;
    if (packet.is_ipv6) {
      f::Ipv6Header header{kProtocolUdp};
      header.hop_limit = ttl;
      header.traffic_class = static_cast<uint8_t>(Below(256));
      ip = f::Ipv6(header, f::Udp(port, 80, packet.payload));
    } else {
      f::Ipv4Header header{kProtocolUdp};
      header.ttl = ttl;
      header.tos = static_cast<uint8_t>(Below(256));
      ip = f::Ipv4(header, f::Udp(port, 80, packet.payload));
      ip[4] = static_cast<uint8_t>(packet.ip_id >> 8);
      ip[5] = static_cast<uint8_t>(packet.ip_id);
      ip[10] = static_cast<uint8_t>(Below(256));
      ip[11] = static_cast<uint8_t>(Below(256));
    }
    const uint16_t type = packet.is_ipv6 ? 0x86dd : 0x0800;
    f::Bytes frame =
        Chance(0.5) ? f::Ethernet(type, ip)
                    : f::Ethernet(0x8100, f::Tag(static_cast<uint16_t>(Below(4096)), type, ip));
    frame[0] = static_cast<uint8_t>(Below(256));
    return frame;
  }

  const SimulatedPath path_;
  std::mt19937_64 random_;
  std::vector<bool> flow_is_on_path_;
  std::vector<Slot> slots_;  // of location and flow
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_PATH_SIMULATION_TEST_H
