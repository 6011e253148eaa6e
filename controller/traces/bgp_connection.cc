// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/bgp_connection.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lib/packet/parse.h"

namespace trumpet {
namespace {

std::string IdText(const std::array<uint8_t, 4>& id) {
  std::string text;
  for (const uint8_t byte : id) text += (text.empty() ? "" : ".") + std::to_string(byte);
  return text;
}

std::string OpenText(const BgpOpen& open, BgpVerdict verdict) {
  if (open.version == 0) return "OPEN, which could not be read";
  std::string text = "OPEN: AS " + std::to_string(open.as) + ", hold time " +
                     std::to_string(open.hold_seconds) + " s, id " + IdText(open.id);
  if (verdict == BgpVerdict::kCut) text += "; its parameters could not be read";
  if (verdict == BgpVerdict::kMalformed) text += "; its parameters are malformed";
  return text;
}

}  // namespace

std::string SecondsText(Nanos span) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f s",
                static_cast<double>(span) / static_cast<double>(kNanosPerSecond));
  return text;
}

void BgpSideSums::Add(const BgpSideSums& other) {
  packets += other.packets;
  lost += other.lost;
  carried_bytes += other.carried_bytes;
  messages += other.messages;
  keepalives += other.keepalives;
  updates += other.updates;
  announced += other.announced;
  withdrawn += other.withdrawn;
  refreshes += other.refreshes;
  not_read += other.not_read;
  malformed += other.malformed;
  not_read_bytes += other.not_read_bytes;
  longest_gap = std::max(longest_gap, other.longest_gap);
}

bool BgpConnection::IsBehind(int side, const StoredSegment& segment) const {
  if ((segment.flags & kTcpSyn) == 0) return false;
  const auto& syn = this->side(side).syn;
  if (syn) return *syn != segment.sequence;
  // The first SYN of this side: of this connection if the other's was seen and little else.
  return began_before_ || established_ != 0;
}

void BgpConnection::Take(Nanos time, int side, const StoredSegment& segment, bool is_lost,
                         const Tell& tell) {
  BgpSide& from = At(side);
  if (!has_packet_) {
    has_packet_ = true;
    begin_ = time;
    began_before_ = (segment.flags & (kTcpSyn | kTcpRst)) == 0;
  }
  last_ = std::max(last_, time);
  ++from.sums.packets;
  from.sums.lost += is_lost ? 1 : 0;
  from.sums.carried_bytes += segment.bytes;
  if ((segment.flags & kTcpSyn) != 0 && !from.syn) {
    from.syn = segment.sequence;
    from.stream.Begin(segment.sequence + 1);
    const bool is_answer = (segment.flags & kTcpAck) != 0;
    Add(time, side, is_answer ? "takes the connection (SYN, ACK)" : "opens a connection (SYN)");
  }
  const uint32_t sequence = segment.sequence + ((segment.flags & kTcpSyn) != 0 ? 1 : 0);
  from.stream.Take({time, sequence, segment.data, segment.captured, segment.bytes},
                   [&](const BgpMessage& message) { TakeMessage(side, message, tell); });
  // Something was said, and nobody knows what.
  if (segment.bytes > 0 && !from.stream.is_synced()) NoteHeard(time, side);
  from.sums.not_read_bytes = from.stream.not_read_bytes();
  TakeFlags(time, side, segment);
}

void BgpConnection::TakeFlags(Nanos time, int side, const StoredSegment& segment) {
  BgpSide& from = At(side);
  const bool is_reset = (segment.flags & kTcpRst) != 0;
  if ((!is_reset && (segment.flags & kTcpFin) == 0) || from.has_finished) return;
  from.has_finished = true;
  Add(time, side, is_reset ? "resets the connection (RST)" : "closes its half (FIN)");
  Close(time, side, is_reset ? BgpClose::kReset : BgpClose::kFin);
}

void BgpConnection::Finish(const Tell& tell) {
  for (const int side : {0, 1}) {
    At(side).stream.Finish([&](const BgpMessage& message) { TakeMessage(side, message, tell); });
    At(side).sums.not_read_bytes = At(side).stream.not_read_bytes();
  }
}

void BgpConnection::TakeMessage(int side, const BgpMessage& message, const Tell& tell) {
  BgpSide& from = At(side);
  ++from.sums.messages;
  switch (message.header.type) {
    case BgpType::kOpen:
      TakeOpen(side, message);
      break;
    case BgpType::kUpdate:
      TakeUpdate(side, message, tell);
      break;
    case BgpType::kNotification:
      TakeNotification(side, message);
      break;
    case BgpType::kRouteRefresh:
      ++from.sums.refreshes;
      break;
    case BgpType::kKeepalive:
      ++from.sums.keepalives;
      if (!from.has_kept) Add(message.time, side, "first KEEPALIVE");
      from.has_kept = true;
      break;
  }
  NoteEstablished(message.time);
  NoteHeard(message.time, side);
}

void BgpConnection::TakeOpen(int side, const BgpMessage& message) {
  BgpSide& from = At(side);
  BgpOpen open;
  const BgpVerdict verdict =
      ReadBgpOpen(message.data, message.captured, message.header.bytes, &open);
  from.sums.not_read += verdict == BgpVerdict::kCut ? 1 : 0;
  from.sums.malformed += verdict == BgpVerdict::kMalformed ? 1 : 0;
  if (from.has_opened) return;
  from.has_opened = true;
  if (open.version != 0) from.open = open;
  Add(message.time, side, OpenText(open, verdict));
}

void BgpConnection::TakeUpdate(int side, const BgpMessage& message, const Tell& tell) {
  BgpSide& from = At(side);
  const auto& sender = from.open;
  const auto& receiver = At(1 - side).open;
  const BgpFamilies paths = sender && receiver ? AgreedPaths(*sender, *receiver) : BgpFamilies();
  BgpUpdate update;
  const BgpVerdict verdict =
      ReadBgpUpdate(message.data, message.captured, message.header.bytes, paths, &update);
  ++from.sums.updates;
  from.sums.not_read += verdict == BgpVerdict::kCut ? 1 : 0;
  from.sums.malformed += verdict == BgpVerdict::kMalformed ? 1 : 0;
  from.sums.announced += update.announced;
  from.sums.withdrawn += update.withdrawn;
  if (!from.has_updated) Add(message.time, side, "first UPDATE");
  from.has_updated = true;
  if (update.is_end_of_rib && !from.has_told_all) {
    from.has_told_all = true;
    Add(message.time, side, "has told all its routes (End-of-RIB)");
  }
  tell(message.time, update);
}

void BgpConnection::TakeNotification(int side, const BgpMessage& message) {
  BgpNotification notification;
  const bool is_read =
      ReadBgpNotification(message.data, message.captured, &notification) == BgpVerdict::kRead;
  At(side).sums.not_read += is_read ? 0 : 1;
  Add(message.time, side,
      is_read ? "NOTIFICATION: " + BgpNotificationText(notification)
              : "NOTIFICATION, which could not be read");
  // Its copy may come behind that of the FIN.
  if (close_ != BgpClose::kNone && (close_ == BgpClose::kNotification || closer_ != side)) return;
  close_ = BgpClose::kNone;
  notification_ = notification;
  Close(message.time, side, BgpClose::kNotification);
}

// When both have said KEEPALIVE behind their OPEN; of what began before the copies, when one of
// them says something that is said then only.
void BgpConnection::NoteEstablished(Nanos time) {
  if (established_ != 0) return;
  const auto runs = [this](int side) {
    const BgpSide& at = sides_[static_cast<size_t>(side)];
    return at.has_kept || at.has_updated;
  };
  const bool has_opened = sides_[0].has_opened || sides_[1].has_opened;
  const bool is_under_way = began_before_ && !has_opened && (runs(0) || runs(1));
  if (!is_under_way && !(runs(0) && runs(1))) return;
  established_ = time;
  Add(time, -1, is_under_way ? "is established already" : "established");
}

void BgpConnection::NoteHeard(Nanos time, int side) {
  BgpSide& from = At(side);
  if (established_ != 0 && from.heard != 0) {
    const Nanos gap = time - std::max(from.heard, established_);
    from.sums.longest_gap = std::max(from.sums.longest_gap, gap);
    const auto hold = hold_seconds();
    const bool is_late = hold && *hold > 0 && gap > *hold * kNanosPerSecond;
    if (is_late && !from.was_late) {
      from.was_late = true;
      Add(time, side,
          "says something after " + SecondsText(gap) + ", longer than the hold time of " +
              std::to_string(*hold) + " s");
    }
  }
  from.heard = std::max(from.heard, time);
}

void BgpConnection::Close(Nanos time, int side, BgpClose how) {
  if (close_ != BgpClose::kNone) return;
  close_ = how;
  close_time_ = time;
  closer_ = side;
  if (established_ == 0) return;
  for (const int each : {0, 1}) {
    BgpSideSums& sums = At(each).sums;
    sums.longest_gap = std::max(sums.longest_gap, Silence(each, time));
  }
}

bool BgpConnection::has_collided() const {
  return close_ == BgpClose::kNotification && notification_.code == kBgpCease &&
         notification_.subcode == kBgpCollision;
}

std::optional<uint16_t> BgpConnection::hold_seconds() const {
  if (!sides_[0].open || !sides_[1].open) return std::nullopt;
  return std::min(sides_[0].open->hold_seconds, sides_[1].open->hold_seconds);
}

Nanos BgpConnection::Silence(int side, Nanos now) const {
  const Nanos end = close_ == BgpClose::kNone ? now : close_time_;
  const Nanos heard = std::max(this->side(side).heard, established_);
  return established_ == 0 ? 0 : std::max<Nanos>(end - heard, 0);
}

void BgpConnection::Add(Nanos time, int side, std::string what) {
  if (events_.size() == kMaxEvents) {
    ++events_left_out_;
    return;
  }
  events_.push_back({time, side, std::move(what)});
}

}  // namespace trumpet
