// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HttpClient: HTTP requests to a few servers at the same time, by libcurl, waiting for the answers.
//
// Connections are kept for the next requests.  Redirects are an answer like any other.
//
// Threads: one at a time.

#ifndef TRUMPET_CONTROLLER_STORE_HTTP_CLIENT_H
#define TRUMPET_CONTROLLER_STORE_HTTP_CLIENT_H

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

struct HttpClientOptions {
  std::vector<std::string> headers;  // "Name: value", with each request
  std::string ca_file;               // empty: those of the system
  Nanos connect_timeout = kNanosPerSecond;
  Nanos timeout = 5 * kNanosPerSecond;   // of the whole request
  size_t max_answer_bytes = 256u << 20;  // more is an error
};

struct HttpCall {
  std::string url;
  std::string body;   // POST
  Nanos timeout = 0;  // 0: that of the options
};

struct HttpReply {
  int status = 0;     // 0: there was no answer
  std::string error;  // why not
  std::string body;
};

// "http://host:8123" can be called; else what is wrong with it.
Status CheckHttpUrl(const std::string& url);
// For use between "?" or "&" and "=" or "&".
std::string EncodeForUrl(const std::string& text);

class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Replies in the order of the calls.  `may_go_on`, which may be empty, is asked many times a
  // second; false ends what has not been answered.
  std::vector<HttpReply> CallAll(const std::vector<HttpCall>& calls,
                                 const std::function<bool()>& may_go_on = {});
  HttpReply Call(const HttpCall& call) { return CallAll({call})[0]; }

 private:
  struct Transfer;
  struct Multi;

  void Begin(const HttpCall& call, Transfer* transfer);
  void Finish(Transfer* transfer, int code);

  const HttpClientOptions options_;
  const std::unique_ptr<Multi> multi_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_HTTP_CLIENT_H
