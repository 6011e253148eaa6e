// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/command_relay.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace trumpet {

CommandRelay::CommandRelay(event_base* base, std::function<void()> wake,
                           std::function<void()> figures)
    : wake_(std::move(wake)),
      figures_(std::move(figures)),
      doorbell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      event_(event_new(base, doorbell_, EV_READ | EV_PERSIST, RunAll, this)),
      last_(std::string()) {
  event_add(event_, nullptr);
}

CommandRelay::~CommandRelay() {
  for (auto& [request, may_answer] : running_) *may_answer = false;
  event_free(event_);
  close(doorbell_);
}

void CommandRelay::Add(const std::string& name, CommandHandler handler) {
  handlers_[name] = std::move(handler);
}

void CommandRelay::Receive(void* request, std::string name, CommandArguments arguments) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (is_closed_) {
    answers_.push_back({request, last_});
    return;
  }
  commands_.push_back({request, std::move(name), std::move(arguments)});
  Ring();
}

void CommandRelay::AskFigures() {
  std::lock_guard<std::mutex> lock(mutex_);
  wants_figures_ = true;
  Ring();
}

void CommandRelay::Ring() const {
  // Full is as good as rung.
  if (eventfd_write(doorbell_, 1) != 0) return;
}

std::optional<CommandRelay::Answer> CommandRelay::NextAnswer() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (answers_.empty()) return std::nullopt;
  Answer answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

void CommandRelay::RunAll(int /*fd*/, short /*what*/, void* self) {
  auto* relay = static_cast<CommandRelay*>(self);
  std::deque<Command> commands;
  bool wants_figures = false;
  {
    std::lock_guard<std::mutex> lock(relay->mutex_);
    eventfd_t rings;
    eventfd_read(relay->doorbell_, &rings);
    commands.swap(relay->commands_);
    std::swap(wants_figures, relay->wants_figures_);
  }
  for (Command& command : commands) relay->Run(std::move(command));
  if (wants_figures) relay->figures_();
}

void CommandRelay::Run(Command command) {
  const auto handler = handlers_.find(command.name);
  if (handler == handlers_.end()) {
    Finish(command.request, Status::Error(command.name + " is not a command"));
    return;
  }
  auto may_answer = std::make_shared<bool>(true);
  running_[command.request] = may_answer;
  handler->second(command.arguments,
                  [this, may_answer, request = command.request](Result<std::string> text) {
                    if (!*may_answer) return;
                    *may_answer = false;
                    running_.erase(request);
                    Finish(request, std::move(text));
                  });
}

void CommandRelay::Finish(void* request, Result<std::string> text) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    answers_.push_back({request, std::move(text)});
  }
  wake_();
}

void CommandRelay::Close(const Result<std::string>& last) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_closed_ = true;
    last_ = last;
    for (const Command& command : commands_) answers_.push_back({command.request, last});
    commands_.clear();
    for (auto& [request, may_answer] : running_) {
      *may_answer = false;
      answers_.push_back({request, last});
    }
    running_.clear();
  }
  wake_();
}

}  // namespace trumpet
