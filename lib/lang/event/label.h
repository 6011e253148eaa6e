// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Labels: the names and severities of events, which end up in tables, logs and reports.

#ifndef TRUMPET_LIB_LANG_EVENT_LABEL_H
#define TRUMPET_LIB_LANG_EVENT_LABEL_H

#include <string>
#include <string_view>

namespace trumpet::event_lang {

constexpr size_t kMaxLabelBytes = 255;

// Why `text` can not be the `key` ("name" or "severity") of an event; empty if it can: UTF-8 of at
// most kMaxLabelBytes without control characters, and not empty for a name.
std::string LabelProblem(std::string_view key, std::string_view text);

// Likewise, of the name of an event, which is also none of the other words that commands take in
// its place: it does not begin with "-", and is neither "json" nor all digits.
std::string EventNameProblem(std::string_view name);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_LABEL_H
