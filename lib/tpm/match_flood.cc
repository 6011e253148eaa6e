// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MatchScatter in a flood of new flows.
//
// While the admission filter is in use, nearly all packets may be of flows without an entry, and
// nearly all of those are withheld.  Hash and lengths are enough for that.

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "lib/tpm/match_scatter.h"

namespace trumpet {
namespace {

// A bit for each of 32 bytes that is `value` in the bits of `mask`.
uint32_t EqualBytes(const uint8_t* bytes, uint8_t value, uint8_t mask) {
  const __m128i values = _mm_set1_epi8(static_cast<char>(value & mask));
  const __m128i masks = _mm_set1_epi8(static_cast<char>(mask));
  uint32_t equal = 0;
  for (int half = 0; half < 2; half++) {
    const __m128i some = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes) + half);
    const __m128i masked = _mm_and_si128(some, masks);
    const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(masked, values));
    equal |= static_cast<uint32_t>(bits) << 16 * half;
  }
  return equal;
}

// How far the bits are the same as at `from`.
int EndOfRun(uint32_t bits, int from, int end) {
  const uint32_t changes = (bits ^ bits >> 1) & ~uint32_t{0} << from;
  return changes == 0 ? end : std::min(end, __builtin_ctz(changes) + 1);
}

}  // namespace

bool MatchScatter::ProcessInFlood(const Chunk& chunk) {
  const uint32_t all = MaskOf(0, chunk.count);
  const NewFlows::Turn turn = new_flows_.turn();
  uint32_t absent = EqualBytes(flags_.may_have, 0, 1) & all;
  in_turn_ = EqualBytes(flags_.turn, turn.lot(), turn.mask());
  if (!new_flows_.withholds()) absent = 0;
  const AdmissionFilter::Lines filter = new_flows_.filter_lines();
  for (uint32_t offered = absent & in_turn_; offered != 0; offered &= offered - 1) {
    __builtin_prefetch(filter.AddressOf(slots_.hash[__builtin_ctz(offered)]));
  }
  const uint32_t found_absent = GuessInFlood(all & ~absent);
  if (new_flows_.withholds()) absent |= found_absent;
  const bool has_tracked = tracked_packets_ != 0;
  if (has_tracked) {
    PrepareConnections(tracked_packets_ & absent);
    ParseTracked(chunk, tracked_packets_ & ~absent);
  }
  return CountInFlood(chunk, absent) || has_tracked;
}

// Second pass, of these packets.  Returns a bit for each whose flow has no entry for certain, and
// prefetches the filter's line of those.
uint32_t MatchScatter::GuessInFlood(uint32_t packets) {
  const FlowTable::Index index = flows_->index();
  const FlowTable::Lines lines = flows_->lines();
  const AdmissionFilter::Lines filter = new_flows_.filter_lines();
  const bool have_cells = epoch_->running->sets.flows_have_cells();
  uint32_t absent = 0;
  bool has_spilled = false;
  for (; packets != 0; packets &= packets - 1) {
    const int i = __builtin_ctz(packets);
    const uint64_t hash = slots_.hash[i];
    const FlowIndex flow = index.Guess(hash);
    const bool is_absent = index.IsAbsent(hash);
    slots_.guess[i] = flow;
    absent |= uint32_t{is_absent} << i;
    has_spilled |= index.HasSpilled(hash);
    lines.PrefetchEntryOr(is_absent, filter.AddressOf(hash), flow);
    if (have_cells) lines.PrefetchCellsOr(is_absent, filter.AddressOf(hash), flow);
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
    has_general |= CountPresent(chunk, from, ~absent & MaskOf(from, admitted));
    from = admitted;
    if (admitted != end) {
      CountAdmitted(chunk, from++, credit);
      has_general = true;
    }
    if (counters_->flows_added == flows_before) continue;
    absent = GuessInFlood(MaskOf(from, chunk.count));
    ParseTracked(chunk, tracked_packets_ & ~absent & MaskOf(from, chunk.count));
  }
  return has_general;
}

// Returns the first packet of those in `absent` that is not withheld, or `end`.
int MatchScatter::Withhold(const Chunk& chunk, uint32_t absent, int end, Withheld* credit) {
  NewFlows::Withholding withholding = new_flows_.withholding();
  const uint32_t seen = absent & in_turn_;
  for (uint32_t left = seen; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint32_t volume = slots_.key_end[i] != kNotPlain
                                ? PlainFrame::Volume(slots_.volume_and_ecn[i])
                                : general_[i].packet.volume;
    if (!withholding.Withhold(slots_.hash[i], chunk.frames[i].wire_length, volume)) {
      *credit = withholding.credit();
      end = i;
      break;
    }
  }
  new_flows_.Finish(withholding);
  const uint32_t withheld = absent & MaskOf(0, end);
  WithholdUnseen(chunk, withheld & ~seen);
  for (uint32_t left = withheld & tracked_packets_; left != 0; left &= left - 1) {
    ObserveWithheld(chunk, __builtin_ctz(left));
  }
  return end;
}

void MatchScatter::WithholdUnseen(const Chunk& chunk, uint32_t packets) {
  const auto count = static_cast<uint32_t>(__builtin_popcount(packets));
  const bool are_most = count > static_cast<uint32_t>(chunk.count) / 2;
  const uint64_t bytes = are_most ? chunk_bytes_ - BytesOf(chunk, MaskOf(0, chunk.count) & ~packets)
                                  : BytesOf(chunk, packets);
  new_flows_.WithholdUnseen(count, bytes);
}

uint64_t MatchScatter::BytesOf(const Chunk& chunk, uint32_t packets) {
  uint64_t bytes = 0;
  for (; packets != 0; packets &= packets - 1) {
    bytes += chunk.frames[__builtin_ctz(packets)].wire_length;
  }
  return bytes;
}

// Counts the packets `present`, all of them `from` or later.
bool MatchScatter::CountPresent(const Chunk& chunk, int from, uint32_t present) {
  if (!is_all_plain_) return CountRuns(chunk, present);
  // One after the other: short runs would cost a mispredicted branch or two each.
  int next = from;
  for (; present != 0; present &= present - 1, next++) {
    const int i = __builtin_ctz(present);
    slots_.Copy(i, next);
    present_frames_[next] = chunk.frames[i];
  }
  return CountChunk({present_frames_, next, chunk.arrival, chunk.now}, from);
}

bool MatchScatter::CountRuns(const Chunk& chunk, uint64_t present) {
  bool has_general = false;
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
    if (slots_.key_end[i] == kNotPlain) continue;
    general.flow = FlowOf(KeyOf(i));
    general.connection_hash = connections_->HashOf(general.flow);
    connections_->Prefetch(general.connection_hash);
  }
}

// For plain packets whose flow may have an entry.
void MatchScatter::ParseTracked(const Chunk& chunk, uint32_t packets) {
  for (; packets != 0; packets &= packets - 1) {
    const int i = __builtin_ctz(packets);
    if (slots_.key_end[i] != kNotPlain) PrepareGeneral(chunk, i);
  }
}

// A connection may be known although no entry of the flow is.
void MatchScatter::ObserveWithheld(const Chunk& chunk, int i) {
  GeneralSlot& general = general_[i];
  if (tracked_.IsUnknown(general.flow, general.connection_hash)) return;
  if (slots_.key_end[i] != kNotPlain) PrepareGeneral(chunk, i);
  tracked_.Observe(kNoFlow, general.flow, general.connection_hash, general.packet, chunk.now);
}

// The key of the entry of a plain packet.
FlowKey MatchScatter::KeyOf(int i) const {
  FlowKey key;
  auto* bytes = reinterpret_cast<uint8_t*>(&key);
  if ((slots_.key_end[i] >> 40 & kFamilyBits) == 4) {
    const auto src_ip = static_cast<uint32_t>(slots_.ips[i]);
    const auto dst_ip = static_cast<uint32_t>(slots_.ips[i] >> 32);
    std::memcpy(key.src_ip.data(), &src_ip, sizeof src_ip);
    std::memcpy(key.dst_ip.data(), &dst_ip, sizeof dst_ip);
  } else {
    std::memcpy(bytes, slots_.addresses[i], 2 * sizeof(IpBytes));
  }
  std::memcpy(bytes + offsetof(FlowKey, src_port), &slots_.key_end[i], sizeof slots_.key_end[i]);
  return key;
}

}  // namespace trumpet
