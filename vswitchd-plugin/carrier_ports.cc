// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/carrier_ports.h"

#include <algorithm>

#include "lib/base/hash.h"
#include "vswitchd-plugin/settings.h"

namespace trumpet {
namespace {

constexpr uint64_t kKeySeed = 0x7472756d706574;

ShimFrame FrameOf(const trumpet_sent_frame& frame) { return {frame.bytes, frame.wire_length}; }

// What is only in part in reach, or will be cut, stays as it is.
bool IsWhole(const trumpet_sent_frame& frame) {
  return frame.captured_length == frame.wire_length && !frame.is_fixed;
}

void CountOne(std::atomic<uint64_t>* counter) { counter->fetch_add(1, std::memory_order_relaxed); }

}  // namespace

void CarrierPorts::Configure(const std::vector<std::string>& patterns, const std::string& key) {
  patterns_ = patterns;
  key_.store(HashBytes(key.data(), key.size(), kKeySeed), std::memory_order_relaxed);
  if (has_any_named() != !patterns.empty()) {
    has_any_named_.store(!patterns.empty(), std::memory_order_relaxed);
    host_->ops().set_carrying(!patterns.empty());
  }
  Refresh();
}

void CarrierPorts::Refresh() {
  for (const PortInfo& port : ports_->List()) {
    if (port.number >= EdgePorts::kMostPorts) continue;
    const bool is_carrier = std::any_of(
        patterns_.begin(), patterns_.end(),
        [&port](const std::string& pattern) { return MatchesPattern(pattern, port.name); });
    uint16_t mtu = 0;
    if (is_carrier) {
      const uint32_t told = host_->ops().port_mtu(port.name.c_str());
      mtu = told == 0 ? kUnknownMtu : static_cast<uint16_t>(std::min<uint32_t>(told, UINT16_MAX));
    }
    mtus_[port.number].store(mtu, std::memory_order_relaxed);
  }
}

void CarrierPorts::Remove(uint32_t port) {
  if (port < EdgePorts::kMostPorts) mtus_[port].store(0, std::memory_order_relaxed);
}

uint32_t CarrierPorts::Take(const ShimFrame& frame, trumpet_carried* carried) const {
  CarriedValues values;
  const uint32_t taken = TakeShims(key(), frame, &values);
  if (taken != 0) *carried = {values.has_vid, values.has_option, values.vid, values.option};
  return taken;
}

bool CarrierPorts::NeedsShims(const trumpet_sent_frame& frame) const {
  if (frame.carried.has_vid || frame.carried.has_option) return true;
  return IsWhole(frame) && HasShims(key(), FrameOf(frame));
}

trumpet_shims CarrierPorts::Put(const trumpet_sent_frame& frame) {
  const trumpet_carried& carried = frame.carried;
  const CarriedValues values{carried.has_vid, carried.has_option, carried.vid, carried.option};
  if (!IsWhole(frame)) {
    if (values.has_any()) CountOne(&lost_);
    return {};
  }
  const ShimsPut put = PutShims(key(), values, frame.room, FrameOf(frame));
  if (put.is_lost) CountOne(&lost_);
  if (put.is_escaped) CountOne(&escaped_);
  if (put.is_exposed) CountOne(&exposed_);
  return {put.vlan_bytes, put.option_bytes};
}

CarrierPorts::Counters CarrierPorts::counters() const {
  return {lost_.load(std::memory_order_relaxed), escaped_.load(std::memory_order_relaxed),
          exposed_.load(std::memory_order_relaxed)};
}

}  // namespace trumpet
