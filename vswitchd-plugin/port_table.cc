// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/port_table.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "vswitchd-plugin/settings.h"

namespace trumpet {
namespace {

constexpr char kInterfaces[] = "/sys/class/net/";

bool Exists(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0;
}

// A network card has a device below /sys/class/net/NAME; veth, tap, bridge and the like have none.
bool HasDevice(const std::string& name) { return Exists(kInterfaces + name + "/device"); }

// A bond names its members in links lower_NAME.
bool IsBondOfDevices(const std::string& name) {
  const std::string folder = kInterfaces + name;
  if (!Exists(folder + "/bonding")) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr) return false;
  constexpr std::string_view kLower = "lower_";
  bool has_device = false;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string_view lower = entry->d_name;
    if (lower.substr(0, kLower.size()) != kLower) continue;
    has_device |= HasDevice(std::string(lower.substr(kLower.size())));
  }
  return has_device;
}

// Of the kernel's interfaces, whose names are file names.
bool IsPhysical(const std::string& name) {
  return name.find('/') == std::string::npos && (HasDevice(name) || IsBondOfDevices(name));
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
    return port.type == "dpdk" || (port.type == "system" && IsPhysical(port.name));
  }
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return MatchesPattern(pattern, port.name);
  });
}

bool IsTunnel(const PortInfo& port) {
  constexpr std::array<std::string_view, 10> kTypes = {
      "vxlan", "geneve", "gre", "ip6gre", "erspan", "ip6erspan", "gtpu", "lisp", "srv6", "bareudp"};
  return std::find(kTypes.begin(), kTypes.end(), port.type) != kTypes.end();
}

std::vector<uint32_t> UplinksAmong(const std::vector<PortInfo>& ports,
                                   const std::vector<std::string>& patterns) {
  std::vector<uint32_t> uplinks;
  for (const PortInfo& port : ports) {
    if (IsUplink(port, patterns)) uplinks.push_back(port.number);
  }
  return uplinks;
}

}  // namespace trumpet
