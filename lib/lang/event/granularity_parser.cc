// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/granularity_parser.h"

#include <charconv>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/units.h"
#include "lib/lang/event/field_name.h"
#include "lib/lang/event/suggest.h"
#include "lib/lang/event/token_stream.h"

namespace trumpet::event_lang {
namespace {

constexpr Nanos kLongestInterval = 24 * 3600 * kNanosPerSecond;

// The widest prefix that a value of the field can have, in any family.
int WidestPrefix(Field field) {
  switch (field) {
    case Field::kSrcIp:
    case Field::kDstIp:
      return FieldWidth(field, ValueKind::kIpv6);
    case Field::kSrcMac:
    case Field::kDstMac:
      return FieldWidth(field, ValueKind::kMac);
    default:
      return FieldWidth(field, ValueKind::kNumber);
  }
}

class Parser {
 public:
  Parser(TokenStream* tokens, GranularityNode* granularity)
      : tokens_(*tokens), granularity_(*granularity) {}

  bool ParseWhole() {
    if (tokens_.At(TokenKind::kEnd)) return true;
    if (!ParseList()) return false;
    if (!tokens_.At(TokenKind::kEnd)) return tokens_.Expected("',' or 'and'");
    if (whole_ && item_count_ > 1) {
      return tokens_.FailAt(whole_offset_, Quote(whole_text_) + " stands alone");
    }
    return true;
  }

 private:
  bool ParseList() {
    do {
      if (!ParseItem()) return false;
    } while (tokens_.Take(TokenKind::kComma) || tokens_.Take("and"));
    return true;
  }

  bool ParseItem() {
    if (tokens_.Take(TokenKind::kLeftParen)) {
      if (!tokens_.Enter() || !ParseList()) return false;
      tokens_.Leave();
      return tokens_.Take(TokenKind::kRightParen) || tokens_.Expected("')'");
    }
    if (!tokens_.At(TokenKind::kWord) || IsKeyword(tokens_.Peek())) {
      return tokens_.Expected("a packet field");
    }
    ++item_count_;
    const Token& token = tokens_.Next();
    const bool is_five_tuple = token.text == "5-tuple" || token.text == "5-tuples";
    if (!is_five_tuple && token.text != "none") return ParseField(token);
    whole_ = true;
    whole_offset_ = token.offset;
    whole_text_ = token.text;
    granularity_.is_five_tuple = is_five_tuple;
    return true;
  }

  bool ParseField(const Token& token) {
    const Result<FieldRef> ref = ReadFieldRef(token.text);
    if (!ref.ok()) {
      const std::string whole = DidYouMean(token.text, {"5-tuple", "none"});
      if (whole.empty()) return tokens_.FailAt(token.offset, ref.message());
      return tokens_.FailAt(token.offset, Quote(token.text) + " is not a granularity" + whole);
    }
    GranularityItem item;
    item.offset = token.offset;
    item.field.ref = *ref;
    if (tokens_.Take(TokenKind::kSlash) && !ParsePrefix(&item.field)) return false;
    granularity_.items.push_back(item);
    return true;
  }

  bool ParsePrefix(GranularityField* field) {
    const Token& token = tokens_.Peek();
    const int widest = WidestPrefix(field->ref.field);
    const char* const end = token.text.data() + token.text.size();
    int length = -1;
    const auto read = std::from_chars(token.text.data(), end, length);
    if (read.ec != std::errc() || read.ptr != end || length < 0 || length > widest) {
      return tokens_.Expected("a prefix length from 0 to " + std::to_string(widest) + " for " +
                              FieldRefName(field->ref));
    }
    tokens_.Next();
    field->prefix_length = static_cast<uint8_t>(length);
    return true;
  }

  TokenStream& tokens_;
  GranularityNode& granularity_;
  int item_count_ = 0;
  bool whole_ = false;  // 5-tuple or none was named
  size_t whole_offset_ = 0;
  std::string_view whole_text_;
};

}  // namespace

bool ParseGranularity(std::string_view text, GranularityNode* granularity, Diagnostic* error) {
  std::vector<Token> tokens;
  if (!Lex(text, Part::kGranularity, &tokens, error)) return false;
  TokenStream stream(std::move(tokens), Part::kGranularity, error);
  return Parser(&stream, granularity).ParseWhole();
}

bool ParseInterval(std::string_view text, uint32_t* interval_ms, Diagnostic* error) {
  std::vector<Token> tokens;
  if (!Lex(text, Part::kInterval, &tokens, error)) return false;
  TokenStream stream(std::move(tokens), Part::kInterval, error);
  if (stream.At(TokenKind::kEnd)) return stream.FailHere("the time interval is missing");
  const Token& token = stream.Next();
  const Token& next = stream.Peek();
  if (next.kind == TokenKind::kWord && UnitByName(next.text)) {
    return stream.FailHere("the unit " + Quote(next.text) +
                           " must follow its number without a space");
  }
  if (token.unit != Unit::kTime || next.kind != TokenKind::kEnd) {
    return stream.FailAt(token.offset, Quote(text.substr(token.offset)) +
                                           " is not a time interval; write it with ns, us, ms or "
                                           "s, as in 10ms");
  }
  if (!token.number.is_integer() || token.number.integer() % kNanosPerMilli != 0 ||
      token.number.integer() < kNanosPerMilli || token.number.integer() > kLongestInterval) {
    return stream.FailAt(token.offset,
                         "the time interval is " + Quote(token.text) +
                             "; it takes whole milliseconds from 1ms to one day (86400s)");
  }
  *interval_ms = static_cast<uint32_t>(token.number.integer() / kNanosPerMilli);
  return true;
}

}  // namespace trumpet::event_lang
