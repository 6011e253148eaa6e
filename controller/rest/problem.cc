// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/problem.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>

#include <nlohmann/json.hpp>

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

// Takes "digits:" off the front.
std::optional<uint32_t> TakeNumber(std::string_view* text) {
  uint32_t number = 0;
  const auto end = std::from_chars(text->data(), text->data() + text->size(), number);
  const auto length = static_cast<size_t>(end.ptr - text->data());
  if (end.ec != std::errc() || length >= text->size() || (*text)[length] != ':') return {};
  text->remove_prefix(length + 1);
  return number;
}

// "source:line:column: message"
std::optional<Json> ReadPlace(std::string_view line) {
  for (size_t colon = line.find(':'); colon != line.npos; colon = line.find(':', colon + 1)) {
    std::string_view rest = line.substr(colon + 1);
    const auto row = TakeNumber(&rest);
    const auto column = row ? TakeNumber(&rest) : std::nullopt;
    if (!column || rest.empty() || rest[0] != ' ') continue;
    return Json{{"source", line.substr(0, colon)},
                {"line", *row},
                {"column", *column},
                {"message", rest.substr(1)}};
  }
  return std::nullopt;
}

}  // namespace

HttpReply ProblemAnswer(int status, const std::string& detail) {
  Json problem = {{"type", "about:blank"},
                  {"title", HttpStatusText(status)},
                  {"status", status},
                  {"detail", detail}};
  Json errors = Json::array();
  std::istringstream lines(detail);
  for (std::string line; std::getline(lines, line);) {
    if (const auto place = ReadPlace(line)) errors.push_back(*place);
  }
  if (!errors.empty()) problem["errors"] = std::move(errors);
  HttpReply answer;
  answer.status = status;
  answer.content_type = "application/problem+json";
  // What a client sent is quoted in places, and need not be UTF-8.
  answer.body = problem.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return answer;
}

}  // namespace trumpet
