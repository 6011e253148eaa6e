// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/check.h"

#include <string>

#include "lib/model/bucket_key.h"

namespace trumpet::event_lang {
namespace {

bool IsFlowValue(Variable variable) {
  return variable == Variable::kAck || variable == Variable::kSeq || variable == Variable::kDup;
}

bool IsLastEpoch(Variable variable) {
  return variable == Variable::kAckLastEpoch || variable == Variable::kSeqLastEpoch ||
         variable == Variable::kDupLastEpoch;
}

// Fields that the ACK of an RTT sample need not share with the data it acknowledges.
bool ConflictsWithRtt(Field field) {
  return field == Field::kTtl || field == Field::kEcn || field == Field::kDscp ||
         field == Field::kTcpFlags;
}

// The most bytes that a value of the field takes in a BucketKey.
size_t KeyBytes(Field field) {
  switch (field) {
    case Field::kSrcIp:
    case Field::kDstIp:
      return 1 + 16;
    case Field::kSrcMac:
    case Field::kDstMac:
      return 1 + 6;
    default:
      return 1 + 4;
  }
}

class Checker {
 public:
  Checker(const EventAst& event, Diagnostic* error) : event_(event), error_(error) {}

  bool Run() {
    if (!CheckGranularity()) return false;
    if (!CheckNode(event_.predicate, /*in_aggregate=*/false)) return false;
    if (!uses_rtt_) return true;
    if (!CheckFilterAgainstRtt(event_.filter)) return false;
    for (const GranularityItem& item : event_.granularity.items) {
      if (!ConflictsWithRtt(item.field.ref.field)) continue;
      return FailAgainstRtt(Part::kGranularity, item.offset, item.field.ref);
    }
    return true;
  }

 private:
  bool CheckGranularity() {
    const auto& items = event_.granularity.items;
    size_t key_bytes = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      const FieldRef& ref = items[i].field.ref;
      for (size_t k = 0; k < i; ++k) {
        if (items[k].field.ref != ref) continue;
        return Fail(error_, Part::kGranularity, items[i].offset,
                    Quote(FieldRefName(ref)) + " is named twice in the granularity");
      }
      key_bytes += KeyBytes(ref.field);
      if (key_bytes <= kMaxBucketKeyBytes) continue;
      return Fail(error_, Part::kGranularity, items[i].offset,
                  "the fields of the granularity take more than " +
                      std::to_string(kMaxBucketKeyBytes) + " bytes together");
    }
    return true;
  }

  bool CheckNode(const PredicateNode& node, bool in_aggregate) {
    if (node.op == ExprOp::kVariable) return CheckVariable(node, in_aggregate);
    if (node.op == ExprOp::kAggregate) {
      if (in_aggregate) {
        return FailAt(node,
                      "aggregates do not nest; " + Quote(node.text) + " stands inside another one");
      }
      in_aggregate = true;
    }
    const bool is_comparison = IsComparison(node.op);
    if (is_comparison && node.args[0].is_rate() && node.args[1].is_rate()) {
      return FailAt(node.args[1], "this comparison has a rate on both sides");
    }
    for (const PredicateNode& arg : node.args) {
      if (arg.is_rate() && !is_comparison) return FailAtRate(arg);
      if (!CheckNode(arg, in_aggregate)) return false;
    }
    return !node.is_rate() || &node != &event_.predicate || FailAtRate(node);
  }

  bool CheckVariable(const PredicateNode& node, bool in_aggregate) {
    const std::string name = Quote(node.text);
    if (node.variable == Variable::kRtt) uses_rtt_ = true;
    if (IsLastEpoch(node.variable) && in_aggregate) {
      return FailAt(node, name + " stands only outside aggregates");
    }
    if (in_aggregate) return true;
    if (!IsLastEpoch(node.variable) && !IsFlowValue(node.variable)) {
      return FailAt(node, name +
                              " is a value of one packet; outside an aggregate write, say, sum(" +
                              std::string(node.text) + ")");
    }
    if (event_.granularity.is_five_tuple) return true;
    return FailAt(node, name + " outside an aggregate needs the granularity 5-tuple");
  }

  bool CheckFilterAgainstRtt(const FilterNode& node) {
    if (node.op == FilterOp::kTest && ConflictsWithRtt(node.test.ref.field)) {
      return FailAgainstRtt(Part::kFilter, node.offset, node.test.ref);
    }
    for (const FilterNode& arg : node.args) {
      if (!CheckFilterAgainstRtt(arg)) return false;
    }
    return true;
  }

  bool FailAgainstRtt(Part part, size_t offset, const FieldRef& ref) {
    return Fail(error_, part, offset,
                Quote(FieldRefName(ref)) +
                    " cannot be used in an event about rtt, because data "
                    "and its ACK may differ in it");
  }

  bool FailAtRate(const PredicateNode& node) {
    return FailAt(node, "the rate " + Quote(node.text) + " must be a whole side of a comparison");
  }

  bool FailAt(const PredicateNode& node, std::string message) {
    return Fail(error_, Part::kPredicate, node.offset, std::move(message));
  }

  const EventAst& event_;
  Diagnostic* const error_;
  bool uses_rtt_ = false;
};

}  // namespace

bool CheckEvent(const EventAst& event, Diagnostic* error) { return Checker(event, error).Run(); }

}  // namespace trumpet::event_lang
