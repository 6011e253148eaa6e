// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PortTable: names and types of the datapath's ports.
//
// Threads: locked; any thread off the packet path.

#ifndef TRUMPET_VSWITCHD_PLUGIN_PORT_TABLE_H
#define TRUMPET_VSWITCHD_PLUGIN_PORT_TABLE_H

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace trumpet {

struct PortInfo {
  uint32_t number = 0;  // datapath port, the inPort of events
  std::string name;
  std::string type;
};

class PortTable {
 public:
  void Add(uint32_t number, std::string name, std::string type);
  void Remove(uint32_t number);

  std::vector<PortInfo> List() const;                   // by number
  uint64_t version() const { return version_.load(); }  // rises with every change

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, PortInfo> ports_;
  std::atomic<uint64_t> version_{0};
};

// Does `port` lead out of the host?  `patterns` are those of trumpet-uplinks; without any, physical
// ports and the kernel's bonds of them do.
bool IsUplink(const PortInfo& port, const std::vector<std::string>& patterns);

// Does it lead through another port, which packets leave by within outer headers?
bool IsTunnel(const PortInfo& port);

// The numbers of those that lead out of the host, rising if `ports` do.
std::vector<uint32_t> UplinksAmong(const std::vector<PortInfo>& ports,
                                   const std::vector<std::string>& patterns);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_PORT_TABLE_H
