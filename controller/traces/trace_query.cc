// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_query.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "controller/traces/arguments.h"
#include "controller/traces/trace_text.h"
#include "lib/base/utc_time.h"
#include "lib/model/slice_spec.h"

namespace trumpet {
namespace {

Result<Nanos> ReadInstant(const std::string& name, const std::string& text) {
  std::tm parts{};
  const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  const bool is_read = !text.empty() && end != nullptr && *end == '\0';
  if (const auto seconds = is_read ? UtcSeconds(parts) : std::nullopt) {
    return std::max<Nanos>(NanosOfSeconds(*seconds), 0);
  }
  const auto nanos = ReadCount(name, text, 0, INT64_MAX);
  if (nanos) return static_cast<Nanos>(*nanos);
  return Status::Error(name + ": '" + text +
                       "' is no time; 2026-11-21T12:00:00Z and nanoseconds of Unix time are");
}

Result<uint8_t> ReadProtocol(const std::string& name, const std::string& text) {
  static constexpr std::pair<std::string_view, uint8_t> kNames[] = {
      {"tcp", kProtocolTcp},   {"udp", kProtocolUdp},       {"icmp", kProtocolIcmp},
      {"sctp", kProtocolSctp}, {"icmpv6", kProtocolIcmpv6}, {"gre", kProtocolGre}};
  for (const auto& [known, number] : kNames) {
    if (known == text) return number;
  }
  const auto number = ReadCount(name, text, 0, 255);
  if (number) return static_cast<uint8_t>(*number);
  return Status::Error(name + ": '" + text + "' is no protocol; tcp, udp and 0 to 255 are");
}

Status SetCursor(const std::string& name, const std::string& text, TraceQuery* query) {
  int64_t start = 0;
  uint64_t id = 0;
  int read = 0;
  const int fields = std::sscanf(text.c_str(), "%20" SCNd64 "-%16" SCNx64 "%n", &start, &id, &read);
  if (fields != 2 || static_cast<size_t>(read) != text.size()) {
    return Status::Error(name + ": '" + text + "' is no cursor that was given out");
  }
  query->behind = {start, id};
  return Status::Ok();
}

Status SetId(const std::string& name, const std::string& text, TraceQuery* query) {
  const bool is_id = text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
  if (!is_id) return Status::Error(name + ": '" + text + "' is no id of a trace");
  query->id = std::strtoull(text.c_str(), nullptr, 16);
  return Status::Ok();
}

Status SetVerdict(const std::string& name, const std::string& text, TraceQuery* query) {
  const auto found = std::find(kTraceVerdicts.begin(), kTraceVerdicts.end(), text);
  if (found == kTraceVerdicts.end()) {
    return Status::Error(
        name + ": '" + text +
        "' is no verdict; delivered, dropped, copies_lost, loop and not_known are");
  }
  query->fault = static_cast<uint8_t>(found - kTraceVerdicts.begin());
  return Status::Ok();
}

Status SetMark(const std::string& name, const std::string& text, TraceQuery* query) {
  const uint8_t mark = TraceMarkOf(text);
  query->marks |= mark;
  if (mark != 0) return Status::Ok();
  return Status::Error(name + ": '" + text +
                       "' is no mark; connection, protocol, debug and probe are");
}

template <typename T, typename U>
Status Set(const Result<T>& value, U* to) {
  if (!value.ok()) return value.status();
  *to = static_cast<T>(*value);
  return Status::Ok();
}

Status SetCount(const std::string& name, const std::string& text, uint64_t most, size_t* to) {
  return Set(ReadCount(name, text, 1, most), to);
}

Status SetPort(const std::string& name, const std::string& text, std::optional<uint16_t>* to) {
  const auto port = ReadCount(name, text, 0, UINT16_MAX);
  if (!port) return port.status();
  *to = static_cast<uint16_t>(*port);
  return Status::Ok();
}

Status SetPrefix(const std::string& name, const std::string& text, std::optional<Prefix>* to) {
  const auto prefix = ParsePrefix(text);
  if (!prefix.ok()) return Status::Error(name + ": " + prefix.message());
  *to = *prefix;
  return Status::Ok();
}

Status AddPrefix(const std::string& name, const std::string& text, std::vector<Prefix>* to) {
  std::optional<Prefix> prefix;
  const Status set = SetPrefix(name, text, &prefix);
  if (set.ok()) to->push_back(*prefix);
  return set;
}

Status SetSwitch(const std::string& name, const std::string& text, const SwitchBook& switches,
                 TraceQuery* query) {
  query->through = switches.NumberOf(text);
  if (query->through) return Status::Ok();
  const auto number = ReadCount(name, text, 0, kMaxSwitchNumber);
  if (!number) return Status::Error(name + ": there is no switch '" + text + "'");
  query->through = static_cast<uint16_t>(*number);
  return Status::Ok();
}

}  // namespace

const std::vector<std::string_view>& TraceQueryWords() {
  static const std::vector<std::string_view> words = {
      "from",    "until", "src",     "dst",      "within", "protocol", "src-port", "dst-port",
      "verdict", "mark",  "through", "min-hops", "id",     "limit",    "after"};
  return words;
}

Status SetTraceQuery(const std::string& name, const std::string& value, const SwitchBook& switches,
                     TraceQuery* query) {
  if (name == "from") return Set(ReadInstant(name, value), &query->from);
  if (name == "until") return Set(ReadInstant(name, value), &query->until);
  if (name == "src") return SetPrefix(name, value, &query->src);
  if (name == "dst") return SetPrefix(name, value, &query->dst);
  if (name == "within") return AddPrefix(name, value, &query->within);
  if (name == "protocol") return Set(ReadProtocol(name, value), &query->protocol);
  if (name == "src-port") return SetPort(name, value, &query->src_port);
  if (name == "dst-port") return SetPort(name, value, &query->dst_port);
  if (name == "verdict") return SetVerdict(name, value, query);
  if (name == "mark") return SetMark(name, value, query);
  if (name == "through") return SetSwitch(name, value, switches, query);
  if (name == "min-hops") return SetCount(name, value, 64, &query->min_hops);
  if (name == "id") return SetId(name, value, query);
  if (name == "limit") return SetCount(name, value, kMaxTracesAsked, &query->limit);
  if (name == "after") return SetCursor(name, value, query);
  return Status::Error(name + ": traces are not asked for by that");
}

std::string TraceCursor(const StoredTrace& trace) {
  char id[17];
  std::snprintf(id, sizeof id, "%016" PRIx64, trace.id);
  return std::to_string(trace.start) + "-" + id;
}

}  // namespace trumpet
