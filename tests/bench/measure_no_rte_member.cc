// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Where DPDK is not installed.

#include "tests/bench/measure_contenders.h"

namespace trumpet {

std::unique_ptr<MeasureContender> MakeRteMember(float) { return nullptr; }

}  // namespace trumpet
