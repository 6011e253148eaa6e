// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/field_name.h"

#include <string>
#include <vector>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"

namespace trumpet::event_lang {
namespace {

constexpr std::string_view kOuter = "outer.";
constexpr std::string_view kInner = "inner.";

std::vector<std::string> AllFieldNames(std::string_view prefix) {
  std::vector<std::string> names;
  for (int i = 0; i < kFieldCount; ++i) {
    names.push_back(std::string(prefix) + std::string(FieldName(static_cast<Field>(i))));
  }
  return names;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

Result<FieldRef> ReadFieldRef(std::string_view text) {
  FieldRef ref;
  std::string_view prefix;
  if (StartsWith(text, kOuter)) {
    ref.level = Level::kOuter;
    prefix = kOuter;
  } else if (StartsWith(text, kInner)) {
    ref.level = Level::kInner;
    prefix = kInner;
  }
  const auto field = FieldByName(text.substr(prefix.size()));
  if (!field) {
    return Status::Error(Quote(text) + " is not a packet field" +
                         DidYouMean(text, AllFieldNames(prefix)));
  }
  ref.field = *field;
  return ref;
}

}  // namespace trumpet::event_lang
