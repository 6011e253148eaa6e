// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/delivery.h"

#include <gtest/gtest.h>

#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/trigger_sums.h"

namespace trumpet {
namespace {

// A thread that brings two ends of epochs for each that its agent takes in.
class BusyThread : public DeliverySink {
 public:
  explicit BusyThread(SpscRing* ring) : ring_(ring) { Deliver(); }
  void OnPartial(const PartialView& /*partial*/) override {}
  void OnFlowState(const FlowStateUpdate& /*update*/) override {}
  void OnEpochEnd(Nanos start, Nanos /*end*/, uint32_t /*reasons*/) override {
    EXPECT_EQ(start, taken_in++);
    Deliver();
    Deliver();
  }
  int64_t taken_in = 0;

 private:
  void Deliver() {
    if (DeliverEpochEnd(ring_, {delivered_, delivered_ + 1}, 0)) ++delivered_;
  }
  SpscRing* ring_;
  Nanos delivered_ = 0;
};

TEST(Delivery, TakesInWhatIsThereAndLeavesTheRestForTheNextCall) {
  SpscRing ring(1 << 16);
  BusyThread thread(&ring);
  EpochSums sums;
  int64_t expected = 0;
  for (int64_t there = 1; there <= 256; there *= 2) {
    EXPECT_EQ(DrainRecords(&ring, &sums, &thread), static_cast<size_t>(there));
    expected += there;
    EXPECT_EQ(thread.taken_in, expected);
  }
}

TEST(Delivery, ComesToAnEndWhenTheRingIsAlwaysFull) {
  SpscRing ring(1024);
  BusyThread thread(&ring);
  EpochSums sums;
  for (int i = 0; i < 1000; ++i) EXPECT_LE(DrainRecords(&ring, &sums, &thread), 1024U / 8);
  EXPECT_GT(thread.taken_in, 1000);
}

}  // namespace
}  // namespace trumpet
