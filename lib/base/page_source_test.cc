// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/page_source.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "lib/base/page_buffer.h"

namespace trumpet {
namespace {

constexpr size_t kHuge = size_t{2} << 20;

// Of the pages that hold [memory, memory + bytes), how many are there already?
size_t PagesThere(void* memory, size_t bytes) {
  std::vector<unsigned char> there((bytes + 4095) / 4096);
  if (mincore(memory, bytes, there.data()) != 0) return 0;
  size_t count = 0;
  for (const unsigned char page : there) count += page & 1;
  return count;
}

TEST(PageSource, WritesAllPagesWhenAskedTo) {
  PageSource source({/*touches=*/true, /*takes_reserved=*/false});
  PageBuffer<uint64_t> buffer;
  ASSERT_TRUE(buffer.Allocate(100000, &source));
  EXPECT_EQ(PagesThere(buffer.data(), buffer.size_bytes()), (800000 + 4095) / 4096);
  EXPECT_EQ(source.bytes(), PageBuffer<uint64_t>::BytesFor(100000));
  for (size_t i = 0; i < buffer.count(); i++) ASSERT_EQ(buffer[i], 0u);
}

TEST(PageSource, LeavesPagesToTheirFirstUseOtherwise) {
  PageSource source;
  PageBuffer<uint64_t> buffer;
  ASSERT_TRUE(buffer.Allocate(100000, &source));
  EXPECT_EQ(PagesThere(buffer.data(), buffer.size_bytes()), 0u);
  EXPECT_EQ(source.CountTransparentBytes(), 0u);
}

TEST(PageSource, BeginsLargeBuffersWhereHugePagesDo) {
  for (const size_t bytes : {kHuge, kHuge + 4096, 3 * kHuge - 4096}) {
    PageBuffer<uint8_t> buffer;
    ASSERT_TRUE(buffer.Allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kHuge, 0u) << bytes;
    buffer[bytes - 1] = 1;
  }
}

TEST(PageSource, CountsAtMostWhatItTookAsHuge) {
  PageSource source({/*touches=*/true, /*takes_reserved=*/false});
  PageBuffer<uint8_t> buffer;
  ASSERT_TRUE(buffer.Allocate(4 * kHuge, &source));
  EXPECT_LE(source.CountTransparentBytes(), source.bytes());
}

// Where none are reserved, or not enough, plain memory does.
TEST(PageSource, GivesMemoryWhetherOrNotHugePagesAreReserved) {
  PageSource source({/*touches=*/true, /*takes_reserved=*/true});
  PageBuffer<uint8_t> buffer;
  ASSERT_TRUE(buffer.Allocate(kHuge + 5000, &source));
  buffer[0] = buffer[kHuge + 4999] = 1;
  EXPECT_EQ(source.reserved_bytes() % kHuge, 0u);
  EXPECT_LE(source.reserved_bytes(), source.bytes());
}

TEST(PageSource, RefusesWhatTheMachineCannotGive) {
  PageSource source;
  EXPECT_EQ(source.Take(size_t{1} << 60), nullptr);
  EXPECT_EQ(source.bytes(), 0u);
}

}  // namespace
}  // namespace trumpet
