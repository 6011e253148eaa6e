// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CommandRelay: carries commands from the thread of the control socket to the libevent loop, and
// their answers back, at once or later.
//
// Threads: the control thread calls Receive(), NextAnswer() and AskFigures(); the loop's thread all
// else, answers included.  A command is run by the loop, never within Receive().
// Memory: the control socket takes one command a connection, so what waits is bounded by those.
// Lifetime: answers that come after Close(), or after the relay's end, are dropped.

#ifndef TRUMPET_CONTROLLER_DAEMON_COMMAND_RELAY_H
#define TRUMPET_CONTROLLER_DAEMON_COMMAND_RELAY_H

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/status.h"

struct event;
struct event_base;

namespace trumpet {

using CommandArguments = std::vector<std::string>;  // without the command's name
using CommandReply = std::function<void(Result<std::string>)>;
// Answers by calling `reply` once, within the call or later.
using CommandHandler = std::function<void(const CommandArguments& arguments, CommandReply reply)>;

class CommandRelay {
 public:
  struct Answer {
    void* request = nullptr;
    Result<std::string> text;
  };

  // `wake` is called from the loop's thread when an answer waits; `figures` when figures are
  // wanted.
  CommandRelay(event_base* base, std::function<void()> wake, std::function<void()> figures);
  ~CommandRelay();
  CommandRelay(const CommandRelay&) = delete;
  CommandRelay& operator=(const CommandRelay&) = delete;

  // Before the first Receive().
  void Add(const std::string& name, CommandHandler handler);

  void Receive(void* request, std::string name, CommandArguments arguments);
  void AskFigures();
  std::optional<Answer> NextAnswer();

  // Answers every command that is under way with `last`; none is run from then on.
  void Close(const Result<std::string>& last);

 private:
  struct Command {
    void* request = nullptr;
    std::string name;
    CommandArguments arguments;
  };

  static void RunAll(int fd, short what, void* relay);
  void Run(Command command);
  void Finish(void* request, Result<std::string> text);
  void Ring() const;

  const std::function<void()> wake_;
  const std::function<void()> figures_;
  std::map<std::string, CommandHandler> handlers_;
  const int doorbell_;  // eventfd
  event* const event_;
  std::map<void*, std::shared_ptr<bool>> running_;  // by request: may it still be answered?

  std::mutex mutex_;
  std::deque<Command> commands_;
  std::deque<Answer> answers_;
  bool wants_figures_ = false;
  bool is_closed_ = false;
  Result<std::string> last_;  // once closed
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_COMMAND_RELAY_H
