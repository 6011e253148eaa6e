// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/bench_loopback.h"

#include <linux/if_xdp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "controller/analyzer/loopback_kit_test.h"
#include "lib/base/page_buffer.h"
#include "lib/base/system_error.h"

namespace trumpet {
namespace {

constexpr char kLoopback[] = "lo";
constexpr uint32_t kSlots = 64;
constexpr uint32_t kSlotBytes = 2048;  // the least that AF_XDP takes

// sysfs shows the interfaces of the namespace in which it was mounted.
Status ReceiveOn(size_t processor, const std::string& folder) {
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("sysfs", folder.c_str(), "sysfs", 0, nullptr) != 0) {
    return SystemError("sysfs cannot be mounted");
  }
  std::ofstream mask(folder + "/class/net/lo/queues/rx-0/rps_cpus");
  mask << std::hex << (uint64_t{1} << processor) << std::endl;
  const Status written = mask.good() ? Status::Ok() : SystemError("lo: RPS");
  mask.close();
  umount(folder.c_str());
  return written;
}

// A ring that is shared with the kernel.
template <typename Entry>
class SharedRing {
 public:
  SharedRing() = default;
  ~SharedRing() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  SharedRing(const SharedRing&) = delete;
  SharedRing& operator=(const SharedRing&) = delete;

  bool Map(int socket, off_t at, const xdp_ring_offset& offsets) {
    bytes_ = offsets.desc + kSlots * sizeof(Entry);
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, socket, at);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<uint8_t*>(memory);
    producer_ = reinterpret_cast<uint32_t*>(memory_ + offsets.producer);
    consumer_ = reinterpret_cast<uint32_t*>(memory_ + offsets.consumer);
    entries_ = reinterpret_cast<Entry*>(memory_ + offsets.desc);
    return true;
  }

  Entry& operator[](uint32_t index) { return entries_[index % kSlots]; }
  uint32_t produced() const { return __atomic_load_n(producer_, __ATOMIC_ACQUIRE); }
  void SetProduced(uint32_t count) { __atomic_store_n(producer_, count, __ATOMIC_RELEASE); }
  void SetConsumed(uint32_t count) { __atomic_store_n(consumer_, count, __ATOMIC_RELEASE); }

 private:
  size_t bytes_ = 0;
  uint8_t* memory_ = nullptr;
  uint32_t* producer_ = nullptr;
  uint32_t* consumer_ = nullptr;
  Entry* entries_ = nullptr;
};

class XdpLoopback final : public BenchLoopback {
 public:
  XdpLoopback() : socket_(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)) {}
  ~XdpLoopback() override {
    if (socket_ >= 0) close(socket_);
  }
  XdpLoopback(const XdpLoopback&) = delete;
  XdpLoopback& operator=(const XdpLoopback&) = delete;

  bool Bind() {
    if (socket_ < 0 || !slots_.Allocate(size_t{kSlots} * kSlotBytes)) return false;
    xdp_umem_reg memory{};
    memory.addr = reinterpret_cast<uint64_t>(slots_.data());
    memory.len = slots_.size_bytes();
    memory.chunk_size = kSlotBytes;
    xdp_mmap_offsets offsets{};
    socklen_t length = sizeof offsets;
    sockaddr_xdp to{};
    to.sxdp_family = AF_XDP;
    to.sxdp_flags = XDP_COPY;
    to.sxdp_ifindex = if_nametoindex(kLoopback);
    return Set(XDP_UMEM_REG, memory) && Set(XDP_UMEM_FILL_RING, kSlots) &&
           Set(XDP_UMEM_COMPLETION_RING, kSlots) && Set(XDP_TX_RING, kSlots) &&
           getsockopt(socket_, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) == 0 &&
           to_send_.Map(socket_, XDP_PGOFF_TX_RING, offsets.tx) &&
           completed_.Map(socket_, static_cast<off_t>(XDP_UMEM_PGOFF_COMPLETION_RING),
                          offsets.cr) &&
           bind(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  // Frames are copied before they are completed, so each call has all slots.
  size_t Put(const uint8_t* frames, size_t stride, size_t bytes, size_t count) override {
    const auto many = static_cast<uint32_t>(std::min<size_t>(count, kSlots));
    for (uint32_t i = 0; i < many; ++i) {
      const uint64_t at = uint64_t{i} * kSlotBytes;
      std::memcpy(slots_.data() + at, frames + i * stride, bytes);
      to_send_[sent_ + i] = {at, static_cast<uint32_t>(bytes), 0};
    }
    sent_ += many;
    to_send_.SetProduced(sent_);
    while (completed_.produced() != sent_) {
      sendto(socket_, nullptr, 0, MSG_DONTWAIT, nullptr, 0);
    }
    completed_.SetConsumed(sent_);
    return many;
  }

 private:
  template <typename Value>
  bool Set(int option, const Value& value) {
    return setsockopt(socket_, SOL_XDP, option, &value, sizeof value) == 0;
  }

  const int socket_;
  PageBuffer<uint8_t> slots_;
  SharedRing<xdp_desc> to_send_;
  SharedRing<uint64_t> completed_;
  uint32_t sent_ = 0;
};

}  // namespace

Result<std::unique_ptr<BenchLoopback>> BenchLoopback::Open(size_t receiving,
                                                           const std::string& folder) {
  if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return SystemError("no namespaces of its own");
  if (!BringUpLoopback()) return SystemError("lo cannot be brought up");
  const Status status = ReceiveOn(receiving, folder);
  if (!status.ok()) return status;
  auto loopback = std::make_unique<XdpLoopback>();
  if (!loopback->Bind()) return SystemError("lo: AF_XDP");
  return std::unique_ptr<BenchLoopback>(std::move(loopback));
}

}  // namespace trumpet
