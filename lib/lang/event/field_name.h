// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Field names in filters and granularities: `dstIP`, `outer.vlan`.

#ifndef TRUMPET_LIB_LANG_EVENT_FIELD_NAME_H
#define TRUMPET_LIB_LANG_EVENT_FIELD_NAME_H

#include <string_view>

#include "lib/base/status.h"
#include "lib/packet/fields.h"

namespace trumpet::event_lang {

// Reads a field with its level; the error suggests a known name.
Result<FieldRef> ReadFieldRef(std::string_view text);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_FIELD_NAME_H
