// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The side of the agent that other threads call.  What it does by itself is in agent_round.cc.

#include "vswitchd-plugin/agent.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "vswitchd-plugin/monitor_memory.h"

namespace trumpet {
namespace {

constexpr size_t kMaxOffTimes = 256;
constexpr unsigned long kTimerSlackNs = 10'000;  // the usual 50 us would show in the reports' delay

// Threads inherit the signal mask: the switch's signals are for its own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Agent::Agent(AgentParts parts)
    : parts_(std::move(parts)),
      slices_(parts_.ports,
              [this] {
                UpdateAttached();
                Wake();
              }),
      measurements_(parts_.host, parts_.ports, parts_.carriers, parts_.hash_seed,
                    [this] {
                      UpdateAttached();
                      Wake();
                    }),
      network_(parts_.hash_seed),
      desk_(parts_.reports, &network_, parts_.hash_seed),
      link_({parts_.host, &rules_.clock, parts_.read_clocks, &network_,
             [this](std::shared_ptr<const HostPlace> place) { SetPlace(std::move(place)); },
             &slices_, &measurements_, parts_.hash_seed, parts_.database, parts_.base}) {}

Agent::~Agent() { Stop(); }

bool Agent::Configure(const Settings& settings) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.settings = settings;
  }
  slices_.Configure(settings.slice_mark, ParseOptionsOf(settings));
  if (parts_.has_own_thread && !thread_.joinable() && !stops_) {
    const SignalsBlocked blocked;
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error& error) {
      parts_.host->Error(std::string("starting the agent thread: ") + error.what() +
                         "; switching goes on without the packet monitor");
      return false;
    }
  }
  Wake();
  return true;
}

bool Agent::SetEnabled(bool enabled) {
  if (!Switch(enabled)) return true;
  Wake();
  if (enabled) return true;
  const std::lock_guard<std::mutex> lock(mutex_);  // keeps the slots in place
  return std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) {
    ThreadMonitor* const thread = &slot->thread();
    return WaitUntilLeft(&thread, 1);
  });
}

// False: nothing was to be done.
bool Agent::Switch(bool enabled) {
  const std::lock_guard<std::mutex> switching(switch_mutex_);
  const Nanos now = parts_.read_clocks().monotonic_ns;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wishes_.enabled == enabled) return false;
    if (!enabled) {
      wishes_.off_since = now;
    } else if (wishes_.off_since) {
      auto& times = wishes_.off_times;
      if (times.size() == kMaxOffTimes) times.resize(1), times[0].second = now;
      times.emplace_back(*wishes_.off_since, now);
      wishes_.off_since.reset();
    }
    if (enabled) wishes_.watchdog.reset();
    wishes_.enabled = enabled;  // from here on nothing takes memory
  }
  rules_.is_open.store(enabled, std::memory_order_seq_cst);
  is_enabled_.store(enabled);
  slices_.Allow(enabled, now);
  UpdateAttached();
  return true;
}

void Agent::UpdateAttached() {
  const std::lock_guard<std::mutex> lock(attach_mutex_);
  const bool wanted = is_enabled_.load() &&
                      (wants_hooks_.load() || slices_.is_any_on() || measurements_.is_any_on());
  if (wanted == attached_) return;
  attached_ = wanted;
  parts_.host->ops().set_attached(wanted);
  if (wanted) parts_.host->ops().wake_main_thread();
}

void Agent::Wake() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    poked_ = true;
  }
  poke_.notify_one();
  link_.Wake();
}

void Agent::SetPlace(std::shared_ptr<const HostPlace> place) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Told again, after the session came back, say: packet threads need no new program for that.
    const bool is_known = place != nullptr && wishes_.place != nullptr && *place == *wishes_.place;
    if (!is_known) wishes_.place = std::move(place);
  }
  Wake();
}

ThreadMonitor* Agent::AddThread(const trumpet_thread_info& info) {
  std::unique_ptr<MonitorSlot> slot;
  ThreadMonitor* thread = nullptr;
  try {
    slot = std::make_unique<MonitorSlot>(info, rules_, parts_.read_clocks().monotonic_ns);
    thread = &slot->thread();
    slices_.AddThread(thread);
    measurements_.AddThread(thread);
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.come.push_back(std::move(slot));
  } catch (...) {  // there is no memory: the slot goes, and nobody may keep its thread
    ++unknown_threads_;
    if (thread != nullptr) {
      slices_.RemoveThread(thread);
      measurements_.RemoveThread(thread);
    }
    throw;
  }
  Wake();
  return thread;
}

void Agent::RemoveThread(ThreadMonitor* thread) {
  slices_.RemoveThread(thread);
  measurements_.RemoveThread(thread);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto* slots : {&slots_, &wishes_.come}) {
      for (auto& slot : *slots) {
        if (&slot->thread() == thread) slot->MarkEnded();
      }
    }
  }
  Wake();
}

void Agent::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
  }
  poke_.notify_one();
  link_.Wake();
  if (thread_.joinable()) thread_.join();
}

void Agent::Run() {
  pthread_setname_np(pthread_self(), "trumpet-agent");
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs, 0, 0, 0);
  Nanos next = 0;
  while (true) {
    try {
      if (!WaitUntil(next)) break;
      next = StepOrGiveUp();
    } catch (const std::exception& error) {
      link_.GiveUp();
      GiveUp(error.what());
      next = INT64_MAX;
    }
  }
  try {
    link_.Stop();
  } catch (const std::exception&) {
    link_.GiveUp();  // peers hear of the end from the kernel
  }
}

// Memory may run out in any of the libraries below.  The switch must go on, so the monitor gives up
// instead.
Nanos Agent::StepOrGiveUp() noexcept {
  try {
    return Step();
  } catch (const std::exception& error) {
    link_.Drop();
    GiveUp(error.what());
    return INT64_MAX;
  }
}

// False: the agent is to stop.
bool Agent::WaitUntil(Nanos monotonic_ns) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!poked_ && !stops_) {
    lock.unlock();
    const bool has_waited = link_.WaitUntil(monotonic_ns);
    lock.lock();
    poked_ |= has_waited;
  }
  const auto is_woken = [this] { return poked_ || stops_; };
  if (monotonic_ns == INT64_MAX) {
    poke_.wait(lock, is_woken);
  } else {
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(monotonic_ns)};
    poke_.wait_until(lock, until, is_woken);
  }
  poked_ = false;
  return !stops_;
}

void Agent::GiveUp(const char* why) noexcept {
  rules_.is_open.store(false, std::memory_order_seq_cst);
  is_enabled_.store(false);
  wants_hooks_.store(false);
  slices_.Allow(false, INT64_MAX);
  UpdateAttached();
  for (auto& slot : slots_) slot->Hide();
  desk_.Drop();
  mode_ = Mode::kOff;
  program_ = nullptr;
  parts_.events->MarkWithdrawn();
  DropMonitors();  // theirs may be the memory that is missing
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.enabled = false;
    wishes_.off_since.reset();
    kept_.is_running = false;
  }
  // Without building a text: there may be no memory for one.
  parts_.host->ops().log(TRUMPET_LOG_ERROR, why);
  parts_.host->ops().log(TRUMPET_LOG_ERROR,
                         "the packet monitor stops for this reason; switching goes on; "
                         "`ovs-appctl trumpet/enable` tries again");
}

AgentStatus Agent::Snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  AgentStatus status = kept_;
  status.is_enabled = wishes_.enabled;
  status.watchdog = wishes_.watchdog;
  status.settings = wishes_.settings;
  if (!status.sizes_are_fixed) status.in_force = wishes_.settings;
  status.ended_threads = ended_threads_;
  status.ended = ended_;
  for (const auto& slot : slots_) {
    if (slot->has_ended()) {
      status.ended_threads++;
      AddEnded(slot->counters(), &status.ended);
      continue;
    }
    ThreadStatus thread;
    thread.core_id = slot->thread().core_id();
    thread.numa_id = slot->thread().numa_id();
    thread.is_pmd = slot->thread().is_pmd();
    thread.is_attached = slot->thread().is_shown();
    thread.counters = slot->counters();
    if (const PacketMonitor* monitor = slot->monitor()) {
      thread.has_monitor = true;
      thread.memory = monitor->memory();
      thread.ring_used_bytes = monitor->ring_used_bytes();
      const uint64_t settled = monitor->messages_settled();
      thread.mailbox_messages = monitor->messages_sent_here() - settled;
      thread.generation = monitor->running_generation();
      thread.steps = monitor->steps();
    }
    parts_.host->ops().thread_load(slot->thread().switch_thread(), &thread.load);
    status.threads.push_back(thread);
  }
  status.clock_ahead_ns = rules_.clock.ahead_ns();
  status.clock = rules_.clock.counters();
  return status;
}

}  // namespace trumpet
