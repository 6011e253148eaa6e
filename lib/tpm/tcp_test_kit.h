// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of connection tracking share: segments in one line, and a tap that shows them to a
// table.

#ifndef TRUMPET_LIB_TPM_TCP_TEST_KIT_H
#define TRUMPET_LIB_TPM_TCP_TEST_KIT_H

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/tpm/connection_table.h"

namespace trumpet::testing {

constexpr Nanos kUs = kNanosPerMicro;
constexpr Nanos kMs = kNanosPerMilli;
constexpr Nanos kSecond = kNanosPerSecond;

// A segment, built up by chained calls: Data(1000, 100).Ack(5).
struct Shot {
  TcpSegment tcp;
  uint8_t protocol = kProtocolTcp;

  Shot& Flags(uint16_t flags) {
    tcp.flags = static_cast<uint16_t>(tcp.flags | flags);
    return *this;
  }
  Shot& Ack(uint32_t ack) {
    tcp.ack = ack;
    return Flags(kTcpAck);
  }
  Shot& Payload(uint32_t bytes) {
    tcp.payload_bytes = bytes;
    return *this;
  }
  Shot& Window(uint16_t window) {
    tcp.window = window;
    return *this;
  }
  Shot& Mss(uint16_t mss) {
    tcp.has_mss = true;
    tcp.mss = mss;
    return *this;
  }
  Shot& Shift(uint8_t shift) {
    tcp.has_window_shift = true;
    tcp.window_shift = shift;
    return *this;
  }
};

inline Shot Data(uint32_t seq, uint32_t bytes) {
  Shot shot;
  shot.tcp.is_present = true;
  shot.tcp.window = 1000;
  shot.tcp.seq = seq;
  shot.tcp.payload_bytes = bytes;
  return shot;
}
inline Shot Syn(uint32_t seq) { return Data(seq, 0).Flags(kTcpSyn); }
inline Shot SynAck(uint32_t seq, uint32_t ack) { return Syn(seq).Ack(ack); }
inline Shot Fin(uint32_t seq) { return Data(seq, 0).Flags(kTcpFin); }
inline Shot PureAck(uint32_t ack) { return Data(1, 0).Ack(ack); }
inline Shot Udp() {
  Shot shot;
  shot.protocol = kProtocolUdp;
  return shot;
}

// The 5-tuple of connection `number`, from the client's side; its lower address is the client's.
inline FlowKey ClientFlow(uint32_t number, uint8_t protocol = kProtocolTcp) {
  FlowKey key;
  key.ip_family = 4;
  key.protocol = protocol;
  key.src_ip = {10, 0, static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
  key.dst_ip = {10, 1, 0, 1};
  key.src_port = static_cast<uint16_t>(1024 + (number >> 16));
  key.dst_port = 80;
  return key;
}

inline ParsedPacket PacketOf(const FlowKey& flow, const Shot& shot) {
  ParsedPacket packet;
  packet.innermost.ip_family = flow.ip_family;
  packet.innermost.protocol = flow.protocol;
  packet.tcp = shot.tcp;
  packet.volume = shot.tcp.payload_bytes;
  return packet;
}

struct Answer {
  PacketFacts facts;
  std::optional<RttSample> sample;

  std::optional<int64_t> ack() const { return Value(kHasAck, facts.ack); }
  std::optional<int64_t> seq() const { return Value(kHasSeq, facts.seq); }
  std::optional<int64_t> dup() const { return Value(kHasDup, facts.dup); }
  std::optional<int64_t> rwnd() const { return Value(kHasRwnd, facts.rwnd); }

 private:
  std::optional<int64_t> Value(uint8_t bit, int64_t value) const {
    return (facts.defined & bit) != 0 ? std::optional<int64_t>(value) : std::nullopt;
  }
};

// Shows packets to a table.  The owner of the n-th packet is n, from 0.
class Tap {
 public:
  explicit Tap(const ConnectionOptions& options = {}) : table_(options) {}

  Answer See(const FlowKey& flow, const Shot& shot, Nanos now, bool tracks_tcp = true) {
    const ConnectionRef connection = table_.Find(flow, table_.HashOf(flow), kNoConnection, now);
    Answer answer;
    RttSample sample;
    if (table_.Observe(connection, PacketOf(flow, shot), tracks_tcp, now, next_owner_++,
                       &answer.facts, &sample)) {
      answer.sample = sample;
    }
    now_ = now;
    return answer;
  }

  // One connection, a millisecond from packet to packet.
  Answer FromClient(const Shot& shot, Nanos later = kMs) {
    return See(ClientFlow(1, shot.protocol), shot, now_ + later);
  }
  Answer FromServer(const Shot& shot, Nanos later = kMs) {
    return See(Reversed(ClientFlow(1, shot.protocol)), shot, now_ + later);
  }

  std::vector<FlowStateUpdate> ReadChanged() {
    std::vector<FlowStateUpdate> updates;
    FlowStateUpdate update;
    while (table_.has_unread_changes()) {
      if (table_.NextChanged(&update)) updates.push_back(update);
    }
    return updates;
  }

  ConnectionTable& table() { return table_; }
  const ConnectionCounters& counters() const { return table_.counters(); }
  Nanos now() const { return now_; }

 private:
  ConnectionTable table_;
  Nanos now_ = kSecond;
  uint64_t next_owner_ = 0;
};

// Of a connection whose handshake it has seen.
class HandshakenTap : public Tap {
 public:
  HandshakenTap() {
    FromClient(Syn(100).Mss(1000).Shift(2));
    FromServer(SynAck(500, 101).Mss(1200).Shift(3));
    FromClient(PureAck(501));
  }
};

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_TCP_TEST_KIT_H
