// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Who gets in over TLS, who does not, and what changes when the files do.

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/wire/raw_peer_test.h"
#include "lib/wire/session_kit_test.h"

namespace trumpet {
namespace {

struct ContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using RawContext = std::unique_ptr<SSL_CTX, ContextFree>;

class TlsSession : public SessionTest {
 protected:
  // Tries to get in, and is not.
  void ExpectNobodyGetsIn() {
    EXPECT_TRUE(loop_.RunUntil([&] {
      return !controller_.closed.empty() && !agent_.closed.empty();
    })) << Ends();
    EXPECT_EQ(controller_.established_count, 0);
    EXPECT_EQ(agent_.established_count, 0);
    EXPECT_EQ(listener_->stranger_count(), 0u);
  }

  void ExpectStrangerIsTurnedAway(SSL_CTX* context) {
    Listen();
    RawPeer stranger(loop_.base(), listener_->port(), context);
    EXPECT_TRUE(loop_.RunUntil([&] { return !controller_.closed.empty(); }));
    EXPECT_EQ(controller_.closed[0].cause, CloseCause::kTls) << Ends();
    EXPECT_EQ(controller_.heard.host_id, "");
    EXPECT_EQ(listener_->session_count(), 0u);
  }
};

TEST_F(TlsSession, LetsBothSidesKnowWhomTheyTalkTo) {
  Establish();
  EXPECT_TRUE(controller_session()->peer().is_authenticated);
  EXPECT_EQ(controller_session()->peer().common_name, "h1.example");
  EXPECT_EQ(controller_session()->peer().dns_names, std::vector<std::string>{"h1.example"});
  EXPECT_EQ(controller_.peer_at_hello.common_name, "h1.example");  // in time to refuse it
  EXPECT_EQ(agent_session()->peer().common_name, "tem.example");
  EXPECT_EQ(controller_.heard.host_id, "h1");
  EXPECT_EQ(agent_session()->hello_reply().controller_id, 77u);
  EXPECT_EQ(agent_session()->version(), 1u);
}

TEST_F(TlsSession, TurnsAnAgentOfAnotherAuthorityAway) {
  agent_files_ = TestAuthority(&folder_, "other").Issue("agent", "h1.example", controllers_);
  Listen();
  Connect();
  ExpectNobodyGetsIn();
  EXPECT_EQ(controller_.closed[0].cause, CloseCause::kTls);
  EXPECT_NE(controller_.closed[0].text.find("peer's certificate: "), std::string::npos) << Ends();
  EXPECT_EQ(agent_.closed[0].cause, CloseCause::kTls) << Ends();
}

TEST_F(TlsSession, TurnsAnExpiredCertificateAway) {
  agent_files_ = switches_.Issue("agent", "h1.example", controllers_, -1);
  Listen();
  Connect();
  ExpectNobodyGetsIn();
  EXPECT_EQ(Shown(controller_.closed[0]), "tls (peer's certificate: certificate has expired)");
}

TEST_F(TlsSession, DoesNotTalkToAControllerOfAnotherAuthority) {
  controller_files_ = switches_.Issue("controller", "tem.example", switches_);
  Listen();
  Connect();
  ExpectNobodyGetsIn();
  EXPECT_EQ(agent_.closed[0].cause, CloseCause::kTls);
  EXPECT_NE(agent_.closed[0].text.find("peer's certificate: "), std::string::npos) << Ends();
}

TEST_F(TlsSession, DoesNotTalkToAControllerOfAnotherNameWhenOneIsGiven) {
  connector_options_.session.expected_peer_name = "other.example";
  Listen();
  Connect();
  ExpectNobodyGetsIn();
  EXPECT_EQ(Shown(agent_.closed[0]),
            "tls (peer's certificate: of tem.example, not of other.example)");
}

TEST_F(TlsSession, TalksToAControllerOfTheNameThatIsGiven) {
  connector_options_.session.expected_peer_name = "tem.example";
  Establish();
}

TEST_F(TlsSession, TurnsWhoeverHasNoCertificateAway) {
  const RawContext context(SSL_CTX_new(TLS_client_method()));
  ExpectStrangerIsTurnedAway(context.get());
}

TEST_F(TlsSession, TurnsOldTlsAway) {
  const RawContext context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_security_level(context.get(), 0);  // lets us offer what nobody should
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_1_VERSION);
  SSL_CTX_use_certificate_chain_file(context.get(), agent_files_.certificate.c_str());
  SSL_CTX_use_PrivateKey_file(context.get(), agent_files_.private_key.c_str(), SSL_FILETYPE_PEM);
  ExpectStrangerIsTurnedAway(context.get());
}

TEST_F(TlsSession, TakesTls12) {
  const RawContext context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_use_certificate_chain_file(context.get(), agent_files_.certificate.c_str());
  SSL_CTX_use_PrivateKey_file(context.get(), agent_files_.private_key.c_str(), SSL_FILETYPE_PEM);
  Listen();
  RawPeer peer(loop_.base(), listener_->port(), context.get());
  peer.Send(agent_.hello);
  EXPECT_TRUE(loop_.RunUntil([&] { return peer.Find(MessageKind::kHelloReply) != nullptr; }));
}

TEST_F(TlsSession, TurnsWhoeverDoesNotSpeakTlsAway) {
  Listen();
  RawPeer stranger(loop_.base(), listener_->port());
  stranger.Send(agent_.hello);
  EXPECT_TRUE(loop_.RunUntil([&] { return !controller_.closed.empty(); }));
  EXPECT_EQ(controller_.closed[0].cause, CloseCause::kTls) << Ends();
}

TEST_F(TlsSession, UsesNewFilesForNewSessionsAndLeavesOldOnesAlone) {
  Establish();
  const TlsFiles renewed = controllers_.Issue("renewed", "renewed.example", switches_);
  std::filesystem::rename(renewed.private_key, controller_files_.private_key);
  std::filesystem::rename(renewed.certificate, controller_files_.certificate);
  AdvanceBoth(2 * kNanosPerSecond);
  EXPECT_EQ(controller_tls_->reload_count(), 1u) << controller_tls_->problem();
  loop_.RunReady();
  EXPECT_TRUE(agent_.closed.empty()) << Ends();
  EXPECT_EQ(agent_session()->peer().common_name, "tem.example");

  RecordingOwner second;
  auto connector = Connector::Connect(loop_.base(), Here(), agent_tls_.get(), connector_options_,
                                      agent_clock_, &second);
  ASSERT_TRUE(connector.ok());
  ASSERT_TRUE(loop_.RunUntil([&] { return second.established_count == 1; }));
  EXPECT_EQ(second.sessions[0]->peer().common_name, "renewed.example");
}

TEST_F(TlsSession, KeepsTheOldFilesAndSaysSoWhileNewOnesAreBroken) {
  Listen();
  const std::string good = ReadFile(controller_files_.certificate);
  WriteFile(controller_files_.certificate, good.substr(0, good.size() / 2));
  clock_.Advance(2 * kNanosPerSecond);
  listener_->Tick();
  EXPECT_EQ(controller_tls_->failure_count(), 1u);
  EXPECT_EQ(controller_tls_->problem().rfind(
                "cannot use certificate " + controller_files_.certificate, 0),
            0u)
      << controller_tls_->problem();
  Connect();
  ASSERT_TRUE(loop_.RunUntil([&] { return agent_.established_count == 1; })) << Ends();

  // A key that is not the certificate's: the moment between two renames.
  WriteFile(controller_files_.certificate,
            ReadFile(controllers_.Issue("next", "next.example", switches_).certificate));
  clock_.Advance(2 * kNanosPerSecond);
  listener_->Tick();
  EXPECT_EQ(controller_tls_->failure_count(), 2u);
  EXPECT_NE(controller_tls_->problem().find("is not that of certificate"), std::string::npos);

  std::filesystem::rename(folder_.File("next-privkey.pem"), controller_files_.private_key);
  clock_.Advance(2 * kNanosPerSecond);
  listener_->Tick();
  EXPECT_EQ(controller_tls_->problem(), "");
  EXPECT_EQ(controller_tls_->reload_count(), 1u);
}

TEST_F(TlsSession, SaysWhichFileCannotBeUsedAtTheStart) {
  TlsFiles files = agent_files_;
  files.ca_certificate = folder_.File("nowhere.pem");
  const auto tls = TlsContext::Load(files);
  ASSERT_FALSE(tls.ok());
  EXPECT_EQ(tls.message(),
            "cannot use CA certificates " + files.ca_certificate + ": No such file or directory");
}

TEST(PeerIdentity, IsOfItsNamesUpToWhatOvsPkiAppends) {
  PeerIdentity identity{true, "h1 id:2026 Nov 21 19:35:45", {"a.example", "b.example id:7"}};
  for (const char* name : {"h1", "a.example", "b.example"}) EXPECT_TRUE(identity.IsOf(name));
  for (const char* name : {"", "h", "h1 ", "h1 id:", "a.example ", "example"}) {
    EXPECT_FALSE(identity.IsOf(name)) << name;
  }
  identity.is_authenticated = false;
  EXPECT_FALSE(identity.IsOf("h1"));
  EXPECT_FALSE((PeerIdentity{true, "", {}}).IsOf(""));
}

TEST_F(TlsSession, TakesKeysThatOvsPkiMade) {
  const std::string pki = "cd " + folder_.File("") + " && ovs-pki --dir=pki --log=log ";
  if (std::system("command -v ovs-pki >/dev/null") != 0) GTEST_SKIP() << "there is no ovs-pki";
  for (const char* step : {"init", "req+sign tem controller", "req+sign h1 switch"}) {
    std::string command = pki;
    command.append(step).append(" >output 2>&1");
    ASSERT_EQ(std::system(command.c_str()), 0) << ReadFile(folder_.File("output"));
  }
  controller_files_ = {folder_.File("tem-privkey.pem"), folder_.File("tem-cert.pem"),
                       folder_.File("pki/switchca/cacert.pem")};
  agent_files_ = {folder_.File("h1-privkey.pem"), folder_.File("h1-cert.pem"),
                  folder_.File("pki/controllerca/cacert.pem")};
  connector_options_.session.expected_peer_name = "tem";
  Establish();
  EXPECT_TRUE(controller_session()->peer().IsOf("h1")) << controller_session()->peer().common_name;

  // A hypervisor's keys make no controller.
  agent_.closed.clear();
  std::swap(controller_files_.private_key, agent_files_.private_key);
  std::swap(controller_files_.certificate, agent_files_.certificate);
  connector_.reset();
  agent_.established_count = controller_.established_count = 0;
  controller_.closed.clear();
  Listen();
  Connect();
  ExpectNobodyGetsIn();
}

TEST_F(TlsSession, WorksOverIpv6AndWithNames) {
  auto tls = TlsContext::Load(controller_files_);
  ASSERT_TRUE(tls.ok());
  auto listener = Listener::Listen(loop_.base(), *ParsePassiveAddress("pssl:0"), tls->get(),
                                   listener_options_, clock_, &controller_);
  ASSERT_TRUE(listener.ok()) << listener.message();
  auto agent_tls = TlsContext::Load(agent_files_);
  ASSERT_TRUE(agent_tls.ok());
  const std::string port = ":" + std::to_string((*listener)->port());
  int established = 0;
  const bool has_ipv6 = Listener::Listen(loop_.base(), *ParsePassiveAddress("pssl:0:[::1]"),
                                         tls->get(), listener_options_, clock_, &controller_)
                            .ok();
  for (const std::string host : {"127.0.0.1", "localhost", "[::1]"}) {
    if (host == "[::1]" && !has_ipv6) GTEST_SKIP() << "this machine has no IPv6";
    std::string address = "ssl:";
    address.append(host).append(port);
    auto connector =
        Connector::Connect(loop_.base(), *ParseActiveAddress(address), agent_tls->get(),
                           connector_options_, agent_clock_, &agent_);
    ASSERT_TRUE(connector.ok());
    ++established;
    EXPECT_TRUE(loop_.RunUntil([&] { return agent_.established_count == established; }))
        << host << ": " << (*connector)->last_error();
    agent_.sessions.clear();
  }
}

}  // namespace
}  // namespace trumpet
