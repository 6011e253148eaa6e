// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/thread_monitor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "lib/base/process_barrier.h"
#include "lib/measure/request_frame.h"

namespace trumpet {
namespace {

constexpr size_t kRequestsBytes = 1 << 14;
constexpr auto kLongestVisit = std::chrono::milliseconds(100);
// Between two looks: visits last microseconds unless their thread is not running.
constexpr auto kPause = std::chrono::microseconds(20);

static_assert(TRUMPET_BATCH_MAX <= kMaxMeasureBurst);

// Frames go to the monitor as they came: copying a batch cost 6 ns.
static_assert(sizeof(Frame) == sizeof(trumpet_frame) && alignof(Frame) == alignof(trumpet_frame));
static_assert(offsetof(Frame, data) == offsetof(trumpet_frame, data));
static_assert(offsetof(Frame, captured_length) == offsetof(trumpet_frame, captured_length));
static_assert(offsetof(Frame, wire_length) == offsetof(trumpet_frame, wire_length));

const Frame* AsFrames(const trumpet_frame* frames) {
  return reinterpret_cast<const Frame*>(frames);
}

}  // namespace

// Inside a hook; `view()`, `slices()` and `programs()` are what may be touched until the end of the
// visit, or null.
class ThreadMonitor::Visit {
 public:
  enum class Kind { kPackets, kIdle };

  Visit(ThreadMonitor* thread, Kind kind) : thread_(thread) {
    const uint64_t before = thread->visits_.load(std::memory_order_relaxed);
    uint64_t visits = (before | kFlags) + 1 + kInside;
    if (kind == Kind::kPackets && thread->may_enter_unseen_) visits |= kEntersUnseen;
    if ((before & kEntersUnseen) != 0) {
      // Release: who sees this visit concludes that the one before was left.
      thread->visits_.store(visits, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the rest is up to ProcessBarrier()
    } else {
      thread->visits_.store(visits, std::memory_order_seq_cst);
    }
    const ThreadRules& rules = thread->rules_;
    if (!rules.is_open.load(std::memory_order_seq_cst)) return;
    if (!rules.is_safe.load(std::memory_order_seq_cst)) return;
    view_ = thread->view_.load(std::memory_order_seq_cst);
    slices_ = thread->slices_.load(std::memory_order_seq_cst);
    programs_ = thread->programs_.load(std::memory_order_seq_cst);
  }
  ~Visit() {
    const uint64_t visits = thread_->visits_.load(std::memory_order_relaxed);
    thread_->visits_.store(visits - kInside, std::memory_order_release);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  const LiveView* view() const { return view_; }
  const SliceSet* slices() const { return slices_; }
  ThreadPrograms* programs() const { return programs_; }

 private:
  ThreadMonitor* thread_;
  const LiveView* view_ = nullptr;
  const SliceSet* slices_ = nullptr;
  ThreadPrograms* programs_ = nullptr;
};

ThreadMonitor::ThreadMonitor(const trumpet_thread_info& info, const ThreadRules& rules)
    : info_(info),
      rules_(rules),
      may_enter_unseen_(info.is_pmd && HasProcessBarrier()),
      requests_(info.is_pmd ? nullptr : std::make_unique<SpscRing>(kRequestsBytes)) {}

// Time never runs backwards for a monitor, whatever the clocks do.
Nanos ThreadMonitor::Stamp(int64_t now_us) {
  const Nanos now = rules_.clock.UnixNs(now_us * kNanosPerMicro);
  const Nanos floor = rules_.floor_ns.load(std::memory_order_seq_cst);
  const Nanos stamp = std::max({now, floor, last_stamp_ns_.load(std::memory_order_relaxed)});
  last_stamp_ns_.store(stamp, std::memory_order_release);
  return stamp;
}

bool ThreadMonitor::OnReceive(const trumpet_frame* frames, size_t count, uint32_t in_port,
                              int64_t now_us, uint32_t* marks, uint16_t queue_length) {
  const Visit visit(this, Visit::Kind::kPackets);
  if (count > TRUMPET_BATCH_MAX) return false;
  const int frame_count = static_cast<int>(count);
  if (visit.view() != nullptr) {
    Count(*visit.view(), AsFrames(frames), frame_count, in_port, Stamp(now_us));
  }
  if (visit.programs() != nullptr) {
    visit.programs()->Receive(AsFrames(frames), frame_count, in_port, queue_length,
                              rules_.clock.UnixNs(now_us * kNanosPerMicro));
  }
  // By the monotonic clock: a slice has its length whatever is done to the wall clock.
  return visit.slices() != nullptr && visit.slices()->Mark(AsFrames(frames), frame_count, in_port,
                                                           now_us * kNanosPerMicro, marks);
}

void ThreadMonitor::OnSend(trumpet_sent_frame* frames, size_t count, uint32_t out_port,
                           int64_t now_us) {
  const Visit visit(this, Visit::Kind::kPackets);
  if (visit.programs() == nullptr || count > TRUMPET_BATCH_MAX) return;
  if (requests_ != nullptr) KeepRequests(frames, count);
  visit.programs()->Send(frames, static_cast<int>(count), out_port,
                         rules_.clock.UnixNs(now_us * kNanosPerMicro));
}

// A packet that came by a port is none, whatever is in it.  What finds no room is lost, as a
// packet.
void ThreadMonitor::KeepRequests(const trumpet_sent_frame* frames, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const trumpet_sent_frame& frame = frames[i];
    if (frame.in_port != UINT32_MAX || frame.captured_length > kMaxRequestBytes) continue;
    if (!IsRequestFrame(frame.bytes, frame.captured_length)) continue;
    void* const room = requests_->Reserve(frame.captured_length);
    if (room == nullptr) return;
    std::memcpy(room, frame.bytes, frame.captured_length);
    requests_->Commit();
  }
}

bool ThreadMonitor::ReadRequest(std::vector<uint8_t>* frame) {
  const auto record = requests_ == nullptr ? SpscRing::Record() : requests_->Peek();
  if (!record) return false;
  const auto* const bytes = static_cast<const uint8_t*>(record.data);
  frame->assign(bytes, bytes + record.size);
  requests_->Release();
  return true;
}

void ThreadMonitor::Count(const LiveView& view, const Frame* frames, int count, uint32_t in_port,
                          Nanos now) {
  if (view.zones->reads_headers()) {
    OnReceiveByZone(view, frames, count, in_port, now);
  } else {
    view.monitor->OnBatch(frames, count, true, in_port, view.zones->ZoneOf(in_port), now);
  }
}

// A batch belongs to one zone, so it is cut into runs of equal zones, in order.  The headers are
// parsed twice then: the price of zones by VLAN or tunnel, paid only by those who configure them.
void ThreadMonitor::OnReceiveByZone(const LiveView& view, const Frame* frames, int count,
                                    uint32_t in_port, Nanos now) {
  ParsedPacket packet;
  int begin = 0;
  uint16_t zone = 0;
  for (int i = 0; i < count; ++i) {
    ParsePacket(frames[i], view.parse, &packet);
    const uint16_t next = view.zones->ZoneOf(in_port, packet);
    if (i > begin && next != zone) {
      view.monitor->OnBatch(frames + begin, i - begin, true, in_port, zone, now);
      begin = i;
    }
    zone = next;
  }
  if (count > begin) {
    view.monitor->OnBatch(frames + begin, count - begin, true, in_port, zone, now);
  }
}

void ThreadMonitor::OnIdle(int64_t now_us) {
  const Visit visit(this, Visit::Kind::kIdle);
  next_wakeup_us_ = TRUMPET_WAKEUP_NEVER;
  if (visit.view() == nullptr) return;
  PacketMonitor* monitor = visit.view()->monitor;
  monitor->OnIdle(Stamp(now_us));
  const Nanos next = monitor->next_work_ns();
  if (next == INT64_MAX) return;
  // Rounded up: waking a moment early would find nothing to do and ask again.
  next_wakeup_us_ = (rules_.clock.MonotonicNs(next) + kNanosPerMicro - 1) / kNanosPerMicro;
}

std::optional<uint64_t> ThreadMonitor::SettledVisits() const {
  const uint64_t seen = visits();
  if ((seen & kEntersUnseen) == 0) return seen;
  if (!ProcessBarrier()) return std::nullopt;
  return visits();
}

bool WaitUntilLeft(ThreadMonitor* const* threads, size_t count) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestVisit;
  // The clock first: however long the sleep was, another look follows it.
  const auto has_time = [&] {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPause);
    return true;
  };
  const bool is_any_unseen = std::any_of(threads, threads + count, [](const ThreadMonitor* thread) {
    return (thread->visits() & ThreadMonitor::kEntersUnseen) != 0;
  });
  while (is_any_unseen && !ProcessBarrier()) {  // one for all
    if (!has_time()) return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const uint64_t seen = threads[i]->visits();
    while (!threads[i]->HasLeft(seen)) {
      if (!has_time()) return false;
    }
  }
  return true;
}

bool WaitUntilLeft(const std::vector<ThreadMonitor*>& threads) {
  return WaitUntilLeft(threads.data(), threads.size());
}

}  // namespace trumpet
