// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcapng_fcs.h"

#include "lib/base/byte_order.h"

namespace trumpet {

namespace {

constexpr uint32_t kSectionHeader = 0x0a0d0d0a;  // reads the same in both byte orders
constexpr uint32_t kInterfaceDescription = 1;
constexpr uint32_t kObsoletePacket = 2;
constexpr uint32_t kSimplePacket = 3;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr uint16_t kFlagsOption = 2;       // of packets
constexpr uint16_t kFcsLengthOption = 13;  // of interfaces
constexpr size_t kHeadBytes = 12;          // type, length, and what a section's magic lies in
constexpr size_t kMinBlockBytes = 12;
constexpr size_t kMaxBlockBytes = 16 * 1024 * 1024;  // libpcap refuses longer ones
constexpr size_t kInterfaceOptions = 16;             // behind link type and snap length
constexpr size_t kPacketData = 28;                   // behind interface, time and two lengths

constexpr size_t Padded(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

// Some writers put bytes; no check sequence is shorter than a byte or longer than 7, so the number
// tells which it is.
uint32_t BytesOfBits(uint8_t stated) { return stated >= 8 ? stated / 8 : stated; }

}  // namespace

uint32_t PcapngFcs::OfNextPacket() {
  while (file_ != nullptr && ReadBlock()) {
    switch (U32(0)) {
      case kSectionHeader:
        interfaces_.clear();
        break;
      case kInterfaceDescription:
        interfaces_.push_back(OfInterface());
        break;
      case kObsoletePacket:
      case kSimplePacket:
      case kEnhancedPacket:
        return OfPacket();
    }
  }
  file_.reset();
  return 0;
}

bool PcapngFcs::ReadBlock() {
  block_.resize(kHeadBytes);
  if (std::fread(block_.data(), 1, kHeadBytes, file_.get()) != kHeadBytes) return false;
  if (U32(0) == kSectionHeader) is_big_endian_ = LoadBe32(&block_[8]) == kByteOrderMagic;
  const size_t length = Padded(U32(4));
  if (length < kMinBlockBytes || length > kMaxBlockBytes) return false;
  block_.resize(length);
  const size_t rest = length - kHeadBytes;
  if (std::fread(block_.data() + kHeadBytes, 1, rest, file_.get()) != rest) return false;
  block_.resize(length - 4);
  return true;
}

uint32_t PcapngFcs::OfInterface() const {
  size_t value = 0;
  return FindOption(kInterfaceOptions, kFcsLengthOption, 1, &value) ? BytesOfBits(block_[value])
                                                                    : 0;
}

uint32_t PcapngFcs::OfPacket() const {
  const uint32_t type = U32(0);
  const size_t interface = type == kSimplePacket ? 0 : type == kEnhancedPacket ? U32(8) : U16(8);
  const uint32_t of_interface = interface < interfaces_.size() ? interfaces_[interface] : 0;
  if (type == kSimplePacket) return of_interface;
  size_t value = 0;
  const size_t options = kPacketData + Padded(U32(20));
  if (!FindOption(options, kFlagsOption, 4, &value)) return of_interface;
  const uint32_t stated = U32(value) >> 5 & 0xf;
  return stated != 0 ? stated : of_interface;  // 0: not known
}

// Where the value of the option lies, if it is there with this length.
bool PcapngFcs::FindOption(size_t offset, uint16_t code, uint16_t length, size_t* value) const {
  while (offset + 4 <= block_.size()) {
    const uint16_t found = U16(offset);
    const size_t found_bytes = U16(offset + 2);
    if (found == 0 || found_bytes > block_.size() - offset - 4) return false;
    *value = offset + 4;
    if (found == code && found_bytes == length) return true;
    offset += 4 + Padded(found_bytes);
  }
  return false;
}

// Numbers beyond the block are 0.
uint32_t PcapngFcs::U32(size_t offset) const {
  if (offset > block_.size() || block_.size() - offset < 4) return 0;
  const uint32_t value = LoadBe32(&block_[offset]);
  return is_big_endian_ ? value : __builtin_bswap32(value);
}

uint16_t PcapngFcs::U16(size_t offset) const {
  if (offset > block_.size() || block_.size() - offset < 2) return 0;
  const uint16_t value = LoadBe16(&block_[offset]);
  return is_big_endian_ ? value : __builtin_bswap16(value);
}

}  // namespace trumpet
