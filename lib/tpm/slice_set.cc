// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/slice_set.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "lib/packet/flow_key.h"

namespace trumpet {
namespace {

constexpr Nanos kBurst = kNanosPerSecond / 100;

// Moves `value` to `wanted` in one direction only.
template <typename IsBetter>
void Improve(std::atomic<Nanos>* value, Nanos wanted, const IsBetter& is_better) {
  Nanos seen = value->load(std::memory_order_relaxed);
  while (is_better(wanted, seen) &&
         !value->compare_exchange_weak(seen, wanted, std::memory_order_relaxed)) {
  }
}

// Adds if the sum stays within `most`; 0: there is no limit.
bool AddWithin(std::atomic<uint64_t>* sum, uint64_t more, uint64_t most) {
  uint64_t seen = sum->load(std::memory_order_relaxed);
  do {
    if (most != 0 && more > most - seen) return false;
  } while (!sum->compare_exchange_weak(seen, seen + more, std::memory_order_relaxed));
  return true;
}

TriggerIndex IndexOf(const std::vector<std::shared_ptr<LiveSlice>>& slices) {
  std::vector<const FilterExpr*> filters;
  filters.reserve(slices.size());
  for (const auto& slice : slices) filters.push_back(&slice->spec().filter);
  return TriggerIndex::For(filters);
}

std::vector<IpBytes> Sorted(std::vector<IpBytes> addresses) {
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

Nanos DeadlineOf(Nanos on, Nanos duration) {
  return duration > INT64_MAX - std::max<Nanos>(0, on) ? INT64_MAX : on + duration;
}

}  // namespace

LiveSlice::LiveSlice(SliceSpec spec, std::optional<std::vector<uint32_t>> ports, Nanos on)
    : spec_(std::move(spec)),
      ports_(std::move(ports)),
      on_(on),
      deadline_(DeadlineOf(on, spec_.duration)),
      packet_spacing_(spec_.packets_per_second == 0 ? 0
                                                    : kNanosPerSecond / spec_.packets_per_second),
      burst_(std::max<Nanos>(0, kBurst - packet_spacing_)),
      rate_until_(on) {}

bool LiveSlice::Covers(uint32_t port) const {
  return !ports_ || std::binary_search(ports_->begin(), ports_->end(), port);
}

bool LiveSlice::TakeRate(Nanos now) {
  if (packet_spacing_ == 0) return true;
  Nanos until = rate_until_.load(std::memory_order_relaxed);
  Nanos next;
  do {
    if (until - now > burst_) return false;
    next = std::max(until, now) + packet_spacing_;
  } while (!rate_until_.compare_exchange_weak(until, next, std::memory_order_relaxed));
  return true;
}

// What was taken of one cap goes back if the next one has no room: another thread may be refused
// meanwhile, but no cap is ever passed.
bool LiveSlice::Take(uint32_t bytes, Nanos now) {
  if (AddWithin(&packets_, 1, spec_.max_packets)) {
    if (AddWithin(&bytes_, bytes, spec_.max_bytes)) {
      if (TakeRate(now)) {
        Improve(&first_, now, std::less<>());
        Improve(&last_, now, std::greater<>());
        return true;
      }
      bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    }
    packets_.fetch_sub(1, std::memory_order_relaxed);
  }
  withheld_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

SliceCounts LiveSlice::counts() const {
  return {packets_.load(), bytes_.load(), withheld_.load(), first_.load(), last_.load()};
}

SliceSet::SliceSet(std::vector<std::shared_ptr<LiveSlice>> slices, uint32_t mark_base,
                   std::vector<IpBytes> analyzers, const ParseOptions& parse)
    : slices_(std::move(slices)),
      mark_base_(mark_base),
      analyzers_(Sorted(std::move(analyzers))),
      parse_(parse),
      index_(IndexOf(slices_)) {
  assert(slices_.size() <= kMaxSlices);
  for (const auto& slice : slices_) until_ = std::max(until_, slice->deadline());
}

bool SliceSet::IsCopy(const ParsedPacket& packet) const {
  const Headers& outer = packet.outermost();
  return outer.protocol == kProtocolGre && outer.ip_family != 0 &&
         std::binary_search(analyzers_.begin(), analyzers_.end(), outer.dst_ip);
}

uint32_t SliceSet::MarkOf(const ParsedPacket& packet, uint32_t in_port, Nanos now) const {
  uint64_t marks[kMaxSlices / 64 + 1] = {};
  uint32_t matches[kMaxSlices];
  const size_t count = index_.Match(packet, FlowKeyOf(packet, 0), marks, matches);
  if (count == 0 || IsCopy(packet)) return 0;
  for (size_t i = 0; i < count; ++i) {
    LiveSlice& slice = *slices_[matches[i]];
    if (now < slice.on() || now >= slice.deadline() || !slice.Covers(in_port)) continue;
    if (slice.Take(packet.bytes, now)) return MarkFor(slice.spec());
  }
  return 0;
}

uint32_t SliceSet::MarkFor(const SliceSpec& spec) const {
  const uint32_t base = spec.mark == 0 ? mark_base_ : uint32_t{spec.mark} << kSliceTagBits;
  return base | spec.tag;
}

bool SliceSet::Mark(const Frame* frames, int count, uint32_t in_port, Nanos now,
                    uint32_t* marks) const {
  if (now >= until_) return false;
  ParsedPacket packet;
  packet.has_in_port = true;
  packet.in_port = in_port;
  bool is_any_marked = false;
  for (int i = 0; i < count; ++i) {
    ParsePacket(frames[i], parse_, &packet);
    const uint32_t mark = MarkOf(packet, in_port, now);
    if (mark == 0 && !is_any_marked) continue;
    if (!is_any_marked) std::fill(marks, marks + i, 0);
    is_any_marked = true;
    marks[i] = mark;
  }
  return is_any_marked;
}

}  // namespace trumpet
