// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventDocument: a file's tree as events: keys, defaults, names, positions.

#ifndef TRUMPET_LIB_LANG_EVENT_EVENT_DOCUMENT_H
#define TRUMPET_LIB_LANG_EVENT_EVENT_DOCUMENT_H

#include <vector>

#include "lib/base/status.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/event_language.h"
#include "lib/model/event_spec.h"

namespace trumpet::event_lang {

constexpr uint32_t kMaxBucketsPerEvent = 1u << 24;
constexpr uint32_t kMaxReportRate = 1000000;
constexpr size_t kMaxErrorsShown = 20;

// A list of events, or a map with the one key `events`.  If events are wrong, the error has
// one line for each (the first kMaxErrorsShown), and no event is returned.
Result<std::vector<EventSpec>> ReadEvents(const Source& source, const DocumentNode& root,
                                          const MeasuredCheck& check);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_EVENT_DOCUMENT_H
