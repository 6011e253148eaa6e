// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/switch_database.h"

#include <utility>

namespace trumpet {
namespace {

constexpr Nanos kSpacing = kNanosPerSecond / 2;
constexpr size_t kMaxCopyBytes = 16 << 20;
constexpr size_t kMaxMessageValues = 1 << 20;

OvsdbClientOptions OptionsFor(std::vector<OvsdbRemote> remotes, uint64_t seed) {
  OvsdbClientOptions options;
  options.remotes = std::move(remotes);
  options.database = "Open_vSwitch";
  options.tables = LocalFactsColumns();
  options.rpc.limits.max_bytes = options.max_copy_bytes = kMaxCopyBytes;
  options.rpc.limits.max_values = kMaxMessageValues;
  options.seed = seed;
  return options;
}

}  // namespace

SwitchDatabase::SwitchDatabase(event_base* base, std::vector<OvsdbRemote> remotes, uint64_t seed)
    : client_(base, OptionsFor(std::move(remotes), seed), this) {}

void SwitchDatabase::Update(Nanos monotonic_ns, const std::vector<std::string>& uplinks) {
  has_changed_ |= has_tables_ && uplinks != uplinks_;
  if (!has_changed_ || monotonic_ns < next_update_) return;
  next_update_ = monotonic_ns + kSpacing;
  facts_ = ReadLocalFacts(client_.tables(), uplinks);
  ++version_;
  uplinks_ = uplinks;
  has_changed_ = false;
}

}  // namespace trumpet
