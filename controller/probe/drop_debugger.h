// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DropDebugger: sends what a DropSearch wants to know of, round by round, and keeps what it found
// (docs/probes.md).  A round is a probe, and keeps to the rate of all probes.
//
// Threads: that of the libevent loop; nothing is called back.  Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_DEBUGGER_H
#define TRUMPET_CONTROLLER_PROBE_DROP_DEBUGGER_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "controller/probe/drop_book.h"
#include "controller/probe/drop_search.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

struct DropDebuggerCounters {
  uint64_t searches = 0;
  uint64_t refused = 0;
  uint64_t rounds = 0;
  uint64_t stopped = 0;
};

class DropDebugger final : public DropBook {
 public:
  static constexpr size_t kMaxRunning = 8;
  static constexpr size_t kKept = 64;
  static constexpr size_t kTracesShown = 3;  // of a kind, lost and passed
  static constexpr Nanos kTick = 50 * kNanosPerMilli;

  // Whoever sends packets and knows what became of them: a Prober.
  struct Sender {
    std::function<ProbeStart(ProbeRequest request, std::vector<ProbePacket> packets,
                             const std::string& caller, const std::string& tenant)>
        start;
    std::function<const ProbeView*(uint64_t id)> find;
    std::function<void(uint64_t id)> stop;
    std::function<uint8_t()> debug_dscp;
    uint32_t rate = 100;  // packets per second that it sends at most
  };

  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    Sender sender;
    // The addresses of the host that has this one, by the topology.
    std::function<std::optional<Prefix>(const FieldValue& address)> block_of;
    uint64_t seed = 0;  // of numbers of searches, and of what is tried
    std::function<void(const char* level, const std::string& text)> log;
  };

  explicit DropDebugger(const Parts& parts);
  DropDebugger(const DropDebugger&) = delete;
  DropDebugger& operator=(const DropDebugger&) = delete;

  ProbeStart Start(const DropSearchRequest& request, const std::string& caller,
                   const std::string& tenant) override;
  bool Stop(uint64_t id) override;
  const DropSearchView* Find(uint64_t id) const override;
  std::vector<const DropSearchView*> List() const override;

  size_t running_count() const { return running_.size(); }
  const DropDebuggerCounters& counters() const { return counters_; }

 private:
  struct Kept {
    DropSearchView view;
    std::optional<DropSearch> search;  // while it runs
    std::vector<size_t> round;         // kinds of the packets under way
  };

  ProbeStart Refuse(ProbeStart::Refusal refusal, std::string why);
  DropSuspicion SuspicionOf(const DropSearchRequest& request);
  std::optional<Prefix> BlockOf(const FieldValue& address, const std::optional<Prefix>& given,
                                const std::vector<Prefix>& bounds) const;
  ProbeStart BeginRound(Kept* kept);
  void Tick();
  void TakeRound(Kept* kept, const ProbeView& probe);
  void TakeNotes(Kept* kept, const ProbeView& probe);
  void End(Kept* kept, DropSearchState state);
  void Forget();

  const Parts parts_;
  std::mt19937_64 random_;
  std::map<uint64_t, Kept> searches_;  // by id
  std::vector<uint64_t> order_;        // the oldest first
  std::vector<uint64_t> running_;
  DropDebuggerCounters counters_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_DEBUGGER_H
