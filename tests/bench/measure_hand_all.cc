// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The other programs of docs/measurements by hand, and all of them at once: the hash of the key is
// taken once a burst, and a flow's counters lie side by side.  Of programs with roles the part of a
// switch that is neither the first nor the last one, as the packets of the bench have it.

#include <algorithm>
#include <new>
#include <type_traits>
#include <vector>

#include "lib/measure/frame_copy.h"
#include "lib/measure/measure_hash.h"
#include "tests/bench/measure_contenders.h"
#include "tests/bench/measure_hand.h"

namespace trumpet {
namespace {

constexpr uint32_t kFlowSlots = 1024;

uint32_t FlowSlot(uint64_t hash) {
  return ScaleHash(static_cast<uint32_t>(hash >> 32), kFlowSlots);
}

// All that a packet of TCP or UDP in IPv4 has, in as few bytes as it takes.
struct PacketRecord {
  explicit PacketRecord(const MeasuredPacket& packet) : now(packet.now) {
    const uint64_t* const value = packet.values->value;
    present = static_cast<uint32_t>(packet.values->present);
    const uint32_t transport = packet.values->Has(kTcpSrc) ? kTcpSrc : kUdpSrc;
    Take(value[kEthDst], &eth_dst_high, &eth_dst_low);
    Take(value[kEthSrc], &eth_src_high, &eth_src_low);
    Take(value[kEthType], &eth_type);
    Take(value[kIpv4Src], &ipv4_src);
    Take(value[kIpv4Dst], &ipv4_dst);
    Take(value[kIpv4Len], &ipv4_len);
    Take(value[kIpv4Id], &ipv4_id);
    Take(value[kIpv4Checksum], &ipv4_checksum);
    Take(value[kIpv4Tos], &ipv4_tos);
    Take(value[kIpv4Ttl], &ipv4_ttl);
    Take(value[kIpv4Proto], &ipv4_proto);
    Take(value[kTcpFlags], &tcp_flags);
    Take(value[transport], &source_port);
    Take(value[transport + 1], &destination_port);
    Take(value[kPktSize], &size);
    Take(value[kPktInputPort], &input_port);
    Take(value[kPktOutputPort], &output_port);
    Take(value[kPktInQueueLength], &in_queue_length);
    Take(value[kSwitchId], &switch_id);
  }

  uint64_t now;
  uint32_t present;
  uint32_t eth_dst_low, eth_src_low, ipv4_src, ipv4_dst, size;
  uint16_t eth_dst_high, eth_src_high, eth_type, ipv4_len, ipv4_id, ipv4_checksum;
  uint16_t source_port, destination_port, input_port, output_port, in_queue_length;
  uint8_t ipv4_tos, ipv4_ttl, ipv4_proto, tcp_flags, switch_id;

 private:
  template <typename Number>
  static void Take(uint64_t value, Number* number) {
    *number = static_cast<Number>(value);
  }
  static void Take(uint64_t value, uint16_t* high, uint32_t* low) {
    *high = static_cast<uint16_t>(value >> 32);
    *low = static_cast<uint32_t>(value);
  }
};

// What a packet leaves behind that is collected, in the place of an old one: all of its fields, as
// whoever gets it is to see them, or the first bytes of its frame.
template <typename Record>
class Ring {
 public:
  // The record, for tags; in the place of an old one.
  template <typename... Parts>
  Record* Put(const Parts&... parts) {
    return new (&records_[collected_++ % kRecords]) Record(parts...);
  }
  uint64_t collected() const { return collected_; }

 private:
  static constexpr uint64_t kRecords = 2048;  // about as many as the engine has room for
  std::vector<std::aligned_storage_t<sizeof(Record), alignof(Record)>> records_{kRecords};
  uint64_t collected_ = 0;
};

struct FrameRecord {
  FrameRecord(const Frame& frame, uint64_t time)
      : now(time), wire_length(frame.wire_length), captured(FrameCopy::BytesOf(frame)) {
    CopyFrameBytes(frame.data, captured, bytes);
  }

  uint64_t now;
  uint32_t wire_length, captured;
  uint8_t bytes[FrameCopy::kMostBytes];
};

// Bursts as tasks see them that look at sizes and collect packets.
struct FieldBurst {
  using Record = PacketRecord;

  const MeasuredPacket* packets;
  uint32_t count;

  uint32_t SizeOf(uint32_t i) const {
    return static_cast<uint32_t>(packets[i].values->value[kPktSize]);
  }
  void Collect(uint32_t i, Ring<Record>* ring) const { ring->Put(packets[i]); }
};
struct FrameBurst {
  using Record = FrameRecord;

  const Frame* frames;
  uint32_t count;
  uint64_t now;

  uint32_t SizeOf(uint32_t i) const { return frames[i].wire_length; }
  void Collect(uint32_t i, Ring<Record>* ring) const { ring->Put(frames[i], now); }
};

// A `Task` of the bursts that are taken.
template <template <typename> class Task>
class FieldTask : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    task_.Update({burst.packets, burst.count}, burst.hashes);
  }
  uint64_t Sum() const override { return task_.Sum(); }

 private:
  Task<FieldBurst> task_;
};
template <template <typename> class Task>
class FrameTask : public HandTask {
 public:
  void RunHashed(const HandBurst&) override {}
  void RunHashedFrames(const Frame* frames, const uint64_t* hashes, uint32_t count,
                       uint64_t now) override {
    task_.Update({frames, count, now}, hashes);
  }
  bool takes_frames() const override { return true; }
  uint64_t Sum() const override { return task_.Sum(); }

 private:
  Task<FrameBurst> task_;
};
template <template <typename> class Task>
std::unique_ptr<HandTask> MakeEither(bool takes_frames) {
  if (takes_frames) return std::make_unique<FrameTask<Task>>();
  return std::make_unique<FieldTask<Task>>();
}

class VolumeAndDuration : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      Flow* flow = &flows_[FlowSlot(burst.hashes[i])];
      flow->bytes += static_cast<uint32_t>(burst.packets[i].values->value[kPktSize]);
      flow->packets++;
      if (flow->start == 0) {
        flow->start = burst.packets[i].now;
      } else {
        flow->duration = burst.packets[i].now - flow->start;
      }
    }
  }
  uint64_t Sum() const override { return flows_[0].bytes; }

 private:
  struct Flow {
    uint32_t bytes, packets;
    uint64_t start, duration;
  };
  Flow flows_[kFlowSlots] = {};
};

class Pcsa : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      const BucketRank rank = RankOf(static_cast<uint32_t>(burst.hashes[i] >> 32), 7);
      bitmaps_[rank.bucket] |= 1u << rank.zeros;
    }
  }
  uint64_t Sum() const override { return bitmaps_[0]; }

 private:
  uint32_t bitmaps_[128] = {};
};

template <typename Burst>
class Thresholds {
 public:
  void Update(const Burst& burst, const uint64_t* hashes) {
    for (uint32_t i = 0; i < burst.count; ++i) {
      Flow* flow = &flows_[FlowSlot(hashes[i])];
      if (++flow->packets > 200) burst.Collect(i, &ring_);
      flow->bytes += burst.SizeOf(i);
      if (flow->bytes > 100000) burst.Collect(i, &ring_);
    }
  }
  uint64_t Sum() const { return ring_.collected(); }

 private:
  struct Flow {
    uint32_t bytes, packets;
  };
  Flow flows_[kFlowSlots] = {};
  Ring<typename Burst::Record> ring_;
};

template <typename Burst>
class RandomSamples {
 public:
  void Update(const Burst& burst, const uint64_t*) {
    for (uint32_t i = 0; i < burst.count; ++i) {
      random_ += 0x9e3779b97f4a7c15u;
      if (ScaleHash(static_cast<uint32_t>(MixBits(random_) >> 32), 100) < 25) {
        burst.Collect(i, &ring_);
      }
    }
  }
  uint64_t Sum() const { return ring_.collected(); }

 private:
  uint64_t random_ = 1;
  Ring<typename Burst::Record> ring_;
};

// Three of twenty packets of a flow, five packets after the last.
template <typename Burst>
class RegularSamples {
 public:
  void Update(const Burst& burst, const uint64_t* hashes) {
    for (uint32_t i = 0; i < burst.count; ++i) {
      Flow* flow = &flows_[FlowSlot(hashes[i])];
      if (flow->delta < 5) {
        flow->delta++;
      } else if (flow->m < 3) {
        flow->m++;
        burst.Collect(i, &ring_);
      }
      if (++flow->n >= 20) *flow = {};
    }
  }
  uint64_t Sum() const { return ring_.collected(); }

 private:
  struct Flow {
    uint32_t n, m, delta;
  };
  Flow flows_[kFlowSlots] = {};
  Ring<typename Burst::Record> ring_;
};

class Postcards : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      const uint64_t* value = burst.packets[i].values->value;
      PacketRecord* const postcard = ring_.Put(burst.packets[i]);
      postcard->ipv4_checksum = static_cast<uint16_t>(value[kPktInputPort]);
      postcard->ipv4_id = static_cast<uint16_t>(value[kPktOutputPort]);
      postcard->ipv4_tos = static_cast<uint8_t>(value[kSwitchId]);
    }
  }
  uint64_t Sum() const override { return ring_.collected(); }

 private:
  Ring<PacketRecord> ring_;
};

// The bits of a place in a filter of 16 bits.
uint32_t PlaceBits(const uint64_t* value) {
  const uint64_t hash = HashNumber(
      value[kPktInputPort] | value[kSwitchId] << 16 | value[kPktOutputPort] << 24, kHandSeed);
  uint32_t bits = 0;
  for (uint32_t row = 0; row < 4; ++row) bits |= 1u << FastRowIndex(hash, row, 16, true);
  return bits;
}

void TagChecksum(uint64_t bits, PacketValues* values) {
  if (!values->Has(kIpv4Checksum)) return;
  values->value[kIpv4Checksum] = bits & 0xffff;
  values->tagged |= uint64_t{1} << kIpv4Checksum;
}

class Trajectory : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      PacketValues* values = burst.packets[i].values;
      if ((values->value[kIpv4Tos] & 1) == 0) continue;
      const uint32_t bits = PlaceBits(values->value);
      TagChecksum(values->value[kIpv4Checksum] | filter_ | bits, values);
      filter_ &= ~bits;
    }
  }
  uint64_t Sum() const override { return filter_; }

 private:
  uint32_t filter_ = 0;
};

class Congestion : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      PacketValues* values = burst.packets[i].values;
      if ((values->value[kIpv4Tos] & 1) == 0) continue;
      length_ = static_cast<uint32_t>(values->value[kIpv4Id] + values->value[kPktInQueueLength]);
      if (values->Has(kIpv4Id)) values->Set(kIpv4Id, length_ & 0xffff);
    }
  }
  uint64_t Sum() const override { return length_; }

 private:
  uint32_t length_ = 0;
};

class PathChanges : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      PacketValues* values = burst.packets[i].values;
      const uint32_t bits = PlaceBits(values->value);
      const auto filter = static_cast<uint32_t>(values->value[kIpv4Checksum]) | bits;
      TagChecksum(filter, values);
      filter_ = filter & ~bits;
    }
  }
  uint64_t Sum() const override { return filter_; }

 private:
  uint32_t filter_ = 0;
};

class ChangeLatency : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      PacketValues* values = burst.packets[i].values;
      if (values->value[kSegwayMsg] != 2) continue;
      clock_ = static_cast<uint8_t>(std::max<uint64_t>(clock_ + 1, values->value[kSegwayTs]));
      values->Set(kSegwayTs, clock_);
      changed_at_ = burst.packets[i].now;
      ring_.Put(burst.packets[i]);
    }
  }
  uint64_t Sum() const override { return clock_ + changed_at_; }

 private:
  uint8_t clock_ = 0;
  uint64_t changed_at_ = 0;
  Ring<PacketRecord> ring_;
};

class Together : public HandTask {
 public:
  explicit Together(std::vector<std::unique_ptr<HandTask>> tasks) : tasks_(std::move(tasks)) {}
  void RunHashed(const HandBurst& burst) override {
    for (const auto& task : tasks_) task->RunHashed(burst);
  }
  uint64_t Sum() const override {
    uint64_t sum = 0;
    for (const auto& task : tasks_) sum += task->Sum();
    return sum;
  }

 private:
  std::vector<std::unique_ptr<HandTask>> tasks_;
};

}  // namespace

std::unique_ptr<HandTask> MakeHand(uint32_t use_case, bool takes_frames) {
  switch (use_case) {
    case 1:
      return std::make_unique<VolumeAndDuration>();
    case 2:
      return MakeHandCountMin(takes_frames);
    case 3:
      return std::make_unique<Pcsa>();
    case 4:
      return MakeHandHyperLogLog(takes_frames);
    case 5:
      return MakeEither<Thresholds>(takes_frames);
    case 6:
      return MakeEither<RandomSamples>(takes_frames);
    case 7:
      return MakeEither<RegularSamples>(takes_frames);
    case 8:
      return std::make_unique<Postcards>();
    case 9:
      return std::make_unique<Trajectory>();
    case 10:
      return MakeHandHeavyHitters(takes_frames);
    case 11:
      return std::make_unique<Congestion>();
    case 12:
      return std::make_unique<PathChanges>();
    default:
      return std::make_unique<ChangeLatency>();
  }
}

std::unique_ptr<MeasureContender> MakeHandTogether(const std::vector<uint32_t>& use_cases) {
  std::vector<std::unique_ptr<HandTask>> tasks;
  for (const uint32_t use_case : use_cases) tasks.push_back(MakeHand(use_case));
  return std::make_unique<Together>(std::move(tasks));
}

}  // namespace trumpet
