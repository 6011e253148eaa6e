// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BgpSessions: stored packets of BGP -> sessions, one for each pair of peers, with their
// connections one behind the other; session_text.h says what they mean.
//
//   BgpSessions sessions;
//   for (const StoredTrace& trace : traces) sessions.Take(trace);  // in the order of their times
//   sessions.Finish();
//
// Threads: one.  Memory: kMaxSessions, each with its last kMaxConnections connections; packets of
// what is one session too many are counted.

#ifndef TRUMPET_CONTROLLER_TRACES_BGP_SESSIONS_H
#define TRUMPET_CONTROLLER_TRACES_BGP_SESSIONS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <utility>

#include "controller/store/trace_store.h"
#include "controller/traces/bgp_connection.h"
#include "lib/base/units.h"
#include "lib/packet/flow_key.h"

namespace trumpet {

struct BgpPeers {
  std::array<IpBytes, 2> addresses{};  // the lower one first
  uint8_t ip_family = 0;
  bool operator<(const BgpPeers& other) const {
    return std::pair(ip_family, addresses) < std::pair(other.ip_family, other.addresses);
  }
};

struct BgpSecond {
  uint64_t updates = 0;
  uint64_t announced = 0;
  uint64_t withdrawn = 0;
};

// What became of connections, all of them.
struct BgpOutcomes {
  uint64_t connections = 0;
  uint64_t established = 0;
  uint64_t ended = 0;     // of those that were established
  uint64_t collided = 0;  // both had opened one, and the other stayed
};

class BgpSession {
 public:
  static constexpr size_t kMaxConnections = 8;
  static constexpr size_t kMaxSeconds = 3600;  // with UPDATEs, the last ones

  // `ports`: of each side.
  void Take(const StoredTrace& trace, int side, const std::array<uint16_t, 2>& ports,
            const StoredSegment& segment);
  void Finish();

  // The last ones, the oldest first.
  const std::list<std::pair<std::array<uint16_t, 2>, BgpConnection>>& connections() const {
    return connections_;
  }
  BgpOutcomes outcomes() const;
  BgpSideSums sums(int side) const;                                         // of all connections
  const std::map<int64_t, BgpSecond>& seconds() const { return seconds_; }  // by Unix time
  // Packets of the side that were lost, by the switch behind which.
  const std::map<uint16_t, uint64_t>& lost(int side) const {
    return lost_[static_cast<size_t>(side)];
  }
  Nanos first() const { return first_; }
  Nanos last() const { return last_; }

 private:
  BgpConnection& Find(int side, const std::array<uint16_t, 2>& ports, const StoredSegment& segment);
  void ForgetOne();
  void Note(Nanos time, const BgpUpdate& update);

  std::list<std::pair<std::array<uint16_t, 2>, BgpConnection>> connections_;
  // Of those that are kept no more.
  BgpOutcomes old_outcomes_;
  std::array<BgpSideSums, 2> old_sums_;
  uint64_t begun_ = 0;  // connections
  std::map<int64_t, BgpSecond> seconds_;
  std::array<std::map<uint16_t, uint64_t>, 2> lost_;
  Nanos first_ = 0;
  Nanos last_ = 0;
};

class BgpSessions {
 public:
  static constexpr size_t kMaxSessions = 1000;

  // Those that are none of BGP are left.
  void Take(const StoredTrace& trace);
  void Finish();

  const std::map<BgpPeers, BgpSession>& sessions() const { return sessions_; }
  uint64_t left_out() const { return left_out_; }  // packets
  Nanos last() const { return last_; }             // packet of any session

 private:
  std::map<BgpPeers, BgpSession> sessions_;
  uint64_t left_out_ = 0;
  Nanos last_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_BGP_SESSIONS_H
