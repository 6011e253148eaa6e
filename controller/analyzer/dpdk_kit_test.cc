// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/dpdk_kit_test.h"

#include <rte_dev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstring>

namespace trumpet {

VirtualDevice::VirtualDevice(std::string name, const std::string& arguments)
    : name_(std::move(name)) {
  EXPECT_EQ(rte_eal_hotplug_add("vdev", name_.c_str(), arguments.c_str()), 0);
}

VirtualDevice::~VirtualDevice() { rte_eal_hotplug_remove("vdev", name_.c_str()); }

RingFeeder::RingFeeder(const std::string& device)
    : ring_(rte_ring_lookup(("ETH_RXTX0_" + device).c_str())),
      pool_(rte_pktmbuf_pool_create("feeder", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0)) {
  EXPECT_NE(ring_, nullptr);
  EXPECT_NE(pool_, nullptr);
}

RingFeeder::~RingFeeder() { rte_mempool_free(pool_); }

void RingFeeder::Put(const test_frames::Bytes& bytes) {
  rte_mbuf* buffer = nullptr;
  while ((buffer = rte_pktmbuf_alloc(pool_)) == nullptr) {
  }
  std::memcpy(rte_pktmbuf_append(buffer, static_cast<uint16_t>(bytes.size())), bytes.data(),
              bytes.size());
  while (rte_ring_enqueue(ring_, buffer) != 0) {
  }
}

}  // namespace trumpet
