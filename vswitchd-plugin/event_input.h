// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventInput: the arguments of trumpet/event-add as checked events.
//
//   [name=NAME] [for=N] [scope=S] [observe=O] [severity=L] EVENT
//
// EVENT is one line, or a YAML or JSON text (it begins with `events:`, `-`, `[` or `{`), or `@FILE`
// with an absolute path, read by the switch; a name that ends in .json is JSON, all else YAML.  The
// options go with one line only, where there is no other place for them.
//
// Errors carry the place in the text.  Files must be regular and at most 1 MiB.

#ifndef TRUMPET_VSWITCHD_PLUGIN_EVENT_INPUT_H
#define TRUMPET_VSWITCHD_PLUGIN_EVENT_INPUT_H

#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/event_spec.h"

namespace trumpet {

Result<std::vector<EventSpec>> ReadEventArguments(const std::vector<std::string>& arguments);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_EVENT_INPUT_H
