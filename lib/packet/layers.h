// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Layers: which headers stand one behind the other in a frame, through whatever tunnels there are.
//
// ParsePacket (parse.h) says what the event language asks for and knows its tunnels only.  This is
// for packets that switches all over a network have copied: tags in tags, MPLS, IP in IP, ERSPAN I
// to III, GRE of several makers, MPLS and Ethernet in IP, MPLS in UDP, VXLAN with and without GPE,
// Geneve, NSH.
//
// A layer is in the list only if its header was captured, so its fixed fields can be read from the
// frame without a further check: `at` and `bytes` lie within the captured bytes.
//
// Threads: pure functions.  Cost: no allocation; at most kMaxLayers steps.

#ifndef TRUMPET_LIB_PACKET_LAYERS_H
#define TRUMPET_LIB_PACKET_LAYERS_H

#include <array>
#include <cstdint>

#include "lib/packet/parse.h"

namespace trumpet {

enum class LayerKind : uint8_t {
  kEthernet,
  kVlan,  // one tag: TCI and the type that follows
  kMpls,  // one label
  kControlWord,
  kIpv4,  // with options
  kIpv6,  // with extension headers
  kTcp,   // with the options that were captured
  kUdp,
  kSctp,
  kGre,   // with the fields that it announces, or 4 bytes if they are cut off or not known
  kPptp,  // GRE of version 1; the same
  kErspan1,
  kErspan2,
  kErspan3,
  kErspanPlatform,  // of ERSPAN III
  kMellanox,        // what its switches put before a copy in GRE 0x8949
  kWccp,
  kCiscoMeta,
  kVxlan,
  kVxlanGpe,
  kGeneve,   // with options
  kNsh,      // with what follows its first words
  kPayload,  // none of these; never in the list
};

// Without a value of its own: forty of them would cost more than what is read.
struct Layer {
  LayerKind kind;
  uint32_t at;  // from the beginning of the frame
  uint32_t bytes;
};

// Why the list ends.
enum class LayersEnd : uint8_t {
  kPayload,    // what follows is no header that is known here
  kFragment,   // a later one: no headers
  kCut,        // a header was announced, and is cut short
  kMalformed,  // what was announced does not look like it
  kTooMany,
};

constexpr int kMaxLayers = 40;

struct Layers {
  std::array<Layer, kMaxLayers> list;  // the first `count` of them are set
  int count = 0;
  LayersEnd end = LayersEnd::kPayload;
  // What follows the last layer: [payload_at, payload_end), within the captured bytes and the
  // lengths that IP states.
  uint32_t payload_at = 0;
  uint32_t payload_end = 0;
};

struct LayerOptions {
  ParseOptions ports;
  uint16_t vxlan_gpe_port = 4790;
  uint16_t mpls_port = 6635;  // RFC 7510
};

// `first` is kEthernet; kIpv4 or kIpv6 for a frame that begins with IP of either version.
void ReadLayers(const uint8_t* data, uint32_t captured, LayerKind first,
                const LayerOptions& options, Layers* layers);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_LAYERS_H
