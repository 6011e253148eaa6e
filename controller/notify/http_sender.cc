// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/http_sender.h"

#include <event2/event.h>

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

constexpr size_t kKeptAnswerBytes = 256;

// libcurl wants to be told once that it is used; it is thread-safe from 7.84 on.
void InitCurl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

std::string PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
  std::string result = text;
  curl_free(text);
  return result;
}

// "http://host:80"; empty if it is no URL.
std::string OriginOf(const std::string& text) {
  CURLU* url = curl_url();
  std::string origin;
  if (curl_url_set(url, CURLUPART_URL, text.c_str(), 0) == CURLUE_OK) {
    origin = PartOf(url, CURLUPART_SCHEME) + "://" + PartOf(url, CURLUPART_HOST) + ":" +
             PartOf(url, CURLUPART_PORT);
  }
  curl_url_cleanup(url);
  return origin;
}

}  // namespace

bool IsSameOrigin(const std::string& one, const std::string& other) {
  const std::string origin = OriginOf(one);
  return !origin.empty() && origin == OriginOf(other);
}

struct HttpSender::Transfer {
  HttpPost post;
  Done done;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  std::string text;
  size_t received = 0;
  int redirects = 0;
  char error[CURL_ERROR_SIZE] = "";

  ~Transfer() {
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
  }

  static size_t OnData(char* data, size_t size, size_t count, void* self) {
    auto* transfer = static_cast<Transfer*>(self);
    const size_t bytes = size * count;
    transfer->received += bytes;
    if (transfer->received > kMaxAnswerBytes) return 0;  // an error
    const size_t room = kKeptAnswerBytes - std::min(kKeptAnswerBytes, transfer->text.size());
    transfer->text.append(data, std::min(room, bytes));
    return bytes;
  }
};

HttpSender::HttpSender(event_base* base)
    : base_(base),
      multi_((InitCurl(), curl_multi_init())),
      timer_(base, [this] { Act(CURL_SOCKET_TIMEOUT, 0); }) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

HttpSender::~HttpSender() {
  for (auto& [easy, transfer] : transfers_) curl_multi_remove_handle(multi_, easy);
  transfers_.clear();
  curl_multi_cleanup(multi_);  // closes kept connections, and tells us of their sockets
  for (auto& [fd, ready] : sockets_) event_free(ready);
}

void HttpSender::Post(HttpPost post, Done done) {
  auto transfer = std::make_unique<Transfer>();
  transfer->post = std::move(post);
  transfer->done = std::move(done);
  transfer->easy = curl_easy_init();
  Transfer* const raw = transfer.get();
  transfers_[raw->easy] = std::move(transfer);
  Begin(raw);
}

void HttpSender::Begin(Transfer* transfer) {
  CURL* const easy = transfer->easy;
  const HttpPost& post = transfer->post;
  if (transfer->headers == nullptr) {
    for (const std::string& header : post.headers) {
      transfer->headers = curl_slist_append(transfer->headers, header.c_str());
    }
    // Without it libcurl waits a second for a 100 that many servers never send.
    transfer->headers = curl_slist_append(transfer->headers, "Expect:");
  }
  curl_easy_setopt(easy, CURLOPT_URL, post.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post.body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post.body.size()));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "trumpet-controller/" TRUMPET_VERSION);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(post.timeout / kNanosPerMilli));
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Transfer::OnData);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
  if (!post.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, post.ca_file.c_str());
  if (!post.certificate_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_SSLCERT, post.certificate_file.c_str());
    curl_easy_setopt(easy, CURLOPT_SSLKEY, post.key_file.c_str());
  }
  curl_multi_add_handle(multi_, easy);
}

int HttpSender::OnSocket(CURL* /*easy*/, curl_socket_t fd, int what, void* self, void* /*socket*/) {
  auto* sender = static_cast<HttpSender*>(self);
  const auto known = sender->sockets_.find(fd);
  if (known != sender->sockets_.end()) {
    event_free(known->second);
    sender->sockets_.erase(known);
  }
  if (what == CURL_POLL_REMOVE) return 0;
  const short events =
      static_cast<short>(((what & CURL_POLL_IN) != 0 ? EV_READ : 0) |
                         ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0) | EV_PERSIST);
  event* const ready = event_new(sender->base_, fd, events, OnReady, sender);
  event_add(ready, nullptr);
  sender->sockets_[fd] = ready;
  return 0;
}

int HttpSender::OnTimer(CURLM* /*multi*/, long timeout_ms, void* self) {
  auto* sender = static_cast<HttpSender*>(self);
  if (timeout_ms < 0) {
    sender->timer_.Cancel();
  } else {
    sender->timer_.RunAfter(timeout_ms * kNanosPerMilli);
  }
  return 0;
}

void HttpSender::OnReady(int fd, short what, void* self) {
  const int flags = ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
                    ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0);
  static_cast<HttpSender*>(self)->Act(fd, flags);
}

void HttpSender::Act(curl_socket_t fd, int what) {
  int running = 0;
  curl_multi_socket_action(multi_, fd, what, &running);
  FinishAll();
}

void HttpSender::FinishAll() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) Finish(message->easy_handle, message->data.result);
  }
}

void HttpSender::Finish(CURL* easy, CURLcode code) {
  curl_multi_remove_handle(multi_, easy);
  const auto found = transfers_.find(easy);
  Transfer& transfer = *found->second;
  PostAnswer answer;
  if (code == CURLE_OK) {
    long status = 0;
    curl_off_t retry_after_s = 0;
    char* target = nullptr;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &target);
    if ((status == 307 || status == 308) && target != nullptr &&
        IsSameOrigin(target, transfer.post.url) && ++transfer.redirects <= kMaxRedirects) {
      transfer.post.url = target;
      transfer.text.clear();
      Begin(&transfer);
      return;
    }
    answer.status = static_cast<int>(status);
    answer.text = transfer.text;
    answer.retry_after = std::min<curl_off_t>(retry_after_s, 86400) * kNanosPerSecond;
  } else {
    answer.error = transfer.received > kMaxAnswerBytes ? "the answer is too long"
                   : transfer.error[0] != '\0'         ? transfer.error
                                                       : curl_easy_strerror(code);
  }
  const Done done = std::move(transfer.done);
  transfers_.erase(found);
  done(answer);
}

}  // namespace trumpet
