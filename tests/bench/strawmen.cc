// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/strawmen.h"

#include <algorithm>
#include <cstring>

#include "tests/bench/frames.h"
#include "tests/bench/tuple_keys.h"

namespace trumpet::bench {
namespace {

template <typename Words>
class Strawman : public Contender {
 public:
  using Matcher = TupleMatcher<Words::kCount>;
  using Key = typename Matcher::Key;

  explicit Strawman(const TriggersSpec& spec)
      : shape_(ShapeOf(spec.encapsulation)),
        threshold_(static_cast<uint64_t>(spec.threshold)),
        matcher_(RulesOf<Words>(spec)),
        values_(spec.triggers),
        types_(spec.triggers) {
    counts_.values.resize(spec.triggers);
    for (uint32_t q = 0; q < spec.triggers; q++) {
      types_[q] = static_cast<uint8_t>(TriggerNumber(spec, q).type);
    }
  }

  const TriggerCounts* counts() const override { return &counts_; }
  Json Facts() const override { return {{"masks", matcher_.mask_count()}, {"fired", fired_}}; }

 protected:
  // Bytes of UDP payload, by the length in its header.
  uint32_t VolumeOf(const uint8_t* frame) const {
    uint16_t length;
    std::memcpy(&length, frame + shape_.ports_at + 4, 2);
    return __builtin_bswap16(length) - 8u;
  }

  void CountBatch(const Key* keys, const uint32_t* volumes, int count) {
    matcher_.Match(keys, count, [&](int i, const uint32_t* triggers, uint32_t matched) {
      const uint64_t by_type[3] = {1, volumes[i], 0};
      for (uint32_t t = 0; t < matched; t++) {
        values_[triggers[t]] += by_type[types_[triggers[t]]];
      }
    });
  }

  void TestAndReset() {
    for (size_t q = 0; q < values_.size(); q++) {
      if (values_[q] >= threshold_) fired_++;
      counts_.values[q] += values_[q];
      values_[q] = 0;
    }
  }

  const FrameShape shape_;
  const uint64_t threshold_;
  const Matcher matcher_;
  std::vector<uint64_t> values_;
  std::vector<uint8_t> types_;
  TriggerCounts counts_;
  uint64_t fired_ = 0;
};

template <typename Words>
class MatchFirst : public Strawman<Words> {
 public:
  using Strawman<Words>::Strawman;
  void OnBatch(const Frame* frames, Nanos) override {
    typename Strawman<Words>::Key keys[kBatch];
    uint32_t volumes[kBatch];
    for (int i = 0; i < kBatch; i++) {
      keys[i] = Words::Read(frames[i].data, this->shape_);
      volumes[i] = this->VolumeOf(frames[i].data);
    }
    this->CountBatch(keys, volumes, kBatch);
  }
  void OnEpochEnd() override { this->TestAndReset(); }
};

template <typename Words>
class MatchLater : public Strawman<Words> {
 public:
  explicit MatchLater(const TriggersSpec& spec) : Strawman<Words>(spec) {
    keys_.resize(kEpochPackets);
    volumes_.resize(kEpochPackets);
  }
  void OnBatch(const Frame* frames, Nanos) override {
    for (int i = 0; i < kBatch; i++) {
      keys_[logged_] = Words::Read(frames[i].data, this->shape_);
      volumes_[logged_++] = this->VolumeOf(frames[i].data);
    }
  }
  void OnEpochEnd() override {
    for (size_t done = 0; done < logged_; done += kBatch) {
      const int count = static_cast<int>(std::min<size_t>(kBatch, logged_ - done));
      this->CountBatch(&keys_[done], &volumes_[done], count);
    }
    logged_ = 0;
    this->TestAndReset();
  }

 private:
  std::vector<typename Strawman<Words>::Key> keys_;
  std::vector<uint32_t> volumes_;
  size_t logged_ = 0;
};

template <template <typename> class Kind>
std::unique_ptr<Contender> Make(const TriggersSpec& spec) {
  if (spec.encapsulation == Encapsulation::kIpv6) return std::make_unique<Kind<Ipv6Words>>(spec);
  return std::make_unique<Kind<Ipv4Words>>(spec);
}

}  // namespace

std::unique_ptr<Contender> MakeMatchFirst(const TriggersSpec& spec) {
  return Make<MatchFirst>(spec);
}
std::unique_ptr<Contender> MakeMatchLater(const TriggersSpec& spec) {
  return Make<MatchLater>(spec);
}

}  // namespace trumpet::bench
