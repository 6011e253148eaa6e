// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/controller_set.h"

#include <utility>

#include "lib/wire/limits.h"

namespace trumpet {
namespace {

size_t NodesOf(const FilterExpr& filter) {
  size_t count = 1 + filter.test.ranges.size();
  for (const FilterExpr& arg : filter.args) count += NodesOf(arg);
  return count;
}

size_t NodesOf(const Expr& expr) {
  size_t count = 0;
  VisitNodes(expr, [&count](const Expr&) { ++count; });
  return count;
}

size_t NodesOf(const Trigger& trigger) {
  return NodesOf(trigger.event.filter) + NodesOf(trigger.event.predicate) +
         (trigger.local_predicate ? NodesOf(*trigger.local_predicate) : 0) +
         trigger.event.granularity.fields.size();
}

}  // namespace

void ControllerSet::BeginSession(uint64_t controller_id) {
  session_controller_id_ = controller_id;
  coming_.reset();
  refused_ = 0;
}

void ControllerSet::Forget() {
  triggers_.clear();
  controller_id_ = generation_ = 0;
  coming_.reset();
}

std::string ControllerSet::WhyNot(const TriggerSet& part) const {
  if (!coming_) {
    if (part.part != 0) return "part " + std::to_string(part.part) + " comes first";
    if (part.base_generation == 0) return "";
    if (controller_id_ == session_controller_id_ && part.base_generation == generation_) return "";
    return "generation " + std::to_string(part.base_generation) + " is not here, but " +
           (controller_id_ == session_controller_id_ ? std::to_string(generation_)
                                                     : "that of another controller");
  }
  if (part.generation != coming_->generation || part.base_generation != coming_->base_generation ||
      part.part != coming_->part + 1) {
    return "part " + std::to_string(part.part) + " of generation " +
           std::to_string(part.generation) + " comes after part " + std::to_string(coming_->part) +
           " of generation " + std::to_string(coming_->generation);
  }
  if (coming_->changes.size() + part.changes.size() > kMaxTriggerChanges) {
    return "it has more than " + std::to_string(kMaxTriggerChanges) + " changes";
  }
  return "";
}

std::optional<ControllerSet::Taken> ControllerSet::Take(TriggerSet part) {
  if (refused_ != 0 && part.generation == refused_) {
    if (part.is_last) refused_ = 0;
    return std::nullopt;
  }
  refused_ = 0;
  std::string why_not = WhyNot(part);
  if (!coming_) coming_nodes_ = 0;
  for (const TriggerChange& change : part.changes) {
    if (change.put) coming_nodes_ += NodesOf(*change.put);
  }
  if (why_not.empty() && coming_nodes_ > kMaxNodes) {
    why_not = "its events have more than " + std::to_string(kMaxNodes) + " nodes";
  }
  if (!why_not.empty()) {
    coming_.reset();
    if (!part.is_last) refused_ = part.generation;
    return Taken{part.generation, why_not, {}};
  }
  const bool is_last = part.is_last;
  if (!coming_) {
    coming_ = std::move(part);
  } else {
    coming_->part = part.part;
    for (TriggerChange& change : part.changes) coming_->changes.push_back(std::move(change));
  }
  if (!is_last) return std::nullopt;
  return Finish();
}

ControllerSet::Taken ControllerSet::Finish() {
  TriggerSet set = std::move(*coming_);
  coming_.reset();
  if (set.base_generation != 0) {
    size_t nodes = coming_nodes_;
    for (const auto& [id, trigger] : triggers_) nodes += NodesOf(trigger);
    if (nodes > 2 * kMaxNodes || triggers_.size() + set.changes.size() > 2 * kMaxTriggerChanges) {
      return {set.generation, "with what is here it is too large", {}};
    }
  } else {
    triggers_.clear();
  }
  Taken taken{set.generation, "", {}};
  for (TriggerChange& change : set.changes) {
    if (!change.put) {
      triggers_.erase(change.remove_event_id);
      continue;
    }
    const uint32_t id = change.put->event.id;
    triggers_[id] = std::move(*change.put);
    taken.changed.push_back(id);
  }
  controller_id_ = session_controller_id_;
  generation_ = set.generation;
  return taken;
}

}  // namespace trumpet
