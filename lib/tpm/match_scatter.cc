// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/match_scatter.h"

#include <algorithm>
#include <cstring>

#include "lib/tpm/flow_entries.h"

namespace trumpet {
namespace {

constexpr PacketFacts kNoFacts;

// What follows the ports in the key of a plain packet.
uint32_t AfterPorts(uint8_t protocol, uint32_t family, uint16_t zone, uint8_t place_flags) {
  return protocol | (family | kHasPortsFlag | place_flags) << 8 | static_cast<uint32_t>(zone) << 16;
}

// What the keys and hashes of plain packets of a protocol have in common.
struct Protocol {
  Protocol(const KeyHash::OfIpv4& hash, uint32_t after_ports)
      : key_end(uint64_t{after_ports} << 32), port_factor(hash.PortFactor(after_ports)) {}
  uint64_t key_end;
  uint64_t port_factor;
};

// Which plain packets are to be shown to their connections, and whether those of TCP stay plain
// nevertheless: in a flood, most of them need not be parsed.
struct Tracked {
  Tracked(const TriggerProgram& program, bool in_flood)
      : takes_tcp(!program.tracks_tcp() || in_flood),
        tcp(program.tracks_tcp()),
        all(program.tracks_bursts()) {}
  bool Has(const PlainFrame& plain) const { return (plain.is_tcp && tcp) || all; }
  bool takes_tcp;
  bool tcp;
  bool all;
};

uint64_t LoadWord(const void* bytes, size_t offset) {
  uint64_t word;
  std::memcpy(&word, static_cast<const uint8_t*>(bytes) + offset, sizeof word);
  return word;
}

// Of two addresses, one behind the other as in a key.  With IPv4, whose addresses end in zeros: the
// source's four bytes, then the destination's.
uint64_t IpsOf(const void* addresses) {
  static_assert(offsetof(FlowKey, src_ip) == 0 && offsetof(FlowKey, dst_ip) == sizeof(IpBytes));
  return LoadWord(addresses, 0) | LoadWord(addresses, sizeof(IpBytes) - sizeof(uint32_t));
}

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

// What the first pass fetches for the second, and learns on the way.
class MatchScatter::Direct {
 public:
  explicit Direct(const FlowTable& flows) : index_(flows.index()) {}
  [[gnu::always_inline]] void Look(uint64_t hash, int /*i*/) { index_.Prefetch(hash); }

 private:
  FlowTable::Index index_;
};

// Notes which flows have no entry for certain, and whose turn it is.  No branch, as the packets of
// a flood could choose it to be mispredicted; bytes for each packet, as a bit takes longer to set.
class MatchScatter::Flood {
 public:
  Flood(const FlowTable& flows, FloodFlags* flags) : presence_(flows.presence()), flags_(flags) {}
  [[gnu::always_inline]] void Look(uint64_t hash, int i) {
    const uint32_t may_have = presence_.MayHave(hash);
    presence_.PrefetchIf(may_have, hash);
    flags_->may_have[i] = static_cast<uint8_t>(may_have);
    flags_->turn[i] = NewFlows::Turn::OfFlow(hash);
  }

 private:
  FlowTable::Presence presence_;
  FloodFlags* flags_;
};

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
    Flood flood(*flows_, &flags_);
    const bool has_unplain = PrepareChunk(chunk, &flood);
    is_all_plain_ = !has_unplain && tracked_packets_ == 0;
    return ProcessInFlood(chunk) || has_unplain;
  }
  Direct direct(*flows_);
  const bool has_unplain = PrepareChunk(chunk, &direct);
  GuessChunk(chunk.count);
  return CountChunk(chunk, 0) || has_unplain;
}

// --- the direct way ----------------------------------------------------------
//
// Its loops contain no calls, and read what is the same for all packets only once: that keeps their
// state in registers.

// First pass.
template <typename Kind>
bool MatchScatter::PrepareChunk(const Chunk& chunk, Kind* kind) {
  const TriggerProgram& program = *epoch_->running->program;
  const bool takes_bursts = !program.tracks_bursts() || new_flows_.uses_filter();
  uint32_t rest = MaskOf(0, chunk.count);
  tracked_packets_ = 0;
  if (program.layout().extension_bytes() == 0 && takes_bursts) {
    rest = PrepareIpv4(chunk, kind);
    if (rest != 0) rest = PrepareIpv6(chunk, rest, kind);
  } else {
    chunk_bytes_ = BytesOf(chunk, rest);
  }
  counters_->bytes += chunk_bytes_;
  const bool has_general = rest != 0;
  for (; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    PrepareGeneral(chunk, i);
    kind->Look(slots_[i].hash, i);
  }
  return has_general;
}

// Keys and hashes of plain IPv4 packets; prefetches the flow table's buckets.  Returns a bit for
// each other packet.
template <typename Kind>
uint32_t MatchScatter::PrepareIpv4(const Chunk& chunk, Kind* kind) {
  const Tracked tracked(*epoch_->running->program, new_flows_.uses_filter());
  const PlainReader& reader = plain_reader_;
  const KeyHash::OfIpv4 hash(key_hash_);
  const uint16_t zone = chunk.arrival.zone;
  const Protocol udp(hash, AfterPorts(kProtocolUdp, 4, zone, place_flags_));
  const Protocol tcp(hash, AfterPorts(kProtocolTcp, 4, zone, place_flags_));
  Kind look = *kind;
  const Frame* frame = chunk.frames;
  Slot* slot = slots_;
  uint64_t bytes = 0;
  uint32_t tcp_packets = 0;
  uint32_t others = 0;
  for (int i = 0; i < chunk.count; i++, slot++, frame++) {
    bytes += frame->wire_length;
    PlainFrame plain;
    if (!reader.ReadIpv4(*frame, &plain) || (plain.is_tcp && !tracked.takes_tcp)) {
      others |= 1u << i;
      continue;
    }
    if (plain.is_tcp) tcp_packets |= 1u << i;
    const Protocol& protocol = plain.is_tcp ? tcp : udp;
    slot->volume_and_ecn = plain.volume_and_ecn;
    slot->ips = plain.ips;
    slot->key_end = protocol.key_end | plain.ports;
    slot->hash = hash(plain.src_ip(), plain.dst_ip(), plain.ports, protocol.port_factor);
    look.Look(slot->hash, i);
  }
  *kind = look;
  chunk_bytes_ = bytes;
  if (tracked.tcp) tracked_packets_ = tcp_packets;
  if (tracked.all) tracked_packets_ = MaskOf(0, chunk.count) & ~others;
  return others;
}

// The same with IPv6, of the packets with a bit in `frames`.
template <typename Kind>
uint32_t MatchScatter::PrepareIpv6(const Chunk& chunk, uint32_t frames, Kind* kind) {
  const Tracked tracked(*epoch_->running->program, new_flows_.uses_filter());
  uint32_t others = 0;
  for (; frames != 0; frames &= frames - 1) {
    const int i = __builtin_ctz(frames);
    PlainFrame plain;
    if (!plain_reader_.ReadIpv6(chunk.frames[i], &plain) || (plain.is_tcp && !tracked.takes_tcp)) {
      others |= 1u << i;
      continue;
    }
    tracked_packets_ |= uint32_t{tracked.Has(plain)} << i;
    const uint8_t protocol = plain.is_tcp ? kProtocolTcp : kProtocolUdp;
    uint64_t words[5];
    std::memcpy(words, plain.addresses, 2 * sizeof(IpBytes));
    words[4] = plain.ports | uint64_t{AfterPorts(protocol, 6, chunk.arrival.zone, place_flags_)}
                                 << 32;
    Slot& slot = slots_[i];
    slot.hash = key_hash_.OfWords(words);
    kind->Look(slot.hash, i);
    slot.key_end = words[4];
    slot.ips = IpsOf(words);
    slot.addresses = plain.addresses;
    slot.volume_and_ecn = plain.volume_and_ecn;
  }
  return others;
}

// Second pass: prefetches the entries and their cells.
void MatchScatter::GuessChunk(int count) {
  const FlowTable::Index index = flows_->index();
  const FlowTable::Lines lines = flows_->lines();
#pragma GCC unroll 4
  for (Slot* slot = slots_; slot != slots_ + count; slot++) {
    const FlowIndex flow = index.Guess(slot->hash);
    lines.PrefetchEntry(flow);
    slot->guess = flow;
  }
  if (!epoch_->running->sets.flows_have_cells()) return;
  for (const Slot* slot = slots_; slot != slots_ + count; slot++) lines.PrefetchCells(slot->guess);
}

// Whether the guess is right, and the flow has direct cells.  The end of the key tells IPv4 entries
// from all others, and they have no more than these parts.
[[gnu::always_inline]] inline bool MatchScatter::IsFlowOf(const Slot& slot, const FlowEntry& entry,
                                                          uint32_t cells) {
  return LoadWord(&entry.key, offsetof(FlowKey, src_port)) == slot.key_end &&
         IpsOf(&entry.key) == slot.ips &&
         ((cells & kWideKey) == 0 || HasAddresses(entry, slot.addresses));
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
    TouchDirect(slots_[end - 1 - bit]);
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
  Slot* slot = slots_ + from;
  Slot* const end = slots_ + count;
  uint32_t old = 0;  // the last packet's bit is the lowest
  for (; slot != end; slot++) {
    const FlowEntry& entry = lines.At(slot->guess);
    const EntryEnd entry_end(entry);
    const uint32_t cells = entry_end.cells();
    if (!entry_end.IsDirect(wanted) || !IsFlowOf(*slot, entry, cells)) break;
    slot->cells = cells;
    uint64_t is_old = entry_end.IsOld(epoch);
    if ((cells & kCountsInSet) != 0) {
      is_old |= sets.IsUntouched(entry.set);
      slot->bank = sets.At(entry.set);
    } else {
      slot->bank = flow_cells + slot->guess * (kNearBlockBytes / sizeof(uint64_t));
    }
    old = 2 * old + static_cast<uint32_t>(is_old >> 63);
  }
  *old_packets = old;
  return static_cast<int>(slot - slots_);
}

// Perhaps an earlier packet of the chunk has done it.
[[gnu::noinline]] void MatchScatter::TouchDirect(const Slot& slot) {
  const auto flow = static_cast<FlowIndex>(slot.guess);
  cells_.TouchDirect(flow, slot.bank);
}

void MatchScatter::AddDirect(const Chunk& chunk, int from, int end) {
  const Frame* frame = chunk.frames + from;
  uint64_t matched = 0;
#pragma GCC unroll 4
  for (const Slot* slot = slots_ + from; slot != slots_ + end; slot++, frame++) {
    matched += slot->cells & kDirectPackets;
    CountInDirectCells(static_cast<uint8_t>(slot->cells), *frame, slot->volume_and_ecn, slot->bank);
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
  Slot& slot = slots_[i];
  GeneralSlot& general = general_[i];
  Parse(chunk, i);
  if (general.packet.innermost.present == 0) counters_->undecodable++;
  if (general.packet.depth_exceeded) counters_->tunnels_too_deep++;

  slot.key_end = kNotPlain;
  slot.hash =
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
  if (slots_[i].key_end != kNotPlain) Parse(chunk, i);
  CountParsed(chunk, i, FindOrAddFlow(i));
}

// The same of a packet whose flow has no entry, but is admitted now.
void MatchScatter::CountAdmitted(const Chunk& chunk, int i, const Withheld& credit) {
  GeneralSlot& general = general_[i];
  if (slots_[i].key_end != kNotPlain) {
    Parse(chunk, i);
    general.is_tracked = (tracked_packets_ >> i & 1) != 0;
  }
  CountParsed(chunk, i,
              new_flows_.AddAdmitted(general.packet, general.entry_key, ExtensionOf(i),
                                     slots_[i].hash, credit));
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
  if (cells_.CountPacket(flow, general.packet, facts)) counters_->matched_packets++;
}

FlowIndex MatchScatter::FindOrAddFlow(int i) {
  const Slot& slot = slots_[i];
  const auto guess = static_cast<FlowIndex>(slot.guess);
  const FlowKey& entry_key = general_[i].entry_key;
  const uint16_t generation = epoch_->running->number;
  const size_t extension_bytes = epoch_->running->program->layout().extension_bytes();
  if (flows_->IsFlow(guess, entry_key, ExtensionOf(i), extension_bytes, slot.hash, generation)) {
    return guess;
  }
  const FlowIndex flow =
      flows_->Find(entry_key, ExtensionOf(i), extension_bytes, slot.hash, generation);
  return flow != kNoFlow ? flow
                         : new_flows_.Add(general_[i].packet, entry_key, ExtensionOf(i), slot.hash);
}

}  // namespace trumpet
