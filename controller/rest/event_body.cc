// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/event_body.h"

#include <charconv>
#include <sstream>

#include "lib/base/utf8.h"
#include "lib/lang/event/document.h"

namespace trumpet {
namespace {

using event_lang::DocumentNode;
using event_lang::Source;

std::string MediaType(std::string_view header) {
  std::string type;
  for (char c : header.substr(0, header.find(';'))) {
    if (c != ' ') type += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return type;
}

bool IsYaml(const std::string& type) {
  return type == "application/yaml" || type == "application/x-yaml" || type == "text/yaml" ||
         type == "text/x-yaml";
}

// An event that is not in a list: a map without the key `events`.
bool IsBareEvent(const DocumentNode& root) {
  if (root.kind != DocumentNode::Kind::kMap) return false;
  for (size_t i = 0; i < root.items.size(); i += 2) {
    if (root.items[i].text == "events") return false;
  }
  return true;
}

void WrapJson(EventBody* body) {
  body->text = "[" + body->text + "]";
  body->indent = 1;
  body->is_first_line_only = true;
}

// What tells where a document begins and ends has no place within a list: blanks and comments are
// there instead, so that all else stays where it was.
void DropDocumentMarks(std::string* line, bool* has_begun) {
  const std::string mark = line->substr(0, 3);
  const bool is_alone =
      line->size() <= 3 || (*line)[3] == ' ' || (*line)[3] == '\t' || (*line)[3] == '\r';
  if ((mark == "---" || mark == "...") && is_alone) {
    line->replace(0, 3, "   ");
    *has_begun = true;
  } else if (!*has_begun && mark[0] == '%') {
    (*line)[0] = '#';  // a directive
  }
}

void WrapYaml(EventBody* body) {
  std::istringstream lines(body->text);
  std::string wrapped;
  bool has_begun = false;
  for (std::string line; std::getline(lines, line);) {
    DropDocumentMarks(&line, &has_begun);
    wrapped += (wrapped.empty() ? "- " : "  ") + line + "\n";
  }
  body->text = std::move(wrapped);
  body->indent = 2;
}

}  // namespace

std::string EventBody::MovePlaces(const std::string& errors) const {
  if (indent == 0) return errors;
  const std::string front = std::string(kEventBodyName) + ":";
  std::string moved;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    if (!moved.empty()) moved += "\n";
    unsigned row = 0;
    unsigned column = 0;
    const char* const end = line.data() + line.size();
    auto read = line.compare(0, front.size(), front) == 0
                    ? std::from_chars(line.data() + front.size(), end, row)
                    : std::from_chars_result{end, std::errc::invalid_argument};
    const bool has_row = read.ec == std::errc() && read.ptr != end && *read.ptr == ':';
    if (has_row) read = std::from_chars(read.ptr + 1, end, column);
    if (has_row && read.ec == std::errc() && column > indent && (row == 1 || !is_first_line_only)) {
      moved += front + std::to_string(row) + ":" + std::to_string(column - indent) +
               std::string(read.ptr, end);
    } else {
      moved += line;
    }
  }
  return moved;
}

Result<EventBody> ReadEventBody(const HttpRequest& request, bool is_single) {
  const std::string type = MediaType(request.header("content-type"));
  if (type != "application/json" && !IsYaml(type)) {
    return Status::Error("Content-Type must be application/json or application/yaml");
  }
  EventBody body;
  body.format = type == "application/json" ? DocumentFormat::kJson : DocumentFormat::kYaml;
  body.text = request.Text();
  if (!is_single) return body;
  const Source source{kEventBodyName, body.text};
  const Result<DocumentNode> root = body.format == DocumentFormat::kJson
                                        ? event_lang::ReadJson(source)
                                        : event_lang::ReadYaml(source);
  if (!root.ok()) return root.status();
  if (!IsBareEvent(*root)) return body;
  body.text = WithoutByteOrderMark(body.text);
  if (body.format == DocumentFormat::kJson) {
    WrapJson(&body);
  } else {
    WrapYaml(&body);
  }
  return body;
}

}  // namespace trumpet
