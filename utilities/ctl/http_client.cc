// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/http_client.h"

#include <curl/curl.h>

namespace trumpet {
namespace {

constexpr long kConnectTimeoutMs = 10000;
// A connection on which nothing comes for so long is dead; streams have heartbeats.
constexpr long kSilenceS = 60;

struct Exchange {
  CURL* curl = nullptr;
  const ApiRequest* request = nullptr;
  ApiAnswer answer;
  bool is_too_long = false;

  static size_t OnData(char* data, size_t size, size_t count, void* self) {
    auto* exchange = static_cast<Exchange*>(self);
    const std::string_view bytes(data, size * count);
    long status = 0;
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
    if (exchange->request->receive && status >= 200 && status < 300) {
      return exchange->request->receive(bytes) ? bytes.size() : 0;
    }
    if (exchange->answer.body.size() + bytes.size() > HttpClient::kMaxBodyBytes) {
      exchange->is_too_long = true;
      return 0;
    }
    exchange->answer.body += bytes;
    return bytes.size();
  }

  static int OnProgress(void* self, curl_off_t /*to_come*/, curl_off_t /*come*/, curl_off_t to_send,
                        curl_off_t sent) {
    const ApiRequest& request = *static_cast<Exchange*>(self)->request;
    if (request.progress && to_send > 0) {
      request.progress(static_cast<uint64_t>(sent), static_cast<uint64_t>(to_send));
    }
    return request.goes_on && !request.goes_on() ? 1 : 0;
  }
};

std::string UrlOf(const std::string& server, const ApiRequest& request) {
  std::string url = server + request.path;
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    url += separator + name + "=" + HttpClient::Escape(value);
    separator = '&';
  }
  return url;
}

curl_mime* MakeForm(CURL* curl, const ApiRequest& request) {
  curl_mime* form = curl_mime_init(curl);
  for (const FormPart& part : request.form) {
    curl_mimepart* added = curl_mime_addpart(form);
    curl_mime_name(added, part.name.c_str());
    if (part.file.empty()) {
      curl_mime_data(added, part.content.data(), part.content.size());
    } else {
      curl_mime_filedata(added, part.file.c_str());
    }
  }
  return form;
}

// What a user may have meant, in a few cases that are hard to guess from curl's words.
std::string Remedy(CURLcode code, const std::string& why) {
  switch (code) {
    case CURLE_SSL_CONNECT_ERROR:
      return why.find("wrong version number") == why.npos ? "" : " (without TLS: http://...)";
    case CURLE_GOT_NOTHING:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return " (with TLS: https://...)";
    case CURLE_PEER_FAILED_VERIFICATION:
      return why.find("issuer") == why.npos ? "" : " (--ca names certificates to trust)";
    default:
      return "";
  }
}

}  // namespace

HttpClient::HttpClient(std::string server, std::string token, std::string ca_file)
    : server_(std::move(server)),
      token_(std::move(token)),
      ca_file_(std::move(ca_file)),
      curl_((curl_global_init(CURL_GLOBAL_DEFAULT), curl_easy_init())) {}

HttpClient::~HttpClient() { curl_easy_cleanup(curl_); }

std::string HttpClient::Escape(const std::string& text) {
  char* escaped = curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size()));
  std::string result = escaped;
  curl_free(escaped);
  return result;
}

Result<ApiAnswer> HttpClient::Send(const ApiRequest& request) {
  CURL* const curl = curl_;
  curl_easy_reset(curl);  // keeps the connection
  Exchange exchange;
  exchange.curl = curl;
  exchange.request = &request;
  curl_slist* headers = nullptr;
  const auto add_header = [&](const std::string& header) {
    headers = curl_slist_append(headers, header.c_str());
  };
  for (const std::string& header : request.headers) add_header(header);
  if (!token_.empty()) add_header("Authorization: Bearer " + token_);
  add_header("Expect:");
  const std::string url = UrlOf(server_, request);
  char error[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "trumpetctl/" TRUMPET_VERSION);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilenceS);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Exchange::OnData);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, Exchange::OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  if (!ca_file_.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file_.c_str());
  curl_mime* form = nullptr;
  if (!request.form.empty()) {
    form = MakeForm(curl, request);
    curl_easy_setopt(curl, CURLOPT_MIMEPOST, form);
  } else if (!request.content_type.empty()) {
    add_header("Content-Type: " + request.content_type);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  exchange.answer.status = static_cast<int>(status);
  curl_mime_free(form);
  curl_slist_free_all(headers);
  if (code != CURLE_OK) {
    const std::string why = exchange.is_too_long ? "the answer is too long"
                            : error[0] != '\0'   ? error
                                                 : curl_easy_strerror(code);
    return Status::Error(server_ + ": " + why + Remedy(code, why));
  }
  return exchange.answer;
}

}  // namespace trumpet
