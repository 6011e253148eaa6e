// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/tem_daemon.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace trumpet {
namespace {

std::string FromEnvironment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

[[noreturn]] void Give(const std::string& text) {
  std::fprintf(stderr, "bench-tem: %s\n", text.c_str());
  std::exit(1);
}

// In the child: never returns.  Ends with the bench, however that ends.
[[noreturn]] void Become(const std::vector<std::string>& arguments, const std::string& log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(out, 1);
  dup2(out, 2);
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  execv(list[0], list.data());
  _exit(127);
}

}  // namespace

TemDaemon::TemDaemon(const TemDaemonOptions& options)
    : hosts_ca_(&folder_, "switch"),
      controllers_ca_(&folder_, "controller"),
      host_files_(hosts_ca_.Issue("host", "host", controllers_ca_)),
      own_files_(controllers_ca_.Issue("tem", "tem", hosts_ca_)),
      database_("Trumpet") {
  database_.CreateFrom(FromEnvironment("top_srcdir", ".") + "/controller/store/trumpet.ovsschema");
  database_.Start();
  WriteConfig(options);
  Start();
}

TemDaemon::~TemDaemon() {
  if (pid_ > 0) Kill();
}

void TemDaemon::WriteConfig(const TemDaemonOptions& options) const {
  const std::string reports = options.keeps_reports ? folder_.File("reports.db") : "";
  WriteFile(folder_.File("controller.yaml"),
            "name: bench\n"
            "database: " +
                database_.remote() +
                "\n"
                "agents:\n"
                "  private_key: " +
                own_files_.private_key +
                "\n"
                "  certificate: " +
                own_files_.certificate +
                "\n"
                "  ca_certificate: " +
                own_files_.ca_certificate +
                "\n"
                "  check_certificates: no\n"  // all hosts have the same one
                "events:\n"
                "  threshold_hosts: " +
                std::to_string(options.threshold_hosts) +
                "\n"
                "  report_rate: 1000000\n"
                "  max_per_tenant: 4096\n"
                "reports:\n"
                "  database: '" +
                reports +
                "'\n"
                "  max_size: " +
                std::to_string(options.max_report_mb) +
                "MB\n"
                "rest:\n"
                "  trust_loopback: yes\n");
}

void TemDaemon::Start() {
  const std::string program =
      FromEnvironment("top_builddir", ".") + "/controller/daemon/trumpet-controller";
  if (access(program.c_str(), X_OK) != 0) Give(program + " is not there; build it first");
  const std::string ports_file = folder_.File("ports.json");
  unlink(ports_file.c_str());
  const std::vector<std::string> arguments = {
      program,
      "-vconsole:warn",
      "-vsyslog:off",
      "--config=" + folder_.File("controller.yaml"),
      "--agents=pssl:" + std::to_string(agent_port_) + ":127.0.0.1",
      "--rest=ptcp:" + std::to_string(rest_port_) + ":127.0.0.1",
      "--unixctl=" + folder_.File("ctl"),
      "--ports-file=" + ports_file};
  pid_ = fork();
  if (pid_ == 0) Become(arguments, folder_.File("log"));
}

void TemDaemon::Kill() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool TemDaemon::IsReady() {
  std::ifstream file(folder_.File("ports.json"));
  std::string line;
  if (std::getline(file, line) && !file.eof()) {
    const auto ports = nlohmann::json::parse(line);
    agent_port_ = ports["agents"][0];
    rest_port_ = ports["rest"][0];
    return true;
  }
  if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
    Give("trumpet-controller has ended: " + ReadFile(folder_.File("log")));
  }
  return false;
}

Nanos TemDaemon::cpu() const {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

double TemDaemon::MemoryMb(const std::string& key) const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word) {
    if (word == key + ":") status >> kilobytes;
  }
  return kilobytes / 1024;
}

}  // namespace trumpet
