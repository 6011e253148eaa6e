// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HttpConnection: what HttpServer knows of one client's connection.

#ifndef TRUMPET_CONTROLLER_REST_HTTP_CONNECTION_H
#define TRUMPET_CONTROLLER_REST_HTTP_CONNECTION_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "controller/rest/http_exchange.h"
#include "lib/base/units.h"

struct evhttp_connection;

namespace trumpet {

struct HttpConnection {
  enum class Stage : uint8_t { kReceiving, kHandling, kAnswering, kStreaming };

  HttpServer* server = nullptr;
  evhttp_connection* handle = nullptr;
  std::string peer;  // address, without port
  Stage stage = Stage::kReceiving;
  Nanos since = 0;         // monotonic, of the stage
  bool has_begun = false;  // kReceiving: something of the request is there, `since` then
  size_t bytes = 0;        // of the request under way
  std::string head;        // its first bytes, until the empty line or as far as a head may go
  bool is_head_done = false;
  bool is_upload = false;
  bool is_doomed = false;
  std::weak_ptr<HttpExchange> exchange;  // whoever answers owns it
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_HTTP_CONNECTION_H
