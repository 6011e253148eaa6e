// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HttpSender: HTTP requests to others on the libevent loop, by libcurl.
//
// Answers are read up to a limit and thrown away but for their beginning.  Redirects that keep the
// method (307, 308) are followed within the same scheme, host and port; others are an answer.
//
// Threads: one, that of the loop.  libcurl's resolver has threads of its own.
// Lifetime: the end of the sender drops requests under way, whose `done` is then not called.

#ifndef TRUMPET_CONTROLLER_NOTIFY_HTTP_SENDER_H
#define TRUMPET_CONTROLLER_NOTIFY_HTTP_SENDER_H

#include <curl/curl.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/base/units.h"

struct event;
struct event_base;

namespace trumpet {

struct HttpPost {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  Nanos timeout = 10 * kNanosPerSecond;
};

struct PostAnswer {
  int status = 0;         // 0: there was no answer
  std::string error;      // why not
  std::string text;       // the beginning of the answer
  Nanos retry_after = 0;  // as the answer asks; 0: it does not
};

// True if the two URLs have the same scheme, host and port.
bool IsSameOrigin(const std::string& one, const std::string& other);

class HttpSender {
 public:
  static constexpr size_t kMaxAnswerBytes = 1 << 20;
  static constexpr int kMaxRedirects = 3;
  using Done = std::function<void(const PostAnswer&)>;

  explicit HttpSender(event_base* base);
  ~HttpSender();
  HttpSender(const HttpSender&) = delete;
  HttpSender& operator=(const HttpSender&) = delete;

  // `done` is called once, from the loop.
  void Post(HttpPost post, Done done);
  size_t in_flight() const { return transfers_.size(); }

 private:
  struct Transfer;

  static int OnSocket(CURL* easy, curl_socket_t fd, int what, void* sender, void* socket);
  static int OnTimer(CURLM* multi, long timeout_ms, void* sender);
  static void OnReady(int fd, short what, void* sender);
  void Act(curl_socket_t fd, int what);
  void FinishAll();
  void Finish(CURL* easy, CURLcode code);
  void Begin(Transfer* transfer);

  event_base* const base_;
  CURLM* const multi_;
  LoopEvent timer_;
  std::map<CURL*, std::unique_ptr<Transfer>> transfers_;
  std::map<curl_socket_t, event*> sockets_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_HTTP_SENDER_H
