// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// JsonBody: a request's body that is JSON and no document of one of the languages, which read
// theirs by themselves.  As in those, a key that stands twice in one object is an error.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_REST_JSON_BODY_H
#define TRUMPET_CONTROLLER_REST_JSON_BODY_H

#include <string>

#include <nlohmann/json.hpp>

#include "lib/base/status.h"

namespace trumpet {

// Is `text` JSON, with no key twice in an object?  Errors begin with their place:
// "request:1:17: 'enabled' stands twice here".
Status CheckJsonBody(const std::string& text);

// Of a text that passes that check.
Result<nlohmann::ordered_json> ReadJsonBody(const std::string& text);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_JSON_BODY_H
