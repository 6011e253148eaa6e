// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CycleSamples: the mean of what some pieces of work took, by a clock that runs on while the thread
// is interrupted.
//
// In a round of samples one at most is interrupted, as good as always: the highest one counts as
// much as the one below it.  A single sample counts as little as work of its kind ever takes: at
// most kMaxAlone.
//
// DearBatches: whether batches of such work are dear by themselves, and not by interruptions.
//
// Threads: one.

#ifndef TRUMPET_LIB_TPM_CYCLE_SAMPLES_H
#define TRUMPET_LIB_TPM_CYCLE_SAMPLES_H

#include <algorithm>
#include <cstdint>

namespace trumpet {

// Some 5 us: to match a flow that takes so long stops the switch.
constexpr uint64_t kDearCycles = 16384;

class CycleSamples {
 public:
  static constexpr uint64_t kMaxAlone = 8192;

  void Add(uint64_t cycles) {
    count_++;
    sum_ += cycles;
    second_ = std::max(second_, std::min(cycles, highest_));
    highest_ = std::max(highest_, cycles);
  }

  // 0: there are none.
  double Mean() const {
    if (count_ == 0) return 0;
    const uint64_t most = count_ == 1 ? std::min(highest_, kMaxAlone) : second_;
    return static_cast<double>(sum_ - highest_ + most) / static_cast<double>(count_);
  }

 private:
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t highest_ = 0;
  uint64_t second_ = 0;
};

// One that is dear counts as much as some that are not.  Where they are many, batches are left out,
// and now and then one is tried: it may have been the machine, as where a hypervisor maps what is
// used for the first time.
class DearBatches {
 public:
  void Add(uint64_t cycles) {
    if (cycles > kDearCycles) {
      weight_ += kWeight;
    } else if (weight_ > 0) {
      weight_--;
    }
  }
  // Whether this batch is.
  bool LeaveOut() {
    if (weight_ < kMany) return false;
    if (++left_out_ < kTriedOfLeftOut) return true;
    left_out_ = 0;
    weight_ = kMany - kWeight;
    return false;
  }

  static constexpr uint32_t kTriedOfLeftOut = 128;  // one

 private:
  static constexpr uint32_t kWeight = 8;
  static constexpr uint32_t kMany = 4 * kWeight;
  uint32_t weight_ = 0;
  uint32_t left_out_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_CYCLE_SAMPLES_H
