// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_server_test.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace trumpet {
namespace {

// Daemons of a distribution are not in everybody's $PATH.
void ExtendPath() {
  static const bool once = [] {
    const char* path = std::getenv("PATH");
    setenv("PATH", (std::string(path == nullptr ? "" : path) + ":/usr/sbin:/usr/bin").c_str(), 1);
    return true;
  }();
  (void)once;
}

// In the child: never returns.  Ends with the test, however that ends.
void Become(const std::vector<std::string>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> list;
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  execvp(list[0], list.data());
  dprintf(2, "cannot run %s: %s; on Debian: apt-get install openvswitch-common\n", list[0],
          std::strerror(errno));
  _exit(127);
}

bool CanConnect(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const bool can = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return can;
}

// Wakes when files of a folder come or grow.
class FolderWatch {
 public:
  explicit FolderWatch(const std::string& folder) : fd_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (inotify_add_watch(fd_, folder.c_str(), IN_CREATE | IN_MODIFY) < 0) {
      ADD_FAILURE() << "cannot watch " << folder << ": " << std::strerror(errno);
    }
  }
  ~FolderWatch() { close(fd_); }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // False if nothing has happened there for half a minute, or the process has ended.
  bool Wait(pid_t process) {
    const int end = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    pollfd fds[2] = {{fd_, POLLIN, 0}, {end, POLLIN, 0}};
    const bool has_woken = poll(fds, 2, 30'000) > 0;
    char events[4096];
    while (read(fd_, events, sizeof events) > 0) {
    }
    if (end >= 0) close(end);
    return has_woken && fds[1].revents == 0;
  }

 private:
  const int fd_;
};

}  // namespace

const char kThingsSchema[] = R"({"name": "Things", "version": "1.0.0", "tables": {"Thing": {
  "isRoot": true, "indexes": [["name"]], "columns": {
    "name": {"type": "string"},
    "size": {"type": "integer"},
    "tags": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}}}}}})";

OvsdbTestFolder::OvsdbTestFolder() {
  char path[] = "/tmp/trumpet-ovsdb-XXXXXX";
  path_ = mkdtemp(path) == nullptr ? "" : path;
  if (path_.empty()) ADD_FAILURE() << "cannot make a folder under /tmp";
}

OvsdbTestFolder::~OvsdbTestFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

void WriteTestFile(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string RunProgram(const std::vector<std::string>& arguments) {
  ExtendPath();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    Become(arguments);
  }
  close(ends[1]);
  std::string output;
  char bytes[4096];
  for (ssize_t size; (size = read(ends[0], bytes, sizeof bytes)) > 0;) {
    output.append(bytes, static_cast<size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) ADD_FAILURE() << arguments[0] << " failed: " << output;
  return output;
}

TestProgram::TestProgram(const std::vector<std::string>& arguments) {
  ExtendPath();
  pid_ = fork();
  if (pid_ == 0) Become(arguments);
}

TestProgram::~TestProgram() {
  if (pid_ > 0) Kill(SIGKILL);
}

void TestProgram::Kill(int signal) {
  kill(pid_, signal);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

OvsdbTestServer::OvsdbTestServer(const std::string& name) : name_(name) {}

OvsdbTestServer::~OvsdbTestServer() {
  if (pid_ > 0) Kill(SIGKILL);
}

void OvsdbTestServer::CreateFrom(const std::string& schema_file) {
  RunProgram({"ovsdb-tool", "create", database_file(), schema_file});
}

void OvsdbTestServer::Create(const std::string& schema) {
  WriteTestFile(folder_.File("schema"), schema);
  CreateFrom(folder_.File("schema"));
}

void OvsdbTestServer::CreateCluster(const std::string& schema) {
  WriteTestFile(folder_.File("schema"), schema);
  RunProgram(
      {"ovsdb-tool", "create-cluster", database_file(), folder_.File("schema"), raft_address()});
}

void OvsdbTestServer::JoinCluster(const std::string& database, const OvsdbTestServer& other) {
  RunProgram({"ovsdb-tool", "join-cluster", database_file(), database, raft_address(),
              other.raft_address()});
}

std::string OvsdbTestServer::Log() const {
  std::ifstream file(folder_.File("log"));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void OvsdbTestServer::Start(const std::vector<std::string>& more_arguments) {
  ExtendPath();
  std::vector<std::string> arguments = {"ovsdb-server",
                                        "--remote=p" + remote(),
                                        "--unixctl=" + control_socket(),
                                        "--no-chdir",
                                        "-vconsole:off",
                                        "-vsyslog:off",
                                        "-vfile:info",
                                        "--log-file=" + folder_.File("log")};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  arguments.push_back(database_file());
  // Before the server is there, so that nothing is missed; it makes its control socket when it
  // listens already.
  FolderWatch watch(folder_.File(""));
  pid_ = fork();
  if (pid_ == 0) Become(arguments);
  while (!CanConnect(folder_.File("db.sock"))) {
    if (watch.Wait(pid_)) continue;
    ADD_FAILURE() << "ovsdb-server " << name_ << " did not come up";
    return;
  }
}

void OvsdbTestServer::Signal(int signal) { kill(pid_, signal); }

void OvsdbTestServer::Kill(int signal) {
  kill(pid_, signal);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string OvsdbTestServer::Transact(const std::string& operations) const {
  return RunProgram({"ovsdb-client", "--timeout=30", "transact", remote(), operations});
}

bool OvsdbTestLoop::RunUntil(const std::function<bool()>& done) {
  bool is_late = false;
  LoopEvent alarm(base(), [&] { is_late = true; });
  alarm.RunAfter(60 * kNanosPerSecond);
  LoopEvent look(base(), [] {});  // what other processes do wakes no loop
  look.RunEvery(10 * kNanosPerMilli);
  while (!done() && !is_late) event_base_loop(base(), EVLOOP_ONCE);
  return done();
}

void OvsdbTestLoop::RunFor(Nanos time) {
  bool is_over = false;
  LoopEvent alarm(base(), [&] { is_over = true; });
  alarm.RunAfter(time);
  while (!is_over) event_base_loop(base(), EVLOOP_ONCE);
}

OvsdbClientOptions TestClientOptions(const std::string& remotes, const std::string& database) {
  OvsdbClientOptions options;
  options.remotes = *ParseOvsdbRemotes(remotes);
  options.database = database;
  options.first_backoff = 10 * kNanosPerMilli;
  options.longest_backoff = 100 * kNanosPerMilli;
  return options;
}

}  // namespace trumpet
