// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CheckIngressLimits: whether arriving packets tell all that a measurement program needs.
//
// Threads: pure function.

#ifndef TRUMPET_VSWITCHD_PLUGIN_INGRESS_LIMITS_H
#define TRUMPET_VSWITCHD_PLUGIN_INGRESS_LIMITS_H

#include "lib/base/status.h"
#include "lib/measure/compiled_program.h"

namespace trumpet {

// The error says what the switch does not do yet.
Status CheckIngressLimits(const CompiledProgram& program);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_INGRESS_LIMITS_H
