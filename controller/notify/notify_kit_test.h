// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of notifications: a receiver of HTTP requests that does as it is told, and a store of
// reports in memory.

#ifndef TRUMPET_CONTROLLER_NOTIFY_NOTIFY_KIT_TEST_H
#define TRUMPET_CONTROLLER_NOTIFY_NOTIFY_KIT_TEST_H

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/report_store.h"
#include "lib/model/network_report.h"

namespace trumpet {

constexpr auto kPatience = std::chrono::seconds(60);

// Turns the loop until `condition` holds; false after a minute.
inline bool LoopUntil(event_base* base, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const timeval tick{0, 1000};
  event* wake = event_new(
      base, -1, EV_PERSIST, [](int, short, void*) {}, nullptr);
  event_add(wake, &tick);
  bool holds = condition();
  while (!holds && std::chrono::steady_clock::now() < deadline) {
    event_base_loop(base, EVLOOP_ONCE);
    holds = condition();
  }
  event_free(wake);
  return holds;
}

class TestReceiver {
 public:
  struct Request {
    std::string path;
    std::map<std::string, std::string> headers;
    std::string body;
    std::chrono::steady_clock::time_point when;
  };
  struct Answer {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    bool is_silent = false;  // never answers
  };

  explicit TestReceiver(event_base* base) : http_(evhttp_new(base)) {
    evhttp_bound_socket* bound = evhttp_bind_socket_with_handle(http_, "127.0.0.1", 0);
    sockaddr_in address{};
    socklen_t length = sizeof address;
    getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    evhttp_set_gencb(http_, OnRequest, this);
  }
  ~TestReceiver() { evhttp_free(http_); }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // What is answered; called with the number of the request, from 0.
  void AnswerBy(std::function<Answer(size_t)> answer) { answer_ = std::move(answer); }
  const std::vector<Request>& requests() const { return requests_; }

 private:
  static void OnRequest(evhttp_request* request, void* self) {
    auto* receiver = static_cast<TestReceiver*>(self);
    Request seen;
    seen.path = evhttp_request_get_uri(request);
    for (const evkeyval* header = evhttp_request_get_input_headers(request)->tqh_first;
         header != nullptr; header = header->next.tqe_next) {
      seen.headers[header->key] = header->value;
    }
    evbuffer* input = evhttp_request_get_input_buffer(request);
    seen.body.resize(evbuffer_get_length(input));
    evbuffer_remove(input, seen.body.data(), seen.body.size());
    seen.when = std::chrono::steady_clock::now();
    const Answer answer =
        receiver->answer_ ? receiver->answer_(receiver->requests_.size()) : Answer();
    receiver->requests_.push_back(std::move(seen));
    if (answer.is_silent) return;
    for (const auto& [name, value] : answer.headers) {
      evhttp_add_header(evhttp_request_get_output_headers(request), name.c_str(), value.c_str());
    }
    evbuffer* body = evbuffer_new();
    evbuffer_add(body, answer.body.data(), answer.body.size());
    evhttp_send_reply(request, answer.status, "as told", body);
    evbuffer_free(body);
  }

  evhttp* http_;
  uint16_t port_ = 0;
  std::function<Answer(size_t)> answer_;
  std::vector<Request> requests_;
};

// Keeps what it is given, but for rows that it forgets or does not take.
class KeptReports final : public ReportStore {
 public:
  explicit KeptReports(event_base* base) : base_(base) {}

  uint64_t last_number() const override {
    return std::max(reserved_, rows_.empty() ? 0 : rows_.back()->number);
  }
  void Append(const ReportRows& rows) override {
    if (!is_full_) rows_.insert(rows_.end(), rows.begin(), rows.end());
  }
  void Query(const ReportQuery& query, Done done) override {
    ++queries_;
    ReportRows found;
    for (const auto& row : rows_) {
      if (found.size() < query.limit && row->number > query.after_number &&
          row->number < query.before_number &&
          (row->number < forgotten_from_ || row->number > forgotten_until_) &&
          (query.tenant.empty() || query.tenant == row->tenant)) {
        found.push_back(row);
      }
    }
    auto* call = new std::function<void()>([done, found] { done(found); });
    event_base_once(
        base_, -1, EV_TIMEOUT,
        [](int, short, void* self) {
          auto* later = static_cast<std::function<void()>*>(self);
          (*later)();
          delete later;
        },
        call, nullptr);
  }
  ReportStoreCounters counters() const override { return {}; }

  void Forget(uint64_t from, uint64_t until) {
    forgotten_from_ = from;
    forgotten_until_ = until;
  }
  void ForgetUntil(uint64_t number) { Forget(0, number); }
  void Reserve(uint64_t number) { reserved_ = number; }
  void TakeNoMore() { is_full_ = true; }
  size_t queries() const { return queries_; }

 private:
  event_base* const base_;
  ReportRows rows_;
  uint64_t forgotten_from_ = 0;
  uint64_t forgotten_until_ = 0;
  uint64_t reserved_ = 0;
  bool is_full_ = false;
  size_t queries_ = 0;
};

inline NetworkReport ReportOf(const std::string& event, const std::string& bucket_json,
                              bool is_clear = false) {
  NetworkReport report;
  report.report.event = event;
  report.report.severity = "warning";
  report.report.bucket_json = bucket_json;
  report.report.start_ns = 1000000000;
  report.report.end_ns = 1010000000;
  report.is_clear = is_clear;
  report.hosts.push_back({"h1", 3, Number(), 0});
  return report;
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_NOTIFY_KIT_TEST_H
