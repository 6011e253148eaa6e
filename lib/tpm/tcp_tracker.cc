// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/tcp_tracker.h"

#include <algorithm>

namespace trumpet {
namespace {

bool Has(const TcpSegment& segment, uint16_t flag) { return (segment.flags & flag) != 0; }

// The 64-bit number that `number` stands for in the data of `direction`.
int64_t Continue(const TcpDirection& direction, uint32_t number) {
  if (!direction.has_seq && !direction.has_ack) return number;
  const int64_t near = direction.has_seq ? direction.seq : direction.ack;
  return near + static_cast<int32_t>(number - static_cast<uint32_t>(near));
}

// A zero-window probe or a keep-alive: sent, but not data that could be lost.
bool IsProbe(const TcpDirection& own, const TcpDirection& peer, const TcpSegment& segment,
             int64_t start) {
  if (segment.payload_bytes != 1 || (segment.flags & (kTcpSyn | kTcpFin | kTcpRst)) != 0) {
    return false;
  }
  if (peer.has_last_window && peer.last_window == 0) return true;
  return own.has_seq && start == own.seq - 1 && own.has_ack && own.ack >= own.seq;
}

// The segment [start, end) in the histories; `own.seq` is still the one before it.
void Remember(TcpConnection* connection, HistoryPool* pool, const SegmentArrival& arrival,
              int64_t start, int64_t end) {
  const TcpDirection& own = connection->directions[arrival.side];
  TcpHistory& history = connection->histories[arrival.side];
  const bool is_in_order = !own.has_seq || start >= own.seq;
  const Overlap overlap =
      is_in_order ? Overlap::kNone : history.first_sendings.OverlapOf(*pool, start, end);
  const bool is_repeated = overlap == Overlap::kSome;
  const bool is_doubtful = overlap == Overlap::kForgotten;
  if (is_repeated || is_doubtful) history.unacknowledged.MarkRepeated(pool, start, end);
  Sending sending;
  sending.start = start;
  sending.end = end;
  sending.is_burst = arrival.is_burst;
  sending.sent_ns = arrival.now;
  history.first_sendings.Add(pool, sending);
  if (!own.has_ack || end > own.ack) {
    history.unacknowledged.Push(
        pool, {start, end, arrival.now, arrival.owner, is_repeated, is_in_order, is_doubtful});
  }
}

// Loss, and the history of what was sent.
void Send(TcpConnection* connection, HistoryPool* pool, const SegmentArrival& arrival,
          PacketFacts* facts) {
  const TcpSegment& segment = *arrival.segment;
  const int64_t syn = Has(segment, kTcpSyn) ? 1 : 0;
  const int64_t space = segment.payload_bytes + syn + (Has(segment, kTcpFin) ? 1 : 0);
  if (space == 0) return;
  TcpDirection& own = connection->directions[arrival.side];
  const int64_t start = Continue(own, segment.seq);
  if (IsProbe(own, connection->directions[arrival.peer], segment, start)) return;

  const int64_t end = start + space;
  const bool is_in_order = !own.has_seq || start >= own.seq;
  const int64_t first_byte = start + syn;
  if (!is_in_order && segment.payload_bytes != 0 && first_byte < own.seq) {
    facts->is_lost = true;
    const FirstSending first =
        connection->histories[arrival.side].first_sendings.Find(*pool, first_byte);
    facts->lost_in_burst = first == FirstSending::kInBurst;
    facts->lacks_history = first == FirstSending::kGivenUp;
    if (first == FirstSending::kEvicted) pool->CountEvicted();
  }
  if (!arrival.is_foreign) Remember(connection, pool, arrival, start, end);
  own.seq = is_in_order ? end : std::max(own.seq, end);
  own.has_seq = true;
}

bool IsDuplicateAck(const TcpDirection& own, const TcpDirection& peer, const TcpSegment& segment) {
  return segment.payload_bytes == 0 && (segment.flags & (kTcpSyn | kTcpFin)) == 0 &&
         own.has_last_ack && segment.ack == own.last_ack && own.has_last_window &&
         segment.window == own.last_window && peer.has_seq && peer.has_ack && peer.seq > peer.ack;
}

// What the segment acknowledges of the peer's data.
bool Acknowledge(TcpConnection* connection, HistoryPool* pool, const SegmentArrival& arrival,
                 RttSample* sample) {
  const TcpSegment& segment = *arrival.segment;
  const TcpDirection& own = connection->directions[arrival.side];
  TcpDirection& peer = connection->directions[arrival.peer];
  const int64_t ack = Continue(peer, segment.ack);
  if (peer.has_ack && ack <= peer.ack) {
    if (IsDuplicateAck(own, peer, segment)) peer.dup += own.has_mss ? own.mss : kDefaultMss;
    return false;
  }
  const CoveredSegments covered = connection->histories[arrival.peer].unacknowledged.Acknowledge(
      pool, peer.has_ack ? peer.ack : INT64_MIN, ack);
  if (peer.has_ack) peer.dup = std::max<int64_t>(peer.dup - (ack - peer.ack), 0);
  peer.ack = ack;
  peer.has_ack = true;
  if (!covered.is_clean) return false;
  sample->rtt_ns = NanosBetween(covered.newest_sent_ns, arrival.now);
  sample->owner = covered.newest_owner;
  return true;
}

void ReadOptions(const TcpSegment& segment, TcpDirection* own) {
  own->has_options = true;
  own->has_window_shift = segment.has_window_shift;
  own->window_shift = std::min(segment.window_shift, kMaxWindowShift);
  if (segment.has_mss) {
    own->has_mss = true;
    own->mss = segment.mss;
  }
}

void ReadWindow(const TcpSegment& segment, const TcpDirection& peer, TcpDirection* own,
                PacketFacts* facts) {
  own->last_window = segment.window;
  own->has_last_window = true;
  const bool is_scaled = !Has(segment, kTcpSyn) && own->has_window_shift && peer.has_window_shift;
  facts->rwnd = is_scaled ? int64_t{segment.window} << own->window_shift : segment.window;
  facts->rwnd_unscaled = !is_scaled;
  facts->defined |= kHasRwnd;
}

// dup stays within what is outstanding.
void Clamp(TcpDirection* direction) {
  const bool is_known = direction->has_seq && direction->has_ack;
  const int64_t room = is_known ? direction->seq - direction->ack : 0;
  direction->dup = std::min(direction->dup, std::max<int64_t>(room, 0));
}

void TellValues(const TcpDirection& own, PacketFacts* facts) {
  facts->dup = own.dup;
  facts->defined |= kHasDup;
  if (own.has_ack) {
    facts->ack = own.ack;
    facts->defined |= kHasAck;
  }
  if (own.has_seq) {
    facts->seq = own.seq;
    facts->defined |= kHasSeq;
  }
}

// The number nearest to `near` that looks the same in 32 bits.
int64_t Renumber(int64_t number, int64_t near) {
  return near + static_cast<int32_t>(static_cast<uint32_t>(number) - static_cast<uint32_t>(near));
}

// What a side said about itself: the word of the thread that receives its packets counts.
void CopySayings(const TcpDirection& from, TcpDirection* to) {
  if (from.has_last_ack) {
    to->last_ack = from.last_ack;
    to->has_last_ack = true;
  }
  if (from.has_last_window) {
    to->last_window = from.last_window;
    to->has_last_window = true;
  }
  if (from.has_mss) {
    to->mss = from.mss;
    to->has_mss = true;
  }
  if (from.has_options) {
    to->has_options = true;
    to->has_window_shift = from.has_window_shift;
    to->window_shift = from.window_shift;
  }
}

// What `direction` would say of duplicates when `ack` comes.
int64_t DupAt(int64_t ack, const TcpDirection& direction) {
  return direction.has_ack ? std::max<int64_t>(direction.dup - (ack - direction.ack), 0)
                           : direction.dup;
}

void ForgetHistory(TcpHistory* history, HistoryPool* pool, int64_t seq) {
  history->unacknowledged.Forget(pool, seq);
  history->first_sendings.Forget(pool, seq);
}

// The fate of the data of one direction, told in `summary`, joined with what was seen here.  True:
// its history had to be given up.
bool JoinNumbers(const TcpDirection& summary, TcpDirection* own, TcpHistory* history,
                 HistoryPool* pool) {
  if (!summary.has_seq && !summary.has_ack) return false;
  const int64_t near = summary.has_seq ? summary.seq : summary.ack;
  const int64_t seq = own->has_seq ? Renumber(own->seq, near) : near;
  const int64_t ack = own->has_ack ? Renumber(own->ack, near) : near;
  const bool forgets = (own->has_seq && seq != own->seq) || (own->has_ack && ack != own->ack);
  if (forgets) ForgetHistory(history, pool, seq);
  if (own->has_seq) own->seq = seq;
  if (own->has_ack) own->ack = ack;
  const TcpDirection had = *own;
  if (summary.has_seq && (!own->has_seq || summary.seq > own->seq)) own->seq = summary.seq;
  if (summary.has_ack && (!own->has_ack || summary.ack > own->ack)) {
    // It was acknowledged before it was sent: nobody will measure that.
    (void)history->unacknowledged.Acknowledge(pool, own->has_ack ? own->ack : INT64_MIN,
                                              summary.ack);
    own->ack = summary.ack;
  }
  // Later acknowledgements have used up duplicates that were counted before.
  own->dup = std::max(DupAt(own->ack, had), DupAt(own->ack, summary));
  own->has_seq |= summary.has_seq;
  own->has_ack |= summary.has_ack;
  return forgets;
}

// The same when what was seen here is in the summary, too: there it was understood.
bool ReplaceNumbers(const TcpDirection& summary, TcpDirection* own, TcpHistory* history,
                    HistoryPool* pool) {
  const bool forgets = own->has_seq && (!summary.has_seq || summary.seq != own->seq);
  if (forgets) ForgetHistory(history, pool, summary.has_seq ? summary.seq : own->seq);
  *own = summary;
  if (own->has_ack) (void)history->unacknowledged.Acknowledge(pool, INT64_MIN, own->ack);
  return forgets;
}

}  // namespace

void ClearTcp(TcpConnection* connection) {
  for (TcpDirection& direction : connection->directions) direction = TcpDirection{};
  connection->incarnation = 0;
  connection->last_syn = 0;
  connection->has_last_syn = false;
  for (TcpHistory& history : connection->histories) {
    history.unacknowledged.Clear();
    history.first_sendings.Clear();
  }
}

void ReleaseTcp(TcpConnection* connection, HistoryPool* pool) {
  for (TcpHistory& history : connection->histories) {
    history.unacknowledged.Release(pool);
    history.first_sendings.Release(pool);
  }
  ClearTcp(connection);
}

TcpSummary SummaryOf(const TcpConnection& connection) {
  TcpSummary summary;
  summary.directions[0] = connection.directions[0];
  summary.directions[1] = connection.directions[1];
  summary.incarnation = connection.incarnation;
  summary.last_syn = connection.last_syn;
  summary.has_last_syn = connection.has_last_syn;
  return summary;
}

bool AdoptSummary(const TcpSummary& summary, int side, bool is_whole, TcpConnection* connection,
                  HistoryPool* pool) {
  bool forgets = false;
  for (int i = 0; i < 2; i++) {
    TcpDirection& direction = connection->directions[i];
    TcpHistory* history = &connection->histories[i];
    const TcpDirection& told = summary.directions[i];
    if (is_whole) {
      forgets |= ReplaceNumbers(told, &direction, history, pool);
      continue;
    }
    const TcpDirection before = direction;
    CopySayings(told, &direction);
    if (i == side) CopySayings(before, &direction);
    forgets |= JoinNumbers(told, &direction, history, pool);
    Clamp(&direction);
  }
  connection->incarnation = summary.incarnation;
  if (!connection->has_last_syn && summary.has_last_syn) {
    connection->last_syn = summary.last_syn;
    connection->has_last_syn = true;
  }
  return forgets;
}

bool StartsAnew(const TcpConnection& connection, const TcpSegment& segment) {
  return Has(segment, kTcpSyn) && !Has(segment, kTcpAck) &&
         (!connection.has_last_syn || connection.last_syn != segment.seq);
}

bool TrackSegment(TcpConnection* connection, HistoryPool* pool, const SegmentArrival& arrival,
                  PacketFacts* facts, RttSample* sample) {
  const TcpSegment& segment = *arrival.segment;
  TcpDirection& own = connection->directions[arrival.side];
  TcpDirection& peer = connection->directions[arrival.peer];
  if (Has(segment, kTcpSyn) && !Has(segment, kTcpAck)) {
    connection->last_syn = segment.seq;
    connection->has_last_syn = true;
  }
  Send(connection, pool, arrival, facts);
  if (Has(segment, kTcpSyn)) ReadOptions(segment, &own);
  bool has_sample = false;
  if (!Has(segment, kTcpRst)) {
    if (Has(segment, kTcpAck)) {
      has_sample = Acknowledge(connection, pool, arrival, sample);
      own.last_ack = segment.ack;
      own.has_last_ack = true;
    }
    ReadWindow(segment, peer, &own, facts);
  }
  Clamp(&own);
  Clamp(&peer);
  TellValues(own, facts);
  return has_sample;
}

}  // namespace trumpet
