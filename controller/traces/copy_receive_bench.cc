// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the analyzer takes from an interface: copies of packets that crossed four switches come to
// `lo` of a network namespace of its own at a given rate, through AF_PACKET, and are put together,
// judged and stored as trumpet-analyzer does.  One processor sends, the other receives.
//
// usage: copy_receive_bench [SECONDS]      (as root; 3)
//
// Prints for each rate what was sent, what the ring had no room for, packets whose verdict is that
// they were delivered, and processor time of the receiving thread, in all and of a copy.

#include <arpa/inet.h>
#include <event2/event.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "controller/analyzer/copy_receiver.h"
#include "controller/traces/bench_copies.h"
#include "controller/traces/live_traces.h"
#include "controller/traces/trace_routes.h"
#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

using bench_copies::Copies;
using bench_copies::kHops;

constexpr size_t kBatch = 64;
constexpr size_t kFrameRoom = 256;

void Check(bool is_right, const std::string& what) {
  if (is_right) return;
  std::fprintf(stderr, "copy_receive_bench: %s\n", what.c_str());
  std::exit(1);
}

Nanos ReadClock(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return Nanos{now.tv_sec} * kNanosPerSecond + now.tv_nsec;
}

void StayOn(size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor % std::thread::hardware_concurrency(), &set);
  Check(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0, "no such processor");
}

void BringUpLoopback() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_LOOPBACK;
  Check(ioctl(socket, SIOCSIFFLAGS, &request) == 0, "lo cannot be brought up");
  close(socket);
}

// Sends so many copies a second, of one packet after the other; all four of it at once.
class Sender {
 public:
  Sender() : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    Check(socket_ >= 0, "needs root");
    const int on = 1;
    setsockopt(socket_, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_protocol = htons(ETH_P_IP);
    to.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
    Check(bind(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0, "lo: cannot send");
    for (size_t i = 0; i < kBatch; ++i) {
      pieces_[i] = {frames_[i].data(), copies_.bytes()};
      messages_[i] = {};
      messages_[i].msg_hdr.msg_iov = &pieces_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  ~Sender() { close(socket_); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // How many were sent.
  uint64_t Run(uint64_t rate, Nanos length) {
    const Nanos begin = ReadClock(CLOCK_MONOTONIC);
    uint64_t sent = 0;
    for (Nanos now = begin; now - begin < length; now = ReadClock(CLOCK_MONOTONIC)) {
      const uint64_t due = static_cast<uint64_t>(now - begin) * rate / kNanosPerSecond;
      if (sent < due) sent += SendBatch();
    }
    return sent;
  }

 private:
  uint64_t SendBatch() {
    for (size_t i = 0; i < kBatch; ++i) {
      const uint32_t packet = next_packet_ + static_cast<uint32_t>(i / kHops);
      copies_.Write(static_cast<uint16_t>(i % kHops), packet, packet, frames_[i].data());
    }
    next_packet_ += kBatch / kHops;
    size_t sent = 0;
    while (sent < kBatch) {
      const int count =
          sendmmsg(socket_, &messages_[sent], static_cast<unsigned>(kBatch - sent), 0);
      if (count > 0) sent += static_cast<size_t>(count);
    }
    return sent;
  }

  const int socket_;
  const Copies copies_;
  uint32_t next_packet_ = 0;
  std::array<std::array<uint8_t, kFrameRoom>, kBatch> frames_{};
  std::array<iovec, kBatch> pieces_{};
  std::array<mmsghdr, kBatch> messages_{};
};

// trumpet-analyzer's way, from the ring to the store.
class Receiver {
 public:
  explicit Receiver(const std::string& folder) : base_(event_base_new()) {
    LiveTracesOptions options;
    options.store.folder = folder;
    options.topology = *ParseTopology(bench_copies::kChain, "chain");
    Check(AddSwitches(options.topology, &options.switches).ok(), "switches");
    options.maker.copies.seed = 7;
    options.maker.copies.leaves_slices = true;
    options.maker.table.max_traces = 1 << 20;
    options.maker.table.max_hops = 1 << 22;
    auto traces = LiveTraces::Open(
        base_.get(), options, [] { return ReadClock(CLOCK_REALTIME); },
        [](const char*, const std::string& text) { Check(false, text); });
    Check(traces.ok(), traces.ok() ? "" : traces.message());
    traces_ = std::move(*traces);
    CopyReceiverOptions ring;
    ring.interface = "lo";
    LiveTraces* const to = traces_.get();
    const auto take = [to](const TimedFrame* frames, size_t count) {
      std::array<bool, kReceiveBurst> is_taken;
      to->Take(frames, count, is_taken.data());
    };
    auto receiver = CopyReceiver::Open(base_.get(), ring, take);
    Check(receiver.ok(), receiver.ok() ? "" : receiver.message());
    receiver_ = std::move(*receiver);
  }

  // Until `is_sent`, and as long again as traces need to be complete.
  void Run(const std::atomic<bool>& is_sent) {
    Nanos end = INT64_MAX;
    LoopEvent look(base_.get(), [&] {
      if (is_sent && end == INT64_MAX) end = ReadClock(CLOCK_MONOTONIC) + 3 * kNanosPerSecond;
      if (ReadClock(CLOCK_MONOTONIC) >= end) event_base_loopbreak(base_.get());
    });
    look.RunEvery(10 * kNanosPerMilli);
    event_base_dispatch(base_.get());
  }

  uint64_t dropped() { return receiver_->counters().kernel_drops; }
  TraceSums sums() const { return traces_->maker().sums(); }

 private:
  OwnedLoop base_;
  std::unique_ptr<LiveTraces> traces_;
  std::unique_ptr<CopyReceiver> receiver_;
};

void Measure(uint64_t rate, Nanos length, const std::string& folder) {
  Receiver receiver(folder);
  std::atomic<bool> is_sent{false};
  uint64_t sent = 0;
  std::thread sending([&] {
    StayOn(1);
    sent = Sender().Run(rate, length);
    is_sent = true;
  });
  const Nanos before = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  receiver.Run(is_sent);
  const Nanos taken = ReadClock(CLOCK_THREAD_CPUTIME_ID) - before;
  sending.join();
  const TraceSums sums = receiver.sums();
  const double seconds = static_cast<double>(length) / 1e9;
  const uint64_t delivered = sums.faults[static_cast<size_t>(TraceFault::kNone)];
  std::printf(
      "| %.0f | %llu | %llu | %llu of %llu | %.0f | %.0f |\n",
      static_cast<double>(sent) / seconds / 1000, static_cast<unsigned long long>(sums.copies),
      static_cast<unsigned long long>(receiver.dropped()),
      static_cast<unsigned long long>(delivered), static_cast<unsigned long long>(sent / kHops),
      static_cast<double>(taken) / static_cast<double>(length) * 100,
      static_cast<double>(taken) / static_cast<double>(sums.copies));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  Check(seconds > 0 && seconds <= 60, "usage: copy_receive_bench [SECONDS]");
  Check(unshare(CLONE_NEWNET) == 0, "needs root");
  BringUpLoopback();
  StayOn(0);
  std::string folder = "/tmp/trumpet-XXXXXX";
  Check(mkdtemp(folder.data()) != nullptr, "no folder can be made in /tmp");
  std::printf(
      "| 1,000 copies a second | taken | no room in the ring | packets delivered |"
      " processor, %% | ns of a copy |\n|---|---|---|---|---|---|\n");
  for (const uint64_t rate : {200, 400, 600, 800, 5000}) {
    const auto length = static_cast<Nanos>(seconds * 1e9);
    Measure(rate * 1000, length, folder + "/" + std::to_string(rate));
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
