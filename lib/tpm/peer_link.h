// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PeerLink: one packet thread's part in the exchange (docs/adr/0009).
//
// A TCP packet of a connection whose other side arrives elsewhere is told to the thread there,
// which takes it in as if it had received it.  A thread that meets such a connection asks what the
// other one knows.  What cannot be told, or was not yet, is marked kSplitConnection.
//
// Threads: one packet thread.  Never allocates, never waits.
// Cost: a packet of a connection that is not split compares two words of a line already read; one
// that is, writes a message of three lines.

#ifndef TRUMPET_LIB_TPM_PEER_LINK_H
#define TRUMPET_LIB_TPM_PEER_LINK_H

#include <cstdint>

#include "lib/tpm/connection_table.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/monitor_counters.h"
#include "lib/tpm/peer_exchange.h"

namespace trumpet {

class PeerLink {
 public:
  // All must outlive it.
  PeerLink(ConnectionTable* connections, EpochState* epoch, MonitorCounters* counters)
      : connections_(connections), epoch_(epoch), counters_(counters) {}
  ~PeerLink();
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;

  // Takes part from now on; `exchange` may be null and must outlive it.
  void Join(PeerExchange* exchange);

  // Also when all others have left, or none has come yet: of the connections of now they had, or
  // may get, packets.
  bool is_active() const { return exchange_ != nullptr; }

  // A packet of the direction `connection` was taken in here at `now`.
  void OnPacket(ConnectionRef connection, const FlowKey& flow, uint64_t hash,
                const TcpSegment& segment, Nanos now);

  // The next message, if it is of no later than `until`; null: none.
  const PeerMessage* Next(Nanos until) const {
    if (self_ == 0) return nullptr;
    const PeerMessage* message = exchange_->MailboxOf(self_).Peek();
    return message != nullptr && message->time <= until ? message : nullptr;
  }
  void Pop() { exchange_->MailboxOf(self_).Pop(); }

  // Takes in a message.  True, with `sample`, when it measured the round-trip time of a segment
  // received here.
  bool TakeIn(const PeerMessage& message, RttSample* sample);

  // Does not: the running program has no use for TCP.
  void Decline(const PeerMessage& message);

  // For the agent: see PacketMonitor.
  void Settle() {
    if (self_ != 0) exchange_->MailboxOf(self_).Settle();
  }
  uint64_t messages_sent_here() const {
    return self_ == 0 ? 0 : exchange_->MailboxOf(self_).pushed();
  }
  uint64_t messages_settled() const {
    return self_ == 0 ? 0 : exchange_->MailboxOf(self_).settled();
  }

  // Others may have something to tell until then, so look now and then even when idle.
  Nanos expects_until() const { return expects_until_; }

 private:
  uint8_t Meet(ConnectionRef connection, PeerMessage* message);
  void Ask(uint8_t to, PeerMessage* message, PeerPlaces* places);
  bool Tell(uint8_t to, PeerMessage* message, PeerPlaces* places);
  void Answer(const PeerMessage& question, ConnectionRef connection);
  void TakeAnswer(const PeerMessage& answer, ConnectionRef connection);
  void DoubtConnection(PeerPlaces* places);
  void MarkIfDoubtful(PeerPlaces* places);
  void DoubtAll(Nanos now);
  bool IsDue(uint32_t noted, Nanos now) const { return CoarseOf(now) - noted > refresh_; }
  static uint32_t CoarseOf(Nanos now) { return static_cast<uint32_t>(now >> 20); }  // about 1 ms

  ConnectionTable* connections_;
  EpochState* epoch_;
  MonitorCounters* counters_;
  PeerExchange* exchange_ = nullptr;
  uint8_t self_ = 0;  // 0: not taking part
  uint32_t refresh_ = 0;
  Nanos expects_until_ = INT64_MIN;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PEER_LINK_H
