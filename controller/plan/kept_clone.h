// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenFlow actions with a meter behind a `resubmit`, on their own: what the meter drops is lost to
// them and to nothing else.
//
// Open vSwitch leaves out a `clone` if it can undo its actions, and does not look behind
// `resubmit`. Without its clone a meter there drops the packet itself, with all that others were to
// do with it (3.1; reversible_actions() of its ofproto-dpif-xlate.c).
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_KEPT_CLONE_H
#define TRUMPET_CONTROLLER_PLAN_KEPT_CLONE_H

#include <string>

namespace trumpet {

// A clone that is left out only where nothing comes behind it, so it costs nothing there.
std::string KeptClone(const std::string& actions);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_KEPT_CLONE_H
