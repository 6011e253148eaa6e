// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcapng_joiner.h"

#include <cstring>

namespace trumpet {
namespace {

constexpr uint32_t kSection = 0x0a0d0d0a;
constexpr uint32_t kInterface = 1;
constexpr uint32_t kPacket = 6;
constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr uint16_t kOptionComment = 1;
constexpr uint16_t kOptionDescription = 3;

constexpr size_t kHeadBytes = 8;    // type and length of a block
constexpr size_t kFrameBytes = 12;  // with the length at its end
constexpr size_t kSectionBytes = kFrameBytes + 16;
constexpr size_t kInterfaceBytes = kFrameBytes + 8;
constexpr size_t kPacketBytes = kFrameBytes + 20;

template <typename Number>
Number Get(std::string_view bytes, size_t at) {
  Number value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <typename Number>
void Put(Number value, std::string* out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out->append(bytes, sizeof value);
}

Status NotOurs(const char* what) {
  return Status::Error(std::string("no packet file of ours: ") + what);
}

// The value of the first option if it is a comment.
std::string CommentOf(std::string_view section) {
  const std::string_view options =
      section.substr(kSectionBytes - 4, section.size() - kSectionBytes);
  if (options.size() < 4 || Get<uint16_t>(options, 0) != kOptionComment) return "";
  return std::string(options.substr(4, Get<uint16_t>(options, 2)));
}

}  // namespace

Status PcapngJoiner::Add(std::string_view bytes, std::string* out) {
  rest_ += bytes;
  std::string_view rest = rest_;
  while (rest.size() >= kHeadBytes) {
    const auto length = Get<uint32_t>(rest, 4);
    if (length < kFrameBytes || length % 4 != 0 || length > kMaxBlockBytes) {
      return NotOurs("the length of a block");
    }
    if (rest.size() < length) break;
    const std::string_view block = rest.substr(0, length);
    if (Get<uint32_t>(block, length - 4) != length) return NotOurs("the end of a block");
    const Status taken = Take(block, out);
    if (!taken.ok()) return taken;
    rest.remove_prefix(length);
  }
  rest_.erase(0, rest_.size() - rest.size());
  return Status::Ok();
}

Status PcapngJoiner::Take(std::string_view block, std::string* out) {
  const auto type = Get<uint32_t>(block, 0);
  if (type == kSection) return TakeSection(block, out);
  if (!has_section_) return NotOurs("it does not begin with a section");
  if (type == kInterface) return TakeInterface(block, out);
  if (type == kPacket) return TakePacket(block, out);
  return NotOurs("a block of another type");
}

Status PcapngJoiner::TakeSection(std::string_view block, std::string* out) {
  if (block.size() < kSectionBytes || Get<uint32_t>(block, kHeadBytes) != kByteOrderMagic) {
    return NotOurs("the head of a section");
  }
  comment_ = CommentOf(block);
  first_interface_ = interface_count_;
  if (has_section_) return Status::Ok();
  has_section_ = true;
  const auto length = static_cast<uint32_t>(kSectionBytes);
  Put(kSection, out);
  Put(length, out);
  out->append(block.substr(kHeadBytes, kSectionBytes - kFrameBytes));
  Put(length, out);
  return Status::Ok();
}

Status PcapngJoiner::TakeInterface(std::string_view block, std::string* out) {
  if (block.size() < kInterfaceBytes) return NotOurs("an interface");
  ++interface_count_;
  std::string option;
  if (!comment_.empty()) {
    Put(kOptionDescription, &option);
    Put(static_cast<uint16_t>(comment_.size()), &option);
    option += comment_;
    option.resize((option.size() + 3) / 4 * 4);
  }
  const auto length = static_cast<uint32_t>(block.size() + option.size());
  const size_t options_at = kInterfaceBytes - 4;
  Put(kInterface, out);
  Put(length, out);
  out->append(block.substr(kHeadBytes, options_at - kHeadBytes));
  out->append(option);
  out->append(block.substr(options_at, block.size() - 4 - options_at));
  Put(length, out);
  return Status::Ok();
}

Status PcapngJoiner::TakePacket(std::string_view block, std::string* out) {
  if (block.size() < kPacketBytes) return NotOurs("a packet");
  const auto interface = Get<uint32_t>(block, kHeadBytes);
  if (interface >= interface_count_ - first_interface_) return NotOurs("a packet of no interface");
  out->append(block.substr(0, kHeadBytes));
  Put(first_interface_ + interface, out);
  out->append(block.substr(kHeadBytes + 4));
  return Status::Ok();
}

}  // namespace trumpet
