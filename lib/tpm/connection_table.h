// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ConnectionTable: TCP and burst state per 5-tuple and zone, both directions together.
//
// Sees every packet, whatever the filters (docs/event-language.md, docs/adr/0002 "TCP state").
// Memory is taken at construction: connections, and a pool of history records (segments awaiting
// acknowledgement, ranges sent in bursts) shared by all.  A full table gives up the
// connection idle for longest among a few candidates, a full pool the oldest history; both are
// counted.
//
// Memory: BytesFor(), about 500 bytes a connection and 32 a history record.
//
// Packets that another packet thread received are shown by ObserveForeign(), and move the state
// just like those received here (docs/adr/0009).
//
// Threads: owned by one packet thread.  Never allocates after construction.
// Cost: a packet with a right hint touches one line, TCP three or four more; without it one or two
// more.

#ifndef TRUMPET_LIB_TPM_CONNECTION_TABLE_H
#define TRUMPET_LIB_TPM_CONNECTION_TABLE_H

#include <cstdint>
#include <memory>

#include "lib/base/page_source.h"
#include "lib/base/units.h"
#include "lib/model/flow_state.h"
#include "lib/packet/flow_key.h"
#include "lib/packet/parsed_packet.h"
#include "lib/tpm/packet_facts.h"
#include "lib/tpm/tcp_tracker.h"

namespace trumpet {

struct ConnectionOptions {
  uint32_t max_connections = 1u << 16;                    // at most 2^27
  uint32_t max_history_records = 1u << 18;                // segments; ranges are smaller
  uint32_t history_walk_limit = HistoryPool::kWalkLimit;  // blocks, see there
  Nanos flow_timeout_ns = 10 * kNanosPerSecond;
  Nanos burst_gap_ns = 10 * kNanosPerMicro;
  uint64_t hash_seed = 0;
};

struct ConnectionCounters {
  uint64_t connections = 0;  // in use now, expired ones not yet reused included
  uint64_t created = 0;
  uint64_t restarted = 0;        // by a SYN
  uint64_t expired = 0;          // found dead by the flow timeout
  uint64_t evicted_alive = 0;    // given up while alive: later values may be wrong
  uint64_t history_evicted = 0;  // answers that lack history given up before: missing or 0
  uint64_t history_blocks = 0;   // in use now, of four records each
};

// One direction of one connection; valid until the table gives the connection up, which
// Find() notices by itself.
using ConnectionRef = uint32_t;
constexpr ConnectionRef kNoConnection = UINT32_MAX;

class ConnectionTable {
 public:
  // Takes all memory.  When the machine has none to give, the table is empty and stays so:
  // has_memory() is false and Find() answers kNoConnection.
  explicit ConnectionTable(const ConnectionOptions& options, PageSource* source = nullptr);
  static size_t BytesFor(const ConnectionOptions& options);
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  bool has_memory() const;

  // For prefetching and Find(); equal for both directions.
  uint64_t HashOf(const FlowKey& flow) const;
  void Prefetch(uint64_t hash) const;
  void PrefetchHint(ConnectionRef hint) const;  // for a Find() with this hint

  // The connection of `flow` (must be IP), found or added; Observe() it before the next Find().
  // `hint` is an earlier answer for the same flow or kNoConnection; a right hint saves the
  // look-up, a wrong one is noticed.
  ConnectionRef Find(const FlowKey& flow, uint64_t hash, ConnectionRef hint, Nanos now);

  // The connection of `flow` if there is one, else kNoConnection: adds nothing.
  ConnectionRef FindKnown(const FlowKey& flow, uint64_t hash) const;

  // Takes in one packet of the direction `connection`.  `tracks_tcp` false: only is_burst is
  // computed, and TCP state that misses this packet is dropped, as it would be wrong from now on.
  // Returns true and fills `sample` when the packet's ACK gave a round-trip time.
  bool Observe(ConnectionRef connection, const ParsedPacket& packet, bool tracks_tcp, Nanos now,
               uint64_t owner, PacketFacts* facts, RttSample* sample);

  // Takes in one segment of the direction `connection` that another thread received at `now`. True,
  // with `sample`, when its ACK gave a round-trip time for a segment received here.
  bool ObserveForeign(ConnectionRef connection, const TcpSegment& segment, Nanos now,
                      RttSample* sample);

  // Whose packets arrive on which thread; kept as long as the connection.
  PeerPlaces& PlacesOf(ConnectionRef connection);

  // Whether ACKs of the direction's data were seen.
  bool HasAck(ConnectionRef connection) const;

  // What to tell another thread that meets the connection; false when there is nothing to tell.
  bool Summarize(ConnectionRef connection, TcpSummary* summary) const;

  // Takes over another thread's summary, asked for at `asked_ns`, of the connection whose direction
  // `connection` arrives here; not of a state that was started anew since.  `is_whole`: nothing
  // arrived here since.  True: history was given up for it.
  bool Adopt(ConnectionRef connection, const TcpSummary& summary, Nanos asked_ns, bool is_whole);

  // Another thread receives this direction now: its segments give no more samples here.
  void HandOver(ConnectionRef connection);

  // Starts the epoch [start, end): changes from now on belong to it; the directions changed in the
  // epoch before become readable by NextChanged().  (A connection changed in both epochs is read
  // with its values at the end of the older.)  False: those of an older epoch were not all read;
  // they stay readable, and what changed since waits for a later BeginEpoch().
  bool BeginEpoch(Nanos start, Nanos end);

  // The next direction changed in the last finished epoch.  When a connection changed, both
  // directions are delivered.  False: there was none among the next few changes; all were read only
  // if has_unread_changes() says so.
  bool NextChanged(FlowStateUpdate* update);
  bool has_unread_changes() const;

  // Whether changes are collected for NextChanged(); off until asked for, and free of cost then.
  // What was collected before switching off is still read.
  void set_collects_changes(bool collects);

  // Packets before `from` may not have been shown to the table: TCP state last touched before is
  // void.  For a program that tracks TCP after one that did not.
  void ForgetTcpBefore(Nanos from);
  // Likewise, of packets that were left out while it was tracked: connections that go on are
  // counted as given up while alive.
  void GiveUpTcpBefore(Nanos from);

  // New settings; they hold from the next packet on.
  void set_flow_timeout(Nanos flow_timeout_ns);
  void set_burst_gap(Nanos burst_gap_ns);

  const ConnectionCounters& counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_CONNECTION_TABLE_H
