// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/request_frame.h"

#include <cstring>
#include <iterator>

#include "lib/base/byte_cursor.h"
#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr uint8_t kHead[] = {0x02, 0x54, 0x52, 0x51, 0,    0,   0x02, 0x54, 0x52,
                             0x51, 0,    0,    0x88, 0xb6, 'T', 'R',  'Q',  '1'};
constexpr size_t kLeastBytes = 60;  // of a frame without its check sequence
constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxFields = 64;

std::string TakeName(ByteCursor* cursor) {
  const ByteCursor name = cursor->Take(cursor->Number(1));
  return std::string(name.here(), name.here() + name.left());
}

bool AddName(const std::string& name, std::string* frame) {
  if (name.size() > kMaxNameBytes) return false;
  *frame += static_cast<char>(name.size());
  *frame += name;
  return true;
}

}  // namespace

std::string WriteRequestFrame(const RequestFrame& request) {
  std::string frame(std::begin(kHead), std::end(kHead));
  if (!AddName(request.program, &frame) || request.fields.size() > kMaxFields) return "";
  frame += static_cast<char>(request.fields.size());
  for (const auto& [name, value] : request.fields) {
    if (!AddName(name, &frame)) return "";
    uint8_t bytes[8];
    StoreBe32(bytes, static_cast<uint32_t>(value >> 32));
    StoreBe32(bytes + 4, static_cast<uint32_t>(value));
    frame.append(std::begin(bytes), std::end(bytes));
  }
  if (frame.size() < kLeastBytes) frame.resize(kLeastBytes);
  return frame.size() <= kMaxRequestBytes ? frame : "";
}

bool IsRequestFrame(const uint8_t* bytes, size_t count) {
  return count >= sizeof kHead && std::memcmp(bytes, kHead, sizeof kHead) == 0;
}

std::optional<RequestFrame> ReadRequestFrame(const uint8_t* bytes, size_t count) {
  if (!IsRequestFrame(bytes, count)) return std::nullopt;
  ByteCursor cursor(bytes + sizeof kHead, count - sizeof kHead);
  RequestFrame request;
  request.program = TakeName(&cursor);
  const uint64_t fields = cursor.Number(1);
  if (fields > kMaxFields) return std::nullopt;
  for (uint64_t i = 0; i < fields; ++i) {
    std::string name = TakeName(&cursor);
    request.fields.emplace_back(std::move(name), cursor.Number(8));
  }
  if (!cursor.ok()) return std::nullopt;
  return request;
}

}  // namespace trumpet
