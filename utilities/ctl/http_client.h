// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HttpClient: requests to the controller's API, one after the other, by libcurl.
//
// Threads: one.  Calls return when the answer is there.

#ifndef TRUMPET_UTILITIES_CTL_HTTP_CLIENT_H
#define TRUMPET_UTILITIES_CTL_HTTP_CLIENT_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/status.h"

namespace trumpet {

// A part of a form; the content of a file is read while it is sent.
struct FormPart {
  std::string name;
  std::string content;
  std::string file;  // instead of content
};

struct ApiRequest {
  const char* method = "GET";
  std::string path;  // "/v1/events"
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::string> headers;
  std::string body;
  std::string content_type;    // of the body; empty: there is none
  std::vector<FormPart> form;  // instead of a body
  // Told while a body is sent: bytes so far and in all.
  std::function<void(uint64_t sent, uint64_t total)> progress;
  // Takes the body of a success as it comes, instead of ApiAnswer::body; false ends the request.
  std::function<bool(std::string_view bytes)> receive;
  // Asked now and then, at least once a second, whether to go on; may be null.
  std::function<bool()> goes_on;
};

struct ApiAnswer {
  int status = 0;
  std::string body;
  bool is_success() const { return status >= 200 && status < 300; }
};

class HttpClient {
 public:
  static constexpr size_t kMaxBodyBytes = 256 << 20;

  // `token` may be empty.
  HttpClient(std::string server, std::string token, std::string ca_file);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // A client of the same server, for use while a request of this one is under way.
  HttpClient Another() const { return {server_, token_, ca_file_}; }

  // An error says why there is no answer.
  Result<ApiAnswer> Send(const ApiRequest& request);

  static std::string Escape(const std::string& text);

 private:
  const std::string server_;
  const std::string token_;
  const std::string ca_file_;
  void* const curl_;
};

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_HTTP_CLIENT_H
