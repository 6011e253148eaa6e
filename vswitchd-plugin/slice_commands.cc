// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/slice_commands.h"

#include <charconv>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lib/base/text_table.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/event_language.h"
#include "lib/wire/limits.h"
#include "vswitchd-plugin/json_line.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

template <typename Number>
Status ReadNumber(const char* what, std::string_view text, uint64_t low, uint64_t high,
                  Number* number) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || value < low || value > high) {
    return Status::Error(std::string(what) + " is " + event_lang::Quote(std::string(text)) +
                         "; it takes " + std::to_string(low) + " to " + std::to_string(high));
  }
  *number = static_cast<Number>(value);
  return Status::Ok();
}

// The language of events has filters only as their first part.
Result<FilterExpr> ReadFilter(const std::string& text) {
  Result<EventSpec> event = ParseEventLine(text + ", sum(packets)>0, 5-tuple, 1ms", "filter");
  if (!event.ok()) return event.status();
  return std::move(event->filter);
}

Status ReadTag(const std::string& text, uint32_t* tag) {
  return ReadNumber("tag", text, 1, kMaxSliceTag, tag);
}

bool ReadBridge(const std::string& option, std::string* bridge) {
  constexpr std::string_view kHead = "bridge=";
  if (option.compare(0, kHead.size(), kHead) != 0 || option.size() == kHead.size()) return false;
  *bridge = option.substr(kHead.size());
  return true;
}

Status Unexpected(const std::string& argument) {
  return Status::Error("unexpected argument " + event_lang::Quote(argument));
}

Status ReadOption(const std::string& option, SliceSpec* slice) {
  if (ReadBridge(option, &slice->bridge)) return Status::Ok();
  const size_t equals = option.find('=');
  const std::string key = option.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  if (key == "packets") return ReadNumber("packets", value, 1, kMost, &slice->max_packets);
  if (key == "bytes") return ReadNumber("bytes", value, 1, kMost, &slice->max_bytes);
  if (key == "pps") return ReadNumber("pps", value, 1, UINT32_MAX, &slice->packets_per_second);
  if (key == "mark") return ReadNumber("mark", value, 1, kMaxSliceMark, &slice->mark);
  return Unexpected(option);
}

std::string BridgeText(const std::string& bridge) { return bridge.empty() ? "(all)" : bridge; }

std::string Milliseconds(Nanos length) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(length) / kNanosPerMilli);
  return text;
}

std::string Hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

}  // namespace

Result<SliceOff> ReadSliceOff(const std::vector<std::string>& arguments) {
  SliceOff off;
  const Status status = ReadTag(arguments[0], &off.tag);
  if (!status.ok()) return status;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (!ReadBridge(arguments[i], &off.bridge)) return Unexpected(arguments[i]);
  }
  return off;
}

Result<SliceSpec> ReadSliceArguments(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) return Status::Error("a slice takes TAG MILLISECONDS FILTER");
  SliceSpec slice;
  Status status = ReadTag(arguments[0], &slice.tag);
  if (!status.ok()) return status;
  Nanos milliseconds = 0;
  status = ReadNumber("milliseconds", arguments[1], 1,
                      kMaxSliceNs / static_cast<uint64_t>(kNanosPerMilli), &milliseconds);
  if (!status.ok()) return status;
  slice.duration = milliseconds * kNanosPerMilli;
  Result<FilterExpr> filter = ReadFilter(arguments[2]);
  if (!filter.ok()) return filter.status();
  slice.filter = std::move(*filter);
  for (size_t i = 3; i < arguments.size(); ++i) {
    if (status = ReadOption(arguments[i], &slice); !status.ok()) return status;
  }
  return slice;
}

std::string FormatSlices(const SliceTableStatus& slices, bool as_json) {
  TextTable table({">tag", "bridge", ">ms left", ">packets", ">bytes", ">withheld"});
  Json rows = Json::array();
  for (const SliceStatus& slice : slices.on) {
    const SliceCounts& counts = slice.counts;
    table.Add({std::to_string(slice.tag), BridgeText(slice.bridge), Milliseconds(slice.left),
               std::to_string(counts.packets), std::to_string(counts.bytes),
               std::to_string(counts.withheld)});
    rows.push_back({{"tag", slice.tag},
                    {"bridge", slice.bridge},
                    {"left_ns", slice.left},
                    {"packets", counts.packets},
                    {"bytes", counts.bytes},
                    {"withheld", counts.withheld}});
  }
  TextTable ended({">ended", "bridge", ">ms long", ">first after ms", ">first to last ms",
                   ">packets", ">withheld"});
  Json ends = Json::array();
  for (const EndedSlice& slice : slices.ended) {
    const HostSliceEnd& end = slice.end;
    ended.Add({std::to_string(end.tag), BridgeText(end.bridge), Milliseconds(end.lasted_ns),
               Milliseconds(slice.first_after), Milliseconds(end.span_ns),
               std::to_string(end.packets), std::to_string(end.withheld)});
    ends.push_back({{"tag", end.tag},
                    {"bridge", end.bridge},
                    {"lasted_ns", end.lasted_ns},
                    {"first_after_ns", slice.first_after},
                    {"span_ns", end.span_ns},
                    {"packets", end.packets},
                    {"bytes", end.bytes},
                    {"withheld", end.withheld}});
  }
  if (as_json) {
    const Json all = {{"on", rows},
                      {"mark", slices.mark_base},
                      {"turned_on", slices.turned_on},
                      {"refused", slices.refused},
                      {"packets", slices.packets},
                      {"bytes", slices.bytes},
                      {"withheld", slices.withheld},
                      {"ended", ends}};
    return JsonLine(all);
  }
  std::string text = slices.on.empty() ? "no slice is on\n" : table.ToString(0);
  if (!slices.ended.empty()) text += ended.ToString(0);
  text += "marks: pkt_mark=" + Hex(slices.mark_base) +
          "/0xfff00000; turned on so far: " + std::to_string(slices.turned_on) +
          ", refused: " + std::to_string(slices.refused) +
          "\nof slices that ended: " + std::to_string(slices.packets) + " packets, " +
          std::to_string(slices.bytes) + " bytes, " + std::to_string(slices.withheld) +
          " withheld\n";
  return text;
}

}  // namespace trumpet
