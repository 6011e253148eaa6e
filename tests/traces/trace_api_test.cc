// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Traces, from analyzers that make them as packets pass, through the controller to clients of its
// API.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "controller/analyzer/analyzer.h"
#include "controller/rest/rest_kit_test.h"
#include "controller/rest/rest_server.h"
#include "controller/slice/analyzer_collector.h"
#include "controller/slice/trace_asker.h"
#include "controller/store/memory_event_store.h"
#include "controller/trace/trace_counter_book.h"
#include "controller/traces/live_traces.h"
#include "controller/traces/program_kit_test.h"
#include "controller/traces/trace_network.h"
#include "controller/traces/trace_service.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

using nlohmann::json;
using test_frames::Bytes;
using trace_network::kBegin;
using trace_network::Network;

void NoLog(const char*, const std::string&) {}

std::string TokenLine(const std::string& name, const std::string& rest) {
  return "- {name: " + name + ", sha256: " + ToHex(HashToken(name)) + ", role: " + rest + "}\n";
}

constexpr uint8_t kDebugDscp = 1;  // such packets are kept, whatever becomes of them
constexpr uint8_t kDebugTos = kDebugDscp << 2;

// Of a flow each, `count` packets that were lost behind the first spine; they begin at `begin`.
Network Drops(Nanos begin, uint32_t count, uint16_t first_flow = 0) {
  Network network;
  // Others are delivered before and between them: by the numbers of their copies none was lost.
  constexpr uint32_t kBefore = 200;
  for (uint32_t i = kBefore; i > 0; --i) {
    network.Cross({1, 2, 4}, begin - i * kNanosPerMilli, 9998, i);
  }
  for (uint32_t i = 0; i <= count; ++i) {
    const Nanos time = begin + i * kNanosPerMilli;
    network.Cross({1, 2, 4}, time, 9999, i);
    if (i == count) break;
    network.Cross({1, 2}, time + kNanosPerMilli / 2, static_cast<uint16_t>(first_flow + i), i,
                  kTcpSyn, kDebugTos);
  }
  return network;
}

class TraceApi : public testing::Test {
 protected:
  struct Place {
    std::unique_ptr<LiveTraces> traces;
    std::unique_ptr<Analyzer> analyzer;
    std::unique_ptr<TraceService> service;
  };

  TraceApi() : events_(loop_.base(), 1), counter_store_(loop_.base(), 1), hub_(nullptr) {
    EventManagerParts parts;
    parts.base = loop_.base();
    parts.store = &events_;
    parts.reports = &hub_;
    parts.clock = &clock_;
    manager_ = std::make_unique<EventManager>(parts, EventManagerOptions());
    manager_->Start();
    collector_ = std::make_unique<AnalyzerCollector>(loop_.base(), AnalyzerCollectorOptions(),
                                                     clock_, NoLog);
    asker_ = std::make_unique<TraceAsker>(loop_.base(), clock_, collector_.get());
    const auto port = collector_->Listen(*ParsePassiveAddress("ptcp:0:127.0.0.1"), nullptr);
    EXPECT_TRUE(port.ok()) << port.message();
    analyzer_port_ = *port;
    counter_book_ = std::make_unique<TraceCounterBook>(
        TraceCounterParts{loop_.base(), &clock_, &counter_store_,
                          [this](const std::string& text) { asker_->SetCounters(text); }, NoLog});
    counter_book_->Start();
    StartServer();
  }

  void StartServer() {
    RestParts parts;
    parts.base = loop_.base();
    parts.events = manager_.get();
    parts.reports = &hub_;
    parts.traces = asker_.get();
    parts.trace_counters = counter_book_.get();
    parts.clock = &clock_;
    RestOptions options;
    options.listen = {"ptcp:0:127.0.0.1"};
    options.access.token_file = folder_.File("tokens.yaml");
    WriteFile(options.access.token_file,
              "tokens:\n" + TokenLine("op", "operate") + TokenLine("eye", "read") +
                  TokenLine("red", "read, tenant: red, prefixes: [10.0.1.0/24]") +
                  TokenLine("blue", "read, tenant: blue, prefixes: [10.7.0.0/16]") +
                  TokenLine("redop", "operate, tenant: red, prefixes: [10.0.1.0/24]") +
                  TokenLine("wide", "operate, tenant: red, prefixes: [10.0.0.0/16]") +
                  TokenLine("none", "read, tenant: none"));
    std::filesystem::permissions(options.access.token_file, std::filesystem::perms::owner_read);
    auto server = RestServer::Start(parts, options);
    ASSERT_TRUE(server.ok()) << server.message();
    server_ = std::move(*server);
  }

  Place* AddWithoutNetwork(const std::string& name) {
    LiveTracesOptions options = Options(name);
    options.topology = Topology();
    options.switches = SwitchBook();
    options.takes_network = true;
    return Add(name, options);
  }

  LiveTracesOptions Options(const std::string& name) {
    LiveTracesOptions options;
    options.store.folder = folder_.File(name);
    options.topology = *ParseTopology(kTopology, "net.yaml");
    EXPECT_TRUE(AddSwitches(options.topology, &options.switches).ok());
    options.maker.copies.seed = 5;
    options.maker.copies.debug_dscp = kDebugDscp;
    options.maker.table.quiet = 100 * kNanosPerMilli;
    options.maker.table.max_traces = 1 << 12;
    options.maker.table.max_hops = 1 << 14;
    return options;
  }

  Place* Add(const std::string& name) { return Add(name, Options(name)); }
  Place* Add(const std::string& name, const LiveTracesOptions& told) {
    auto place = std::make_unique<Place>();
    auto traces = LiveTraces::Open(
        loop_.base(), told, [] { return kBegin + 60 * kNanosPerSecond; }, NoLog);
    EXPECT_TRUE(traces.ok()) << traces.message();
    place->traces = std::move(*traces);
    AnalyzerOptions options;
    options.name = name;
    place->analyzer = std::make_unique<Analyzer>(loop_.base(), options, clock_, NoLog);
    Analyzer* const analyzer = place->analyzer.get();
    place->service = std::make_unique<TraceService>(
        loop_.base(), place->traces.get(),
        [analyzer](const Message& message) { analyzer->Send(message); });
    analyzer->Serve(place->service->Sideline());
    EXPECT_TRUE(analyzer->Connect({false, "127.0.0.1", analyzer_port_}, nullptr).ok());
    places_.push_back(std::move(place));
    EXPECT_TRUE(loop_.RunUntil([&] { return asker_->analyzer_count() == places_.size(); }));
    return places_.back().get();
  }

  void Take(Place* place, const Network& network, uint64_t stored) {
    for (const auto& frame : network.Frames()) {
      const auto size = static_cast<uint32_t>(frame.bytes.size());
      ASSERT_TRUE(place->traces->Take({frame.bytes.data(), size, size}, frame.time));
    }
    ASSERT_TRUE(loop_.RunUntil([&] { return place->traces->counters().stored >= stored; }))
        << place->traces->Show().dump(2);
  }

  std::string Request(const std::string& token, const std::string& target) {
    const bool is_other = target.substr(0, 9) == "/counters" || target.substr(0, 5) == "/apps";
    return "GET /v1/" + (is_other ? target.substr(1) : "traces" + target) +
           " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n";
  }
  std::unique_ptr<RawClient> Client() {
    return std::make_unique<RawClient>(&loop_, server_->ports().at(0));
  }
  json Get(const std::string& target, const std::string& token = "op") {
    const std::string answer = Client()->Ask(Request(token, target));
    EXPECT_EQ(StatusOf(answer), 200) << answer;
    return json::parse(BodyOf(answer), nullptr, false);
  }
  std::string Problem(const std::string& target, const std::string& token = "op") {
    const std::string answer = Client()->Ask(Request(token, target));
    const json body = json::parse(BodyOf(answer), nullptr, false);
    return std::to_string(StatusOf(answer)) + " " + body.value("detail", "");
  }
  // The answer's status and body; no body: none is sent.
  std::pair<int, std::string> Change(const std::string& method, const std::string& target,
                                     const std::string& body, const std::string& token = "op") {
    const std::string answer = Client()->Ask(
        method + " /v1" + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
        token + "\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    return {StatusOf(answer), BodyOf(answer)};
  }
  // Until the analyzer counts so many.
  void WaitForCounters(const Place* place, size_t count) {
    ASSERT_TRUE(loop_.RunUntil([&] { return place->traces->named().counters().size() == count; }));
  }
  std::vector<std::string> Pages(const std::string& target, size_t* pages) {
    std::vector<std::string> ids;
    std::string cursor;
    do {
      const json page = Get(target + (cursor.empty() ? "" : "&cursor=" + cursor));
      ++*pages;
      for (const json& trace : page["traces"]) ids.push_back(trace["id"]);
      cursor = page["next_cursor"].is_null() ? "" : page["next_cursor"];
    } while (!cursor.empty());
    return ids;
  }

  Loop loop_;
  TempFolder folder_;
  SystemWireClock clock_;
  MemoryEventStore events_;
  MemoryEventStore counter_store_;
  ReportHub hub_;
  std::unique_ptr<EventManager> manager_;
  std::unique_ptr<AnalyzerCollector> collector_;
  std::unique_ptr<TraceAsker> asker_;
  std::unique_ptr<TraceCounterBook> counter_book_;
  std::unique_ptr<RestServer> server_;
  std::vector<std::unique_ptr<Place>> places_;
  uint16_t analyzer_port_ = 0;
};

TEST_F(TraceApi, TellsWhatAnalyzersKeepByTimeWhoeverKeepsIt) {
  Take(Add("an1"), Drops(kBegin, 3, 0), 3);
  Take(Add("an2"), Drops(kBegin + kNanosPerMilli / 2, 3, 10), 3);
  const json page = Get("");
  ASSERT_EQ(page["traces"].size(), 6u) << page;
  EXPECT_EQ(page["complete"], true);
  EXPECT_EQ(page["next_cursor"], nullptr);
  for (size_t i = 0; i < 6; ++i) {
    const json& trace = page["traces"][i];
    EXPECT_EQ(trace["analyzer"], i % 2 == 0 ? "an1" : "an2");
    EXPECT_EQ(trace["packet"]["src_port"], 1000 + i / 2 + (i % 2) * 10);
    EXPECT_EQ(trace["marks"], json::parse(R"(["connection","debug"])"));
    EXPECT_EQ(trace["last_switch"], "spine1");
    EXPECT_FALSE(trace.contains("frame"));
  }
  EXPECT_EQ(Get("?src_port=1011")["traces"].size(), 1u);
  EXPECT_EQ(Get("?verdict=loop")["traces"].size(), 0u);
  EXPECT_EQ(Get("?through=leaf1&limit=1")["traces"].size(), 1u);
  const std::string id = page["traces"][3]["id"];
  EXPECT_EQ(Get("/" + id)["packet"]["src_port"], 1011);
}

TEST_F(TraceApi, PagesOverAllAnalyzersWithoutALossOrARepetition) {
  Take(Add("an1"), Drops(kBegin, 50), 50);
  Take(Add("an2"), Drops(kBegin + 20 * kNanosPerMilli, 37, 100), 37);
  std::vector<std::string> all;
  const json whole = Get("?limit=1000");
  for (const json& trace : whole["traces"]) all.push_back(trace["id"]);
  ASSERT_EQ(all.size(), 87u);
  for (const char* const limit : {"1", "7", "50", "87"}) {
    size_t pages = 0;
    EXPECT_EQ(Pages(std::string("?limit=") + limit, &pages), all) << limit;
    EXPECT_GE(pages, 87 / std::stoul(limit));
  }
}

// As many as fit into a message of an analyzer are a page.
TEST_F(TraceApi, EndsAPageWhereAnAnalyzersAnswerEnds) {
  Take(Add("an1"), Drops(kBegin, 400), 400);
  Take(Add("an2"), Drops(kBegin, 5, 600), 5);
  const json first = Get("?limit=1000&packets=whole");
  EXPECT_LT(first["traces"].size(), 405u);
  EXPECT_NE(first["next_cursor"], nullptr);
  size_t pages = 0;
  EXPECT_EQ(Pages("?limit=1000&packets=whole", &pages).size(), 405u);
  EXPECT_GT(pages, 1u);
}

TEST_F(TraceApi, ShowsWhatPacketsCarryToWhoMaySeeIt) {
  Take(Add("an1"), Drops(kBegin, 1), 1);
  const Bytes packet = trace_network::Packet(0, 0, 64);
  const json whole = Get("?packets=whole")["traces"][0]["frame"];
  EXPECT_EQ(whole["link"], "ethernet");
  EXPECT_EQ(whole["hex"].get<std::string>().size(), 2 * packet.size());
  // Ethernet, IPv4 and TCP, without the four bytes behind them.
  const json headers = Get("?packets=headers", "eye")["traces"][0]["frame"];
  EXPECT_EQ(headers["hex"].get<std::string>(),
            whole["hex"].get<std::string>().substr(0, 2 * (packet.size() - 4)));
  EXPECT_EQ(Problem("?packets=whole", "eye"),
            "403 what packets carry takes the role operate; packets=headers does not");
}

TEST_F(TraceApi, ShowsTenantsThePacketsOfTheirPrefixes) {
  Take(Add("an1"), Drops(kBegin, 2), 2);
  const json page = Get("", "red");
  ASSERT_EQ(page["traces"].size(), 2u);
  EXPECT_EQ(Get("", "blue")["traces"].size(), 0u);
  EXPECT_EQ(Get("?src=10.0.0.0/8", "blue")["traces"].size(), 0u);
  const std::string id = page["traces"][0]["id"];
  EXPECT_EQ(Problem("/" + id, "blue"), "404 there is no trace " + id);
  EXPECT_EQ(Problem("", "none"), "403 this tenant has no prefixes, and so no traces");
}

TEST_F(TraceApi, SaysWhatIsWrongWithAQuestion) {
  EXPECT_EQ(Problem(""), "503 no analyzer that makes traces is connected");
  Add("an1");
  EXPECT_EQ(Problem("?verdict=lost"),
            "400 verdict: 'lost' is no verdict; delivered, dropped, copies_lost, loop and "
            "not_known are");
  EXPECT_EQ(Problem("?through=leaf9"), "400 through: there is no switch 'leaf9'");
  EXPECT_EQ(Problem("?src=" + std::string(2000, '1')), "400 the parameter 'src' is no such thing");
  EXPECT_EQ(Problem("?within=10.0.0.0/8"), "400 'within' is not a parameter of this path");
  EXPECT_EQ(Problem("?packets=all"), "400 the parameter 'packets' takes none, headers or whole");
  EXPECT_EQ(Problem("/12"), "400 id: '12' is no id of a trace");
  EXPECT_EQ(Problem("/0123456789abcdef"), "404 there is no trace 0123456789abcdef");
}

TEST_F(TraceApi, NamesAnalyzersThatDoNotAnswer) {
  Take(Add("an1"), Drops(kBegin, 1), 1);
  Add("an2");
  // It takes questions, and never answers.
  places_[1]->analyzer->Serve({kCapabilityTraces, [](const Message&) {}, [] {}});
  const json late = Get("?timeout=1");
  EXPECT_EQ(late["complete"], false);
  EXPECT_EQ(late["traces"].size(), 1u);
  EXPECT_EQ(late["silent"],
            json::parse(R"([{"analyzer":"an2","why":"has not answered in time"}])"));
  places_.pop_back();
  ASSERT_TRUE(loop_.RunUntil([&] { return asker_->analyzer_count() == 1; }));
  const json gone = Get("");
  EXPECT_EQ(gone["complete"], false);
  EXPECT_EQ(gone["silent"], json::parse(R"([{"analyzer":"an2","why":"is not connected"}])"));
  Add("an2");
  EXPECT_EQ(Get("")["complete"], true);
  EXPECT_EQ(asker_->counters().incomplete, 2u);
}

TEST_F(TraceApi, TellsAnalyzersToStopWhenTheTimeIsUp) {
  Add("an1");
  uint64_t asked = 0;
  uint64_t cancelled = 0;
  places_[0]->analyzer->Serve({kCapabilityTraces,
                               [&](const Message& message) {
                                 const auto* const request = std::get_if<TraceRequest>(&message);
                                 if (request != nullptr) asked = request->number;
                                 const auto* const cancel = std::get_if<TraceCancel>(&message);
                                 if (cancel != nullptr) cancelled = cancel->number;
                               },
                               [] {}});
  EXPECT_EQ(Get("?timeout=1")["complete"], false);
  ASSERT_TRUE(loop_.RunUntil([&] { return cancelled != 0; }));
  EXPECT_EQ(cancelled, asked);
}

TEST_F(TraceApi, TellsAnalyzersToStopWhenTheClientHasGone) {
  Add("an1");
  uint64_t asked = 0;
  uint64_t cancelled = 0;
  places_[0]->analyzer->Serve({kCapabilityTraces | kCapabilityTraceCounters,
                               [&](const Message& message) {
                                 const auto* const request = std::get_if<TraceRequest>(&message);
                                 if (request != nullptr) asked = request->number;
                                 const auto* const cancel = std::get_if<TraceCancel>(&message);
                                 if (cancel != nullptr) cancelled = cancel->number;
                               },
                               [] {}});
  for (const char* const target :
       {"?verdict=dropped&timeout=60", "/counters/traces?timeout=60", "/apps/drops?timeout=60"}) {
    asked = cancelled = 0;
    auto client = Client();
    ASSERT_TRUE(client->Send(Request("op", target)));
    ASSERT_TRUE(loop_.RunUntil([&] { return asked != 0; })) << target;
    client->Close();
    ASSERT_TRUE(loop_.RunUntil([&] { return cancelled != 0; })) << target;
    EXPECT_EQ(cancelled, asked) << target;
  }
  EXPECT_EQ(asker_->counters().cancelled, 3u);
}

TEST_F(TraceApi, CountsByNameOverAllAnalyzersFromNowOn) {
  Add("an1");
  Add("an2");
  const std::string from = "?from=" + std::to_string(kBegin - kNanosPerSecond);
  const auto made = Change("POST", "/counters",
                           R"({"name":"lost","step_s":1,"filter":{"through":"leaf1",)"
                           R"("mark":["debug"],"src_port":1000}})");
  ASSERT_EQ(made.first, 201) << made.second;
  EXPECT_EQ(json::parse(made.second)["filter"],
            json::parse(R"({"through":"leaf1","mark":["debug"],"src_port":"1000"})"));
  EXPECT_EQ(Change("POST", "/counters", R"({"name":"all","filter":{}})").first, 201);
  for (const auto& place : places_) WaitForCounters(place.get(), 2);
  Take(places_[0].get(), Drops(kBegin, 3), 3);
  Take(places_[1].get(), Drops(kBegin + kNanosPerMilli / 2, 2), 2);
  // 200 before them and one around each drop were delivered.
  ASSERT_TRUE(loop_.RunUntil([&] {
    const json all = Get("/counters/all" + from);
    uint64_t packets = 0;
    for (const json& one : all["values"]) packets += one["packets"].get<uint64_t>();
    return packets == (200 + 4 + 3) + (200 + 3 + 2);
  }));
  const json lost = Get("/counters/lost" + from);
  EXPECT_EQ(lost["complete"], true);
  ASSERT_EQ(lost["values"].size(), 1u) << lost;
  const json& value = lost["values"][0];
  EXPECT_EQ(value["packets"], 2);
  EXPECT_EQ(value["dropped"].get<int>() + value["copies_lost"].get<int>(), 2);
  EXPECT_EQ(value["delivered"], 0);
  EXPECT_EQ(value["hops"], 4);
  EXPECT_EQ(value["connections"], 2);
  EXPECT_EQ(value["hop_latency_ns"]["count"], 2);
  EXPECT_EQ(value["hop_latency_ns"]["mean"], 10000);
  EXPECT_NEAR(value["hop_latency_ns"]["p99"].get<double>(), 10000, 625);
  EXPECT_EQ(Get("/counters/lost" + from + "&stored=true")["values"], lost["values"]);
  // Of what was delivered nothing is stored.
  EXPECT_EQ(Get("/counters/all" + from + "&stored=true")["values"][0]["packets"], 5);
}

TEST_F(TraceApi, GoesOnCountingAfterAnalyzersBeginAnew) {
  Add("an1");
  ASSERT_EQ(Change("POST", "/counters", R"({"name":"all","step_s":5})").first, 201);
  WaitForCounters(places_[0].get(), 1);
  Take(places_[0].get(), Drops(kBegin, 1), 1);
  places_.clear();
  ASSERT_TRUE(loop_.RunUntil([&] { return asker_->analyzer_count() == 0; }));
  // It knows its counters before the controller tells them.
  auto alone = LiveTraces::Open(
      loop_.base(), Options("an1"), [] { return kBegin + 60 * kNanosPerSecond; }, NoLog);
  ASSERT_TRUE(alone.ok()) << alone.message();
  EXPECT_EQ((*alone)->named().counters().size(), 1u);
  alone->reset();
  Add("an1");
  const std::string from = "?from=" + std::to_string(kBegin);
  const json all = Get("/counters/all" + from);
  EXPECT_EQ(all["values"][0]["packets"], 3) << all;
  EXPECT_EQ(Change("DELETE", "/counters/all", "").first, 204);
  WaitForCounters(places_[0].get(), 0);
  EXPECT_EQ(Problem("/counters/all"), "404 there is no counter named 'all'");
  // Another one of that name begins at nothing.
  ASSERT_EQ(Change("POST", "/counters", R"({"name":"all","step_s":5})").first, 201);
  EXPECT_EQ(Get("/counters/all" + from)["values"].size(), 0u);
}

TEST_F(TraceApi, SaysWhatIsWrongWithACounter) {
  EXPECT_EQ(Change("POST", "/counters", R"({"name":"a"})").first, 503);  // nobody counts
  Add("an1");
  const auto problem = [&](const std::string& body, const std::string& token = "op") {
    const auto answer = Change("POST", "/counters", body, token);
    return std::to_string(answer.first) + " " +
           json::parse(answer.second, nullptr, false).value("detail", "");
  };
  const std::string name =
      "422 name takes 1 to 64 letters, digits, '.', '_' and '-', and neither 'links' nor 'traces'";
  EXPECT_EQ(problem("{}"), name);
  EXPECT_EQ(problem(R"({"name":"links"})"), name);
  EXPECT_EQ(problem(R"({"name":"a/b"})"), name);
  EXPECT_EQ(problem("[]"), "422 a counter is an object with name and filter");
  EXPECT_EQ(problem(R"({"name":"a","step_s":0})"), "422 step_s takes 1 to 3600");
  EXPECT_EQ(problem(R"({"name":"a","color":"red"})"),
            "422 'color' is no key of a counter, or of another type");
  EXPECT_EQ(problem(R"({"name":"a","filter":{"from":"0"}})"),
            "422 filter.from is nothing that traces are counted by");
  EXPECT_EQ(problem(R"({"name":"a","filter":{"src":[1]}})"),
            "422 filter.src is neither a text nor a number");
  EXPECT_EQ(problem(R"({"name":"a","filter":{"verdict":"lost"}})"),
            "400 verdict: 'lost' is no verdict; delivered, dropped, copies_lost, loop and "
            "not_known are");
  EXPECT_EQ(problem(R"({"name":"a"})", "eye"),
            "403 this takes the role operate; this token's is read");
  EXPECT_EQ(Change("POST", "/counters", R"({"name":"a"})").first, 201);
  EXPECT_EQ(problem(R"({"name":"a"})"), "409 there is a counter 'a' already");
  EXPECT_EQ(Problem("/counters/a?step=15"), "400 the parameter 'step' takes multiples of 10");
}

TEST_F(TraceApi, LetsTenantsCountThePacketsOfTheirPrefixes) {
  Add("an1");
  ASSERT_EQ(Change("POST", "/counters", R"({"name":"mine"})", "redop").first, 201);
  ASSERT_EQ(Change("POST", "/counters", R"({"name":"wide"})", "wide").first, 201);
  ASSERT_EQ(Change("POST", "/counters", R"({"name":"all"})").first, 201);
  EXPECT_EQ(Get("/counters")["counters"].size(), 3u);
  const json own = Get("/counters", "red");
  ASSERT_EQ(own["counters"].size(), 1u);
  EXPECT_EQ(own["counters"][0]["filter"], json::parse(R"({"within":["10.0.1.0/24"]})"));
  EXPECT_EQ(Problem("/counters/all", "red"), "404 there is no counter named 'all'");
  EXPECT_EQ(Problem("/counters/wide", "red"), "404 there is no counter named 'wide'");
  EXPECT_EQ(Problem("/counters/mine", "blue"), "404 there is no counter named 'mine'");
  EXPECT_EQ(Change("DELETE", "/counters/all", "", "redop").first, 404);
  for (int i = 2; i < 16; ++i) {
    const std::string body = R"({"name":"n)" + std::to_string(i) + "\"}";
    ASSERT_EQ(Change("POST", "/counters", body, "redop").first, 201);
  }
  const auto refused = Change("POST", "/counters", R"({"name":"more"})", "redop");
  EXPECT_EQ(refused.first, 409);
  EXPECT_EQ(json::parse(refused.second)["detail"], "a tenant has at most 16 counters");
}

TEST_F(TraceApi, RunsApplicationsOverWhatAnalyzersHaveStored) {
  EXPECT_EQ(Problem("/apps/drops"), "503 no analyzer that makes traces is connected");
  Take(Add("an1"), Drops(kBegin, 30), 30);
  Take(Add("an2"), Drops(kBegin, 2, 100), 2);
  // Sums of links are written with the traces, those of the last ones up to a second later.
  ASSERT_TRUE(loop_.RunUntil([&] {
    const json drops = Get("/apps/drops");
    return drops["findings"].size() == 2 && drops["findings"][0]["passed"] >= 30;
  }));
  const json drops = Get("/apps/drops");
  EXPECT_EQ(drops["complete"], true);
  EXPECT_EQ(drops["cut"], false);
  EXPECT_EQ(drops["findings"][0]["analyzer"], "an1");
  EXPECT_EQ(drops["findings"][0]["behind"], "spine1");
  EXPECT_GE(drops["findings"][0]["packets"], 29);  // or one of them lost its copies
  EXPECT_EQ(drops["findings"][1]["analyzer"], "an2");
  EXPECT_EQ(drops["findings"][1]["verdict"], "few");
  EXPECT_EQ(Get("/apps/loops")["findings"].size(), 0u);
  EXPECT_EQ(Get("/apps/sessions")["findings"].size(), 0u);
  const json latency = Get("/apps/latency?from=" + std::to_string(kBegin));
  EXPECT_EQ(latency["findings"][0]["from"], "leaf1");
  EXPECT_EQ(latency["findings"][0]["packets"], 30);
  EXPECT_EQ(latency["findings"][0]["mean_ns"], 10000);
  EXPECT_EQ(Get("/apps/ecmp?at=leaf1&members=spine1,spine2")["findings"][0]["verdict"], "biased");
  EXPECT_EQ(Problem("/apps/magic"),
            "400 one of drops, loops, ecmp, latency, roce and sessions must be given");
  EXPECT_EQ(Problem("/apps/ecmp?at=leaf1"),
            "400 ecmp needs at=SWITCH and members=SWITCH,SWITCH,...");
  EXPECT_EQ(Problem("/apps/latency?earlier=0"),
            "400 earlier needs from and until: the earlier time is as long");
  EXPECT_EQ(Problem("/apps/drops", "red").substr(0, 3), "403");
}

TEST_F(TraceApi, EstimatesWhatAQuestionCosts) {
  Take(Add("an1"), Drops(kBegin, 4), 4);
  Take(Add("an2"), Drops(kBegin, 2), 2);
  const json cost = Get("?estimate=true");
  EXPECT_EQ(cost["traces"], 6);
  EXPECT_EQ(cost["files"], 2);
  EXPECT_GT(cost["bytes"], 8192);
  ASSERT_EQ(cost["analyzers"].size(), 2u);
  EXPECT_EQ(cost["analyzers"][1]["traces"], 2);
}

TEST_F(TraceApi, TellsAnalyzersTheNetworkAndThoseThatComeLater) {
  Place* const early = AddWithoutNetwork("an1");
  ToldNetwork network;
  network.topology = *ParseTopology(kTopology, "net.yaml");
  ASSERT_TRUE(AddSwitches(network.topology, &network.switches).ok());
  // In more than one part.
  for (int i = 0; i < 4000; ++i) {
    TopologyHost host;
    host.id = host.name = "another host " + std::to_string(i);
    network.topology.hosts.push_back(host);
  }
  const std::string text = PrintToldNetwork(network);
  ASSERT_GT(text.size(), kMaxNetworkPartBytes);
  ASSERT_TRUE(asker_->SetNetwork(text));
  Place* const late = AddWithoutNetwork("an2");
  Place* const other = Add("an3");  // which has a network of its own
  for (Place* const place : {early, late}) {
    ASSERT_TRUE(loop_.RunUntil([&] { return place->traces->switches().names().size() == 4; }));
    Take(place, Drops(kBegin, 1), 1);
  }
  EXPECT_EQ(other->traces->switches().names().size(), 4u);
  const json page = Get("?through=leaf1");
  ASSERT_EQ(page["traces"].size(), 2u) << page;
  for (const json& trace : page["traces"]) {
    EXPECT_EQ(trace["last_switch"], "spine1");
    EXPECT_EQ(trace["evidence"]["expected_next"], json::parse(R"(["leaf2"])"));
  }
  EXPECT_FALSE(asker_->SetNetwork(std::string(TraceAsker::kMaxNetwork + 1, ' ')));
}

TEST_F(TraceApi, AddsUpCountersOverAllAnalyzers) {
  Network network = Drops(kBegin, 3);
  network.Cross({1, 2, 4}, kBegin + kNanosPerSecond, 50, 0);
  Take(Add("an1"), network, 3);
  Take(Add("an2"), Drops(kBegin, 2, 10), 2);
  const std::string from = "?from=" + std::to_string(kBegin);
  for (const auto& place : places_) {
    ASSERT_TRUE(loop_.RunUntil([&] { return place->traces->maker().sums().waiting == 0; }));
  }
  // What links carried is stored within a second.
  const auto links = [&] { return Get("/counters/links" + from + "&step=60")["counters"]; };
  ASSERT_TRUE(loop_.RunUntil([&] {
    const json now = links();
    return now.size() == 2 && now[0]["packets"] == 13 && now[1]["packets"] == 8;
  })) << links();
  EXPECT_EQ(links()[0]["from"], "leaf1");
  EXPECT_EQ(links()[0]["to"], "spine1");
  EXPECT_EQ(links()[1]["from"], "spine1");
  const json counts = Get("/counters/traces" + from + "&mark=debug");
  ASSERT_EQ(counts["counters"].size(), 1u) << counts;
  EXPECT_EQ(counts["counters"][0]["traces"], 5);
  EXPECT_EQ(counts["complete"], true);
  // One is in the second before: of each analyzer's drops, all begin within it.
  const json steps = Get("/counters/traces" + from + "&step=1&limit=1&src_port=1000");
  ASSERT_EQ(steps["counters"].size(), 1u);
  EXPECT_EQ(steps["counters"][0],
            json::parse(R"({"start_ns":1700000000000000000,"traces":1,"bytes":58})"));
  EXPECT_EQ(Get("/counters/links" + from + "&through=leaf2")["counters"].size(), 1u);
  EXPECT_EQ(Problem("/counters/links" + from, "red"),
            "403 this is about the whole network; this token is a tenant's");
  EXPECT_EQ(Get("/counters/traces" + from, "blue")["counters"].size(), 0u);
}

TEST_F(TraceApi, StreamsTracesAsTheyAreTold) {
  Place* const early = Add("an1");
  const auto all = Client();
  all->Send(Request("op", "/stream"));
  const auto some = Client();
  some->Send(Request("op", "/stream?src_port=1001"));
  ASSERT_TRUE(loop_.RunUntil([&] { return early->service->watch_count() == 2; }));
  Place* const late = Add("an2");  // it is asked when it comes
  ASSERT_TRUE(loop_.RunUntil([&] { return late->service->watch_count() == 2; }));
  Take(early, Drops(kBegin, 2), 2);
  Take(late, Drops(kBegin, 1, 77), 1);
  EXPECT_TRUE(all->WaitForText("\"src_port\":1000"));
  EXPECT_TRUE(all->WaitForText("\"src_port\":1001"));
  EXPECT_TRUE(all->WaitForText("\"src_port\":1077"));
  EXPECT_TRUE(some->WaitForText("event: trace\ndata: {\"analyzer\":\"an1\","));
  EXPECT_EQ(some->received().find("1000,"), std::string::npos);
  const auto wrong = Client();
  wrong->Send(Request("op", "/stream?verdict=lost"));
  EXPECT_TRUE(wrong->WaitForText("event: error\ndata: {\"analyzer\":\"an1\",\"detail\":"));
}

// Their texts are dear, and are made for who takes them.
TEST_F(TraceApi, MakesOneTextOfATraceHoweverManyWatch) {
  Place* const place = Add("an1");
  std::vector<std::unique_ptr<RawClient>> clients;
  for (const char* const target :
       {"/stream", "/stream?src_port=1001", "/stream", "/stream?packets=headers"}) {
    clients.push_back(Client());
    clients.back()->Send(Request("op", target));
  }
  ASSERT_TRUE(loop_.RunUntil([&] { return place->service->watch_count() == 4; }));
  Take(place, Drops(kBegin, 3), 3);
  for (const auto& client : clients) EXPECT_TRUE(client->WaitForText("\"src_port\":1001"));
  EXPECT_TRUE(clients[3]->WaitForText("\"src_port\":1002"));
  EXPECT_NE(clients[3]->received().find("\"frame\""), std::string::npos);
  EXPECT_EQ(clients[2]->received().find("\"frame\""), std::string::npos);
  EXPECT_EQ(place->service->watch_texts(), 2 * 3u);
}

// One turn has room for so many; the rest is counted.
TEST_F(TraceApi, SaysHowManyTracesAStreamLeftOut) {
  Place* const place = Add("an1");
  const auto client = Client();
  client->Send(Request("op", "/stream"));
  ASSERT_TRUE(loop_.RunUntil([&] { return place->service->watch_count() == 1; }));
  Take(place, Drops(kBegin, 1000), 1000);
  ASSERT_TRUE(client->WaitForText("event: gap"));
  const size_t at = client->received().find("{\"left_out\":");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::stoul(client->received().substr(at + 12)), 0u);
  // In each turn one does not fit, and those behind it are not even tried.
  uint64_t told = 0, left_out = 0, gaps = 0;
  ASSERT_TRUE(loop_.RunUntil([&] {
    client->Receive();
    std::istringstream lines(client->received());
    told = left_out = gaps = 0;
    for (std::string line; std::getline(lines, line);) {
      const size_t count = line.find("{\"left_out\":");
      told += line == "event: trace";
      gaps += line == "event: gap";
      if (count != line.npos) left_out += std::stoul(line.substr(count + 12));
    }
    return told + left_out == 1000;
  }));
  EXPECT_LE(place->service->watch_texts(), told + gaps);
}

}  // namespace
}  // namespace trumpet
