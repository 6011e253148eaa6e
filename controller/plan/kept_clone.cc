// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/kept_clone.h"

namespace trumpet {

std::string KeptClone(const std::string& actions) {
  // An output that truncates is what is not undone.  Of those that send nothing, one to the port of
  // arrival is passed by in silence; one to a port that is not there is told in the switch's log.
  // 65279 is the last number that a port may have.
  return "clone(" + actions + ",load:65279->NXM_OF_IN_PORT[],output(port=65279,max_len=14))";
}

}  // namespace trumpet
