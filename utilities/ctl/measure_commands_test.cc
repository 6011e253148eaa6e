// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "utilities/ctl/commands.h"

namespace trumpet {
namespace {

struct Said {
  int status = 0;
  std::string out;
  std::string err;
};

// What is printed of a program that is accepted, behind its cost.
std::string State(const std::string& out) {
  EXPECT_EQ(out.rfind("a packet costs at most ", 0), 0u) << out;
  return out.substr(std::min(out.find('\n'), out.size() - 1) + 1);
}

// With a program on standard input.
Said Run(const std::string& program, const std::vector<std::string>& options) {
  const auto invocation = ParseCtlArguments(
      options, [](const char*) { return std::string(); }, "", "");
  if (!invocation) return {2, "", invocation.message()};
  std::istringstream in(program);
  std::ostringstream out, err;
  CtlTerminal terminal;
  terminal.in = &in;
  terminal.out = &out;
  terminal.err = &err;
  const int status = RunCtl(*invocation, terminal);
  return {status, out.str(), err.str()};
}

// `measure check` of a program on standard input.
Said Check(const std::string& program, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"measure", "check", "-"});
  return Run(program, options);
}

// What is said of options before anybody is asked.
std::string InstallError(const std::string& option, const std::string& value) {
  return Run("pkts >> tag(ipv4.tos, 1);", {"measure", "install", "p", "-", option, value}).err;
}

constexpr const char* kGuarded =
    "param LIMIT;\n"
    "total = Counter();\n"
    "pkts >> total.add(1) >> match(total > LIMIT) >> tag(ipv4.tos, total);\n";

TEST(MeasureCheck, ListsTheStateOfAProgram) {
  const Said said = Check(
      "k = Key(ip.src); s = Sketch(alg=\"countmin\", key=k, nhash=4, size=256);\n"
      "total = Counter(width=64);\n"
      "pkts >> s.add(1) >> total.add(1);");
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(State(said.out),
            "s: 1024 x 32 bits; threads merge by sum\n"
            "total: 1 x 64 bits; threads merge by sum\n");
}

TEST(MeasureCheck, TellsAllMistakesWithTheirPlaces) {
  const Said said = Check("pkts >> totl.add(1);\npkts >> tag(pkt.size, 1);");
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err,
            "(standard input):1:9: E1: 'totl' is not declared\n"
            "(standard input):2:13: E3: 'pkt.size' is not written; it tells where the packet is\n");
}

TEST(MeasureCheck, TakesParamsAndWarns) {
  EXPECT_EQ(Check(kGuarded).err,
            "(standard input):1:7: E8: 'LIMIT' has no value; write 'param LIMIT = VALUE', or give "
            "one when it is installed\n");
  const Said said = Check(kGuarded, {"--param", "LIMIT=5"});
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.err,
            "(standard input):3:49: warning: the value is wider than 'ipv4.tos', and is cut; "
            "'& MASK' says which bits are meant\n");
  EXPECT_EQ(State(said.out), "total: 1 x 32 bits; threads merge by none: shared by all threads\n");
  EXPECT_EQ(Check(kGuarded, {"--param=LIMIT=5", "--strict"}).status, 1);
  EXPECT_EQ(Check(kGuarded, {"--param=LIMIT"}).err,
            "trumpetctl: --param: 'LIMIT' is no NAME=VALUE\n");
  EXPECT_EQ(Check(kGuarded, {"--param=LIMIT=5,LIMIT=6"}).err,
            "trumpetctl: --param: LIMIT is given twice\n");
}

TEST(MeasureInstall, TakesNothingTwiceAndNoHostThatIsNone) {
  EXPECT_EQ(InstallError("--switch", "h1=1,h2=2,h1=3"),
            "trumpetctl: --switch: h1 is given twice\n");
  EXPECT_EQ(InstallError("--endpoint", "C=udp:10.0.0.9:1,C=udp:10.0.0.9:2"),
            "trumpetctl: --endpoint: C is given twice\n");
  EXPECT_EQ(InstallError("--host", ""),
            "trumpetctl: --host names no host; without it the measurement is for every host\n");
}

TEST(MeasureCheck, TellsWhatIsTooDearForAnySwitch) {
  const Said said = Check(
      "k = Key(ip.src);\n"
      "a = HashMap(key=k, size=0x4000000, type=Timestamp());\n"
      "b = HashMap(key=k, size=1, type=Timestamp());\n"
      "pkts >> timestamp(a) >> timestamp(b);");
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.err.rfind("(standard input):3:1: E12: ", 0), 0u) << said.err;
}

TEST(MeasureCheck, PrintsTheCanonicalForm) {
  const Said said = Check("c=Counter(w=8)pkts>>c.set((c+1))", {"--print"});
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.out, "c = Counter(width=8);\npkts >> c.set(c + 1);\n");
}

TEST(MeasureCheck, SpeaksJson) {
  const Said wrong = Check("pkts >> c.add(1)", {"-o", "json"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_EQ(wrong.err, "");
  const auto json = nlohmann::json::parse(wrong.out);
  EXPECT_FALSE(json["ok"].get<bool>());
  EXPECT_EQ(json["errors"][0]["code"], "E1");
  EXPECT_EQ(json["errors"][0]["column"], 9);
  const auto right = nlohmann::json::parse(Check("c = Counter()", {"-o", "json"}).out);
  EXPECT_TRUE(right["ok"].get<bool>());
  EXPECT_EQ(right["variables"][0]["name"], "c");
  EXPECT_GE(right["cost"]["bytes"], 4);
}

}  // namespace
}  // namespace trumpet
