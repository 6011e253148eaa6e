// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/admission_filter.h"

namespace trumpet {

bool AdmissionFilter::Init(size_t flows, PageSource* source) {
  line_mask_ = LinesFor(flows) - 1;
  return buffer_.Allocate(LinesFor(flows), source);
}

}  // namespace trumpet
