// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// JsonSplitter: cuts a stream of JSON objects, as JSON-RPC over a stream has it, into single ones.
//
// Nothing says in advance how long an object is, so brackets are counted.  The stream is refused as
// soon as an object is longer, deeper or has more values than allowed, so that what the parser is
// given is a bound on its memory: a value of a few bytes of text takes up to 64 once it is parsed.
// Whether an object is well-formed inside is the parser's business.
//
// Threads: a value.  Memory: the object that is not complete yet.

#ifndef TRUMPET_LIB_OVSDB_JSON_SPLITTER_H
#define TRUMPET_LIB_OVSDB_JSON_SPLITTER_H

#include <cstddef>
#include <string>
#include <string_view>

#include "lib/base/status.h"

namespace trumpet {

struct JsonLimits {
  size_t max_bytes = 32 << 20;
  size_t max_values = 2 << 20;  // names of members included
  size_t max_depth = 32;
};

class JsonSplitter {
 public:
  explicit JsonSplitter(const JsonLimits& limits) : limits_(limits) {}

  // Takes bytes from the front of `*bytes` up to the end of an object, which is then in `*object`,
  // or all of them: `*object` is then empty.  After an error the stream is of no more use.
  Status Take(std::string_view* bytes, std::string* object);

  // Of the object that is not complete yet.
  size_t pending_bytes() const { return text_.size(); }

 private:
  Status Look(char byte);
  Status TooMuch(const char* what, size_t allowed) const;

  const JsonLimits limits_;
  std::string text_;
  size_t depth_ = 0;
  size_t value_count_ = 0;
  bool is_in_string_ = false;
  bool is_escaped_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_JSON_SPLITTER_H
