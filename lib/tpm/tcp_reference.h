// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A slow and obvious reference of connection tracking, for tests: one map entry per number of
// sequence space, nothing is ever forgotten.

#ifndef TRUMPET_LIB_TPM_TCP_REFERENCE_H
#define TRUMPET_LIB_TPM_TCP_REFERENCE_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lib/tpm/tcp_test_kit.h"

namespace trumpet::testing {

class TcpReference {
 public:
  TcpReference(Nanos flow_timeout, Nanos burst_gap)
      : flow_timeout_(flow_timeout), burst_gap_(burst_gap) {}

  Answer See(const FlowKey& flow, const Shot& shot, Nanos now) {
    const uint64_t owner = next_owner_++;
    Answer answer;
    const auto before = last_of_flow_.find(flow);
    answer.facts.is_burst = before != last_of_flow_.end() && now - before->second <= burst_gap_;
    last_of_flow_[flow] = now;
    if (flow.protocol != kProtocolTcp) return answer;

    const FlowKey name = std::min(flow, Reversed(flow), Less());
    auto found = connections_.find(name);
    if (found != connections_.end() && now - found->second.last > flow_timeout_) {
      connections_.erase(found);
      found = connections_.end();
    }
    if (!shot.tcp.is_present) {
      if (found != connections_.end()) found->second.last = now;
      return answer;
    }
    const bool opens = Has(shot, kTcpSyn) && !Has(shot, kTcpAck);
    if (found != connections_.end() && opens && found->second.last_syn != shot.tcp.seq) {
      connections_.erase(found);
    }
    Connection& connection = connections_[name];
    connection.last = now;
    if (opens) connection.last_syn = shot.tcp.seq;
    Direction& own = connection.directions[flow];
    Direction& peer = connection.directions[Reversed(flow)];
    Sent(own, peer, shot, now, owner, &answer);
    Received(own, peer, shot, now, &answer);
    for (Direction* each : {&own, &peer}) {
      const int64_t room = each->seq && each->ack ? *each->seq - *each->ack : 0;
      each->dup = std::min(each->dup, std::max<int64_t>(room, 0));
    }
    Tell(own, &answer.facts);
    return answer;
  }

 private:
  struct Less {
    bool operator()(const FlowKey& a, const FlowKey& b) const {
      return std::memcmp(&a, &b, sizeof a) < 0;
    }
  };
  struct Number {
    bool was_burst = false;
    int times = 0;
  };
  struct Segment {
    int64_t start = 0, end = 0;
    Nanos time = 0;
    uint64_t owner = 0;
  };
  struct Direction {
    std::optional<int64_t> seq, ack;
    int64_t dup = 0;
    std::unordered_map<int64_t, Number> numbers;
    std::vector<Segment> segments;
    std::optional<uint32_t> last_ack;
    std::optional<uint16_t> last_window, mss;
    std::optional<uint8_t> shift;
  };
  struct Connection {
    Nanos last = 0;
    std::optional<uint32_t> last_syn;
    std::map<FlowKey, Direction, Less> directions;
  };

  static bool Has(const Shot& shot, uint16_t flag) { return (shot.tcp.flags & flag) != 0; }

  static int64_t Continue(const Direction& direction, uint32_t number) {
    if (!direction.seq && !direction.ack) return number;
    const int64_t near = direction.seq ? *direction.seq : *direction.ack;
    const int64_t wrap = int64_t{1} << 32;
    int64_t best = (near & ~(wrap - 1)) - 2 * wrap + number;
    while (best + wrap / 2 <= near) best += wrap;  // now within half a turn, below on a tie
    return best - near > wrap / 2 - 1 ? best - wrap : best;
  }

  void Sent(Direction& own, const Direction& peer, const Shot& shot, Nanos now, uint64_t owner,
            Answer* answer) {
    const int64_t syn = Has(shot, kTcpSyn);
    const int64_t space = shot.tcp.payload_bytes + syn + Has(shot, kTcpFin);
    if (space == 0) return;
    const int64_t start = Continue(own, shot.tcp.seq);
    if (shot.tcp.payload_bytes == 1 && (shot.tcp.flags & (kTcpSyn | kTcpFin | kTcpRst)) == 0) {
      if (peer.last_window == uint16_t{0}) return;
      if (own.seq && start == *own.seq - 1 && own.ack && *own.ack >= *own.seq) return;
    }
    const int64_t first_byte = start + syn;
    if (shot.tcp.payload_bytes != 0 && own.seq && first_byte < *own.seq) {
      answer->facts.is_lost = true;
      const auto seen = own.numbers.find(first_byte);
      answer->facts.lost_in_burst = seen != own.numbers.end() && seen->second.was_burst;
    }
    for (int64_t number = start; number < start + space; number++) {
      Number& entry = own.numbers[number];
      if (entry.times++ == 0) entry.was_burst = answer->facts.is_burst;
    }
    own.segments.push_back({start, start + space, now, owner});
    own.seq = own.seq ? std::max(*own.seq, start + space) : start + space;
  }

  void Received(Direction& own, Direction& peer, const Shot& shot, Nanos now, Answer* answer) {
    const TcpSegment& tcp = shot.tcp;
    if (Has(shot, kTcpSyn)) {
      own.shift.reset();
      if (tcp.has_window_shift) own.shift = tcp.window_shift;
      if (tcp.has_mss) own.mss = tcp.mss;
    }
    if (Has(shot, kTcpRst)) return;
    if (Has(shot, kTcpAck)) {
      const int64_t ack = Continue(peer, tcp.ack);
      if (!peer.ack || ack > *peer.ack) {
        answer->sample = Sample(peer, ack, now);
        if (peer.ack) peer.dup = std::max<int64_t>(0, peer.dup - (ack - *peer.ack));
        peer.ack = ack;
      } else if (tcp.payload_bytes == 0 && !Has(shot, kTcpSyn) && !Has(shot, kTcpFin) &&
                 own.last_ack == tcp.ack && own.last_window == tcp.window && peer.seq &&
                 *peer.seq > *peer.ack) {
        peer.dup += own.mss.value_or(1460);
      }
      own.last_ack = tcp.ack;
    }
    own.last_window = tcp.window;
    const bool is_scaled = !Has(shot, kTcpSyn) && own.shift && peer.shift;
    answer->facts.rwnd = tcp.window;
    if (is_scaled) answer->facts.rwnd *= 1 << std::min<int>(*own.shift, 14);
    answer->facts.rwnd_unscaled = !is_scaled;
    answer->facts.defined |= kHasRwnd;
  }

  static std::optional<RttSample> Sample(const Direction& data, int64_t ack, Nanos now) {
    const Segment* newest = nullptr;
    for (const Segment& segment : data.segments) {
      if (segment.end > ack || (data.ack && segment.end <= *data.ack)) continue;
      newest = &segment;
      for (int64_t number = segment.start; number < segment.end; number++) {
        if (data.numbers.at(number).times > 1) return std::nullopt;
      }
    }
    if (newest == nullptr) return std::nullopt;
    return RttSample{now - newest->time, newest->owner};
  }

  static void Tell(const Direction& own, PacketFacts* facts) {
    facts->dup = own.dup;
    facts->defined |= kHasDup;
    facts->ack = own.ack.value_or(0);
    facts->seq = own.seq.value_or(0);
    if (own.ack) facts->defined |= kHasAck;
    if (own.seq) facts->defined |= kHasSeq;
  }

  Nanos flow_timeout_;
  Nanos burst_gap_;
  std::map<FlowKey, Nanos, Less> last_of_flow_;
  std::map<FlowKey, Connection, Less> connections_;
  uint64_t next_owner_ = 0;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_TCP_REFERENCE_H
