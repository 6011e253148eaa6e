// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/switch_kit_test.h"

#include <gtest/gtest.h>

#include <fstream>

namespace trumpet {
namespace {

// A path that the build wrote down (NAME='VALUE' lines).
std::string BuiltPath(const std::string& name) {
  std::ifstream file(TRUMPET_OVS_ENV);
  const std::string start = name + "='";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, start.size(), start) == 0) {
      return line.substr(start.size(), line.size() - start.size() - 1);
    }
  }
  ADD_FAILURE() << TRUMPET_OVS_ENV << " does not tell " << name;
  return "";
}

}  // namespace

TestVswitch::TestVswitch() {
  database_.CreateFrom(BuiltPath("OVS_SCHEMA"));
  database_.Start();
  Vsctl({"init"});
}

std::vector<std::string> TestVswitch::InFolder(const std::string& program) const {
  const std::string folder = database_.folder().File("");
  return {"env",
          "OVS_RUNDIR=" + folder,
          "OVS_LOGDIR=" + folder,
          "OVS_DBDIR=" + folder,
          "OVS_SYSCONFDIR=" + folder,
          BuiltPath(program)};
}

void TestVswitch::Start() {
  std::vector<std::string> arguments = InFolder("OVS_VSWITCHD_PLAIN");
  for (const std::string& more :
       {std::string("--enable-dummy=override"), std::string("--disable-system"),
        std::string("--no-chdir"), std::string("-vconsole:off"), std::string("-vsyslog:off"),
        "--unixctl=" + database_.folder().File("switch.ctl"),
        "--log-file=" + database_.folder().File("switch.log"), database_.remote()}) {
    arguments.push_back(more);
  }
  daemon_ = std::make_unique<TestProgram>(arguments);
}

std::string TestVswitch::Vsctl(std::vector<std::string> arguments) const {
  std::vector<std::string> all = InFolder("OVS_VSCTL");
  all.insert(all.end(), {"--db=" + database_.remote(), "--timeout=30"});
  if (daemon_ == nullptr) all.push_back("--no-wait");
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::string output = RunProgram(all);
  if (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

void TestVswitch::AddBridge(const std::string& name) const {
  Vsctl({"add-br", name, "--", "set", "bridge", name, "datapath_type=dummy", "fail-mode=secure"});
}

std::string TestVswitch::Appctl(std::vector<std::string> arguments) const {
  std::vector<std::string> all = InFolder("OVS_APPCTL");
  all.insert(all.end(), {"--timeout=30", "-t", database_.folder().File("switch.ctl")});
  all.insert(all.end(), arguments.begin(), arguments.end());
  return RunProgram(all);
}

}  // namespace trumpet
