// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/rest_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "controller/rest/report_streams.h"
#include "controller/rest/rest_kit_test.h"
#include "controller/store/memory_event_store.h"
#include "controller/store/memory_report_store.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

constexpr char kHeavy[] =
    R"({"name":"heavy","event":"dstIP=10.1.0.0/16, sum(volume) > 1KB, dstIP, 10ms"})";

const std::string& TopSource() {
  static const std::string top = std::getenv("top_srcdir") ? std::getenv("top_srcdir") : ".";
  return top;
}

// Goes as fast as it is pushed.
class PushedClock final : public WireClock {
 public:
  Nanos UnixNow() const override { return system_.UnixNow(); }
  Nanos MonotonicNow() const override { return system_.MonotonicNow() + ahead; }

  Nanos ahead = 0;

 private:
  SystemWireClock system_;
};

// Keeps reports, and does not answer for them while it is away.
class AwayReports final : public ReportStore {
 public:
  explicit AwayReports(event_base* base) : kept_(base, 2 * ReportHub::kKept, 0) {}
  uint64_t last_number() const override { return kept_.last_number(); }
  void Append(const ReportRows& rows) override { kept_.Append(rows); }
  void Query(const ReportQuery& query, Done done) override {
    ++queries;
    kept_.Query(query, [this, done](Result<ReportRows> rows) {
      if (is_away) return done(trumpet::Status::Error("the disk is away"));
      done(std::move(rows));
    });
  }
  ReportStoreCounters counters() const override { return kept_.counters(); }

  bool is_away = false;
  int queries = 0;

 private:
  MemoryReportStore kept_;
};

class RestServerTest : public testing::Test {
 protected:
  RestServerTest() : reports_(loop_.base()), store_(loop_.base(), 77), hub_(nullptr) {
    EventManagerParts parts;
    parts.base = loop_.base();
    parts.store = &store_;
    parts.reports = &hub_;
    parts.clock = &clock_;
    manager_ = std::make_unique<EventManager>(parts, EventManagerOptions());
    manager_->Start();
    options_.listen = {"ptcp:0:127.0.0.1"};
    options_.access.token_file = folder_.File("tokens.yaml");
    std::string tokens = "tokens:\n";
    for (const char* role : {"read", "operate", "admin"}) {
      tokens += Token(role, role, "");
    }
    tokens += Token("red", "operate", ", tenant: red, prefixes: [10.1.0.0/16]");
    tokens += Token("blue", "operate", ", tenant: blue");
    WriteFile(options_.access.token_file, tokens);
    chmod(options_.access.token_file.c_str(), 0600);
  }

  static std::string Token(const std::string& name, const std::string& role,
                           const std::string& more) {
    return "- {name: " + name + ", sha256: " + ToHex(HashToken(name)) + ", role: " + role + more +
           "}\n";
  }

  void Start() { StartWith(&hub_); }
  void StartWith(ReportHub* reports) {
    RestParts parts;
    parts.base = loop_.base();
    parts.events = manager_.get();
    parts.reports = reports;
    parts.clock = &clock_;
    auto server = RestServer::Start(parts, options_);
    ASSERT_TRUE(server.ok()) << server.message();
    server_ = std::move(*server);
    ASSERT_TRUE(loop_.RunUntil([&] { return manager_->is_store_ready(); }));
  }

  // The whole answer to a request with that token's name.
  std::string Ask(const std::string& token, const std::string& line, const std::string& body = "",
                  const std::string& more = "Content-Type: application/json\r\n") {
    RawClient client(&loop_, server_->ports().at(0));
    std::string request = line + " HTTP/1.1\r\nHost: localhost\r\n" + more;
    if (!token.empty()) request += "Authorization: Bearer " + token + "\r\n";
    if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return client.Ask(request + "\r\n" + body, line.compare(0, 4, "HEAD") != 0);
  }
  int Status(const std::string& token, const std::string& line, const std::string& body = "",
             const std::string& more = "Content-Type: application/json\r\n") {
    return StatusOf(Ask(token, line, body, more));
  }
  Json Get(const std::string& token, const std::string& path) {
    return Json::parse(BodyOf(Ask(token, "GET " + path)), nullptr, false);
  }

  void Publish(const std::string& event, const std::string& tenant, int count = 1) {
    PublishTo(&hub_, event, tenant, count);
  }
  void PublishTo(ReportHub* hub, const std::string& event, const std::string& tenant, int count) {
    for (int i = 0; i < count; ++i) {
      NetworkReport report;
      report.report.event = event;
      report.report.bucket_json = R"({"dstIP":"10.1.0.1"})";
      report.report.start_ns = clock_.UnixNow();
      report.report.end_ns = report.report.start_ns + 10 * kNanosPerMilli;
      hub->Publish({report}, tenant);
    }
  }

  Loop loop_;
  TempFolder folder_;
  PushedClock clock_;
  AwayReports reports_;
  MemoryEventStore store_;
  ReportHub hub_;
  ReportHub stored_hub_{&reports_};
  RestOptions options_;
  std::unique_ptr<EventManager> manager_;
  std::unique_ptr<RestServer> server_;
};

TEST_F(RestServerTest, LetsEachRoleDoWhatItMay) {
  options_.access.max_failures = 1000;
  Start();
  for (const RestRoute& route : RestServer::Routes()) {
    std::string line = std::string(route.method) + " " + route.path;
    const size_t name = line.find("{name}");
    if (name != line.npos) line.replace(name, 6, "nothing");
    if (line == "GET /v1/stream") line = "HEAD /v1/stream";
    const std::pair<std::string, Role> tokens[] = {{"", Role::kNobody},
                                                   {"read", Role::kRead},
                                                   {"operate", Role::kOperate},
                                                   {"admin", Role::kAdmin}};
    for (const auto& [token, role] : tokens) {
      const int status = Status(token, line);
      if (role >= route.role) {
        EXPECT_TRUE(status != 401 && status != 403) << line << " " << token << " " << status;
      } else {
        EXPECT_EQ(status, token.empty() ? 401 : 403) << line << " " << token;
      }
    }
    EXPECT_EQ(Status("red", line) == 403, !route.is_for_tenants) << line;
    EXPECT_EQ(Status("wrong", line) == 401, route.role != Role::kNobody) << line;
  }
}

TEST_F(RestServerTest, KeepsEvents) {
  Start();
  EXPECT_EQ(Status("operate", "POST /v1/events", std::string("[") + kHeavy + "]"), 201);
  EXPECT_EQ(Status("operate", "POST /v1/events", std::string("[") + kHeavy + "]"), 409);
  EXPECT_EQ(Status("operate", "POST /v1/events?replace=true", std::string("[") + kHeavy + "]"),
            200);
  const Json event = Get("read", "/v1/events/heavy");
  EXPECT_EQ(event["name"], "heavy");
  EXPECT_EQ(event["definition"]["name"], "heavy");
  EXPECT_EQ(event["changed_by"], "operate");
  EXPECT_EQ(Get("read", "/v1/events")["events"].size(), 1u);
  EXPECT_EQ(Status("operate", "PATCH /v1/events/heavy", R"({"enabled":false})"), 200);
  EXPECT_EQ(Get("read", "/v1/events/heavy")["enabled"], false);
  EXPECT_EQ(Status("operate", "DELETE /v1/events/heavy"), 204);
  EXPECT_EQ(Status("read", "GET /v1/events/heavy"), 404);
}

TEST_F(RestServerTest, ReplacesOnlyTheEventThatIsMeant) {
  Start();
  const std::string first = Ask("operate", "PUT /v1/events/heavy", kHeavy);
  EXPECT_EQ(StatusOf(first), 201) << first;
  const size_t at = first.find("ETag: ");
  ASSERT_NE(at, first.npos) << first;
  const std::string tag = first.substr(at + 6, first.find("\r\n", at) - at - 6);
  const std::string json = "Content-Type: application/json\r\nIf-Match: ";
  const std::string changed =
      R"({"name":"heavy","event":"dstIP=10.1.0.0/16, sum(volume) > 2KB, dstIP, 10ms"})";
  EXPECT_EQ(Status("operate", "PUT /v1/events/heavy", changed, json + tag + "\r\n"), 200);
  EXPECT_EQ(Status("operate", "PUT /v1/events/heavy", kHeavy, json + tag + "\r\n"), 412);
  EXPECT_EQ(Status("operate", "DELETE /v1/events/heavy", "", json + tag + "\r\n"), 412);
  EXPECT_EQ(Status("operate", "PUT /v1/events/other", kHeavy), 422);
  // Somebody has switched it off meanwhile.
  EXPECT_EQ(Status("operate", "PATCH /v1/events/heavy", R"({"enabled":false})", json + "*\r\n"),
            200);
  EXPECT_EQ(Status("operate", "DELETE /v1/events/heavy", "", json + "\"e2\"\r\n"), 412);
  EXPECT_EQ(Status("operate", "DELETE /v1/events/heavy", "", json + "\"e2-off\"\r\n"), 204);
}

TEST_F(RestServerTest, NamesThePlaceOfWhatIsWrong) {
  Start();
  const std::string answer =
      Ask("read", "POST /v1/check", "- {name: a, event: \"*, sum(bytez) > 1, 10ms\"}\n",
          "Content-Type: application/yaml\r\n");
  EXPECT_EQ(StatusOf(answer), 422);
  EXPECT_NE(answer.find("Content-Type: application/problem+json"), answer.npos);
  const Json problem = Json::parse(BodyOf(answer), nullptr, false);
  EXPECT_EQ(problem["errors"][0]["line"], 1) << answer;
  EXPECT_EQ(problem["errors"][0]["column"], 28) << answer;
  EXPECT_EQ(Status("read", "POST /v1/check", "x", "Content-Type: text/plain\r\n"), 415);
  const std::string bare =
      Ask("operate", "PUT /v1/events/a", R"({"name":"a","event":"*, sum(bytez) > 1, 10ms"})");
  EXPECT_EQ(Json::parse(BodyOf(bare), nullptr, false)["errors"][0]["column"], 29) << bare;
}

TEST_F(RestServerTest, TellsWhatWouldBecomeOfAnEvent) {
  Start();
  const std::string answer = Ask("read", "POST /v1/check", std::string("[") + kHeavy + "]");
  ASSERT_EQ(StatusOf(answer), 200) << answer;
  const Json check = Json::parse(BodyOf(answer))["events"][0];
  EXPECT_EQ(check["exists"], false);
  EXPECT_EQ(check["name"], "heavy");
  EXPECT_EQ(Get("read", "/v1/events")["events"].size(), 0u);
}

TEST_F(RestServerTest, KeepsTenantsApart) {
  Start();
  EXPECT_EQ(Status("red", "PUT /v1/events/heavy", kHeavy), 201);
  EXPECT_EQ(Get("red", "/v1/events")["events"].size(), 1u);
  EXPECT_EQ(Get("blue", "/v1/events")["events"].size(), 0u);
  for (const char* line :
       {"GET /v1/events/heavy", "DELETE /v1/events/heavy", "GET /v1/events/heavy/hosts"}) {
    EXPECT_EQ(Status("blue", line), 404) << line;
  }
  EXPECT_EQ(Get("admin", "/v1/events")["events"].size(), 1u);
  const std::string outside =
      Ask("red", "PUT /v1/events/far",
          R"({"name":"far","event":"dstIP=10.2.0.0/16, sum(volume) > 1KB, dstIP, 10ms"})");
  EXPECT_EQ(StatusOf(outside), 422) << outside;
  Publish("heavy", "red");
  Publish("other", "blue");
  EXPECT_EQ(Get("red", "/v1/reports")["reports"].size(), 1u);
  EXPECT_EQ(Get("blue", "/v1/reports")["reports"][0]["event"], "other");
  EXPECT_EQ(Get("admin", "/v1/reports")["reports"].size(), 2u);
}

TEST_F(RestServerTest, RefusesChangesWhileTheStoreIsAway) {
  Start();
  store_.SetState(StoreState::kAway, "its server has gone");
  loop_.RunReady();
  const std::string answer = Ask("operate", "PUT /v1/events/heavy", kHeavy);
  EXPECT_EQ(StatusOf(answer), 503);
  EXPECT_NE(answer.find("its server has gone"), answer.npos) << answer;
  const std::string away = Ask("", "GET /readyz");
  EXPECT_EQ(StatusOf(away), 503);
  EXPECT_NE(away.find(R"("not_ready":["events"])"), away.npos) << away;
  EXPECT_EQ(Status("", "GET /healthz"), 200);
  store_.SetState(StoreState::kStandby, "another has the lock");
  loop_.RunReady();
  EXPECT_EQ(StatusOf(Ask("operate", "PUT /v1/events/heavy", kHeavy)), 503);
  const std::string standby = Ask("", "GET /readyz");
  EXPECT_EQ(StatusOf(standby), 503);
  EXPECT_NE(standby.find(R"("status":"standby")"), standby.npos) << standby;
}

TEST_F(RestServerTest, PagesThroughReports) {
  Start();
  Publish("heavy", "", 25);
  std::set<uint64_t> numbers;
  std::string path = "/v1/reports?limit=10&order=asc";
  for (int page = 0; page < 3; ++page) {
    const Json answer = Get("read", path);
    for (const Json& report : answer["reports"]) numbers.insert(report["number"].get<uint64_t>());
    EXPECT_EQ(answer["next_cursor"].is_null(), page == 2) << answer;
    if (page < 2) {
      path = "/v1/reports?limit=10&order=asc&cursor=" + answer["next_cursor"].dump();
    }
  }
  EXPECT_EQ(numbers.size(), 25u);
  EXPECT_EQ(Get("read", "/v1/reports?limit=1")["reports"][0]["number"], 25);
  EXPECT_EQ(Get("read", "/v1/reports?event=other")["reports"].size(), 0u);
  EXPECT_EQ(Get("read", "/v1/reports?until=1")["reports"].size(), 0u);
  EXPECT_EQ(Get("read", "/v1/reports?until=0001-01-01T00:00:00Z")["reports"].size(), 0u);
  EXPECT_EQ(Get("read", "/v1/reports?from=0001-01-01T00:00:00Z&limit=2")["reports"].size(), 2u);
  EXPECT_EQ(Get("read", "/v1/reports?bucket=%7B%22dstIP%22:%2210.1.0.1%22%7D")["reports"].size(),
            25u);
  for (const char* wrong : {"limit=x", "limit=1001", "from=today", "order=up", "limt=1"}) {
    EXPECT_EQ(Status("read", std::string("GET /v1/reports?") + wrong), 400) << wrong;
  }
}

TEST_F(RestServerTest, StreamsReports) {
  Start();
  Publish("heavy", "", 3);
  RawClient client(&loop_, server_->ports().at(0));
  client.Send(
      "GET /v1/stream?event=heavy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\n"
      "Last-Event-ID: 1\r\n\r\n");
  ASSERT_TRUE(client.WaitForText("id: 3\n"));
  EXPECT_NE(client.received().find("id: 1\n\n"), std::string::npos) << "it goes on after this one";
  EXPECT_EQ(client.received().find("\"number\":1,"), std::string::npos);
  EXPECT_NE(client.received().find("id: 2\ndata: {\"number\":2,\"event\":\"heavy\""),
            std::string::npos)
      << client.received();
  Publish("other", "");
  Publish("heavy", "");
  ASSERT_TRUE(client.WaitForText("id: 5\n"));
  EXPECT_EQ(client.received().find("id: 4\n"), std::string::npos);
  server_->Stop();
  EXPECT_TRUE(client.WaitForText("\r\n0\r\n\r\n"));
}

TEST_F(RestServerTest, StreamsReportsOfEventsWithCommasInTheirNames) {
  Start();
  for (const char* event : {"a", "a,b", "b", "c"}) Publish(event, "");
  RawClient client(&loop_, server_->ports().at(0));
  client.Send(
      "GET /v1/stream?event=a%5C,b,c&after=0 HTTP/1.1\r\nHost: x\r\n"
      "Authorization: Bearer read\r\n\r\n");
  ASSERT_TRUE(client.WaitForText("id: 4\n"));
  EXPECT_NE(client.received().find("id: 2\ndata: {\"number\":2,\"event\":\"a,b\""),
            std::string::npos)
      << client.received();
  for (const char* other : {"id: 1\n", "id: 3\n"}) {
    EXPECT_EQ(client.received().find(other), std::string::npos) << other;
  }
}

TEST_F(RestServerTest, StreamsOfNoEventAreRefused) {
  Start();
  for (const char* wrong : {"event=,", "event=", "event=,,&after=0", "kind=slice&slice=,"}) {
    EXPECT_EQ(Status("read", std::string("GET /v1/stream?") + wrong), 400) << wrong;
  }
}

TEST_F(RestServerTest, StreamSaysWhatIsNoLongerKnown) {
  Start();
  Publish("heavy", "", static_cast<int>(ReportHub::kKept) + 10);
  RawClient client(&loop_, server_->ports().at(0));
  client.Send("GET /v1/stream?after=2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\n\r\n");
  EXPECT_TRUE(client.WaitForText("id: 10\nevent: gap\ndata: {\"after\":2,\"before\":11}\n"));
  EXPECT_TRUE(client.WaitForText("id: 11\n"));
  EXPECT_TRUE(client.WaitForText("id: " + std::to_string(ReportHub::kKept + 10) + "\n"));
}

TEST_F(RestServerTest, AStreamAsksAStoreThatIsAwayAgain) {
  StartWith(&stored_hub_);
  PublishTo(&stored_hub_, "heavy", "", static_cast<int>(ReportHub::kKept) + 10);
  reports_.is_away = true;
  RawClient client(&loop_, server_->ports().at(0));
  client.Send("GET /v1/stream?after=2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\n\r\n");
  ASSERT_TRUE(loop_.RunUntil([&] { return reports_.queries == 1; }));
  loop_.RunReady(500);
  reports_.is_away = false;
  clock_.ahead += ReportStreams::kAskAgain;
  EXPECT_TRUE(client.WaitForText("id: " + std::to_string(ReportHub::kKept + 10) + "\n"));
  EXPECT_NE(client.received().find("id: 3\ndata: "), std::string::npos);
  EXPECT_EQ(client.received().find("event: gap"), std::string::npos);
}

TEST_F(RestServerTest, AStreamOfOneEventSaysWhatAStoreThatStaysAwayKeepsFromIt) {
  StartWith(&stored_hub_);
  PublishTo(&stored_hub_, "heavy", "", static_cast<int>(ReportHub::kKept) + 10);
  reports_.is_away = true;
  RawClient client(&loop_, server_->ports().at(0));
  client.Send(
      "GET /v1/stream?after=2&event=heavy HTTP/1.1\r\nHost: x\r\n"
      "Authorization: Bearer read\r\n\r\n");
  ASSERT_TRUE(loop_.RunUntil([&] { return reports_.queries == 1; }));
  loop_.RunReady(500);
  clock_.ahead += ReportStreams::kStoreAway;
  EXPECT_TRUE(client.WaitForText("id: 10\nevent: gap\ndata: {\"after\":2,\"before\":11}\n"));
  EXPECT_TRUE(client.WaitForText("id: " + std::to_string(ReportHub::kKept + 10) + "\n"));
}

TEST_F(RestServerTest, AStreamThatAlwaysHasSomethingToSayEndsWithItsToken) {
  Start();
  RawClient client(&loop_, server_->ports().at(0));
  client.Send("GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\n\r\n");
  Publish("heavy", "");
  ASSERT_TRUE(client.WaitForText("id: 1\n"));
  WriteFile(options_.access.token_file, "tokens:\n" + Token("admin", "admin", ""));
  server_->Reload();
  EXPECT_TRUE(loop_.RunUntil([&] {
    Publish("heavy", "");
    clock_.ahead += ReportStreams::kTokenLasts;
    client.Receive();
    return client.received().find("\r\n0\r\n\r\n") != std::string::npos;
  }));
}

TEST_F(RestServerTest, ABacklogCostsTheServerLittle) {
  Start();
  Publish("heavy", "", static_cast<int>(ReportHub::kKept));
  RawClient client(&loop_, server_->ports().at(0));
  client.Send("GET /v1/stream?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\n\r\n");
  ASSERT_TRUE(loop_.RunUntil([&] { return server_->http().stream_count() == 1; }));
  Publish("heavy", "", 100);
  loop_.RunReady(500);
  // He who does not read holds up nobody, and is not cut off yet.
  EXPECT_EQ(server_->http().counters().slow_streams, 0u);
  EXPECT_TRUE(client.WaitForText("id: " + std::to_string(ReportHub::kKept + 100) + "\n"));
}

// What is wrong with its body is not looked for.
TEST_F(RestServerTest, RefusesASimulationUnreadWhereThereIsNoRoom) {
  options_.simulation.program = "/bin/true";
  options_.simulation.max_running = 0;
  Start();
  const std::string answer = Ask("operate", "POST /v1/simulate?name=heavy", "no parts",
                                 "Content-Type: multipart/form-data; boundary=XX\r\n");
  EXPECT_EQ(StatusOf(answer), 503);
  EXPECT_NE(answer.find("\r\nRetry-After: 5\r\n"), answer.npos) << answer;
}

TEST_F(RestServerTest, ShowsMetrics) {
  Start();
  Ask("operate", "PUT /v1/events/heavy", kHeavy);
  const std::string answer = Ask("read", "GET /metrics");
  EXPECT_NE(answer.find("Content-Type: text/plain; version=0.0.4"), answer.npos);
  EXPECT_NE(answer.find("\ntrumpet_events{state=\"enabled\"} 1\n"), answer.npos) << answer;
  EXPECT_NE(answer.find("trumpet_http_requests_total{path=\"/v1/events/{name}\",method=\"PUT\","
                        "status=\"201\"} 1\n"),
            answer.npos);
}

TEST_F(RestServerTest, SaysWhatAPathTakes) {
  Start();
  const std::string answer = Ask("read", "DELETE /v1/events");
  EXPECT_EQ(StatusOf(answer), 405);
  EXPECT_NE(answer.find("Allow: GET, HEAD, OPTIONS, POST\r\n"), answer.npos) << answer;
  EXPECT_EQ(Status("", "OPTIONS /v1/events"), 204);
  EXPECT_EQ(Status("read", "GET /v1/nothing"), 404);
  EXPECT_EQ(Status("read", "GET /v1/events/../events"), 404);
  EXPECT_EQ(StatusOf(Ask("read", "HEAD /v1/events")), 200);
}

TEST_F(RestServerTest, IsDescribedExactly) {
  std::ifstream file(TopSource() + "/controller/rest/openapi.json");
  const Json description = Json::parse(file, nullptr, false);
  ASSERT_TRUE(description.is_object());
  std::set<std::string> described;
  for (const auto& path : description["paths"].items()) {
    for (const auto& operation : path.value().items()) {
      if (operation.key() == "parameters") continue;
      std::string line =
          operation.key() + " " + path.key() + " " + operation.value()["x-role"].get<std::string>();
      for (const Json& parameter : operation.value().value("parameters", Json::array())) {
        if (parameter.value("in", "") == "query") {
          line += " " + parameter["name"].get<std::string>();
        }
      }
      described.insert(line);
    }
  }
  std::set<std::string> routed;
  for (const RestRoute& route : RestServer::Routes()) {
    std::string line = route.method;
    for (char& c : line) c = static_cast<char>(std::tolower(c));
    line += std::string(" ") + route.path + " " + RoleName(route.role) + route.parameters;
    line.pop_back();
    routed.insert(line);
  }
  EXPECT_EQ(described, routed);
}

TEST_F(RestServerTest, ServesItsDescription) {
  Start();
  EXPECT_EQ(Get("", "/openapi.json")["openapi"], "3.0.3");
}

TEST_F(RestServerTest, AnswersEndWithTheServer) {
  Start();
  RawClient client(&loop_, server_->ports().at(0));
  client.Send(std::string("PUT /v1/events/heavy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin"
                          "\r\nContent-Type: application/json\r\nContent-Length: ") +
              std::to_string(std::string(kHeavy).size()) + "\r\n\r\n" + kHeavy);
  const uint64_t before = server_->http().counters().requests;
  ASSERT_TRUE(loop_.RunUntil([&] { return server_->http().counters().requests > before; }));
  server_.reset();
  EXPECT_TRUE(client.WaitForClose());
  EXPECT_TRUE(loop_.RunUntil([&] { return manager_->FindEvent("heavy", Caller()).has_value(); }));
}

}  // namespace
}  // namespace trumpet
