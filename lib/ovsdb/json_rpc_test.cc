// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/json_rpc.h"

#include <event2/bufferevent.h>
#include <event2/util.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

class RecordingOwner final : public JsonRpcOwner {
 public:
  void OnRpcConnected() override { is_connected = true; }
  void OnRpcNotification(const std::string& method, const Json& params) override {
    notifications.push_back(method + PrintJson(params));
  }
  void OnRpcClosed(const std::string& why) override { closed.push_back(why); }

  bool is_connected = false;
  std::vector<std::string> notifications;
  std::vector<std::string> closed;
};

// One end is a JsonRpc; the other one is the test, which may be as rude as it likes.
class JsonRpcTest : public testing::Test {
 protected:
  void Connect() {
    IgnoreBrokenPipes();
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    peer_ = ends[1];
    bufferevent* stream = bufferevent_socket_new(loop_.base(), ends[0],
                                                 BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    rpc_ = std::make_unique<JsonRpc>(loop_.base(), stream, options_, &owner_);
    bufferevent_trigger_event(stream, BEV_EVENT_CONNECTED, 0);
    ASSERT_TRUE(loop_.RunUntil([&] { return owner_.is_connected; }));
  }

  void TearDown() override {
    if (peer_ >= 0) close(peer_);
  }

  void Say(const std::string& text) {
    ASSERT_EQ(send(peer_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  // All that came so far.
  const std::string& Heard() {
    char bytes[65536];
    for (ssize_t size; (size = recv(peer_, bytes, sizeof bytes, 0)) > 0;) {
      heard_.append(bytes, static_cast<size_t>(size));
    }
    return heard_;
  }

  std::string WhyClosed() {
    return loop_.RunUntil([&] { return !owner_.closed.empty(); }) ? owner_.closed[0] : "still open";
  }

  OvsdbTestLoop loop_;
  JsonRpcOptions options_;
  RecordingOwner owner_;
  int peer_ = -1;
  std::string heard_;
  std::unique_ptr<JsonRpc> rpc_;
};

TEST_F(JsonRpcTest, MatchesAnswersInAnyOrder) {
  Connect();
  std::string first;
  std::string second;
  rpc_->Request("a", Json::array(), [&](const Result<Json>& reply) { first = PrintJson(*reply); });
  rpc_->Request("b", Json::array(), [&](const Result<Json>& reply) { second = reply.message(); });
  Say(R"({"id":2,"result":null,"error":{"error":"no","details":"never"}})"
      R"({"id":1,"result":[7],"error":null})");
  EXPECT_TRUE(loop_.RunUntil([&] { return !first.empty() && !second.empty(); }));
  EXPECT_EQ(first, "[7]");
  EXPECT_EQ(second, "no: never");
}

TEST_F(JsonRpcTest, AnswersEchoes) {
  Connect();
  Say(R"({"id":"x","method":"echo","params":["hello"]})");
  EXPECT_TRUE(loop_.RunUntil([&] { return !Heard().empty(); }));
  EXPECT_EQ(ParseJson(heard_), ParseJson(R"({"id":"x","result":["hello"],"error":null})"));
}

TEST_F(JsonRpcTest, TellsNotifications) {
  Connect();
  Say(R"({"id":null,"method":"update","params":[1,{}]})");
  EXPECT_TRUE(loop_.RunUntil([&] { return !owner_.notifications.empty(); }));
  EXPECT_EQ(owner_.notifications[0], "update[1,{}]");
}

TEST_F(JsonRpcTest, ClosesOnWhatIsNoJsonRpc) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"SSH-2.0-x\r\n", "the stream has something that is no object"},
      {"{]", "the peer sends what is no JSON"},
      {"{}", "the peer sends no JSON-RPC"},
      {R"({"method":7,"params":[]})", "the peer sends no JSON-RPC"},
      {R"({"method":"update","params":{}})", "the peer sends no JSON-RPC"},
      {R"({"id":99,"result":[],"error":null})", "the peer answers what was not asked"},
      {R"({"id":-1,"result":[],"error":null})", "the peer answers what was not asked"},
  };
  for (const auto& one : cases) {
    owner_ = RecordingOwner();
    Connect();
    Say(one.text);
    EXPECT_EQ(WhyClosed(), one.why) << one.text;
    close(peer_);
    peer_ = -1;
  }
}

TEST_F(JsonRpcTest, ProbesASilentPeerAndGivesItUp) {
  options_.probe_interval = 40 * kNanosPerMilli;
  Connect();
  EXPECT_EQ(WhyClosed(), "silent for too long");
  EXPECT_NE(Heard().find("\"echo\""), std::string::npos);
}

TEST_F(JsonRpcTest, LetsAPeerBeSilentWhileItWorks) {
  options_.probe_interval = 40 * kNanosPerMilli;
  options_.request_timeout = 800 * kNanosPerMilli;
  Connect();
  std::string answer;
  rpc_->Request(
      "a", Json::array(),
      [&](const Result<Json>& reply) { answer = reply.ok() ? "done" : reply.message(); },
      JsonRpc::Work::kLong);
  loop_.RunFor(5 * options_.probe_interval);
  EXPECT_TRUE(owner_.closed.empty());
  Say(R"({"id":1,"result":[],"error":null})");
  EXPECT_TRUE(loop_.RunUntil([&] { return !answer.empty(); }));
  EXPECT_EQ(answer, "done");
  EXPECT_EQ(WhyClosed(), "silent for too long") << "and then no longer";
  // Not for ever.
  owner_ = RecordingOwner();
  close(peer_);
  Connect();
  rpc_->Request(
      "a", Json::array(), [](const Result<Json>&) {}, JsonRpc::Work::kLong);
  EXPECT_EQ(WhyClosed(), "a request was not answered in time");
}

TEST_F(JsonRpcTest, GivesUpARequestThatIsNotAnswered) {
  options_.probe_interval = 40 * kNanosPerMilli;
  options_.request_timeout = 400 * kNanosPerMilli;
  Connect();
  std::string error;
  rpc_->Request("a", Json::array(), [&](const Result<Json>& reply) { error = reply.message(); });
  // The peer is alive: it says something now and then.
  LoopEvent chat(loop_.base(), [&] { Say(R"({"id":null,"method":"x","params":[]})"); });
  chat.RunEvery(10 * kNanosPerMilli);
  EXPECT_EQ(WhyClosed(), "a request was not answered in time");
  EXPECT_EQ(error, "a request was not answered in time");
}

TEST_F(JsonRpcTest, GivesUpAPeerThatAsksAndDoesNotRead) {
  options_.limits.max_bytes = 4096;
  Connect();
  const std::string echo =
      R"({"id":1,"method":"echo","params":[")" + std::string(3000, 'x') + "\"]}";
  LoopEvent flood(loop_.base(), [&] { send(peer_, echo.data(), echo.size(), MSG_NOSIGNAL); });
  flood.RunEvery(100 * kNanosPerMicro);
  const std::string why = WhyClosed();
  // A partial send of the test's makes the stream end in garbage; both are ends.
  EXPECT_TRUE(why == "the peer does not read" || why.find("stream") != why.npos ||
              why.find("allowed") != why.npos || why.find("JSON") != why.npos)
      << why;
}

TEST_F(JsonRpcTest, TellsRequestsOfTheEnd) {
  Connect();
  std::string error;
  rpc_->Request("a", Json::array(), [&](const Result<Json>& reply) { error = reply.message(); });
  ASSERT_TRUE(loop_.RunUntil([&] { return !Heard().empty(); }));
  close(peer_);
  peer_ = -1;
  EXPECT_EQ(WhyClosed(), "closed by the peer");
  EXPECT_EQ(error, "closed by the peer");
}

}  // namespace
}  // namespace trumpet
