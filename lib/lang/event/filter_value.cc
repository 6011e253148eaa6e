// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/filter_value.h"

#include <charconv>
#include <iterator>
#include <system_error>
#include <vector>

#include "lib/lang/event/suggest.h"

namespace trumpet::event_lang {
namespace {

struct Protocol {
  std::string_view name;
  unsigned number;
};

constexpr Protocol kProtocols[] = {
    {"TCP", 6}, {"UDP", 17}, {"ICMP", 1}, {"ICMPv6", 58}, {"SCTP", 132}};

bool IsAddress(Field field) { return field == Field::kSrcIp || field == Field::kDstIp; }
bool IsMac(Field field) { return field == Field::kSrcMac || field == Field::kDstMac; }

// Decimal, or hexadecimal after 0x.
std::optional<uint64_t> ReadNumber(std::string_view text) {
  int base = 10;
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

bool LooksLikeNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<FieldValue> ReadProtocolName(std::string_view text) {
  for (const Protocol& protocol : kProtocols) {
    if (protocol.name == text) return FieldValue{ValueKind::kNumber, protocol.number};
  }
  return std::nullopt;
}

std::string NotANumber(const FieldRef& ref, std::string_view text) {
  if (ref.field != Field::kProtocol) {
    return Quote(text) + " is not a number; " + FieldRefName(ref) + " takes 0 to " +
           std::to_string(static_cast<uint64_t>(LargestValue(ref.field)));
  }
  std::vector<std::string> names;
  for (const Protocol& protocol : kProtocols) names.emplace_back(protocol.name);
  return Quote(text) + " is not a protocol; TCP, UDP, ICMP, ICMPv6, SCTP and 0 to 255 are allowed" +
         DidYouMean(text, names);
}

bool ReadNumberValue(const TokenStream& tokens, const FieldRef& ref, const Token& token,
                     FieldValue* value) {
  if (ref.field == Field::kProtocol) {
    if (const auto named = ReadProtocolName(token.text)) {
      *value = *named;
      return true;
    }
  }
  const auto number = ReadNumber(token.text);
  if (!number && !LooksLikeNumber(token.text)) {
    return tokens.FailAt(token.offset, NotANumber(ref, token.text));
  }
  const Uint128 largest = LargestValue(ref.field);
  if (!number || *number > largest) {
    return tokens.FailAt(token.offset, FieldRefName(ref) + " cannot be " + Quote(token.text) +
                                           "; it takes 0 to " +
                                           std::to_string(static_cast<uint64_t>(largest)));
  }
  *value = FieldValue{ValueKind::kNumber, *number};
  return true;
}

// One value of the field at the cursor.
bool ParseValue(TokenStream* tokens, const FieldRef& ref, FieldValue* value) {
  if (!tokens->At(TokenKind::kWord)) return tokens->Expected("a value of " + FieldRefName(ref));
  const Token& token = tokens->Next();
  if (!IsAddress(ref.field) && !IsMac(ref.field)) {
    return ReadNumberValue(*tokens, ref, token, value);
  }
  std::optional<FieldValue> address;
  if (IsMac(ref.field)) {
    address = ParseMac(token.text);
  } else if (token.text.find(':') != std::string_view::npos) {
    address = ParseIpv6(token.text);
  } else {
    address = ParseIpv4(token.text);
  }
  if (!address) {
    return tokens->FailAt(
        token.offset,
        Quote(token.text) + (IsMac(ref.field) ? " is not a MAC address; write six bytes as in "
                                                "02:00:00:00:00:01"
                                              : " is not an IP address"));
  }
  *value = *address;
  return true;
}

bool ParsePrefix(TokenStream* tokens, const FieldRef& ref, const FieldValue& value,
                 ValueRange* range) {
  if (!tokens->At(TokenKind::kWord)) return tokens->Expected("a prefix length");
  const Token& token = tokens->Next();
  const int width = FieldWidth(ref.field, value.kind);
  const auto length = ReadNumber(token.text);
  if (!length || !LooksLikeNumber(token.text) || *length > static_cast<uint64_t>(width)) {
    return tokens->FailAt(token.offset, Quote(token.text) + " is not a prefix length of " +
                                            FieldRefName(ref) + " here; 0 to " +
                                            std::to_string(width) + " are allowed");
  }
  const int host_bits = width - static_cast<int>(*length);
  const Uint128 host_mask = host_bits == 128 ? ~Uint128{0} : (Uint128{1} << host_bits) - 1;
  *range = ValueRange{value.kind, value.value & ~host_mask, value.value | host_mask};
  return true;
}

bool ParseHigh(TokenStream* tokens, const FieldRef& ref, const FieldValue& low, ValueRange* range) {
  const size_t offset = tokens->Peek().offset;
  FieldValue high;
  if (!ParseValue(tokens, ref, &high)) return false;
  if (high.kind != low.kind) {
    return tokens->FailAt(offset, "a range cannot go from IPv4 to IPv6 or back");
  }
  if (high.value < low.value) {
    return tokens->FailAt(offset, "the upper end of this range lies below its lower end");
  }
  *range = ValueRange{low.kind, low.value, high.value};
  return true;
}

// value, value/len, or low-high.
bool ParseRange(TokenStream* tokens, const FieldRef& ref, ValueRange* range) {
  FieldValue low;
  if (!ParseValue(tokens, ref, &low)) return false;
  if (tokens->Take(TokenKind::kSlash)) return ParsePrefix(tokens, ref, low, range);
  if (tokens->Take(TokenKind::kMinus)) return ParseHigh(tokens, ref, low, range);
  *range = ValueRange{low.kind, low.value, low.value};
  return true;
}

bool ParseSet(TokenStream* tokens, FieldTest* test) {
  do {
    ValueRange range;
    if (!ParseRange(tokens, test->ref, &range)) return false;
    test->ranges.push_back(range);
  } while (tokens->Take(TokenKind::kComma));
  if (!tokens->Take(TokenKind::kRightBrace)) return tokens->Expected("',' or '}'");
  return true;
}

std::optional<uint16_t> FlagByName(std::string_view name) {
  for (size_t i = 0; i < std::size(kTcpFlagNames); ++i) {
    if (kTcpFlagNames[i] == name) return static_cast<uint16_t>(1u << i);
  }
  return std::nullopt;
}

// +syn-ack
bool ParseFlags(TokenStream* tokens, FieldTest* test) {
  test->is_masked = true;
  while (tokens->At(TokenKind::kPlus) || tokens->At(TokenKind::kMinus)) {
    const bool is_set = tokens->Next().kind == TokenKind::kPlus;
    if (!tokens->At(TokenKind::kWord)) return tokens->Expected("a TCP flag");
    const Token& token = tokens->Next();
    const auto flag = FlagByName(token.text);
    if (!flag) {
      return tokens->FailAt(token.offset, Quote(token.text) + " is not a TCP flag" +
                                              DidYouMean(token.text, std::vector<std::string>(
                                                                         std::begin(kTcpFlagNames),
                                                                         std::end(kTcpFlagNames))));
    }
    if ((test->mask & *flag) != 0) {
      return tokens->FailAt(token.offset, "TCP flag " + Quote(token.text) + " is named twice");
    }
    test->mask |= *flag;
    if (is_set) test->expected |= *flag;
  }
  return true;
}

}  // namespace

std::string_view ProtocolName(Uint128 number) {
  for (const Protocol& protocol : kProtocols) {
    if (protocol.number == number) return protocol.name;
  }
  return "";
}

Uint128 LargestValue(Field field) {
  return (Uint128{1} << FieldWidth(field, ValueKind::kNumber)) - 1;
}

bool ParseTestValues(TokenStream* tokens, FieldTest* test) {
  if (tokens->Take(TokenKind::kStar)) {
    test->is_any = true;
    return true;
  }
  if (tokens->Take(TokenKind::kLeftBrace)) return ParseSet(tokens, test);
  if (test->ref.field == Field::kTcpFlags &&
      (tokens->At(TokenKind::kPlus) || tokens->At(TokenKind::kMinus))) {
    return ParseFlags(tokens, test);
  }
  test->ranges.emplace_back();
  return ParseRange(tokens, test->ref, &test->ranges.back());
}

}  // namespace trumpet::event_lang
