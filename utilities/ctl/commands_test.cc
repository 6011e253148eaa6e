// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/commands.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace trumpet {
namespace {

CtlInvocation Parsed(const std::vector<std::string>& arguments) {
  const auto parsed = ParseCtlArguments(
      arguments, [](const char*) { return std::string(); }, "", "");
  EXPECT_TRUE(parsed) << parsed.message();
  return parsed ? *parsed : CtlInvocation();
}

std::string Sha256(const std::string& text) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), hash, &size, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[hash[i] >> 4];
    hex += "0123456789abcdef"[hash[i] & 15];
  }
  return hex;
}

TEST(CtlTime, TakesDatesAndNanoseconds) {
  EXPECT_EQ(*ParseCtlTime("1970-01-01T00:00:01Z"), "1000000000");
  EXPECT_EQ(*ParseCtlTime("1970-01-01T00:00:01.025Z"), "1025000000");
  EXPECT_EQ(*ParseCtlTime("1970-01-02"), "86400000000000");
  EXPECT_EQ(*ParseCtlTime("0001-01-01"), "0") << "before all reports";
  EXPECT_EQ(*ParseCtlTime("9999-12-31T23:59:59.999999999Z"), "9223372035999999999");
  EXPECT_EQ(*ParseCtlTime("17"), "17");
  for (const char* wrong : {"", "now", "1970-01-01T00:00:01+01:00", "-5", "1970-13-01"}) {
    EXPECT_FALSE(ParseCtlTime(wrong)) << wrong;
  }
}

TEST(CtlToken, IsRandomAndItsEntryHoldsItsHashOnly) {
  const auto one = MakeCtlToken(
      Parsed({"token", "new", "alice", "--role=operate", "--tenant=red", "--expires=2027-01-31"}));
  ASSERT_TRUE(one) << one.message();
  EXPECT_EQ(one->second, "  - name: alice\n    sha256: " + Sha256(one->first) +
                             "\n    role: operate\n    tenant: red\n    expires: 2027-01-31\n");
  const auto other = MakeCtlToken(Parsed({"token", "new", "alice"}));
  EXPECT_NE(one->first, other->first);
}

TEST(CtlToken, SaysWhatIsWrong) {
  const auto error = [](const std::vector<std::string>& arguments) {
    std::ostringstream out, err;
    CtlTerminal terminal{nullptr, &out, &err, false, false};
    EXPECT_EQ(RunCtl(Parsed(arguments), terminal), 2);
    return err.str();
  };
  EXPECT_EQ(error({"token", "new", "a b"}),
            "trumpetctl: name is 'a b'; it takes letters, digits and -_.@\n");
  EXPECT_EQ(error({"token", "new", "a", "--role=root"}),
            "trumpetctl: role is 'root'; it takes read, operate or admin\n");
  EXPECT_EQ(error({"token", "new", "a", "--expires=soon"}),
            "trumpetctl: expires is 'soon'; it takes a day, 2027-01-31\n");
}

TEST(CtlToken, IsAppendedToAFileOfTokens) {
  char folder[] = "/tmp/trumpet-ctl-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/tokens.yaml";
  const auto add = [&](const std::string& name) {
    const auto made = MakeCtlToken(Parsed({"token", "new", name}));
    return AppendCtlToken(path, name, made->second);
  };
  const auto text = [&] {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_TRUE(add("alice"));
  EXPECT_TRUE(add("bob"));
  const std::string two = text();
  const auto tokens = YAML::Load(two)["tokens"];
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[1]["name"].as<std::string>(), "bob");
  EXPECT_EQ(tokens[1]["role"].as<std::string>(), "read");
  EXPECT_EQ(add("alice").message(), path + " has a token named 'alice' already");
  EXPECT_EQ(text(), two);
  std::ofstream(path) << "tokens: []\n";
  EXPECT_NE(add("carol").message().find("does not end with its tokens"), std::string::npos);
  std::ofstream(path) << "rest: {}\n";
  EXPECT_EQ(add("carol").message(), path + " is no file of tokens: it has no list 'tokens'");
  EXPECT_EQ(text(), "rest: {}\n");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(add("carol").message(), "cannot write " + path + ": No such file or directory");
}

TEST(RunCtl, SaysWhenThereIsNobody) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  CtlTerminal terminal{&in, &out, &err, false, false};
  EXPECT_EQ(RunCtl(Parsed({"status", "--server=http://127.0.0.1:1"}), terminal), 1);
  EXPECT_EQ(err.str().substr(0, 42), "trumpetctl: http://127.0.0.1:1: Failed to ");
  err.str("");
  EXPECT_EQ(RunCtl(Parsed({"event", "add", "/nonexistent/e.yaml"}), terminal), 1);
  EXPECT_EQ(err.str(), "trumpetctl: cannot read /nonexistent/e.yaml: No such file or directory\n");
  err.str("");
  EXPECT_EQ(RunCtl(Parsed({"status", "--token-file=/nonexistent/t"}), terminal), 1);
  EXPECT_EQ(err.str(),
            "trumpetctl: the token: cannot read /nonexistent/t: No such file or directory\n");
  err.str("");
  EXPECT_EQ(RunCtl(Parsed({"status", "--token-file=/dev/null"}), terminal), 1);
  EXPECT_EQ(err.str(), "trumpetctl: there is no token in /dev/null\n");
  const std::pair<const char*, const char*> captures[] = {
      {"/nonexistent/c.pcap", "cannot read /nonexistent/c.pcap: No such file or directory"},
      {"/dev/null", "cannot read /dev/null: it is no regular file"}};
  for (const auto& [capture, error] : captures) {
    err.str("");
    EXPECT_EQ(RunCtl(Parsed({"simulate", "/dev/null", capture}), terminal), 1);
    EXPECT_EQ(err.str(), std::string("trumpetctl: ") + error + "\n");
  }
  err.str("");
  EXPECT_EQ(RunCtl(Parsed({"event", "add", "/dev"}), terminal), 1);
  EXPECT_EQ(err.str(), "trumpetctl: cannot read /dev: Is a directory\n");
}

}  // namespace
}  // namespace trumpet
