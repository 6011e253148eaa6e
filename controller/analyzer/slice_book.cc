// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/slice_book.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "controller/analyzer/packet_identity.h"
#include "lib/model/slice_spec.h"

namespace trumpet {
namespace {

constexpr size_t kBlockBytes = 16 * 1024;
// Without a new slice; a run that is under way has one sooner.
constexpr Nanos kAbandoned = 600 * kNanosPerSecond;

struct CopyOrigin {
  uint16_t number;
  uint32_t tag;
};

// Who made the copy, and for which slice; none if it has no place to say so.
std::optional<CopyOrigin> OriginOf(const MirrorCopy& copy) {
  if (copy.kind == CopyKind::kErspan2) return CopyOrigin{copy.session, copy.index};
  if (copy.kind == CopyKind::kGre && copy.has_key) {
    return CopyOrigin{static_cast<uint16_t>(copy.key >> kSliceTagBits), copy.key & kMaxSliceTag};
  }
  return std::nullopt;
}

// Tags are used again, but not for the same slot of a run, nor at the same time for a test.
bool IsSame(const ExpectedSlice& one, const ExpectedSlice& other) {
  const auto key = [](const ExpectedSlice& x) {
    return std::tie(x.tag, x.run, x.slot, x.query, x.start, x.end, x.locations, x.numbers);
  };
  return key(one) == key(other);
}

}  // namespace

void SliceBook::Expect(const ExpectedSlice& slice) {
  const SliceRecord* const known = Find(slice.tag);
  if (known != nullptr && IsSame(known->expected, slice)) return;
  Forget(slice.tag);
  told_at_ = std::max<Nanos>(slice.start, 0);
  if (slices_.size() >= options_.max_slices && !ForgetOne(nullptr)) {
    ++counters_.slices_refused;
    return;
  }
  SliceRecord record;
  record.expected = slice;
  record.order = next_order_++;
  Nanos& end = open_runs_[slice.run];
  end = std::max(end, slice.end);
  for (const std::string& location : slice.locations) {
    SliceTally tally;
    tally.tag = slice.tag;
    tally.switch_name = location;
    record.tallies.push_back(std::move(tally));
  }
  slices_[slice.tag] = std::move(record);
}

// True if the frame is a copy.
bool SliceBook::CountOther(CopyVerdict verdict) {
  switch (verdict) {
    case CopyVerdict::kCopy:
      return true;
    case CopyVerdict::kFragment:
      ++counters_.fragments;
      return false;
    case CopyVerdict::kMalformed:
      ++counters_.malformed;
      return false;
    case CopyVerdict::kUnsupported:
      ++counters_.unsupported;
      return false;
    case CopyVerdict::kOther:
      break;
  }
  ++counters_.other;
  return false;
}

void SliceBook::Take(const Frame& frame, Nanos time) {
  MirrorCopy copy;
  if (!CountOther(ReadMirrorCopy(frame, &copy))) return;
  const std::optional<CopyOrigin> origin = OriginOf(copy);
  if (!origin) {
    ++counters_.untagged;
    return;
  }
  const auto found = slices_.find(origin->tag);
  if (found == slices_.end()) {
    ++counters_.unknown_tags;
    return;
  }
  SliceRecord& slice = found->second;
  const std::vector<uint16_t>& numbers = slice.expected.numbers;
  const auto number = std::find(numbers.begin(), numbers.end(), origin->number);
  const auto location = static_cast<size_t>(number - numbers.begin());
  if (location >= slice.tallies.size()) {
    ++counters_.unknown_switches;
    return;
  }
  ++counters_.copies;
  SliceTally& tally = slice.tallies[location];
  if (tally.packets == 0) tally.first = time;
  tally.last = time;
  ++tally.packets;
  tally.bytes += copy.inner_bytes;
  tally.copy_bytes += frame.wire_length;
  Keep(copy, static_cast<uint16_t>(location), time, &slice);
}

void SliceBook::Keep(const MirrorCopy& copy, uint16_t location, Nanos time, SliceRecord* slice) {
  const uint32_t kept_bytes = std::min(copy.inner_captured, options_.snap_bytes);
  char* const room = Room(kept_bytes, slice);
  if (room == nullptr) {
    ++slice->not_kept;
    ++counters_.not_kept;
    return;
  }
  std::memcpy(room, copy.inner, kept_bytes);
  KeptPacket packet;
  packet.time = time;
  packet.bytes = room;
  packet.kept_bytes = kept_bytes;
  packet.wire_bytes = copy.inner_bytes;
  packet.location = location;
  packet.is_ethernet = copy.is_ethernet;
  const auto identity =
      IdentifyPacket(copy.inner, copy.inner_captured, copy.is_ethernet, options_.seed);
  if (identity) {
    packet.is_ip = true;
    packet.identity = identity->hash;
    packet.flow = identity->flow;
    packet.ttl = identity->ttl;
  }
  slice->packets.push_back(packet);
}

// For the bytes of a packet that is then kept; null if there is no memory.
char* SliceBook::Room(size_t bytes, SliceRecord* slice) {
  const bool needs_block = slice->blocks.empty() || slice->block_used + bytes > kBlockBytes;
  const uint64_t needed = sizeof(KeptPacket) + (needs_block ? kBlockBytes : 0);
  if (bytes > kBlockBytes || !HasMemory(needed, slice)) return nullptr;
  used_bytes_ += needed;
  if (needs_block) {
    slice->blocks.push_back(std::make_unique<char[]>(kBlockBytes));
    slice->block_used = 0;
  }
  char* const room = slice->blocks.back().get() + slice->block_used;
  slice->block_used += bytes;
  return room;
}

bool SliceBook::HasMemory(uint64_t bytes, const SliceRecord* for_slice) {
  while (used_bytes_ + bytes > options_.max_bytes) {
    if (!ForgetOne(for_slice)) return false;
  }
  return true;
}

// The oldest one of a run that is finished, or was abandoned; false if there is none.
bool SliceBook::ForgetOne(const SliceRecord* but) {
  if (finished_.empty()) MarkAbandoned();
  const auto oldest = finished_.begin();
  if (oldest == finished_.end()) return false;
  const auto found = slices_.find(oldest->second);
  if (found == slices_.end() || &found->second == but) return false;
  ++counters_.slices_forgotten;
  Forget(oldest->second);
  return true;
}

void SliceBook::Forget(uint32_t tag) {
  const auto found = slices_.find(tag);
  if (found == slices_.end()) return;
  used_bytes_ -= BytesOf(found->second);
  finished_.erase(found->second.order);
  slices_.erase(found);
}

uint64_t SliceBook::BytesOf(const SliceRecord& slice) {
  return slice.packets.size() * sizeof(KeptPacket) + slice.blocks.size() * kBlockBytes;
}

std::vector<SliceTally> SliceBook::Tallies(const std::vector<uint32_t>& tags) const {
  std::vector<SliceTally> tallies;
  const auto add = [&](const SliceRecord& slice) {
    for (const SliceTally& tally : slice.tallies) {
      if (tally.packets > 0) tallies.push_back(tally);
    }
  };
  for (const uint32_t tag : tags) {
    const auto found = slices_.find(tag);
    if (found != slices_.end()) add(found->second);
  }
  if (tags.empty()) {
    for (const auto& [tag, slice] : slices_) add(slice);
  }
  return tallies;
}

const SliceRecord* SliceBook::Find(uint32_t tag) const {
  const auto found = slices_.find(tag);
  return found == slices_.end() ? nullptr : &found->second;
}

std::vector<const SliceRecord*> SliceBook::OfRun(uint64_t run) const {
  std::vector<const SliceRecord*> slices;
  for (const auto& [tag, slice] : slices_) {
    if (slice.expected.run == run) slices.push_back(&slice);
  }
  std::sort(slices.begin(), slices.end(), [](const SliceRecord* a, const SliceRecord* b) {
    const auto key = [](const ExpectedSlice& x) { return std::make_tuple(x.slot, x.query, x.tag); };
    return key(a->expected) < key(b->expected);
  });
  return slices;
}

// Runs of a controller that ended, or that ended while we were away: nobody finishes them.
void SliceBook::MarkAbandoned() {
  for (auto next = open_runs_.begin(); next != open_runs_.end();) {
    const auto [run, end] = *next++;
    if (end < told_at_ - kAbandoned) MarkFinished(run);
  }
}

void SliceBook::MarkFinished(uint64_t run) {
  open_runs_.erase(run);
  for (auto& [tag, slice] : slices_) {
    if (slice.expected.run != run || slice.is_finished) continue;
    slice.is_finished = true;
    finished_[slice.order] = tag;
  }
}

}  // namespace trumpet
