// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PageSource: takes memory from the machine for PageBuffers, and knows how much it took and of what
// kind.
//
// Huge pages save the packet path most of its TLB misses.  Transparent ones are asked for always;
// those that the machine has reserved belong to the switch, so they are taken only if the owner of
// the machine says so.  Without either, plain pages do.
//
// Memory comes from the NUMA node of the thread that first writes it, or that its memory policy
// names.  A page that nobody wrote yet costs a page fault at its first use: 0.5 us, or 100 us for a
// huge one.  So a source can write everything at once, and does so itself: of what the kernel has
// written for it, a hypervisor without nested page tables would still map each page at its first
// use, in 6 us (measured; 50 us for a huge one).
//
// Threads: one.

#ifndef TRUMPET_LIB_BASE_PAGE_SOURCE_H
#define TRUMPET_LIB_BASE_PAGE_SOURCE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trumpet {

class PageSource {
 public:
  struct Options {
    bool touches = false;         // at once, instead of at first use
    bool takes_reserved = false;  // huge pages that the machine has set aside, as far as they go
  };
  PageSource() = default;
  explicit PageSource(const Options& options) : options_(options) {}

  // Zeroed memory, to be given back with munmap(2); null when the machine has none.
  void* Take(size_t bytes);

  uint64_t bytes() const { return bytes_; }
  uint64_t reserved_bytes() const { return reserved_bytes_; }
  // How much of what was taken lies in transparent huge pages now; reads a file of /proc.
  uint64_t CountTransparentBytes() const;

 private:
  struct Range {
    uintptr_t begin;
    uintptr_t end;
  };
  void* Map(size_t bytes);
  size_t MapReserved(void* memory, size_t bytes);

  Options options_;
  uint64_t bytes_ = 0;
  uint64_t reserved_bytes_ = 0;
  std::vector<Range> ranges_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_PAGE_SOURCE_H
