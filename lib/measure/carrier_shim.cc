// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/carrier_shim.h"

#include <cstring>

#include "lib/base/byte_order.h"
#include "lib/base/hash.h"
#include "lib/packet/checksum.h"

namespace trumpet {
namespace {

constexpr uint32_t kLeastFrame = 60;
constexpr uint32_t kAddressBytes = 12;
constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kVlanBytes = 4;
constexpr uint16_t kServiceTag = 0x88a8;
constexpr uint16_t kCustomerTag = 0x8100;
constexpr uint16_t kDei = 0x1000;
constexpr uint16_t kVidMask = 0x0fff;
constexpr uint16_t kEscapePriority = 0x2000;  // 1; that of values is 0

constexpr uint16_t kIpv4 = 0x0800;
constexpr uint16_t kIpv6 = 0x86dd;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint8_t kUdp = 17;
constexpr uint32_t kUdpBytes = 8;
constexpr uint16_t kGenevePort = 6081;
constexpr uint32_t kGeneveBytes = 8;
constexpr uint32_t kMaxOptionWords = 63;
constexpr uint32_t kOptionWords = kOptionShimBytes / 4;
constexpr uint16_t kOptionClass = 0xff54;
constexpr uint8_t kValueType = 0x54;  // not critical: who does not know it goes past it
constexpr uint8_t kEscapeType = 0x55;
constexpr uint32_t kCheckedInner = 12;  // bytes behind the option that its check depends on

// --- the VLAN shim -----------------------------------------------------------

// `rest`: what follows the addresses, 48 bytes at least.
uint16_t VlanCheck(uint64_t key, uint16_t outer, const uint8_t* addresses, const uint8_t* rest) {
  uint8_t checked[kLeastFrame];
  std::memcpy(checked, addresses, kAddressBytes);
  std::memcpy(checked + kAddressBytes, rest, kLeastFrame - kAddressBytes);
  const uint64_t hash = HashBytes(checked, sizeof checked, HashNumber(outer, key));
  return static_cast<uint16_t>(hash & ~uint64_t{kDei});
}

// The outer tag without its DEI bit, if the frame has the shim; -1 without.
int32_t VlanShimOf(uint64_t key, const ShimFrame& frame) {
  if (frame.length < kLeastFrame + kVlanShimBytes) return -1;
  const uint8_t* const tags = frame.bytes + kAddressBytes;
  if (LoadBe16(tags) != kServiceTag || LoadBe16(tags + 4) != kCustomerTag) return -1;
  const auto outer = static_cast<uint16_t>(LoadBe16(tags + 2) & ~kDei);
  if (outer > (kEscapePriority | kVidMask)) return -1;
  const uint16_t check = VlanCheck(key, outer, frame.bytes, tags + kVlanShimBytes);
  return (LoadBe16(tags + 6) & ~kDei) == check ? outer : -1;
}

void PutVlanShim(uint64_t key, uint16_t outer, const ShimFrame& frame) {
  const uint16_t check = VlanCheck(key, outer, frame.bytes, frame.bytes + kAddressBytes);
  uint8_t* const begin = frame.bytes - kVlanShimBytes;
  std::memmove(begin, frame.bytes, kAddressBytes);
  StoreBe16(begin + kAddressBytes, kServiceTag);
  StoreBe16(begin + kAddressBytes + 2, outer);
  StoreBe16(begin + kAddressBytes + 4, kCustomerTag);
  StoreBe16(begin + kAddressBytes + 6, check);
}

// --- Geneve ------------------------------------------------------------------

// Where the headers of a packet in Geneve begin.
struct GenevePlace {
  uint32_t ip = 0;
  uint32_t udp = 0;
  bool is_ipv6 = false;

  uint32_t geneve() const { return udp + kUdpBytes; }
  uint32_t options() const { return geneve() + kGeneveBytes; }
};

bool FindIp(const ShimFrame& frame, GenevePlace* place) {
  uint32_t at = kEthernetBytes;
  if (frame.length < at) return false;
  uint16_t type = LoadBe16(frame.bytes + at - 2);
  for (int tags = 0; tags < 2 && (type == kCustomerTag || type == kServiceTag); ++tags) {
    at += kVlanBytes;
    if (frame.length < at) return false;
    type = LoadBe16(frame.bytes + at - 2);
  }
  place->ip = at;
  place->is_ipv6 = type == kIpv6;
  return type == kIpv4 || type == kIpv6;
}

// Sets the place of UDP, and the bytes of it that the header of IP tells; false: not UDP, or not
// all of it.
bool FindUdp(const ShimFrame& frame, GenevePlace* place, uint32_t* udp_bytes) {
  const uint8_t* const ip = frame.bytes + place->ip;
  const uint32_t left = frame.length - place->ip;
  if (place->is_ipv6) {
    if (left < kIpv6Bytes || ip[0] >> 4 != 6 || ip[6] != kUdp) return false;
    place->udp = place->ip + kIpv6Bytes;
    *udp_bytes = LoadBe16(ip + 4);
    return *udp_bytes <= left - kIpv6Bytes;
  }
  if (left < 20 || ip[0] >> 4 != 4 || ip[9] != kUdp) return false;
  const uint32_t header = (ip[0] & 15u) * 4;
  const uint32_t total = LoadBe16(ip + 2);
  const bool is_fragment = (LoadBe16(ip + 6) & 0x3fff) != 0;
  if (header < 20 || total < header || total > left || is_fragment) return false;
  place->udp = place->ip + header;
  *udp_bytes = total - header;
  return true;
}

bool FindGeneve(const ShimFrame& frame, GenevePlace* place) {
  uint32_t udp_bytes = 0;
  if (frame.length < kLeastFrame) return false;
  if (!FindIp(frame, place) || !FindUdp(frame, place, &udp_bytes)) return false;
  if (udp_bytes < kUdpBytes + kGeneveBytes) return false;
  const uint8_t* const udp = frame.bytes + place->udp;
  if (LoadBe16(udp + 2) != kGenevePort || LoadBe16(udp + 4) != udp_bytes) return false;
  const uint8_t* const geneve = udp + kUdpBytes;
  const uint32_t options = (geneve[0] & kMaxOptionWords) * 4u;
  const bool is_version_0 = geneve[0] >> 6 == 0;
  return is_version_0 && udp_bytes >= kUdpBytes + kGeneveBytes + options + kCheckedInner;
}

// Beside the geneve header without its length, of what stands behind the option.
uint32_t OptionCheck(uint64_t key, const uint8_t* option, const uint8_t* geneve,
                     const uint8_t* behind) {
  uint8_t checked[8 + 6 + kCheckedInner];
  std::memcpy(checked, option, 8);
  std::memcpy(checked + 8, geneve + 2, 6);
  std::memcpy(checked + 14, behind, kCheckedInner);
  return static_cast<uint32_t>(HashBytes(checked, sizeof checked, key));
}

// Its first option, if it is a shim; null without.
const uint8_t* OptionShimOf(uint64_t key, const ShimFrame& frame, const GenevePlace& place) {
  const uint8_t* const geneve = frame.bytes + place.geneve();
  const uint8_t* const option = frame.bytes + place.options();
  if ((geneve[0] & kMaxOptionWords) < kOptionWords) return nullptr;
  if (LoadBe16(option) != kOptionClass || option[3] != kOptionWords - 1) return nullptr;
  if (option[2] != kValueType && option[2] != kEscapeType) return nullptr;
  const uint32_t check = OptionCheck(key, option, geneve, option + kOptionShimBytes);
  return LoadBe32(option + 8) == check ? option : nullptr;
}

// Adds `change` to all lengths of the outer headers; `options_sum` is that of the words that come
// or go.
void ChangeLengths(const GenevePlace& place, int change, uint32_t options_sum, uint8_t* frame) {
  uint8_t* const ip = frame + place.ip;
  uint8_t* const length = ip + (place.is_ipv6 ? 4 : 2);
  const uint16_t old_length = LoadBe16(length);
  StoreBe16(length, static_cast<uint16_t>(old_length + change));
  if (!place.is_ipv6) {
    StoreBe16(ip + 10, RepairedChecksum(LoadBe16(ip + 10), old_length, LoadBe16(length)));
  }
  uint8_t* const udp = frame + place.udp;
  uint8_t* const geneve = frame + place.geneve();
  const uint32_t before = 2u * LoadBe16(udp + 4) + LoadBe16(geneve);
  StoreBe16(udp + 4, static_cast<uint16_t>(LoadBe16(udp + 4) + change));
  geneve[0] = static_cast<uint8_t>(geneve[0] + change / 4);
  const uint32_t after = 2u * LoadBe16(udp + 4) + LoadBe16(geneve);
  const uint16_t checksum = LoadBe16(udp + 6);
  if (checksum == 0) return;  // there is none
  const uint16_t repaired = change > 0 ? RepairedChecksum(checksum, before, after + options_sum)
                                       : RepairedChecksum(checksum, before + options_sum, after);
  StoreBe16(udp + 6, repaired == 0 ? 0xffff : repaired);
}

// Those whose lengths could not grow, or whose checksum would not come back.
bool HasPlaceForOption(const ShimFrame& frame, const GenevePlace& place) {
  const uint8_t* const ip = frame.bytes + place.ip;
  const uint32_t length = LoadBe16(ip + (place.is_ipv6 ? 4 : 2));
  const uint32_t words = frame.bytes[place.geneve()] & kMaxOptionWords;
  if (!place.is_ipv6 && LoadBe16(ip + 10) == 0xffff) return false;
  return length + kOptionShimBytes <= 0xffff && words + kOptionWords <= kMaxOptionWords;
}

void PutOptionShim(uint64_t key, uint8_t type, uint32_t value, const GenevePlace& place,
                   const ShimFrame& frame) {
  uint8_t option[kOptionShimBytes];
  StoreBe16(option, kOptionClass);
  option[2] = type;
  option[3] = kOptionWords - 1;
  StoreBe32(option + 4, value);
  const uint8_t* const geneve = frame.bytes + place.geneve();
  StoreBe32(option + 8, OptionCheck(key, option, geneve, geneve + kGeneveBytes));
  uint8_t* const begin = frame.bytes - kOptionShimBytes;
  std::memmove(begin, frame.bytes, place.options());
  std::memcpy(begin + place.options(), option, sizeof option);
  ChangeLengths(place, kOptionShimBytes, SumOfWords(option, sizeof option), begin);
}

uint32_t TakeVlan(uint64_t key, const ShimFrame& frame, CarriedValues* values) {
  const int32_t outer = VlanShimOf(key, frame);
  if (outer < 0) return 0;
  if (outer < kEscapePriority) {
    values->has_vid = true;
    values->vid = static_cast<uint16_t>(outer);
  }
  std::memmove(frame.bytes + kVlanShimBytes, frame.bytes, kAddressBytes);
  return kVlanShimBytes;
}

uint32_t TakeOption(uint64_t key, const ShimFrame& frame, CarriedValues* values) {
  GenevePlace place;
  if (!FindGeneve(frame, &place)) return 0;
  const uint8_t* const option = OptionShimOf(key, frame, place);
  if (option == nullptr) return 0;
  if (option[2] == kValueType) {
    values->has_option = true;
    values->option = LoadBe32(option + 4);
  }
  ChangeLengths(place, -static_cast<int>(kOptionShimBytes), SumOfWords(option, kOptionShimBytes),
                frame.bytes);
  std::memmove(frame.bytes + kOptionShimBytes, frame.bytes, place.options());
  return kOptionShimBytes;
}

void PutOption(uint64_t key, const CarriedValues& values, uint32_t room, const ShimFrame& frame,
               ShimsPut* put) {
  GenevePlace place;
  const bool is_in_geneve = FindGeneve(frame, &place);
  const bool is_alike = is_in_geneve && OptionShimOf(key, frame, place) != nullptr;
  if (!is_alike && !values.has_option) return;
  if (!is_in_geneve || room < kOptionShimBytes || !HasPlaceForOption(frame, place)) {
    put->is_lost = values.has_option;
    put->is_exposed = is_alike;
    return;
  }
  put->is_escaped = is_alike;
  PutOptionShim(key, values.has_option ? kValueType : kEscapeType, values.option, place, frame);
  put->option_bytes = kOptionShimBytes;
}

void PutVlan(uint64_t key, const CarriedValues& values, uint32_t room, const ShimFrame& frame,
             ShimsPut* put) {
  const bool is_alike = VlanShimOf(key, frame) >= 0;
  if (!is_alike && !values.has_vid) return;
  if (room < kVlanShimBytes || frame.length < kLeastFrame) {
    put->is_lost = put->is_lost || values.has_vid;
    put->is_exposed = put->is_exposed || is_alike;
    return;
  }
  put->is_escaped = put->is_escaped || is_alike;
  PutVlanShim(key, values.has_vid ? values.vid & kVidMask : kEscapePriority, frame);
  put->vlan_bytes = kVlanShimBytes;
}

}  // namespace

bool CanCarryVid(const ShimFrame& frame) { return frame.length >= kLeastFrame; }

bool CanCarryOption(const ShimFrame& frame) {
  GenevePlace place;
  return FindGeneve(frame, &place) && HasPlaceForOption(frame, place);
}

bool IsInGeneve(const ShimFrame& frame) {
  GenevePlace place;
  return FindGeneve(frame, &place);
}

bool HasShims(uint64_t key, const ShimFrame& frame) {
  if (VlanShimOf(key, frame) >= 0) return true;
  GenevePlace place;
  return FindGeneve(frame, &place) && OptionShimOf(key, frame, place) != nullptr;
}

uint32_t TakeShims(uint64_t key, const ShimFrame& frame, CarriedValues* values) {
  const uint32_t outer = TakeVlan(key, frame, values);
  return outer + TakeOption(key, {frame.bytes + outer, frame.length - outer}, values);
}

// The option first: the check of the VLAN shim depends on what is behind it.
ShimsPut PutShims(uint64_t key, const CarriedValues& values, uint32_t room,
                  const ShimFrame& frame) {
  ShimsPut put;
  PutOption(key, values, room, frame, &put);
  const uint32_t more = put.option_bytes;
  PutVlan(key, values, room - more, {frame.bytes - more, frame.length + more}, &put);
  return put;
}

}  // namespace trumpet
