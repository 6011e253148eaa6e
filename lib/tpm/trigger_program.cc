// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_program.h"

#include <algorithm>
#include <numeric>

namespace trumpet {
namespace {

Nanos CommonInterval(const HostVerdicts::Plans& plans) {
  uint32_t common_ms = 0;
  for (const auto& plan : plans) common_ms = std::gcd(common_ms, plan->spec.interval_ms);
  return common_ms == 0 ? 10 * kNanosPerMilli : Nanos{common_ms} * kNanosPerMilli;
}

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

std::shared_ptr<const TriggerProgram> TriggerProgram::Make(const HostVerdicts::Plans& plans,
                                                           uint64_t generation, Nanos from) {
  std::shared_ptr<TriggerProgram> program(new TriggerProgram());
  program->generation_ = generation;
  program->effective_from_ = from;
  program->plans_ = plans;
  program->epoch_ns_ = CommonInterval(plans);

  std::vector<const EventSpec*> events;
  std::vector<const FilterExpr*> filters;
  for (const auto& plan : plans) {
    events.push_back(&plan->spec);
    filters.push_back(&plan->spec.filter);
    program->AddOperands(*plan);
    program->NoteNeeds(*plan);
  }
  program->layout_ = KeyLayout::For(events);
  program->index_ = TriggerIndex::For(filters);
  return program;
}

void TriggerProgram::AddOperands(const TriggerPlan& plan) {
  std::vector<uint16_t> ids;
  for (size_t i = 0; i < plan.operands.size(); i++) {
    const Expr& expr = plan.operands[i];
    const auto found = std::find_if(operands_.begin(), operands_.end(),
                                    [&expr](const StatOperand& o) { return o.expr() == expr; });
    ids.push_back(static_cast<uint16_t>(found - operands_.begin()));
    if (found == operands_.end()) {
      operands_.push_back(StatOperand::Compile(expr, plan.is_real[i]));
    }
  }
  operand_ids_.push_back(std::move(ids));
}

void TriggerProgram::NoteNeeds(const TriggerPlan& plan) {
  VisitNodes(plan.spec.predicate, [this](const Expr& node) {
    if (node.op != ExprOp::kVariable) return;
    if (NeedsTcp(node.variable)) tracks_tcp_ = true;
    if (node.variable == Variable::kIsBurst || node.variable == Variable::kLostInBurst) {
      tracks_bursts_ = true;
    }
  });
  if (plan.uses_rtt) uses_rtt_ = true;
  if (plan.uses_flow_state) reports_flow_state_ = true;
}

}  // namespace trumpet
