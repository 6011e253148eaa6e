// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AnalyzerPorts: the tunnel ports to analyzers that some bridges shall have, wherever those bridges
// are.  As soon as a switch is followed that has such a bridge its port is wished for there; when
// the bridge goes, so does the wish.
//
// Threads: that of the libevent loop.  Lifetime: must outlive the switches that it listens to.

#ifndef TRUMPET_CONTROLLER_OVSDB_ANALYZER_PORTS_H
#define TRUMPET_CONTROLLER_OVSDB_ANALYZER_PORTS_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/ovsdb/remote_switch.h"

namespace trumpet {

struct WantedAnalyzerPort {
  uint64_t datapath_id = 0;  // of the bridge
  std::string name;          // for people
  std::string address;       // IPv4 or IPv6
  TunnelKind kind = TunnelKind::kGre;
};

class AnalyzerPorts final : public RemoteSwitchListener {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  // At most one for a bridge: of two the first.
  AnalyzerPorts(const std::vector<WantedAnalyzerPort>& wanted, Log log);

  // The OpenFlow number of the bridge's port; 0: there is none now.
  uint32_t NumberOf(uint64_t datapath_id) const;
  // Wishes for nothing any more; what was wished for stays wished.
  void StandDown() { ports_.clear(); }

  void OnRemoteSwitch(RemoteSwitch* one) override;

 private:
  struct Port {
    WantedAnalyzerPort wanted;
    RemoteSwitch* at = nullptr;  // that has the bridge; null: none that we know of
    std::string bridge;
    uint32_t number = 0;
  };

  void Want(Port* port, RemoteSwitch* at, const std::string& bridge);
  void Look(Port* port);

  const Log log_;
  std::map<uint64_t, Port> ports_;  // by datapath id
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OVSDB_ANALYZER_PORTS_H
