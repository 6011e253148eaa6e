// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/tem_child.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "controller/store/memory_event_store.h"
#include "controller/tem/event_manager.h"
#include "lib/base/loop_event.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

struct BaseFree {
  void operator()(event_base* base) const { event_base_free(base); }
};

uint64_t KilobytesOf(const char* key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    uint64_t value = 0;
    if (word == key && status >> value) return value;
  }
  return 0;
}

class TemChild final : private ReportSubscriber {
 public:
  TemChild(const TemChildSockets& sockets, bool splits_thresholds)
      : base_(NewBase()),
        store_(base_.get(), 1),
        hub_(nullptr),
        poll_(base_.get(), [this] { LookWhetherApplied(); }) {
    EventManagerParts parts;
    parts.base = base_.get();
    parts.store = &store_;
    parts.reports = &hub_;
    parts.clock = &clock_;
    EventManagerOptions options;
    options.name = "bench";
    options.binds_hosts_to_certificates = false;
    if (!splits_thresholds) options.max_threshold_hosts = 0;
    manager_ = std::make_unique<EventManager>(parts, options);
    commands_ = Open(sockets.commands, OnCommands);
    reports_ = Open(sockets.reports, nullptr);
    hub_.Add(this);
  }
  ~TemChild() override {
    manager_.reset();
    bufferevent_free(commands_);
    bufferevent_free(reports_);
  }

  int Run(const TlsFiles& files) {
    auto tls = TlsContext::Load(files);
    if (!tls.ok()) return Fail(tls.message());
    const auto port = manager_->Listen({true, "127.0.0.1", 0}, tls->get());
    if (!port.ok()) return Fail(port.message());
    manager_->Start();
    Say(std::to_string(*port));
    event_base_loop(base_.get(), EVLOOP_NO_EXIT_ON_EMPTY);
    return 0;
  }

 private:
  static event_base* NewBase() {
    event_config* const config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_base* const base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
  }

  static int Fail(const std::string& text) {
    std::fprintf(stderr, "bench-tem: %s\n", text.c_str());
    return 1;
  }

  bufferevent* Open(int fd, bufferevent_data_cb read) {
    bufferevent* const stream = bufferevent_socket_new(base_.get(), fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(
        stream, read, nullptr,
        [](bufferevent*, short, void* self) {
          event_base_loopbreak(static_cast<TemChild*>(self)->base_.get());
        },
        this);
    bufferevent_enable(stream, EV_READ | EV_WRITE);
    return stream;
  }

  void Say(const std::string& line) {
    bufferevent_write(commands_, line.data(), line.size());
    bufferevent_write(commands_, "\n", 1);
  }

  void OnReports(const ReportRows& rows) override {
    evbuffer* const out = bufferevent_get_output(reports_);
    for (const auto& row : rows) {
      evbuffer_add(out, row->json.data(), row->json.size());
      evbuffer_add(out, "\n", 1);
    }
  }

  static void OnCommands(bufferevent* stream, void* self) {
    auto* const child = static_cast<TemChild*>(self);
    evbuffer* const input = bufferevent_get_input(stream);
    while (child->TakeCommand(input)) {
    }
  }

  bool TakeCommand(evbuffer* input) {
    const size_t bytes = evbuffer_get_length(input);
    if (document_bytes_ > 0) {
      if (bytes < document_bytes_) return false;
      std::string document(document_bytes_, '\0');
      evbuffer_remove(input, document.data(), document_bytes_);
      document_bytes_ = 0;
      Put(document);
      return true;
    }
    char* const text = evbuffer_readln(input, nullptr, EVBUFFER_EOL_LF);
    if (text == nullptr) return false;
    const std::string line(text);
    std::free(text);
    if (line.rfind("put ", 0) == 0) document_bytes_ = std::stoul(line.substr(4));
    if (line == "clear") Clear();
    if (line == "stats") Say(Stats());
    if (line == "end") event_base_loopbreak(base_.get());
    return true;
  }

  void Put(const std::string& document) {
    began_ = clock_.MonotonicNow();
    manager_->Put(document, DocumentFormat::kYaml, "bench", EventManager::IfThere::kReplace,
                  Caller(), [this](const Result<std::vector<EventRecord>>& records) {
                    if (!records.ok()) Fail(records.message());
                    stored_ = clock_.MonotonicNow();
                    poll_.RunAfter(kNanosPerMilli);
                  });
  }

  void Clear() {
    std::vector<std::string> names;
    for (const EventView& event : manager_->Events(Caller())) names.push_back(event.record.name);
    began_ = clock_.MonotonicNow();
    manager_->Remove(names, Caller(), [this](const Result<std::vector<EventRecord>>&) {
      stored_ = clock_.MonotonicNow();
      poll_.RunAfter(kNanosPerMilli);
    });
  }

  // Cheap enough to be asked every few milliseconds: it looks at hosts, not at events on hosts.
  void LookWhetherApplied() {
    if (!manager_->is_settled()) {
      poll_.RunAfter(5 * kNanosPerMilli);
      return;
    }
    const Nanos now = clock_.MonotonicNow();
    uint32_t least = UINT32_MAX;
    std::string mode;
    for (const EventView& event : manager_->Events(Caller())) {
      least = std::min(least, event.applied);
      mode = event.mode;
    }
    Say("{\"stored_ns\": " + std::to_string(stored_ - began_) +
        ", \"applied_ns\": " + std::to_string(now - began_) + ", \"mode\": \"" + mode +
        "\", \"least_applied\": " + std::to_string(least == UINT32_MAX ? 0 : least) + "}");
  }

  std::string Stats() const {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto nanos = [](const timeval& time) {
      return time.tv_sec * kNanosPerSecond + time.tv_usec * kNanosPerMicro;
    };
    const NetworkCounters counters = manager_->network_counters();
    const SessionCounters sessions = manager_->listener_counters().sessions;
    return "{\"cpu_ns\": " + std::to_string(nanos(usage.ru_utime) + nanos(usage.ru_stime)) +
           ", \"rss_kb\": " + std::to_string(KilobytesOf("VmRSS:")) +
           ", \"peak_rss_kb\": " + std::to_string(KilobytesOf("VmHWM:")) +
           ", \"hosts\": " + std::to_string(manager_->connected_hosts()) +
           ", \"reports\": " + std::to_string(hub_.last_number()) +
           ", \"intervals\": " + std::to_string(counters.intervals_decided) +
           ", \"incomplete\": " + std::to_string(counters.intervals_incomplete) +
           ", \"partials\": " + std::to_string(counters.partials) +
           ", \"late_partials\": " + std::to_string(counters.late_partials) +
           ", \"polls\": " + std::to_string(counters.polls) +
           ", \"bytes_received\": " + std::to_string(sessions.bytes_received) +
           ", \"bytes_sent\": " + std::to_string(sessions.bytes_sent) + "}";
  }

  std::unique_ptr<event_base, BaseFree> base_;
  SystemWireClock clock_;
  MemoryEventStore store_;
  ReportHub hub_;
  std::unique_ptr<EventManager> manager_;
  bufferevent* commands_ = nullptr;
  bufferevent* reports_ = nullptr;
  size_t document_bytes_ = 0;  // of the document that follows its command
  Nanos began_ = 0;
  Nanos stored_ = 0;
  LoopEvent poll_;
};

}  // namespace

int RunTemChild(const TemChildSockets& sockets, const TlsFiles& tls, bool splits_thresholds) {
  TemChild child(sockets, splits_thresholds);
  return child.Run(tls);
}

}  // namespace trumpet
