// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FilterScope: does a filter keep to a tenant's addresses?

#ifndef TRUMPET_CONTROLLER_PLAN_FILTER_SCOPE_H
#define TRUMPET_CONTROLLER_PLAN_FILTER_SCOPE_H

#include <vector>

#include "lib/model/filter.h"
#include "lib/packet/prefix.h"

namespace trumpet {

// True only if it is certain that every packet that matches has its (innermost) source or
// destination in one of `prefixes`; when in doubt, false.
bool IsConfinedTo(const FilterExpr& filter, const std::vector<Prefix>& prefixes);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_FILTER_SCOPE_H
