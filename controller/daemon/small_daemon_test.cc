// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The daemon side of the controller without the controller, for control_socket_test.py: commands
// that answer at once, later, with an error, or never.

#include <event2/event.h>

#include <memory>

#include "controller/daemon/daemon.h"

namespace trumpet {
namespace {

// Holds the answers that have to wait.
struct Waiting {
  std::vector<CommandReply> replies;
};

void AddCommands(Daemon* daemon, Waiting* waiting) {
  daemon->Add({"test/echo", "[TEXT]...", 0, 9,
               [](const CommandArguments& arguments, const CommandReply& reply) {
                 std::string text;
                 for (const std::string& argument : arguments) text += argument + "\n";
                 reply(text);
               }});
  daemon->Add(
      {"test/fail", "TEXT", 1, 1, [](const CommandArguments& arguments, const CommandReply& reply) {
         reply(Status::Error(arguments[0]));
       }});
  daemon->Add({"test/wait", "", 0, 0, [waiting](const CommandArguments&, CommandReply reply) {
                 waiting->replies.push_back(std::move(reply));
               }});
  daemon->Add({"test/release", "TEXT", 1, 1,
               [waiting](const CommandArguments& arguments, const CommandReply& reply) {
                 for (const CommandReply& other : waiting->replies) other(arguments[0]);
                 reply(std::to_string(waiting->replies.size()));
                 waiting->replies.clear();
               }});
  daemon->Add({"test/log", "LEVEL TEXT", 2, 2,
               [](const CommandArguments& arguments, const CommandReply& reply) {
                 Daemon::Log(TRUMPET_LOG_TEM, arguments[0].c_str(), arguments[1]);
                 reply(std::string());
               }});
}

int Main(int argc, char** argv) {
  Daemon daemon(argc, argv,
                {"small_daemon: answers commands\nusage: small_daemon [OPTION]...\n",
                 {{"greeting", "TEXT", "what test/greeting answers"}}});
  daemon.Start();
  event_base* base = event_base_new();
  Waiting waiting;
  unsigned asked = 0;
  AddCommands(&daemon, &waiting);
  daemon.Add(
      {"test/greeting", "", 0, 0, [&daemon](const CommandArguments&, const CommandReply& reply) {
         const auto found = daemon.options().find("greeting");
         reply(found == daemon.options().end() ? "hello" : found->second);
       }});
  daemon.OnExit([base] { event_base_loopexit(base, nullptr); });
  daemon.OnFigures([&asked] {
    DaemonFigures figures;
    figures.totals[TRUMPET_COUNTER_reports] = 1000;
    figures.memory_usage = {{"events", 12}, {"asked", ++asked}};
    return figures;
  });
  const Status served = daemon.Serve(base);
  if (!served) return 1;
  daemon.Ready();
  event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
  daemon.Stop();
  event_base_free(base);
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
