// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "tests/bench/measure_hand.h"

namespace trumpet {
namespace {

struct FlowWords {
  uint64_t words[2];
};

FlowWords WordsOf(const PacketValues& packet) {
  const uint64_t* value = packet.value;
  return {{value[kIpv4Src] | value[kIpv4Dst] << 32,
           value[kTcpSrc] | value[kTcpDst] << 16 | value[kIpv4Proto] << 32}};
}

uint64_t HashOf(const PacketValues& packet) {
  const FlowWords flow = WordsOf(packet);
  return HashBytes(flow.words, sizeof flow.words, kHandSeed);
}

// Of TCP in IPv4 without options; others have none of these fields.
uint64_t HashOf(const Frame& frame) {
  uint64_t words[2] = {0, 0};
  const uint8_t* data = frame.data;
  if (IsPlainTcp(frame)) {
    const uint64_t addresses = LoadBe64(data + 26);
    const uint32_t ports = LoadBe32(data + 34);
    words[0] = addresses >> 32 | addresses << 32;
    words[1] = (ports >> 16 | ports << 16) | uint64_t{6} << 32;
  }
  return HashBytes(words, sizeof words, kHandSeed);
}

template <uint32_t kCells>
std::array<uint32_t, 4> RowsOf(uint64_t hash) {
  return {FastRowIndex(hash, 0, kCells, true), FastRowIndex(hash, 1, kCells, true),
          FastRowIndex(hash, 2, kCells, true), FastRowIndex(hash, 3, kCells, true)};
}

class HandCountMin : public HandTask {
 public:
  explicit HandCountMin(bool takes_frames) : takes_frames_(takes_frames) {}
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      Add(static_cast<uint32_t>(burst.packets[i].values->value[kPktSize]), burst.hashes[i]);
    }
  }
  void RunHashedFrames(const Frame* frames, const uint64_t* hashes, uint32_t count,
                       uint64_t /*now*/) override {
    for (uint32_t i = 0; i < count; ++i) Add(frames[i].wire_length, hashes[i]);
  }
  bool takes_frames() const override { return takes_frames_; }
  uint64_t Sum() const override { return cells_[0][0]; }

 private:
  void Add(uint32_t size, uint64_t hash) {
    const auto rows = RowsOf<256>(hash);
    for (size_t row = 0; row < 4; ++row) cells_[row][rows[row]] += size;
  }

  const bool takes_frames_;
  uint32_t cells_[4][256] = {};
};

class HandHyperLogLog : public HandTask {
 public:
  explicit HandHyperLogLog(bool takes_frames) : takes_frames_(takes_frames) {}
  void RunHashed(const HandBurst& burst) override { Update(burst.hashes, burst.count); }
  void RunHashedFrames(const Frame*, const uint64_t* hashes, uint32_t count,
                       uint64_t /*now*/) override {
    Update(hashes, count);
  }
  bool takes_frames() const override { return takes_frames_; }
  uint64_t Sum() const override { return registers_[0]; }

 private:
  void Update(const uint64_t* hashes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const BucketRank rank = RankOf(static_cast<uint32_t>(hashes[i] >> 32), 8);
      uint8_t* cell = &registers_[rank.bucket];
      *cell = std::max(*cell, static_cast<uint8_t>(rank.zeros + 1));
    }
  }

  const bool takes_frames_;
  uint8_t registers_[256] = {};
};

// uc10, with its window: 64 cells a packet are cleared after 300 ms.
class HandHeavyHitters : public HandTask {
 public:
  explicit HandHeavyHitters(bool takes_frames) : takes_frames_(takes_frames) {}
  void RunHashed(const HandBurst& burst) override {
    for (uint32_t i = 0; i < burst.count; ++i) {
      const uint64_t* value = burst.packets[i].values->value;
      if (value[kPktInputPort] != 1) continue;
      RunOne(burst.packets[i].now, static_cast<uint32_t>(value[kPktSize]), burst.hashes[i]);
    }
  }
  void RunHashedFrames(const Frame* frames, const uint64_t* hashes, uint32_t count,
                       uint64_t now) override {
    for (uint32_t i = 0; i < count; ++i) RunOne(now, frames[i].wire_length, hashes[i]);
  }
  bool takes_frames() const override { return takes_frames_; }
  uint64_t Sum() const override { return total_ + alarms_; }

 private:
  void RunOne(uint64_t now, uint32_t size, uint64_t hash) {
    if (start_ == 0) start_ = now;
    if (now - start_ >= 300000000) return Clear(now);
    total_ += size;
    const auto bits = RowsOf<64>(MixBits(hash + 1));
    const uint32_t slot = ScaleHash(static_cast<uint32_t>(MixBits(hash + 2) >> 32), 1024);
    const bool is_heavy = filter_[bits[0]] & filter_[bits[1]] & filter_[bits[2]] & filter_[bits[3]];
    if (is_heavy) {
      bytes_[slot] += size;
      return;
    }
    const auto rows = RowsOf<256>(hash);
    uint32_t least = UINT32_MAX;
    for (size_t row = 0; row < 4; ++row) {
      cells_[row][rows[row]] += size;
      least = std::min(least, cells_[row][rows[row]]);
    }
    if (total_ == 0 || uint64_t{least} * 100 <= uint64_t{total_} * 5) return;
    for (const uint32_t bit : bits) filter_[bit] = 1;
    bytes_[slot] = least;
    alarms_++;
  }

  void Clear(uint64_t now) {
    cleared_ += 64;
    if (cleared_ < 2113) return;
    for (auto& row : cells_) std::fill(std::begin(row), std::end(row), 0);
    std::fill(std::begin(filter_), std::end(filter_), 0);
    std::fill(std::begin(bytes_), std::end(bytes_), 0);
    total_ = 0;
    cleared_ = 0;
    start_ = now;
  }

  const bool takes_frames_;
  uint64_t start_ = 0;
  uint32_t cleared_ = 0;
  uint32_t total_ = 0;
  uint64_t alarms_ = 0;
  uint32_t cells_[4][256] = {};
  uint8_t filter_[64] = {};
  uint32_t bytes_[1024] = {};
};

class ExactMap : public MeasureContender {
 public:
  explicit ExactMap(uint32_t flows) {
    while (places_.size() < 2 * size_t{flows})
      places_.resize(std::max<size_t>(64, 2 * places_.size()));
  }
  void Run(MeasuredPacket* packets, uint32_t count) override {
    uint64_t hashes[kMaxMeasureBurst];
    for (uint32_t i = 0; i < count; ++i) {
      hashes[i] = HashOf(*packets[i].values);
      __builtin_prefetch(&places_[hashes[i] & (places_.size() - 1)], 1);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const FlowWords flow = WordsOf(*packets[i].values);
      size_t at = hashes[i] & (places_.size() - 1);
      while (places_[at].bytes != 0 && (places_[at].flow.words[0] != flow.words[0] ||
                                        places_[at].flow.words[1] != flow.words[1])) {
        at = (at + 1) & (places_.size() - 1);
      }
      places_[at].flow = flow;
      places_[at].bytes += packets[i].values->value[kPktSize];
    }
  }
  uint64_t Sum() const override { return places_[0].bytes; }

 private:
  struct Place {
    FlowWords flow{};
    uint64_t bytes = 0;
  };
  std::vector<Place> places_ = std::vector<Place>(64);
};

}  // namespace

void HandTask::Run(MeasuredPacket* packets, uint32_t count) {
  uint64_t hashes[kMaxMeasureBurst];
  for (uint32_t i = 0; i < count; ++i) hashes[i] = HashOf(*packets[i].values);
  RunHashed({packets, hashes, count});
}

void HandTask::RunFrames(const Frame* frames, uint32_t count, uint64_t now) {
  uint64_t hashes[kMaxMeasureBurst];
  for (uint32_t i = 0; i < count; ++i) hashes[i] = HashOf(frames[i]);
  RunHashedFrames(frames, hashes, count, now);
}

std::unique_ptr<HandTask> MakeHandCountMin(bool takes_frames) {
  return std::make_unique<HandCountMin>(takes_frames);
}

std::unique_ptr<HandTask> MakeHandHyperLogLog(bool takes_frames) {
  return std::make_unique<HandHyperLogLog>(takes_frames);
}

std::unique_ptr<HandTask> MakeHandHeavyHitters(bool takes_frames) {
  return std::make_unique<HandHeavyHitters>(takes_frames);
}

std::unique_ptr<MeasureContender> MakeExactMap(uint32_t flows) {
  return std::make_unique<ExactMap>(flows);
}

}  // namespace trumpet
