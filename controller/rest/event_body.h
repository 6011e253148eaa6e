// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventBody: the events in a request's body, as the event language reads them.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_REST_EVENT_BODY_H
#define TRUMPET_CONTROLLER_REST_EVENT_BODY_H

#include <cstddef>
#include <string>

#include "controller/rest/http_request.h"
#include "controller/tem/event_manager.h"
#include "lib/base/status.h"

namespace trumpet {

// Stands at the front of errors, as a file's name would.
constexpr char kEventBodyName[] = "request";

struct EventBody {
  std::string text;
  DocumentFormat format = DocumentFormat::kYaml;
  size_t indent = 0;                // columns that `text` has more than what was sent
  bool is_first_line_only = false;  // has them on its first line only

  // Errors about `text` as errors about what was sent.
  std::string MovePlaces(const std::string& errors) const;
};

// The format is that of the Content-Type: application/json, application/yaml or one of YAML's older
// names.  An error begins with "Content-Type" if it is another.  With `is_single`, the body may be
// an event by itself, without the list around it.
Result<EventBody> ReadEventBody(const HttpRequest& request, bool is_single);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_EVENT_BODY_H
