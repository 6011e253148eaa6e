// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/names.h"

#include <algorithm>
#include <iterator>

namespace trumpet::mafia {
namespace {

struct Alias {
  std::string_view alias;
  std::string_view field;
};

constexpr Alias kAliases[] = {
    {"ip.src", "ipv4.src"},
    {"ip.dst", "ipv4.dst"},
    {"ip.dest", "ipv4.dst"},
    {"ip.proto", "ipv4.proto"},
    {"ipv4.dest", "ipv4.dst"},
    {"tcp.dest", "tcp.dst"},
    {"ipv4.identification", "ipv4.id"},
    {"ipv4.protocol", "ipv4.proto"},
    {"pkt.ipv4.tos", "ipv4.tos"},
    {"switchid", "switch.id"},
    {"pkt.in_port", "pkt.input_port"},
    {"pkt.out_port", "pkt.output_port"},
    {"pkt.queue_length", "pkt.in_queue_length"},
    {"metadata.packet_length", "pkt.size"},
};

constexpr std::string_view kReserved[] = {"const",  "param", "endpoint", "role",    "window",
                                          "header", "pkts",  "ctrl",     "switchid"};

// By their enumerators.
constexpr std::string_view kKinds[] = {
    "Counter",           "Timestamp",         "HashMap of Counter", "HashMap of Timestamp",
    "membership filter", "counting filter",   "count-min sketch",   "store sketch",
    "pcsa sketch",       "hyperloglog sketch"};
constexpr std::string_view kUpdates[] = {"set", "add", "reset", "insert", "update", "init"};
constexpr std::string_view kAggregates[] = {"test", "any", "all", "sum", "avg", "min", "max"};

constexpr uint32_t Bit(MeasureUpdate update) { return 1u << static_cast<int>(update); }
constexpr uint32_t Bit(MeasureAggregate aggregate) { return 1u << static_cast<int>(aggregate); }

constexpr uint32_t kSetReset = Bit(MeasureUpdate::kSet) | Bit(MeasureUpdate::kReset);
constexpr uint32_t kSetAddReset = kSetReset | Bit(MeasureUpdate::kAdd);
constexpr uint32_t kTest = Bit(MeasureAggregate::kTest);
constexpr uint32_t kStatistics = Bit(MeasureAggregate::kSum) | Bit(MeasureAggregate::kAvg) |
                                 Bit(MeasureAggregate::kMin) | Bit(MeasureAggregate::kMax);
constexpr uint32_t kAnyAll = Bit(MeasureAggregate::kAny) | Bit(MeasureAggregate::kAll);

struct Abilities {
  uint32_t updates;
  uint32_t aggregates;
};

constexpr Abilities kAbilities[] = {
    {kSetAddReset, 0},
    {Bit(MeasureUpdate::kReset), 0},
    {kSetAddReset, 0},
    {Bit(MeasureUpdate::kReset), 0},
    {kSetReset | Bit(MeasureUpdate::kInsert) | Bit(MeasureUpdate::kInit), kTest},
    {kSetAddReset | Bit(MeasureUpdate::kInit), kStatistics | kAnyAll},
    {kSetAddReset, kStatistics},
    {kSetReset, kStatistics | kAnyAll},
    {Bit(MeasureUpdate::kUpdate) | Bit(MeasureUpdate::kReset), kTest},
    {Bit(MeasureUpdate::kUpdate) | Bit(MeasureUpdate::kReset), kTest},
};
static_assert(std::size(kAbilities) == std::size(kKinds));

const Abilities& AbilitiesOf(MeasureKind kind) { return kAbilities[static_cast<size_t>(kind)]; }

template <typename Enum, size_t kCount>
std::optional<Enum> ByName(const std::string_view (&names)[kCount], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

// "set(), add() and reset()"
std::string Enumerate(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i] + "()";
  }
  return text;
}

template <size_t kCount>
std::vector<std::string> Chosen(const std::string_view (&names)[kCount], uint32_t bits) {
  std::vector<std::string> chosen;
  for (size_t i = 0; i < kCount; ++i) {
    if ((bits >> i & 1) != 0) chosen.emplace_back(names[i]);
  }
  return chosen;
}

}  // namespace

std::string FieldOfAlias(std::string_view name) {
  for (const Alias& alias : kAliases) {
    if (name == alias.alias) return std::string(alias.field);
  }
  return std::string(name);
}

std::vector<std::string> AliasNames() {
  std::vector<std::string> names;
  for (const Alias& alias : kAliases) names.emplace_back(alias.alias);
  return names;
}

bool IsReserved(std::string_view word) {
  return std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved);
}

std::string_view NameOf(MeasureKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view NameOf(MeasureUpdate update) { return kUpdates[static_cast<size_t>(update)]; }
std::string_view NameOf(MeasureAggregate aggregate) {
  return kAggregates[static_cast<size_t>(aggregate)];
}

std::optional<MeasureUpdate> UpdateByName(std::string_view name) {
  return ByName<MeasureUpdate>(kUpdates, name);
}

std::optional<MeasureAggregate> AggregateByName(std::string_view name) {
  return ByName<MeasureAggregate>(kAggregates, name);
}

bool HasUpdate(MeasureKind kind, MeasureUpdate update) {
  return (AbilitiesOf(kind).updates & Bit(update)) != 0;
}

bool HasAggregate(MeasureKind kind, MeasureAggregate aggregate) {
  return (AbilitiesOf(kind).aggregates & Bit(aggregate)) != 0;
}

std::string UpdatesOf(MeasureKind kind) {
  auto names = Chosen(kUpdates, AbilitiesOf(kind).updates);
  const bool is_time = kind == MeasureKind::kTimestamp || kind == MeasureKind::kTimestampMap;
  return (is_time ? "timestamp(NAME) and " : "") + Enumerate(names);
}

std::string AggregatesOf(MeasureKind kind) {
  auto names = Chosen(kAggregates, AbilitiesOf(kind).aggregates);
  if (kind == MeasureKind::kBloomMembership) names.emplace_back("read");
  return names.empty() ? "its name alone" : Enumerate(names);
}

std::vector<std::string> UpdateNames() { return {std::begin(kUpdates), std::end(kUpdates)}; }

std::vector<std::string> AggregateNames() {
  std::vector<std::string> names(std::begin(kAggregates), std::end(kAggregates));
  names.emplace_back("read");
  return names;
}

}  // namespace trumpet::mafia
