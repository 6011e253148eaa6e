// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The other programs of docs/measurements by hand, and all of them at once: the hash of the key is
// taken once a burst, and a flow's counters lie side by side.  Of programs with roles the part of a
// switch that is neither the first nor the last one, as the packets of the bench have it.

#include <algorithm>
#include <vector>

#include "lib/measure/measure_hash.h"
#include "tests/bench/measure_contenders.h"
#include "tests/bench/measure_hand.h"

namespace trumpet {
namespace {

constexpr uint32_t kFlowSlots = 1024;

uint32_t FlowSlot(uint64_t hash) {
  return ScaleHash(static_cast<uint32_t>(hash >> 32), kFlowSlots);
}

// What a packet leaves behind that is collected: the fields of its key, its size and its tags, in
// the place of an old one.
class Ring {
 public:
  void Put(const MeasuredPacket& packet, uint64_t first = 0, uint64_t second = 0,
           uint64_t third = 0) {
    const uint64_t* value = packet.values->value;
    records_[collected_++ % kRecords] = {
        packet.now,
        value[kIpv4Src] | value[kIpv4Dst] << 32,
        value[kTcpSrc] | value[kTcpDst] << 16 | value[kIpv4Proto] << 32,
        value[kPktSize],
        first,
        second,
        third};
  }
  // Of a frame of TCP in IPv4 without options; of others only the size.
  void Put(const Frame& frame, uint64_t now, uint64_t first = 0, uint64_t second = 0,
           uint64_t third = 0) {
    Record record = {now, 0, 0, frame.wire_length, first, second, third};
    if (IsPlainTcp(frame)) {
      record.addresses = LoadBe32(frame.data + 26) | uint64_t{LoadBe32(frame.data + 30)} << 32;
      record.ports = LoadBe16(frame.data + 34) | uint64_t{LoadBe16(frame.data + 36)} << 16 |
                     uint64_t{kProtocolTcp} << 32;
    }
    records_[collected_++ % kRecords] = record;
  }
  uint64_t collected() const { return collected_; }

 private:
  struct Record {
    uint64_t now, addresses, ports, size, tags[3];
  };
  static constexpr uint64_t kRecords = 4096;
  std::vector<Record> records_ = std::vector<Record>(kRecords);
  uint64_t collected_ = 0;
};

// Bursts as tasks see them that look at sizes and collect packets.
struct FieldBurst {
  const MeasuredPacket* packets;
  uint32_t count;

  uint32_t SizeOf(uint32_t i) const {
    return static_cast<uint32_t>(packets[i].values->value[kPktSize]);
  }
  void Collect(uint32_t i, Ring* ring) const { ring->Put(packets[i]); }
};
struct FrameBurst {
  const Frame* frames;
  uint32_t count;
  uint64_t now;

  uint32_t SizeOf(uint32_t i) const { return frames[i].wire_length; }
  void Collect(uint32_t i, Ring* ring) const { ring->Put(frames[i], now); }
};

// A `Task` that takes either.
template <typename Task>
class EitherBurst : public HandTask {
 public:
  explicit EitherBurst(bool takes_frames) : takes_frames_(takes_frames) {}
  void RunHashed(const HandBurst& burst) override {
    task_.Update(FieldBurst{burst.packets, burst.count}, burst.hashes);
  }
  void RunHashedFrames(const Frame* frames, const uint64_t* hashes, uint32_t count,
                       uint64_t now) override {
    task_.Update(FrameBurst{frames, count, now}, hashes);
  }
  bool takes_frames() const override { return takes_frames_; }
  uint64_t Sum() const override { return task_.Sum(); }

 private:
  const bool takes_frames_;
  Task task_;
};

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

class Thresholds {
 public:
  template <typename Burst>
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
  Ring ring_;
};

class RandomSamples {
 public:
  template <typename Burst>
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
  Ring ring_;
};

// Three of twenty packets of a flow, five packets after the last.
class RegularSamples {
 public:
  template <typename Burst>
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
  Ring ring_;
};

class Postcards : public HandTask {
 public:
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      const uint64_t* value = burst.packets[i].values->value;
      ring_.Put(burst.packets[i], value[kPktInputPort], value[kPktOutputPort], value[kSwitchId]);
    }
  }
  uint64_t Sum() const override { return ring_.collected(); }

 private:
  Ring ring_;
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
      ring_.Put(burst.packets[i], changed_at_, clock_);
    }
  }
  uint64_t Sum() const override { return clock_ + changed_at_; }

 private:
  uint8_t clock_ = 0;
  uint64_t changed_at_ = 0;
  Ring ring_;
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
      return std::make_unique<EitherBurst<Thresholds>>(takes_frames);
    case 6:
      return std::make_unique<EitherBurst<RandomSamples>>(takes_frames);
    case 7:
      return std::make_unique<EitherBurst<RegularSamples>>(takes_frames);
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
