// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "lib/lang/event/document.h"

namespace trumpet::event_lang {
namespace {

using Kind = DocumentNode::Kind;

// Walks the text for the library and tells how far it has read, which its callbacks do not.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** progress) : at_(at), progress_(progress) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *progress_ = ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** progress_;  // borrowed from the caller of the parser
};

class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(std::string_view text, const char* const* progress, DocumentBuilder* builder)
      : text_(text), progress_(*progress), builder_(*builder) {}

  bool null() override { return Add(Kind::kNull, TokenStart(), "null"); }
  bool boolean(bool value) override {
    return Add(Kind::kBool, TokenStart(), value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return Add(Kind::kNumber, TokenStart(), std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Add(Kind::kNumber, TokenStart(), std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& written) override {
    return Add(Kind::kNumber, TokenStart(), written);
  }
  bool string(string_t& value) override { return Add(Kind::kText, StringStart(), value); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override { return Add(Kind::kText, StringStart(), value); }
  bool start_object(std::size_t) override { return Begin(Kind::kMap); }
  bool start_array(std::size_t) override { return Begin(Kind::kList); }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    builder_.Complain(position > 0 ? position - 1 : 0, "not valid JSON here");
    return false;
  }

 private:
  bool Add(Kind kind, size_t offset, std::string value) {
    builder_.Scalar(kind, offset, std::move(value));
    return !builder_.has_error();
  }
  bool Begin(Kind kind) {
    builder_.Begin(kind, Read() - 1);
    return !builder_.has_error();
  }
  bool End() {
    builder_.End();
    return !builder_.has_error();
  }

  size_t Read() const { return static_cast<size_t>(progress_ - text_.data()); }

  // The opening quote of the string that was just read: inner quotes have a backslash.
  size_t StringStart() const {
    size_t at = Read() - 1;
    while (at > 0) {
      --at;
      if (text_[at] != '"') continue;
      size_t backslashes = 0;
      while (backslashes < at && text_[at - 1 - backslashes] == '\\') ++backslashes;
      if (backslashes % 2 == 0) break;
    }
    return at;
  }

  // The start of the number or word that was just read; the library may be one byte beyond it.
  size_t TokenStart() const {
    const auto is_part = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' ||
             c == '.';
    };
    size_t at = Read();
    if (at > 0 && !is_part(text_[at - 1])) --at;
    while (at > 0 && is_part(text_[at - 1])) --at;
    return at;
  }

  const std::string_view text_;
  const char* const& progress_;
  DocumentBuilder& builder_;
};

}  // namespace

Result<DocumentNode> ReadJson(const Source& source) {
  const Status status = CheckDocumentText(source);
  if (!status.ok()) return status;
  DocumentBuilder builder(source);
  const char* const begin = source.text.data();
  const char* const end = begin + source.text.size();
  const char* progress = begin;
  Handler handler(source.text, &progress, &builder);
  // The library throws only from callers that it has no handler for; ours returns false.
  nlohmann::json::sax_parse(CountingIterator(begin, &progress), CountingIterator(end, &progress),
                            &handler);
  return builder.Take();
}

}  // namespace trumpet::event_lang
