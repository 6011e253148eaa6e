// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <sstream>

#include "utilities/ctl/commands.h"

namespace trumpet {
namespace {

struct Told {
  int status = 0;
  std::string out;
  std::string err;
};

// `trumpetctl trace rules VERB -` with the rules on standard input.
Told RunRules(const std::string& verb, const std::string& input,
              std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"trace", "rules", verb, "-"});
  const auto no_variables = [](const char*) { return std::string(); };
  const auto invocation = ParseCtlArguments(options, no_variables, "", "");
  if (!invocation) return {2, "", "trumpetctl: " + invocation.message() + "\n"};  // as main()
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  CtlTerminal terminal;
  terminal.in = &in;
  terminal.out = &out;
  terminal.err = &err;
  const int status = RunCtl(*invocation, terminal);
  return {status, out.str(), err.str()};
}

constexpr const char* kVlan = "rules: [{name: a, filter: vlan=1, rate: 7}]";

TEST(TraceRuleCommands, CheckIsSilentOfGoodRulesAndPrintsThem) {
  EXPECT_EQ(RunRules("check", kVlan).status, 0);
  EXPECT_EQ(RunRules("check", kVlan).out, "");
  EXPECT_EQ(RunRules("check", kVlan, {"--print"}).out,
            "rules:\n  - name: \"a\"\n    filter: \"vlan=1\"\n    rate: 7\n");
}

TEST(TraceRuleCommands, CheckNamesThePlaceAndWhatSwitchesCannotBeTold) {
  const Told broken = RunRules("check", "rules: [{nam: a}]");
  EXPECT_EQ(broken.status, 1);
  EXPECT_EQ(broken.err,
            "(standard input):1:10: 'nam' is not a key of a trace rule; did you mean 'name'?\n");
  const Told untold = RunRules("check", "rules: [{name: a, filter: not vlan=1}]");
  EXPECT_EQ(untold.status, 1);
  EXPECT_EQ(untold.err,
            "(standard input):1:27: rule 'a': 'not' cannot be said to OpenFlow switches\n");
  const Told mark = RunRules("check",
                             "debug_bit: 0\n"
                             "rules: [{name: a, marked: true}]\n"
                             "marks: [{name: m, filter: not vlan=1}]");
  EXPECT_EQ(mark.err,
            "(standard input):3:27: mark 'm': 'not' cannot be said to OpenFlow switches\n");
}

TEST(TraceRuleCommands, CompilePrintsMetersAndThenFlows) {
  const Told told = RunRules("compile", kVlan, {"--number=5", "--port=11", "--tunnel=erspan"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.out.rfind("meter=60101,", 0), 0u) << told.out;
  EXPECT_NE(told.out.find("\ntable=251,priority=40000,dl_vlan=0x1,actions=meter:60101,"
                          "set_field:5->tun_id,"),
            std::string::npos)
      << told.out;
}

TEST(TraceRuleCommands, CompileSaysWhatItsOptionsTake) {
  const std::pair<const char*, const char*> cases[] = {
      {"--number=1024", "trumpetctl: --number is '1024'; it takes 1 to 1023\n"},
      {"--port=0", "trumpetctl: --port is '0'; it takes 1 to 65279\n"},
      {"--tunnel=vxlan", "trumpetctl: --tunnel is 'vxlan'; it takes gre or erspan\n"},
      {"--switches=x", "trumpetctl: --switches is 'x'; it takes 1 to 1000000\n"},
  };
  for (const auto& [option, error] : cases) {
    EXPECT_EQ(RunRules("compile", kVlan, {option}).err, error);
    EXPECT_EQ(RunRules("compile", kVlan, {option}).status, 2);
  }
  EXPECT_EQ(RunRules("compile", kVlan, {"--local=10.0.0.1/8"}).status, 2);
  EXPECT_EQ(RunRules("compile", "rules: [{}]").status, 1);
}

TEST(TraceRuleCommands, WhatIsExportedToSonicCanBeImported) {
  const std::string rules = "rules: [{name: a, filter: ethType=0x0800 and dstPort=80, rate: 7}]";
  const Told exported = RunRules("export", rules, {"--source=10.1.0.32", "--target=10.0.0.7"});
  EXPECT_EQ(exported.status, 0) << exported.err;
  const Told imported = RunRules("import", exported.out);
  EXPECT_EQ(imported.err, "");
  EXPECT_EQ(imported.out,
            "rules:\n  - name: \"TRUMPET|RULE_1_a\"\n"
            "    filter: \"dstPort=80 and ethType=0x0800\"\n    rate: 7\n");
  const Told sessions = RunRules("import", exported.out, {"--sessions"});
  EXPECT_NE(sessions.out.find("\ntrumpet  inactive  10.1.0.32  10.0.0.7  0x88be       8     64"),
            std::string::npos)
      << sessions.out;
}

TEST(TraceRuleCommands, ImportAndExportSayWhatTheirOptionsTake) {
  EXPECT_EQ(RunRules("import", "{}", {"--ports=Ethernet0"}).err,
            "trumpetctl: --ports: 'Ethernet0' is no NAME=NUMBER\n");
  EXPECT_EQ(RunRules("import", "{}", {"--ports=Ethernet0=0"}).err,
            "trumpetctl: --ports is '0'; it takes 1 to 65279\n");
  EXPECT_EQ(RunRules("import", "{}", {"--ports=Ethernet0=0"}).status, 2);
  EXPECT_EQ(RunRules("export", kVlan).status, 2);
  EXPECT_EQ(RunRules("import", "[]").err, "(standard input):1:1: a config_db is a map of tables\n");
  EXPECT_EQ(RunRules("export", kVlan, {"--source=10.1.0.32"}).err,
            "trumpetctl: --target is ''; it takes an address\n");
  EXPECT_EQ(RunRules("import", R"({"ACL_RULE": {"T|R": {"MIRROR_ACTION": "s"}}})").err,
            "note: rule 'T|R' is left out: there is no such table\n");
}

}  // namespace
}  // namespace trumpet
