// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/bounce_tables.h"

#include <algorithm>
#include <cstdio>

#include "lib/base/text_table.h"
#include "lib/base/units.h"

namespace trumpet {
namespace {

constexpr size_t kBarCharacters = 40;

ApiJson RoundTripOf(const ApiJson& bounce) {
  const auto found = bounce.find("round_trip");
  return found == bounce.end() || !found->is_object() ? ApiJson::object() : *found;
}

// "21.4 us", "1.203 ms"
std::string TimeText(const ApiJson& trip, const char* key) {
  const auto found = trip.find(key);
  if (found == trip.end() || !found->is_number()) return "-";
  const auto time = found->get<double>();
  char text[40];
  if (time < kNanosPerMilli) {
    std::snprintf(text, sizeof text, "%.1f us", time / 1000);
  } else {
    std::snprintf(text, sizeof text, "%.3f ms", time / kNanosPerMilli);
  }
  return text;
}

std::string LinkText(const ApiJson& bounce) {
  return ApiText(bounce, "switch") + ":" + ApiText(bounce, "port") + " > " + ApiText(bounce, "to") +
         ":" + ApiText(bounce, "to_port");
}

uint64_t PacketsOf(const ApiJson& bucket) {
  return static_cast<uint64_t>(std::max<int64_t>(ApiWhole(bucket, "packets"), 0));
}

std::string HistogramText(const ApiJson& trip) {
  const auto found = trip.find("histogram");
  if (found == trip.end() || !found->is_array()) return "";
  uint64_t most = 1;
  for (const ApiJson& bucket : *found) most = std::max(most, PacketsOf(bucket));
  TextTable table({">below", ">packets", ""});
  for (const ApiJson& bucket : *found) {
    const uint64_t packets = PacketsOf(bucket);
    table.Add({TimeText(bucket, "below_ns"), std::to_string(packets),
               std::string((packets * kBarCharacters + most - 1) / most, '#')});
  }
  return table.is_empty() ? "" : table.ToString(0);
}

}  // namespace

std::string BounceTable(const ApiJson& bounces) {
  TextTable table({"link", "state", ">sent", ">lost", ">min", ">median", ">99%", ">max"});
  for (const ApiJson& bounce : bounces) {
    const ApiJson trip = RoundTripOf(bounce);
    table.Add({LinkText(bounce), ApiText(bounce, "state"), ApiText(bounce, "sent"),
               ApiText(bounce, "lost"), TimeText(trip, "min_ns"), TimeText(trip, "p50_ns"),
               TimeText(trip, "p99_ns"), TimeText(trip, "max_ns")});
  }
  return table.is_empty() ? "no bounces\n" : table.ToString(0);
}

std::string BounceText(const ApiJson& bounce) {
  const ApiJson trip = RoundTripOf(bounce);
  std::string text = "bounce " + ApiText(bounce, "id") + ", " + LinkText(bounce) + ": " +
                     ApiText(bounce, "state") + "\n" + HistogramText(trip);
  const auto notes = bounce.find("notes");
  if (notes != bounce.end()) {
    for (const ApiJson& note : *notes) {
      if (note.is_string()) text += "note: " + note.get<std::string>() + "\n";
    }
  }
  text += ApiText(bounce, "returned") + " of " + ApiText(bounce, "sent") + " packets came back, " +
          ApiText(bounce, "lost") + " lost";
  if (ApiWhole(bounce, "not_copied") != 0)
    text += ", " + ApiText(bounce, "not_copied") + " not copied";
  if (!trip.empty()) {
    text += "; round trip: min " + TimeText(trip, "min_ns") + ", median " +
            TimeText(trip, "p50_ns") + ", 99% " + TimeText(trip, "p99_ns") + ", max " +
            TimeText(trip, "max_ns");
  }
  return text + "\n";
}

}  // namespace trumpet
