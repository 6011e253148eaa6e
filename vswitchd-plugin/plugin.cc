// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/plugin.h"

#include <openssl/ssl.h>
#include <sys/random.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "vswitchd-plugin/database_remote.h"
#include "vswitchd-plugin/glue.h"

namespace trumpet {
namespace {

// What an attacker who sends packets must not know.  Without entropy the address of something on
// the heap has to do.
uint64_t RandomSeed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof seed)) {
    return seed;
  }
  const auto anywhere = std::make_unique<int>();
  const ClockReading now = ReadSystemClocks();
  return reinterpret_cast<uintptr_t>(anywhere.get()) * 0x9e3779b97f4a7c15u ^
         static_cast<uint64_t>(now.wall_ns) ^ static_cast<uint64_t>(now.monotonic_ns) << 32;
}

}  // namespace

Plugin::Plugin(const trumpet_host* ops, AgentParts parts)
    : host_(ops),
      carriers_(&host_, &ports_),
      agent_(Complete(std::move(parts))),
      commands_(&host_, &events_, &ports_, &reports_, &agent_) {}

AgentParts Plugin::Complete(AgentParts parts) {
  parts.host = &host_;
  parts.events = &events_;
  parts.ports = &ports_;
  parts.reports = &reports_;
  parts.carriers = &carriers_;
  if (parts.hash_seed == 0) parts.hash_seed = RandomSeed();
  const char* const database = host_.ops().database;
  if (parts.database.empty() && database != nullptr) {
    parts.database = DatabaseRemote(ProcessArguments(), database);
  }
  return parts;
}

void Plugin::SetConfig(const ConfigPairs& pairs) {
  SettingsResult read = ReadSettings(pairs);
  for (const std::string& complaint : read.complaints) {
    if (complaints_.count(complaint) == 0) host_.Warn(complaint);
  }
  complaints_ = std::set<std::string>(read.complaints.begin(), read.complaints.end());

  const Settings& settings = read.settings;
  carriers_.Configure(settings.carriers, settings.carrier_key);
  const bool is_first = !settings_.has_value();
  const bool was_enabled = !is_first && settings_->enable;
  if (!is_first && *settings_ == settings && agent_.has_thread()) return;
  if (!agent_.Configure(settings)) return;  // said so; tried again with the next configuration
  std::set<std::string> waiting;
  const AgentStatus agent = agent_.Snapshot();
  if (agent.sizes_are_fixed) {
    for (std::string& key : ChangesAtNextStart(agent.in_force, settings)) {
      if (waiting_.count(key) == 0) host_.Info(key + " changes at the next start of the switch");
      waiting.insert(std::move(key));
    }
  }
  waiting_ = std::move(waiting);
  // Only a change of the key overrides the commands trumpet/enable and trumpet/disable.
  if (settings.enable != was_enabled) {
    host_.Info(settings.enable ? "switched on by trumpet-enable"
                               : "switched off by trumpet-enable");
    agent_.SetEnabled(settings.enable);
  }
  // Last: what found no memory is done with the next configuration.
  settings_ = std::move(read.settings);
}

void Plugin::UpdatePort(uint32_t number, const char* name, const char* type, bool added) {
  if (added) {
    ports_.Add(number, name, type);
    carriers_.Refresh();
  } else {
    ports_.Remove(number);
    carriers_.Remove(number);
  }
  agent_.Wake();
}

Result<std::string> Plugin::RunCommand(const std::string& name,
                                       std::vector<std::string> arguments) {
  return commands_.Run(name, std::move(arguments));
}

}  // namespace trumpet

// --- glue.h ------------------------------------------------------------------

namespace {

using trumpet::Plugin;
using trumpet::ThreadMonitor;

// The one plug-in of the process, never destroyed: packet threads may still run at exit.
Plugin* the_plugin = nullptr;
const trumpet_host* the_host = nullptr;

// Runs `work`; whatever the libraries below throw ends here, because it must not reach the switch.
template <typename Work>
bool Guarded(const char* doing, const Work& work) noexcept {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    the_host->log(TRUMPET_LOG_ERROR, doing);
    the_host->log(TRUMPET_LOG_ERROR, error.what());
  } catch (...) {
    the_host->log(TRUMPET_LOG_ERROR, doing);
  }
  return false;
}

// What is registered last for exit() runs first: the agent's thread must end before OpenSSL takes
// down what its sessions use.
void EndBeforeOpenSsl() {
  static bool is_done = false;
  if (std::exchange(is_done, true)) return;
  OPENSSL_init_ssl(0, nullptr);
  std::atexit([] { trumpet_plugin_exit(); });
}

}  // namespace

extern "C" {

bool trumpet_plugin_init(const struct trumpet_host* host) noexcept {
  the_host = host;
  return Guarded("setting up the packet monitor failed", [host] {
    auto plugin = std::make_unique<Plugin>(host);
    plugin->RegisterCommands();
    the_plugin = plugin.release();
  });
}

void trumpet_plugin_exit(void) noexcept {
  Guarded("stopping the packet monitor failed", [] {
    if (the_plugin != nullptr) the_plugin->agent().Stop();
  });
}

void* trumpet_thread_init(const struct trumpet_thread_info* info) noexcept {
  void* state = nullptr;
  Guarded("a packet thread is not monitored",
          [&] { state = the_plugin->agent().AddThread(*info); });
  return state;
}

void trumpet_thread_uninit(void* state) noexcept {
  Guarded("a packet thread could not be taken leave of",
          [&] { the_plugin->agent().RemoveThread(static_cast<ThreadMonitor*>(state)); });
}

bool trumpet_rx_batch(void* state, const struct trumpet_frame* frames, size_t count,
                      uint16_t queue_length, uint32_t in_port, int64_t now_us,
                      uint32_t* marks) noexcept {
  return static_cast<ThreadMonitor*>(state)->OnReceive(frames, count, in_port, now_us, marks,
                                                       queue_length);
}

bool trumpet_wants_sent(void* state) noexcept {
  return static_cast<ThreadMonitor*>(state)->wants_sent();
}

bool trumpet_wants_queue_length(void* state) noexcept {
  return static_cast<ThreadMonitor*>(state)->wants_queue_length();
}

void trumpet_tx_batch(void* state, struct trumpet_sent_frame* frames, size_t count,
                      uint32_t out_port, int64_t now_us) noexcept {
  static_cast<ThreadMonitor*>(state)->OnSend(frames, count, out_port, now_us);
}

uint32_t trumpet_carrier_mtu(uint32_t port) noexcept { return the_plugin->carriers().Mtu(port); }

uint32_t trumpet_take_carried(uint8_t* bytes, uint32_t length,
                              struct trumpet_carried* carried) noexcept {
  return the_plugin->carriers().Take({bytes, length}, carried);
}

bool trumpet_needs_shims(const struct trumpet_sent_frame* frame) noexcept {
  return the_plugin->carriers().NeedsShims(*frame);
}

struct trumpet_shims trumpet_put_carried(const struct trumpet_sent_frame* frame) noexcept {
  return the_plugin->carriers().Put(*frame);
}

void trumpet_refresh_carriers(void) noexcept {
  Guarded("the MTUs of carriers are not known", [] { the_plugin->carriers().Refresh(); });
}

void trumpet_idle(void* state, int64_t now_us) noexcept {
  static_cast<ThreadMonitor*>(state)->OnIdle(now_us);
}

int64_t trumpet_next_wakeup_us(void* state) noexcept {
  return static_cast<ThreadMonitor*>(state)->NextWakeupUs();
}

void trumpet_set_config(const char* const* keys, const char* const* values, size_t count) noexcept {
  Guarded("the packet monitor keeps its settings", [&] {
    trumpet::ConfigPairs pairs;
    for (size_t i = 0; i < count; ++i) pairs.emplace_back(keys[i], values[i]);
    if (!trumpet::ReadSettings(pairs).settings.controller.empty()) EndBeforeOpenSsl();
    the_plugin->SetConfig(pairs);
  });
}

void trumpet_port_update(uint32_t port, const char* name, const char* type, bool added) noexcept {
  Guarded("the packet monitor missed a port",
          [&] { the_plugin->UpdatePort(port, name, type, added); });
}

bool trumpet_command(int argc, const char* const* argv, char** reply) noexcept {
  *reply = nullptr;
  bool is_ok = false;
  Guarded("a command of the packet monitor failed", [&] {
    const auto answer =
        the_plugin->RunCommand(argv[0], std::vector<std::string>(argv + 1, argv + argc));
    *reply = strdup((answer.ok() ? *answer : answer.message()).c_str());
    is_ok = answer.ok() && *reply != nullptr;
  });
  return is_ok;
}

}  // extern "C"
