// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lib/measure/program_check.h"

namespace trumpet {
namespace {

using Counts = std::vector<size_t>;

// Adds how often the step duplicates to each stream.
void CountDuplicates(const MeasureProgram& program, MeasureIndex index, Counts* counts) {
  const MeasureNode& node = program.nodes[index];
  if (node.kind == MeasureNodeKind::kDuplicate) (*counts)[node.target]++;
  for (const MeasureIndex child : node.children) CountDuplicates(program, child, counts);
}

}  // namespace

std::vector<size_t> CountCopies(const MeasureProgram& program) {
  const size_t streams = program.streams.size();
  std::vector<Counts> duplicates(streams, Counts(streams));  // [from][to]
  for (const MeasureTask& task : program.tasks) {
    CountDuplicates(program, task.root, &duplicates[task.stream]);
  }
  // A packet starts on pkts or on ctrl; each round follows one more copying.
  Counts total(streams);
  Counts now(streams);
  now[kPktsStream] = now[kCtrlStream] = 1;
  for (size_t round = 0; round < streams; ++round) {
    Counts next(streams);
    for (size_t from = 0; from < streams; ++from) {
      for (size_t to = 0; to < streams; ++to) {
        const size_t more = std::min(now[from], kMaxMeasureCopies + 1) * duplicates[from][to];
        next[to] = std::min(next[to] + more, kMaxMeasureCopies + 1);
      }
    }
    for (size_t i = 0; i < streams; ++i) {
      total[i] = std::min(total[i] + next[i], kMaxMeasureCopies + 1);
    }
    now = next;
  }
  // Paths without a cycle are shorter than there are streams.
  for (size_t i = 0; i < streams; ++i) {
    if (now[i] != 0) total[i] = SIZE_MAX;
  }
  return total;
}

}  // namespace trumpet
