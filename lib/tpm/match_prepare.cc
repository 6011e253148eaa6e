// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MatchScatter's first pass: keys and hashes of a chunk's packets, and the flow table's buckets on
// their way into the cache.
//
// Its loops contain no calls, and read what is the same for all packets only once: that keeps their
// state in registers.

#include <cstring>

#include "lib/packet/plain_quad.h"
#include "lib/tpm/key_hash_quad.h"
#include "lib/tpm/key_words.h"
#include "lib/tpm/match_scatter.h"

namespace trumpet {
namespace {

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

struct Protocols {
  Protocols(const KeyHash::OfIpv4& hash, uint16_t zone, uint8_t place_flags)
      : udp(hash, AfterPorts(kProtocolUdp, 4, zone, place_flags)),
        tcp(hash, AfterPorts(kProtocolTcp, 4, zone, place_flags)) {}
  const Protocol udp;
  const Protocol tcp;
};

TRUMPET_QUADS __m256i OfProtocols(__m256i is_tcp, uint64_t udp, uint64_t tcp) {
  return _mm256_blendv_epi8(_mm256_set1_epi64x(static_cast<int64_t>(udp)),
                            _mm256_set1_epi64x(static_cast<int64_t>(tcp)), is_tcp);
}

TRUMPET_QUADS void Store(__m256i quad, uint64_t* words) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), quad);
}

TRUMPET_QUADS uint64_t SumOf(__m256i words) {
  const __m128i halves =
      _mm_add_epi64(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(halves)) +
         static_cast<uint64_t>(_mm_extract_epi64(halves, 1));
}

}  // namespace

// Which plain packets are to be shown to their connections, and whether those of TCP stay plain
// nevertheless: in a flood, most of them need not be parsed.
struct MatchScatter::Tracked {
  Tracked(const TriggerProgram& program, bool in_flood)
      : takes_tcp(!program.tracks_tcp() || in_flood),
        tcp(program.tracks_tcp()),
        all(program.tracks_bursts()) {}
  bool Has(const PlainFrame& plain) const { return (plain.is_tcp && tcp) || all; }
  bool takes_tcp;
  bool tcp;
  bool all;
};

// What is looked for by the hashes of usual packets, for the second pass.
template <bool kAreFew>
class MatchScatter::Direct {
 public:
  explicit Direct(const FlowTable& flows) : index_(flows.index()) {}
  [[gnu::always_inline]] void Look(uint64_t hash, int /*i*/) {
    index_.template Prefetch<kAreFew>(hash);
  }

 private:
  FlowTable::Index index_;
};

// Where flows are few, of most of which the hash gives the entry: there is no second pass.
class MatchScatter::Seated {
 public:
  Seated(FlowTable* flows, uint64_t* guesses)
      : seats_(flows->seats()), lines_(flows->lines()), guesses_(guesses) {}
  [[gnu::always_inline]] void Look(uint64_t hash, int i) {
    const FlowIndex seat = seats_.Of(hash);
    lines_.PrefetchEntry</*kAreFew=*/true>(seat);
    guesses_[i] = seat;
  }

 private:
  FlowTable::Seats seats_;
  FlowTable::Lines lines_;
  uint64_t* guesses_;
};

// In a flood: notes which flows have no entry for certain, and whose turn it is.  No branch, as the
// packets of a flood could choose it to be mispredicted; bytes for each packet, as a bit takes
// longer to set.
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

bool MatchScatter::PrepareInSeats(const Chunk& chunk) {
  Seated seated(flows_, slots_.guess);
  return PrepareChunk(chunk, &seated);
}

bool MatchScatter::PrepareUsual(const Chunk& chunk) {
  if (flows_->are_few()) {
    Direct<true> direct(*flows_);
    return PrepareChunk(chunk, &direct);
  }
  Direct<false> direct(*flows_);
  return PrepareChunk(chunk, &direct);
}

bool MatchScatter::PrepareInFlood(const Chunk& chunk) {
  Flood flood(*flows_, &flags_);
  return PrepareChunk(chunk, &flood);
}

template <typename Kind>
bool MatchScatter::PrepareChunk(const Chunk& chunk, Kind* kind) {
  const TriggerProgram& program = *epoch_->running->program;
  const bool takes_bursts = !program.tracks_bursts() || new_flows_.uses_filter();
  const uint32_t all = MaskOf(0, chunk.count);
  uint32_t rest = all;
  uint32_t tcp_not_taken = 0;
  tracked_packets_ = 0;
  const bool takes_plain = program.layout().extension_bytes() == 0 && takes_bursts;
  if (takes_plain && takes_quads_) {
    rest = PrepareQuads(chunk, kind, &tcp_not_taken);
    // What is left is not often IPv4.
    if (rest != 0) rest = PrepareIpv6(chunk, rest, kind);
    if (rest != 0) rest = PrepareIpv4(chunk, rest, kind);
    rest |= tcp_not_taken;
  } else {
    chunk_bytes_ = BytesOf(chunk, all);
    if (takes_plain) rest = PrepareIpv4(chunk, rest, kind);
    if (takes_plain && rest != 0) rest = PrepareIpv6(chunk, rest, kind);
  }
  counters_->bytes += chunk_bytes_;
  const bool has_general = rest != 0;
  for (; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    PrepareGeneral(chunk, i);
    kind->Look(slots_.hash[i], i);
  }
  return has_general;
}

// Keys and hashes of plain IPv4 packets, four at a time.  Returns a bit for each packet of which
// nothing is known yet; `tcp_not_taken` gets one for each that would be plain if it were not TCP.
template <typename Kind>
[[gnu::target("avx2")]] uint32_t MatchScatter::PrepareQuads(const Chunk& chunk, Kind* kind,
                                                            uint32_t* tcp_not_taken) {
  const Tracked tracked(*epoch_->running->program, new_flows_.uses_filter());
  const PlainQuadReader reader(plain_reader_);
  const KeyHash::OfIpv4 one_hash(key_hash_);
  const KeyHashQuad hash(one_hash);
  const Protocols protocols(one_hash, chunk.arrival.zone, place_flags_);
  Kind look = *kind;
  __m256i wire_bytes = _mm256_setzero_si256();
  uint32_t tcp_packets = 0;
  uint32_t plain_packets = 0;
  uint32_t known = 0;
  int i = 0;
  for (; i + PlainQuadReader::kFrames <= chunk.count; i += PlainQuadReader::kFrames) {
    const PlainQuad quad = reader.Read(chunk.frames + i, &wire_bytes);
    const uint32_t plain = tracked.takes_tcp ? quad.plain : quad.plain & ~quad.tcp;
    known |= quad.plain << i;
    if (plain == 0) continue;
    plain_packets |= plain << i;
    tcp_packets |= (plain & quad.tcp) << i;
    const __m256i key_ends = OfProtocols(quad.is_tcp, protocols.udp.key_end, protocols.tcp.key_end);
    const __m256i port_factors =
        OfProtocols(quad.is_tcp, protocols.udp.port_factor, protocols.tcp.port_factor);
    Store(hash(quad.ips, quad.ports, port_factors), slots_.hash + i);
    Store(_mm256_or_si256(key_ends, quad.ports), slots_.key_end + i);
    Store(quad.ips, slots_.ips + i);
    Store(quad.volume_and_ecn, slots_.volume_and_ecn + i);
    // Of one that is not plain the hash means nothing; it is looked for again when it has its own.
    for (int at = i; at < i + PlainQuadReader::kFrames; at++) look.Look(slots_.hash[at], at);
  }
  *kind = look;
  chunk_bytes_ = SumOf(wire_bytes) + BytesOf(chunk, MaskOf(i, chunk.count));
  NoteTracked(tracked, tcp_packets, plain_packets);
  *tcp_not_taken = known & ~plain_packets;
  return MaskOf(0, chunk.count) & ~known;
}

// The same, one at a time, of the packets with a bit in `frames`.
template <typename Kind>
uint32_t MatchScatter::PrepareIpv4(const Chunk& chunk, uint32_t frames, Kind* kind) {
  const Tracked tracked(*epoch_->running->program, new_flows_.uses_filter());
  const PlainReader& reader = plain_reader_;
  const KeyHash::OfIpv4 hash(key_hash_);
  const Protocols protocols(hash, chunk.arrival.zone, place_flags_);
  Kind look = *kind;
  uint32_t tcp_packets = 0;
  uint32_t others = 0;
  for (uint32_t left = frames; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    PlainFrame plain;
    if (!reader.ReadIpv4(chunk.frames[i], &plain) || (plain.is_tcp && !tracked.takes_tcp)) {
      others |= 1u << i;
      continue;
    }
    if (plain.is_tcp) tcp_packets |= 1u << i;
    const Protocol& protocol = plain.is_tcp ? protocols.tcp : protocols.udp;
    slots_.volume_and_ecn[i] = plain.volume_and_ecn;
    slots_.ips[i] = plain.ips;
    slots_.key_end[i] = protocol.key_end | plain.ports;
    slots_.hash[i] = hash(plain.src_ip(), plain.dst_ip(), plain.ports, protocol.port_factor);
    look.Look(slots_.hash[i], i);
  }
  *kind = look;
  NoteTracked(tracked, tcp_packets, frames & ~others);
  return others;
}

// The same with IPv6.
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
    slots_.hash[i] = key_hash_.OfWords(words);
    kind->Look(slots_.hash[i], i);
    slots_.key_end[i] = words[4];
    slots_.ips[i] = IpsOf(words);
    slots_.addresses[i] = plain.addresses;
    slots_.volume_and_ecn[i] = plain.volume_and_ecn;
  }
  return others;
}

void MatchScatter::NoteTracked(const Tracked& tracked, uint32_t tcp_packets,
                               uint32_t plain_packets) {
  if (tracked.tcp) tracked_packets_ |= tcp_packets;
  if (tracked.all) tracked_packets_ |= plain_packets;
}

}  // namespace trumpet
