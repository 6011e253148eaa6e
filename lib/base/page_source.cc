// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/page_source.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace trumpet {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14

constexpr int kProtection = PROT_READ | PROT_WRITE;
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;

size_t RoundUp(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

// False: the machine has no memory left, which the kernel can tell.
bool Touch(void* memory, size_t bytes) {
  if (madvise(memory, bytes, kPopulateWrite) != 0 && errno != EINVAL) return false;
  auto* at = static_cast<volatile uint8_t*>(memory);
  for (size_t offset = 0; offset < bytes; offset += kPage) at[offset] = 0;
  return true;
}

}  // namespace

void* PageSource::Take(size_t bytes) {
  bytes = RoundUp(std::max<size_t>(bytes, 1), kPage);
  void* memory = Map(bytes);
  if (memory == nullptr) return nullptr;
  const size_t reserved = options_.takes_reserved ? MapReserved(memory, bytes) : 0;
  if (reserved == 0) madvise(memory, bytes, MADV_HUGEPAGE);  // refusal costs speed only
  if (options_.touches && !Touch(memory, bytes)) {
    munmap(memory, bytes);
    return nullptr;
  }
  bytes_ += bytes;
  reserved_bytes_ += reserved;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  ranges_.push_back({begin, begin + bytes});
  return memory;
}

// Where huge pages would fit, they can only be used if the memory begins where one does.
void* PageSource::Map(size_t bytes) {
  const size_t room = bytes < kHugePage ? bytes : bytes + kHugePage - kPage;
  void* memory = mmap(nullptr, room, kProtection, kFlags, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (room == bytes) return memory;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const size_t before = RoundUp(begin, kHugePage) - begin;
  const size_t after = room - before - bytes;
  auto* start = static_cast<uint8_t*>(memory) + before;
  if (before != 0) munmap(memory, before);
  if (after != 0) munmap(start + bytes, after);
  return start;
}

// Puts reserved huge pages in the place of the whole ones at the beginning; returns the bytes.
size_t PageSource::MapReserved(void* memory, size_t bytes) {
  const size_t whole = bytes / kHugePage * kHugePage;
  if (whole == 0) return 0;
  if (mmap(memory, whole, kProtection, kFlags | MAP_FIXED | MAP_HUGETLB, -1, 0) == memory) {
    return whole;
  }
  // A failure may have left a hole.
  mmap(memory, whole, kProtection, kFlags | MAP_FIXED, -1, 0);
  return 0;
}

// Areas that lie side by side may be one in the file, so a count can include a neighbour's pages,
// but never more than there is of ours.
uint64_t PageSource::CountTransparentBytes() const {
  std::FILE* file = std::fopen("/proc/self/smaps", "re");
  if (file == nullptr) return 0;
  uint64_t count = 0;
  uint64_t ours = 0;  // of the area being read
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long kib = 0;
    if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      ours = 0;
      for (const Range& range : ranges_) {
        const uintptr_t low = std::max<uintptr_t>(range.begin, begin);
        const uintptr_t high = std::min<uintptr_t>(range.end, end);
        if (low < high) ours += high - low;
      }
    } else if (ours != 0 && std::sscanf(line, "AnonHugePages: %lu kB", &kib) == 1) {
      count += std::min<uint64_t>(ours, uint64_t{kib} << 10);
    }
  }
  std::fclose(file);
  return count;
}

}  // namespace trumpet
