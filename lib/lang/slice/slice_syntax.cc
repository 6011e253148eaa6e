// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/slice/slice_syntax.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "lib/base/utf8.h"
#include "lib/lang/event/diagnostic.h"

namespace trumpet::slice_lang {
namespace {

constexpr size_t kMaxSteps = 10'000;  // of one region

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return IsUpper(c) || (c >= 'a' && c <= 'z'); }
bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }
bool IsName(char c) { return IsNameStart(c) || IsDigit(c); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsPrefix(char c) { return IsHex(c) || c == '.' || c == ':'; }
bool IsValue(char c) { return IsName(c) || c == '.'; }

// Reads the text from left to right without a lexer of its own: what a word is depends on where it
// stands, for "DEAD" is an address after MIRROR and a router between brackets.
class Parser {
 public:
  explicit Parser(const event_lang::Source& source) : source_(source), text_(source.text) {}

  Result<Syntax> Parse();

 private:
  bool Queries(std::vector<QuerySyntax>* queries);
  bool Query(QuerySyntax* query);
  bool Properties(std::vector<Property>* properties);
  bool Prefixes(std::vector<Word>* prefixes);
  bool Regions(std::vector<SliceRegion>* regions);
  bool Region(SliceRegion* region);
  bool Step(SliceRegion* region);
  bool Budget(BudgetSyntax* item);
  bool Number(Word* number);
  // "text" with \" and \\.
  bool Quoted(Word* word);

  // ITEM {"," ITEM}, or that between braces.
  bool List(const std::function<bool()>& item);

  // White space, "# ..." and "(* ... *)".
  void SkipBlanks();
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Take(std::string_view sign);
  bool Expect(std::string_view sign, const char* what);
  // The longest run of such characters; may be empty.
  Word TakeRun(bool (*is_part)(char));
  bool AtKeyword(std::string_view keyword);

  bool Fail(size_t offset, const std::string& message);
  bool Expected(const std::string& what);

  const event_lang::Source& source_;
  const std::string_view text_;
  size_t at_ = 0;
  size_t error_offset_ = 0;
  std::string error_;
};

bool Parser::Fail(size_t offset, const std::string& message) {
  error_offset_ = offset;
  error_ = message;
  return false;
}

bool Parser::Expected(const std::string& what) {
  SkipBlanks();
  if (at_ == text_.size()) return Fail(at_, "expected " + what + ", not the end of the text");
  size_t end = at_;
  while (end < text_.size() && IsName(text_[end])) ++end;
  if (end == at_) end += std::max<size_t>(Utf8Length(text_, at_), 1);
  return Fail(at_, "expected " + what + ", not " + event_lang::Quote(text_.substr(at_, end - at_)));
}

void Parser::SkipBlanks() {
  while (at_ < text_.size()) {
    if (Peek() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (Peek() == '(' && Peek(1) == '*') {
      const size_t end = text_.find("*)", at_ + 2);
      if (end == text_.npos) return;  // the bracket is then what is not expected
      at_ = end + 2;
    } else if (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

bool Parser::Take(std::string_view sign) {
  SkipBlanks();
  if (text_.substr(at_, sign.size()) != sign) return false;
  at_ += sign.size();
  return true;
}

bool Parser::Expect(std::string_view sign, const char* what) {
  return Take(sign) || Expected(what);
}

Word Parser::TakeRun(bool (*is_part)(char)) {
  SkipBlanks();
  Word word{"", at_};
  while (at_ < text_.size() && is_part(text_[at_])) ++at_;
  word.text = text_.substr(word.offset, at_ - word.offset);
  return word;
}

bool Parser::AtKeyword(std::string_view keyword) {
  SkipBlanks();
  return text_.substr(at_, keyword.size()) == keyword && !IsName(Peek(keyword.size()));
}

bool Parser::Quoted(Word* word) {
  word->offset = at_++;
  while (Peek() != '"') {
    if (at_ == text_.size() || Peek() == '\n') {
      return Fail(word->offset, "this quote is not closed on its line");
    }
    const size_t length = Utf8Length(text_, at_);
    const auto byte = static_cast<unsigned char>(Peek());
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      return Fail(at_, "a name holds no control characters and is UTF-8");
    }
    if (Peek() == '\\' && Peek(1) != '"' && Peek(1) != '\\') {
      return Fail(at_, "only \\\" and \\\\ are known behind a backslash");
    }
    if (Peek() == '\\') ++at_;
    word->text += text_.substr(at_, length);
    at_ += length;
  }
  ++at_;
  if (word->text.empty()) return Fail(word->offset, "a name is not empty");
  return true;
}

bool Parser::List(const std::function<bool()>& item) {
  const bool has_brace = Take("{");
  do {
    if (!item()) return false;
  } while (Take(","));
  return !has_brace || Expect("}", "',' or '}'");
}

bool Parser::Properties(std::vector<Property>* properties) {
  SkipBlanks();
  if (!Take("(")) return true;
  do {
    Property& property = properties->emplace_back();
    property.key = TakeRun(IsName);
    if (property.key.text.empty()) return Expected("a property such as 'name: web'");
    if (!Expect(":", "':'")) return false;
    SkipBlanks();
    if (Peek() == '"') {
      if (!Quoted(&property.value)) return false;
    } else {
      property.value = TakeRun(IsValue);
      if (property.value.text.empty()) return Expected("the value of the property");
    }
  } while (Take(","));
  return Expect(")", "',' or ')'");
}

bool Parser::Prefixes(std::vector<Word>* prefixes) {
  return List([this, prefixes] {
    Word prefix = TakeRun(IsPrefix);
    if (Peek() == '/' && IsDigit(Peek(1))) {
      prefix.text += '/';
      ++at_;
      while (IsDigit(Peek())) prefix.text += text_[at_++];
    }
    prefixes->push_back(std::move(prefix));
    return true;
  });
}

bool Parser::Step(SliceRegion* region) {
  SliceStep step;
  step.offset = at_;
  if (Take("->")) {
    step.is_arrow = true;
  } else if (Peek() == '"') {
    Word name;
    if (!Quoted(&name)) return false;
    step.router = std::move(name.text);
  } else {
    if (!IsNameStart(Peek())) {
      return Expected("a router, '->' or ']'; names of other letters stand in quotes: here");
    }
    const Word name = TakeRun(IsName);
    if (IsReserved(name.text)) {
      return Fail(name.offset, "'" + name.text +
                                   "' is a word of the language; a router of this name stands in "
                                   "quotes");
    }
    step.router = name.text;
  }
  region->steps.push_back(std::move(step));
  if (region->steps.size() <= kMaxSteps) return true;
  return Fail(region->offset, "this region is too long; at most " + std::to_string(kMaxSteps) +
                                  " routers and arrows");
}

bool Parser::Region(SliceRegion* region) {
  SkipBlanks();
  region->offset = at_;
  if (!Expect("[", "'['")) return false;
  while (!Take("]")) {
    if (!Step(region)) return false;
  }
  return !region->steps.empty() || Fail(region->offset, "this region names no router");
}

bool Parser::Regions(std::vector<SliceRegion>* regions) {
  return List([this, regions] { return Region(&regions->emplace_back()); });
}

bool Parser::Query(QuerySyntax* query) {
  if (!Properties(&query->properties)) return false;
  query->action = TakeRun(IsUpper);
  if (query->action.text.empty()) return Expected("MIRROR or CONFINE");
  if (!Prefixes(&query->prefixes)) return false;
  if (!AtKeyword("ON")) return Expected("a prefix, ',' or ON");
  at_ += 2;
  return Regions(&query->regions);
}

// digits[.digits], or .digits
bool Parser::Number(Word* number) {
  *number = TakeRun(IsDigit);
  if (Peek() == '.' && (!number->text.empty() || IsDigit(Peek(1)))) {
    ++at_;
    while (IsDigit(Peek())) ++at_;
    number->text = text_.substr(number->offset, at_ - number->offset);
  }
  return !number->text.empty() || Expected("a number");
}

bool Parser::Budget(BudgetSyntax* item) {
  item->keyword = TakeRun(IsUpper);
  if (item->keyword.text.empty()) return Expected("USING, DURING, EVERY or the end");
  if (!Number(&item->number)) return false;
  SkipBlanks();
  // A unit in capitals could be the next keyword as well: that has a number behind it.
  const size_t start = at_;
  item->unit = TakeRun(IsLetter);
  if (Peek() == '/' && IsLetter(Peek(1))) {
    ++at_;
    item->unit.text += "/" + TakeRun(IsLetter).text;
  }
  if (!item->unit.text.empty() &&
      std::all_of(item->unit.text.begin(), item->unit.text.end(), IsUpper)) {
    SkipBlanks();
    if (IsDigit(Peek()) || Peek() == '.') {
      at_ = start;
      item->unit = {"", start};
    }
  }
  return true;
}

// What does not read as one more query begins the budget.
bool Parser::Queries(std::vector<QuerySyntax>* queries) {
  for (;;) {
    SkipBlanks();
    const size_t start = at_;
    if (start == text_.size() && !queries->empty()) return true;
    QuerySyntax query;
    if (Query(&query)) {
      queries->push_back(std::move(query));
      continue;
    }
    const std::string& action = query.action.text;
    const bool is_action = action.empty() || action == "MIRROR" || action == "CONFINE";
    if (queries->empty() || is_action) return false;
    at_ = start;
    return true;
  }
}

Result<Syntax> Parser::Parse() {
  Syntax syntax;
  bool is_read = Queries(&syntax.queries);
  while (is_read && at_ < text_.size()) {
    is_read = Budget(&syntax.budget.emplace_back());
    SkipBlanks();
  }
  if (!is_read) return Status::Error(source_.ErrorAt(error_offset_, error_));
  return syntax;
}

}  // namespace

bool IsReserved(std::string_view word) {
  for (const char* reserved : {"MIRROR", "CONFINE", "ON", "USING", "DURING", "EVERY"}) {
    if (word == reserved) return true;
  }
  return false;
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && IsNameStart(name[0]) && !IsReserved(name) &&
         std::all_of(name.begin(), name.end(), IsName);
}

Result<Syntax> ParseSyntax(const event_lang::Source& source) {
  if (source.text.size() > kMaxSliceTextBytes) {
    return Status::Error(std::string(source.name) + ": " + std::to_string(source.text.size()) +
                         " bytes; at most " + std::to_string(kMaxSliceTextBytes) + " are read");
  }
  return Parser(source).Parse();
}

}  // namespace trumpet::slice_lang
