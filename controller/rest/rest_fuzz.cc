// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Whatever clients and administrators write: URLs, multipart bodies, token files.  The first byte
// says which.

#include <event2/buffer.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "controller/rest/http_request.h"
#include "controller/rest/multipart.h"
#include "controller/rest/problem.h"
#include "controller/rest/token_file.h"
#include "lib/base/fuzz_require.h"

namespace {

using trumpet::Evbuffer;
using trumpet::Require;

void TryTarget(std::string_view text) {
  const auto target = trumpet::ParseTarget(text);
  if (!target.ok()) return;
  for (const std::string& segment : target->segments) {
    Require(segment.find('\0') == segment.npos, "a NUL in the path");
  }
}

void TryMultipart(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == text.npos) return;
  const Evbuffer body(evbuffer_new());
  evbuffer_add(body.get(), text.data() + end + 1, text.size() - end - 1);
  const auto parts = trumpet::ReadMultipart(text.substr(0, end), body.get());
  if (!parts.ok()) return;
  size_t bytes = 0;
  for (const auto& part : *parts) bytes += evbuffer_get_length(part.second.get());
  Require(bytes <= text.size(), "parts are longer than their body");
}

void TryTokens(std::string_view text) {
  const auto tokens = trumpet::ParseTokens(text, "fuzz");
  if (!tokens.ok()) Require(tokens.message().rfind("fuzz:", 0) == 0, "an error without its place");
}

void TryProblem(std::string_view text) {
  const trumpet::HttpReply answer = trumpet::ProblemAnswer(400, std::string(text));
  Require(!nlohmann::json::parse(answer.body, nullptr, false).is_discarded(), "no JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      TryTarget(text);
      break;
    case 1:
      TryMultipart(text);
      break;
    case 2:
      TryTokens(text);
      break;
    case 3:
      TryProblem(text);
      break;
  }
  return 0;
}
