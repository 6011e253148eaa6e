// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/multipart.h"

#include <event2/buffer.h>
#include <strings.h>

#include <utility>

namespace trumpet {
namespace {

constexpr size_t kMaxHeaderBytes = 4096;
constexpr size_t kMaxBoundaryBytes = 70;

// Of `name="value"` or `name=value` in a header's parameters.
std::string Parameter(std::string_view header, std::string_view name) {
  for (size_t at = header.find(';'); at != header.npos; at = header.find(';', at)) {
    ++at;
    while (at < header.size() && header[at] == ' ') ++at;
    const std::string_view rest = header.substr(at);
    if (rest.size() <= name.size() || rest[name.size()] != '=' ||
        strncasecmp(rest.data(), name.data(), name.size()) != 0) {
      continue;
    }
    std::string_view value = rest.substr(name.size() + 1);
    if (!value.empty() && value.front() == '"') {
      value.remove_prefix(1);
      return std::string(value.substr(0, value.find('"')));
    }
    return std::string(value.substr(0, value.find_first_of("; \t\r\n")));
  }
  return "";
}

// Takes what comes before `mark`, and `mark` itself; false if it is not there.
bool TakeUntil(evbuffer* body, const std::string& mark, evbuffer* taken) {
  const evbuffer_ptr found = evbuffer_search(body, mark.data(), mark.size(), nullptr);
  if (found.pos < 0) return false;
  evbuffer_remove_buffer(body, taken, static_cast<size_t>(found.pos));
  evbuffer_drain(body, mark.size());
  return true;
}

std::string TakeText(evbuffer* buffer) {
  std::string text(evbuffer_get_length(buffer), '\0');
  evbuffer_remove(buffer, text.data(), text.size());
  return text;
}

std::string NameOf(const std::string& headers) {
  for (size_t at = 0; at < headers.size();) {
    const size_t end = std::min(headers.size(), headers.find("\r\n", at));
    const std::string_view line = std::string_view(headers).substr(at, end - at);
    constexpr std::string_view kField = "content-disposition:";
    if (line.size() > kField.size() &&
        strncasecmp(line.data(), kField.data(), kField.size()) == 0) {
      return Parameter(line, "name");
    }
    at = end + 2;
  }
  return "";
}

}  // namespace

Result<std::map<std::string, Evbuffer>> ReadMultipart(std::string_view content_type,
                                                      evbuffer* body) {
  const std::string boundary = Parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kMaxBoundaryBytes) {
    return Status::Error("the Content-Type names no boundary of the parts");
  }
  const Status cut_short = Status::Error("the body ends before its last boundary");
  std::map<std::string, Evbuffer> parts;
  Evbuffer piece(evbuffer_new());
  if (!TakeUntil(body, "--" + boundary, piece.get())) return cut_short;
  while (true) {
    char after[2];
    if (evbuffer_remove(body, after, 2) != 2) return cut_short;
    if (after[0] == '-' && after[1] == '-') return parts;
    if (after[0] != '\r' || after[1] != '\n')
      return Status::Error("a boundary's line is malformed");
    if (parts.size() >= kMaxParts) return Status::Error("the body has too many parts");
    evbuffer_drain(piece.get(), evbuffer_get_length(piece.get()));
    if (!TakeUntil(body, "\r\n\r\n", piece.get())) return cut_short;
    if (evbuffer_get_length(piece.get()) > kMaxHeaderBytes) {
      return Status::Error("a part's headers are too long");
    }
    const std::string name = NameOf(TakeText(piece.get()));
    if (name.empty()) return Status::Error("a part of the body has no name");
    Evbuffer part(evbuffer_new());
    if (!TakeUntil(body, "\r\n--" + boundary, part.get())) return cut_short;
    if (!parts.emplace(name, std::move(part)).second) {
      return Status::Error("the body has two parts named '" + name + "'");
    }
  }
}

}  // namespace trumpet
