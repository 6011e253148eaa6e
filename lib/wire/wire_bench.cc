// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a bucket of Partials and a Report cost on their way: encoding, decoding, and a plain copy of
// the same values beside them; and both ends of a session over TLS together.

#include <benchmark/benchmark.h>
#include <event2/event.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/wire/codec.h"
#include "lib/wire/connector.h"
#include "lib/wire/limits.h"
#include "lib/wire/listener.h"
#include "lib/wire/send_queue.h"
#include "lib/wire/test_certificates_test.h"

namespace trumpet {
namespace {

// 5-tuples of IPv4 with a count and a sum (128 bits): what `sum(volume)>125KB, 5-tuple` sends.
Partials SomePartials(size_t bucket_count) {
  Partials partials;
  partials.event_id = 7;
  partials.start_ns = 1700000000 * kNanosPerSecond;
  partials.end_ns = partials.start_ns + 10 * kNanosPerMilli;
  partials.words_per_bucket = 3;
  for (size_t i = 0; i < bucket_count; ++i) {
    std::string key(25, '\1');
    std::memcpy(&key[1], &i, 4);
    const uint64_t words[] = {10 + i % 90, 15000 + i * 7 % 100000, 0};
    partials.Add(key, words, false);
  }
  return partials;
}

HostReport SomeReport() {
  HostReport report;
  report.report.event_id = 7;
  report.report.bucket_key = std::string(25, '\1');
  report.report.start_ns = 1700000000 * kNanosPerSecond;
  report.report.end_ns = report.report.start_ns + 10 * kNanosPerMilli;
  report.report.value = Number::Integer(131072);
  report.report.threshold = Number::Integer(125000);
  report.report.detected_ns = report.report.end_ns + 300000;
  report.words = {90, 131072, 0};
  return report;
}

void PerItem(benchmark::State& state, size_t items, size_t bytes) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(items));
  state.counters["bytes/item"] = static_cast<double>(bytes) / static_cast<double>(items);
}

void BM_EncodePartials(benchmark::State& state) {
  const Message message = SomePartials(static_cast<size_t>(state.range(0)));
  std::string frame;
  for (auto _ : state) {
    frame.clear();
    if (!EncodeMessage(message, kMaxFrameToAgent, &frame).ok()) state.SkipWithError("too long");
    benchmark::DoNotOptimize(frame.data());
  }
  PerItem(state, static_cast<size_t>(state.range(0)), frame.size());
}
BENCHMARK(BM_EncodePartials)->Arg(10)->Arg(100)->Arg(1000)->Arg(5000);

void BM_DecodePartials(benchmark::State& state) {
  std::string frame;
  if (!EncodeMessage(SomePartials(static_cast<size_t>(state.range(0))), kMaxFrameToAgent, &frame)
           .ok()) {
    state.SkipWithError("too long");
  }
  for (auto _ : state) benchmark::DoNotOptimize(DecodeMessage(frame));
  PerItem(state, static_cast<size_t>(state.range(0)), frame.size());
}
BENCHMARK(BM_DecodePartials)->Arg(10)->Arg(100)->Arg(1000)->Arg(5000);

// The plain alternative: the values as they are, without checks or another byte order.
void BM_CopyPartials(benchmark::State& state) {
  const Partials partials = SomePartials(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    Partials copy = partials;
    benchmark::DoNotOptimize(copy.words.data());
  }
  PerItem(state, partials.bucket_count(),
          partials.keys.size() + 2 * partials.key_sizes.size() + 8 * partials.words.size());
}
BENCHMARK(BM_CopyPartials)->Arg(10)->Arg(100)->Arg(1000)->Arg(5000);

void BM_EncodeReport(benchmark::State& state) {
  const Message message = SomeReport();
  std::string frame;
  for (auto _ : state) {
    frame.clear();
    if (!EncodeMessage(message, kMaxFrameToController, &frame).ok()) state.SkipWithError("bad");
    benchmark::DoNotOptimize(frame.data());
  }
  PerItem(state, 1, frame.size());
}
BENCHMARK(BM_EncodeReport);

void BM_DecodeReport(benchmark::State& state) {
  std::string frame;
  if (!EncodeMessage(SomeReport(), kMaxFrameToController, &frame).ok()) state.SkipWithError("bad");
  for (auto _ : state) benchmark::DoNotOptimize(DecodeMessage(frame));
  PerItem(state, 1, frame.size());
}
BENCHMARK(BM_DecodeReport);

// A full queue: every message throws another out.
void BM_QueueThatIsFull(benchmark::State& state) {
  SendQueue queue(1024 * 1024);
  const std::string frame(100, 'f');
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.Push(MessageKind::kPartials, frame));
  }
  PerItem(state, 1, frame.size());
}
BENCHMARK(BM_QueueThatIsFull);

class CountingOwner final : public SessionOwner {
 public:
  Hello MakeHello() override {
    Hello hello;
    hello.host_id = "h1";
    hello.capabilities = kCapabilityPartials;
    return hello;
  }
  std::optional<Refusal> OnHello(Session* /*session*/, const Hello& /*hello*/,
                                 HelloReply* reply) override {
    reply->controller_id = 1;
    return std::nullopt;
  }
  void OnEstablished(Session* /*session*/) override {}
  void OnMessage(Session* /*session*/, Message message) override {
    ++message_count;
    benchmark::DoNotOptimize(message);
  }
  void OnClosed(Session* /*session*/, CloseCause /*cause*/, const std::string& /*text*/) override {}

  size_t message_count = 0;
};

// An agent and a controller in one loop; each round sends `count` messages and waits for them.
void RunOverTls(benchmark::State& state, const Message& message, size_t count, size_t items) {
  const TempFolder folder;
  TestAuthority switches(&folder, "switch");
  TestAuthority controllers(&folder, "controller");
  auto controller_tls = TlsContext::Load(controllers.Issue("controller", "tem", switches));
  auto agent_tls = TlsContext::Load(switches.Issue("agent", "h1", controllers));
  const std::unique_ptr<event_base, void (*)(event_base*)> base(event_base_new(), event_base_free);
  const SystemWireClock clock;
  CountingOwner controller;
  CountingOwner agent;
  auto listener = Listener::Listen(base.get(), *ParsePassiveAddress("pssl:0:127.0.0.1"),
                                   controller_tls->get(), {}, clock, &controller);
  auto connector = Connector::Connect(base.get(), Address{true, "127.0.0.1", (*listener)->port()},
                                      agent_tls->get(), {}, clock, &agent);
  while ((*connector)->session() == nullptr) event_base_loop(base.get(), EVLOOP_ONCE);
  for (auto _ : state) {
    const size_t wanted = controller.message_count + count;
    for (size_t i = 0; i < count; ++i) {
      if (!(*connector)->session()->Send(message).ok()) return state.SkipWithError("not sent");
    }
    while (controller.message_count < wanted) event_base_loop(base.get(), EVLOOP_ONCE);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(items));
}

void BM_ReportsOverTls(benchmark::State& state) { RunOverTls(state, SomeReport(), 1000, 1000); }
BENCHMARK(BM_ReportsOverTls);

void BM_PartialsOverTls(benchmark::State& state) {
  RunOverTls(state, SomePartials(1000), 10, 10000);
}
BENCHMARK(BM_PartialsOverTls);

}  // namespace
}  // namespace trumpet
