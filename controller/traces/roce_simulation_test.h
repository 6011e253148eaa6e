// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A simulated sender and receiver of RoCE with switches between them that copy all, faults put in,
// and the truth beside the copies; for tests.

#ifndef TRUMPET_CONTROLLER_TRACES_ROCE_SIMULATION_TEST_H
#define TRUMPET_CONTROLLER_TRACES_ROCE_SIMULATION_TEST_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "controller/traces/roce_sight.h"

namespace trumpet {

struct RoceWorld {
  int places = 3;
  int packets = 3000;
  int faulty_link = -1;  // 0: from the sender to the first place; `places`: to the receiver
  double loss = 0;
  double overtaken = 0;    // of packets, at the first link
  int marking_place = -1;  // sets the mark in what leaves it
  double not_ready = 0;
};

// Of one connection: go back to what is missing, as the NAK says; after a while without any answer
// as well.
class RoceSimulation {
 public:
  static constexpr Nanos kBegin = 1700000000 * kNanosPerSecond;
  static constexpr Nanos kStep = kNanosPerMicro;
  static constexpr Nanos kHop = 10 * kNanosPerMicro;
  static constexpr uint32_t kReceiverPair = 0x111;
  static constexpr uint32_t kSenderPair = 0x222;

  RoceSimulation(const RoceWorld& world, uint64_t seed) : world_(world), random_(seed) {
    first_psn_ = static_cast<uint32_t>(random_() % 2 == 0 ? 0xfffe00 : random_()) & 0xffffff;
    Run();
    std::stable_sort(sights_.begin(), sights_.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
  }

  const std::vector<RoceSight>& sights() const { return sights_; }
  uint64_t lost() const { return lost_; }
  uint64_t marked() const { return marked_; }
  uint64_t not_ready() const { return not_ready_; }
  uint64_t overtaken() const { return overtaken_; }
  const std::set<uint64_t>& missed() const { return missed_; }  // that the receiver has named
  uint64_t sent() const { return sent_; }

 private:
  bool Happens(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }
  Nanos Jitter() { return static_cast<Nanos>(random_() % 2000); }

  void Run() {
    constexpr int kRound = 80;  // steps until the sender hears of it
    constexpr uint64_t kInFlight = 256;
    const auto total = static_cast<uint64_t>(world_.packets);
    uint64_t next = 0;  // to send
    uint64_t expected = 0;
    bool has_named = false;           // the one that is expected
    std::map<int, uint64_t> answers;  // by step: where to go back to
    int quiet_since = 0;
    for (int step = 0; expected < total; ++step) {
      const auto answer = answers.find(step);
      if (answer != answers.end()) {
        next = answer->second;
        answers.erase(answer);
      }
      const bool is_window_full = next >= expected + kInFlight;
      if (next == total || is_window_full) {
        if (step - quiet_since < 10 * kRound) continue;
        next = expected;
        has_named = false;
      }
      quiet_since = step;
      const uint64_t number = next++;
      // The connection is up before anything goes wrong.
      const bool is_sound = number < 8;
      const bool arrives = Cross(number, step, is_sound);
      if (!arrives || number < expected) continue;
      if (number > expected) {
        if (has_named) continue;
        has_named = true;
        missed_.insert(expected);
        Answer(RoceAckKind::kNak, kNakSequence, expected, step);
        answers[step + kRound] = expected;
        continue;
      }
      has_named = false;
      if (!is_sound && Happens(world_.not_ready)) {
        ++not_ready_;
        Answer(RoceAckKind::kNotReady, 14, expected, step);
        answers[step + kRound] = expected;
        has_named = true;
        continue;
      }
      ++expected;
    }
  }

  bool Cross(uint64_t number, int step, bool is_sound) {
    ++sent_;
    const bool is_lost = !is_sound && world_.faulty_link >= 0 && Happens(world_.loss);
    bool is_marked = false;
    Nanos time = kBegin + step * kStep;
    if (!is_sound && Happens(world_.overtaken)) {
      ++overtaken_;
      time += 20 * kStep;
    }
    if (is_lost) ++lost_;
    for (int place = 0; place < world_.places; ++place) {
      if (is_lost && world_.faulty_link == place) return false;
      time += kHop;
      RoceSight sight = Make(place, time + (world_.overtaken > 0 ? 0 : Jitter() / 4));
      sight.roce->opcode = 7;
      sight.roce->kind = RoceKind::kWrite;
      sight.roce->place = RocePlace::kMiddle;
      sight.roce->queue_pair = kReceiverPair;
      sight.roce->sequence = (first_psn_ + static_cast<uint32_t>(number)) & 0xffffff;
      sight.is_marked = is_marked;
      sights_.push_back(sight);
      if (place == world_.marking_place && !is_marked && Happens(0.2)) {
        is_marked = true;
        ++marked_;
      }
    }
    return !(is_lost && world_.faulty_link == world_.places);
  }

  // To the sender, through all places.
  void Answer(RoceAckKind kind, uint8_t value, uint64_t number, int step) {
    Nanos time = kBegin + step * kStep + (world_.places + 1) * kHop;
    for (int place = world_.places; place-- > 0;) {
      time += kHop;
      RoceSight sight = Make(place, time + Jitter());
      std::swap(sight.flow.src_ip, sight.flow.dst_ip);
      sight.roce->opcode = 0x11;
      sight.roce->kind = RoceKind::kAcknowledge;
      sight.roce->queue_pair = kSenderPair;
      sight.roce->sequence = (first_psn_ + static_cast<uint32_t>(number)) & 0xffffff;
      sight.roce->ack = RoceAck{kind, value, 0};
      sights_.push_back(sight);
    }
  }

  static RoceSight Make(int place, Nanos time) {
    RoceSight sight;
    sight.time = time;
    sight.switch_number = static_cast<uint16_t>(10 + place);
    sight.port = static_cast<uint32_t>(1 + place);
    sight.roce = RocePacket();
    sight.flow.ip_family = 4;
    sight.flow.src_ip = {10, 0, 0, 1};
    sight.flow.dst_ip = {10, 0, 0, 2};
    sight.bytes = 1000;
    return sight;
  }

  const RoceWorld world_;
  std::mt19937_64 random_;
  std::vector<RoceSight> sights_;
  std::set<uint64_t> missed_;
  uint32_t first_psn_ = 0;
  uint64_t sent_ = 0;
  uint64_t lost_ = 0;
  uint64_t marked_ = 0;
  uint64_t not_ready_ = 0;
  uint64_t overtaken_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ROCE_SIMULATION_TEST_H
