// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/partials_reader.h"

#include <cstddef>
#include <cstdint>

#include "lib/model/bucket_key.h"
#include "lib/wire/check.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

// Numbers of fields in trumpet.proto, and how they stand on the wire.
constexpr uint8_t kVarintType = 0;
constexpr uint8_t kBytesType = 2;
constexpr uint8_t Tag(int field, uint8_t type) { return static_cast<uint8_t>(field << 3 | type); }
constexpr uint8_t kFramePartials = Tag(12, kBytesType);

class Reader {
 public:
  explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool is_at_end() const { return at_ == end_; }

  bool ReadVarint(uint64_t* value) {
    uint64_t sum = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at_++);
      if (shift == 63 && byte > 1) return false;  // protobuf drops what is beyond 64 bits
      sum |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        *value = sum;
        return true;
      }
    }
    return false;
  }

  // The field, if it comes next; else nothing is read, and it has its default.
  bool TakeTag(uint8_t tag) {
    if (at_ == end_ || static_cast<uint8_t>(*at_) != tag) return false;
    ++at_;
    return true;
  }

  bool ReadNumber(int field, uint64_t max, uint64_t* value) {
    *value = 0;
    return !TakeTag(Tag(field, kVarintType)) || (ReadVarint(value) && *value <= max);
  }

  bool ReadBytes(uint8_t tag, std::string_view* bytes) {
    *bytes = {};
    if (!TakeTag(tag)) return true;
    uint64_t size = 0;
    if (!ReadVarint(&size) || size > static_cast<size_t>(end_ - at_)) return false;
    *bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }

 private:
  const char* at_;
  const char* end_;
};

// How many numbers stand in the list: each has one byte without the mark that more follow.
size_t CountVarints(std::string_view list) {
  size_t count = 0;
  for (const char byte : list) count += static_cast<uint8_t>(byte) < 0x80;
  return count;
}

template <typename T>
bool ReadList(std::string_view list, uint64_t max, std::vector<T>* numbers) {
  numbers->resize(CountVarints(list));
  Reader reader(list);
  for (T& number : *numbers) {
    uint64_t value = 0;
    if (!reader.ReadVarint(&value) || value > max) return false;
    number = static_cast<T>(value);
  }
  return reader.is_at_end();
}

bool AreSound(const Partials& partials) {
  Checker checker;
  const Place place("partials");
  size_t key_bytes = 0;
  for (const uint16_t size : partials.key_sizes) key_bytes += size;
  const uint64_t words = uint64_t{partials.bucket_count()} * partials.words_per_bucket;
  int64_t last = -1;
  for (const uint32_t position : partials.unscaled) {
    if (position >= partials.bucket_count() || position <= last) return false;
    last = position;
  }
  return partials.event_id != 0 && partials.words_per_bucket != 0 &&
         checker.Interval(place, partials.start_ns, partials.end_ns) &&
         key_bytes == partials.keys.size() && words == partials.words.size();
}

}  // namespace

bool ReadPartialsFrame(std::string_view frame, Partials* partials) {
  Reader outer(frame);
  std::string_view body;
  if (!outer.ReadBytes(kFramePartials, &body) || body.empty() || !outer.is_at_end()) return false;
  Reader reader(body);
  uint64_t event_id = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t words_per_bucket = 0;
  std::string_view keys;
  std::string_view key_sizes;
  std::string_view words;
  std::string_view unscaled;
  if (!reader.ReadNumber(1, UINT32_MAX, &event_id) || !reader.ReadNumber(2, kMaxInstant, &start) ||
      !reader.ReadNumber(3, kMaxInstant, &end) ||
      !reader.ReadNumber(4, kMaxWordsPerBucket, &words_per_bucket) ||
      !reader.ReadBytes(Tag(5, kBytesType), &keys) ||
      !reader.ReadBytes(Tag(6, kBytesType), &key_sizes) ||
      !reader.ReadBytes(Tag(7, kBytesType), &words) ||
      !reader.ReadBytes(Tag(8, kBytesType), &unscaled) || !reader.is_at_end()) {
    return false;
  }
  partials->event_id = static_cast<uint32_t>(event_id);
  partials->start_ns = static_cast<Nanos>(start);
  partials->end_ns = static_cast<Nanos>(end);
  partials->words_per_bucket = static_cast<uint32_t>(words_per_bucket);
  partials->keys.assign(keys);
  return ReadList(key_sizes, kMaxBucketKeyBytes, &partials->key_sizes) &&
         ReadList(words, UINT64_MAX, &partials->words) &&
         ReadList(unscaled, UINT32_MAX, &partials->unscaled) && AreSound(*partials);
}

}  // namespace trumpet
