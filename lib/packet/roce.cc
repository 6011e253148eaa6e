// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/roce.h"

#include <algorithm>
#include <cstdio>

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kUdpBytes = 8;
constexpr uint16_t kPauseOpcode = 0x0001;
constexpr uint16_t kPfcOpcode = 0x0101;
constexpr uint32_t kPfcBytes = 2 + 2 + 8 * 2;
constexpr uint8_t kCnpOpcode = 0x81;

// Headers behind the first one, in the order in which they stand.
enum Extension : uint16_t {
  kDatagramOfReliable = 1,  // RDETH
  kDatagram = 2,            // DETH
  kShared = 4,              // XRCETH
  kMemory = 8,              // RETH
  kAtomic = 16,
  kAck = 32,  // AETH
  kOriginal = 64,
  kImmediate = 128,
  kInvalidate = 256,
};
struct ExtensionBytes {
  Extension extension;
  uint32_t bytes;
};
constexpr ExtensionBytes kExtensions[] = {{kDatagramOfReliable, 4},
                                          {kDatagram, 8},
                                          {kShared, 4},
                                          {kMemory, 16},
                                          {kAtomic, 28},
                                          {kAck, 4},
                                          {kOriginal, 8},
                                          {kImmediate, 4},
                                          {kInvalidate, 4}};

struct Operation {
  const char* name;
  RoceKind kind;
  RocePlace place;
  uint16_t extensions;
};

// By the lower five bits of the opcode.
constexpr Operation kOperations[] = {
    {"SEND first", RoceKind::kSend, RocePlace::kFirst, 0},
    {"SEND middle", RoceKind::kSend, RocePlace::kMiddle, 0},
    {"SEND last", RoceKind::kSend, RocePlace::kLast, 0},
    {"SEND last with immediate", RoceKind::kSend, RocePlace::kLast, kImmediate},
    {"SEND only", RoceKind::kSend, RocePlace::kOnly, 0},
    {"SEND only with immediate", RoceKind::kSend, RocePlace::kOnly, kImmediate},
    {"WRITE first", RoceKind::kWrite, RocePlace::kFirst, kMemory},
    {"WRITE middle", RoceKind::kWrite, RocePlace::kMiddle, 0},
    {"WRITE last", RoceKind::kWrite, RocePlace::kLast, 0},
    {"WRITE last with immediate", RoceKind::kWrite, RocePlace::kLast, kImmediate},
    {"WRITE only", RoceKind::kWrite, RocePlace::kOnly, kMemory},
    {"WRITE only with immediate", RoceKind::kWrite, RocePlace::kOnly, kMemory | kImmediate},
    {"READ request", RoceKind::kReadRequest, RocePlace::kOnly, kMemory},
    {"READ response first", RoceKind::kReadResponse, RocePlace::kFirst, kAck},
    {"READ response middle", RoceKind::kReadResponse, RocePlace::kMiddle, 0},
    {"READ response last", RoceKind::kReadResponse, RocePlace::kLast, kAck},
    {"READ response only", RoceKind::kReadResponse, RocePlace::kOnly, kAck},
    {"acknowledge", RoceKind::kAcknowledge, RocePlace::kOnly, kAck},
    {"ATOMIC acknowledge", RoceKind::kAtomicAcknowledge, RocePlace::kOnly, kAck | kOriginal},
    {"compare and swap", RoceKind::kAtomic, RocePlace::kOnly, kAtomic},
    {"fetch and add", RoceKind::kAtomic, RocePlace::kOnly, kAtomic},
    {"resync", RoceKind::kOther, RocePlace::kOnly, 0},
    {"SEND last with invalidate", RoceKind::kSend, RocePlace::kLast, kInvalidate},
    {"SEND only with invalidate", RoceKind::kSend, RocePlace::kOnly, kInvalidate},
};
constexpr unsigned kResync = 21;
constexpr unsigned kOperationCount = sizeof kOperations / sizeof kOperations[0];

bool IsResponse(RoceKind kind) {
  return kind == RoceKind::kReadResponse || kind == RoceKind::kAcknowledge ||
         kind == RoceKind::kAtomicAcknowledge;
}

// Null: no such operation.  `extensions` are all of them, those of the service included.
const Operation* FindOperation(uint8_t opcode, uint16_t* extensions) {
  static constexpr Operation kCnp = {"CNP", RoceKind::kCnp, RocePlace::kOnly, 0};
  const unsigned index = opcode & 31;
  const auto service = static_cast<RoceService>(opcode >> 5);
  *extensions = 0;
  if (opcode == kCnpOpcode) return &kCnp;
  if (index >= kOperationCount) return nullptr;
  const Operation& operation = kOperations[index];
  *extensions = operation.extensions;
  const bool is_request = !IsResponse(operation.kind);
  switch (service) {
    case RoceService::kReliable:
      return index != kResync ? &operation : nullptr;
    case RoceService::kUnreliable:
      return index <= 11 ? &operation : nullptr;
    case RoceService::kReliableDatagram:
      *extensions |= kDatagramOfReliable | (is_request ? kDatagram : 0);
      return index <= kResync ? &operation : nullptr;
    case RoceService::kDatagram:
      *extensions |= kDatagram;
      return index == 4 || index == 5 ? &operation : nullptr;
    case RoceService::kExtendedReliable:
      *extensions |= is_request ? kShared : 0;
      return index != kResync ? &operation : nullptr;
    default:
      return nullptr;
  }
}

uint32_t Read24(const uint8_t* at) {
  return static_cast<uint32_t>(at[0]) << 16 | static_cast<uint32_t>(at[1]) << 8 | at[2];
}

struct Place {
  const Layer* ip = nullptr;
  const Layer* udp = nullptr;
  uint32_t at = 0;          // of the first header of RoCE
  uint32_t end = 0;         // of what was captured of it
  uint32_t stated_end = 0;  // where it ends on the wire
};

// False: it is not sent to RoCE's port.
bool FindRoce(const uint8_t* data, const Layers& layers, int first, Place* place) {
  for (int i = first; i < layers.count; ++i) {
    const Layer& layer = layers.list[static_cast<size_t>(i)];
    if (layer.kind == LayerKind::kIpv4 || layer.kind == LayerKind::kIpv6) place->ip = &layer;
  }
  if (place->ip == nullptr || place->ip + 2 != layers.list.data() + layers.count) return false;
  place->udp = place->ip + 1;
  if (place->udp->kind != LayerKind::kUdp) return false;
  if (LoadBe16(data + place->udp->at + 2) != kRocePort) return false;
  place->at = layers.payload_at;
  place->stated_end = place->udp->at + LoadBe16(data + place->udp->at + 4);
  place->end = std::min(layers.payload_end, std::max(place->stated_end, place->at));
  return true;
}

void ReadBase(const uint8_t* bth, RocePacket* roce) {
  roce->opcode = bth[0];
  roce->service = static_cast<RoceService>(bth[0] >> 5);
  roce->is_solicited = (bth[1] & 0x80) != 0;
  roce->is_migrated = (bth[1] & 0x40) != 0;
  roce->pad_bytes = bth[1] >> 4 & 3;
  roce->version = bth[1] & 15;
  roce->partition = LoadBe16(bth + 2);
  roce->has_fecn = (bth[4] & 0x80) != 0;
  roce->has_becn = (bth[4] & 0x40) != 0;
  roce->queue_pair = Read24(bth + 5);
  roce->wants_acknowledgement = (bth[8] & 0x80) != 0;
  roce->sequence = Read24(bth + 9);
}

// All of the header is there.
void ReadExtension(Extension extension, const uint8_t* at, RocePacket* roce) {
  switch (extension) {
    case kDatagram:
      roce->source_queue_pair = Read24(at + 5);
      break;
    case kMemory:
      roce->memory = RoceMemory{LoadBe64(at), LoadBe32(at + 8), LoadBe32(at + 12)};
      break;
    case kAtomic:
      roce->has_atomic = true;
      break;
    case kAck:
      roce->ack = RoceAck{static_cast<RoceAckKind>(at[0] >> 5 & 3),
                          static_cast<uint8_t>(at[0] & 31), Read24(at + 1)};
      break;
    case kOriginal:
      roce->has_original = true;
      break;
    case kImmediate:
      roce->immediate = LoadBe32(at);
      break;
    case kDatagramOfReliable:
    case kShared:
    case kInvalidate:
      break;
  }
}

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

class Crc {
 public:
  void Take(const uint8_t* bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
      value_ = kCrcTable[(value_ ^ bytes[i]) & 255] ^ value_ >> 8;
  }
  uint32_t value() const { return ~value_; }

 private:
  uint32_t value_ = ~0u;
};

}  // namespace

RoceVerdict ReadRoce(const uint8_t* data, const Layers& layers, int first, RocePacket* roce) {
  Place place;
  if (!FindRoce(data, layers, first, &place)) return RoceVerdict::kOther;
  const auto verdict_of_short = [&place](uint32_t at) {
    return at + kIcrcBytes > place.stated_end ? RoceVerdict::kMalformed : RoceVerdict::kCut;
  };
  uint32_t at = place.at + kBthBytes;
  if (at + kIcrcBytes > place.stated_end || at > place.end) return verdict_of_short(at);
  *roce = RocePacket();
  ReadBase(data + place.at, roce);
  if (roce->version != 0) return RoceVerdict::kMalformed;
  uint16_t extensions = 0;
  const Operation* const operation = FindOperation(roce->opcode, &extensions);
  if (operation != nullptr) {
    roce->kind = operation->kind;
    roce->place = operation->place;
    for (const auto& [extension, bytes] : kExtensions) {
      if ((extensions & extension) == 0) continue;
      const bool is_there = at + bytes + kIcrcBytes <= place.stated_end && at + bytes <= place.end;
      if (!is_there) return verdict_of_short(at + bytes);
      ReadExtension(extension, data + at, roce);
      at += bytes;
    }
  }
  const uint32_t rest = place.stated_end - kIcrcBytes - at;
  if (operation != nullptr && rest < roce->pad_bytes) return RoceVerdict::kMalformed;
  roce->payload_bytes = rest - (operation != nullptr ? roce->pad_bytes : 0);
  return RoceVerdict::kRoce;
}

std::optional<uint32_t> MakeIcrc(const uint8_t* ip, uint32_t bytes) {
  constexpr uint32_t kIpv4Bytes = 20;
  constexpr uint32_t kIpv6Bytes = 40;
  constexpr uint32_t kMostMasked = kIpv6Bytes + kUdpBytes + kBthBytes;
  if (bytes == 0) return std::nullopt;
  const bool is_ipv6 = ip[0] >> 4 == 6;
  const uint32_t ip_bytes = is_ipv6 ? kIpv6Bytes : kIpv4Bytes;
  const uint32_t masked_bytes = ip_bytes + kUdpBytes + kBthBytes;
  if (bytes < masked_bytes || (!is_ipv6 && ip[0] != 0x45)) return std::nullopt;
  std::array<uint8_t, kMostMasked> masked{};
  std::copy(ip, ip + masked_bytes, masked.begin());
  // Whatever a router may change counts as ones: traffic class, flow label, TTL, checksums and the
  // bits for congestion.
  if (is_ipv6) {
    masked[0] |= 15;
    masked[1] = masked[2] = masked[3] = 0xff;
    masked[7] = 0xff;
  } else {
    masked[1] = 0xff;
    masked[8] = 0xff;
    masked[10] = masked[11] = 0xff;
  }
  masked[ip_bytes + 6] = masked[ip_bytes + 7] = 0xff;
  masked[ip_bytes + kUdpBytes + 4] = 0xff;
  // In the place of the header that InfiniBand has below IP.
  static constexpr std::array<uint8_t, 8> kOnes = {255, 255, 255, 255, 255, 255, 255, 255};
  Crc crc;
  crc.Take(kOnes.data(), kOnes.size());
  crc.Take(masked.data(), masked_bytes);
  crc.Take(ip + masked_bytes, bytes - masked_bytes);
  return __builtin_bswap32(crc.value());  // the lowest byte goes first
}

IcrcVerdict CheckIcrc(const uint8_t* data, const Layers& layers, int first) {
  Place place;
  if (!FindRoce(data, layers, first, &place)) return IcrcVerdict::kUnknown;
  const bool is_plain = place.ip->bytes == (place.ip->kind == LayerKind::kIpv4 ? 20u : 40u);
  const bool is_fragment =
      place.ip->kind == LayerKind::kIpv4 && (LoadBe16(data + place.ip->at + 6) & 0x3fff) != 0;
  const bool is_whole =
      place.end == place.stated_end && place.end >= place.at + kBthBytes + kIcrcBytes;
  if (!is_plain || is_fragment || !is_whole) return IcrcVerdict::kUnknown;
  const uint32_t icrc_at = place.end - kIcrcBytes;
  const auto made = MakeIcrc(data + place.ip->at, icrc_at - place.ip->at);
  if (!made) return IcrcVerdict::kUnknown;
  return *made == LoadBe32(data + icrc_at) ? IcrcVerdict::kRight : IcrcVerdict::kWrong;
}

std::optional<MacControl> ReadMacControl(const uint8_t* data, const Layers& layers, int first) {
  const Layer& begin = layers.list[static_cast<size_t>(first)];
  const bool is_control = begin.kind == LayerKind::kEthernet && first + 1 == layers.count &&
                          LoadBe16(data + begin.at + 12) == kMacControlType;
  if (!is_control) return std::nullopt;
  const uint8_t* const at = data + begin.at + kEthernetBytes;
  const uint32_t bytes =
      layers.payload_end - std::min(layers.payload_end, begin.at + kEthernetBytes);
  if (bytes < 4) return std::nullopt;
  MacControl control;
  const uint16_t opcode = LoadBe16(at);
  if (opcode == kPauseOpcode) {
    control.priorities = 0xff;
    control.quanta.fill(LoadBe16(at + 2));
    return control;
  }
  if (opcode != kPfcOpcode || bytes < kPfcBytes) return std::nullopt;
  control.has_priorities = true;
  control.priorities = at[3];
  for (size_t i = 0; i < 8; ++i) {
    const bool is_meant = (control.priorities >> i & 1) != 0;
    if (is_meant) control.quanta[i] = LoadBe16(at + 4 + 2 * i);
  }
  return control;
}

std::string RoceOpcodeName(uint8_t opcode) {
  static constexpr const char* kServices[] = {"RC ", "UC ", "RD ", "UD ", "", "XRC "};
  uint16_t extensions = 0;
  const Operation* const operation = FindOperation(opcode, &extensions);
  if (operation != nullptr) return std::string(kServices[opcode >> 5]) + operation->name;
  char text[16];
  std::snprintf(text, sizeof text, "opcode 0x%02x", opcode);
  return text;
}

std::string NakReason(uint8_t code) {
  static constexpr const char* kReasons[kNakCodes] = {
      "PSN sequence error", "invalid request", "remote access error", "remote operational error",
      "invalid RD request"};
  return code < kNakCodes ? kReasons[code] : "code " + std::to_string(code);
}

Nanos NotReadyDelay(uint8_t code) {
  // In units of ten microseconds, by the table of InfiniBand's specification.
  static constexpr uint32_t kDelays[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                           16,    24,   32,   48,    64,    96,    128,   192,
                                           256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                           4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return static_cast<Nanos>(kDelays[code & 31]) * 10 * kNanosPerMicro;
}

}  // namespace trumpet
