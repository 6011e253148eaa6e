// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The LLDP frames that one controller sends itself around links, and believes.
//
// Each frame tells which port of which switch it was sent out of, and a number used once, in a TLV
// of our own that a key authenticates.  Speaker and key are new in each life of the controller, so
// that frames of another controller, or of an earlier life, are told apart from forged ones.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_TOPOLOGY_LLDP_H
#define TRUMPET_CONTROLLER_TOPOLOGY_LLDP_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace trumpet {

// What flows match, so that nobody else's LLDP comes to us: 01:80:c2:00:00:0e, which bridges do not
// forward, and a source of our own.
constexpr std::array<uint8_t, 6> kLldpDestination = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
constexpr std::array<uint8_t, 6> kLldpSource = {0x06, 0x54, 0x52, 0x4d, 0x50, 0x54};
constexpr uint16_t kLldpEtherType = 0x88cc;

// A port of a switch, as OpenFlow numbers it.
struct SwitchPortId {
  uint64_t datapath_id = 0;
  uint32_t port = 0;

  friend bool operator<(const SwitchPortId& a, const SwitchPortId& b) {
    return std::tie(a.datapath_id, a.port) < std::tie(b.datapath_id, b.port);
  }
  friend bool operator==(const SwitchPortId& a, const SwitchPortId& b) {
    return a.datapath_id == b.datapath_id && a.port == b.port;
  }
  friend bool operator!=(const SwitchPortId& a, const SwitchPortId& b) { return !(a == b); }
};

struct LldpProbe {
  SwitchPortId from;
  uint64_t nonce = 0;
};

// Of one life of the controller; both are random.
struct LldpIdentity {
  uint64_t speaker = 0;
  std::array<uint8_t, 32> key = {};

  // From the system's source of randomness.
  static LldpIdentity New();
};

enum class LldpVerdict : uint8_t {
  kOurs,       // and nobody has changed it
  kForeign,    // not ours: other LLDP, another controller, or no LLDP at all
  kMalformed,  // LLDP that breaks its own rules
  kForged,     // says that it is ours
};

std::vector<uint8_t> EncodeLldp(const LldpProbe& probe, const LldpIdentity& identity);
// `probe` is filled in if the frame is ours.
LldpVerdict DecodeLldp(const uint8_t* frame, size_t size, const LldpIdentity& identity,
                       LldpProbe* probe);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TOPOLOGY_LLDP_H
