// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/daemon.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "controller/daemon/service_manager.h"

namespace trumpet {
namespace {

std::string UsageOf(const DaemonProgram& program) {
  std::string text = program.synopsis + "\nOptions of this program:\n";
  for (const DaemonOption& option : program.options) {
    std::string name = "  --" + option.name + (option.value.empty() ? "" : "=" + option.value);
    name.resize(std::max<size_t>(name.size() + 1, 28), ' ');
    text += name + option.help + "\n";
  }
  return text;
}

trumpet_log_level LevelOf(const char* level) {
  if (strcmp(level, "err") == 0) return TRUMPET_LOG_ERROR;
  if (strcmp(level, "warn") == 0) return TRUMPET_LOG_WARNING;
  return strcmp(level, "dbg") == 0 ? TRUMPET_LOG_DEBUG : TRUMPET_LOG_INFO;
}

void ReceiveCommand(void* relay, void* request, int argc, const char* const* argv) {
  static_cast<CommandRelay*>(relay)->Receive(request, argv[0],
                                             CommandArguments(argv + 1, argv + argc));
}

bool NextAnswer(void* relay, void** request, bool* is_error, char** text) {
  const auto answer = static_cast<CommandRelay*>(relay)->NextAnswer();
  if (!answer) return false;
  *request = answer->request;
  *is_error = !answer->text.ok();
  *text = strdup(answer->text.ok() ? answer->text->c_str() : answer->text.message().c_str());
  return true;
}

void WantFigures(void* relay) { static_cast<CommandRelay*>(relay)->AskFigures(); }

std::string FromEnvironment(const char* name, const std::string& otherwise) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

}  // namespace

Daemon::Daemon(int argc, char** argv, const DaemonProgram& program) {
  struct Found {
    const DaemonProgram* program;
    std::map<std::string, std::string>* options;
  } found{&program, &options_};
  std::vector<trumpet_option> options;
  for (const DaemonOption& option : program.options) {
    options.push_back({option.name.c_str(), !option.value.empty()});
  }
  const int first = trumpet_daemon_parse(
      argc, argv, TRUMPET_VERSION, UsageOf(program).c_str(), options.data(), options.size(),
      [](void* aux, size_t index, const char* value) {
        auto* to = static_cast<Found*>(aux);
        (*to->options)[to->program->options[index].name] = value != nullptr ? value : "";
      },
      &found);
  arguments_.assign(argv + first, argv + argc);
}

Daemon::~Daemon() { Stop(); }

DaemonDirectories Daemon::directories() {
  DaemonDirectories directories;
  directories.config =
      FromEnvironment("TRUMPET_SYSCONFDIR", std::string(trumpet_daemon_sysconfdir()) + "/trumpet");
  directories.state = FromEnvironment("TRUMPET_STATEDIR", TRUMPET_DEFAULT_STATEDIR);
  directories.run = trumpet_daemon_rundir();
  directories.log = trumpet_daemon_logdir();
  return directories;
}

void Daemon::Start() { trumpet_daemon_start(); }

void Daemon::Add(DaemonCommand command) { commands_.push_back(std::move(command)); }

Status Daemon::Serve(event_base* base) {
  relay_ = std::make_unique<CommandRelay>(base, trumpet_daemon_wake, [this] { TellFigures(); });
  commands_.push_back({"exit", "", 0, 0, [this](const CommandArguments&, const CommandReply&) {
                         if (leave_) leave_();
                       }});
  for (DaemonCommand& command : commands_) {
    trumpet_daemon_command(command.name.c_str(), command.usage.c_str(), command.min_args,
                           command.max_args);
    relay_->Add(command.name, std::move(command.handler));
  }
  commands_.clear();
  const trumpet_control control{relay_.get(), ReceiveCommand, NextAnswer, WantFigures};
  if (trumpet_daemon_serve(&control)) return Status::Ok();
  relay_.reset();
  return Status::Error("the control socket could not be opened");
}

void Daemon::TellFigures() const {
  const DaemonFigures figures = figures_ ? figures_() : DaemonFigures();
  std::vector<const char*> names;
  std::vector<unsigned> values;
  for (const auto& [name, value] : figures.memory_usage) {
    names.push_back(name.c_str());
    values.push_back(value);
  }
  trumpet_daemon_figures(figures.totals.data(), names.data(), values.data(), names.size());
}

void Daemon::Ready() {
  trumpet_daemon_ready();
  (void)TellServiceManager("READY=1");
}

void Daemon::Stop() {
  if (!relay_) return;
  (void)TellServiceManager("STOPPING=1");
  relay_->Close(std::string());
  trumpet_daemon_end();
  relay_.reset();
}

void Daemon::Log(trumpet_log_module module, const char* level, const std::string& text) {
  trumpet_daemon_log(module, LevelOf(level), text.c_str());
}

LogFunction Daemon::Logger(trumpet_log_module module) {
  return [module](const char* level, const std::string& text) { Log(module, level, text); };
}

}  // namespace trumpet
