// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ColdStores: keeps what a thread stores next from the others for a while, as a driver does that
// has just written a batch of packets: the processor's stores wait in a row for lines that are in
// none of its caches.
//
// Threads: one.

#ifndef TRUMPET_LIB_BASE_COLD_STORES_TEST_H
#define TRUMPET_LIB_BASE_COLD_STORES_TEST_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trumpet::testing {

class ColdStores {
 public:
  void operator()() {
    for (int i = 0; i < kStores; ++i) {
      lot_ = lot_ * 6364136223846793005u + 1442695040888963407u;
      bytes_[lot_ >> 38] = static_cast<uint8_t>(i);
    }
  }

 private:
  static constexpr int kStores = 24;

  uint64_t lot_ = 1;
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(size_t{1} << 26);
};

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_BASE_COLD_STORES_TEST_H
