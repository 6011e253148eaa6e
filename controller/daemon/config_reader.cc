// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/config_reader.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "lib/base/text_file.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"

namespace trumpet {
namespace {

using event_lang::DidYouMean;
using event_lang::DocumentNode;
using event_lang::Quote;
using Kind = DocumentNode::Kind;

struct UnitName {
  const char* name;
  uint64_t factor;
};

constexpr UnitName kDurations[] = {{"us", kNanosPerMicro},        {"ms", kNanosPerMilli},
                                   {"s", kNanosPerSecond},        {"m", 60 * kNanosPerSecond},
                                   {"h", 3600 * kNanosPerSecond}, {"d", 86400 * kNanosPerSecond}};
constexpr UnitName kSizes[] = {  // in the order in which printing tries them
    {"GB", 1000000000}, {"MB", 1000000}, {"GiB", 1u << 30}, {"MiB", 1u << 20},
    {"KiB", 1u << 10},  {"KB", 1000},    {"B", 1}};

template <size_t kCount>
bool ParseWithUnit(const std::string& text, const UnitName (&units)[kCount], uint64_t* value) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc()) return false;
  const std::string unit(read.ptr, end);
  if (number == 0 && unit.empty()) {
    *value = 0;
    return true;
  }
  for (const UnitName& one : units) {
    if (unit == one.name) return !__builtin_mul_overflow(number, one.factor, value);
  }
  return false;
}

std::string PrintBytes(uint64_t value) {
  for (const UnitName& unit : kSizes) {
    if (value != 0 && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + unit.name;
    }
  }
  return "0";
}

}  // namespace

bool ParseDuration(const std::string& text, Nanos* value) {
  uint64_t number = 0;
  if (!ParseWithUnit(text, kDurations, &number) || number > INT64_MAX) return false;
  *value = static_cast<Nanos>(number);
  return true;
}

bool ParseBytes(const std::string& text, uint64_t* value) {
  return ParseWithUnit(text, kSizes, value);
}

std::string PrintDuration(Nanos value) {
  for (size_t i = std::size(kDurations); i-- > 0;) {
    const auto factor = static_cast<Nanos>(kDurations[i].factor);
    if (value >= factor && value % factor == 0) {
      return std::to_string(value / factor) + kDurations[i].name;
    }
  }
  return "0";
}

ConfigSection::ConfigSection(const event_lang::Source& source, const DocumentNode* node,
                             std::string name, std::vector<std::string>* errors)
    : source_(source), node_(node), name_(std::move(name)), errors_(errors) {
  if (node_ != nullptr && node_->kind == Kind::kNull) node_ = nullptr;
  if (node_ == nullptr || node_->kind == Kind::kMap) return;
  ComplainAt(node_->offset, Quote(name_) + " must be a map of keys");
  node_ = nullptr;
}

void ConfigSection::ComplainAt(size_t offset, const std::string& message) {
  errors_->push_back(source_.ErrorAt(offset, message));
}

void ConfigSection::Complain(const std::string& message) {
  ComplainAt(node_ == nullptr ? 0 : node_->offset, message);
}

void ConfigSection::ComplainOf(const char* key, const std::string& message) {
  const DocumentNode* const node = Take(key);
  ComplainAt(node != nullptr ? node->offset : node_ != nullptr ? node_->offset : 0, message);
}

const DocumentNode* ConfigSection::Take(const char* key) {
  known_.emplace_back(key);
  if (node_ == nullptr) return nullptr;
  for (size_t i = 0; i + 1 < node_->items.size(); i += 2) {
    if (node_->items[i].text != key) continue;
    const DocumentNode& value = node_->items[i + 1];
    return value.kind == Kind::kNull ? nullptr : &value;
  }
  return nullptr;
}

const DocumentNode* ConfigSection::TakeText(const char* key) {
  const DocumentNode* const node = Take(key);
  if (node == nullptr || node->kind == Kind::kText) return node;
  ComplainAt(node->offset, Quote(key) + " must be a text");
  return nullptr;
}

void ConfigSection::Text(const char* key, std::string* value) {
  if (const DocumentNode* node = TakeText(key)) *value = node->text;
}

void ConfigSection::Texts(const char* key, std::vector<std::string>* values) {
  const DocumentNode* const node = Take(key);
  if (node == nullptr) return;
  if (node->kind == Kind::kText) {
    *values = {node->text};
    return;
  }
  if (node->kind != Kind::kList) {
    ComplainAt(node->offset, Quote(key) + " must be a list of texts");
    return;
  }
  std::vector<std::string> list;
  for (const DocumentNode& item : node->items) {
    if (item.kind == Kind::kText) {
      list.push_back(item.text);
    } else {
      ComplainAt(item.offset, Quote(key) + " must be a list of texts");
    }
  }
  *values = std::move(list);
}

void ConfigSection::Bool(const char* key, bool* value) {
  const DocumentNode* const node = TakeText(key);
  if (node == nullptr) return;
  const std::string& text = node->text;
  if (text == "yes" || text == "true") {
    *value = true;
  } else if (text == "no" || text == "false") {
    *value = false;
  } else {
    ComplainAt(node->offset, Quote(key) + " is " + Quote(text) + "; it takes yes or no");
  }
}

void ConfigSection::Count(const char* key, uint64_t min, uint64_t max, size_t* value) {
  const DocumentNode* const node = TakeText(key);
  if (node == nullptr) return;
  uint64_t number = 0;
  const char* const end = node->text.data() + node->text.size();
  const auto read = std::from_chars(node->text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < min || number > max) {
    ComplainAt(node->offset, Quote(key) + " is " + Quote(node->text) + "; it takes " +
                                 std::to_string(min) + " to " + std::to_string(max));
    return;
  }
  *value = number;
}

void ConfigSection::Bytes(const char* key, uint64_t min, uint64_t max, uint64_t* value) {
  const DocumentNode* const node = TakeText(key);
  if (node == nullptr) return;
  uint64_t bytes = 0;
  if (!ParseBytes(node->text, &bytes) || bytes < min || bytes > max) {
    ComplainAt(node->offset, Quote(key) + " is " + Quote(node->text) + "; it takes " +
                                 PrintBytes(min) + " to " + PrintBytes(max) +
                                 ", with a unit as in 512MB");
    return;
  }
  *value = bytes;
}

void ConfigSection::Duration(const char* key, Nanos min, Nanos max, Nanos* value) {
  const DocumentNode* const node = TakeText(key);
  if (node == nullptr) return;
  Nanos span = 0;
  if (!ParseDuration(node->text, &span) || span < min || span > max) {
    ComplainAt(node->offset, Quote(key) + " is " + Quote(node->text) + "; it takes " +
                                 PrintDuration(min) + " to " + PrintDuration(max) +
                                 ", in us, ms, s, m, h or d");
    return;
  }
  *value = span;
}

void ConfigSection::Choice(const char* key, const std::vector<std::string>& names, size_t* value) {
  const DocumentNode* const node = TakeText(key);
  if (node == nullptr) return;
  const auto found = std::find(names.begin(), names.end(), node->text);
  if (found != names.end()) {
    *value = static_cast<size_t>(found - names.begin());
    return;
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  ComplainAt(node->offset, Quote(key) + " is " + Quote(node->text) + "; it takes one of " + list +
                               DidYouMean(node->text, names));
}

void ConfigSection::Pairs(const char* key,
                          std::vector<std::pair<std::string, std::string>>* pairs) {
  const DocumentNode* const node = Take(key);
  if (node == nullptr) return;
  if (node->kind != Kind::kMap) {
    ComplainAt(node->offset, Quote(key) + " must be a map of texts");
    return;
  }
  for (size_t i = 0; i + 1 < node->items.size(); i += 2) {
    const DocumentNode& value = node->items[i + 1];
    if (value.kind == Kind::kText) {
      pairs->emplace_back(node->items[i].text, value.text);
    } else {
      ComplainAt(value.offset, Quote(node->items[i].text) + " must be a text");
    }
  }
}

void ConfigSection::Section(const char* key, const Reader& reader) {
  ConfigSection section(source_, Take(key), key, errors_);
  reader(&section);
  section.Finish();
}

void ConfigSection::Sections(const char* key, const Reader& reader) {
  const DocumentNode* const node = Take(key);
  if (node == nullptr) return;
  if (node->kind != Kind::kList) {
    ComplainAt(node->offset, Quote(key) + " must be a list");
    return;
  }
  for (const DocumentNode& item : node->items) {
    ConfigSection section(source_, &item, key, errors_);
    reader(&section);
    section.Finish();
  }
}

void ConfigSection::Finish() {
  if (node_ == nullptr) return;
  std::set<std::string> seen;
  for (size_t i = 0; i + 1 < node_->items.size(); i += 2) {
    const DocumentNode& key = node_->items[i];
    if (std::find(known_.begin(), known_.end(), key.text) == known_.end()) {
      ComplainAt(key.offset, Quote(key.text) + " is not a key of " +
                                 (name_.empty() ? "the configuration" : Quote(name_)) +
                                 DidYouMean(key.text, known_));
    } else if (!seen.insert(key.text).second) {
      ComplainAt(key.offset, Quote(key.text) + " stands twice");
    }
  }
}

Result<std::string> ReadConfigText(const std::string& path, bool is_asked_for) {
  if (!is_asked_for && access(path.c_str(), R_OK) != 0) return std::string("{}");
  return ReadTextFile(path, event_lang::kMaxDocumentBytes);  // longer ones are refused with a place
}

std::string JoinErrors(const std::vector<std::string>& errors) {
  constexpr size_t kMaxShown = 20;
  std::string lines;
  for (size_t i = 0; i < errors.size() && i < kMaxShown; ++i) {
    lines += (i == 0 ? "" : "\n") + errors[i];
  }
  return lines;
}

}  // namespace trumpet
