// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/check.h"

#include <algorithm>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"

namespace trumpet::mafia {
namespace {

using event_lang::DidYouMean;
using event_lang::Quote;

// A duplicate() of a task on `from`.
struct Edge {
  MeasureIndex from = 0;
  MeasureIndex to = 0;
  MeasurePlace place;
};

void AddProduced(const Step& step, std::vector<std::string>* names) {
  if (step.kind == MeasureNodeKind::kDuplicate) names->push_back(step.name.text);
  for (const Step& child : step.children) AddProduced(child, names);
}

// The streams that tasks copy to.
void AddProduced(const std::vector<Item>& items, std::vector<std::string>* names) {
  for (const Item& item : items) {
    AddProduced(item.items, names);
    if (item.kind == ItemKind::kTask) AddProduced(item.pipeline, names);
  }
}

class StreamCheck {
 public:
  StreamCheck(const Tree& tree, const MeasureProgram& program, Problems* problems)
      : tree_(tree), program_(program), problems_(*problems) {}

  void Run();

 private:
  void CollectEdges();
  void CheckProduced();
  // Follows copies of `stream` to their ends; the copies that one packet on it makes.
  uint64_t Follow(MeasureIndex stream);
  void CheckCopies(MeasureIndex stream);

  enum class Mark { kNew, kOpen, kDone };

  const Tree& tree_;
  const MeasureProgram& program_;
  Problems& problems_;
  std::vector<Edge> edges_;
  std::vector<Mark> marks_;
  std::vector<uint64_t> copies_;  // capped above the limit
};

void StreamCheck::CollectEdges() {
  for (const MeasureTask& task : program_.tasks) {
    std::vector<MeasureIndex> open;
    if (task.root != kNoIndex) open.push_back(task.root);
    while (!open.empty()) {
      const MeasureNode& node = program_.nodes[open.back()];
      open.pop_back();
      open.insert(open.end(), node.children.rbegin(), node.children.rend());
      if (node.kind != MeasureNodeKind::kDuplicate) continue;
      edges_.push_back({task.stream, node.target, node.place});
    }
  }
}

void StreamCheck::CheckProduced() {
  std::vector<std::string> produced = {"pkts", "ctrl"};
  AddProduced(tree_.items, &produced);
  for (const MeasureTask& task : program_.tasks) {
    const std::string& name = program_.streams[task.stream].name;
    if (std::find(produced.begin(), produced.end(), name) != produced.end()) continue;
    problems_.AddAt(task.place, "E8",
                    "nothing is copied to " + Quote(name) + "; a task with duplicate(" + name +
                        ") fills it" + DidYouMean(name, produced));
  }
}

uint64_t StreamCheck::Follow(MeasureIndex stream) {
  if (marks_[stream] == Mark::kDone) return copies_[stream];
  marks_[stream] = Mark::kOpen;
  uint64_t copies = 0;
  for (const Edge& edge : edges_) {
    if (edge.from != stream) continue;
    if (marks_[edge.to] == Mark::kOpen) {
      problems_.AddAt(edge.place, "E7",
                      "copies would run in a circle: " + Quote(program_.streams[edge.to].name) +
                          " is where they come from; copy to another stream");
      continue;
    }
    copies += 1 + Follow(edge.to);
    copies = std::min<uint64_t>(copies, kMaxMeasureCopies + 1);
  }
  marks_[stream] = Mark::kDone;
  copies_[stream] = copies;
  return copies;
}

void StreamCheck::CheckCopies(MeasureIndex stream) {
  if (Follow(stream) <= kMaxMeasureCopies) return;
  const auto edge = std::find_if(edges_.begin(), edges_.end(),
                                 [stream](const Edge& other) { return other.from == stream; });
  problems_.AddAt(edge->place, "E12",
                  "one packet on " + Quote(program_.streams[stream].name) +
                      " could make more than " + std::to_string(kMaxMeasureCopies) +
                      " copies; use fewer duplicate() steps");
}

void StreamCheck::Run() {
  CollectEdges();
  marks_.resize(program_.streams.size());
  copies_.resize(program_.streams.size());
  for (MeasureIndex stream = 0; stream < program_.streams.size(); ++stream) Follow(stream);
  const bool is_whole = problems_.empty();
  CheckProduced();
  if (!is_whole) return;
  CheckCopies(kPktsStream);
  CheckCopies(kCtrlStream);
}

}  // namespace

void Check(const Tree& tree, const MeasureProgram& program, Problems* problems) {
  StreamCheck(tree, program, problems).Run();
}

}  // namespace trumpet::mafia
