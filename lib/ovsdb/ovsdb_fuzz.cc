// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes from a server are objects or an error, wherever the stream is cut; any object brings a
// copy up to date or is refused, and the copy stays within its bound.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/fuzz_require.h"
#include "lib/ovsdb/json_splitter.h"
#include "lib/ovsdb/ovsdb_copy.h"
#include "lib/ovsdb/ovsdb_value.h"

namespace {

using trumpet::Require;

trumpet::JsonLimits Limits() {
  trumpet::JsonLimits limits;
  limits.max_bytes = 4096;
  limits.max_values = 500;
  limits.max_depth = 16;
  return limits;
}

// False: the stream was refused.
bool Split(std::string_view text, size_t piece_size, std::vector<std::string>* objects) {
  trumpet::JsonSplitter splitter(Limits());
  while (!text.empty()) {
    std::string_view piece = text.substr(0, piece_size);
    text.remove_prefix(piece.size());
    while (!piece.empty()) {
      std::string object;
      const trumpet::Status status = splitter.Take(&piece, &object);
      if (!status.ok()) return false;
      Require(splitter.pending_bytes() <= Limits().max_bytes, "pending bytes beyond the limit");
      if (!object.empty()) objects->push_back(object);
    }
  }
  return true;
}

void ReadAll(const trumpet::Json& value) {
  std::string text;
  int64_t number;
  bool is_true;
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  std::map<std::string, std::string> map;
  trumpet::ReadOvsdb(value, &text);
  trumpet::ReadOvsdb(value, &number);
  trumpet::ReadOvsdb(value, &is_true);
  trumpet::ReadOvsdb(value, &texts);
  trumpet::ReadOvsdb(value, &numbers);
  trumpet::ReadOvsdb(value, &map);
  trumpet::ReadOvsdbUuids(value, &texts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> objects;
  std::vector<std::string> bytewise;
  const bool is_whole = Split(text, size, &objects);
  const bool is_bytewise = Split(text, 1, &bytewise);
  Require(is_whole == is_bytewise && objects == bytewise, "pieces make a difference");

  trumpet::OvsdbTables tables = {{"T", {}}};
  size_t bytes = 0;
  for (const std::string& object : objects) {
    const trumpet::Json message = trumpet::ParseJson(object);
    if (message.is_discarded()) continue;
    Require(!trumpet::PrintJson(message).empty(), "prints as nothing");
    for (const trumpet::Json& value : message) ReadAll(value);
    std::vector<trumpet::OvsdbRowChange> changes;
    const trumpet::Status status = trumpet::ApplyUpdates(message, 10000, &tables, &bytes, &changes);
    if (!status.ok()) break;
    Require(bytes <= 10000, "the copy is larger than allowed");
  }
  return 0;
}
