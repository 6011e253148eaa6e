// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TcpTracker: what one TCP segment does to the state of its connection (docs/event-language.md
// "Packet variables", docs/adr/0002 readings 17 to 26).
//
// A TcpDirection is named after the side that sends in it.  It holds two things: the fate of the
// data sent (seq, ack, dup and the histories), and what its sender said about itself (last
// acknowledgement and window, options).
//
// Threads: one.  Plain data in tables taken at start; all-zero is not a state: call ClearTcp()
// first.

#ifndef TRUMPET_LIB_TPM_TCP_TRACKER_H
#define TRUMPET_LIB_TPM_TCP_TRACKER_H

#include <cstddef>
#include <cstdint>

#include "lib/packet/parsed_packet.h"
#include "lib/tpm/first_sendings.h"
#include "lib/tpm/history_pool.h"
#include "lib/tpm/packet_facts.h"
#include "lib/tpm/segment_queue.h"

namespace trumpet {

struct TcpDirection {
  int64_t seq;  // end of the highest sequence space sent
  int64_t ack;  // highest acknowledgement of it
  int64_t dup;
  uint32_t last_ack;  // raw, as this side last sent it
  uint16_t last_window;
  uint16_t mss;
  uint8_t window_shift;
  bool has_seq : 1;
  bool has_ack : 1;
  bool has_last_ack : 1;
  bool has_last_window : 1;
  bool has_mss : 1;
  bool has_window_shift : 1;
  bool has_options : 1;  // its SYN was seen: without a shift there is none
};

// Which packet thread receives the packets of each side, as PeerLink knows it.
struct PeerPlaces {
  static constexpr uint8_t kUnknown = 0;
  static constexpr uint8_t kHere = 255;

  uint32_t noted[2];      // when the side was last entered in the directory, see PeerLink
  uint8_t at[2];          // kUnknown, kHere or the number of another thread
  uint8_t questions;      // without a whole answer
  uint8_t question;       // number of the last one
  uint8_t asked;          // who is to answer it
  uint8_t doubt;          // packets still to come whose facts may lack something
  bool awaits_state : 1;  // asked the other thread what it knows
  bool went_on : 1;       // and took in packets of which the answer may not tell
  bool was_due : 1;       // to be entered, since it was asked
  bool asks_again : 1;    // with the next packet
  bool lost_digest : 1;   // to be told with the next one

  bool is_elsewhere(int side) const { return at[side] != kUnknown && at[side] != kHere; }
};

struct TcpHistory {
  SegmentQueue unacknowledged;
  FirstSendings first_sendings;
};

// Every segment reads the first two lines, and a history only when that side's data moves.
struct alignas(64) TcpConnection {
  TcpDirection directions[2];
  Nanos incarnation;  // when the state was started
  uint32_t last_syn;  // sequence number of the last SYN without ACK
  PeerPlaces places;  // not part of the state: outlives it
  bool has_last_syn;
  TcpHistory histories[2];
};
static_assert(sizeof(TcpConnection) == 256 && offsetof(TcpConnection, histories) <= 128);

constexpr uint16_t kDefaultMss = 1460;
constexpr uint8_t kMaxWindowShift = 14;

// The state of a connection of which nothing was seen.
void ClearTcp(TcpConnection* connection);

// Gives the histories back and clears.
void ReleaseTcp(TcpConnection* connection, HistoryPool* pool);

// Is the segment a SYN without ACK that starts new state?
bool StartsAnew(const TcpConnection& connection, const TcpSegment& segment);

struct SegmentArrival {
  const TcpSegment* segment = nullptr;
  int side = 0;  // which direction it is part of
  int peer = 1;  // the other; the same when a flow is its own reverse
  bool is_burst = false;
  bool is_foreign = false;  // another packet thread received it, and keeps its sender's histories
  uint64_t owner = 0;
  Nanos now = 0;
};

// Takes in one segment.  Fills all of `facts` but is_burst.  True, with `sample`, when its
// acknowledgement measured a round-trip time.
bool TrackSegment(TcpConnection* connection, HistoryPool* pool, const SegmentArrival& arrival,
                  PacketFacts* facts, RttSample* sample);

// What one packet thread tells another of a connection.
struct TcpSummary {
  TcpDirection directions[2];
  Nanos incarnation;
  uint32_t last_syn;
  bool has_last_syn;
};

TcpSummary SummaryOf(const TcpConnection& connection);

// Takes over what another thread knows of a connection whose packets of `side` arrive here.  The
// other thread's numbers of sequence space hold from now on; where they differ from those used so
// far, the histories of that direction are given up.  `is_whole`: the other thread knows of all
// packets that arrived here; else the two are joined.  True: a history was given up.
bool AdoptSummary(const TcpSummary& summary, int side, bool is_whole, TcpConnection* connection,
                  HistoryPool* pool);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TCP_TRACKER_H
