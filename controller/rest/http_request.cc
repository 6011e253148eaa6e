// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/http_request.h"

#include <event2/buffer.h>

#include "lib/base/utf8.h"

namespace trumpet {
namespace {

constexpr size_t kMaxTargetBytes = 4096;
constexpr size_t kMaxSegments = 8;
constexpr size_t kMaxParameters = 16;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsText(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const size_t length = Utf8Length(text, at);
    if (byte < 0x20 || byte == 0x7f || length == 0) return false;
    at += length;
  }
  return true;
}

// Percent escapes, and in a query '+' for a blank.
Status Decode(std::string_view text, bool is_query, std::string* decoded) {
  decoded->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && is_query) {
      *decoded += ' ';
    } else if (text[i] != '%') {
      *decoded += text[i];
    } else {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return Status::Error("a '%' in the URL is not followed by two hexadecimal digits");
      }
      *decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (IsText(*decoded)) return Status::Ok();
  return Status::Error("the URL holds control characters, or is not UTF-8");
}

// Calls take(piece) for each of the pieces between `separator`.
template <typename Take>
Status Split(std::string_view text, char separator, const Take& take) {
  while (true) {
    const size_t end = text.find(separator);
    const Status taken = take(text.substr(0, end));
    if (!taken.ok() || end == text.npos) return taken;
    text.remove_prefix(end + 1);
  }
}

Status TakeParameter(std::string_view text, QueryParameters* query) {
  if (text.empty()) return Status::Ok();
  const size_t equals = text.find('=');
  std::string key;
  std::string value;
  Status status = Decode(text.substr(0, equals), true, &key);
  if (status.ok() && equals != text.npos) status = Decode(text.substr(equals + 1), true, &value);
  if (!status.ok()) return status;
  if (query->size() >= kMaxParameters) return Status::Error("the URL has too many parameters");
  if (query->emplace(key, value).second) return Status::Ok();
  return Status::Error("the parameter '" + key + "' is given twice");
}

}  // namespace

void EvbufferFree::operator()(evbuffer* buffer) const { evbuffer_free(buffer); }

Result<HttpTarget> ParseTarget(std::string_view target) {
  if (target.size() > kMaxTargetBytes) {
    return Status::Error("the URL is longer than " + std::to_string(kMaxTargetBytes) + " bytes");
  }
  if (target.empty() || target[0] != '/') {
    return Status::Error("the URL's path does not start with '/'");
  }
  HttpTarget result;
  const size_t question = target.find('?');
  std::string_view path = target.substr(1, question == target.npos ? question : question - 1);
  if (!path.empty() && path.back() == '/') path.remove_suffix(1);
  Status status = Split(path, '/', [&result](std::string_view piece) {
    if (result.segments.size() >= kMaxSegments) return Status::Error("the URL's path is too deep");
    return Decode(piece, false, &result.segments.emplace_back());
  });
  if (status.ok() && question != target.npos) {
    status = Split(target.substr(question + 1), '&', [&result](std::string_view piece) {
      return TakeParameter(piece, &result.query);
    });
  }
  if (!status.ok()) return status;
  return result;
}

std::string_view HttpRequest::header(const std::string& lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

size_t HttpRequest::body_bytes() const { return body ? evbuffer_get_length(body.get()) : 0; }

std::string HttpRequest::Text() const {
  std::string text(body_bytes(), '\0');
  if (!text.empty()) evbuffer_copyout(body.get(), text.data(), text.size());
  return text;
}

}  // namespace trumpet
