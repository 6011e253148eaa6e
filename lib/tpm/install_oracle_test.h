// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of installing under traffic: random events and packets, and an evaluator that keeps
// every packet of every event from the instant of its installation to that of its removal, and
// looks everything up again.

#ifndef TRUMPET_LIB_TPM_INSTALL_ORACLE_TEST_H
#define TRUMPET_LIB_TPM_INSTALL_ORACLE_TEST_H

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/model/report.h"
#include "lib/packet/parse.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet::testing {

using Dice = std::mt19937_64;

inline int64_t Below(Dice* dice, int64_t limit) {
  return static_cast<int64_t>((*dice)() % static_cast<uint64_t>(limit));
}
inline bool Chance(Dice* dice, int percent) { return Below(dice, 100) < percent; }

// --- packets -----------------------------------------------------------------

// One of `flows` flows, TCP or UDP, with fields that change within the flow.
inline UdpFrame RandomFrame(Dice* dice, int flows) {
  const auto flow = static_cast<uint32_t>(Below(dice, flows));
  UdpFrame udp(0x0a000000 + flow / 16, 0x0a000100 + flow % 16, 1000,
               static_cast<uint16_t>(80 + flow % 3), static_cast<uint16_t>(12 + Below(dice, 80)));
  udp.bytes[15] = static_cast<uint8_t>(Below(dice, 4));      // ecn
  udp.bytes[22] = static_cast<uint8_t>(1 + Below(dice, 3));  // ttl
  if (flow % 2 == 0) {
    udp.bytes[23] = kProtocolTcp;
    udp.bytes[46] = 0x50;
  }
  return udp;
}

inline kit::Values ValuesOf(const ParsedPacket& packet) {
  return {{Variable::kPackets, 1},
          {Variable::kBytes, packet.bytes},
          {Variable::kVolume, packet.volume},
          {Variable::kEcn, packet.innermost.ecn == 3 ? 1 : 0},
          {Variable::kTtl, packet.innermost.ttl}};
}

// --- events ------------------------------------------------------------------

inline FilterExpr NumberTest(Field field, uint32_t low, uint32_t high) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {field, Level::kInnermost};
  filter.test.ranges.push_back({ValueKind::kNumber, low, high});
  return filter;
}

inline FilterExpr RandomFilter(Dice* dice, int depth = 2) {
  FilterExpr filter;
  switch (Below(dice, depth == 0 ? 5 : 8)) {
    case 0:
      return filter;
    case 1:
      return DstPrefix(0x0a000100 + static_cast<uint32_t>(Below(dice, 16)),
                       static_cast<int>(28 + Below(dice, 5)));
    case 2:
      return NumberTest(Field::kDstPort, 80, static_cast<uint32_t>(80 + Below(dice, 3)));
    case 3:
      return NumberTest(Field::kProtocol, kProtocolTcp, kProtocolTcp);
    case 4:
      return NumberTest(Field::kTtl, 1, static_cast<uint32_t>(1 + Below(dice, 3)));
    case 5:
      filter.op = FilterOp::kNot;
      break;
    case 6:
      filter.op = FilterOp::kAnd;
      break;
    default:
      filter.op = FilterOp::kOr;
  }
  filter.args.push_back(RandomFilter(dice, depth - 1));
  if (filter.op != FilterOp::kNot) filter.args.push_back(RandomFilter(dice, depth - 1));
  return filter;
}

inline Granularity RandomGranularity(Dice* dice) {
  Granularity granularity;
  switch (Below(dice, 5)) {
    case 0:
      granularity.is_five_tuple = true;
      break;
    case 1:
      granularity.fields = {{{Field::kDstPort, Level::kInnermost}, kFullPrefix}};
      break;
    case 2:
      granularity.fields = {{{Field::kDstIp, Level::kInnermost}, 30}};
      break;
    case 3:
      granularity.fields = {{{Field::kTtl, Level::kInnermost}, kFullPrefix}};
      break;
    default:
      break;
  }
  return granularity;
}

// `can_fire_empty`: some are true of an interval without packets, the others never.
inline Expr RandomPredicate(Dice* dice, bool can_fire_empty) {
  using namespace kit;
  const Expr volume = Sum(Variable::kVolume);
  const Expr tenth = Op(Var(Variable::kVolume), ExprOp::kMultiply, Real(0.1));
  const auto number = [dice](int64_t limit) { return Num(Below(dice, limit)); };
  switch (Below(dice, can_fire_empty ? 9 : 7)) {
    case 0:
      return Op(volume, ExprOp::kGreater, number(200));
    case 1:
      return Op(Sum(Variable::kPackets), ExprOp::kGreaterEqual, Num(1));
    case 2:
      return Op(Agg(AggregateKind::kMax, Var(Variable::kTtl)), ExprOp::kGreaterEqual, number(4));
    case 3:
      return Op(Agg(AggregateKind::kAvg, Var(Variable::kBytes)), ExprOp::kGreater, number(100));
    case 4:
      return Op(Agg(AggregateKind::kStddev, Var(Variable::kVolume)), ExprOp::kGreater, number(9));
    case 5:
      return Op(Agg(AggregateKind::kSum, tenth), ExprOp::kGreater, number(20));
    case 6:
      return Op(Sum(Variable::kEcn), ExprOp::kGreater, number(3));
    case 7:
      return Op(Sum(Variable::kPackets), ExprOp::kEqual, Num(0));
    default:
      return Op(volume, ExprOp::kLess, number(300));
  }
}

// --- the slow evaluator --------------------------------------------------------

// Every packet that one event should count, from its installation to its removal.
class EventLife {
 public:
  EventLife(std::shared_ptr<const TriggerPlan> plan, Nanos from)
      : plan_(std::move(plan)), from_(from) {}

  const std::shared_ptr<const TriggerPlan>& plan() const { return plan_; }
  void EndAt(Nanos until) { until_ = until; }
  bool IsOverAt(Nanos now) const { return now >= until_; }

  void Count(const ParsedPacket& packet, Nanos now) {
    if (now < from_ || now >= until_ || !Matches(plan_->spec.filter, packet)) return;
    BucketKey key;
    const auto read = [&packet](const FieldRef& ref) { return ReadField(packet, ref); };
    if (!MakeBucketKey(plan_->spec.granularity, read, &key)) return;
    packets_[CellOf(now, length())][std::string(key.view())].push_back(ValuesOf(packet));
  }

  // All reports of intervals that end by `end`.
  void AppendReports(Nanos end, std::vector<Report>* reports) const {
    for (int64_t k = CellOf(from_, length()); (k + 1) * length() <= std::min(end, until_); k++) {
      for (const std::string& key : KeysTestedIn(k)) {
        if (Fires(key, k)) reports->push_back(MakeReport(key, k));
      }
    }
  }

 private:
  Nanos length() const { return plan_->spec.interval_ns(); }

  // Those with packets in the interval or the 16 before it; the one of an event without
  // granularity always.
  std::set<std::string> KeysTestedIn(int64_t k) const {
    std::set<std::string> keys;
    if (plan_->spec.granularity.is_none()) keys.insert("");
    for (auto at = packets_.lower_bound(k - 16); at != packets_.end() && at->first <= k; ++at) {
      for (const auto& [key, values] : at->second) keys.insert(key);
    }
    return keys;
  }

  std::vector<uint64_t> CellsIn(const std::string& key, int64_t k) const {
    const auto interval = packets_.find(k);
    if (interval == packets_.end()) return kit::CellsOf(*plan_, std::vector<kit::Values>());
    const auto bucket = interval->second.find(key);
    if (bucket == interval->second.end()) return kit::CellsOf(*plan_, std::vector<kit::Values>());
    return kit::CellsOf(*plan_, bucket->second);
  }

  Number ValueOf(const Expr& expr, const std::string& key, int64_t k) const {
    const std::vector<uint64_t> cells = CellsIn(key, k);
    return Evaluate(expr,
                    [&](const Expr& leaf) { return AggregateValue(*plan_, leaf, cells.data()); });
  }

  bool Fires(const std::string& key, int64_t k) const {
    for (int64_t j = k; j > k - static_cast<int64_t>(plan_->spec.for_count); j--) {
      if (j < CellOf(from_, length()) || KeysTestedIn(j).count(key) == 0) return false;
      if (!ValueOf(plan_->spec.predicate, key, j).IsTrue()) return false;
    }
    return true;
  }

  Report MakeReport(const std::string& key, int64_t k) const {
    Report report;
    report.event = plan_->spec.name;
    report.bucket_json = BucketToJson(plan_->spec.granularity, key);
    report.start_ns = k * length();
    report.end_ns = report.start_ns + length();
    report.value = ValueOf(plan_->spec.predicate.args[0], key, k);
    report.threshold = ValueOf(plan_->spec.predicate.args[1], key, k);
    report.incomplete_reasons = report.start_ns < from_ ? uint32_t{kMonitorInterrupted} : 0;
    return report;
  }

  std::shared_ptr<const TriggerPlan> plan_;
  Nanos from_;
  Nanos until_ = INT64_MAX;
  // By interval and bucket.
  std::map<int64_t, std::map<std::string, std::vector<kit::Values>>> packets_;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_INSTALL_ORACLE_TEST_H
