// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RowBinaryWriter, RowBinaryReader: values as ClickHouse's format RowBinary has them, one after the
// other: numbers of fixed width, the lowest byte first; texts and arrays with their length before.
//
// A reader takes bytes of others: what ends too early or is too long is an error that says where.
// It does not copy what it reads from, which must outlive it.
//
// Threads: values.

#ifndef TRUMPET_CONTROLLER_STORE_ROW_BINARY_H
#define TRUMPET_CONTROLLER_STORE_ROW_BINARY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "lib/base/status.h"

namespace trumpet {

class RowBinaryWriter {
 public:
  template <typename T>
  void Number(T value) {
    static_assert(std::is_integral_v<T>);
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (size_t i = 0; i < sizeof bits; ++i) bytes_ += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  void Text(std::string_view text);
  // Before as many values.
  void Length(uint64_t length);

  size_t size() const { return bytes_.size(); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class RowBinaryReader {
 public:
  static constexpr uint64_t kMaxTextBytes = 16 << 20;
  static constexpr uint64_t kMaxLength = 1 << 20;

  explicit RowBinaryReader(std::string_view bytes) : bytes_(bytes) {}

  bool is_at_end() const { return is_ok_ && at_ == bytes_.size(); }
  // After the first error all that is read is 0 and empty.
  bool ok() const { return is_ok_; }
  Status status() const;
  // Of a value that the format allows and its reader does not.
  void Refuse(const char* why);

  template <typename T>
  T Number() {
    static_assert(std::is_integral_v<T>);
    if (!Has(sizeof(T))) return 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      bits |= uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
    }
    at_ += sizeof(T);
    return static_cast<T>(bits);
  }
  std::string Text();
  // Of an array; what it can hold at most is bounded by the bytes there are.
  uint64_t Length();

 private:
  bool Has(uint64_t size);
  uint64_t Varint();

  const std::string_view bytes_;
  size_t at_ = 0;
  bool is_ok_ = true;
  std::string error_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_ROW_BINARY_H
