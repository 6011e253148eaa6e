// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// bench-tem: what the event manager does in how long, with the hosts of a network on one machine.
//
// Two processes: one is the event manager, as trumpet-controller has it; this one is all the hosts,
// each with a session over TLS on loopback, and a subscriber that reads reports from a socket.
// What each of the two took of the processors is told beside every figure.
//
// usage: bench-tem [--quick] [--json FILE] [CASE...]

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/lang/event/event_language.h"
#include "lib/model/bucket_key.h"
#include "lib/verdict/event_feed.h"
#include "lib/verdict/trigger_plan.h"
#include "lib/wire/connector.h"
#include "lib/wire/test_certificates_test.h"
#include "lib/wire/wire_clock.h"
#include "tests/bench/tem_child.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

struct BaseFree {
  void operator()(event_base* base) const { event_base_free(base); }
};

event_base* NewBase() {
  event_config* const config = event_config_new();
  event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
  event_base* const base = event_base_new_with_config(config);
  event_config_free(config);
  return base;
}

Nanos OwnCpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto nanos = [](const timeval& time) {
    return time.tv_sec * kNanosPerSecond + time.tv_usec * kNanosPerMicro;
  };
  return nanos(usage.ru_utime) + nanos(usage.ru_stime);
}

double Millis(Nanos span) { return static_cast<double>(span) / kNanosPerMilli; }

// A host: acknowledges whatever it is sent, keeps the feeds of events of the network, and says what
// it is told to have counted.
class BenchHost final : public SessionOwner, private FeedSink {
 public:
  BenchHost(event_base* base, const WireClock& clock, size_t number, const Address& address,
            TlsContext* tls)
      : clock_(clock), number_(number) {
    ConnectorOptions options;
    options.seed = number + 1;
    auto connector = Connector::Connect(base, address, tls, options, clock, this);
    if (!connector.ok()) {
      std::fprintf(stderr, "bench-tem: %s\n", connector.message().c_str());
      std::exit(1);
    }
    connector_ = std::move(*connector);
  }

  bool is_connected() const { return session_ != nullptr; }
  size_t event_count() const { return triggers_.size(); }
  const Trigger* trigger() const {
    return triggers_.empty() ? nullptr : &triggers_.begin()->second.trigger;
  }

  // Counts `value` packets' worth in each of `keys` in the interval from `start` on.
  void Count(const std::vector<std::string>& keys, const std::vector<uint64_t>& values,
             Nanos start) {
    Running& one = triggers_.begin()->second;
    if (one.feed == nullptr) return;
    const TriggerPlan& plan = one.feed->plan();
    std::vector<uint64_t> words(plan.word_count);
    PartialView view;
    view.event_id = plan.spec.id;
    view.epoch_start = start;
    view.epoch_end = start + plan.spec.interval_ns();
    view.words = words.data();
    for (size_t i = 0; i < keys.size(); ++i) {
      ResetCells(plan.cells, words.data());
      for (const CellSpec& cell : plan.cells) {
        words[cell.offset] = cell.kind == CellKind::kCount ? 10 : values[i];
      }
      view.bucket_key = keys[i];
      one.feed->Add(view);
    }
  }

  // The interval has ended: all of it goes out.
  void End(Nanos until) {
    if (session_ == nullptr) return;
    for (auto& [id, one] : triggers_) {
      if (one.feed == nullptr) continue;
      partials_ = Partials();
      partials_.event_id = id;
      partials_.words_per_bucket = one.feed->plan().word_count;
      one.feed->Close(until, this);
      if (partials_.bucket_count() > 0) Send(partials_);
    }
    IntervalEnd end;
    end.until_ns = until;
    Send(end);
  }

  void SendReport(const std::string& key, Nanos start, Nanos end) {
    HostReport report;
    report.report.event_id = triggers_.begin()->first;
    report.report.bucket_key = key;
    report.report.start_ns = start;
    report.report.end_ns = end;
    report.report.value = Number::Integer(7);
    report.report.threshold = Number::Integer(5);
    report.report.detected_ns = clock_.UnixNow();
    Send(report);
  }
  size_t queued_bytes() const { return session_ == nullptr ? 0 : session_->queued_bytes(); }

 private:
  struct Running {
    Trigger trigger;
    std::unique_ptr<EventFeed> feed;
  };

  Hello MakeHello() override {
    Hello hello;
    hello.host_id = "host-" + std::to_string(number_);
    hello.capabilities = kCapabilityPartials | kCapabilityPoll | kCapabilityPlace;
    hello.process_start_ns = 1;
    return hello;
  }
  void OnEstablished(Session* session) override { session_ = session; }
  void OnClosed(Session* /*session*/, CloseCause cause, const std::string& text) override {
    session_ = nullptr;
    if (is_over) return;
    std::fprintf(stderr, "bench-tem: host %zu has lost its session: %s %s\n", number_,
                 CloseCauseName(cause), text.c_str());
  }
  void OnMessage(Session* /*session*/, Message message) override {
    if (auto* set = std::get_if<TriggerSet>(&message)) Take(std::move(*set));
    if (const auto* poll = std::get_if<Poll>(&message)) Answer(*poll);
  }

  void Take(TriggerSet set) {
    if (set.part == 0) {
      ack_ = TriggerAck();
      if (set.base_generation == 0) triggers_.clear();
    }
    ack_.generation = set.generation;
    ack_.is_applied = true;
    ack_.applied_ns = clock_.UnixNow();
    for (TriggerChange& change : set.changes) {
      if (change.put) {
        Put(std::move(*change.put));
      } else {
        triggers_.erase(change.remove_event_id);
      }
    }
    if (set.is_last) Send(ack_);
  }

  void Put(Trigger trigger) {
    const uint32_t id = trigger.event.id;
    Running& one = triggers_[id];
    const bool wants_feed = trigger.mode != TriggerMode::kHost && has_feeds;
    if (wants_feed && one.feed == nullptr) {
      one.feed = std::make_unique<EventFeed>(
          std::make_shared<TriggerPlan>(MakeTriggerPlan(trigger.event)), ack_.applied_ns, number_);
    }
    if (wants_feed && trigger.mode == TriggerMode::kThreshold) {
      ThresholdShare share;
      share.generation = trigger.share_generation;
      share.share = ShareOf(one.feed->split(), *trigger.local_predicate);
      share.from = trigger.share_from;
      ack_.shares.push_back({id, share.generation, one.feed->SetShare(share)});
    }
    one.trigger = std::move(trigger);
  }

  void Answer(const Poll& poll) {
    PollReply reply;
    reply.number = poll.number;
    for (const PollQuestion& question : poll.questions) {
      PollAnswer answer;
      answer.question = static_cast<uint32_t>(reply.answers.size());
      answer.status = PollStatus::kNoPackets;
      const auto one = triggers_.find(question.event_id);
      PartialView cells;
      if (one != triggers_.end() && one->second.feed->Answer(question.bucket_key, question.start_ns,
                                                             &cells) == FeedAnswer::kValues) {
        answer.status = PollStatus::kValues;
        answer.words.assign(cells.words, cells.words + one->second.feed->plan().word_count);
      }
      reply.answers.push_back(std::move(answer));
    }
    Send(reply);
  }

  void OnCells(const PartialView& cells) override {
    partials_.start_ns = cells.epoch_start;
    partials_.end_ns = cells.epoch_end;
    partials_.Add(cells.bucket_key, cells.words, cells.is_unscaled);
    if (partials_.bucket_count() < 1000) return;
    Send(partials_);
    partials_.keys.clear();
    partials_.key_sizes.clear();
    partials_.words.clear();
    partials_.unscaled.clear();
  }
  void OnIncomplete(uint32_t, Nanos, Nanos, uint32_t) override {}

  void Send(const Message& message) {
    if (session_ == nullptr) return;
    const Status sent = session_->Send(message);
    if (!sent.ok()) std::fprintf(stderr, "bench-tem: %s\n", sent.message().c_str());
  }

 public:
  static bool has_feeds;  // of thousands of events on a thousand hosts nobody needs them
  static bool is_over;    // sessions end

 private:
  const WireClock& clock_;
  const size_t number_;
  std::unique_ptr<Connector> connector_;
  Session* session_ = nullptr;
  std::map<uint32_t, Running> triggers_;
  TriggerAck ack_;
  Partials partials_;
};

bool BenchHost::has_feeds = true;
bool BenchHost::is_over = false;

// One manager, its hosts and the subscriber, for one case.
class Bench {
 public:
  Bench(size_t host_count, bool splits_thresholds)
      : base_(NewBase()),
        hosts_ca_(&folder_, "switch"),
        controllers_ca_(&folder_, "controller"),
        host_files_(hosts_ca_.Issue("host", "host", controllers_ca_)) {
    int commands[2];
    int reports[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, commands) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, reports) != 0) {
      std::exit(1);
    }
    const TlsFiles files = controllers_ca_.Issue("tem", "tem", hosts_ca_);
    child_ = fork();
    if (child_ == 0) {
      // Another program, so that its memory is its own.
      close(commands[0]);
      close(reports[0]);
      const std::string commands_fd = std::to_string(commands[1]);
      const std::string reports_fd = std::to_string(reports[1]);
      execl("/proc/self/exe", "bench-tem", "--child", commands_fd.c_str(), reports_fd.c_str(),
            files.private_key.c_str(), files.certificate.c_str(), files.ca_certificate.c_str(),
            splits_thresholds ? "1" : "0", nullptr);
      _exit(1);
    }
    close(commands[1]);
    close(reports[1]);
    commands_ = Open(commands[0], [](bufferevent* stream, void* self) {
      static_cast<Bench*>(self)->OnAnswer(bufferevent_get_input(stream));
    });
    reports_ = Open(reports[0], [](bufferevent* stream, void* self) {
      static_cast<Bench*>(self)->OnReports(bufferevent_get_input(stream));
    });
    RunUntil([&] { return !answer_.empty(); });
    const auto port = static_cast<uint16_t>(std::stoi(answer_));
    auto tls = TlsContext::Load(host_files_);
    if (!tls.ok()) std::exit(1);
    tls_ = std::move(*tls);
    const Nanos began = clock_.MonotonicNow();
    const Json before = Stats();
    const Nanos own = OwnCpu();
    // So many at once as get through a handshake before its time is over, on a slow machine, too.
    constexpr size_t kAtOnce = 100;
    for (size_t i = 0; i < host_count; ++i) {
      RunUntil([&] { return CountStrangers() < kAtOnce; });
      hosts_.push_back(std::make_unique<BenchHost>(base_.get(), clock_, i,
                                                   Address{true, "127.0.0.1", port}, tls_.get()));
    }
    RunUntil([&] {
      return std::all_of(hosts_.begin(), hosts_.end(),
                         [](const auto& host) { return host->is_connected(); });
    });
    connect_ns = clock_.MonotonicNow() - began;
    connect_cpu_ns = Stats()["cpu_ns"].get<Nanos>() - before["cpu_ns"].get<Nanos>();
    connect_own_cpu_ns = OwnCpu() - own;
  }

  ~Bench() {
    BenchHost::is_over = true;
    Write("end\n");
    RunUntil([&] { return has_ended_; });
    int status = 0;
    waitpid(child_, &status, 0);
    hosts_.clear();
    bufferevent_free(commands_);
    bufferevent_free(reports_);
    BenchHost::is_over = false;
  }

  Json Put(const std::string& yaml) {
    answer_.clear();
    Write("put " + std::to_string(yaml.size()) + "\n" + yaml);
    RunUntil([&] { return !answer_.empty(); });
    return Json::parse(answer_);
  }
  Json Clear() {
    answer_.clear();
    Write("clear\n");
    RunUntil([&] { return !answer_.empty(); });
    return Json::parse(answer_);
  }
  Json Stats() {
    answer_.clear();
    Write("stats\n");
    RunUntil([&] { return !answer_.empty(); });
    return Json::parse(answer_);
  }

  void RunUntil(const std::function<bool()>& done) {
    const Nanos end = clock_.MonotonicNow() + 120 * kNanosPerSecond;
    while (!done() && clock_.MonotonicNow() < end) event_base_loop(base_.get(), EVLOOP_ONCE);
    if (done()) return;
    std::fprintf(stderr, "bench-tem: nothing happened for two minutes\n");
    std::exit(1);
  }
  void RunUntilTime(Nanos unix_ns) {
    LoopEvent alarm(base_.get(), [] {});
    while (clock_.UnixNow() < unix_ns) {
      alarm.RunAfter(unix_ns - clock_.UnixNow());
      event_base_loop(base_.get(), EVLOOP_ONCE);
    }
  }
  // Looks at what has come, and waits for nothing.
  void RunReady() { event_base_loop(base_.get(), EVLOOP_NONBLOCK); }

  std::vector<std::unique_ptr<BenchHost>>& hosts() { return hosts_; }
  const WireClock& clock() const { return clock_; }
  // Of each report: when its interval ended, and when the subscriber had its line.
  std::vector<std::pair<Nanos, Nanos>> told;
  uint64_t incomplete = 0;  // of them
  Nanos connect_ns = 0;
  Nanos connect_cpu_ns = 0;
  Nanos connect_own_cpu_ns = 0;

 private:
  size_t CountStrangers() const {
    return static_cast<size_t>(std::count_if(
        hosts_.begin(), hosts_.end(), [](const auto& host) { return !host->is_connected(); }));
  }
  bufferevent* Open(int fd, bufferevent_data_cb read) {
    evutil_make_socket_nonblocking(fd);
    bufferevent* const stream = bufferevent_socket_new(base_.get(), fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(
        stream, read, nullptr,
        [](bufferevent*, short, void* self) { static_cast<Bench*>(self)->has_ended_ = true; },
        this);
    bufferevent_enable(stream, EV_READ | EV_WRITE);
    return stream;
  }
  void Write(const std::string& text) { bufferevent_write(commands_, text.data(), text.size()); }
  void OnAnswer(evbuffer* input) {
    if (char* const line = evbuffer_readln(input, nullptr, EVBUFFER_EOL_LF)) {
      answer_ = line;
      std::free(line);
    }
  }
  void OnReports(evbuffer* input) {
    constexpr char kEnd[] = "\"end_ns\":";
    const Nanos now = clock_.UnixNow();
    while (char* const line = evbuffer_readln(input, nullptr, EVBUFFER_EOL_LF)) {
      const char* const end = std::strstr(line, kEnd);
      const Nanos end_ns = end == nullptr ? 0 : std::strtoll(end + sizeof kEnd - 1, nullptr, 10);
      told.emplace_back(end_ns, now);
      incomplete += std::strstr(line, "\"complete\":false") != nullptr;
      std::free(line);
    }
  }

  std::unique_ptr<event_base, BaseFree> base_;
  SystemWireClock clock_;
  TempFolder folder_;
  TestAuthority hosts_ca_;
  TestAuthority controllers_ca_;
  TlsFiles host_files_;
  std::unique_ptr<TlsContext> tls_;
  pid_t child_ = 0;
  bufferevent* commands_ = nullptr;
  bufferevent* reports_ = nullptr;
  bool has_ended_ = false;
  std::string answer_;
  std::vector<std::unique_ptr<BenchHost>> hosts_;
};

// --- cases -------------------------------------------------------------------------------------

struct Latency {
  Nanos p50 = 0;
  Nanos p99 = 0;
  Nanos most = 0;
};

Latency LatencyOf(std::vector<Nanos> spans) {
  if (spans.empty()) return {};
  std::sort(spans.begin(), spans.end());
  return {spans[spans.size() / 2], spans[spans.size() * 99 / 100], spans.back()};
}

std::string Key(uint32_t bucket) {
  BucketKey key;
  key.size = 0;
  (void)key.Append(FieldValue{ValueKind::kIpv4, 0x0a000000u + bucket});
  return std::string(key.view());
}

Json InstallCase(size_t host_count, size_t event_count) {
  BenchHost::has_feeds = false;
  Bench bench(host_count, true);
  std::string yaml;
  for (size_t i = 0; i < event_count; ++i) {
    yaml += "- {name: e" + std::to_string(i) + ", event: 'dstIP=10." + std::to_string(i >> 8) +
            "." + std::to_string(i & 255) + ".0/24 and dstPort={80,443}, sum(volume) > 125KB, " +
            "5-tuple, 10ms'}\n";
  }
  const Json before = bench.Stats();
  const Nanos own = OwnCpu();
  const Json put = bench.Put(yaml);
  const Json after = bench.Stats();
  const Nanos own_cpu = OwnCpu() - own;
  const Json clear = bench.Clear();
  BenchHost::has_feeds = true;
  return {{"case", "install"},
          {"hosts", host_count},
          {"events", event_count},
          {"connect_ms", Millis(bench.connect_ns)},
          {"connect_cpu_ms", Millis(bench.connect_cpu_ns)},
          {"connect_hosts_cpu_ms", Millis(bench.connect_own_cpu_ns)},
          {"stored_ms", Millis(put["stored_ns"].get<Nanos>())},
          {"applied_ms", Millis(put["applied_ns"].get<Nanos>())},
          {"least_applied", put["least_applied"]},
          {"cpu_ms", Millis(after["cpu_ns"].get<Nanos>() - before["cpu_ns"].get<Nanos>())},
          {"hosts_cpu_ms", Millis(own_cpu)},
          {"removed_ms", Millis(clear["applied_ns"].get<Nanos>())},
          {"bytes_sent", after["bytes_sent"]},
          {"rss_mb", after["rss_kb"].get<double>() / 1024}};
}

struct VerdictLoad {
  size_t hosts = 100;
  uint32_t buckets = 10000;  // of the network, in each interval, on two hosts each
  uint32_t firing = 10;
  uint32_t interval_ms = 100;
  bool splits = false;
  Nanos run_ns = 5 * kNanosPerSecond;
};

// Every interval each host has counted its share of the buckets, and tells it when the interval
// ends.
Json VerdictCase(const VerdictLoad& load) {
  Bench bench(load.hosts, load.splits);
  const Json put = bench.Put("- {name: big, event: 'ethType=0x0800, sum(volume) > 1MB, dstIP, " +
                             std::to_string(load.interval_ms) + "ms', deadline: 100ms}");
  const auto hosts = static_cast<uint32_t>(load.hosts);
  std::vector<std::vector<std::string>> keys(hosts);
  std::vector<std::vector<uint64_t>> values(hosts);
  for (uint32_t bucket = 0; bucket < load.buckets; ++bucket) {
    // A tail as of flows: half of the threshold at most, but for those that fire.
    const bool fires = bucket < load.firing;
    const uint64_t value = fires ? 600000 : 100000 / (1 + bucket % 1000);
    for (const uint32_t host : {bucket % hosts, (bucket + 1) % hosts}) {
      keys[host].push_back(Key(bucket));
      values[host].push_back(value);
    }
  }
  const Nanos interval = Nanos{load.interval_ms} * kNanosPerMilli;
  Nanos start = (bench.clock().UnixNow() / interval + 2) * interval;
  const Nanos warm = start + 10 * interval;
  const Nanos end = warm + load.run_ns;
  std::vector<Nanos> last_sent;  // by interval, from the end of it on
  std::map<Nanos, Nanos> sent_at;
  Json before;
  Nanos own = 0;
  for (; start < end; start += interval) {
    if (before.is_null() && start >= warm) {
      before = bench.Stats();
      own = OwnCpu();
      bench.told.clear();
      bench.incomplete = 0;
    }
    // Counting goes on during the interval, and is no part of what is measured.
    for (uint32_t host = 0; host < hosts; ++host) {
      bench.hosts()[host]->Count(keys[host], values[host], start);
      bench.RunReady();
    }
    bench.RunUntilTime(start + interval);
    for (uint32_t host = 0; host < hosts; ++host) bench.hosts()[host]->End(start + interval);
    sent_at[start + interval] = bench.clock().UnixNow();
    bench.RunReady();
  }
  const Json after = bench.Stats();
  const Nanos own_cpu = OwnCpu() - own;
  bench.RunUntilTime(bench.clock().UnixNow() + 2 * interval);
  std::vector<Nanos> since_end;
  std::vector<Nanos> since_sent;
  for (const auto& [end_ns, at] : bench.told) {
    if (sent_at.count(end_ns) == 0 || end_ns <= warm) continue;
    since_end.push_back(at - end_ns);
    since_sent.push_back(at - sent_at[end_ns]);
  }
  const Latency all = LatencyOf(since_end);
  const Latency own_part = LatencyOf(since_sent);
  const auto difference = [&](const char* key) {
    return after[key].get<Nanos>() - before[key].get<Nanos>();
  };
  return {{"case", "verdict"},
          {"mode", put["mode"]},
          {"hosts", load.hosts},
          {"buckets", load.buckets},
          {"interval_ms", load.interval_ms},
          {"reports", since_end.size()},
          {"incomplete", bench.incomplete},
          {"p50_ms", Millis(all.p50)},
          {"p99_ms", Millis(all.p99)},
          {"max_ms", Millis(all.most)},
          {"after_last_host_p50_ms", Millis(own_part.p50)},
          {"after_last_host_p99_ms", Millis(own_part.p99)},
          {"cpu_share", static_cast<double>(difference("cpu_ns")) / load.run_ns},
          {"hosts_cpu_share", static_cast<double>(own_cpu) / load.run_ns},
          {"late_cells", difference("late_partials")},
          {"cells_per_s", difference("partials") * 1e9 / load.run_ns},
          {"bytes_per_s", difference("bytes_received") * 1e9 / load.run_ns},
          {"rss_mb", after["peak_rss_kb"].get<double>() / 1024}};
}

// Hosts report as fast as they are read.
Json ReportCase(size_t host_count, Nanos run_ns) {
  Bench bench(host_count, true);
  bench.Put("- {name: local, event: '*, sum(volume) > 5, dstIP, 10ms', scope: host}");
  const Json before = bench.Stats();
  const Nanos own = OwnCpu();
  const Nanos began = bench.clock().MonotonicNow();
  bench.told.clear();
  std::vector<std::pair<Nanos, Nanos>> told;
  while (bench.clock().MonotonicNow() - began < run_ns) {
    for (size_t i = 0; i < bench.hosts().size(); ++i) {
      BenchHost& host = *bench.hosts()[i];
      if (host.queued_bytes() > 2000) continue;
      const Nanos now = bench.clock().UnixNow();  // the end, so that told - end is the whole way
      for (uint32_t n = 0; n < 10; ++n) host.SendReport(Key(n), now - 10000000, now);
    }
    bench.RunReady();
  }
  const Json after = bench.Stats();
  const Nanos span = bench.clock().MonotonicNow() - began;
  const Nanos own_cpu = OwnCpu() - own;
  std::vector<Nanos> since_end;
  for (const auto& [end_ns, at] : bench.told) since_end.push_back(at - end_ns);
  const Latency latency = LatencyOf(since_end);
  return {
      {"case", "reports"},
      {"hosts", host_count},
      {"reports_per_s", static_cast<double>(bench.told.size()) * 1e9 / span},
      {"p50_ms", Millis(latency.p50)},
      {"p99_ms", Millis(latency.p99)},
      {"cpu_share",
       static_cast<double>(after["cpu_ns"].get<Nanos>() - before["cpu_ns"].get<Nanos>()) / span},
      {"hosts_cpu_share", static_cast<double>(own_cpu) / span},
      {"rss_mb", after["peak_rss_kb"].get<double>() / 1024}};
}

struct Case {
  const char* name;
  std::function<Json(bool is_quick)> run;
};

std::vector<Case> Cases() {
  const auto verdict = [](size_t hosts, uint32_t buckets, uint32_t interval_ms, bool splits) {
    return [=](bool is_quick) {
      VerdictLoad load;
      load.hosts = hosts;
      load.buckets = buckets;
      load.interval_ms = interval_ms;
      load.splits = splits;
      if (is_quick) load.run_ns = kNanosPerSecond;
      return VerdictCase(load);
    };
  };
  return {
      {"install", [](bool is_quick) { return InstallCase(is_quick ? 100 : 1000, 4096); }},
      {"verdict", verdict(100, 10000, 100, false)},
      {"verdict-10ms", verdict(100, 10000, 10, false)},
      {"partials-4-hosts", verdict(4, 10000, 100, false)},
      {"threshold-4-hosts", verdict(4, 10000, 100, true)},
      {"reports",
       [](bool is_quick) {
         return ReportCase(is_quick ? 100 : 1000, (is_quick ? 1 : 5) * kNanosPerSecond);
       }},
  };
}

constexpr int kChildArguments = 8;

int RunChild(char** argv) {
  const TemChildSockets sockets{std::atoi(argv[2]), std::atoi(argv[3])};
  evutil_make_socket_nonblocking(sockets.commands);
  evutil_make_socket_nonblocking(sockets.reports);
  return RunTemChild(sockets, {argv[4], argv[5], argv[6]}, std::atoi(argv[7]) != 0);
}

int Main(int argc, char** argv) {
  if (argc == kChildArguments && std::strcmp(argv[1], "--child") == 0) return RunChild(argv);
  bool is_quick = false;
  std::string json_file;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      is_quick = true;
    } else if (argument == "--json" && i + 1 < argc) {
      json_file = argv[++i];
    } else {
      names.push_back(argument);
    }
  }
  Json results = Json::array();
  for (const Case& one : Cases()) {
    if (!names.empty() && std::count(names.begin(), names.end(), one.name) == 0) continue;
    const Json result = one.run(is_quick);
    std::printf("%s\n", one.name);
    for (const auto& [key, value] : result.items()) {
      if (key == "case") continue;
      std::printf("  %-26s %s\n", key.c_str(), value.dump().c_str());
    }
    std::fflush(stdout);
    results.push_back(result);
  }
  if (!json_file.empty()) std::ofstream(json_file) << results.dump(2) << "\n";
  return results.empty() ? 2 : 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
