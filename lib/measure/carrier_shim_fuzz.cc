// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a frame that comes, and as one that leaves: nothing is touched but what is theirs,
// and what was put in is taken out again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "lib/measure/carrier_shim.h"

namespace {

constexpr uint64_t kKey = 1;

// Behind the room of a shim, to the byte, so that a sanitizer sees what goes beyond.
struct Buffer {
  Buffer(const uint8_t* data, size_t size) : bytes(trumpet::kMaxShimBytes) {
    bytes.insert(bytes.end(), data, data + size);
  }
  trumpet::ShimFrame frame() {
    return {bytes.data() + begin, static_cast<uint32_t>(bytes.size() - begin)};
  }
  bool IsLike(const uint8_t* data, size_t size) const {
    return std::vector<uint8_t>(bytes.begin() + static_cast<long>(begin), bytes.end()) ==
           std::vector<uint8_t>(data, data + size);
  }

  std::vector<uint8_t> bytes;
  size_t begin = trumpet::kMaxShimBytes;
};

void PutAndTake(const trumpet::CarriedValues& values, const uint8_t* data, size_t size) {
  Buffer buffer(data, size);
  const auto put = PutShims(kKey, values, trumpet::kMaxShimBytes, buffer.frame());
  buffer.begin -= put.vlan_bytes + put.option_bytes;
  if (put.is_exposed) return;
  trumpet::CarriedValues taken;
  buffer.begin += TakeShims(kKey, buffer.frame(), &taken);
  if (!buffer.IsLike(data, size)) std::abort();
  const bool is_right = taken.vid == (taken.has_vid ? values.vid : 0) &&
                        taken.option == (taken.has_option ? values.option : 0) &&
                        (!taken.has_vid || values.has_vid) &&
                        (!taken.has_option || values.has_option);
  if (!is_right) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Buffer buffer(data, size);
  const bool has = HasShims(kKey, buffer.frame());
  trumpet::CarriedValues values;
  const uint32_t taken = TakeShims(kKey, buffer.frame(), &values);
  if (has != (taken != 0) || taken > size) std::abort();
  PutAndTake({}, data, size);
  PutAndTake({true, true, 7, 0x01020304}, data, size);
  return 0;
}
