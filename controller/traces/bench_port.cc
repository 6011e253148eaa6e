// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/bench_port.h"

#include <rte_dev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "controller/analyzer/dpdk_eal.h"
#include "controller/analyzer/dpdk_receiver.h"

namespace trumpet {
namespace {

constexpr char kDevice[] = "net_ring0";
constexpr unsigned kMost = 64;

// Once in a process, and until it ends.
const Result<std::unique_ptr<DpdkEal>>& Eal() {
  static const auto eal =
      DpdkEal::Start("--no-huge --no-pci -m 128", [](const char*, const std::string&) {});
  return eal;
}

class RingPort final : public BenchPort {
 public:
  RingPort(event_base* base, TakeFrames take) {
    is_there_ = rte_eal_hotplug_add("vdev", kDevice, "") == 0;
    pool_ = rte_pktmbuf_pool_create("bench", 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
    ring_ = rte_ring_lookup((std::string("ETH_RXTX0_") + kDevice).c_str());
    DpdkReceiverOptions options;
    options.ports = {kDevice};
    auto opened = DpdkReceiver::Open(base, **Eal(), options, std::move(take));
    if (opened.ok()) receiver_ = std::move(*opened);
  }
  ~RingPort() override {
    receiver_.reset();
    if (is_there_) rte_eal_hotplug_remove("vdev", kDevice);
    rte_mempool_free(pool_);
  }
  bool is_whole() const { return pool_ != nullptr && ring_ != nullptr && receiver_ != nullptr; }

  size_t Put(const uint8_t* frames, size_t stride, size_t bytes, size_t count) override {
    std::array<rte_mbuf*, kMost> buffers;
    const auto many = static_cast<unsigned>(count < kMost ? count : kMost);
    if (rte_pktmbuf_alloc_bulk(pool_, buffers.data(), many) != 0) return 0;
    for (size_t i = 0; i < many; ++i) {
      std::memcpy(rte_pktmbuf_append(buffers[i], static_cast<uint16_t>(bytes)), frames + i * stride,
                  bytes);
    }
    const unsigned done = rte_ring_enqueue_burst(
        ring_, reinterpret_cast<void* const*>(buffers.data()), many, nullptr);
    if (done < many) rte_pktmbuf_free_bulk(buffers.data() + done, many - done);
    return done;
  }
  uint64_t dropped() override { return receiver_->Sources()[0]->dropped(); }
  Nanos polling_time() const override { return receiver_->polling_time(); }

 private:
  bool is_there_ = false;
  rte_mempool* pool_ = nullptr;
  rte_ring* ring_ = nullptr;
  std::unique_ptr<DpdkReceiver> receiver_;
};

}  // namespace

Result<std::unique_ptr<BenchPort>> BenchPort::Open(event_base* base, TakeFrames take) {
  if (!Eal().ok()) return Eal().status();
  auto port = std::make_unique<RingPort>(base, std::move(take));
  if (!port->is_whole()) return Status::Error("no port of net_ring can be made");
  return std::unique_ptr<BenchPort>(std::move(port));
}

}  // namespace trumpet
