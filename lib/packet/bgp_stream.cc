// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/bgp_stream.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

// How far `sequence` is ahead; they go round.
int32_t Ahead(uint32_t sequence, uint32_t of) { return static_cast<int32_t>(sequence - of); }

void Advance(BgpSegment* segment, uint32_t bytes) {
  const uint32_t known = std::min(bytes, segment->captured);
  if (known > 0) segment->data += known;
  segment->captured -= known;
  segment->bytes -= bytes;
}

}  // namespace

void BgpStream::Begin(uint32_t sequence) {
  *this = BgpStream();
  has_begun_ = is_synced_ = true;
  next_ = sequence;
}

void BgpStream::Take(const BgpSegment& segment, const Tell& tell) {
  if (segment.bytes == 0) return;
  if (!has_begun_) next_ = segment.sequence;
  has_begun_ = true;
  if (IsStray(segment.sequence, segment.bytes)) return;
  if (Ahead(segment.sequence, next_) > 0) {
    Hold(segment);
    const bool is_late = held_.size() > kMaxHeld || segment.time - held_.front().time > kPatience;
    if (is_late) Release(true, tell);
    return;
  }
  TakeInOrder(segment, tell);
  Release(false, tell);
}

void BgpStream::Finish(const Tell& tell) {
  while (!held_.empty()) Release(true, tell);
}

bool BgpStream::IsStray(uint32_t sequence, uint32_t bytes) {
  const int32_t ahead = Ahead(sequence, next_);
  constexpr auto kFar = static_cast<int32_t>(kMaxAhead);
  if (ahead <= kFar && ahead >= -kFar) {
    strays_in_row_ = 0;
    return false;
  }
  ++strays_;
  if (++strays_in_row_ < kMaxStrays) {
    not_read_bytes_ += bytes;
    return true;
  }
  strays_in_row_ = 0;
  for (const Held& held : held_) not_read_bytes_ += held.bytes;
  held_.clear();
  Lose();
  next_ = sequence;
  return false;
}

void BgpStream::Hold(const BgpSegment& segment) {
  const auto place = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
    return Ahead(held.sequence, next_) >= Ahead(segment.sequence, next_);
  });
  const bool is_there =
      place != held_.end() && place->sequence == segment.sequence && place->bytes >= segment.bytes;
  if (is_there) {
    repeated_bytes_ += segment.bytes;
    return;
  }
  Held held{segment.time, segment.sequence, segment.bytes, {}};
  if (segment.captured > 0) held.data.assign(segment.data, segment.data + segment.captured);
  held_.insert(place, std::move(held));
}

void BgpStream::Release(bool is_late, const Tell& tell) {
  while (!held_.empty()) {
    const int32_t missing = Ahead(held_.front().sequence, next_);
    if (missing > 0) {
      if (!is_late) return;
      is_late = false;
      next_ += static_cast<uint32_t>(missing);
      Feed({held_.front().time, 0, nullptr, 0, static_cast<uint32_t>(missing)}, tell);
    }
    const Held held = std::move(held_.front());
    held_.erase(held_.begin());
    const auto captured = static_cast<uint32_t>(held.data.size());
    TakeInOrder({held.time, held.sequence, held.data.data(), captured, held.bytes}, tell);
  }
}

// It begins where the stream is, or before.
void BgpStream::TakeInOrder(BgpSegment segment, const Tell& tell) {
  const uint32_t old = std::min(next_ - segment.sequence, segment.bytes);
  repeated_bytes_ += old;
  Advance(&segment, old);
  next_ += segment.bytes;
  Feed(segment, tell);
}

void BgpStream::Feed(BgpSegment segment, const Tell& tell) {
  while (segment.bytes > 0) {
    if (is_synced_) {
      FeedMessage(&segment, tell);
    } else {
      FindMessage(&segment);
    }
  }
}

// Takes some of it, or is not synced any more.
void BgpStream::FeedMessage(BgpSegment* segment, const Tell& tell) {
  const bool has_header = header_.bytes > 0;
  const uint32_t wanted = (has_header ? header_.bytes : kBgpHeaderBytes) - passed_;
  const uint32_t taken = std::min(wanted, has_header ? segment->bytes : segment->captured);
  if (taken == 0) return Lose();
  // Only if nothing before it is missing.
  if (kept_.size() == passed_) {
    const auto room = static_cast<uint32_t>(kMaxKept - kept_.size());
    const uint32_t known = std::min({taken, segment->captured, room});
    if (known > 0) kept_.insert(kept_.end(), segment->data, segment->data + known);
  }
  passed_ += taken;
  const Nanos time = segment->time;
  Advance(segment, taken);
  if (taken < wanted) return;
  if (!has_header) {
    const auto header = ReadBgpHeader(kept_.data(), static_cast<uint32_t>(kept_.size()));
    if (!header) return Lose();
    header_ = *header;
    if (header_.bytes > passed_) return;
  }
  tell({time, header_, kept_.data(), static_cast<uint32_t>(kept_.size())});
  kept_.clear();
  passed_ = 0;
  header_.bytes = 0;
}

void BgpStream::FindMessage(BgpSegment* segment) {
  uint32_t at = 0;
  while (at < segment->captured && !ReadBgpHeader(segment->data + at, segment->captured - at)) {
    ++at;
  }
  is_synced_ = at < segment->captured;
  const uint32_t skipped = is_synced_ ? at : segment->bytes;
  not_read_bytes_ += skipped;
  Advance(segment, skipped);
}

void BgpStream::Lose() {
  not_read_bytes_ += passed_;
  kept_.clear();
  passed_ = 0;
  header_.bytes = 0;
  is_synced_ = false;
}

}  // namespace trumpet
