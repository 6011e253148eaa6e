// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HttpRequest: what a client asks for, checked and decoded.
//
// Threads: values; no state.  Memory: the body is at most what the server's limits allow.

#ifndef TRUMPET_CONTROLLER_REST_HTTP_REQUEST_H
#define TRUMPET_CONTROLLER_REST_HTTP_REQUEST_H

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"

struct evbuffer;

namespace trumpet {

struct EvbufferFree {
  void operator()(evbuffer* buffer) const;
};
using Evbuffer = std::unique_ptr<evbuffer, EvbufferFree>;

using QueryParameters = std::map<std::string, std::string>;

// The two parts of a request's target, decoded.
struct HttpTarget {
  std::vector<std::string> segments;  // of the path: "/v1/events" has "v1" and "events"
  QueryParameters query;
};

// Decodes "/path/of%20segments?key=value&key2=value2".  Refused are targets that do not start with
// a slash, control characters, what is not UTF-8, broken escapes, a parameter given twice, and more
// of anything than a client of ours sends.
Result<HttpTarget> ParseTarget(std::string_view target);

struct HttpRequest {
  std::string method;  // "GET", ...; HEAD asks as GET does
  bool is_head = false;
  std::string path;  // as sent, without the query
  HttpTarget target;
  std::map<std::string, std::string> headers;  // names in lower case
  Evbuffer body;
  std::string peer;  // address of the client, without port
  bool is_loopback = false;
  bool is_tls = false;
  bool takes_chunks = true;  // HTTP/1.1: it can tell the end of an answer from a broken connection

  // Empty if there is none.
  std::string_view header(const std::string& lower_case_name) const;
  size_t body_bytes() const;
  // A copy of the body.
  std::string Text() const;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_HTTP_REQUEST_H
