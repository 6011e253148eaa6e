// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventSpec: one checked event, as the front end makes it and the monitor runs it.

#ifndef TRUMPET_LIB_MODEL_EVENT_SPEC_H
#define TRUMPET_LIB_MODEL_EVENT_SPEC_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/expr.h"
#include "lib/model/filter.h"
#include "lib/packet/fields.h"

namespace trumpet {

constexpr uint8_t kFullPrefix = 255;

struct GranularityField {
  FieldRef ref;
  uint8_t prefix_length = kFullPrefix;  // as written; kFullPrefix: none written

  bool operator==(const GranularityField& other) const {
    return ref == other.ref && prefix_length == other.prefix_length;
  }
};

// Neither five_tuple nor fields: one bucket for all packets.
struct Granularity {
  bool is_five_tuple = false;
  std::vector<GranularityField> fields;  // empty for 5-tuple

  bool is_none() const { return !is_five_tuple && fields.empty(); }
  bool operator==(const Granularity& other) const {
    return is_five_tuple == other.is_five_tuple && fields == other.fields;
  }
};

enum class Scope : uint8_t { kNetwork, kHost };
enum class Observe : uint8_t { kSource, kDestination, kAll };

// Where neither the event nor the host says how many buckets to keep.
constexpr uint32_t kDefaultMaxBuckets = 65536;

struct EventSpec {
  uint32_t id = 0;  // given by whoever installs; unique on a host for the life of the process
  std::string name;
  FilterExpr filter;
  Expr predicate;
  Granularity granularity;
  uint32_t interval_ms = 0;  // at least 1
  uint32_t for_count = 1;    // at least 1
  Scope scope = Scope::kNetwork;
  Observe observe = Observe::kSource;
  std::string severity;
  uint32_t max_buckets = 0;  // per host; evictions beyond it are counted; 0: not said

  // For the controller alone; hosts are not told.
  uint32_t deadline_ms = 0;  // wait so long after an interval for silent hosts; 0: one interval
  uint32_t report_rate = 0;  // reports per second, at most; 0: no limit

  Nanos interval_ns() const { return Nanos{interval_ms} * kNanosPerMilli; }
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_EVENT_SPEC_H
