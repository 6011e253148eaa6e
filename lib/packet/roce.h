// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RoCEv2 (InfiniBand's transport in UDP, port 4791) and the frames with which Ethernet stops a
// sender: PAUSE, and PFC for single priorities.
//
//   RocePacket roce;
//   if (ReadRoce(data, layers, first, &roce) == RoceVerdict::kRoce) ...
//
// Threads: pure functions.  Cost: no allocation; CheckIcrc() looks at every byte of the packet, the
// others at headers only.  Nothing is read beyond layers.payload_end.

#ifndef TRUMPET_LIB_PACKET_ROCE_H
#define TRUMPET_LIB_PACKET_ROCE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/units.h"
#include "lib/packet/layers.h"

namespace trumpet {

constexpr uint16_t kRocePort = 4791;  // of the destination
constexpr uint16_t kMacControlType = 0x8808;
constexpr uint32_t kBthBytes = 12;
constexpr uint32_t kIcrcBytes = 4;

// The upper three bits of the opcode.
enum class RoceService : uint8_t {
  kReliable,
  kUnreliable,
  kReliableDatagram,
  kDatagram,
  kCongestion,  // notifications
  kExtendedReliable,
  kMaker6,  // of makers of cards
  kMaker7,
};

// What a packet is for.
enum class RoceKind : uint8_t {
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAcknowledge,  // of any kind: see RoceAck
  kAtomic,
  kAtomicAcknowledge,
  kCnp,  // congestion notification
  kOther,
};
constexpr size_t kRoceKinds = 9;

// Where in its message.
enum class RocePlace : uint8_t { kOnly, kFirst, kMiddle, kLast };

enum class RoceAckKind : uint8_t { kAck, kNotReady, kReserved, kNak };

// Of NAKs.
constexpr uint8_t kNakSequence = 0;  // a packet is missing
constexpr uint8_t kNakCodes = 5;     // that have names

struct RoceAck {
  RoceAckKind kind = RoceAckKind::kAck;
  uint8_t value = 0;      // five bits: credits, the code of a timer, why not
  uint32_t messages = 0;  // 24 bits, completed
};

struct RoceMemory {
  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t bytes = 0;
};

struct RocePacket {
  uint8_t opcode = 0;
  RoceService service = RoceService::kReliable;
  RoceKind kind = RoceKind::kOther;
  RocePlace place = RocePlace::kOnly;
  bool is_solicited = false;
  bool is_migrated = false;
  bool has_fecn = false;
  bool has_becn = false;
  bool wants_acknowledgement = false;
  uint8_t pad_bytes = 0;
  uint8_t version = 0;  // 0
  uint16_t partition = 0;
  uint32_t queue_pair = 0;  // 24 bits, of the destination
  uint32_t sequence = 0;    // 24 bits
  std::optional<RoceAck> ack;
  std::optional<RoceMemory> memory;
  std::optional<uint32_t> immediate;
  std::optional<uint32_t> source_queue_pair;  // of datagrams
  bool has_atomic = false;
  bool has_original = false;  // the answer to it
  // What is carried, in bytes: neither headers nor padding nor the checksum, what was not captured
  // included.  The 16 bytes of a notification that say nothing count, too.
  uint32_t payload_bytes = 0;
};

enum class RoceVerdict : uint8_t {
  kRoce,
  kOther,      // not to that port
  kCut,        // not all of the headers that the opcode asks for were captured
  kMalformed,  // the packet is shorter than they are, or of another version
};

// `layers` are those of `data`; the packet begins with the one at `first`, which there must be.
// Looks at the innermost IP header.  Fills `roce` if the verdict is kRoce.
RoceVerdict ReadRoce(const uint8_t* data, const Layers& layers, int first, RocePacket* roce);

// The checksum over all that routers do not change.
enum class IcrcVerdict : uint8_t {
  kRight,
  kWrong,
  kUnknown,  // not all was captured; or a fragment, or IP with options
};
// Of a packet that ReadRoce() takes.
IcrcVerdict CheckIcrc(const uint8_t* data, const Layers& layers, int first);
// Over a packet that begins with IP (no options) and ends before the checksum, as the four bytes
// stand in the packet, the first of them uppermost.  nullopt: it is none.
std::optional<uint32_t> MakeIcrc(const uint8_t* ip, uint32_t bytes);

struct MacControl {
  bool has_priorities = false;       // PFC, else PAUSE
  uint8_t priorities = 0;            // PFC: those that it is about, a bit each; PAUSE: all
  std::array<uint16_t, 8> quanta{};  // of 512 bit times; 0: go on
};
// nullopt: it is neither, or cut short.
std::optional<MacControl> ReadMacControl(const uint8_t* data, const Layers& layers, int first);

// "RC SEND only", "CNP"; "opcode 0xc3" of what has no name.
std::string RoceOpcodeName(uint8_t opcode);
// "PSN sequence error"; "code 9" of what has no name.
std::string NakReason(uint8_t code);
// How long to wait after "not ready", by the code of a timer.
Nanos NotReadyDelay(uint8_t code);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_ROCE_H
