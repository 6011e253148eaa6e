// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the head of a request says, as it came and as evhttp has taken it.
//
// Threads: any; no state.

#ifndef TRUMPET_CONTROLLER_REST_HTTP_HEAD_H
#define TRUMPET_CONTROLLER_REST_HTTP_HEAD_H

#include <string_view>

#include "controller/rest/http_request.h"
#include "lib/base/status.h"

struct evhttp_request;

namespace trumpet {

struct RequestLine {
  std::string_view method;
  std::string_view target;  // empty if it is no such line
};

// Of the bytes of a head; what it returns points into them.
RequestLine ReadRequestLine(std::string_view head);

// A field of a head by its lower-case name; of several the first.
std::string_view HeadField(std::string_view head, std::string_view name);

// Fills all that is the request's own, and takes over its body.  An error if it could be taken for
// something else by a proxy, or its target is none; `request` then has what could be read.
Status ReadRequest(evhttp_request* handle, HttpRequest* request);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_HTTP_HEAD_H
