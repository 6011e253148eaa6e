// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowStateMap: ack, seq and dup of every TCP flow of a host, as they are now and as they were when
// the current interval of each interval length began.
//
// When the two directions of a connection are on different packet threads, both threads report it:
// seq is taken from the later word on the direction's own packets, ack and dup from the later word
// on those that answer (docs/adr/0009).
//
// A state lives as long after its flow's last packet as the host says that tells it.
//
// Updates are queued until ApplyUntil() reaches the end of their epoch.  The state at the start of
// an interval is kept aside by the first update inside the interval, so that a flow costs one copy
// per interval length, not a history.  A bucket's 5-tuple has no zone: of two zones the one with
// the later packet counts.
//
// Threads: one.  Memory: flows that are dead at every instant still asked for are dropped, and of
// more than kMaxFlows those that come last are refused.

#ifndef TRUMPET_LIB_VERDICT_FLOW_STATE_MAP_H
#define TRUMPET_LIB_VERDICT_FLOW_STATE_MAP_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/flow_state.h"

namespace trumpet {

// What a predicate may ask of a flow; absent: unknown, dead or (at_start) restarted since.
struct FlowInstants {
  std::optional<FlowState> at_end;
  std::optional<FlowState> at_start;

  bool is_doubtful() const {
    return (at_end && (at_end->doubts_seq || at_end->doubts_ack)) ||
           (at_start && (at_start->doubts_seq || at_start->doubts_ack));
  }
};

class FlowStateMap {
 public:
  FlowStateMap(Nanos flow_timeout_ns, uint64_t hash_seed);

  // The interval lengths whose starts are asked for.  Lengths already known keep what they hold.
  void SetLengths(const std::vector<Nanos>& lengths);

  // `flow_timeout_ns` of the host; 0: that which the map was made with.
  void Queue(const FlowStateUpdate& update, Nanos flow_timeout_ns = 0);
  size_t queued_count() const { return queued_count_; }

  // Knows of no flow any more: what has changed meanwhile nobody told.
  void Clear();

  // Takes over all updates of epochs that end at or before `instant`.
  void ApplyUntil(Nanos instant);

  // The flow of a 5-tuple event's bucket at the ends of [start, end).  ApplyUntil(end) must have
  // been called, and not yet with a later instant.  Starts are known only for lengths that were
  // set.
  FlowInstants Read(std::string_view bucket_key, Nanos start, Nanos end) const;

  // Drops flows of which nothing alive can be read at `oldest_asked` or later.  Cheap when called
  // often: looks at all flows only when they have doubled or a flow timeout has passed.
  void Expire(Nanos oldest_asked);

  size_t count() const { return count_; }

  // A cap below kMaxFlows, from now on; flows that are there stay.
  void LimitFlows(size_t count) { limit_ = count; }

  static constexpr size_t kMaxFlows = 1u << 20;

  // Whether a flow was refused in an epoch that ended after `instant`.
  bool HasRefusedAfter(Nanos instant) const { return last_refused_ > instant; }

  // Besides sizeof(StartState) per interval length asked for.
  static const size_t kBytesPerFlow;
  static const size_t kBytesPerQueued;

 private:
  struct Flow {
    FlowKey key;  // zone 0
    FlowState now;
    Nanos timeout_ns = 0;  // of `now`
    uint64_t hash = 0;
    uint32_t next = UINT32_MAX;  // in the hash chain or in the free list
    uint16_t zone = 0;           // of `now`
    bool in_use = false;
  };
  // The state of a flow at the instant `begin`, the start of an interval in which it changed.
  struct StartState {
    Nanos begin = INT64_MIN;
    bool is_known = false;
    FlowState state;
    Nanos timeout_ns = 0;
  };
  struct Queued {
    FlowStateUpdate update;
    Nanos timeout_ns;
  };

  uint64_t HashOf(const FlowKey& key) const;
  uint32_t Find(const FlowKey& key, uint64_t hash) const;
  uint32_t Add(const FlowKey& key, uint64_t hash);
  void Remove(uint32_t index);
  void GrowChains();
  void Apply(const Queued& queued);
  size_t LengthIndex(Nanos length) const;

  Nanos flow_timeout_ns_;
  uint64_t hash_seed_;
  std::vector<Nanos> lengths_;
  std::map<Nanos, std::vector<Queued>> queue_;  // by epoch end
  std::vector<uint32_t> chains_;
  std::vector<Flow> flows_;
  std::vector<StartState> starts_;  // lengths_.size() per flow
  uint32_t free_ = UINT32_MAX;
  size_t count_ = 0;
  size_t limit_ = kMaxFlows;
  size_t queued_count_ = 0;
  size_t next_expire_count_ = 1024;
  Nanos last_expire_ = INT64_MIN;
  Nanos last_refused_ = INT64_MIN;  // end of the epoch
};

inline constexpr size_t FlowStateMap::kBytesPerFlow = sizeof(Flow) + 2 * sizeof(uint32_t);
inline constexpr size_t FlowStateMap::kBytesPerQueued = sizeof(Queued);

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_FLOW_STATE_MAP_H
