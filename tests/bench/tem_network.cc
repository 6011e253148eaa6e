// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/tem_network.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

constexpr Nanos kPatience = 600 * kNanosPerSecond;

// The number after `"key":`; 0 if it is not there.
Nanos NumberOf(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  return at == line.npos ? 0 : std::strtoll(line.data() + at + key.size(), nullptr, 10);
}

}  // namespace

void GiveUp(const std::string& why) {
  std::fprintf(stderr, "bench-tem: %s\n", why.c_str());
  std::exit(1);
}

Nanos OwnCpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto nanos = [](const timeval& time) {
    return time.tv_sec * kNanosPerSecond + time.tv_usec * kNanosPerMicro;
  };
  return nanos(usage.ru_utime) + nanos(usage.ru_stime);
}

// An instant at which the loop wakes up.  A precise loop would set a timer in every turn, a
// fourteenth of what it takes a host to send; only this one sets one, when it is told.
class TemNetwork::Alarm {
 public:
  explicit Alarm(event_base* base)
      : timer_(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC)),
        event_(event_new(base, timer_, EV_READ | EV_PERSIST, OnTime, nullptr)) {
    if (timer_ < 0 || event_add(event_, nullptr) != 0) GiveUp("there is no timer");
  }
  ~Alarm() {
    event_free(event_);
    close(timer_);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void Set(Nanos unix_ns) {
    itimerspec when{};
    when.it_value = {unix_ns / kNanosPerSecond, unix_ns % kNanosPerSecond};
    if (timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr) != 0) GiveUp("no alarm");
  }

 private:
  static void OnTime(evutil_socket_t timer, short, void*) {
    uint64_t times = 0;
    if (read(timer, &times, sizeof times) < 0) return;  // it has been set anew
  }

  const int timer_;
  event* const event_;
};

TemNetwork::TemNetwork(const TemDaemonOptions& options)
    : daemon_(options), base_(event_base_new()), alarm_(std::make_unique<Alarm>(base_.get())) {
  auto tls = TlsContext::Load(daemon_.host_files());
  if (!tls.ok()) GiveUp(tls.message());
  tls_ = std::move(*tls);
  RunUntil([this] { return daemon_.IsReady(); });
}

TemNetwork::~TemNetwork() {
  for (bufferevent* reader : readers_) bufferevent_free(reader);
}

// --- hosts -------------------------------------------------------------------------------------

void TemNetwork::AddHosts(size_t count) {
  const Address address{true, "127.0.0.1", daemon_.agent_port()};
  for (size_t i = 0; i < count; ++i) {
    hosts_.push_back(
        std::make_unique<TemHost>(base_.get(), clock_, hosts_.size(), address, tls_.get()));
  }
  RunUntil([this] { return connected() == hosts_.size(); });
}

size_t TemNetwork::connected() const {
  return static_cast<size_t>(std::count_if(hosts_.begin(), hosts_.end(),
                                           [](const auto& host) { return host->is_connected(); }));
}

uint64_t TemNetwork::bytes_to_controller() const {
  uint64_t bytes = 0;
  for (const auto& host : hosts_) bytes += host->counters().sessions.bytes_sent;
  return bytes;
}

void TemNetwork::WaitUntilApplied(const std::string& event) {
  Nanos next = 0;
  RunUntil([&] {
    if (clock_.MonotonicNow() < next) return false;
    const nlohmann::json view = Get("/v1/events/" + event);
    next = clock_.MonotonicNow() + 5 * kNanosPerMilli;
    return view["hosts_applied"] == hosts_.size();
  });
}

// --- the API -----------------------------------------------------------------------------------

struct TemNetwork::Exchange {
  std::string answer;
  bool is_over = false;
};

bufferevent* TemNetwork::Connect() {
  bufferevent* const stream = bufferevent_socket_new(base_.get(), -1, BEV_OPT_CLOSE_ON_FREE);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(daemon_.rest_port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bufferevent_enable(stream, EV_READ | EV_WRITE);
  if (bufferevent_socket_connect(stream, reinterpret_cast<sockaddr*>(&address), sizeof address)) {
    GiveUp("cannot connect to the API");
  }
  return stream;
}

// In HTTP/1.0 an answer ends with its connection, and has no chunks.
std::string TemNetwork::AskText(const std::string& method, const std::string& path,
                                const std::string& body) {
  bufferevent* const stream = Connect();
  Exchange exchange;
  bufferevent_setcb(
      stream,
      [](bufferevent* readable, void* argument) {
        evbuffer* const input = bufferevent_get_input(readable);
        std::string piece(evbuffer_get_length(input), '\0');
        evbuffer_remove(input, piece.data(), piece.size());
        static_cast<Exchange*>(argument)->answer += piece;
      },
      nullptr,
      [](bufferevent*, short what, void* argument) {
        if ((what & BEV_EVENT_CONNECTED) == 0) static_cast<Exchange*>(argument)->is_over = true;
      },
      &exchange);
  std::string request = method + " " + path + " HTTP/1.0\r\nHost: localhost\r\n";
  if (method == "POST") {
    request +=
        "Content-Type: application/yaml\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  request += "\r\n" + body;
  bufferevent_write(stream, request.data(), request.size());
  RunUntil([&] { return exchange.is_over; });
  bufferevent_free(stream);
  const size_t end = exchange.answer.find("\r\n\r\n");
  if (exchange.answer.compare(9, 1, "2") != 0 || end == exchange.answer.npos) {
    GiveUp(method + " " + path + ": " + exchange.answer.substr(0, 500));
  }
  return exchange.answer.substr(end + 4);
}

double TemNetwork::Metric(const std::string& name) {
  const std::string text = AskText("GET", "/metrics", "");
  const size_t at = text.find("\n" + name + " ");
  if (at == text.npos) GiveUp("there is no metric " + name);
  return std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

// --- readers -----------------------------------------------------------------------------------

void TemNetwork::AddReader() {
  bufferevent* const stream = Connect();
  readers_.push_back(stream);
  bool has_begun = false;
  bufferevent_setcb(
      stream, [](bufferevent*, void* begun) { *static_cast<bool*>(begun) = true; }, nullptr,
      nullptr, &has_begun);
  const std::string request = "GET /v1/stream HTTP/1.0\r\nHost: localhost\r\n\r\n";
  bufferevent_write(stream, request.data(), request.size());
  RunUntil([&] { return has_begun; });
  bufferevent_setcb(stream, OnReadable, nullptr, nullptr, this);
  bufferevent_set_max_single_read(stream, size_t{1} << 20);
}

void TemNetwork::OnReadable(bufferevent* stream, void* self) {
  auto* const network = static_cast<TemNetwork*>(self);
  evbuffer* const input = bufferevent_get_input(stream);
  const Nanos now = network->clock_.UnixNow();
  size_t size = 0;
  while (char* const line = evbuffer_readln(input, &size, EVBUFFER_EOL_LF)) {
    network->OnLine({line, size}, now);
    std::free(line);
  }
}

void TemNetwork::OnLine(std::string_view line, Nanos now) {
  if (line.substr(0, 10) == "event: gap") GiveUp("a reader missed reports");
  if (line.substr(0, 6) != "data: ") return;
  const bool is_complete = line.find("\"complete\":true") < line.find("\"complete\":false");
  told.push_back(
      {NumberOf(line, "\"end_ns\":"), NumberOf(line, "\"detected_ns\":"), now, is_complete});
}

// --- time --------------------------------------------------------------------------------------

void TemNetwork::RunUntil(const std::function<bool()>& done) {
  LoopEvent look(base_.get(), [] {});  // what other processes do wakes no loop
  look.RunEvery(kNanosPerMilli);
  const Nanos end = clock_.MonotonicNow() + kPatience;
  while (!done()) {
    if (clock_.MonotonicNow() > end) GiveUp("nothing happened for ten minutes");
    event_base_loop(base_.get(), EVLOOP_ONCE);
  }
}

void TemNetwork::RunUntilTime(Nanos unix_ns) {
  if (clock_.UnixNow() >= unix_ns) return;
  alarm_->Set(unix_ns);
  while (clock_.UnixNow() < unix_ns) event_base_loop(base_.get(), EVLOOP_ONCE);
}

void TemNetwork::RunReady() { event_base_loop(base_.get(), EVLOOP_NONBLOCK); }

}  // namespace trumpet
