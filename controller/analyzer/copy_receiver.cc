// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/copy_receiver.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "controller/analyzer/tunnel_filter.h"
#include "lib/base/system_error.h"
#include "lib/packet/capture_source.h"

namespace trumpet {
namespace {

constexpr size_t kBlockBytes = 1 << 20;
constexpr unsigned kFrameBytes = 2048;  // only its alignment counts in TPACKET_V3
constexpr int kBlocksPerRound = 8;      // then others have their turn

sock_fprog Program(TunnelFilter filter) {
  // The kernel's name for the same thing.
  const auto* const code = reinterpret_cast<const sock_filter*>(filter.code);
  return {static_cast<unsigned short>(filter.count), const_cast<sock_filter*>(code)};
}

Status SetOption(int socket, int level, int option, const void* value, socklen_t bytes,
                 const char* what) {
  if (setsockopt(socket, level, option, value, bytes) == 0) return Status::Ok();
  return SystemError(what);
}

void Readable(evutil_socket_t, short, void* receiver) {
  static_cast<CopyReceiver*>(receiver)->OnReadable();
}

}  // namespace

Result<std::unique_ptr<CopyReceiver>> CopyReceiver::Open(event_base* base,
                                                         const CopyReceiverOptions& options,
                                                         TakeFrames take) {
  // Of no protocol until all is set: nothing comes before the filter is there.
  const int socket = ::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return SystemError("cannot receive from " + options.interface);
  std::unique_ptr<CopyReceiver> receiver(
      new CopyReceiver(base, options.interface, std::move(take), socket));
  Status status = receiver->Configure(options);
  if (status.ok()) status = receiver->MapRing(options);
  if (status.ok()) status = receiver->Bind();
  if (!status.ok()) {
    return Status::Error("cannot receive from " + options.interface + ": " + status.message());
  }
  receiver->readable_ = event_new(base, socket, EV_READ | EV_PERSIST, Readable, receiver.get());
  event_add(receiver->readable_, nullptr);
  receiver->look_.RunEvery(kLookEvery);
  return receiver;
}

CopyReceiver::CopyReceiver(event_base* base, std::string interface, TakeFrames take, int socket)
    : interface_(std::move(interface)),
      take_(std::move(take)),
      socket_(socket),
      look_(base, [this] { LookAtInterface(); }) {}

CopyReceiver::~CopyReceiver() {
  if (readable_ != nullptr) event_free(readable_);
  if (ring_ != nullptr) munmap(ring_, ring_bytes_);
  close(socket_);
}

Status CopyReceiver::Configure(const CopyReceiverOptions& options) {
  const int version = TPACKET_V3;
  Status status =
      SetOption(socket_, SOL_PACKET, PACKET_VERSION, &version, sizeof version, "TPACKET_V3");
  if (!status.ok()) return status;
  const sock_fprog program = Program(OnlyTunnels(options.wants_udp_tunnels));
  status = SetOption(socket_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program, "filter");
  if (!status.ok()) return status;
  const int on = 1;
  status = SetOption(socket_, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on,
                     "leaving out what is sent");
  if (!status.ok() || !options.wants_hardware_stamps) return status;
  const int stamps = SOF_TIMESTAMPING_RAW_HARDWARE;
  return SetOption(socket_, SOL_PACKET, PACKET_TIMESTAMP, &stamps, sizeof stamps,
                   "time stamps of the card");
}

Status CopyReceiver::MapRing(const CopyReceiverOptions& options) {
  block_count_ = std::max<size_t>(2, options.ring_bytes / kBlockBytes);
  ring_bytes_ = block_count_ * kBlockBytes;
  tpacket_req3 ring{};
  ring.tp_block_size = kBlockBytes;
  ring.tp_block_nr = static_cast<unsigned>(block_count_);
  ring.tp_frame_size = kFrameBytes;
  ring.tp_frame_nr = static_cast<unsigned>(ring_bytes_ / kFrameBytes);
  ring.tp_retire_blk_tov =
      static_cast<unsigned>(std::max<Nanos>(1, options.retire / kNanosPerMilli));
  const Status status =
      SetOption(socket_, SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring, "ring of packets");
  if (!status.ok()) return status;
  void* const mapped = mmap(nullptr, ring_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, socket_, 0);
  if (mapped == MAP_FAILED) return SystemError("ring of packets");
  ring_ = static_cast<uint8_t*>(mapped);
  return Status::Ok();
}

Status CopyReceiver::Bind() {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface_.c_str()));
  if (address.sll_ifindex == 0) return SystemError("interface");
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return Status::Ok();
  }
  return SystemError("interface");
}

// The kernel brings back one that was down by itself, and forgets one that was deleted: then the
// socket says that it is bound to none, whatever number the next one of that name has.
void CopyReceiver::LookAtInterface() {
  const auto index = static_cast<int>(if_nametoindex(interface_.c_str()));
  sockaddr_ll bound{};
  socklen_t bytes = sizeof bound;
  const bool is_known = getsockname(socket_, reinterpret_cast<sockaddr*>(&bound), &bytes) == 0;
  if (index == 0 || !is_known || bound.sll_ifindex == index) return;
  if (Bind().ok()) ++counters_.interface_changes;
}

void CopyReceiver::OnReadable() {
  for (int i = 0; i < kBlocksPerRound; ++i) {
    if (TakeBlock()) continue;
    if (i == 0) TakeError();
    return;
  }
}

// One that nobody reads would have the loop come back here without end.
void CopyReceiver::TakeError() {
  int error = 0;
  socklen_t bytes = sizeof error;
  const bool is_told = getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0;
  if (is_told && error != 0) ++counters_.interface_errors;
}

// False if the next block is still the kernel's.
bool CopyReceiver::TakeBlock() {
  auto* const block = reinterpret_cast<tpacket_block_desc*>(ring_ + next_block_ * kBlockBytes);
  uint32_t* const status = &block->hdr.bh1.block_status;
  if ((__atomic_load_n(status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) return false;
  const auto* at = reinterpret_cast<const uint8_t*>(block) + block->hdr.bh1.offset_to_first_pkt;
  std::array<TimedFrame, kReceiveBurst> burst;
  size_t count = 0;
  for (uint32_t i = 0; i < block->hdr.bh1.num_pkts; ++i) {
    const auto* head = reinterpret_cast<const tpacket3_hdr*>(at);
    const Frame frame{at + head->tp_mac, head->tp_snaplen, head->tp_len};
    ++counters_.frames;
    counters_.bytes += frame.wire_length;
    if ((head->tp_status & TP_STATUS_TS_RAW_HARDWARE) != 0) ++counters_.hardware_stamps;
    burst[count++] = {Nanos{head->tp_sec} * kNanosPerSecond + head->tp_nsec, frame};
    if (count == burst.size()) take_(burst.data(), std::exchange(count, 0));
    at += head->tp_next_offset;
  }
  if (count > 0) take_(burst.data(), count);
  __atomic_store_n(status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  next_block_ = (next_block_ + 1) % block_count_;
  return true;
}

CopyReceiverCounters CopyReceiver::counters() {
  tpacket_stats_v3 stats{};
  socklen_t bytes = sizeof stats;
  // The kernel counts from the last time it was asked.
  if (getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0) {
    counters_.kernel_drops += stats.tp_drops;
    counters_.ring_freezes += stats.tp_freeze_q_cnt;
  }
  return counters_;
}

uint64_t CopyReceiver::dropped() { return counters().kernel_drops; }

std::vector<CopySource::Figure> CopyReceiver::Figures() {
  const CopyReceiverCounters counters = this->counters();
  return {{"frames", counters.frames},
          {"bytes", counters.bytes},
          {"kernel_drops", counters.kernel_drops},
          {"ring_freezes", counters.ring_freezes},
          {"hardware_stamps", counters.hardware_stamps},
          {"interface_errors", counters.interface_errors},
          {"interface_changes", counters.interface_changes}};
}

Status TakeCapture(const std::string& path, const TakeFrame& take) {
  Result<CaptureSource> source = CaptureSource::Open(path);
  if (!source.ok()) return source.status();
  for (;;) {
    TimedFrame timed;
    const Result<bool> next = source->Next(&timed);
    if (!next.ok()) return next.status();
    if (!*next) return Status::Ok();
    take(timed.frame, timed.time);
  }
}

}  // namespace trumpet
