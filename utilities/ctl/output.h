// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What trumpetctl prints: answers of the API as YAML, and problems with their
// place.
//
// Threads: no state.

#ifndef TRUMPET_UTILITIES_CTL_OUTPUT_H
#define TRUMPET_UTILITIES_CTL_OUTPUT_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string PrintYaml(const ApiJson& value);

// An answer that is no success, as text for people.  `document` is what was sent, if errors have
// places in it; `name` is its file.
//
//   events.yaml:3:17: 'bytez' is not a packet variable; did you mean 'bytes'?
//       3 |   predicate: sum(bytez) > 1
//         |                  ^
std::string DescribeProblem(int status, const std::string& body, const std::string& document,
                            const std::string& name);

// A plan's warnings have their places in "request"; they get them in the file `name`, as errors do,
// and so do those in the plan's explanation.
void NameSourceOfWarnings(const std::string& name, ApiJson* plan);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_OUTPUT_H
