// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/dpdk_receiver.h"

#include <event2/event.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include "controller/analyzer/tunnel_filter.h"
#include "lib/base/spsc_ring.h"

namespace trumpet {
namespace {

constexpr uint16_t kDescriptors = 4096;
constexpr unsigned kBuffers = 8191;       // a power of two less one is what a pool holds best
constexpr unsigned kBuffersAtHand = 256;  // of the polling thread, without a lock
constexpr size_t kWakeBytes = 256 << 10;  // so many that wait are worth waking the loop
constexpr int kBurstsPerRound = 512;      // then others have their turn

Nanos ReadClock(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return Nanos{now.tv_sec} * kNanosPerSecond + now.tv_nsec;
}

size_t PowerOfTwo(uint64_t bytes) {
  size_t power = 1 << 20;
  while (power * 2 <= bytes) power *= 2;
  return power;
}

Status PortError(const std::string& what, int error) {
  return Status::Error(what + ": " + rte_strerror(error < 0 ? -error : error));
}

// Before the bytes of each frame in the ring.
struct FrameHead {
  Nanos time;
  uint32_t captured_length;
  uint32_t wire_length;
};

struct PoolFree {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};

class Port final : public CopySource {
 public:
  Port(const DpdkReceiverOptions& options, uint16_t id)
      : id_(id),
        filter_(OnlyTunnels(options.wants_udp_tunnels)),
        ring_(PowerOfTwo(options.ring_bytes)) {}
  ~Port() override {
    if (!is_begun_) return;
    rte_eth_dev_stop(id_);
    rte_eth_dev_close(id_);
  }

  Status Begin(const DpdkReceiverOptions& options);

  // The polling thread's.  False: there was nothing.
  bool Poll();
  // The loop is to be woken for what waits here.
  bool IsDue(Nanos retire);

  // The loop's.  False: more is there.
  bool Take(const TakeFrames& take);
  uint64_t dropped() override;
  std::vector<Figure> Figures() override;

 private:
  Status Configure(const rte_eth_dev_info& info, uint32_t mtu);
  void FindFileStamps(const rte_eth_dev_info& info);
  Nanos TimeOf(const rte_mbuf& buffer, Nanos now) const;
  void Keep(const rte_mbuf& buffer, Nanos now);

  const uint16_t id_;
  const TunnelFilter filter_;
  SpscRing ring_;
  bool is_begun_ = false;
  std::unique_ptr<rte_mempool, PoolFree> pool_;
  int stamp_offset_ = -1;  // where net_pcap keeps a file's time stamps, in us; -1: there are none
  uint64_t stamp_flag_ = 0;
  Nanos waits_since_ = 0;  // the polling thread's; 0: nothing waits that the loop was not woken for
  uint64_t frames_ = 0;    // the loop's
  uint64_t bytes_ = 0;
  std::atomic<uint64_t> no_tunnels_{0};
  std::atomic<uint64_t> ring_drops_{0};
};

Status Port::Configure(const rte_eth_dev_info& info, uint32_t mtu) {
  rte_eth_conf conf{};
  conf.rxmode.mtu = mtu;
  conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
  // Some drivers want as many queues to send as to receive.
  int done = rte_eth_dev_configure(id_, 1, 0, &conf);
  const bool sends = done < 0;
  if (sends) done = rte_eth_dev_configure(id_, 1, 1, &conf);
  if (done < 0) return PortError("cannot be configured", done);
  is_begun_ = true;
  uint16_t receive = kDescriptors, send = 64;
  done = rte_eth_dev_adjust_nb_rx_tx_desc(id_, &receive, &send);
  if (done < 0) return PortError("descriptors", done);
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
  done = rte_eth_rx_queue_setup(id_, 0, receive, socket, nullptr, pool_.get());
  if (done == 0 && sends) done = rte_eth_tx_queue_setup(id_, 0, send, socket, nullptr);
  return done < 0 ? PortError("queue", done) : Status::Ok();
}

// Of a file only: what other drivers stamp with is a clock of the card's own.
void Port::FindFileStamps(const rte_eth_dev_info& info) {
  if (std::strcmp(info.driver_name, "net_pcap") != 0) return;
  if (rte_mbuf_dyn_rx_timestamp_register(&stamp_offset_, &stamp_flag_) != 0) stamp_offset_ = -1;
}

Status Port::Begin(const DpdkReceiverOptions& options) {
  rte_eth_dev_info info{};
  int done = rte_eth_dev_info_get(id_, &info);
  if (done < 0) return PortError("tells nothing of itself", done);
  const std::string name = "copies-" + std::to_string(id_);
  pool_.reset(rte_pktmbuf_pool_create(name.c_str(), kBuffers, kBuffersAtHand, 0,
                                      RTE_MBUF_DEFAULT_BUF_SIZE, rte_eth_dev_socket_id(id_)));
  if (pool_ == nullptr) {
    return PortError("no memory for " + std::to_string(kBuffers) +
                         " packets, 20 MB; give DPDK more (-m, or huge pages)",
                     rte_errno);
  }
  FindFileStamps(info);
  const Status configured = Configure(info, options.mtu);
  if (!configured.ok()) return configured;
  done = rte_eth_dev_start(id_);
  return done < 0 ? PortError("cannot be started", done) : Status::Ok();
}

Nanos Port::TimeOf(const rte_mbuf& buffer, Nanos now) const {
  if (stamp_offset_ < 0 || (buffer.ol_flags & stamp_flag_) == 0) return now;
  const auto* const at = reinterpret_cast<const uint8_t*>(&buffer) + stamp_offset_;
  return static_cast<Nanos>(*reinterpret_cast<const rte_mbuf_timestamp_t*>(at)) * kNanosPerMicro;
}

void Port::Keep(const rte_mbuf& buffer, Nanos now) {
  const auto* const data = rte_pktmbuf_mtod(&buffer, const uint8_t*);
  const Frame frame{data, buffer.data_len, buffer.pkt_len};
  if (!PassesFilter(filter_, frame)) {
    no_tunnels_.store(no_tunnels_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  const FrameHead head{TimeOf(buffer, now), frame.captured_length, frame.wire_length};
  auto* const room = static_cast<uint8_t*>(ring_.Reserve(sizeof head + head.captured_length));
  if (room == nullptr) {
    ring_drops_.store(ring_drops_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  std::memcpy(room, &head, sizeof head);
  std::memcpy(room + sizeof head, data, head.captured_length);
  ring_.Commit();
}

bool Port::Poll() {
  std::array<rte_mbuf*, kReceiveBurst> buffers;
  const uint16_t count = rte_eth_rx_burst(id_, 0, buffers.data(), kReceiveBurst);
  if (count == 0) return false;
  const Nanos now = ReadClock(CLOCK_REALTIME);
  for (uint16_t i = 0; i < count; ++i) {
    __builtin_prefetch(rte_pktmbuf_mtod(buffers[i], const uint8_t*));
  }
  for (uint16_t i = 0; i < count; ++i) Keep(*buffers[i], now);
  rte_pktmbuf_free_bulk(buffers.data(), count);
  if (waits_since_ == 0) waits_since_ = ReadClock(CLOCK_MONOTONIC);
  return true;
}

bool Port::IsDue(Nanos retire) {
  if (waits_since_ == 0) return false;
  const bool is_due =
      ring_.used() >= kWakeBytes || ReadClock(CLOCK_MONOTONIC) - waits_since_ >= retire;
  if (is_due) waits_since_ = 0;
  return is_due;
}

bool Port::Take(const TakeFrames& take) {
  std::array<TimedFrame, kReceiveBurst> burst;
  for (int i = 0; i < kBurstsPerRound; ++i) {
    size_t count = 0;
    while (count < burst.size()) {
      const SpscRing::Record record = ring_.Peek();
      if (!record) break;
      FrameHead head;
      std::memcpy(&head, record.data, sizeof head);
      const auto* const data = static_cast<const uint8_t*>(record.data) + sizeof head;
      burst[count++] = {head.time, {data, head.captured_length, head.wire_length}};
      bytes_ += head.wire_length;
      ring_.Pass();
    }
    if (count == 0) return true;
    frames_ += count;
    take(burst.data(), count);
    ring_.ReleasePassed();
  }
  return false;
}

uint64_t Port::dropped() {
  rte_eth_stats stats{};
  rte_eth_stats_get(id_, &stats);
  return stats.imissed + stats.rx_nombuf + ring_drops_;
}

std::vector<CopySource::Figure> Port::Figures() {
  rte_eth_stats stats{};
  rte_eth_stats_get(id_, &stats);
  return {{"frames", frames_},
          {"bytes", bytes_},
          {"no_tunnels", no_tunnels_},
          {"missed", stats.imissed},
          {"no_buffers", stats.rx_nombuf},
          {"ring_drops", ring_drops_},
          {"errors", stats.ierrors}};
}

class Receiver final : public DpdkReceiver {
 public:
  Receiver(const DpdkReceiverOptions& options, TakeFrames take)
      : options_(options), take_(std::move(take)) {}
  ~Receiver() override;

  Status AddPort(const std::string& name);
  Status Begin(event_base* base);
  std::vector<CopySource*> Sources() override;
  Nanos polling_time() const override { return polling_time_; }

 private:
  static void Woken(evutil_socket_t, short, void* receiver) {
    static_cast<Receiver*>(receiver)->TakeAll();
  }
  void TakeAll();
  void Run();
  void Wake();

  const DpdkReceiverOptions options_;
  const TakeFrames take_;
  std::vector<std::unique_ptr<Port>> ports_;
  int wakes_ = -1;
  event* woken_ = nullptr;
  std::atomic<bool> is_ending_{false};
  std::atomic<Nanos> polling_time_{0};
  std::thread thread_;
};

Receiver::~Receiver() {
  is_ending_ = true;
  if (thread_.joinable()) thread_.join();
  if (woken_ != nullptr) event_free(woken_);
  if (wakes_ >= 0) close(wakes_);
}

Status Receiver::AddPort(const std::string& name) {
  uint16_t id = 0;
  if (rte_eth_dev_get_port_by_name(name.c_str(), &id) != 0) {
    std::string others;
    RTE_ETH_FOREACH_DEV(id) {
      std::array<char, RTE_ETH_NAME_MAX_LEN> other{};
      if (rte_eth_dev_get_name_by_port(id, other.data()) != 0) continue;
      others += (others.empty() ? "" : ", ") + std::string(other.data());
    }
    return Status::Error("there is no such port; " +
                         (others.empty() ? "DPDK has none" : "there are: " + others));
  }
  auto port = std::make_unique<Port>(options_, id);
  const Status begun = port->Begin(options_);
  if (begun.ok()) ports_.push_back(std::move(port));
  return begun;
}

Status Receiver::Begin(event_base* base) {
  wakes_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wakes_ < 0) return Status::Error("eventfd: " + std::string(std::strerror(errno)));
  woken_ = event_new(base, wakes_, EV_READ | EV_PERSIST, Woken, this);
  event_add(woken_, nullptr);
  thread_ = std::thread([this] { Run(); });
  return Status::Ok();
}

std::vector<CopySource*> Receiver::Sources() {
  std::vector<CopySource*> sources;
  for (const auto& port : ports_) sources.push_back(port.get());
  return sources;
}

void Receiver::Wake() {
  const uint64_t one = 1;
  // Fails only if there are 2^64 already.
  if (write(wakes_, &one, sizeof one) < 0) return;
}

// Polls on, and looks at the clock once in a while.
void Receiver::Run() {
  pthread_setname_np(pthread_self(), "dpdk-poll");
  // So that it has buffers at hand; without, it takes them from all threads' pool.
  const bool is_known = rte_thread_register() == 0;
  const timespec pause{options_.pause / kNanosPerSecond, options_.pause % kNanosPerSecond};
  while (!is_ending_.load(std::memory_order_relaxed)) {
    bool is_idle = true;
    bool is_due = false;
    for (const auto& port : ports_) {
      if (port->Poll()) is_idle = false;
      if (port->IsDue(options_.retire)) is_due = true;
    }
    if (is_due) Wake();
    if (!is_idle || options_.pause == 0) continue;
    polling_time_.store(ReadClock(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
    nanosleep(&pause, nullptr);
  }
  polling_time_ = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  if (is_known) rte_thread_unregister();
}

void Receiver::TakeAll() {
  uint64_t times = 0;
  if (read(wakes_, &times, sizeof times) < 0) times = 0;
  bool is_done = true;
  for (const auto& port : ports_) {
    if (!port->Take(take_)) is_done = false;
  }
  if (!is_done) Wake();
}

}  // namespace

Result<std::unique_ptr<DpdkReceiver>> DpdkReceiver::Open(event_base* base, const DpdkEal&,
                                                         const DpdkReceiverOptions& options,
                                                         TakeFrames take) {
  auto receiver = std::make_unique<Receiver>(options, std::move(take));
  for (const std::string& name : options.ports) {
    const Status added = receiver->AddPort(name);
    if (!added.ok()) {
      return Status::Error("cannot receive from DPDK's port " + name + ": " + added.message());
    }
  }
  const Status begun = receiver->Begin(base);
  if (!begun.ok()) return begun;
  return std::unique_ptr<DpdkReceiver>(std::move(receiver));
}

}  // namespace trumpet
