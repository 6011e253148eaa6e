// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/yardstick.h"

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <unordered_map>

namespace trumpet::bench {
namespace {

struct Tuple {
  uint64_t addresses;
  uint64_t rest;
  bool operator==(const Tuple& other) const {
    return addresses == other.addresses && rest == other.rest;
  }
};

struct TupleHash {
  size_t operator()(const Tuple& tuple) const {
    uint64_t hash = tuple.addresses * 0x9e3779b97f4a7c15 ^ (tuple.rest + (tuple.addresses >> 29));
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93;
    return hash ^ (hash >> 32);
  }
};

// Memory in rising order in the steps of a common malloc(), none taken back: the nodes of a map lie
// as they do in a program that made nothing else before.
class RisingMemory : public std::pmr::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    return blocks_.allocate((bytes + 8 + 15) / 16 * 16, std::max<size_t>(alignment, 16));
  }
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::monotonic_buffer_resource blocks_;
};

using TupleMap = std::pmr::unordered_map<Tuple, uint64_t, TupleHash>;

// Not inlined, with the tuple in memory: so the yardstick's compiled loop calls the map.
[[gnu::noinline, gnu::flatten]] uint64_t& BytesOf(TupleMap* map, const Tuple& tuple) {
  return (*map)[tuple];
}

class CountingContender : public Contender {
 public:
  explicit CountingContender(uint32_t flows) { bytes_.reserve(flows); }
  bool times_frames() const override { return false; }
  Json Facts() const override {
    uint64_t sum = 0;
    for (const auto& [tuple, bytes] : bytes_) sum += bytes;
    return {{"flows_seen", bytes_.size()}, {"bytes_seen", sum}};
  }

 protected:
  RisingMemory memory_;
  TupleMap bytes_{&memory_};
};

// Offsets and distances are constants, as in the model.  Only the addresses of an IPv6 frame do not
// lie side by side.
template <Encapsulation kKind>
struct Reader {
  static constexpr FrameShape kShape = ShapeOf(kKind);

  static uint64_t Addresses(const uint8_t* frame) {
    uint64_t addresses;
    std::memcpy(&addresses, frame + kShape.src_at, 8);
    if (kShape.dst_at == kShape.src_at + 4) return addresses;
    uint32_t dst;
    std::memcpy(&dst, frame + kShape.dst_at, 4);
    return (addresses & 0xffffffff) | static_cast<uint64_t>(dst) << 32;
  }
  static uint32_t Ports(const uint8_t* frame) {
    uint32_t ports;
    std::memcpy(&ports, frame + kShape.ports_at, 4);
    return ports;
  }
  static uint64_t Protocol(const uint8_t* frame) { return frame[kShape.protocol_at]; }
};

template <typename Reader>
class Yardstick : public CountingContender {
 public:
  using CountingContender::CountingContender;
  void OnBatch(const Frame* frames, Nanos) override {
    const uint8_t* frame = frames[0].data;
    for (int i = 0; i < kBatch; i++, frame += Reader::kShape.stride) {
      Tuple tuple{Reader::Addresses(frame), 0};
      const uint32_t ports = Reader::Ports(frame);
      std::memcpy(&tuple.rest, &ports, 4);
      // The half word must be in memory before the whole word is read: that is the stall.
      __asm__ volatile("" : "+m"(tuple));
      tuple.rest |= Reader::Protocol(frame) << 32;
      BytesOf(&bytes_, tuple) += frame[17];
    }
  }
};

template <typename Reader>
class Map : public CountingContender {
 public:
  using CountingContender::CountingContender;
  void OnBatch(const Frame* frames, Nanos) override {
    const uint8_t* frame = frames[0].data;
    for (int i = 0; i < kBatch; i++, frame += Reader::kShape.stride) {
      const uint64_t rest = Reader::Ports(frame) | Reader::Protocol(frame) << 32;
      bytes_[{Reader::Addresses(frame), rest}] += frame[17];
    }
  }
};

template <template <typename> class Kind>
std::unique_ptr<Contender> Make(const TrafficSpec& spec) {
  switch (spec.encapsulation) {
    case Encapsulation::kIpv6:
      return std::make_unique<Kind<Reader<Encapsulation::kIpv6>>>(spec.flows);
    case Encapsulation::kVxlan:
      return std::make_unique<Kind<Reader<Encapsulation::kVxlan>>>(spec.flows);
    case Encapsulation::kIpv4:
      break;
  }
  return std::make_unique<Kind<Reader<Encapsulation::kIpv4>>>(spec.flows);
}

}  // namespace

std::unique_ptr<Contender> MakeYardstick(const TrafficSpec& spec) { return Make<Yardstick>(spec); }
std::unique_ptr<Contender> MakeMap(const TrafficSpec& spec) { return Make<Map>(spec); }

}  // namespace trumpet::bench
