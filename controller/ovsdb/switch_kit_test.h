// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A real switch for tests: ovsdb-server and the ovs-vswitchd of this build, without a monitor, in a
// temporary folder.  Its devices are Open vSwitch's dummies, so it needs no privileges and leaves
// nothing behind.  What goes wrong fails the test.

#ifndef TRUMPET_CONTROLLER_OVSDB_SWITCH_KIT_TEST_H
#define TRUMPET_CONTROLLER_OVSDB_SWITCH_KIT_TEST_H

#include <memory>
#include <string>
#include <vector>

#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {

class TestVswitch {
 public:
  // Its database only; Start() brings ovs-vswitchd up.
  TestVswitch();

  void Start();
  void Stop() { daemon_.reset(); }
  // As ovs-vsctl does it, waiting for ovs-vswitchd only if it runs.  The output without the last
  // newline.
  std::string Vsctl(std::vector<std::string> arguments) const;
  // A bridge that forwards nothing by itself.
  void AddBridge(const std::string& name) const;
  std::string Appctl(std::vector<std::string> arguments) const;

  OvsdbTestServer& database() { return database_; }

 private:
  std::vector<std::string> InFolder(const std::string& program) const;

  OvsdbTestServer database_;
  std::unique_ptr<TestProgram> daemon_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OVSDB_SWITCH_KIT_TEST_H
