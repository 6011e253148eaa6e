// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a message or an error with a text; a message encodes, and decodes to itself.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/fuzz_require.h"
#include "lib/wire/codec.h"
#include "lib/wire/same_message_test.h"

using trumpet::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto message =
      trumpet::DecodeMessage(std::string_view(reinterpret_cast<const char*>(data), size));
  const auto twin =
      trumpet::DecodeByProtobuf(std::string_view(reinterpret_cast<const char*>(data), size));
  Require(message.ok() == twin.ok(), "the short way differs", twin.ok() ? "" : twin.message());
  if (message.ok()) {
    Require(trumpet::SameMessage(*message, *twin), "the short way reads something else", "");
  } else {
    Require(!message.message().empty(), "error without a text", "");
    return 0;
  }
  constexpr size_t kAmple = 16 * 1024 * 1024;
  std::string frame;
  const trumpet::Status status = trumpet::EncodeMessage(*message, kAmple, &frame);
  Require(status.ok(), "a decoded message does not encode", status.ok() ? "" : status.message());
  const auto again = trumpet::DecodeMessage(frame);
  Require(again.ok(), "an encoded message does not decode", again.ok() ? "" : again.message());
  const char* const name = trumpet::MessageKindName(trumpet::KindOf(*message));
  Require(trumpet::SameMessage(*message, *again), "decodes to something else", name);
  return 0;
}
