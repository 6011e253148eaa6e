// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// KeyLayout: what tells one flow table entry from another.
//
// An entry's key is the innermost 5-tuple plus an extension: exactly those other fields that
// installed events use, as megaflows do.  All packets of an entry therefore agree in every field
// that any filter or granularity looks at: filters are tested once per entry, and bucket keys can
// be built from the entry alone.
//
// Threads: immutable once made.

#ifndef TRUMPET_LIB_TPM_KEY_LAYOUT_H
#define TRUMPET_LIB_TPM_KEY_LAYOUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/model/event_spec.h"
#include "lib/packet/flow_key.h"

namespace trumpet {

// A FlowKey whose ip_family also tells whether the ports are there (a port 0 is not an absent
// port).
constexpr uint8_t kHasPortsFlag = 0x80;
// And, in programs that count by place (observation.h), whether the packet came through an uplink;
// of what is not IP, of which there is no more in the key, also where it counts.
constexpr uint8_t kFromUplinkFlag = 0x40;
constexpr int kCountedAtShift = 4;  // of the bits of Observation::CountedAt()
constexpr uint8_t kFamilyBits = 0x0f;

// `place_flags`: TriggerProgram::PlaceFlagsOf().
inline FlowKey EntryKeyOf(const ParsedPacket& packet, uint16_t zone, uint8_t place_flags = 0) {
  const Headers& headers = packet.innermost;
  if (headers.ip_family == 0) {
    FlowKey key = FlowKeyOf(packet, zone);
    key.ip_family = place_flags;
    return key;
  }
  const bool has_ports = headers.Has(Field::kSrcPort);
  return MakeFlowKey(
      headers, zone,
      static_cast<uint8_t>(headers.ip_family | (has_ports ? kHasPortsFlag : 0) | place_flags));
}

inline FlowKey FlowOf(const FlowKey& entry_key) {
  FlowKey flow = entry_key;
  flow.ip_family &= kFamilyBits;
  return flow;
}

constexpr size_t kMaxExtensionBytes = 256;

class KeyLayout {
 public:
  // The layout for the fields that `events` use.
  static KeyLayout For(const std::vector<const EventSpec*>& events);

  // Size of the extension, a multiple of 8; 0 when the 5-tuple tells all.
  size_t extension_bytes() const { return extension_bytes_; }

  // Writes extension_bytes() bytes.
  void FillExtension(const ParsedPacket& packet, uint8_t* extension) const;

  // The field's value for all packets of the entry; `ref` must be used by one of the events.
  FieldValue Read(const FlowKey& entry_key, const uint8_t* extension, const FieldRef& ref) const;

 private:
  struct Item {
    FieldRef ref;         // level kInnermost or kOuter
    uint16_t offset = 0;  // of the kind byte; the value follows
    uint8_t value_bytes = 0;
  };

  void AddField(const FieldRef& ref);
  const Item* FindItem(const FieldRef& ref) const;

  std::vector<Item> items_;
  bool has_tunnel_flag_ = false;  // byte 0 of the extension: the packet is tunnelled
  size_t extension_bytes_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_KEY_LAYOUT_H
