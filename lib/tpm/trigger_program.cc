// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_program.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

// Ids of two programs that a packet thread goes through: some 0.1 us.
constexpr size_t kMaxCompared = 64;

Nanos CommonInterval(const HostVerdicts::Plans& plans) {
  uint32_t common_ms = 0;
  for (const auto& plan : plans) common_ms = std::gcd(common_ms, plan->spec.interval_ms);
  return common_ms == 0 ? 10 * kNanosPerMilli : Nanos{common_ms} * kNanosPerMilli;
}

uint64_t Mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

uint64_t HashOf(const Expr& expr) {
  uint64_t hash = Mixed(static_cast<uint64_t>(expr.op), static_cast<uint64_t>(expr.variable));
  hash = Mixed(hash, static_cast<uint64_t>(expr.aggregate));
  if (expr.number.is_defined()) {
    hash = Mixed(hash, std::hash<double>()(expr.number.AsDouble()));
  }
  for (const Expr& arg : expr.args) hash = Mixed(hash, HashOf(arg));
  return hash;
}

struct ExprHash {
  size_t operator()(const Expr* expr) const { return HashOf(*expr); }
};
struct ExprEqual {
  bool operator()(const Expr* a, const Expr* b) const { return *a == *b; }
};

// Distinct operands, numbered as they come; the expressions are the plans'.
using OperandNumbers = std::unordered_map<const Expr*, size_t, ExprHash, ExprEqual>;

bool NeedsTcp(Variable variable) {
  switch (variable) {
    case Variable::kPackets:
    case Variable::kBytes:
    case Variable::kVolume:
    case Variable::kEcn:
    case Variable::kTtl:
    case Variable::kIsBurst:
      return false;
    default:
      return true;
  }
}

}  // namespace

Status TriggerProgram::Check(const HostVerdicts::Plans& plans) {
  OperandNumbers numbers;
  for (const auto& plan : plans) {
    if (plan->word_count > kMaxEventWords) {
      return Status::Error("event \"" + plan->spec.name + "\" keeps " +
                           std::to_string(plan->word_count) +
                           " words of 8 bytes per bucket for its aggregates; an event may keep " +
                           std::to_string(kMaxEventWords));
    }
    for (const Expr& expr : plan->operands) numbers.try_emplace(&expr, numbers.size());
    if (numbers.size() > kMaxOperands) {
      return Status::Error("with event \"" + plan->spec.name + "\" there are more than " +
                           std::to_string(kMaxOperands) +
                           " different operands of aggregates in all events together");
    }
  }
  return Status::Ok();
}

std::shared_ptr<const TriggerProgram> TriggerProgram::Make(
    const HostVerdicts::Plans& plans, uint64_t generation, Nanos from,
    std::shared_ptr<const Observation> observation) {
  std::shared_ptr<TriggerProgram> program(new TriggerProgram());
  program->generation_ = generation;
  program->effective_from_ = from;
  program->plans_ = plans;
  program->epoch_ns_ = CommonInterval(plans);

  std::vector<const EventSpec*> events;
  std::vector<const FilterExpr*> filters;
  OperandNumbers numbers;
  for (const auto& plan : plans) {
    events.push_back(&plan->spec);
    filters.push_back(&plan->spec.filter);
    program->NoteNeeds(*plan);
    std::vector<uint16_t> ids;
    for (size_t i = 0; i < plan->operands.size(); i++) {
      const Expr& expr = plan->operands[i];
      const auto [found, is_new] = numbers.try_emplace(&expr, numbers.size());
      if (is_new) program->operands_.push_back(StatOperand::Compile(expr, plan->is_real[i]));
      ids.push_back(static_cast<uint16_t>(found->second));
    }
    program->operand_ids_.push_back(std::move(ids));
  }
  std::sort(program->rtt_events_.begin(), program->rtt_events_.end());
  program->rtt_digest_ =
      HashBytes(program->rtt_events_.data(), program->rtt_events_.size() * sizeof(uint32_t), 0);
  if (observation != nullptr) program->CountByPlace(std::move(observation));
  program->layout_ = KeyLayout::For(events);
  program->index_ = TriggerIndex::For(filters);
  return program;
}

// Without an event that asks, keys and flows stay as they are.
void TriggerProgram::CountByPlace(std::shared_ptr<const Observation> observation) {
  for (const auto& plan : plans_) {
    uint8_t asked = 0;
    if (plan->follows_observe && plan->spec.observe == Observe::kSource) asked = kCountedAtSource;
    if (plan->follows_observe && plan->spec.observe == Observe::kDestination) {
      asked = kCountedAtDestination;
    }
    counted_at_.push_back(asked);
    if (asked != 0) observation_ = observation;
  }
}

size_t TriggerProgram::KeepCounted(const ParsedPacket& packet, const FlowKey& entry_key,
                                   uint32_t* triggers, size_t count) const {
  if (observation_ == nullptr) return count;
  const bool is_from_uplink = (entry_key.ip_family & kFromUplinkFlag) != 0;
  const uint8_t counted = observation_->CountedAt(packet, is_from_uplink);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    const uint8_t asked = counted_at_[triggers[i]];
    if ((asked & ~counted) == 0) triggers[kept++] = triggers[i];
  }
  return kept;
}

bool TriggerProgram::MayAddRttEvents(const TriggerProgram& before) const {
  if (rtt_events_.empty() || rtt_digest_ == before.rtt_digest_) return false;
  if (rtt_events_.size() + before.rtt_events_.size() > kMaxCompared) return true;
  return !std::includes(before.rtt_events_.begin(), before.rtt_events_.end(), rtt_events_.begin(),
                        rtt_events_.end());
}

void TriggerProgram::NoteNeeds(const TriggerPlan& plan) {
  VisitNodes(plan.spec.predicate, [this](const Expr& node) {
    if (node.op != ExprOp::kVariable) return;
    if (NeedsTcp(node.variable)) tracks_tcp_ = true;
    if (node.variable == Variable::kIsBurst || node.variable == Variable::kLostInBurst) {
      tracks_bursts_ = true;
    }
  });
  if (plan.uses_rtt) rtt_events_.push_back(plan.spec.id);
  if (plan.uses_flow_state) reports_flow_state_ = true;
}

}  // namespace trumpet
