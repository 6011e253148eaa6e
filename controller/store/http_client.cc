// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/http_client.h"

#include <curl/curl.h>

#include <utility>

namespace trumpet {
namespace {

constexpr int kAskEvery_ms = 20;

// libcurl wants to be told once that it is used.
void InitCurl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

}  // namespace

Status CheckHttpUrl(const std::string& url) {
  InitCurl();
  CURLU* const parsed = curl_url();
  const CURLUcode code = curl_url_set(parsed, CURLUPART_URL, url.c_str(), 0);
  std::string wrong = code == CURLUE_OK ? "" : "is no URL";
  const auto part = [parsed](CURLUPart which) {
    char* text = nullptr;
    std::string value;
    if (curl_url_get(parsed, which, &text, 0) == CURLUE_OK) value = text;
    curl_free(text);
    return value;
  };
  if (wrong.empty()) {
    const std::string scheme = part(CURLUPART_SCHEME);
    const std::string path = part(CURLUPART_PATH);
    if (scheme != "http" && scheme != "https") wrong = "must begin with http:// or https://";
    if (!path.empty() && path != "/") wrong = "must have no path";
    if (!part(CURLUPART_QUERY).empty()) wrong = "must have no ?";
    if (!part(CURLUPART_USER).empty()) wrong = "must have no user; user=NAME says it";
  }
  curl_url_cleanup(parsed);
  return wrong.empty() ? Status::Ok() : Status::Error("'" + url + "' " + wrong);
}

std::string EncodeForUrl(const std::string& text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                          (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '-';
    if (is_plain) {
      encoded += letter;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

struct HttpClient::Transfer {
  HttpReply reply;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  size_t max_bytes = 0;
  bool is_done = false;
  char error[CURL_ERROR_SIZE] = "";

  ~Transfer() {
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
  }

  static size_t OnData(char* data, size_t size, size_t count, void* self) {
    auto* const transfer = static_cast<Transfer*>(self);
    const size_t bytes = size * count;
    if (bytes > transfer->max_bytes - transfer->reply.body.size()) return 0;  // an error
    transfer->reply.body.append(data, bytes);
    return bytes;
  }
};

struct HttpClient::Multi {
  CURLM* const handle = (InitCurl(), curl_multi_init());
  ~Multi() { curl_multi_cleanup(handle); }
};

HttpClient::HttpClient(HttpClientOptions options)
    : options_(std::move(options)), multi_(std::make_unique<Multi>()) {}

HttpClient::~HttpClient() = default;

void HttpClient::Begin(const HttpCall& call, Transfer* transfer) {
  transfer->max_bytes = options_.max_answer_bytes;
  transfer->easy = curl_easy_init();
  for (const std::string& header : options_.headers) {
    transfer->headers = curl_slist_append(transfer->headers, header.c_str());
  }
  transfer->headers = curl_slist_append(transfer->headers, "Expect:");  // no wait for a 100
  CURL* const easy = transfer->easy;
  curl_easy_setopt(easy, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "trumpet/" TRUMPET_VERSION);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options_.connect_timeout / kNanosPerMilli));
  const Nanos timeout = call.timeout > 0 ? call.timeout : options_.timeout;
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout / kNanosPerMilli));
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Transfer::OnData);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
  if (!options_.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
  }
  curl_multi_add_handle(multi_->handle, easy);
}

void HttpClient::Finish(Transfer* transfer, int code) {
  curl_multi_remove_handle(multi_->handle, transfer->easy);
  transfer->is_done = true;
  HttpReply& reply = transfer->reply;
  if (code == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
  } else if (code == CURLE_WRITE_ERROR) {
    reply.error = "the answer is too long";
  } else {
    reply.error = *transfer->error != '\0' ? transfer->error
                                           : curl_easy_strerror(static_cast<CURLcode>(code));
  }
}

std::vector<HttpReply> HttpClient::CallAll(const std::vector<HttpCall>& calls,
                                           const std::function<bool()>& may_go_on) {
  std::vector<std::unique_ptr<Transfer>> transfers;
  for (const HttpCall& call : calls) {
    transfers.push_back(std::make_unique<Transfer>());
    Begin(call, transfers.back().get());
  }
  int running = 1;
  while (running > 0) {
    CURLMcode code = curl_multi_perform(multi_->handle, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_->handle, &left)) {
      Transfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      Finish(transfer, message->data.result);
    }
    if (code == CURLM_OK && running > 0) {
      code = curl_multi_poll(multi_->handle, nullptr, 0, kAskEvery_ms, nullptr);
    }
    if (code != CURLM_OK || (may_go_on && !may_go_on())) break;
  }
  std::vector<HttpReply> replies;
  for (const auto& transfer : transfers) {
    if (!transfer->is_done) Finish(transfer.get(), CURLE_ABORTED_BY_CALLBACK);
    replies.push_back(std::move(transfer->reply));
  }
  return replies;
}

}  // namespace trumpet
