// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "lib/base/utf8.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/lang/slice/slice_language.h"
#include "lib/lang/slice/slice_syntax.h"

namespace trumpet {
namespace slice_lang {
namespace {

using event_lang::DidYouMean;
using event_lang::Quote;

struct Unit {
  const char* name;
  int64_t factor;
};

// Without a unit, rates are in Mb/s and times in seconds, as in the authors' program.
constexpr Unit kRateUnits[] = {
    {"", 1'000'000},  {"b", 1},          {"k", 1'000},         {"kb", 1'000},
    {"m", 1'000'000}, {"mb", 1'000'000}, {"g", 1'000'000'000}, {"gb", 1'000'000'000}};
constexpr Unit kTimeUnits[] = {{"", kNanosPerSecond},
                               {"s", kNanosPerSecond},
                               {"sec", kNanosPerSecond},
                               {"ms", kNanosPerMilli},
                               {"millisecond", kNanosPerMilli},
                               {"m", 60 * kNanosPerSecond},
                               {"min", 60 * kNanosPerSecond},
                               {"h", 3600 * kNanosPerSecond},
                               {"hour", 3600 * kNanosPerSecond},
                               {"d", 86400 * kNanosPerSecond},
                               {"day", 86400 * kNanosPerSecond}};

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// "15.5" times the factor; nothing when that is no whole number or above the limit.
std::optional<int64_t> Scale(std::string_view digits, int64_t factor, int64_t limit) {
  const size_t point = std::min(digits.find('.'), digits.size());
  int64_t value = 0;
  for (char digit : digits.substr(0, point)) {
    value = value * 10 + (digit - '0');
    if (value > limit) return std::nullopt;
  }
  if (value > limit / factor) return std::nullopt;
  value *= factor;
  for (char digit : digits.substr(std::min(point + 1, digits.size()))) {
    const bool is_too_fine = factor == 0 || factor % 10 != 0;
    if (is_too_fine && digit != '0') return std::nullopt;
    factor /= 10;
    value += factor * (digit - '0');
  }
  if (value > limit) return std::nullopt;
  return value;
}

class Checker {
 public:
  Checker(const event_lang::Source& source, const Syntax& syntax)
      : source_(source), syntax_(syntax) {}

  Result<SliceCampaign> Check();

 private:
  bool Fail(size_t offset, const std::string& message) {
    error_ = source_.ErrorAt(offset, message);
    return false;
  }
  bool CheckQuery(const QuerySyntax& syntax, SliceQuery* query);
  bool CheckName(const QuerySyntax& syntax);
  bool CheckProperty(const Property& property, SliceQuery* query);
  bool CheckBudget(const BudgetSyntax& item);
  bool CheckRate(const BudgetSyntax& item);
  bool CheckTime(const BudgetSyntax& item, Nanos* time);

  const event_lang::Source& source_;
  const Syntax& syntax_;
  SliceCampaign campaign_;
  std::set<std::string> names_;
  size_t query_count_ = 0;
  std::string error_;
};

bool Checker::CheckProperty(const Property& property, SliceQuery* query) {
  const std::string& value = property.value.text;
  if (property.key.text == "name") {
    query->name = value;
    return true;
  }
  if (property.key.text == "weight") {
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, query->weight);
    if (error == std::errc() && rest == end && query->weight > 0 &&
        query->weight <= kMaxSliceWeight) {
      return true;
    }
    return Fail(property.value.offset,
                "weight is " + Quote(value) + "; it takes a number above 0, up to 1000000");
  }
  return Fail(property.key.offset, Quote(property.key.text) + " is no property of a query" +
                                       DidYouMean(property.key.text, {"name", "weight"}));
}

// The last of several names is the query's.
bool Checker::CheckName(const QuerySyntax& syntax) {
  const auto name =
      std::find_if(syntax.properties.rbegin(), syntax.properties.rend(),
                   [](const Property& property) { return property.key.text == "name"; });
  if (name == syntax.properties.rend() || names_.insert(name->value.text).second) return true;
  return Fail(name->value.offset, "a second query is named " + Quote(name->value.text));
}

bool Checker::CheckQuery(const QuerySyntax& syntax, SliceQuery* query) {
  query->offset = syntax.action.offset;
  if (syntax.action.text != "MIRROR" && syntax.action.text != "CONFINE") {
    return Fail(syntax.action.offset, Quote(syntax.action.text) + " is no action" +
                                          DidYouMean(syntax.action.text, {"MIRROR", "CONFINE"}));
  }
  query->action = syntax.action.text == "MIRROR" ? SliceAction::kMirror : SliceAction::kConfine;
  for (const Property& property : syntax.properties) {
    if (!CheckProperty(property, query)) return false;
  }
  if (!CheckName(syntax)) return false;
  for (const Word& word : syntax.prefixes) {
    if (word.text.empty()) {
      return Fail(word.offset, "expected a prefix such as 10.1.0.0/16 or 2001:db8::/32");
    }
    const auto prefix = ParsePrefix(word.text);
    if (!prefix) return Fail(word.offset, prefix.message());
    query->prefixes.push_back(*prefix);
  }
  query->regions = syntax.regions;
  query_count_ += query->prefixes.size() * query->regions.size();
  if (query_count_ <= kMaxSliceQueries) return true;
  return Fail(query->offset, "with this there are " + std::to_string(query_count_) +
                                 " queries, prefixes times regions; at most " +
                                 std::to_string(kMaxSliceQueries) + " are planned");
}

// A small b: as the SI writes it, Mb/s.  A capital one only where all letters are capitals; MBps
// would more likely be meant as bytes.
bool Checker::CheckRate(const BudgetSyntax& item) {
  std::string unit = item.unit.text;
  const std::string ending = Lower(unit.size() < 3 ? "" : unit.substr(unit.size() - 2));
  if (ending == "ps" || ending == "/s") unit.resize(unit.size() - 2);
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool has_small = std::any_of(item.unit.text.begin(), item.unit.text.end(), is_small);
  const bool is_bytes = has_small && unit.find('B') != unit.npos;
  const std::string small = Lower(unit);
  for (const Unit& known : kRateUnits) {
    if (small != known.name || is_bytes) continue;
    const auto rate = Scale(item.number.text, known.factor, kMaxSliceRate);
    if (rate && *rate > 0) {
      campaign_.using_bps = *rate;
      return true;
    }
    return Fail(item.number.offset, "USING takes whole bits per second, from 1 to 1000 Gb/s, not " +
                                        Quote(item.number.text + item.unit.text));
  }
  return Fail(item.unit.offset,
              Quote(item.unit.text) + " is no unit of rates; b, kb, Mb, Gb are, with ps or /s");
}

bool Checker::CheckTime(const BudgetSyntax& item, Nanos* time) {
  for (const Unit& known : kTimeUnits) {
    if (Lower(item.unit.text) != known.name) continue;
    const auto value = Scale(item.number.text, known.factor, kMaxSliceTime);
    if (value && *value > 0) {
      *time = *value;
      return true;
    }
    return Fail(item.number.offset, item.keyword.text + " takes from 1 ns to 366 days, not " +
                                        Quote(item.number.text + item.unit.text));
  }
  return Fail(item.unit.offset,
              Quote(item.unit.text) + " is no unit of time; ms, s, min, h and d are");
}

bool Checker::CheckBudget(const BudgetSyntax& item) {
  if (item.keyword.text == "USING") return CheckRate(item);
  if (item.keyword.text == "DURING") return CheckTime(item, &campaign_.during);
  if (item.keyword.text == "EVERY") return CheckTime(item, &campaign_.every);
  return Fail(item.keyword.offset, Quote(item.keyword.text) + " is no part of a budget" +
                                       DidYouMean(item.keyword.text, {"USING", "DURING", "EVERY"}));
}

Result<SliceCampaign> Checker::Check() {
  const auto error = [this] { return Status::Error(error_); };
  for (const QuerySyntax& query : syntax_.queries) {
    if (!CheckQuery(query, &campaign_.queries.emplace_back())) return error();
  }
  for (const BudgetSyntax& item : syntax_.budget) {
    if (!CheckBudget(item)) return error();
  }
  if (campaign_.every >= campaign_.during) return std::move(campaign_);
  const auto at = [this](const char* keyword) {
    return std::find_if(
        syntax_.budget.begin(), syntax_.budget.end(),
        [keyword](const BudgetSyntax& item) { return item.keyword.text == keyword; });
  };
  const auto during = at("DURING");
  Fail((during == syntax_.budget.end() ? at("EVERY") : during)->keyword.offset,
       "a campaign lasts longer (DURING) than the time until the next one (EVERY)");
  return error();
}

}  // namespace
}  // namespace slice_lang

Result<SliceCampaign> ParseSlices(std::string_view text, std::string_view source_name) {
  const event_lang::Source source{source_name, WithoutByteOrderMark(text)};
  const auto syntax = slice_lang::ParseSyntax(source);
  if (!syntax) return syntax.status();
  return slice_lang::Checker(source, *syntax).Check();
}

Status CheckSliceGrammar(std::string_view text, std::string_view source_name) {
  return slice_lang::ParseSyntax({source_name, WithoutByteOrderMark(text)}).status();
}

}  // namespace trumpet
