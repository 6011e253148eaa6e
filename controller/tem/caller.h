// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Caller: who asks, and what is his.

#ifndef TRUMPET_CONTROLLER_TEM_CALLER_H
#define TRUMPET_CONTROLLER_TEM_CALLER_H

#include <string>
#include <vector>

#include "controller/plan/topology.h"

namespace trumpet {

// What a user may do; tokens of REST give it, the local socket gives all of it.
struct Caller {
  std::string name = "local";
  std::string tenant;            // empty: none, sees everything
  std::vector<Prefix> prefixes;  // of the tenant: its events must be confined to these
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_CALLER_H
