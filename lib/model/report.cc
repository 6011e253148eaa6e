// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/report.h"

#include <cstdio>

#include "lib/base/utf8.h"

namespace trumpet {
namespace {

struct ReasonName {
  uint32_t bit;
  const char* name;
};

constexpr ReasonName kReasonNames[] = {
    {kSweepSkipped, "sweep-skipped"},
    {kFlowTableFull, "flow-table-full"},
    {kBucketEvicted, "bucket-evicted"},
    {kRingFull, "ring-full"},
    {kConnectionEvicted, "connection-evicted"},
    {kAdmissionWithheld, "admission-withheld"},
    {kMonitorInterrupted, "monitor-interrupted"},
    {kSplitConnection, "split-connection"},
    {kHostSilent, "host-silent"},
    {kEventEnded, "event-ended"},
};

}  // namespace

std::string ReasonsToJson(uint32_t reasons) {
  std::string json = "[";
  for (const ReasonName& reason : kReasonNames) {
    if ((reasons & reason.bit) == 0) continue;
    if (json.size() > 1) json += ',';
    json += JsonQuote(reason.name);
  }
  return json + "]";
}

namespace {

void AppendEscaped(char c, std::string* json) {
  switch (c) {
    case '"':
      *json += "\\\"";
      return;
    case '\\':
      *json += "\\\\";
      return;
    case '\n':
      *json += "\\n";
      return;
    case '\t':
      *json += "\\t";
      return;
    case '\r':
      *json += "\\r";
      return;
    default:
      break;
  }
  if (static_cast<uint8_t>(c) >= 0x20 && c != 0x7f) {
    *json += c;
    return;
  }
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(static_cast<uint8_t>(c)));
  *json += text;
}

}  // namespace

std::string JsonQuote(const std::string& text) {
  std::string json = "\"";
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text, at);
    if (length == 0) {
      json += "\xef\xbf\xbd";  // U+FFFD stands for each byte that is no text
      ++at;
    } else if (length == 1) {
      AppendEscaped(text[at++], &json);
    } else {
      json.append(text, at, length);
      at += length;
    }
  }
  return json + "\"";
}

std::string ToJsonLine(const Report& report) {
  std::string json = "{\"event\":" + JsonQuote(report.event);
  json += ",\"bucket\":" + (report.bucket_json.empty() ? "{}" : report.bucket_json);
  json += ",\"start_ns\":" + std::to_string(report.start_ns);
  json += ",\"end_ns\":" + std::to_string(report.end_ns);
  json += ",\"value\":" + report.value.ToString();
  json += ",\"threshold\":" + report.threshold.ToString();
  json += report.is_complete() ? ",\"complete\":true" : ",\"complete\":false";
  if (report.is_unscaled) json += ",\"unscaled\":true";
  if (!report.is_complete()) json += ",\"reasons\":" + ReasonsToJson(report.incomplete_reasons);
  if (!report.severity.empty()) json += ",\"severity\":" + JsonQuote(report.severity);
  if (report.detected_ns != 0) json += ",\"detected_ns\":" + std::to_string(report.detected_ns);
  return json + "}";
}

}  // namespace trumpet
