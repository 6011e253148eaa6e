// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/lexer.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "lib/base/utf8.h"
#include "lib/lang/event/diagnostic.h"

namespace trumpet::mafia {
namespace {

using event_lang::Quote;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c); }

constexpr std::string_view kLongSigns[] = {">>", "<<", "++", "||", "&&", "==", "!=", "<=", ">="};
constexpr std::string_view kShortSigns = "(){}[],;:.=<>+-*/%|^&!~";
constexpr size_t kMaxFractionDigits = 18;

struct TimeUnit {
  std::string_view name;
  uint64_t nanos;
};
constexpr TimeUnit kTimeUnits[] = {
    {"ns", 1}, {"us", kNanosPerMicro}, {"ms", kNanosPerMilli}, {"s", kNanosPerSecond}};

// As printed papers have them.
bool IsCurlyQuote(std::string_view character) {
  return character >= "\u2018" && character <= "\u201f";
}

std::optional<uint64_t> Whole(std::string_view digits, int base) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, base);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

// "0.050" as 5 / 100; a decimal keeps a digit behind its point.
std::optional<MeasureNumber> Decimal(std::string_view text) {
  const size_t point = text.find('.');
  while (text.size() > point + 2 && text.back() == '0') text.remove_suffix(1);
  const std::string_view fraction = text.substr(point + 1);
  if (fraction.size() > kMaxFractionDigits) return std::nullopt;
  const auto numerator = Whole(std::string(text.substr(0, point)).append(fraction), 10);
  if (!numerator) return std::nullopt;
  MeasureNumber number{*numerator, 1};
  for (size_t i = 0; i < fraction.size(); ++i) number.denominator *= 10;
  return number;
}

std::optional<uint64_t> Duration(std::string_view digits, uint64_t nanos) {
  MeasureNumber number;
  if (digits.find('.') == digits.npos) {
    const auto whole = Whole(digits, 10);
    if (!whole) return std::nullopt;
    number.numerator = *whole;
  } else {
    const auto decimal = Decimal(digits);
    if (!decimal) return std::nullopt;
    number = *decimal;
  }
  const Uint128 scaled = Uint128{number.numerator} * nanos;
  if (scaled % number.denominator != 0) return std::nullopt;
  const Uint128 value = scaled / number.denominator;
  if (value > UINT64_MAX) return std::nullopt;
  return static_cast<uint64_t>(value);
}

std::optional<uint64_t> Ipv4(std::string_view text) {
  uint64_t address = 0;
  for (int i = 0; i < 4; ++i) {
    const size_t end = std::min(text.find('.'), text.size());
    const auto part = Whole(text.substr(0, end), 10);
    if (!part || *part > 255 || end > 3) return std::nullopt;
    address = (address << 8) | *part;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return address;
}

class Lexer {
 public:
  Lexer(std::string_view text, Problems* problems) : text_(text), problems_(problems) {}

  std::vector<Token> Run();

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void SkipBlanks();
  void Next();
  void Number();
  void BasedInteger(int base);
  void String();
  void Sign();
  // What begins at `at_` and ends before `end`.
  Token& Push(TokenKind kind, size_t end);
  void PushNumber(TokenKind kind, size_t end, std::optional<uint64_t> value);
  void Fail(TokenKind kind, size_t end, const std::string& message);

  const std::string_view text_;
  Problems* const problems_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

Token& Lexer::Push(TokenKind kind, size_t end) {
  Token& token = tokens_.emplace_back();
  token.kind = kind;
  token.offset = at_;
  token.text = text_.substr(at_, end - at_);
  at_ = end;
  return token;
}

// Something stands there: a token of that kind, so that the parser does not complain once more.
void Lexer::Fail(TokenKind kind, size_t end, const std::string& message) {
  problems_->Add(at_, "", message);
  Push(kind, end);
}

void Lexer::PushNumber(TokenKind kind, size_t end, std::optional<uint64_t> value) {
  const std::string_view text = text_.substr(at_, end - at_);
  if (value) {
    Push(kind, end).number.numerator = *value;
  } else if (kind == TokenKind::kDuration) {
    Fail(kind, end, Quote(text) + " is no whole number of nanoseconds below 2^64");
  } else if (kind == TokenKind::kIpv4) {
    Fail(kind, end, Quote(text) + " is no IPv4 address such as 10.0.0.1");
  } else {
    Fail(kind, end, Quote(text) + " does not fit into 64 bits");
  }
}

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    if (Peek() == '#' || (Peek() == '/' && Peek(1) == '/')) {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    } else if (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

// 0x1f and 0b101.
void Lexer::BasedInteger(int base) {
  size_t end = at_ + 2;
  while (end < text_.size() && IsWordPart(text_[end])) ++end;
  const auto value = Whole(text_.substr(at_ + 2, end - at_ - 2), base);
  if (!value) {
    return Fail(TokenKind::kInteger, end,
                Quote(text_.substr(at_, end - at_)) + " is no number of base " +
                    std::to_string(base) + " of at most 64 bits");
  }
  Token& token = Push(TokenKind::kInteger, end);
  token.number.numerator = *value;
  token.base = base;
}

void Lexer::Number() {
  if (Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X')) return BasedInteger(16);
  if (Peek() == '0' && (Peek(1) == 'b' || Peek(1) == 'B')) return BasedInteger(2);
  size_t end = at_;
  int points = 0;
  while (IsDigit(text_[end]) ||
         (text_[end] == '.' && end + 1 < text_.size() && IsDigit(text_[end + 1]))) {
    points += text_[end] == '.' ? 1 : 0;
    if (++end == text_.size()) break;
  }
  const std::string_view digits = text_.substr(at_, end - at_);
  size_t unit_end = end;
  while (unit_end < text_.size() && IsWordPart(text_[unit_end])) ++unit_end;
  const std::string_view unit = text_.substr(end, unit_end - end);
  if (!unit.empty()) {
    for (const TimeUnit& known : kTimeUnits) {
      if (unit != known.name || points > 1) continue;
      return PushNumber(TokenKind::kDuration, unit_end, Duration(digits, known.nanos));
    }
    return Fail(TokenKind::kDuration, unit_end,
                Quote(text_.substr(at_, unit_end - at_)) +
                    " is no number; durations end in ns, us, ms or s");
  }
  if (points == 0) return PushNumber(TokenKind::kInteger, end, Whole(digits, 10));
  if (points > 1) {
    return PushNumber(TokenKind::kIpv4, end, points == 3 ? Ipv4(digits) : std::nullopt);
  }
  const auto number = Decimal(digits);
  if (number) {
    Push(TokenKind::kDecimal, end).number = *number;
  } else {
    Fail(TokenKind::kDecimal, end,
         Quote(digits) + " is too long; a decimal has at most 18 digits behind its point, " +
             "and 19 in all");
  }
}

void Lexer::String() {
  const size_t end = text_.find_first_of("\"\n", at_ + 1);
  if (end == text_.npos || text_[end] == '\n') {
    return Fail(TokenKind::kString, std::min(end, text_.size()),
                "this quote is not closed on its line");
  }
  Token& token = Push(TokenKind::kString, end + 1);
  token.text = token.text.substr(1, token.text.size() - 2);
}

void Lexer::Sign() {
  for (const std::string_view sign : kLongSigns) {
    if (text_.substr(at_, sign.size()) != sign) continue;
    Push(TokenKind::kSign, at_ + sign.size());
    return;
  }
  if (kShortSigns.find(Peek()) != kShortSigns.npos) {
    Push(TokenKind::kSign, at_ + 1);
    return;
  }
  // One complaint for a run of such bytes.
  const size_t length = std::max<size_t>(Utf8Length(text_, at_), 1);
  size_t end = at_ + length;
  while (end < text_.size() && static_cast<unsigned char>(text_[end]) >= 0x80) ++end;
  const std::string_view character = text_.substr(at_, length);
  problems_->Add(at_, "",
                 Quote(character) + " is no character of programs" +
                     (IsCurlyQuote(character) ? "; quotes are \"" : ""));
  at_ = end;
}

void Lexer::Next() {
  if (IsWordStart(Peek())) {
    size_t end = at_;
    while (end < text_.size() && IsWordPart(text_[end])) ++end;
    Push(TokenKind::kWord, end);
  } else if (IsDigit(Peek())) {
    Number();
  } else if (Peek() == '"') {
    String();
  } else {
    Sign();
  }
}

std::vector<Token> Lexer::Run() {
  for (SkipBlanks(); at_ < text_.size(); SkipBlanks()) Next();
  Push(TokenKind::kEnd, at_);
  return std::move(tokens_);
}

}  // namespace

std::string Describe(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the program" : Quote(token.text);
}

std::vector<Token> Lex(std::string_view text, Problems* problems) {
  return Lexer(text, problems).Run();
}

}  // namespace trumpet::mafia
