// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcapng_header.h"

#include <cstring>
#include <optional>

#include "lib/base/byte_order.h"

namespace trumpet {

namespace {

constexpr uint32_t kSectionHeader = 0x0a0d0d0a;  // reads the same in both byte orders
constexpr uint32_t kInterfaceDescription = 1;
constexpr uint32_t kObsoletePacket = 2;
constexpr uint32_t kSimplePacket = 3;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr uint16_t kFcsLengthOption = 13;
constexpr size_t kMinBlockBytes = 12;
constexpr size_t kInterfaceFixedBytes = 8;  // link type, snap length

// A view that knows the byte order of the section it lies in.
class Reader {
 public:
  Reader(const uint8_t* data, size_t size, bool is_big_endian)
      : data_(data), size_(size), is_big_endian_(is_big_endian) {}

  bool Holds(size_t offset, size_t count) const {
    return offset <= size_ && count <= size_ - offset;
  }
  uint16_t U16(size_t offset) const {
    if (!Holds(offset, 2)) return 0;
    const uint16_t value = LoadBe16(data_ + offset);
    return is_big_endian_ ? value : __builtin_bswap16(value);
  }
  uint32_t U32(size_t offset) const {
    if (!Holds(offset, 4)) return 0;
    const uint32_t value = LoadBe32(data_ + offset);
    return is_big_endian_ ? value : __builtin_bswap32(value);
  }
  uint8_t U8(size_t offset) const { return Holds(offset, 1) ? data_[offset] : 0; }

 private:
  const uint8_t* data_;
  size_t size_;
  bool is_big_endian_;
};

// The format says bits, some writers put bytes; no check sequence is shorter than
// a byte or longer than 7, so the number tells which it is.
uint32_t FcsBytesOf(uint8_t stated) { return stated >= 8 ? stated / 8 : stated; }

// The FCS length among the options in [offset, end), if it is stated.
std::optional<uint32_t> FcsOption(const Reader& file, size_t offset, size_t end) {
  while (offset + 4 <= end) {
    const uint16_t code = file.U16(offset);
    const size_t length = file.U16(offset + 2);
    if (code == 0) return std::nullopt;
    if (code == kFcsLengthOption && length == 1) return FcsBytesOf(file.U8(offset + 4));
    offset += 4 + ((length + 3) & ~size_t{3});
  }
  return std::nullopt;
}

}  // namespace

Result<uint32_t> PcapngFcsBytes(const uint8_t* data, size_t size) {
  Reader file(data, size, true);
  if (!file.Holds(0, kMinBlockBytes) || file.U32(0) != kSectionHeader) return 0u;
  std::optional<uint32_t> first_interface;
  for (size_t offset = 0; file.Holds(offset, kMinBlockBytes);) {
    const uint32_t type = file.U32(offset);
    if (type == kSectionHeader) {
      file = Reader(data, size, LoadBe32(data + offset + 8) == kByteOrderMagic);
    }
    const size_t length = file.U32(offset + 4);
    if (type == kObsoletePacket || type == kSimplePacket || type == kEnhancedPacket) break;
    // What is wrong with the blocks is libpcap's to say.
    if (length < kMinBlockBytes || !file.Holds(offset, length)) break;
    if (type == kInterfaceDescription) {
      const size_t options = offset + 8 + kInterfaceFixedBytes;
      const uint32_t fcs_bytes = FcsOption(file, options, offset + length - 4).value_or(0);
      if (first_interface.value_or(fcs_bytes) != fcs_bytes) {
        return Status::Error("its interfaces state different FCS lengths; they must be the same");
      }
      first_interface = fcs_bytes;
    }
    offset += (length + 3) & ~size_t{3};
  }
  return first_interface.value_or(0);
}

}  // namespace trumpet
