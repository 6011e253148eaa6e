// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ThresholdShares: which host tests which share of an event's threshold, while hosts come and go.
//
// At every instant, and whatever orders are still under way, the (share - 1) of all hosts add up to
// less than what the event needs (lib/verdict/threshold_split.h).  So a share is lowered at once,
// and raised only where acknowledgements of others have left room, and from the instant on at which
// those count by less.  A newcomer begins with share 1: it reports all.  Shares follow the number
// of hosts in steps of a quarter, so that hosts which come one by one do not each change all
// others.
//
// What crosses the wire: each order as Trigger.local_predicate, with the instant `from`, under a
// rising generation; the host's answer as the instant from which it counts (EventFeed::SetShare).
//
// Threads: one.  Memory: some 100 bytes per host.

#ifndef TRUMPET_CONTROLLER_TEM_THRESHOLD_SHARES_H
#define TRUMPET_CONTROLLER_TEM_THRESHOLD_SHARES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "lib/base/units.h"
#include "lib/verdict/event_feed.h"

namespace trumpet {

struct ShareOrder {
  uint32_t event_id = 0;
  uint32_t host = 0;
  ThresholdShare share;
};

class ThresholdShares {
 public:
  // Orders to be sent are appended to `orders` by the calls below.
  // Generations begin above `last_generation`.  On more than 2 * `worthwhile_hosts` hosts everybody
  // has share 1, until there are no more than `worthwhile_hosts`: questions would cost more than
  // they save.
  ThresholdShares(uint32_t event_id, Int128 least, uint64_t last_generation = 0,
                  size_t worthwhile_hosts = SIZE_MAX / 2)
      : event_id_(event_id),
        least_(least),
        worthwhile_hosts_(worthwhile_hosts),
        last_generation_(last_generation) {}

  // The host is to take part.  If it does already, its last order is repeated: who carries orders
  // may have lost it with the event's life before.
  void Add(uint32_t host, std::vector<ShareOrder>* orders);
  // The host has the order of that generation: in intervals that start at `from` or later, no
  // larger share counts.
  void Applied(uint32_t host, uint64_t generation, Nanos from, std::vector<ShareOrder>* orders);
  // Its intervals that start at `until` or later are not asked for.
  void Remove(uint32_t host, Nanos until, std::vector<ShareOrder>* orders);

  // No share of the host was larger in any interval since the one that Forget() was told.
  Int128 Largest(uint32_t host) const;
  // Intervals that start before `start` are decided.
  void Forget(Nanos start);

  size_t count() const { return hosts_.size(); }
  // Are there so many hosts that each reports all?
  bool reports_all() const { return reports_all_; }

 private:
  struct Host {
    std::vector<ThresholdShare> applied;  // by generation; `from` is the host's
    std::vector<ThresholdShare> sent;     // not acknowledged, by generation
    Nanos last_from = INT64_MIN;          // of the last order
    Int128 InForce() const;               // the largest that counts or may come to count
    Int128 Wanted() const;                // what it was told last
  };

  void Rebalance(std::vector<ShareOrder>* orders);
  void Order(uint32_t host, Host* state, Int128 share, Nanos from, std::vector<ShareOrder>* orders);

  uint32_t event_id_;
  Int128 least_;
  size_t worthwhile_hosts_;
  bool reports_all_ = false;
  uint64_t last_generation_;
  Nanos raise_from_ = INT64_MIN;  // all that was lowered or left counts from here on
  std::map<uint32_t, Host> hosts_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_THRESHOLD_SHARES_H
