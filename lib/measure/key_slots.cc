// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/key_slots.h"

#include "lib/base/quads.h"
#include "lib/measure/frame_headers.h"
#include "lib/measure/slot_sources.h"

namespace trumpet {
namespace {

// Of the fast family.
struct FastIndices {
  uint64_t hash;
  const SlotPlan& plan;

  uint32_t Row(uint32_t row) const { return FastRowIndex(hash, row, plan.size, plan.is_sliced); }
  uint32_t Map() const { return ScaleHash(static_cast<uint32_t>(hash >> 32), plan.size); }
  uint32_t Bits() const { return static_cast<uint32_t>(hash >> 32); }
};

// Of the reference family.
struct ReferenceIndices {
  const uint8_t* bytes;
  size_t byte_count;
  const SlotPlan& plan;

  uint32_t Row(uint32_t row) const { return Murmur3(bytes, byte_count, row + 1) % plan.size; }
  uint32_t Map() const { return Murmur3(bytes, byte_count, 0) % plan.size; }
  uint32_t Bits() const { return Murmur3(bytes, byte_count, 1); }
};

// `most` is of the bits of a pcsa.
inline void FillBucket(const SlotPlan& plan, uint32_t log2_size, uint32_t most, uint32_t hash,
                       uint32_t* slots) {
  const BucketRank rank = RankOf(hash, log2_size);
  slots[0] = rank.bucket << plan.log2;
  slots[1] = plan.form == SlotForm::kBitmap ? std::min(rank.zeros, most) : rank.zeros + 1;
}

template <typename Indices>
inline void Fill(const SlotPlan& plan, const Indices& indices, uint64_t owner, uint32_t* slots) {
  slots += plan.first;
  switch (plan.form) {
    case SlotForm::kMap:
      slots[0] = indices.Map() * plan.stride;
      return;
    case SlotForm::kOwnedMap: {
      const uint32_t index = indices.Map();
      slots[0] = plan.offset + (index << plan.log2);
      slots[1] = plan.owners + (index << 3);
      slots[2] = static_cast<uint32_t>(owner) | 1;  // 0 is nobody
      slots[3] = static_cast<uint32_t>(owner >> 32);
      return;
    }
    case SlotForm::kRows:
      for (uint32_t row = 0; row < plan.rows; ++row) {
        slots[row] = (row * plan.size + indices.Row(row)) << plan.log2;
      }
      return;
    case SlotForm::kFilter:
      for (uint32_t row = 0; row < plan.rows; ++row) {
        slots[row] = indices.Row(row) << plan.log2;
      }
      return;
    case SlotForm::kBitmap:
    case SlotForm::kRegister:
      return FillBucket(plan, static_cast<uint32_t>(__builtin_ctz(plan.size)), plan.bits - 1u,
                        indices.Bits(), slots);
  }
}

template <bool kMixes>
void FillSlicedRows(const SlotPlan& plan, const uint64_t* hashes, uint32_t count, uint32_t stride,
                    uint32_t* slots) {
  const SlicedSlots<kMixes> source(plan, hashes);
  slots += plan.first;
  for (uint32_t i = 0; i < count; ++i, slots += stride) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(slots), source.VectorOf(i));
  }
}

// Slots of variables that have as many of them as `kSlots`.
template <typename Source, uint32_t kSlots>
void FillFrom(const SlotPlan& plan, const uint64_t* hashes, uint32_t count, uint32_t stride,
              uint32_t* slots) {
  const Source source(plan, hashes);  // a copy: slots could alias the plan
  slots += plan.first;
  for (uint32_t i = 0; i < count; ++i, slots += stride) {
    const auto own = source.Of(i);
    for (uint32_t slot = 0; slot < kSlots; ++slot) slots[slot] = own[slot];
  }
}

template <bool kMixes>
void FillVariable(const SlotPlan& plan, const uint64_t* hashes, uint32_t count, uint32_t stride,
                  uint32_t* slots) {
  if (HasRows(plan.form) && plan.is_sliced) {
    return FillSlicedRows<kMixes>(plan, hashes, count, stride, slots);
  }
  switch (plan.form) {
    case SlotForm::kMap:
      return FillFrom<MapSlots<kMixes>, 1>(plan, hashes, count, stride, slots);
    case SlotForm::kRegister:
      return FillFrom<BucketSource<kMixes, false>, 2>(plan, hashes, count, stride, slots);
    case SlotForm::kBitmap:
      return FillFrom<BucketSource<kMixes, true>, 2>(plan, hashes, count, stride, slots);
    default:
      break;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t own = OwnHash<kMixes>(hashes[i], HashDistance(plan.number));
    Fill(plan, FastIndices{own, plan}, hashes[i], slots + size_t{i} * stride);
  }
}

void HashOneField(const KeyPlan& plan, const MeasuredPacket* packets, uint32_t count, uint64_t seed,
                  uint64_t* hashes) {
  const MeasureFieldId field = plan.parts[0].field;
  for (uint32_t i = 0; i < count; ++i) {
    hashes[i] = HashNumber(packets[i].values->value[field], seed);
  }
}

// Of fields that fit one word: field by field, so that its place is looked up once.
void HashOneWord(const KeyPlan& plan, const MeasuredPacket* packets, uint32_t count, uint64_t seed,
                 uint64_t* hashes) {
  uint64_t words[kMaxMeasureBurst] = {};
  for (const KeyPart& part : plan.parts) {
    for (uint32_t i = 0; i < count; ++i) {
      words[i] |= packets[i].values->value[part.field] << part.shift;
    }
  }
  uint64_t others = 0;  // most packets of a burst come by one port
  for (uint32_t i = 1; i < count; ++i) others |= words[i] ^ words[0];
  if (others == 0) {
    std::fill(hashes, hashes + count, HashNumber(words[0], seed));
    return;
  }
  for (uint32_t i = 0; i < count; ++i) hashes[i] = HashNumber(words[i], seed);
}

void HashTwoAddresses(const KeyPlan& plan, const MeasuredPacket* packets, uint32_t count,
                      uint64_t seed, uint64_t* hashes) {
  const MeasureFieldId first = plan.parts[0].field;
  const MeasureFieldId second = plan.parts[1].field;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t* value = packets[i].values->value;
    hashes[i] = HashNumber(value[first] | value[second] << 32, seed);
  }
}

// Inlined, so that fields that are constant stay so.
[[gnu::always_inline]] inline void HashFiveFields(MeasureFieldId address,
                                                  MeasureFieldId other_address, MeasureFieldId port,
                                                  MeasureFieldId other_port,
                                                  MeasureFieldId protocol,
                                                  const MeasuredPacket* packets, uint32_t count,
                                                  uint64_t seed, uint64_t* hashes) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t* value = packets[i].values->value;
    const uint64_t words[2] = {value[address] | value[other_address] << 32,
                               value[port] | value[other_port] << 16 | value[protocol] << 32};
    hashes[i] = HashBytes(words, sizeof words, seed);
  }
}

void HashFiveTuples(const KeyPlan& plan, const MeasuredPacket* packets, uint32_t count,
                    uint64_t seed, uint64_t* hashes) {
  const auto field = [&plan](size_t part) { return plan.parts[part].field; };
  if (field(0) == kIpv4Src && field(1) == kIpv4Dst && field(2) == kTcpSrc && field(3) == kTcpDst &&
      field(4) == kIpv4Proto) {  // the usual one
    return HashFiveFields(kIpv4Src, kIpv4Dst, kTcpSrc, kTcpDst, kIpv4Proto, packets, count, seed,
                          hashes);
  }
  HashFiveFields(field(0), field(1), field(2), field(3), field(4), packets, count, seed, hashes);
}

// Of addresses, ports and protocol, in the words that PackKeyWords() makes of them.
template <const uint8_t* FrameHeaders::*kTransport>
void HashTuples(const Frame* frames, uint32_t count, uint64_t seed, uint64_t* hashes) {
  for (uint32_t i = 0; i < count; ++i) {
    const FrameHeaders headers = LocateHeaders(frames[i]);
    const uint64_t addresses = LoadBe64(headers.ipv4 + 12);
    const uint32_t ports = LoadBe32(headers.*kTransport);
    const uint64_t words[2] = {addresses >> 32 | addresses << 32,
                               (ports >> 16 | ports << 16) | uint64_t{headers.ipv4[9]} << 32};
    hashes[i] = HashBytes(words, sizeof words, seed);
  }
}

// The same by shuffling the bytes from the protocol to the ports, only for processors that
// HasQuads().
template <const uint8_t* FrameHeaders::*kTransport, uint8_t kProtocol>
[[gnu::target("avx2")]] void ShuffleTuples(const Frame* frames, uint32_t count, uint64_t seed,
                                           uint64_t* hashes) {
  constexpr uint32_t kProtocolAt = kPlainIpv4At + 9;
  const __m128i with_ports = _mm_setr_epi8(6, 5, 4, 3, 10, 9, 8, 7, 12, 11, 14, 13, 0, -1, -1, -1);
  const __m128i without = _mm_setr_epi8(6, 5, 4, 3, 10, 9, 8, 7, -1, -1, -1, -1, 0, -1, -1, -1);
  for (uint32_t i = 0; i < count; ++i) {
    if (!HasPlainHeaders(frames[i])) {
      HashTuples<kTransport>(&frames[i], 1, seed, &hashes[i]);
      continue;
    }
    const uint8_t* const from_protocol = frames[i].data + kProtocolAt;
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from_protocol));
    const __m128i key = _mm_shuffle_epi8(bytes, *from_protocol == kProtocol ? with_ports : without);
    const uint64_t words[2] = {static_cast<uint64_t>(_mm_cvtsi128_si64(key)),
                               static_cast<uint64_t>(_mm_extract_epi64(key, 1))};
    hashes[i] = HashBytes(words, sizeof words, seed);
  }
}

// The key as bytes: each field big-endian.
size_t WriteBytes(const KeyPlan& plan, const PackedKey& key, uint8_t* bytes) {
  size_t count = 0;
  for (const KeyPart& part : plan.parts) {
    const uint64_t value = key.words[part.word] >> part.shift;
    for (uint32_t i = part.bytes; i > 0; --i) {
      bytes[count++] = static_cast<uint8_t>(value >> (8 * (i - 1)));
    }
  }
  return count;
}

}  // namespace

void HashKeys(const KeyPlan& plan, const MeasuredPacket* packets, uint32_t count, uint64_t seed,
              uint64_t* hashes) {
  switch (plan.shape) {
    case KeyShape::kOneField:
      return HashOneField(plan, packets, count, seed, hashes);
    case KeyShape::kTwoAddresses:
      return HashTwoAddresses(plan, packets, count, seed, hashes);
    case KeyShape::kFiveTuple:
      return HashFiveTuples(plan, packets, count, seed, hashes);
    case KeyShape::kAny:
      break;
  }
  if (plan.words == 1) return HashOneWord(plan, packets, count, seed, hashes);
  PackedKey packed;
  for (uint32_t i = 0; i < count; ++i) {
    PackKeyWords(plan, *packets[i].values, &packed);
    hashes[i] = HashPackedKey(packed, plan.words, seed);
  }
}

bool IsUsualTuple(const KeyPlan& plan) {
  if (plan.shape != KeyShape::kFiveTuple) return false;
  const auto field = [&plan](size_t part) { return plan.parts[part].field; };
  return field(0) == kIpv4Src && field(1) == kIpv4Dst && field(4) == kIpv4Proto &&
         ((field(2) == kTcpSrc && field(3) == kTcpDst) ||
          (field(2) == kUdpSrc && field(3) == kUdpDst));
}

FrameHash FrameHashOf(const KeyPlan& plan) {
  const bool is_tcp = plan.parts[2].field == kTcpSrc;
  if (HasQuads()) {
    return is_tcp ? ShuffleTuples<&FrameHeaders::tcp, kProtocolTcp>
                  : ShuffleTuples<&FrameHeaders::udp, kProtocolUdp>;
  }
  return is_tcp ? HashTuples<&FrameHeaders::tcp> : HashTuples<&FrameHeaders::udp>;
}

namespace {

template <bool kMixes>
void FindCells(const SlotPlan& plan, const uint64_t* hashes, uint32_t count, uint32_t* cells) {
  const MapSlots<kMixes> slots(plan, hashes);
  for (uint32_t i = 0; i < count; ++i) cells[i] = slots.Of(i)[0];
}

}  // namespace

void FindMapCells(const SlotPlan& plan, const uint64_t* hashes, uint32_t count, uint32_t* cells) {
  (plan.number != 0 ? FindCells<true> : FindCells<false>)(plan, hashes, count, cells);
}

void FillFastSlots(const std::vector<SlotPlan>& plans, const uint64_t* hashes, uint32_t count,
                   uint32_t stride, uint32_t* slots) {
  for (const SlotPlan& plan : plans) {
    (plan.number != 0 ? FillVariable<true> : FillVariable<false>)(plan, hashes, count, stride,
                                                                  slots);
  }
}

void FillKeySlots(const CompiledProgram& program, uint32_t key, const PackedKey& packed,
                  uint32_t* slots) {
  if (program.family == MeasureHashFamily::kFast) {
    return FillFastSlots(program.slots[key], &packed.hash, 1, 0, slots);
  }
  uint8_t bytes[kMaxMeasureKeyBytes];
  const size_t count = WriteBytes(program.keys[key], packed, bytes);
  for (const SlotPlan& plan : program.slots[key]) {
    Fill(plan, ReferenceIndices{bytes, count, plan}, packed.hash, slots);
  }
}

}  // namespace trumpet
