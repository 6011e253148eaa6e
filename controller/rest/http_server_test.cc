// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/http_server.h"

#include <gtest/gtest.h>

#include <random>

#include "controller/rest/rest_kit_test.h"

namespace trumpet {
namespace {

// Answers with what was asked; "/later" when told to, "/never" not at all.
class Echo final : public HttpOwner {
 public:
  void OnRequest(std::shared_ptr<HttpExchange> exchange) override {
    ++requests;
    const HttpRequest& request = exchange->request();
    if (request.path == "/later") {
      kept.push_back(std::move(exchange));
    } else if (request.path == "/stream") {
      exchange->StartStream("text/event-stream");
      kept.push_back(std::move(exchange));
    } else if (request.path != "/never") {
      HttpReply answer;
      answer.content_type = "text/plain";
      answer.body = request.method + " " + request.path + " " + request.Text();
      if (request.path == "/big") answer.body.assign(8 * 1024 * 1024, 'x');
      exchange->Answer(std::move(answer));
    }
  }
  bool MayUpload(std::string_view, std::string_view target, std::string_view authorization,
                 const std::string&) override {
    return target == "/upload" && authorization == "yes";
  }

  int requests = 0;
  std::vector<std::shared_ptr<HttpExchange>> kept;
};

class HttpServerTest : public testing::Test {
 protected:
  void Listen() {
    server_ = std::make_unique<HttpServer>(loop_.base(), limits_, &echo_);
    const auto port = server_->Listen(*ParsePassiveAddress("ptcp:0:127.0.0.1"), nullptr);
    ASSERT_TRUE(port.ok()) << port.message();
    port_ = *port;
  }
  std::unique_ptr<RawClient> Connect() { return std::make_unique<RawClient>(&loop_, port_); }
  bool WaitForNoConnection() {
    return loop_.RunUntil([&] { return server_->connection_count() == 0; });
  }

  Loop loop_;
  HttpLimits limits_;
  Echo echo_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
};

TEST_F(HttpServerTest, AnswersOneRequestAfterTheOther) {
  Listen();
  auto client = Connect();
  EXPECT_EQ(BodyOf(client->Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")), "GET /a ");
  EXPECT_EQ(BodyOf(client->Ask("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")),
            "POST /b hi");
  EXPECT_EQ(server_->counters().answers[2], 2u);
}

TEST_F(HttpServerTest, AnswersRequestsSentAheadInOrder) {
  Listen();
  auto client = Connect();
  client->Send(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const char* body : {"GET /1 ", "GET /2 ", "GET /3 "}) {
    EXPECT_EQ(BodyOf(client->Answer()), body);
  }
}

TEST_F(HttpServerTest, TakesChunkedBodies) {
  Listen();
  auto client = Connect();
  EXPECT_EQ(BodyOf(client->Ask("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")),
            "POST /c abcde");
}

TEST_F(HttpServerTest, AnswersHeadWithoutBody) {
  Listen();
  auto client = Connect();
  const std::string answer = client->Ask("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n", false);
  EXPECT_NE(answer.find("Content-Length: 8\r\n"), answer.npos) << answer;
  EXPECT_EQ(BodyOf(client->Ask("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")), "GET /b ");
}

TEST_F(HttpServerTest, RefusesWhatProxiesCouldReadOtherwise) {
  Listen();
  for (const char* request :
       {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde",
        "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a?b=1&b=2 HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    auto client = Connect();
    EXPECT_EQ(StatusOf(client->Ask(request)), 400) << request;
    EXPECT_TRUE(client->WaitForClose()) << request;
  }
  EXPECT_EQ(echo_.requests, 0);
}

TEST_F(HttpServerTest, RefusesUnknownMethods) {
  Listen();
  auto client = Connect();
  const std::string answer = client->Ask("BREW /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_GE(StatusOf(answer), 400) << answer;
  EXPECT_EQ(echo_.requests, 0);
}

TEST_F(HttpServerTest, CutsLongHeaders) {
  limits_.max_header_bytes = 1024;
  Listen();
  auto client = Connect();
  client->Send("GET /a HTTP/1.1\r\nX: " + std::string(100000, 'x') + "\r\n\r\n");
  EXPECT_TRUE(client->WaitForClose());
  EXPECT_EQ(echo_.requests, 0);
  EXPECT_TRUE(WaitForNoConnection());
  EXPECT_EQ(server_->counters().unfinished_requests, 1u);
}

TEST_F(HttpServerTest, RefusesLongBodies) {
  limits_.max_body_bytes = 1000;
  Listen();
  for (const char* kind :
       {"Content-Length: 2000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7d0\r\n"}) {
    auto client = Connect();
    client->Send(std::string("POST /a HTTP/1.1\r\nHost: x\r\n") + kind);
    client->Send(std::string(2000, 'x') + "\r\n0\r\n\r\n");
    EXPECT_TRUE(client->WaitForClose());
  }
  EXPECT_EQ(echo_.requests, 0);
  EXPECT_TRUE(WaitForNoConnection());
  EXPECT_EQ(server_->pending_bytes(), 0u);
}

TEST_F(HttpServerTest, TakesLongBodiesFromTrustedClients) {
  limits_.max_body_bytes = 1000;
  limits_.max_upload_bytes = 3000;
  Listen();
  const auto upload = [](const char* who, size_t size) {
    return std::string("POST /upload HTTP/1.1\r\nHost: x\r\nAuthorization: ") + who +
           "\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'x');
  };
  auto trusted = Connect();
  EXPECT_EQ(StatusOf(trusted->Ask(upload("yes", 3000))), 200);
  EXPECT_EQ(StatusOf(trusted->Ask(upload("yes", 3000))), 200);  // on the same connection, too
  auto other = Connect();
  other->Send(upload("no", 3000));
  EXPECT_TRUE(other->WaitForClose());
  auto longer = Connect();
  longer->Send(upload("yes", 4000));
  EXPECT_TRUE(longer->WaitForClose());
  EXPECT_EQ(echo_.requests, 2);
}

TEST_F(HttpServerTest, BoundsUploadsAtOnce) {
  limits_.max_uploads = 1;
  limits_.max_body_bytes = 10;
  Listen();
  auto first = Connect();
  first->Send(
      "POST /upload HTTP/1.1\r\nAuthorization: yes\r\nContent-Length: 20\r\n\r\n1234567890");
  ASSERT_TRUE(loop_.RunUntil([&] { return server_->counters().uploads == 1; }));
  auto second = Connect();
  second->Send("POST /upload HTTP/1.1\r\nAuthorization: yes\r\nContent-Length: 20\r\n\r\n");
  EXPECT_TRUE(second->WaitForClose());
  EXPECT_EQ(server_->counters().uploads_refused, 1u);
  EXPECT_EQ(StatusOf(first->Ask("1234567890")), 200);
}

TEST_F(HttpServerTest, BoundsConnections) {
  limits_.max_connections = 2;
  Listen();
  auto one = Connect();
  auto two = Connect();
  EXPECT_EQ(StatusOf(one->Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
  EXPECT_EQ(StatusOf(two->Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
  auto three = Connect();
  EXPECT_TRUE(three->WaitForClose());
  EXPECT_EQ(server_->counters().refused_total, 1u);
  one->Close();
  ASSERT_TRUE(loop_.RunUntil([&] { return server_->connection_count() == 1; }));
  auto four = Connect();
  EXPECT_EQ(StatusOf(four->Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
}

TEST_F(HttpServerTest, BoundsConnectionsOfAnAddress) {
  limits_.max_connections_per_address = 1;
  Listen();
  auto one = Connect();
  EXPECT_EQ(StatusOf(one->Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
  auto two = Connect();
  EXPECT_TRUE(two->WaitForClose());
  EXPECT_EQ(server_->counters().refused_address, 1u);
}

TEST_F(HttpServerTest, CutsClientsThatAreSlowToAsk) {
  limits_.request = 300 * kNanosPerMilli;
  limits_.max_header_bytes = 1024 * 1024 * 1024;
  Listen();
  auto client = Connect();
  client->Send("GET /a HTTP/1.1\r\nHo");
  // However often a byte comes.
  ASSERT_TRUE(loop_.RunUntil([&] {
    client->Receive();
    send(client->fd(), "x", 1, MSG_NOSIGNAL);
    return client->is_closed();
  }));
  EXPECT_EQ(server_->counters().slow_requests, 1u);
}

TEST_F(HttpServerTest, ClosesIdleConnections) {
  limits_.idle = 100 * kNanosPerMilli;
  Listen();
  auto silent = Connect();
  auto client = Connect();
  EXPECT_EQ(StatusOf(client->Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
  EXPECT_TRUE(silent->WaitForClose());
  EXPECT_TRUE(client->WaitForClose());
  EXPECT_EQ(server_->counters().slow_requests, 0u);
}

TEST_F(HttpServerTest, CutsClientsThatAreSlowToTakeAnAnswer) {
  limits_.answer = 300 * kNanosPerMilli;
  Listen();
  auto client = Connect();
  client->Send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(loop_.RunUntil([&] { return echo_.requests == 1; }));
  EXPECT_TRUE(WaitForNoConnection());
  EXPECT_EQ(server_->counters().slow_answers, 1u);
}

TEST_F(HttpServerTest, CutsClientsThatSendWhileTheyAreAnswered) {
  Listen();
  auto client = Connect();
  client->Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(client->WaitForText("\r\n\r\n"));
  client->Send(std::string(200000, 'x'));
  EXPECT_TRUE(client->WaitForClose());
  EXPECT_EQ(server_->counters().overflows, 1u);
  EXPECT_FALSE(echo_.kept.at(0)->is_open());
  EXPECT_EQ(server_->stream_count(), 0u);
}

TEST_F(HttpServerTest, BoundsWhatAllClientsHaveUnderWay) {
  limits_.max_pending_bytes = 100000;
  Listen();
  auto one = Connect();
  one->Send("POST /a HTTP/1.1\r\nContent-Length: 900000\r\n\r\n" + std::string(80000, 'x'));
  ASSERT_TRUE(loop_.RunUntil([&] { return server_->pending_bytes() > 80000; }));
  auto two = Connect();
  two->Send("POST /a HTTP/1.1\r\nContent-Length: 900000\r\n\r\n" + std::string(80000, 'x'));
  EXPECT_TRUE(two->WaitForClose());
  EXPECT_EQ(server_->counters().overflows, 1u);
  EXPECT_LE(server_->pending_bytes(), 100000u);
}

TEST_F(HttpServerTest, AnswersLater) {
  Listen();
  auto client = Connect();
  client->Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(loop_.RunUntil([&] { return echo_.kept.size() == 1; }));
  HttpReply answer;
  answer.body = "at last";
  echo_.kept[0]->Answer(std::move(answer));
  EXPECT_EQ(BodyOf(client->Answer()), "at last");
}

TEST_F(HttpServerTest, AnswersAClientThatHasGone) {
  Listen();
  for (const char* path : {"/later", "/stream"}) {
    auto client = Connect();
    client->Send(std::string("GET ") + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_TRUE(loop_.RunUntil([&] { return !echo_.kept.empty(); }));
    client->Close();
    const auto exchange = echo_.kept[0];
    echo_.kept.clear();
    loop_.RunUntil([&] {
      if (exchange->is_answered()) exchange->Write("data\n\n");
      return !exchange->is_open() || !exchange->is_answered();
    });
    exchange->Answer(HttpReply());
    EXPECT_TRUE(WaitForNoConnection()) << path;
  }
}

TEST_F(HttpServerTest, AnswersWhatIsForgotten) {
  Listen();
  auto client = Connect();
  EXPECT_EQ(StatusOf(client->Ask("GET /never HTTP/1.1\r\nHost: x\r\n\r\n")), 500);
}

TEST_F(HttpServerTest, CutsStreamsThatNobodyReads) {
  limits_.max_stream_bytes = 100000;
  Listen();
  auto client = Connect();
  client->Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(loop_.RunUntil([&] { return echo_.kept.size() == 1; }));
  const std::string piece(10000, 'x');
  EXPECT_TRUE(loop_.RunUntil([&] { return !echo_.kept[0]->Write(piece); }));
  EXPECT_TRUE(WaitForNoConnection());
  EXPECT_EQ(server_->counters().slow_streams, 1u);
}

TEST_F(HttpServerTest, EndsWithRequestsUnderWay) {
  Listen();
  auto half = Connect();
  half->Send("POST /a HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
  auto later = Connect();
  later->Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  auto stream = Connect();
  stream->Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  auto fresh = Connect();
  ASSERT_TRUE(loop_.RunUntil([&] { return echo_.kept.size() == 2; }));
  server_.reset();
  for (const auto& exchange : echo_.kept) EXPECT_FALSE(exchange->is_open());
  echo_.kept[0]->Answer(HttpReply());
  EXPECT_TRUE(half->WaitForClose());
}

// Random pieces of requests, good and bad, cut anywhere: the server lives on, and holds nothing of
// them in the end.
TEST_F(HttpServerTest, SurvivesRandomClients) {
  limits_.request = 2 * kNanosPerSecond;
  limits_.idle = kNanosPerSecond;
  Listen();
  const char* const pieces[] = {"GET ",
                                "POST ",
                                "HEAD ",
                                "BREW ",
                                "/a",
                                "/later",
                                "/stream",
                                "/%41",
                                "/upload",
                                " HTTP/1.1\r\n",
                                " HTTP/1.0\r\n",
                                " HTTP/9.9\r\n",
                                "Host: x\r\n",
                                "Content-Length: 5\r\n",
                                "Content-Length: -1\r\n",
                                "Content-Length: 99999999999999999999\r\n",
                                "Authorization: yes\r\n",
                                "Transfer-Encoding: chunked\r\n",
                                "Expect: 100-continue\r\n",
                                "Connection: close\r\n",
                                "\r\n",
                                "\n",
                                "5\r\nhello\r\n",
                                "0\r\n\r\n",
                                "fffffffffffffff\r\n",
                                "hello",
                                ":",
                                " ",
                                "\t folded\r\n"};
  const unsigned seed = 20260917;
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 400; ++round) {
    auto client = Connect();
    const unsigned count = 1 + random() % 14;
    std::string sent;
    for (unsigned i = 0; i < count; ++i) {
      std::string piece = pieces[random() % std::size(pieces)];
      if (random() % 8 == 0) piece[random() % piece.size()] = static_cast<char>(random());
      sent += piece;
    }
    client->Send(std::string_view(sent).substr(0, random() % (sent.size() + 1)));
    loop_.RunReady(3);
    if (random() % 2 == 0) client->Send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    loop_.RunReady(2);
    if (random() % 3 == 0) echo_.kept.clear();
  }
  echo_.kept.clear();
  EXPECT_TRUE(WaitForNoConnection());
  EXPECT_EQ(server_->pending_bytes(), 0u);
  EXPECT_EQ(server_->stream_count(), 0u);
  auto client = Connect();
  EXPECT_EQ(StatusOf(client->Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
}

}  // namespace
}  // namespace trumpet
