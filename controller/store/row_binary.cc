// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/row_binary.h"

#include <utility>

namespace trumpet {

void RowBinaryWriter::Text(std::string_view text) {
  Length(text.size());
  bytes_ += text;
}

void RowBinaryWriter::Length(uint64_t length) {
  for (; length >= 0x80; length >>= 7) bytes_ += static_cast<char>((length & 0x7f) | 0x80);
  bytes_ += static_cast<char>(length);
}

Status RowBinaryReader::status() const {
  return is_ok_ ? Status::Ok()
                : Status::Error("byte " + std::to_string(at_) + " of the answer: " + error_);
}

void RowBinaryReader::Refuse(const char* why) {
  if (!is_ok_) return;
  is_ok_ = false;
  error_ = why;
}

bool RowBinaryReader::Has(uint64_t size) {
  if (is_ok_ && size > bytes_.size() - at_) Refuse("it ends within a row");
  return is_ok_;
}

uint64_t RowBinaryReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    const auto byte = Number<uint8_t>();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return is_ok_ ? value : 0;
  }
  Refuse("a length does not end");
  return 0;
}

std::string RowBinaryReader::Text() {
  const uint64_t size = Varint();
  if (size > kMaxTextBytes) Refuse("a text is too long");
  if (!Has(size)) return "";
  std::string text(bytes_.substr(at_, size));
  at_ += size;
  return text;
}

uint64_t RowBinaryReader::Length() {
  const uint64_t length = Varint();
  if (length > kMaxLength) Refuse("an array is too long");
  return Has(length) ? length : 0;
}

}  // namespace trumpet
