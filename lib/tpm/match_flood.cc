// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MatchScatter in a flood of new flows.
//
// While the admission filter is in use, nearly all packets may be of flows without an entry, and
// nearly all of those are withheld.  Hash and lengths are enough for that.

#include <algorithm>
#include <cstring>

#include "lib/tpm/match_scatter.h"

namespace trumpet {
namespace {

// Bits `from` to `end`, which is at most 32.
uint32_t MaskOf(int from, int end) {
  return static_cast<uint32_t>((uint64_t{1} << end) - (uint64_t{1} << from));
}

// How far the bits are the same as at `from`.
int EndOfRun(uint32_t bits, int from, int end) {
  const uint32_t changes = (bits ^ bits >> 1) & MaskOf(from, 32);
  return changes == 0 ? end : std::min(end, __builtin_ctz(changes) + 1);
}

}  // namespace

bool MatchScatter::ProcessInFlood(const Chunk& chunk) {
  uint32_t absent = GuessInFlood(0, chunk.count);
  if (!new_flows_.withholds()) absent = 0;
  const bool has_tracked = tracked_packets_ != 0;
  if (has_tracked) {
    PrepareConnections(tracked_packets_ & absent);
    ParseTracked(chunk, tracked_packets_ & ~absent);
  }
  return CountInFlood(chunk, absent) || has_tracked;
}

// Second pass, from `from` on.  Returns a bit for each packet whose flow has no entry for certain,
// and prefetches the filter's line of those.
uint32_t MatchScatter::GuessInFlood(int from, int count) {
  const FlowTable::Index index = flows_->index();
  const FlowTable::Lines lines = flows_->lines();
  const AdmissionFilter::Lines filter = new_flows_.filter_lines();
  const bool have_cells = epoch_->running->sets.flows_have_cells();
  uint32_t absent = 0;
  bool has_spilled = false;
  for (int i = from; i < count; i++) {
    Slot& slot = slots_[i];
    const FlowIndex flow = index.Guess(slot.hash);
    const bool is_absent = index.IsAbsent(slot.hash);
    slot.guess = flow;
    absent |= uint32_t{is_absent} << i;
    has_spilled |= index.HasSpilled(slot.hash);
    lines.PrefetchEntryOr(is_absent, filter.AddressOf(slot.hash), flow);
    if (have_cells) lines.PrefetchCellsOr(is_absent, filter.AddressOf(slot.hash), flow);
  }
  has_spilled_ = has_spilled;
  return absent;
}

// Third pass.  Packets that are withheld come before those of known flows, up to the first that is
// not withheld: with that, flows may come into the table and go from it.  The packets of a flow
// stay in their order.  All do if connections must see any, or if any may be new after all: so the
// answers are those of one packet at a time.
bool MatchScatter::CountInFlood(const Chunk& chunk, uint32_t absent) {
  bool has_general = false;
  for (int from = 0; from < chunk.count;) {
    const bool in_order = tracked_packets_ != 0 || has_spilled_;
    const int end = in_order ? EndOfRun(absent, from, chunk.count) : chunk.count;
    const uint64_t flows_before = counters_->flows_added;
    Withheld credit;
    const int admitted = Withhold(chunk, absent & MaskOf(from, end), end, &credit);
    has_general |= CountPresent(chunk, from, admitted, absent);
    from = admitted;
    if (admitted != end) {
      CountAdmitted(chunk, from++, credit);
      has_general = true;
    }
    if (counters_->flows_added == flows_before) continue;
    absent = GuessInFlood(from, chunk.count);
    ParseTracked(chunk, tracked_packets_ & ~absent & MaskOf(from, chunk.count));
  }
  return has_general;
}

// Returns the first packet of those in `absent` that is not withheld, or `end`.
int MatchScatter::Withhold(const Chunk& chunk, uint32_t absent, int end, Withheld* credit) {
  NewFlows::Withholding withholding = new_flows_.withholding();
  for (; absent != 0; absent &= absent - 1) {
    const int i = __builtin_ctz(absent);
    const Slot& slot = slots_[i];
    const uint32_t volume = slot.key_end != kNotPlain ? PlainFrame::Volume(slot.volume_and_ecn)
                                                      : general_[i].packet.volume;
    if (!withholding.Withhold(slot.hash, chunk.frames[i].wire_length, volume)) {
      *credit = withholding.credit();
      end = i;
      break;
    }
    if ((tracked_packets_ >> i & 1) != 0) ObserveWithheld(chunk, i);
  }
  new_flows_.Finish(withholding);
  return end;
}

// Counts the packets from `from` to `end` that are not in `absent`.
bool MatchScatter::CountPresent(const Chunk& chunk, int from, int end, uint32_t absent) {
  bool has_general = false;
  uint64_t present = ~absent & MaskOf(from, end);
  while (present != 0) {
    const int first = __builtin_ctzll(present);
    const int stop = first + __builtin_ctzll(~(present >> first));
    has_general |= CountChunk({chunk.frames, stop, chunk.arrival, chunk.now}, first);
    present &= ~uint64_t{0} << stop;
  }
  return has_general;
}

// Second pass, for plain packets whose flow has no entry.
void MatchScatter::PrepareConnections(uint32_t packets) {
  for (; packets != 0; packets &= packets - 1) {
    const int i = __builtin_ctz(packets);
    GeneralSlot& general = general_[i];
    if (slots_[i].key_end == kNotPlain) continue;
    general.flow = FlowOf(KeyOf(slots_[i]));
    general.connection_hash = connections_->HashOf(general.flow);
    connections_->Prefetch(general.connection_hash);
  }
}

// For plain packets whose flow may have an entry.
void MatchScatter::ParseTracked(const Chunk& chunk, uint32_t packets) {
  for (; packets != 0; packets &= packets - 1) {
    const int i = __builtin_ctz(packets);
    if (slots_[i].key_end != kNotPlain) PrepareGeneral(chunk, i);
  }
}

// A connection may be known although no entry of the flow is.
void MatchScatter::ObserveWithheld(const Chunk& chunk, int i) {
  GeneralSlot& general = general_[i];
  if (tracked_.IsUnknown(general.flow, general.connection_hash)) return;
  if (slots_[i].key_end != kNotPlain) PrepareGeneral(chunk, i);
  tracked_.Observe(kNoFlow, general.flow, general.connection_hash, general.packet, chunk.now);
}

// The key of the entry of a plain packet.
FlowKey MatchScatter::KeyOf(const Slot& slot) {
  FlowKey key;
  auto* bytes = reinterpret_cast<uint8_t*>(&key);
  if ((slot.key_end >> 40 & kFamilyBits) == 4) {
    std::memcpy(key.src_ip.data(), &slot.src_ip, sizeof(uint32_t));
    std::memcpy(key.dst_ip.data(), &slot.dst_ip, sizeof(uint32_t));
  } else {
    std::memcpy(bytes, slot.addresses, 2 * sizeof(IpBytes));
  }
  std::memcpy(bytes + offsetof(FlowKey, src_port), &slot.key_end, sizeof slot.key_end);
  return key;
}

}  // namespace trumpet
