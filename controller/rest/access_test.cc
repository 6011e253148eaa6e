// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lib/wire/test_certificates_test.h"

namespace trumpet {
namespace {

constexpr Nanos kNow = 1800000000 * kNanosPerSecond;  // 2027-01-15

std::string Entry(const std::string& name, const std::string& token, const std::string& more) {
  return "- {name: " + name + ", sha256: " + ToHex(HashToken(token)) + ", " + more + "}\n";
}

std::string ErrorOf(const std::string& item) {
  const auto tokens = ParseTokens("tokens:\n" + item, "t.yaml");
  return tokens.ok() ? "" : tokens.message();
}

TEST(TokenFile, ReadsTokens) {
  const auto tokens =
      ParseTokens("tokens:\n" + Entry("alice", "a", "role: admin") +
                      Entry("bob", "b",
                            "role: read, tenant: red, prefixes: [10.1.0.0/16, 2001:db8::/32], "
                            "expires: 2027-01-31T12:00:00Z"),
                  "t.yaml");
  ASSERT_TRUE(tokens.ok()) << tokens.message();
  ASSERT_EQ(tokens->size(), 2u);
  EXPECT_EQ(tokens->at(0).role, Role::kAdmin);
  EXPECT_EQ(tokens->at(0).hash, HashToken("a"));
  EXPECT_EQ(tokens->at(1).tenant, "red");
  EXPECT_EQ(tokens->at(1).prefixes.size(), 2u);
  EXPECT_EQ(tokens->at(1).expires_s, 1801396800);
}

TEST(TokenFile, NamesThePlaceOfWhatIsWrong) {
  const std::string hash = ToHex(HashToken("x"));
  const std::pair<std::string, std::string> cases[] = {
      {"- {role: read}\n", "t.yaml:2:3: this token has no name"},
      {"- {name: a b, role: read}\n",
       "t.yaml:2:10: 'a b' is no name; it takes 1 to 64 letters, digits and -_.@"},
      {"- {name: a, role: read}\n", "t.yaml:2:3: this token has no sha256"},
      {"- {name: a, sha256: secret, role: read}\n",
       "t.yaml:2:21: sha256 is the token's SHA-256, as 64 hexadecimal digits"},
      {"- {name: a, sha256: " + hash + ", role: root}\n",
       "t.yaml:2:93: 'root' is no role; there are read, operate and admin"},
      {"- {name: a, sha256: " + hash + ", role: read, prefixes: [10.0.0.0/8]}\n",
       "t.yaml:2:109: prefixes are a tenant's; this token has none"},
      {"- {name: a, sha256: " + hash + ", role: admin, tenant: red}\n",
       "t.yaml:2:108: a tenant's token is read or operate; admin is of the whole network"},
      {"- {name: a, sha256: " + hash + ", role: read, expires: 2027-02-31}\n",
       "t.yaml:2:108: '2027-02-31' is no instant; write 2027-01-31 or 2027-01-31T12:00:00Z"},
      {"- {nme: a}\n", "t.yaml:2:4: 'nme' is not a key of a token; did you mean 'name'?"},
      {Entry("a", "1", "role: read") + Entry("a", "2", "role: read"),
       "t.yaml:3:10: there is another token named 'a'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

class AccessTest : public testing::Test {
 protected:
  void WriteTokens(const std::string& text) {
    WriteFile(options_.token_file, "tokens:\n" + text);
    chmod(options_.token_file.c_str(), 0600);
  }
  void Open() {
    auto access = Access::Open(options_);
    ASSERT_TRUE(access.ok()) << access.message();
    access_.emplace(std::move(*access));
  }
  Grant Check(const std::string& token, Nanos at = 0, const std::string& peer = "10.0.0.1") {
    HttpRequest request;
    request.peer = peer;
    request.is_loopback = peer == "127.0.0.1";
    if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
    request.headers["host"] = "localhost:8650";
    if (!origin_.empty()) request.headers["origin"] = origin_;
    return access_->Check(request, at, kNow + at);
  }

  TempFolder folder_;
  AccessOptions options_{folder_.File("tokens.yaml"), false, 3, 60 * kNanosPerSecond};
  std::string origin_;
  std::optional<Access> access_;
};

TEST_F(AccessTest, LetsTokensInWithTheirRole) {
  WriteTokens(Entry("alice", "secret", "role: operate, tenant: red"));
  Open();
  const Grant grant = Check("secret");
  EXPECT_EQ(grant.refusal, 0);
  EXPECT_EQ(grant.role, Role::kOperate);
  EXPECT_EQ(grant.caller.name, "alice");
  EXPECT_EQ(grant.caller.tenant, "red");
  EXPECT_EQ(Check("").refusal, 401);
  EXPECT_EQ(Check("Secret").refusal, 401);
  EXPECT_EQ(access_->counters().wrong_token, 1u);
}

TEST_F(AccessTest, RefusesExpiredTokens) {
  WriteTokens(Entry("a", "old", "role: read, expires: 2027-01-15T08:00:10Z"));
  Open();
  EXPECT_EQ(Check("old").refusal, 0);
  EXPECT_EQ(Check("old", 10 * kNanosPerSecond).refusal, 401);
  EXPECT_EQ(access_->counters().expired_token, 1u);
}

TEST_F(AccessTest, DoesNotListenToAddressesThatGuess) {
  WriteTokens(Entry("a", "good", "role: read"));
  Open();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Check("bad").refusal, 401);
  EXPECT_EQ(Check("good").refusal, 429);
  EXPECT_EQ(Check("good", 0, "10.0.0.2").refusal, 0);
  EXPECT_EQ(Check("good", 60 * kNanosPerSecond).refusal, 0);
}

TEST_F(AccessTest, RefusesFilesThatOthersMayRead) {
  WriteTokens(Entry("a", "x", "role: read"));
  chmod(options_.token_file.c_str(), 0644);
  const auto access = Access::Open(options_);
  ASSERT_FALSE(access.ok());
  EXPECT_NE(access.message().find("chmod 640"), std::string::npos) << access.message();
}

TEST_F(AccessTest, TakesChangesAndKeepsTheOldTokensIfTheyAreWrong) {
  WriteTokens(Entry("a", "one", "role: read"));
  Open();
  WriteTokens(Entry("a", "two", "role: read") + "");
  access_->ReloadIfChanged();
  EXPECT_EQ(Check("two").refusal, 0);
  EXPECT_EQ(Check("one").refusal, 401);
  WriteTokens("- nonsense\n");
  access_->ReloadIfChanged();
  EXPECT_EQ(Check("two").refusal, 0);
  EXPECT_NE(access_->problem(), "");
  EXPECT_EQ(access_->counters().failed_reloads, 1u);
}

TEST_F(AccessTest, TrustsLoopbackOnlyWhenTold) {
  options_.token_file.clear();
  Open();
  EXPECT_EQ(Check("", 0, "127.0.0.1").refusal, 401);
  options_.trusts_loopback = true;
  Open();
  EXPECT_EQ(Check("", 0, "127.0.0.1").role, Role::kAdmin);
  EXPECT_EQ(Check("", 0, "10.0.0.1").refusal, 401);
  origin_ = "http://evil.example";
  EXPECT_EQ(Check("", 0, "127.0.0.1").refusal, 403);
}

}  // namespace
}  // namespace trumpet
