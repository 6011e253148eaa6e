// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/match_scatter.h"

#include <algorithm>
#include <cstring>

#include "lib/model/report.h"
#include "lib/tpm/flow_entries.h"
#include "lib/tpm/key_words.h"

namespace trumpet {
namespace {

constexpr PacketFacts kNoFacts;

// Seats are left for so many chunks when more than one packet in so many was not in its own, by so
// much.
constexpr int kPacketsPerMiss = 24;
constexpr int kSeatDebt = 1 << 14;
constexpr int kSeatPause = 1 << 14;

bool HasAddresses(const FlowEntry& entry, const uint8_t* addresses) {
  return std::memcmp(&entry.key, addresses, 2 * sizeof(IpBytes)) == 0;
}

// The last eight bytes of an entry.
class EntryEnd {
 public:
  explicit EntryEnd(const FlowEntry& entry) : word_(LoadWord(&entry, kOffset)) {}
  // Whether the entry is of this generation, and has direct cells: `wanted` is Direct(generation).
  bool IsDirect(uint64_t wanted) const { return ((word_ ^ wanted) & Direct(UINT16_MAX)) == 0; }
  static uint64_t Direct(uint16_t generation) {
    return uint64_t{generation} << kGenerationBit | uint64_t{kDirect} << kCellsBit;
  }
  // FlowEntry::direct_cells, and bits above them that mean nothing here.
  uint32_t cells() const { return static_cast<uint32_t>(word_ >> kCellsBit); }
  // The highest bit is 1 if the flow must be touched before it is counted in `epoch`.
  uint64_t IsOld(uint32_t epoch) const {
    const uint32_t age = epoch - static_cast<uint32_t>(word_);
    return uint64_t{SlackOf(cells())} - age;
  }

 private:
  static constexpr size_t kOffset = offsetof(FlowEntry, last_epoch);
  static constexpr int kGenerationBit = 8 * (offsetof(FlowEntry, generation) - kOffset);
  static constexpr int kCellsBit = 8 * (offsetof(FlowEntry, direct_cells) - kOffset);
  static_assert(kOffset + sizeof(uint64_t) == sizeof(FlowEntry) && kCellsBit == 48);
  uint64_t word_;
};

}  // namespace

bool MatchScatter::Process(const Frame* frames, int count, const Arrival& arrival, Nanos now) {
  epoch_->packets += static_cast<uint64_t>(count);
  place_flags_ = epoch_->running->program->PlaceFlagsOf(arrival.has_in_port, arrival.in_port);
  bool has_general = false;
  for (int done = 0; done < count; done += kChunk) {
    has_general |= ProcessChunk({frames + done, std::min(kChunk, count - done), arrival, now});
  }
  return has_general;
}

// True if any packet took the general way, here and below.
bool MatchScatter::ProcessChunk(const Chunk& chunk) {
  for (int i = 0; i < chunk.count; i++) __builtin_prefetch(chunk.frames[i].data);
  if (new_flows_.uses_filter()) {
    const bool has_unplain = PrepareInFlood(chunk);
    is_all_plain_ = !has_unplain && tracked_packets_ == 0;
    return ProcessInFlood(chunk) || has_unplain;
  }
  if (TakesSeats()) return ProcessInSeats(chunk);
  const bool has_unplain = PrepareUsual(chunk);
  GuessChunk(chunk.count);
  return CountChunk(chunk, 0) || has_unplain;
}

// Flows that have cells of their own have no seats.
bool MatchScatter::TakesSeats() {
  if (!flows_->is_sparse() || epoch_->running->sets.flows_have_cells()) return false;
  if (seat_pause_ == 0) return true;
  seat_pause_--;
  return false;
}

// The passes without the second one.  A packet whose flow is not in its seat is looked for in the
// index, which takes as long as a dozen others, so seats are left for a while if there are many:
// flows that came while there were more may never be in theirs.
bool MatchScatter::ProcessInSeats(const Chunk& chunk) {
  bool has_general = PrepareInSeats(chunk);
  int misses = 0;
  for (int i = CountDirect(chunk, 0); i < chunk.count; i = CountDirect(chunk, i)) {
    if (IsBeside(i)) continue;
    if (IsFoundInIndex(i)) {
      misses += TakesItsSeat(i) ? 0 : 1;
      continue;
    }
    CountGeneral(chunk, i++);
    has_general = true;
  }
  seat_debt_ = std::max(0, seat_debt_ + kPacketsPerMiss * misses - chunk.count);
  if (seat_debt_ > kSeatDebt) {
    seat_debt_ = 0;
    seat_pause_ = kSeatPause;
  }
  return has_general;
}

// Whether the flow is in the seat beside its own.
bool MatchScatter::IsBeside(int i) {
  const FlowIndex flow = FlowTable::Seats::Beside(static_cast<FlowIndex>(slots_.guess[i]));
  if (flow >= flows_->capacity() || !IsFlowAt(i, flow)) return false;
  slots_.guess[i] = flow;
  return true;
}

// Whether the packet can be counted directly, as one of this flow.
bool MatchScatter::IsFlowAt(int i, FlowIndex flow) const {
  const FlowEntry& entry = flows_->At(flow);
  const EntryEnd end(entry);
  return end.IsDirect(EntryEnd::Direct(epoch_->running->number)) && IsFlowOf(i, entry, end.cells());
}

// Whether the index has another guess.
bool MatchScatter::IsFoundInIndex(int i) {
  const FlowIndex flow = flows_->index().Guess(slots_.hash[i]);
  if (flow == slots_.guess[i]) return false;
  slots_.guess[i] = flow;
  return true;
}

// Whether the flow that was found could be moved to its seat: there are more seats than when it
// came.  Of flows that are followed as connections samples may still come, with the entry's number.
bool MatchScatter::TakesItsSeat(int i) {
  const TriggerProgram& program = *epoch_->running->program;
  const auto flow = static_cast<FlowIndex>(slots_.guess[i]);
  if (!IsFlowAt(i, flow)) return false;
  const bool is_tcp = flows_->At(flow).key.protocol == kProtocolTcp;
  if ((program.tracks_tcp() && is_tcp) || program.tracks_bursts()) return false;
  slots_.guess[i] = flows_->MoveToSeat(flow, slots_.hash[i]);
  return slots_.guess[i] != flow;
}

// --- the direct way ----------------------------------------------------------
//
// Its loops contain no calls, and read what is the same for all packets only once: that keeps their
// state in registers.

// Second pass: prefetches the entries and their cells.
void MatchScatter::GuessChunk(int count) {
  if (flows_->are_few()) {
    GuessEntries<true>(count);
  } else {
    GuessEntries<false>(count);
  }
  if (!epoch_->running->sets.flows_have_cells()) return;
  const FlowTable::Lines lines = flows_->lines();
  for (int i = 0; i < count; i++) lines.PrefetchCells(static_cast<FlowIndex>(slots_.guess[i]));
}

template <bool kAreFew>
void MatchScatter::GuessEntries(int count) {
  const FlowTable::Index index = flows_->index();
  const FlowTable::Lines lines = flows_->lines();
#pragma GCC unroll 4
  for (int i = 0; i < count; i++) {
    const FlowIndex flow = index.Guess(slots_.hash[i]);
    lines.PrefetchEntry<kAreFew>(flow);
    slots_.guess[i] = flow;
  }
}

// Whether the guess is right, and the flow has direct cells.  The end of the key tells IPv4 entries
// from all others, and they have no more than these parts.
[[gnu::always_inline]] inline bool MatchScatter::IsFlowOf(int i, const FlowEntry& entry,
                                                          uint32_t cells) const {
  return LoadWord(&entry.key, offsetof(FlowKey, src_port)) == slots_.key_end[i] &&
         IpsOf(&entry.key) == slots_.ips[i] &&
         ((cells & kWideKey) == 0 || HasAddresses(entry, slots_.addresses[i]));
}

// Third pass, of the packets from `from` on.  They stay in their order.
bool MatchScatter::CountChunk(const Chunk& chunk, int from) {
  bool has_general = false;
  for (int i = CountDirect(chunk, from); i < chunk.count; i = CountDirect(chunk, i)) {
    CountGeneral(chunk, i++);
    has_general = true;
  }
  return has_general;
}

// Counts packets from `from` on, and returns the first that is not direct.
int MatchScatter::CountDirect(const Chunk& chunk, int from) {
  uint32_t old = 0;
  const int end = FindCells(chunk.count, from, &old);
  while (old != 0) {
    const int bit = 31 - __builtin_clz(old);
    TouchDirect(end - 1 - bit);
    old ^= 1u << bit;
  }
  AddDirect(chunk, from, end);
  return end;
}

// Finds the cells of the packets up to the first that is not direct, which is the answer.  Those
// whose flow or set must be touched before get a bit, the last packet the lowest one.
//
// Few variables, and words rather than bytes: a byte that is spilled and read back as a word costs
// more than all the rest.
[[gnu::noinline]] int MatchScatter::FindCells(int count, int from, uint32_t* old_packets) {
  const FlowTable::Lines lines = flows_->lines();
  const TriggerSetTable::Banks sets = epoch_->running->sets.BanksOf(epoch_->number);
  uint64_t* const flow_cells = lines.NearBlock(0) + epoch_->bank() * kDirectBankWords;
  const uint32_t epoch = epoch_->number;
  const uint64_t wanted = EntryEnd::Direct(epoch_->running->number);
  uint32_t old = 0;  // the last packet's bit is the lowest
  int i = from;
  for (; i != count; i++) {
    const auto guess = static_cast<FlowIndex>(slots_.guess[i]);
    const FlowEntry& entry = lines.At(guess);
    const EntryEnd entry_end(entry);
    const uint32_t cells = entry_end.cells();
    if (!entry_end.IsDirect(wanted) || !IsFlowOf(i, entry, cells)) break;
    slots_.cells[i] = cells;
    uint64_t is_old = entry_end.IsOld(epoch);
    if ((cells & kCountsInSet) != 0) {
      is_old |= sets.IsUntouched(entry.set);
      slots_.bank[i] = sets.At(entry.set);
    } else {
      slots_.bank[i] = flow_cells + slots_.guess[i] * (kNearBlockBytes / sizeof(uint64_t));
    }
    old = 2 * old + static_cast<uint32_t>(is_old >> 63);
  }
  *old_packets = old;
  return i;
}

// Perhaps an earlier packet of the chunk has done it.
[[gnu::noinline]] void MatchScatter::TouchDirect(int i) {
  cells_.TouchDirect(static_cast<FlowIndex>(slots_.guess[i]), slots_.bank[i]);
}

void MatchScatter::AddDirect(const Chunk& chunk, int from, int end) {
  uint64_t matched = 0;
#pragma GCC unroll 4
  for (int i = from; i != end; i++) {
    const uint64_t cells = slots_.cells[i];
    matched += cells & kDirectPackets;
    CountInDirectCells(static_cast<uint8_t>(cells), chunk.frames[i], slots_.volume_and_ecn[i],
                       slots_.bank[i]);
  }
  counters_->matched_packets += matched;
}

// --- the general way ---------------------------------------------------------

void MatchScatter::Parse(const Chunk& chunk, int i) {
  GeneralSlot& general = general_[i];
  general.packet.has_in_port = chunk.arrival.has_in_port;
  general.packet.in_port = chunk.arrival.in_port;
  ParsePacket(chunk.frames[i], parse_, &general.packet);
  const TriggerProgram& program = *epoch_->running->program;
  general.entry_key = EntryKeyOf(general.packet, chunk.arrival.zone,
                                 program.PlaceFlagsOf(general.packet, place_flags_));
  general.is_tracked = false;
}

// First pass; prefetches the connection too.
void MatchScatter::PrepareGeneral(const Chunk& chunk, int i) {
  const TriggerProgram& program = *epoch_->running->program;
  GeneralSlot& general = general_[i];
  Parse(chunk, i);
  if (general.packet.innermost.present == 0) counters_->undecodable++;
  if (general.packet.depth_exceeded) counters_->tunnels_too_deep++;

  slots_.key_end[i] = kNotPlain;
  slots_.hash[i] =
      HashOfEntry(key_hash_, general.entry_key, general.packet, program.layout(), ExtensionOf(i));

  const Headers& headers = general.packet.innermost;
  const bool is_tcp = headers.protocol == kProtocolTcp;
  general.is_tracked =
      headers.ip_family != 0 && ((program.tracks_tcp() && is_tcp) || program.tracks_bursts());
  if (general.is_tracked) {
    tracked_packets_ |= 1u << i;
    general.flow = FlowOf(general.entry_key);
    general.connection_hash = connections_->HashOf(general.flow);
    connections_->Prefetch(general.connection_hash);
  }
}

// Third pass: the flow's entry, the connection, the cells.  A plain packet comes here, not yet
// parsed, if its flow was not where it was guessed to be, or is new, or has other cells.
void MatchScatter::CountGeneral(const Chunk& chunk, int i) {
  if (slots_.key_end[i] != kNotPlain) Parse(chunk, i);
  CountParsed(chunk, i, FindOrAddFlow(i));
}

// The same of a packet whose flow has no entry, but is admitted now.
void MatchScatter::CountAdmitted(const Chunk& chunk, int i, const Withheld& credit) {
  GeneralSlot& general = general_[i];
  if (slots_.key_end[i] != kNotPlain) {
    Parse(chunk, i);
    general.is_tracked = (tracked_packets_ >> i & 1) != 0;
  }
  CountParsed(chunk, i,
              new_flows_.AddAdmitted(general.packet, general.entry_key, ExtensionOf(i),
                                     slots_.hash[i], credit));
}

void MatchScatter::CountParsed(const Chunk& chunk, int i, FlowIndex flow) {
  GeneralSlot& general = general_[i];
  const PacketFacts facts =
      general.is_tracked
          ? tracked_.Observe(flow, general.flow, general.connection_hash, general.packet, chunk.now)
          : kNoFacts;
  if (flow == kNoFlow) {
    return;  // NewFlows told so
  }
  const bool is_matched = cells_.CountPacket(flow, general.packet, facts);
  if (is_matched) counters_->matched_packets++;
  if (cells_.IsCut(flow)) NoteCut(general.packet.bytes, is_matched);
}

// The flow matches triggers that are not counted for it: for want of room, or of time for a packet.
void MatchScatter::NoteCut(uint32_t bytes, bool is_matched) {
  epoch_->reasons |= kFlowTableFull;
  (is_matched ? counters_->partly_counted_packets : counters_->uncounted_packets)++;
  (is_matched ? counters_->partly_counted_bytes : counters_->uncounted_bytes) += bytes;
}

FlowIndex MatchScatter::FindOrAddFlow(int i) {
  const uint64_t hash = slots_.hash[i];
  const auto guess = static_cast<FlowIndex>(slots_.guess[i]);
  const FlowKey& entry_key = general_[i].entry_key;
  const uint16_t generation = epoch_->running->number;
  const size_t extension_bytes = epoch_->running->program->layout().extension_bytes();
  if (flows_->IsFlow(guess, entry_key, ExtensionOf(i), extension_bytes, hash, generation)) {
    return guess;
  }
  const FlowIndex flow = flows_->Find(entry_key, ExtensionOf(i), extension_bytes, hash, generation);
  return flow != kNoFlow ? flow
                         : new_flows_.Add(general_[i].packet, entry_key, ExtensionOf(i), hash);
}

}  // namespace trumpet
