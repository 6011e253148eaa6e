// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/lexer.h"

#include "lib/lang/event/suggest.h"

namespace trumpet::event_lang {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsWordChar(char c, Part part) {
  if (IsDigit(c) || IsLetter(c) || c == '.') return true;
  if (part == Part::kFilter) return c == ':';
  if (part == Part::kGranularity) return c == '-';
  return false;
}

// ".0.1" of 10.0.0.1, of which 10.0 is a number.
bool IsRestOfAddress(std::string_view text) {
  size_t dots = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.' && !IsDigit(text[i])) return false;
    if (text[i] == '.' && (i + 1 == text.size() || !IsDigit(text[i + 1]))) return false;
    if (text[i] == '.') ++dots;
  }
  return dots == 2 && text[0] == '.';
}

struct Symbol {
  std::string_view text;
  TokenKind kind;
};

// Longer symbols first.
constexpr Symbol kSymbols[] = {
    {"==", TokenKind::kEqual},        {"!=", TokenKind::kNotEqual},  {"<=", TokenKind::kLessEqual},
    {">=", TokenKind::kGreaterEqual}, {"=", TokenKind::kEqual},      {"<", TokenKind::kLess},
    {">", TokenKind::kGreater},       {"(", TokenKind::kLeftParen},  {")", TokenKind::kRightParen},
    {"{", TokenKind::kLeftBrace},     {"}", TokenKind::kRightBrace}, {",", TokenKind::kComma},
    {":", TokenKind::kColon},         {"+", TokenKind::kPlus},       {"-", TokenKind::kMinus},
    {"*", TokenKind::kStar},          {"/", TokenKind::kSlash},      {"%", TokenKind::kPercent},
    {"&", TokenKind::kAmpersand},     {"|", TokenKind::kBar},
};

// One pass over the text; each Take...() consumes at `at_`.
class Lexer {
 public:
  Lexer(std::string_view text, Part part, std::vector<Token>* tokens, Diagnostic* error)
      : text_(text), part_(part), tokens_(tokens), error_(error) {}

  bool Run() {
    while (true) {
      while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      if (!TakeOne()) return false;
    }
    Emit(TokenKind::kEnd, 0);
    return true;
  }

 private:
  bool TakeOne() {
    const char c = text_[at_];
    const bool has_numbers = part_ == Part::kPredicate || part_ == Part::kInterval;
    if (has_numbers && IsDigit(c)) return TakeNumber();
    // In a granularity a lone minus belongs to no word.
    if (IsWordChar(c, part_) && (c != '-' && c != '.')) return TakeWord();
    if (part_ == Part::kPredicate && c == '"') return TakeText();
    const bool is_dot = part_ == Part::kPredicate && c == '.' && at_ + 1 < text_.size();
    if (is_dot && IsLetter(text_[at_ + 1])) {
      Emit(TokenKind::kDot, 1);
      return true;
    }
    for (const Symbol& symbol : kSymbols) {
      if (text_.substr(at_, symbol.text.size()) != symbol.text) continue;
      Emit(symbol.kind, symbol.text.size());
      return true;
    }
    return Fail(error_, part_, at_, Unexpected(c));
  }

  std::string Unexpected(char c) const {
    if (c == '.') return "a number begins with a digit; write 0.5, not .5";
    if (c == '!') return "'!' is not an operator here; write 'not'";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      constexpr char kHex[] = "0123456789abcdef";
      return std::string("unexpected byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
    }
    return "unexpected character " + Quote(std::string_view(&c, 1));
  }

  bool TakeWord() {
    size_t length = 0;
    while (at_ + length < text_.size() && IsWordChar(text_[at_ + length], part_)) ++length;
    const std::string_view word = text_.substr(at_, length);
    constexpr std::string_view kPort = "port:";
    if (part_ == Part::kFilter && word.substr(0, kPort.size()) == kPort) {
      Emit(TokenKind::kWord, kPort.size() - 1);
      Emit(TokenKind::kColon, 1);
      return true;  // what follows the colon is a word of its own
    }
    Emit(TokenKind::kWord, length);
    return true;
  }

  // No escapes: names of measurements have no quotes in them.
  bool TakeText() {
    const size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) return Fail(error_, part_, at_, "'\"' is never closed");
    Token token;
    token.inner = text_.substr(at_ + 1, end - at_ - 1);
    Emit(TokenKind::kText, end + 1 - at_, token);
    return true;
  }

  bool TakeNumber() {
    size_t length = CountDigits(at_);
    const size_t after_dot = at_ + length + 1;
    if (after_dot < text_.size() && text_[after_dot - 1] == '.' && IsDigit(text_[after_dot])) {
      length += 1 + CountDigits(after_dot);
    }
    Token token;
    token.inner = text_.substr(at_, length);
    const size_t unit_start = at_ + length;
    while (at_ + length < text_.size() && IsWordChar(text_[at_ + length], part_)) ++length;
    const std::string_view unit_name = text_.substr(unit_start, at_ + length - unit_start);
    const auto unit = UnitByName(unit_name);
    if (!unit) return Fail(error_, part_, unit_start, NoSuchUnit(unit_name));
    Result<Number> number = ScaledNumber(token.inner, unit->multiplier);
    if (!number.ok()) return Fail(error_, part_, at_, number.message());
    token.unit = unit->unit;
    token.number = *number;
    Emit(TokenKind::kNumber, length, token);
    return true;
  }

  std::string NoSuchUnit(std::string_view name) const {
    if (part_ == Part::kPredicate && IsRestOfAddress(name)) {
      return "an address stands in the quotes of a key only, as in "
             "measure(\"hh\").size(\"10.0.0.1\")";
    }
    if (name[0] == '.') return "a digit must follow the decimal point";
    const std::string message = Quote(name) + " is not a unit";
    const bool is_time = part_ == Part::kInterval;
    const std::string meant =
        is_time
            ? DidYouMeanShort(name, {"ns", "us", "ms", "s"})
            : DidYouMeanShort(name, {"KB", "MB", "GB", "KiB", "MiB", "GiB", "ns", "us", "ms", "s",
                                     "bps", "kbps", "Mbps", "Gbps", "pps", "kpps", "Mpps", "Gpps"});
    if (!meant.empty()) return message + meant;
    if (is_time) return message + " of time; there are ns, us, ms and s";
    return message +
           "; there are KB MB GB, KiB MiB GiB, ns us ms s, and bps and pps, alone or with k M G";
  }

  size_t CountDigits(size_t from) const {
    size_t count = 0;
    while (from + count < text_.size() && IsDigit(text_[from + count])) ++count;
    return count;
  }

  void Emit(TokenKind kind, size_t length, Token token = Token()) {
    token.kind = kind;
    token.offset = at_;
    token.text = text_.substr(at_, length);
    tokens_->push_back(token);
    at_ += length;
  }

  const std::string_view text_;
  const Part part_;
  std::vector<Token>* const tokens_;
  Diagnostic* const error_;
  size_t at_ = 0;
};

}  // namespace

bool IsKeyword(const Token& token) { return token.Is("and") || token.Is("or") || token.Is("not"); }

std::string Describe(const Token& token, Part part) {
  if (token.kind != TokenKind::kEnd) return Quote(token.text);
  switch (part) {
    case Part::kFilter:
      return "the end of the filter";
    case Part::kPredicate:
      return "the end of the predicate";
    case Part::kGranularity:
      return "the end of the granularity";
    case Part::kInterval:
      break;
  }
  return "the end of the interval";
}

bool Lex(std::string_view text, Part part, std::vector<Token>* tokens, Diagnostic* error) {
  tokens->clear();
  return Lexer(text, part, tokens, error).Run();
}

}  // namespace trumpet::event_lang
