// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/port_table.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "vswitchd-plugin/settings.h"

namespace trumpet {
namespace {

// A network card has a device below /sys/class/net/NAME; veth, tap, bridge and the like have none.
bool HasDevice(const std::string& name) {
  if (name.find('/') != std::string::npos) return false;
  struct stat found {};
  return stat(("/sys/class/net/" + name + "/device").c_str(), &found) == 0;
}

}  // namespace

void PortTable::Add(uint32_t number, std::string name, std::string type) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ports_[number] = PortInfo{number, std::move(name), std::move(type)};
  ++version_;
}

void PortTable::Remove(uint32_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ports_.erase(number);
  ++version_;
}

std::vector<PortInfo> PortTable::List() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<PortInfo> list;
  for (const auto& [number, port] : ports_) list.push_back(port);
  return list;
}

bool IsUplink(const PortInfo& port, const std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    return port.type == "dpdk" || (port.type == "system" && HasDevice(port.name));
  }
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return MatchesPattern(pattern, port.name);
  });
}

}  // namespace trumpet
