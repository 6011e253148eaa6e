// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/http_head.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace trumpet {
namespace {

const char* MethodName(evhttp_cmd_type type) {
  switch (type) {
    case EVHTTP_REQ_GET:
      return "GET";
    case EVHTTP_REQ_POST:
      return "POST";
    case EVHTTP_REQ_HEAD:
      return "HEAD";
    case EVHTTP_REQ_PUT:
      return "PUT";
    case EVHTTP_REQ_DELETE:
      return "DELETE";
    case EVHTTP_REQ_OPTIONS:
      return "OPTIONS";
    case EVHTTP_REQ_TRACE:
      return "TRACE";
    case EVHTTP_REQ_CONNECT:
      return "CONNECT";
    case EVHTTP_REQ_PATCH:
      return "PATCH";
  }
  return "";
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Copies the fields; false if one that tells where the request ends is there twice, or both ways of
// telling are used: proxies and we might disagree about it.
bool TakeHeaders(evhttp_request* request, std::map<std::string, std::string>* headers) {
  bool is_clear = true;
  const evkeyvalq* fields = evhttp_request_get_input_headers(request);
  for (const evkeyval* field = fields->tqh_first; field != nullptr; field = field->next.tqe_next) {
    const std::string name = LowerCase(field->key);
    const bool is_new = headers->emplace(name, field->value).second;
    if (!is_new && (name == "content-length" || name == "transfer-encoding" || name == "host" ||
                    name == "authorization")) {
      is_clear = false;
    }
  }
  return is_clear && !(headers->count("content-length") && headers->count("transfer-encoding"));
}

// A body after these would be taken for the next request.
bool MayHaveBody(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

bool HasBody(const std::map<std::string, std::string>& headers) {
  const auto length = headers.find("content-length");
  return headers.count("transfer-encoding") > 0 ||
         (length != headers.end() && length->second != "0");
}

}  // namespace

RequestLine ReadRequestLine(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  const size_t first = line.find(' ');
  const size_t second = line.find(' ', first == line.npos ? first : first + 1);
  if (second == line.npos) return {};
  return {line.substr(0, first), line.substr(first + 1, second - first - 1)};
}

std::string_view HeadField(std::string_view head, std::string_view name) {
  for (size_t at = head.find('\n'); at != head.npos; at = head.find('\n', at)) {
    ++at;
    std::string_view line = head.substr(at, head.find('\n', at) - at);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (LowerCase(line.substr(0, name.size())) != name) continue;
    line.remove_prefix(name.size() + 1);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    return line;
  }
  return {};
}

Status ReadRequest(evhttp_request* handle, HttpRequest* request) {
  request->method = MethodName(evhttp_request_get_command(handle));
  request->is_head = request->method == "HEAD";
  request->takes_chunks = handle->major > 1 || (handle->major == 1 && handle->minor >= 1);
  const bool is_clear = TakeHeaders(handle, &request->headers);
  const char* uri = evhttp_request_get_uri(handle);
  Result<HttpTarget> target = ParseTarget(uri);
  request->path = std::string(uri, std::strcspn(uri, "?"));
  if (target.ok()) request->target = std::move(*target);
  request->body.reset(evbuffer_new());
  evbuffer_add_buffer(request->body.get(), evhttp_request_get_input_buffer(handle));
  if (!is_clear) return Status::Error("header fields contradict each other");
  if (!MayHaveBody(request->method) && HasBody(request->headers)) {
    return Status::Error("a request of this method has no body");
  }
  return target.ok() ? Status::Ok() : Status::Error(target.message());
}

}  // namespace trumpet
