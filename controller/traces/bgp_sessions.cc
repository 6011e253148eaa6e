// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/bgp_sessions.h"

#include <algorithm>
#include <iterator>

#include "controller/analyzer/trace_judge.h"

namespace trumpet {
namespace {

void AddOutcome(const BgpConnection& connection, BgpOutcomes* outcomes) {
  ++outcomes->connections;
  outcomes->collided += connection.has_collided() ? 1 : 0;
  if (connection.established() == 0) return;
  ++outcomes->established;
  const bool has_ended = connection.close() != BgpClose::kNone && !connection.has_collided();
  outcomes->ended += has_ended ? 1 : 0;
}

}  // namespace

BgpConnection& BgpSession::Find(int side, const std::array<uint16_t, 2>& ports,
                                const StoredSegment& segment) {
  const auto found = std::find_if(connections_.rbegin(), connections_.rend(),
                                  [&](const auto& one) { return one.first == ports; });
  if (found != connections_.rend() && !found->second.IsBehind(side, segment)) return found->second;
  if (connections_.size() == kMaxConnections) ForgetOne();
  connections_.emplace_back(ports, BgpConnection(++begun_));
  return connections_.back().second;
}

// Attempts that came to nothing go first: behind a session that has ended there may be very many.
// What is open is not forgotten while anything else is there.
void BgpSession::ForgetOne() {
  const auto is_closed = [](const auto& one) { return one.second.close() != BgpClose::kNone; };
  auto oldest = std::find_if(connections_.begin(), connections_.end(), [&](const auto& one) {
    return is_closed(one) && one.second.established() == 0;
  });
  if (oldest == connections_.end()) {
    oldest = std::find_if(connections_.begin(), connections_.end(), is_closed);
  }
  if (oldest == connections_.end()) oldest = connections_.begin();
  BgpConnection& connection = oldest->second;
  connection.Finish([this](Nanos time, const BgpUpdate& update) { Note(time, update); });
  AddOutcome(connection, &old_outcomes_);
  for (const int side : {0, 1}) {
    old_sums_[static_cast<size_t>(side)].Add(connection.side(side).sums);
  }
  connections_.erase(oldest);
}

void BgpSession::Take(const StoredTrace& trace, int side, const std::array<uint16_t, 2>& ports,
                      const StoredSegment& segment) {
  if (first_ == 0) first_ = trace.start;
  last_ = std::max(last_, trace.start);
  const bool is_lost = trace.fault == static_cast<uint8_t>(TraceFault::kDropped);
  if (is_lost) ++lost_[static_cast<size_t>(side)][trace.last_switch];
  Find(side, ports, segment)
      .Take(trace.start, side, segment, is_lost,
            [this](Nanos time, const BgpUpdate& update) { Note(time, update); });
}

void BgpSession::Finish() {
  for (auto& [ports, connection] : connections_) {
    connection.Finish([this](Nanos time, const BgpUpdate& update) { Note(time, update); });
  }
}

void BgpSession::Note(Nanos time, const BgpUpdate& update) {
  BgpSecond& second = seconds_[CellOf(time, kNanosPerSecond)];
  ++second.updates;
  second.announced += update.announced;
  second.withdrawn += update.withdrawn;
  if (seconds_.size() > kMaxSeconds) seconds_.erase(seconds_.begin());
}

BgpOutcomes BgpSession::outcomes() const {
  BgpOutcomes outcomes = old_outcomes_;
  for (const auto& [ports, connection] : connections_) AddOutcome(connection, &outcomes);
  return outcomes;
}

BgpSideSums BgpSession::sums(int side) const {
  BgpSideSums sums = old_sums_[static_cast<size_t>(side)];
  for (const auto& [ports, connection] : connections_) sums.Add(connection.side(side).sums);
  return sums;
}

void BgpSessions::Take(const StoredTrace& trace) {
  const FlowKey& flow = trace.flow;
  const bool is_bgp = flow.ip_family != 0 && flow.protocol == kProtocolTcp &&
                      (flow.src_port == kBgpPort || flow.dst_port == kBgpPort);
  const auto segment = is_bgp ? ReadStoredSegment(trace) : std::nullopt;
  if (!segment) return;
  last_ = std::max(last_, trace.start);
  const int side = flow.src_ip < flow.dst_ip ? 0 : 1;
  BgpPeers peers{{flow.src_ip, flow.dst_ip}, flow.ip_family};
  std::array<uint16_t, 2> ports{flow.src_port, flow.dst_port};
  if (side == 1) {
    std::swap(peers.addresses[0], peers.addresses[1]);
    std::swap(ports[0], ports[1]);
  }
  const auto found = sessions_.find(peers);
  if (found == sessions_.end() && sessions_.size() == kMaxSessions) {
    ++left_out_;
    return;
  }
  sessions_[peers].Take(trace, side, ports, *segment);
}

void BgpSessions::Finish() {
  for (auto& [peers, session] : sessions_) session.Finish();
}

}  // namespace trumpet
