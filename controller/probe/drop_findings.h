// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Why packets of a flow are dropped, as far as what was sent tells (docs/probes.md): whether it
// lasts, whether by chance or by a pattern, and which field decides.
//
// Threads: values and pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_FINDINGS_H
#define TRUMPET_CONTROLLER_PROBE_DROP_FINDINGS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "controller/probe/chances.h"
#include "controller/probe/drop_evidence.h"

namespace trumpet {

// Where packets vanish: behind the last switch that is known to have had them.
struct DropPlace {
  std::string behind;
  std::vector<std::string> towards;      // where they ought to have been seen next
  std::vector<std::string> passed_over;  // where those that passed went from there
  uint32_t lost = 0;
};

struct DropFieldFinding {
  DropField field = DropField::kNone;
  // "no_matter", "decides", "scattered", "not_known", "not_tried"; where some of the flow's own
  // pass: "fewer", "no_matter".
  std::string role;
  std::string lost;        // values, or their range, with which packets vanish; if it decides
  std::string passed;      // likewise
  size_t lost_values = 0;  // how many were tried with which they vanish
  size_t passed_values = 0;
  uint32_t known = 0;  // packets
  uint32_t lost_packets = 0;
};

struct DropFindings {
  // "nothing", "gone", "bursts", "random", "everything", "flow", "pattern", "path", "loop",
  // "not_known".
  std::string verdict;
  std::string persistence;  // "none", "transient", "persistent", "not_known"
  double confidence = 0;    // that packets were lost, and not copies only
  uint32_t known = 0;       // packets of the flow itself, and of them
  uint32_t lost = 0;
  RateRange rate;                 // of loss, in 95 of 100 cases
  std::vector<DropPlace> places;  // the one where most vanish first
  std::vector<DropFieldFinding> fields;
  std::string explanation;
};

DropFindings ConcludeDrops(const DropEvidence& evidence);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_FINDINGS_H
