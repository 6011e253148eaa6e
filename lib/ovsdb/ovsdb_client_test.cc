// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_client.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

OvsdbClientOptions ThingsOptions(const std::string& remotes) {
  OvsdbClientOptions options = TestClientOptions(remotes, "Things");
  options.tables = {{"Thing", {"name", "size"}}};
  return options;
}

// What there is, by name.
std::map<std::string, int64_t> Things(const OvsdbClient& client) {
  std::map<std::string, int64_t> things;
  for (const auto& [uuid, row] : client.table("Thing")) {
    std::string name;
    int64_t size = 0;
    if (ReadColumn(row, "name", &name) && ReadColumn(row, "size", &size)) things[name] = size;
  }
  return things;
}

using ThingMap = std::map<std::string, int64_t>;

Json Insert(const std::string& name, int64_t size) {
  return Json{{"op", "insert"}, {"table", "Thing"}, {"row", {{"name", name}, {"size", size}}}};
}

class OvsdbClientTest : public testing::Test {
 protected:
  std::unique_ptr<OvsdbClient> Connect(const OvsdbClientOptions& options) {
    return std::make_unique<OvsdbClient>(loop_.base(), options, &listener_);
  }

  bool RunUntilLoaded(const OvsdbClient& client) {
    return loop_.RunUntil([&] { return client.is_loaded(); });
  }

  OvsdbOutcome Transact(OvsdbClient* client, Json operations) {
    std::optional<OvsdbOutcome> outcome;
    client->Transact(std::move(operations), [&](const OvsdbOutcome& came) { outcome = came; });
    EXPECT_FALSE(outcome.has_value()) << "called back from within the call";
    EXPECT_TRUE(loop_.RunUntil([&] { return outcome.has_value(); }));
    return *outcome;
  }

  OvsdbTestLoop loop_;
  RecordingOvsdbListener listener_;
};

TEST_F(OvsdbClientTest, HasWhatIsThereAndWhatOthersChange) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  server.Transact(R"(["Things",{"op":"insert","table":"Thing","row":{"name":"a","size":1}}])");
  const auto client = Connect(ThingsOptions(server.remote()));
  ASSERT_TRUE(RunUntilLoaded(*client)) << client->state();
  EXPECT_EQ(Things(*client), (ThingMap{{"a", 1}}));
  server.Transact(R"(["Things",{"op":"insert","table":"Thing","row":{"name":"b","size":2}},
    {"op":"update","table":"Thing","where":[["name","==","a"]],"row":{"size":3}}])");
  EXPECT_TRUE(loop_.RunUntil([&] { return listener_.changes.size() == 2; }));
  EXPECT_EQ(Things(*client), (ThingMap{{"a", 3}, {"b", 2}}));
  server.Transact(R"(["Things",{"op":"delete","table":"Thing","where":[]}])");
  EXPECT_TRUE(loop_.RunUntil([&] { return Things(*client).empty(); }));
}

TEST_F(OvsdbClientTest, HearsOfItsOwnChangeBeforeTheAnswer) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  const auto client = Connect(ThingsOptions(server.remote()));
  ASSERT_TRUE(RunUntilLoaded(*client)) << client->state();
  for (int i = 0; i < 50; ++i) {
    const OvsdbOutcome outcome =
        Transact(client.get(), Json::array({Insert(std::to_string(i), i)}));
    ASSERT_TRUE(outcome.ok()) << outcome.text;
    ASSERT_EQ(Things(*client).size(), static_cast<size_t>(i) + 1);
  }
}

TEST_F(OvsdbClientTest, SaysWhichOperationWasRefused) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  const auto client = Connect(ThingsOptions(server.remote()));
  ASSERT_TRUE(RunUntilLoaded(*client)) << client->state();
  const Json wait = {
      {"op", "wait"},        {"table", "Thing"}, {"where", Json::array()},   {"timeout", 0},
      {"columns", {"name"}}, {"until", "=="},    {"rows", {{{"name", "x"}}}}};
  OvsdbOutcome outcome = Transact(client.get(), Json::array({Insert("a", 1), wait}));
  EXPECT_EQ(outcome.kind, OvsdbOutcome::Kind::kRefused);
  EXPECT_EQ(outcome.operation, 1u);
  EXPECT_EQ(outcome.error, "timed out");
  EXPECT_TRUE(Things(*client).empty());
  outcome = Transact(client.get(), Json::array({Insert("a", 1), Insert("a", 2)}));
  EXPECT_EQ(outcome.error, "constraint violation");
  EXPECT_EQ(outcome.operation, 2u);
  EXPECT_EQ(client->counters().failed_transactions, 2u);
}

TEST_F(OvsdbClientTest, RefusesChangesWhileTheDatabaseIsAway) {
  const OvsdbTestFolder folder;
  const auto client = Connect(ThingsOptions("unix:" + folder.File("none")));
  const OvsdbOutcome outcome = Transact(client.get(), Json::array({Insert("a", 1)}));
  EXPECT_EQ(outcome.kind, OvsdbOutcome::Kind::kRefused);
  EXPECT_NE(outcome.text.find("the database is away"), std::string::npos) << outcome.text;
  EXPECT_NE(client->state().find("No such file"), std::string::npos) << client->state();
}

TEST_F(OvsdbClientTest, ComesBackAfterAKillAndReplacesTheCopy) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  const auto client = Connect(ThingsOptions(server.remote()));
  ASSERT_TRUE(RunUntilLoaded(*client)) << client->state();
  ASSERT_TRUE(
      Transact(client.get(), Json::array({Insert("a", 1), {{"op", "commit"}, {"durable", true}}}))
          .ok());
  server.Kill(SIGKILL);
  EXPECT_TRUE(loop_.RunUntil([&] { return !client->is_loaded(); }));
  EXPECT_EQ(Things(*client), (ThingMap{{"a", 1}}));
  server.Start();
  server.Transact(R"(["Things",{"op":"insert","table":"Thing","row":{"name":"b","size":2}}])");
  EXPECT_TRUE(loop_.RunUntil([&] { return Things(*client).size() == 2; })) << client->state();
  EXPECT_EQ(listener_.loaded_count >= 2, true);
}

TEST_F(OvsdbClientTest, DoesNotKnowTheOutcomeWhenTheServerDiesMeanwhile) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  const auto client = Connect(ThingsOptions(server.remote()));
  ASSERT_TRUE(RunUntilLoaded(*client)) << client->state();
  server.Signal(SIGSTOP);
  std::optional<OvsdbOutcome> outcome;
  client->Transact(Json::array({Insert("a", 1)}),
                   [&](const OvsdbOutcome& came) { outcome = came; });
  loop_.RunFor(20 * kNanosPerMilli);
  server.Kill(SIGKILL);
  ASSERT_TRUE(loop_.RunUntil([&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->kind, OvsdbOutcome::Kind::kUnknown);
}

TEST_F(OvsdbClientTest, GivesUpAServerThatStalls) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  OvsdbClientOptions options = ThingsOptions(server.remote());
  options.rpc.probe_interval = 200 * kNanosPerMilli;
  const auto client = Connect(options);
  ASSERT_TRUE(RunUntilLoaded(*client)) << client->state();
  server.Signal(SIGSTOP);
  EXPECT_TRUE(loop_.RunUntil([&] { return !client->is_loaded(); }));
  server.Signal(SIGCONT);
  EXPECT_TRUE(RunUntilLoaded(*client)) << client->state();
}

TEST_F(OvsdbClientTest, PassesTheLockOn) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  OvsdbClientOptions options = ThingsOptions(server.remote());
  options.lock = "one";
  auto first = Connect(options);
  ASSERT_TRUE(loop_.RunUntil([&] { return first->is_loaded() && first->has_lock(); }));
  RecordingOvsdbListener other;
  OvsdbClient second(loop_.base(), options, &other);
  ASSERT_TRUE(RunUntilLoaded(second));
  EXPECT_FALSE(second.has_lock());
  const Json assertion = {{"op", "assert"}, {"lock", "one"}};
  EXPECT_EQ(Transact(&second, Json::array({assertion})).error, "not owner");
  EXPECT_TRUE(Transact(first.get(), Json::array({assertion})).ok());
  first.reset();
  EXPECT_TRUE(loop_.RunUntil([&] { return second.has_lock(); }));
  EXPECT_GE(other.state_count, 2);
}

TEST_F(OvsdbClientTest, FindsTheServerOfTheDatabase) {
  OvsdbTestServer wrong;
  wrong.Create(R"({"name": "Other", "version": "1.0.0", "tables": {}})");
  wrong.Start();
  OvsdbTestServer right;
  right.Create(kThingsSchema);
  right.Start();
  auto client = Connect(ThingsOptions(wrong.remote()));
  EXPECT_TRUE(loop_.RunUntil([&] {
    return client->state() == wrong.remote() + ": serves no database Things";
  })) << client->state();
  client = Connect(ThingsOptions(wrong.remote() + "," + right.remote()));
  EXPECT_TRUE(RunUntilLoaded(*client)) << client->state();
  EXPECT_EQ(client->state(), right.remote() + ": connected");
}

TEST_F(OvsdbClientTest, SaysWhatTheSchemaDoesNotHave) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  OvsdbClientOptions options = ThingsOptions(server.remote());
  options.tables["Thing"].push_back("colour");
  const auto client = Connect(options);
  EXPECT_TRUE(loop_.RunUntil([&] { return client->state().find("colour") != std::string::npos; }))
      << client->state();
}

TEST_F(OvsdbClientTest, BoundsTheCopy) {
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  server.Start();
  OvsdbClientOptions options = ThingsOptions(server.remote());
  options.max_copy_bytes = 1000;
  const auto client = Connect(options);
  ASSERT_TRUE(RunUntilLoaded(*client)) << client->state();
  const std::string name(2000, 'x');
  server.Transact(R"(["Things",{"op":"insert","table":"Thing","row":{"name":")" + name + "\"}}]");
  EXPECT_TRUE(loop_.RunUntil([&] {
    return client->state().find("more than the 1000 bytes") != std::string::npos;
  })) << client->state();
}

TEST_F(OvsdbClientTest, FollowsTheLeaderOfACluster) {
  OvsdbTestServer servers[3];
  servers[0].CreateCluster(kThingsSchema);
  servers[0].Start();
  for (int i : {1, 2}) {
    servers[i].JoinCluster("Things", servers[0]);
    servers[i].Start();
  }
  OvsdbClientOptions options =
      ThingsOptions(servers[0].remote() + "," + servers[1].remote() + "," + servers[2].remote());
  options.needs_leader = true;
  options.lock = "one";
  options.seed = 1;  // a follower first
  const auto client = Connect(options);
  ASSERT_TRUE(loop_.RunUntil([&] { return client->is_loaded() && client->has_lock(); }));
  EXPECT_EQ(client->state(), servers[0].remote() + ": connected");
  // All have to be in before one may die.
  options.needs_leader = false;
  for (const OvsdbTestServer& server : servers) {
    options.remotes = *ParseOvsdbRemotes(server.remote());
    const auto member = Connect(options);
    ASSERT_TRUE(RunUntilLoaded(*member)) << member->state();
  }
  ASSERT_TRUE(Transact(client.get(), Json::array({Insert("a", 1)})).ok());
  servers[0].Kill(SIGKILL);
  ASSERT_TRUE(loop_.RunUntil([&] { return !client->is_loaded(); }));
  ASSERT_TRUE(loop_.RunUntil([&] { return client->is_loaded() && client->has_lock(); }))
      << client->state();
  EXPECT_EQ(Things(*client), (ThingMap{{"a", 1}}));
  EXPECT_TRUE(Transact(client.get(), Json::array({Insert("b", 1)})).ok());
}

// Keys and certificates of one CA, as openssl makes them.
class OvsdbClientTlsTest : public OvsdbClientTest {
 protected:
  void MakeAuthority(const std::string& name) {
    RunProgram({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-days", "1", "-subj", "/CN=" + name, "-keyout", File(name + "-key.pem"),
                "-out", File(name + "-cert.pem")});
  }

  std::string File(const std::string& name) const { return folder_.File(name); }

  // Believes `peer` and nobody else.
  void UseKeys(const std::string& name, const std::string& peer) {
    context_.reset(SSL_CTX_new(TLS_method()));
    SSL_CTX_use_PrivateKey_file(context_.get(), File(name + "-key.pem").c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_certificate_chain_file(context_.get(), File(name + "-cert.pem").c_str());
    SSL_CTX_load_verify_locations(context_.get(), File(peer + "-cert.pem").c_str(), nullptr);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  }

  OvsdbClientOptions TlsOptions(const std::string& remote) {
    OvsdbClientOptions options = ThingsOptions(remote);
    options.new_tls_connection = [this] { return SSL_new(context_.get()); };
    return options;
  }

  // The server says in its log which port it was given.
  std::string StartTls(OvsdbTestServer* server) {
    server->Start({"--remote=pssl:0:127.0.0.1", "--private-key=" + File("server-key.pem"),
                   "--certificate=" + File("server-cert.pem"),
                   "--ca-cert=" + File("client-cert.pem")});
    const std::string said = "listening on port ";
    std::string log;
    size_t at = 0;
    const auto has_said = [&] {
      log = server->Log();
      at = log.find(said);
      return at != log.npos && log.find('\n', at) != log.npos;
    };
    if (!loop_.RunUntil(has_said)) {
      ADD_FAILURE() << log;
      return "";
    }
    return "ssl:127.0.0.1:" + std::to_string(std::atoi(log.c_str() + at + said.size()));
  }

  struct ContextFree {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  OvsdbTestFolder folder_;
  std::unique_ptr<SSL_CTX, ContextFree> context_;
};

TEST_F(OvsdbClientTlsTest, ConnectsWithKeysAndOnlyToWhomItBelieves) {
  for (const char* name : {"server", "client", "stranger"}) MakeAuthority(name);
  OvsdbTestServer server;
  server.Create(kThingsSchema);
  const std::string remote = StartTls(&server);
  UseKeys("client", "server");
  auto client = Connect(TlsOptions(remote));
  EXPECT_TRUE(RunUntilLoaded(*client)) << client->state();
  // A server that is somebody else.
  UseKeys("client", "stranger");
  client = Connect(TlsOptions(remote));
  EXPECT_TRUE(loop_.RunUntil([&] {
    return client->state().find("verify failed") != std::string::npos;
  })) << client->state();
  // A client that the server does not believe.
  UseKeys("stranger", "server");
  client = Connect(TlsOptions(remote));
  EXPECT_TRUE(loop_.RunUntil([&] { return client->counters().attempts >= 3; }));
  EXPECT_EQ(client->counters().connections, 0u) << client->state();
}

TEST_F(OvsdbClientTlsTest, SaysThatKeysAreMissing) {
  const auto client = Connect(ThingsOptions("ssl:127.0.0.1:1"));
  EXPECT_TRUE(loop_.RunUntil([&] {
    return client->state() == "ssl:127.0.0.1:1: there are no keys and certificates to use";
  })) << client->state();
}

}  // namespace
}  // namespace trumpet
