// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a script for SliceSet: slices with filters, ports, times and caps, then batches of
// any frames.  A twin that remembers every packet it took says what each mark must be.

#ifndef TRUMPET_LIB_TPM_SLICE_SCRIPT_TEST_H
#define TRUMPET_LIB_TPM_SLICE_SCRIPT_TEST_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/model/filter.h"
#include "lib/tpm/monitor_fuzz_kit.h"
#include "lib/tpm/slice_set.h"

namespace trumpet::fuzz {

constexpr uint32_t kScriptMark = 0x72100000;

// The obvious way.
class SliceTwin {
 public:
  SliceTwin(SliceSpec spec, std::vector<uint32_t> ports, bool has_all_ports, Nanos on)
      : spec_(std::move(spec)), ports_(std::move(ports)), has_all_ports_(has_all_ports), on_(on) {}

  bool Wants(const ParsedPacket& packet, uint32_t port, Nanos now) const {
    const bool is_on = now >= on_ && now - on_ < spec_.duration;
    const bool has_port =
        has_all_ports_ || std::find(ports_.begin(), ports_.end(), port) != ports_.end();
    return is_on && has_port && Matches(spec_.filter, packet);
  }

  bool Take(uint32_t bytes, Nanos now) {
    uint64_t sum = bytes;
    for (const auto& [time, size] : taken_) sum += size;
    bool has_room = spec_.max_packets == 0 || taken_.size() < spec_.max_packets;
    has_room &= spec_.max_bytes == 0 || sum <= spec_.max_bytes;
    has_room &= spec_.packets_per_second == 0 || HasRateAt(now);
    if (has_room) {
      taken_.emplace_back(now, bytes);
    } else {
      ++withheld_;
    }
    return has_room;
  }

  uint32_t mark() const {
    return (spec_.mark == 0 ? kScriptMark : spec_.mark * (kMaxSliceTag + 1)) + spec_.tag;
  }
  bool IsLike(const SliceCounts& counts) const {
    uint64_t sum = 0;
    for (const auto& [time, size] : taken_) sum += size;
    if (counts.packets != taken_.size() || counts.bytes != sum || counts.withheld != withheld_) {
      return false;
    }
    if (taken_.empty()) return true;
    const auto [first, last] = std::minmax_element(taken_.begin(), taken_.end());
    return counts.first == first->first && counts.last == last->first;
  }

 private:
  bool HasRateAt(Nanos now) const {
    const Nanos spacing = kNanosPerSecond / spec_.packets_per_second;
    Nanos until = on_;
    for (const auto& [time, size] : taken_) until = std::max(until, time) + spacing;
    return until - now <= std::max<Nanos>(0, 10 * kNanosPerMilli - spacing);
  }

  SliceSpec spec_;
  std::vector<uint32_t> ports_;
  bool has_all_ports_;
  Nanos on_;
  std::vector<std::pair<Nanos, uint32_t>> taken_;
  uint64_t withheld_ = 0;
};

inline FilterExpr ScriptFilter(Bytes* in) {
  const uint8_t kind = in->Byte();
  const uint8_t low = in->Byte();
  switch (kind % 8) {
    case 0:
      return FilterExpr();
    case 1: {
      const uint32_t prefix = 0x0a000000u + low;
      return Test(Field::kDstIp, prefix & ~7u, prefix | 7u, ValueKind::kIpv4);
    }
    case 2:
      return Test(Field::kSrcIp, 0x0a000000u, 0x0a000000u + low, ValueKind::kIpv4);
    case 3:
      return Test(Field::kDstPort, low, low + 80u);
    case 4:
      return Any(Field::kTunnelId, Level::kOuter);
    case 5:
      return Test(Field::kTtl, low & 63, 64);
    case 6:
      return Test(Field::kInPort, low & 3, low & 3);
    default:
      return Logic(FilterOp::kNot, {Test(Field::kProtocol, kProtocolTcp, kProtocolTcp)});
  }
}

class SliceScript {
 public:
  explicit SliceScript(Bytes* in) : in_(in) {
    std::vector<std::shared_ptr<LiveSlice>> slices;
    const int count = 1 + in->Byte() % 12;
    for (int i = 0; i < count; ++i) slices.push_back(NextSlice(static_cast<uint32_t>(i)));
    set_ = std::make_unique<SliceSet>(std::move(slices), kScriptMark,
                                      std::vector<IpBytes>{IpBytes{10, 0, 0, 9}}, ParseOptions());
  }

  // "" or what is wrong.
  std::string Run() {
    for (int round = 0; round < kMaxRounds && !in_->is_at_end(); ++round) {
      if (std::string wrong = Batch(); !wrong.empty()) return wrong;
    }
    for (size_t i = 0; i < twins_.size(); ++i) {
      if (!twins_[i].IsLike(set_->slices()[i]->counts())) {
        return "counts of slice " + std::to_string(i);
      }
    }
    return "";
  }
  uint64_t marked() const { return marked_; }

 private:
  static constexpr int kMaxRounds = 200;
  static constexpr uint32_t kUntouched = 0xffffffff;

  std::shared_ptr<LiveSlice> NextSlice(uint32_t number) {
    SliceSpec spec;
    // Of several bridges, so that a tag may come more than once.
    spec.tag = number % 2 == 0 ? number % 4 + 1 : kMaxSliceTag - number;
    if (number % 3 == 0) spec.mark = static_cast<uint16_t>(number * 300 + 1);
    spec.filter = ScriptFilter(in_);
    spec.duration = in_->Two() * kNanosPerMicro;
    const uint8_t caps = in_->Byte();
    if ((caps & 1) != 0) spec.max_packets = in_->Byte();
    if ((caps & 2) != 0) spec.max_bytes = in_->Two();
    if ((caps & 4) != 0) spec.packets_per_second = in_->Two();
    const Nanos on = in_->Byte() * 100 * kNanosPerMicro;
    std::vector<uint32_t> ports;
    for (uint32_t port = 0; port < 4; ++port) {
      if ((caps >> (4 + port) & 1) != 0) ports.push_back(port);
    }
    const bool has_all = (caps & 8) != 0;
    twins_.emplace_back(spec, ports, has_all, on);
    std::optional<std::vector<uint32_t>> some;
    if (!has_all) some = std::move(ports);
    return std::make_shared<LiveSlice>(std::move(spec), std::move(some), on);
  }

  std::string Batch() {
    const uint8_t head = in_->Byte();
    now_ += (head >> 2) * 50 * kNanosPerMicro;
    const uint32_t port = head & 3;
    std::vector<std::vector<uint8_t>> bytes(1 + in_->Byte() % 32);
    std::vector<Frame> frames;
    for (auto& frame : bytes) {
      frame = NextFrame(in_);
      const auto length = static_cast<uint32_t>(frame.size());
      frames.push_back({frame.data(), length, length + (frame.empty() ? 0u : in_->Byte())});
    }
    std::vector<uint32_t> marks(frames.size(), kUntouched);
    const bool is_marked =
        set_->Mark(frames.data(), static_cast<int>(frames.size()), port, now_, marks.data());
    bool must_mark = false;
    std::vector<uint32_t> wanted;
    for (const Frame& frame : frames) {
      wanted.push_back(Wanted(frame, port));
      must_mark |= wanted.back() != 0;
      marked_ += wanted.back() != 0 ? 1 : 0;
    }
    if (!must_mark) wanted.assign(frames.size(), kUntouched);
    return is_marked == must_mark && marks == wanted ? "" : "marks at " + std::to_string(now_);
  }

  uint32_t Wanted(const Frame& frame, uint32_t port) {
    ParsedPacket packet;
    packet.has_in_port = true;
    packet.in_port = port;
    ParsePacket(frame, ParseOptions(), &packet);
    for (SliceTwin& twin : twins_) {
      if (twin.Wants(packet, port, now_) && twin.Take(packet.bytes, now_)) {
        return twin.mark();
      }
    }
    return 0;
  }

  Bytes* in_;
  std::vector<SliceTwin> twins_;
  std::unique_ptr<SliceSet> set_;
  Nanos now_ = 0;
  uint64_t marked_ = 0;
};

}  // namespace trumpet::fuzz

#endif  // TRUMPET_LIB_TPM_SLICE_SCRIPT_TEST_H
