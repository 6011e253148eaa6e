// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <charconv>

#include "lib/lang/slice/slice_language.h"
#include "lib/lang/slice/slice_syntax.h"

namespace trumpet {
namespace {

std::string Quoted(const std::string& name) {
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string PrintName(const std::string& name) {
  return slice_lang::IsPlainName(name) ? name : Quoted(name);
}

struct Unit {
  const char* name;
  int64_t factor;
};

// In the largest unit that needs no fraction.
template <size_t kCount>
std::string PrintIn(const Unit (&units)[kCount], int64_t value) {
  for (const Unit& unit : units) {
    if (value % unit.factor == 0) return std::to_string(value / unit.factor) + " " + unit.name;
  }
  return "";
}

std::string PrintRate(int64_t bps) {
  constexpr Unit kUnits[] = {
      {"Gb/s", 1'000'000'000}, {"Mb/s", 1'000'000}, {"kb/s", 1'000}, {"b/s", 1}};
  return PrintIn(kUnits, bps);
}

// Below a millisecond there is no unit, only a fraction.
std::string PrintTime(Nanos time) {
  constexpr Unit kUnits[] = {{"s", kNanosPerSecond}, {"ms", kNanosPerMilli}};
  if (time % kNanosPerMilli == 0) return PrintIn(kUnits, time);
  std::string fraction = std::to_string(kNanosPerMilli + time % kNanosPerMilli).substr(1);
  fraction.resize(fraction.find_last_not_of('0') + 1);
  return std::to_string(time / kNanosPerMilli) + "." + fraction + " ms";
}

std::string PrintWeight(double weight) {
  char text[400];  // the smallest number of all takes 326
  const auto end = std::to_chars(text, text + sizeof(text), weight, std::chars_format::fixed);
  return std::string(text, end.ptr);
}

std::string PrintProperties(const SliceQuery& query) {
  std::string text;
  if (!query.name.empty()) text += "name: " + PrintName(query.name);
  if (query.weight != 1) {
    text += (text.empty() ? "" : ", ") + ("weight: " + PrintWeight(query.weight));
  }
  return text.empty() ? "" : "(" + text + ") ";
}

}  // namespace

std::string PrintSliceRegion(const SliceRegion& region) {
  std::string text = "[";
  for (const SliceStep& step : region.steps) {
    if (text.size() > 1) text += ' ';
    text += step.is_arrow ? "->" : PrintName(step.router);
  }
  return text + "]";
}

std::string PrintSlices(const SliceCampaign& campaign) {
  std::string text;
  for (const SliceQuery& query : campaign.queries) {
    text += PrintProperties(query);
    text += query.action == SliceAction::kMirror ? "MIRROR { " : "CONFINE { ";
    for (size_t i = 0; i < query.prefixes.size(); ++i) {
      text += (i > 0 ? ", " : "") + PrintPrefix(query.prefixes[i]);
    }
    text += " } ON { ";
    for (size_t i = 0; i < query.regions.size(); ++i) {
      text += (i > 0 ? ", " : "") + PrintSliceRegion(query.regions[i]);
    }
    text += " }\n";
  }
  return text + "USING " + PrintRate(campaign.using_bps) + " DURING " + PrintTime(campaign.during) +
         " EVERY " + PrintTime(campaign.every) + "\n";
}

}  // namespace trumpet
