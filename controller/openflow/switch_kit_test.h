// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Real switches for tests: an ovs-vswitchd of its own, with bridges of a datapath that needs no
// privileges.  What goes wrong fails the test.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_SWITCH_KIT_TEST_H
#define TRUMPET_CONTROLLER_OPENFLOW_SWITCH_KIT_TEST_H

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {

class TestSwitch {
 public:
  TestSwitch();
  ~TestSwitch();
  TestSwitch(const TestSwitch&) = delete;
  TestSwitch& operator=(const TestSwitch&) = delete;

  // Without its flows, as a switch is that was turned off and on.
  void Restart();
  void Kill();
  // With ports 1 and 2; `protocols` as "OpenFlow13,OpenFlow14".  The datapath id is `number`.
  void AddBridge(const std::string& name, int number, const std::string& protocols);
  std::string Vsctl(std::vector<std::string> arguments) const;
  std::string Appctl(std::vector<std::string> arguments) const;
  // Speaks 1.5 unless told.
  std::string Ofctl(std::vector<std::string> arguments,
                    const std::string& protocol = "OpenFlow15") const;
  // Without counts, sorted, one a line.
  std::string Flows(const std::string& bridge) const;
  std::string File(const std::string& name) const { return database_.folder().File(name); }
  // `count` packets, from 10.0.0.1 by UDP to port 53, come in at a bridge's port 1.
  void Receive(const std::string& bridge, int count, const std::string& to, uint8_t tos = 0) const;
  // The frames that the port, such as br0p2, has sent until now.
  std::vector<std::string> FramesOf(const std::string& port) const;

 private:
  void Start();

  std::map<std::string, std::string> paths_;
  OvsdbTestServer database_;
  std::vector<std::string> bridges_;
  std::string remote_;
  pid_t pid_ = -1;
};

// A net in a loop of its own, at a free port.
class TestNet {
 public:
  explicit TestNet(OpenflowOptions options = OpenflowOptions());

  event_base* base() { return loop_.base(); }
  OpenflowNet& net() { return *net_; }
  std::string remote() const { return "tcp:127.0.0.1:" + std::to_string(port_); }
  uint16_t port() const { return port_; }
  bool RunUntil(const std::function<bool()>& done) { return loop_.RunUntil(done); }
  // The switch, when it is ready.
  OpenflowSwitch* Wait(uint64_t datapath_id);
  // What a call back of this form was given.
  Status Run(const std::function<void(OpenflowSwitch::Done)>& call);
  Status Commit(OpenflowSwitch* which, OpenflowChange change);

 private:
  OvsdbTestLoop loop_;
  SystemWireClock clock_;
  std::unique_ptr<OpenflowNet> net_;
  uint16_t port_ = 0;
};

// That nobody had a moment ago.
uint16_t FreePort();

// A flow with a cookie of ours that ends with `number`.
OpenflowRule FlowRule(const std::string& text, uint64_t number = 1);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_SWITCH_KIT_TEST_H
