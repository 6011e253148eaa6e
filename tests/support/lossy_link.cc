// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/lossy_link.h"

#include <event2/event.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "lib/packet/fields.h"
#include "lib/packet/parse.h"

namespace trumpet::testing {
namespace {

constexpr size_t kLargestFrame = 65536;
constexpr int kFramesAtOnce = 256;  // then the other links have their turn

Nanos MonotonicNow() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

LossyLink::LossyLink(event_base* base, int from, int to, const LinkQuality& quality, uint64_t seed,
                     const std::optional<Prefix>& watched)
    : from_(from),
      to_(to),
      quality_(quality),
      watched_(watched),
      random_(seed),
      next_(base, [this] { PassDue(); }),
      readable_(event_new(
          base, from, EV_READ | EV_PERSIST,
          [](evutil_socket_t, short, void* self) { static_cast<LossyLink*>(self)->TakeFrames(); },
          this)) {
  event_add(readable_, nullptr);
}

LossyLink::~LossyLink() { event_free(readable_); }

void LossyLink::Count(uint64_t FrameCounts::*counter, bool is_watched) {
  counts_.all.*counter += 1;
  if (is_watched) counts_.watched.*counter += 1;
}

void LossyLink::TakeFrames() {
  uint8_t bytes[kLargestFrame];
  for (int i = 0; i < kFramesAtOnce; i++) {
    const ssize_t length = read(from_, bytes, sizeof bytes);
    if (length <= 0) return;
    Take(bytes, static_cast<size_t>(length), MonotonicNow());
  }
}

void LossyLink::Take(const uint8_t* bytes, size_t length, Nanos now) {
  const bool is_watched = IsWatched(bytes, length);
  Count(&FrameCounts::taken, is_watched);
  if (std::bernoulli_distribution(quality_.loss)(random_)) {
    Count(&FrameCounts::lost, is_watched);
    return;
  }
  if (under_way_.size() == kMaxUnderWay) {
    Count(&FrameCounts::overrun, is_watched);
    return;
  }
  under_way_.push_back({now + quality_.delay, is_watched, {bytes, bytes + length}});
  if (under_way_.size() == 1) next_.RunAfter(quality_.delay);
}

void LossyLink::PassDue() {
  const Nanos now = MonotonicNow();
  while (!under_way_.empty() && under_way_.front().due <= now) {
    const Held& frame = under_way_.front();
    const ssize_t written = write(to_, frame.bytes.data(), frame.bytes.size());
    const bool is_whole = written == static_cast<ssize_t>(frame.bytes.size());
    Count(is_whole ? &FrameCounts::passed : &FrameCounts::refused, frame.is_watched);
    counts_.longest_lateness = std::max(counts_.longest_lateness, now - frame.due);
    under_way_.pop_front();
  }
  if (!under_way_.empty()) next_.RunAfter(std::max<Nanos>(under_way_.front().due - now, 0));
}

bool LossyLink::IsWatched(const uint8_t* bytes, size_t length) const {
  if (!watched_) return false;
  const auto size = static_cast<uint32_t>(length);
  ParsedPacket packet;
  ParsePacket({bytes, size, size}, ParseOptions(), &packet);
  const FieldValue destination = ReadField(packet, {Field::kDstIp, Level::kOuter});
  return destination.kind == (watched_->is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4) &&
         FirstOf(*watched_) <= destination.value && destination.value <= LastOf(*watched_);
}

}  // namespace trumpet::testing
