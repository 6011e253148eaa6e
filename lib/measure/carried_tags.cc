// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/carried_tags.h"

#include "lib/base/byte_order.h"
#include "lib/measure/payload_tags.h"
#include "lib/packet/parse_tunnel.h"

namespace trumpet {
namespace {

constexpr uint32_t kVersionAndTos = 0;  // words of the header, by their offsets
constexpr uint32_t kId = 4;
constexpr uint32_t kFragment = 6;
constexpr uint32_t kChecksum = 10;
constexpr uint16_t kReservedBit = 0x8000;
constexpr uint16_t kFragmentBits = 0x3fff;  // "more", and the offset

constexpr uint8_t kGre = 47;
constexpr uint16_t kOldVxlanPort = 8472;  // before it had one of its own
constexpr uint16_t kGtpPort = 2152;

constexpr uint64_t Bit(MeasureFieldId field) { return uint64_t{1} << field; }
uint32_t Fold(uint32_t sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  return (sum & 0xffff) + (sum >> 16);
}

// One's complement, of all words with the checksum.
uint32_t SumOf(const uint8_t* header) {
  const uint32_t bytes = (header[0] & 15u) * 4;
  uint32_t sum = 0;
  for (uint32_t at = 0; at < bytes; at += 2) sum += LoadBe16(header + at);
  return Fold(sum);
}

// Sets a word; the checksum stays as right or wrong as it was (RFC 1624, equation 3).
void SetWord(uint32_t at, uint16_t word, bool keeps_checksum, uint8_t* header) {
  const uint32_t before = LoadBe16(header + at);
  StoreBe16(header + at, word);
  if (keeps_checksum) return;
  const uint32_t checksum = LoadBe16(header + kChecksum);
  const uint32_t sum = Fold((checksum ^ 0xffff) + (before ^ 0xffff) + word);
  StoreBe16(header + kChecksum, static_cast<uint16_t>(sum ^ 0xffff));
}

void SetTos(uint64_t tos, bool keeps_checksum, uint8_t* header) {
  const auto word = static_cast<uint16_t>(header[0] << 8 | (tos & 0xff));
  SetWord(kVersionAndTos, word, keeps_checksum, header);
}

// In a laboratory the checksum tells what a tagged identification was, unless it carries tags.
bool TellsId(const TagCarriage& carriage) {
  return carriage.is_lab && carriage.has_id && !carriage.has_checksum;
}

bool KeepsChecksum(const TagCarriage& carriage) {
  return carriage.has_checksum || TellsId(carriage);
}

}  // namespace

Result<TagCarriage> PlanTagCarriage(const CompiledProgram& program, bool is_lab) {
  const uint64_t tagged = program.tagged_fields;
  TagCarriage carriage;
  carriage.has_tos = (tagged & Bit(kIpv4Tos)) != 0;
  carriage.has_id = (tagged & Bit(kIpv4Id)) != 0;
  carriage.has_checksum = (tagged & Bit(kIpv4Checksum)) != 0;
  carriage.is_lab = is_lab;
  carriage.has_payload = (tagged & kPayloadFields) != 0;
  carriage.has_vid = (tagged & Bit(kVlanVid)) != 0;
  carriage.has_option = (tagged & Bit(kGeneveOption)) != 0;
  if (carriage.has_checksum && !is_lab) {
    return Status::Error(
        "the program tags ipv4.checksum of forwarded packets, which routers and hosts then drop; "
        "lab=yes allows it where nothing before the last hop looks at it");
  }
  if (carriage.has_header() && carriage.has_option) {
    return Status::Error(
        "the program tags geneve.option, of packets in a tunnel, and fields of IPv4 headers, whose "
        "tags do not cross tunnels");
  }
  return carriage;
}

bool CarriesTags(const uint8_t* header) {
  return (LoadBe16(header + kFragment) & kReservedBit) != 0;
}

bool CanCarryTags(const TagCarriage& carriage, const uint8_t* header) {
  const uint16_t fragment = LoadBe16(header + kFragment);
  const uint16_t id = LoadBe16(header + kId);
  if ((fragment & kReservedBit) != 0) return false;
  if (carriage.has_tos && header[1] != 0) return false;
  if (carriage.has_id && (fragment & kFragmentBits) != 0) return false;
  // 0xffff and 0 are the same to a checksum.
  if (carriage.has_id && (TellsId(carriage) ? id == 0xffff : id != 0)) return false;
  return SumOf(header) == 0xffff && LoadBe16(header + kChecksum) != 0xffff;
}

bool IsOfTunnel(const PacketValues& values, const ParseOptions& parse) {
  if (values.value[kIpv4Proto] == kGre) return true;
  if (!values.Has(kUdpDst)) return false;
  const auto port = static_cast<uint16_t>(values.value[kUdpDst]);
  return port == kOldVxlanPort || port == kGtpPort || parse_internal::IsTunnelPort(port, parse);
}

void WriteCarriedTags(const TagCarriage& carriage, const PacketValues& values, uint8_t* header) {
  const bool keeps = KeepsChecksum(carriage);
  const auto is_tagged = [&values](MeasureFieldId field) {
    return (values.tagged & Bit(field)) != 0;
  };
  if (is_tagged(kIpv4Tos)) SetTos(values.value[kIpv4Tos], keeps, header);
  if (is_tagged(kIpv4Id)) {
    SetWord(kId, static_cast<uint16_t>(values.value[kIpv4Id]), keeps, header);
  }
  SetWord(kFragment, LoadBe16(header + kFragment) | kReservedBit, keeps, header);
  if (is_tagged(kIpv4Checksum)) {
    StoreBe16(header + kChecksum, static_cast<uint16_t>(values.value[kIpv4Checksum]));
  }
}

void RemoveCarriedTags(const TagCarriage& carriage, uint8_t* header) {
  const bool keeps = KeepsChecksum(carriage);
  const uint16_t fragment = LoadBe16(header + kFragment);
  if (carriage.has_tos) SetTos(0, keeps, header);
  if (carriage.has_id) SetWord(kId, 0, keeps, header);
  SetWord(kFragment, static_cast<uint16_t>(fragment & ~kReservedBit), keeps, header);
  if (carriage.has_checksum) {
    StoreBe16(header + kChecksum, 0);
    StoreBe16(header + kChecksum, static_cast<uint16_t>(SumOf(header) ^ 0xffff));
  } else if (TellsId(carriage)) {
    StoreBe16(header + kId, static_cast<uint16_t>((0xffff - SumOf(header)) % 0xffff));
  }
}

}  // namespace trumpet
