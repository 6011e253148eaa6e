// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/switch_kit_test.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace trumpet {
namespace {

// NAME='VALUE' lines that the build wrote down; tests run in its folder.
std::map<std::string, std::string> ReadPaths() {
  std::map<std::string, std::string> paths;
  std::ifstream file("vswitchd-plugin/ovs-env.sh");
  if (!file.is_open()) ADD_FAILURE() << "no vswitchd-plugin/ovs-env.sh: not in the build's folder";
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.find("='");
    if (equals != line.npos) {
      paths[line.substr(0, equals)] = line.substr(equals + 2, line.size() - equals - 3);
    }
  }
  return paths;
}

pid_t Spawn(const std::vector<std::string>& arguments, const std::string& log) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(out, 1);
  dup2(out, 2);
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  execv(list[0], list.data());
  _exit(127);
}

std::vector<std::string> Joined(std::vector<std::string> head,
                                const std::vector<std::string>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace

TestSwitch::TestSwitch() : paths_(ReadPaths()), database_("switch") {
  database_.CreateFrom(paths_["OVS_SCHEMA"]);
  database_.Start();
  setenv("OVS_RUNDIR", File("").c_str(), 1);
  setenv("OVS_SYSCONFDIR", File("").c_str(), 1);
  Vsctl({"--no-wait", "init"});
  Start();
}

TestSwitch::~TestSwitch() { Kill(); }

void TestSwitch::Start() {
  pid_ =
      Spawn({paths_["OVS_VSWITCHD_PLAIN"], database_.remote(), "--enable-dummy=override",
             "--disable-system", "--unixctl=" + File("vswitchd.ctl"), "--no-chdir", "-vconsole:off",
             "-vsyslog:off", "-vfile:info", "--log-file=" + File("vswitchd.log")},
            File("vswitchd.out"));
}

void TestSwitch::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void TestSwitch::Restart() {
  Kill();
  Start();
  Vsctl({"set", "Open_vSwitch", ".", "external_ids:restarted=1"});  // returns when it is up
}

std::string TestSwitch::Vsctl(std::vector<std::string> arguments) const {
  return RunProgram(
      Joined({paths_.at("OVS_VSCTL"), "--timeout=60", "--db=" + database_.remote()}, arguments));
}

void TestSwitch::Receive(const std::string& bridge, int count, const std::string& to,
                         uint8_t tos) const {
  std::vector<std::string> command = {"netdev-dummy/receive", bridge + "p1"};
  const std::string packet =
      "in_port(1),eth(src=50:54:00:00:00:09,dst=50:54:00:00:00:0a),eth_type(0x0800),"
      "ipv4(src=10.0.0.1,dst=" +
      to + ",proto=17,tos=" + std::to_string(tos) + ",ttl=64,frag=no),udp(src=1,dst=53)";
  command.insert(command.end(), static_cast<size_t>(count), packet);
  if (count > 0) Appctl(command);
}

std::vector<std::string> TestSwitch::FramesOf(const std::string& port) const {
  std::ifstream file(File(port + ".pcap"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> frames;
  for (size_t at = 24; at + 16 <= bytes.size();) {
    uint32_t size = 0;
    bytes.copy(reinterpret_cast<char*>(&size), sizeof size, at + 8);
    if (at + 16 + size > bytes.size()) break;  // being written
    frames.push_back(bytes.substr(at + 16, size));
    at += 16 + size;
  }
  return frames;
}

std::string TestSwitch::Appctl(std::vector<std::string> arguments) const {
  return RunProgram(Joined({paths_.at("OVS_APPCTL"), "-t", File("vswitchd.ctl")}, arguments));
}

std::string TestSwitch::Ofctl(std::vector<std::string> arguments,
                              const std::string& protocol) const {
  return RunProgram(Joined({paths_.at("OVS_OFCTL"), "-O", protocol}, arguments));
}

void TestSwitch::AddBridge(const std::string& name, int number, const std::string& protocols) {
  char id[17];
  std::snprintf(id, sizeof id, "%016x", static_cast<unsigned>(number));
  std::vector<std::string> arguments = {"add-br",
                                        name,
                                        "--",
                                        "set",
                                        "bridge",
                                        name,
                                        "datapath_type=dummy",
                                        "fail-mode=secure",
                                        "protocols=" + protocols,
                                        std::string("other_config:datapath-id=") + id};
  for (const char* port : {"1", "2"}) {
    const std::string device = name + "p" + port;
    arguments = Joined(arguments, {"--", "add-port", name, device, "--", "set", "interface", device,
                                   "type=dummy", std::string("ofport_request=") + port,
                                   "options:tx_pcap=" + File(device + ".pcap")});
  }
  Vsctl(arguments);
}

std::string TestSwitch::Flows(const std::string& bridge) const {
  std::istringstream dump(Ofctl({"--no-stats", "--no-names", "dump-flows", bridge}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(dump, line);) {
    if (line.find("OFPST_FLOW") == line.npos)
      lines.push_back(line.substr(line.find_first_not_of(' ')));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

TestNet::TestNet(OpenflowOptions options) {
  net_ = std::make_unique<OpenflowNet>(loop_.base(), std::move(options), clock_,
                                       [](const char*, const std::string&) {});
  const Result<uint16_t> port = net_->Listen({false, "127.0.0.1", 0}, nullptr);
  if (!port.ok()) ADD_FAILURE() << port.message();
  port_ = port.ok() ? *port : 0;
}

OpenflowSwitch* TestNet::Wait(uint64_t datapath_id) {
  const bool came = RunUntil([&] {
    const OpenflowSwitch* which = net_->Find(datapath_id);
    return which != nullptr && which->is_ready();
  });
  if (!came) ADD_FAILURE() << "the switch does not come";
  return net_->Find(datapath_id);
}

Status TestNet::Run(const std::function<void(OpenflowSwitch::Done)>& call) {
  // Shared with the call back, which may come after a failed test has gone on.
  auto answer = std::make_shared<std::optional<Status>>();
  call([answer](const Status& status) { *answer = status; });
  if (!RunUntil([&] { return answer->has_value(); })) return Status::Error("no answer");
  return **answer;
}

Status TestNet::Commit(OpenflowSwitch* which, OpenflowChange change) {
  return Run([&](OpenflowSwitch::Done done) { which->Commit(std::move(change), std::move(done)); });
}

uint16_t FreePort() {
  TestNet other;
  return other.port();
}

OpenflowRule FlowRule(const std::string& text, uint64_t number) {
  return {OpenflowRule::Kind::kFlow, text, kOpenflowCookie | number, true};
}

}  // namespace trumpet
