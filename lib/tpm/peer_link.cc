// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/peer_link.h"

#include <algorithm>

#include "lib/model/report.h"

namespace trumpet {
namespace {

// An entry of the directory is renewed so many times before it would be forgotten.
constexpr Nanos kRenewals = 8;

// For so many packets the facts may show what a thread missed that took over a direction: as many
// as are remembered at least.
constexpr uint8_t kDoubtPackets = kHistorySegments;

// How often to ask again when packets came before the answer.
constexpr uint8_t kMaxQuestions = 32;

// How long, on all threads, after a message was lost: longer than round trips.  The other thread
// hears of it with the next message.
constexpr Nanos kDoubtNanos = kNanosPerSecond;

}  // namespace

PeerLink::~PeerLink() {
  if (exchange_ != nullptr) exchange_->Leave(self_);
}

void PeerLink::Join(PeerExchange* exchange) {
  if (exchange == nullptr) return;
  self_ = exchange->Join();
  exchange_ = exchange;  // from now on there is something to leave
  refresh_ = CoarseOf(exchange_->flow_timeout_ns() / kRenewals);
}

void PeerLink::OnPacket(ConnectionRef connection, const FlowKey& flow, uint64_t hash,
                        const TcpSegment& segment, Nanos now) {
  if (exchange_->has_outsiders()) epoch_->reasons |= kSplitConnection;  // nobody can tell
  if (self_ == 0) return;
  PeerPlaces& places = connections_->PlacesOf(connection);
  const uint32_t side = connection & 1;
  const bool is_known = places.at[side] == PeerPlaces::kHere && !IsDue(places.noted[side], now);
  MarkIfDoubtful(&places);
  const bool is_split = places.is_elsewhere(static_cast<int>(1 - side));
  if (is_known && !is_split && !places.awaits_state) return;
  PeerMessage message;
  message.flow = flow;
  message.hash = hash;
  message.time = now;
  message.from = self_;
  message.segment = segment;
  places.went_on |= places.awaits_state;
  const uint8_t asked = is_known ? 0 : Meet(connection, &message);
  // A handshake says by itself all that matters of it.
  if (places.awaits_state && (segment.flags & (kTcpSyn | kTcpRst)) == 0) {
    epoch_->reasons |= kSplitConnection;
  }
  const uint8_t other = places.at[1 - side];
  if (!places.is_elsewhere(static_cast<int>(1 - side))) return;
  message.asks = asked == other || places.asks_again;
  if (message.asks) Ask(other, &message, &places);
  if (!Tell(other, &message, &places)) places.at[1 - side] = PeerPlaces::kUnknown;
}

// Enters the packet's side in the directory, and learns who has the other.  Returns whom to ask
// what the connection was before, 0: nobody.
uint8_t PeerLink::Meet(ConnectionRef connection, PeerMessage* message) {
  PeerPlaces& places = connections_->PlacesOf(connection);
  const uint32_t side = connection & 1;
  const PeerDirectory::Sighting seen =
      exchange_->directory().Note(message->hash, static_cast<int>(side), self_, message->time);
  // An earlier thread with our number had it, and took its state along.
  if ((seen.before == self_ && places.at[side] != PeerPlaces::kHere) ||
      (seen.other == self_ && places.at[1 - side] != PeerPlaces::kHere)) {
    DoubtConnection(&places);
  }
  const bool is_due = places.at[side] == PeerPlaces::kHere;
  places.at[side] = PeerPlaces::kHere;
  places.noted[side] = CoarseOf(message->time);
  expects_until_ = message->time + exchange_->flow_timeout_ns();
  if (seen.has_evicted) {
    counters_->peer_entries_evicted++;
    DoubtAll(message->time);
  }
  uint8_t asked = 0;
  if (seen.other != 0 && seen.other != self_ && places.at[1 - side] != seen.other) {
    places.at[1 - side] = asked = seen.other;
  }
  if (seen.before != 0 && seen.before != self_) {
    counters_->directions_moved++;
    DoubtConnection(&places);
    if (seen.before != places.at[1 - side]) {  // else told with the packet
      // It knows more than one that may have come only now, too.
      Ask(seen.before, message, &places);
      if (Tell(seen.before, message, &places)) asked = seen.before;
    } else {
      asked = seen.before;
    }
  }
  // Due for the second time since it was asked: the question or its answer was lost.
  const bool is_lost = is_due && asked == 0 && places.awaits_state && places.was_due;
  places.was_due = is_due && places.awaits_state;
  if (is_lost) {
    DoubtConnection(&places);
    places.asks_again = places.is_elsewhere(static_cast<int>(1 - side));
    places.awaits_state = places.asks_again;
    places.went_on &= places.asks_again;
  }
  if (asked != 0) {
    places.awaits_state = true;
    places.was_due = places.went_on = places.asks_again = false;
    places.questions = 0;
  }
  return asked;
}

// With a packet that comes after others: the answer to this question tells of those, too.
void PeerLink::Ask(uint8_t to, PeerMessage* message, PeerPlaces* places) {
  places->asked = to;
  message->asks = true;
  message->question = ++places->question;
  places->was_due = places->asks_again = places->went_on = false;
}

// False when that thread is no more.
bool PeerLink::Tell(uint8_t to, PeerMessage* message, PeerPlaces* places) {
  message->after_loss = places->lost_digest;
  switch (exchange_->Send(to, *message)) {
    case PeerExchange::Sent::kYes:
      places->lost_digest = false;
      counters_->peer_messages_sent++;
      return true;
    case PeerExchange::Sent::kFull:
      places->lost_digest = true;
      counters_->peer_messages_lost++;
      DoubtAll(message->time);
      DoubtConnection(places);
      return true;
    case PeerExchange::Sent::kNobody:  // and nobody has the packets before any more
      DoubtConnection(places);
      break;
  }
  if (message->asks) places->awaits_state = false;
  return false;
}

bool PeerLink::TakeIn(const PeerMessage& message, RttSample* sample) {
  const ConnectionRef connection = connections_->FindKnown(message.flow, message.hash);
  if (connection == kNoConnection) {
    if (message.asks) Answer(message, connection);
    return false;
  }
  PeerPlaces& places = connections_->PlacesOf(connection);
  if (message.kind != PeerMessageKind::kPacket) {
    TakeAnswer(message, connection);
    return false;
  }
  // Of a third thread's packets the answer that is on its way may not tell.
  places.went_on |= places.awaits_state && message.from != places.asked;
  uint8_t& place = places.at[connection & 1];
  if (place == PeerPlaces::kHere) {
    connections_->HandOver(connection);
    DoubtConnection(&places);
  }
  place = message.from;
  if (message.after_loss) {
    connections_->HandOver(connection ^ 1);  // an ACK of it may be what was lost
    DoubtConnection(&places);
  }
  MarkIfDoubtful(&places);
  // Who asks did not know of these ACKs when it took the packet in.
  const bool opens = (message.segment.flags & (kTcpSyn | kTcpAck)) == kTcpSyn;
  if (message.asks && !opens && connections_->HasAck(connection)) {
    epoch_->reasons |= kSplitConnection;
  }
  const bool has_sample =
      connections_->ObserveForeign(connection, message.segment, message.time, sample);
  if (message.asks) Answer(message, connection);
  return has_sample;
}

// An answer that came after other packets does not tell of those, nor does one to a question that
// was followed by another: the next one may.
void PeerLink::TakeAnswer(const PeerMessage& answer, ConnectionRef connection) {
  PeerPlaces& places = connections_->PlacesOf(connection);
  const bool is_latest = answer.question == places.question;
  const bool is_whole = is_latest && places.awaits_state && !places.went_on;
  if (answer.kind == PeerMessageKind::kSummary &&
      connections_->Adopt(connection, answer.summary, answer.time, is_whole)) {
    DoubtConnection(&places);
  }
  if (!is_latest) return;
  const bool is_enough = is_whole && answer.kind != PeerMessageKind::kNotYet;
  if (!is_enough && places.is_elsewhere(static_cast<int>(1 - (connection & 1))) &&
      ++places.questions < kMaxQuestions) {
    places.asks_again = true;
    return;
  }
  if (!is_enough) DoubtConnection(&places);
  places.awaits_state = places.went_on = false;
}

void PeerLink::Decline(const PeerMessage& message) {
  if (message.asks) Answer(message, kNoConnection);
}

void PeerLink::Answer(const PeerMessage& question, ConnectionRef connection) {
  PeerMessage answer;
  answer.flow = question.flow;
  answer.hash = question.hash;
  answer.time = question.time;
  answer.from = self_;
  answer.question = question.question;
  answer.kind = PeerMessageKind::kNothing;
  TcpSummary summary;
  if (connection != kNoConnection && connections_->PlacesOf(connection).awaits_state) {
    answer.kind = PeerMessageKind::kNotYet;
  } else if (connection != kNoConnection && connections_->Summarize(connection, &summary)) {
    answer.kind = PeerMessageKind::kSummary;
    answer.summary = summary;
  }
  if (exchange_->Send(question.from, answer) != PeerExchange::Sent::kFull) return;
  counters_->peer_messages_lost++;  // who asked goes on marking, and asks again when it is due
  DoubtAll(question.time);
}

void PeerLink::DoubtConnection(PeerPlaces* places) {
  epoch_->reasons |= kSplitConnection;
  places->doubt = kDoubtPackets;
}

void PeerLink::MarkIfDoubtful(PeerPlaces* places) {
  if (places->doubt == 0) return;
  epoch_->reasons |= kSplitConnection;
  places->doubt--;
}

void PeerLink::DoubtAll(Nanos now) {
  epoch_->reasons |= kSplitConnection;
  epoch_->doubtful_until = std::max(epoch_->doubtful_until, now + kDoubtNanos);
}

}  // namespace trumpet
