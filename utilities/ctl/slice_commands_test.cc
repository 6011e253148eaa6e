// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/slice_commands.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "controller/view/api_tables.h"

namespace trumpet {
namespace {

// A directory with a campaign and a map, gone with the test.
class SlicePlanCommand : public ::testing::Test {
 protected:
  SlicePlanCommand() {
    char name[] = "/tmp/slice-plan-XXXXXX";
    directory_ = mkdtemp(name);
    std::ofstream(At("square.edges")) << "a b 1\nb c 1\nc d 1\nd a 1\n";
    std::ofstream(At("net.json")) << R"({"nodes": [{"id": "a"}, {"id": "b"}],
      "links": [{"source": "a", "target": "b"}]})";
    std::ofstream(At("net.yaml")) << "switches: [{name: a}, {name: b}]\n"
                                     "links: [{from: a, to: b}]\n";
  }
  ~SlicePlanCommand() override {
    for (const char* name : {"square.edges", "net.yaml", "net.json", "net.gml", "c.slices"}) {
      std::remove(At(name).c_str());
    }
    std::remove(directory_.c_str());
  }
  std::string At(const std::string& name) const { return directory_ + "/" + name; }

  // What is printed, or the error without "trumpetctl: " and the directory.
  std::string Run(const std::string& campaign, std::vector<std::string> options) {
    std::ofstream(At("c.slices")) << campaign;
    options.insert(options.begin(), {"slice", "plan", At("c.slices")});
    const auto invocation = ParseCtlArguments(
        options, [](const char*) { return std::string(); }, "", "");
    if (!invocation) {
      status_ = 2;  // as main()
      return invocation.message() + "\n";
    }
    std::ostringstream out, err;
    CtlTerminal terminal;
    terminal.out = &out;
    terminal.err = &err;
    status_ = RunCtl(*invocation, terminal);
    EXPECT_EQ(status_ == 0, err.str().empty());
    std::string text = status_ == 0 ? out.str() : err.str();
    for (const std::string& noise : {std::string("trumpetctl: "), directory_ + "/"}) {
      for (size_t at; (at = text.find(noise)) != text.npos;) text.erase(at, noise.size());
    }
    return text;
  }

  std::string directory_;
  int status_ = 0;  // of the last run
};

TEST_F(SlicePlanCommand, ExplainsACampaign) {
  const std::string plan = Run("MIRROR 10.0.0.0/8 ON [a -> c] USING 20 DURING 100 ms",
                               {"--map", At("square.edges"), "--rate", "5", "--slice-ms=50"});
  EXPECT_NE(plan.find("path:      a b c\n    mirror at: a b c\n"), std::string::npos) << plan;
  EXPECT_NE(plan.find("path:      a d c\n    mirror at: a d c\n"), std::string::npos) << plan;
  EXPECT_NE(plan.find("slots: 2 of 50 ms, each within 20 Mb/s"), std::string::npos) << plan;
}

TEST_F(SlicePlanCommand, KnowsBordersAndRoutes) {
  const std::string plan =
      Run("MIRROR 10.1.0.0/16 ON [->]", {"--map", At("square.edges"), "--borders", "a,c",
                                         "--routes", "10.0.0.0/8=b 10.1.0.0/16=d", "--rate", "1"});
  EXPECT_NE(plan.find("path:      a d\n"), std::string::npos) << plan;
  EXPECT_NE(plan.find("path:      c d\n"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("path:      a b\n"), std::string::npos) << plan;
}

TEST_F(SlicePlanCommand, ReadsATopology) {
  for (const char* name : {"net.yaml", "net.json"}) {
    const std::string plan =
        Run("MIRROR 10.0.0.0/8 ON [a -> b]", {"--map", At(name), "--rate", "1"});
    EXPECT_NE(plan.find("mirror at: a b\n"), std::string::npos) << plan;
  }
  std::ofstream(At("net.gml")) << "graph [ node [ id 0 label \"a\" ] node [ id 1 label \"a\" ]\n"
                                  "  edge [ source 0 target 1 ] ]\n";
  const std::string plan =
      Run("MIRROR 10.0.0.0/8 ON [\"0\" -> \"1\"]", {"--map", At("net.gml"), "--rate", "1"});
  EXPECT_NE(plan.find("mirror at: 0 1\n"), std::string::npos) << plan;
}

TEST_F(SlicePlanCommand, RefusesMapsOfAllKindsByTheirPlace) {
  const std::string deep(100000, '[');
  const std::string noise = "\xff\xfe\x01[{";
  const struct {
    const char* name;
    std::string text;
    const char* error;
  } cases[] = {
      {"net.gml", "graph [\n node [ id 0 label \"open ]\n]",
       "net.gml:3: the file ends inside a list\n"},
      {"net.gml", "graph [ node [ id 0 ]\n edge [ source 0 target 7 ] ]",
       "net.gml:2: this edge ends at '7', and no node before it has this id\n"},
      {"net.gml", "graph " + deep, "net.gml:1: "},
      {"net.gml", noise, "net.gml:1: "},
      {"net.json", R"({"nodes": [{"id": "a"}],
 "links": [{"source": "a", "target": "z"}]})",
       "net.json:2:38: there is no node 'z'\n"},
      {"net.json", "{\"nodes\":", "net.json:1:10: not valid JSON here\n"},
      {"net.json", deep, "net.json:1:17: the file is nested too deep here\n"},
      {"net.json", noise, "net.json:1:1: the file is not UTF-8 here\n"},
      {"net.json", std::string(2000000, ' '),
       "net.json:1:1: the file is longer than the 1048576 bytes that are allowed\n"},
      {"net.yaml", "switches: [{name: a}]\nlinks: [{from: a, to: z}]\n",
       "net.yaml:2:23: there is no host or switch 'z'; did you mean 'a'?\n"},
      {"net.yaml", "a: &a [x]\nb: [*a, *a]\n",
       "net.yaml:1:4: YAML anchors are not accepted here\n"},
      {"net.yaml", deep, "net.yaml:1:9: the file is nested too deep here\n"},
      {"net.yaml", noise, "net.yaml:1:1: the file is not UTF-8 here\n"},
      {"square.edges", "a b 1\na b -1\n",
       "square.edges:2: the weight is '-1'; it takes 1 to 4294967295\n"},
      {"square.edges", noise, "square.edges:1: "},
  };
  for (const auto& one : cases) {
    std::ofstream(At(one.name)) << one.text;
    const std::string said =
        Run("MIRROR 10.0.0.0/8 ON [a -> b]", {"--map", At(one.name), "--rate", "1"});
    EXPECT_EQ(said.substr(0, std::string(one.error).size()), one.error) << one.text.substr(0, 60);
    EXPECT_EQ(said.find('\n') + 1, said.size()) << said.substr(0, 300);
  }
}

TEST_F(SlicePlanCommand, SaysWhatIsWrong) {
  const std::string map = At("square.edges");
  const std::string good = "MIRROR 10.0.0.0/8 ON [a b]";
  EXPECT_EQ(Run("MIRROR 10.0.0.0/8 ON [a ->]", {"--map", map}),
            "c.slices:1:22: no egress router is known, so an arrow at the end has no meaning\n");
  EXPECT_EQ(
      Run("CONFINE 10.0.0.0/8 ON [a b]", {"--map", map}),
      "c.slices:1:23: no egress router is known, so a way out of the region has no meaning\n");
  EXPECT_EQ(Run(good, {"--map", At("none.edges")}),
            "cannot read none.edges: No such file or directory\n");
  EXPECT_EQ(Run(good, {"--map", At("c.slices")}),
            "c.slices is no map; its name ends in .edges, .gml, .yaml or .json\n");
  EXPECT_EQ(Run("MIRROR 10.0.0.0/8 ON [a nowhere]", {"--map", map}),
            "c.slices:1:25: 'nowhere' is no router of the network\n");
  EXPECT_EQ(Run("MIRROR ON [a]", {"--map", map}),
            "c.slices:1:8: expected a prefix such as 10.1.0.0/16 or 2001:db8::/32\n");
  EXPECT_EQ(status_, 1);
}

TEST_F(SlicePlanCommand, ExitsWithTwoForWrongUsage) {
  const std::string map = At("square.edges");
  const struct {
    std::vector<std::string> options;
    const char* error;
  } cases[] = {
      {{}, "slice plan needs --map=FILE, the network to plan on"},
      {{"--map", map, "--borders", "a,x"}, "'x' is no router of the network"},
      {{"--map", map, "--routes", "10.0.0.0/8"},
       "--routes: '10.0.0.0/8' names no router; write PREFIX=ROUTER"},
      {{"--map", map, "--routes", "10.0.0.0/8=", "--borders=a"},
       "--routes: '10.0.0.0/8=' names no router; write PREFIX=ROUTER"},
      {{"--map", map, "--routes", "10.0.0.0/8=,"}, "'' is no router of the network"},
      {{"--map", map, "--rate", "fast"}, "--rate is 'fast'; it takes 1e-06 to 1e+06"},
      {{"--map", map, "--seconds", "nan"}, "--seconds is 'nan'; it takes 0.001 to 3600"},
      {{"--controller", "--rate=5"}, "--rate is for plans without --controller, which has its own"},
      {{"--controller", "--map", map},
       "--map is for plans without --controller, which has its own"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Run("MIRROR 10.0.0.0/8 ON [a b]", one.options), std::string(one.error) + "\n");
    EXPECT_EQ(status_, 2) << one.error;
  }
}

TEST_F(SlicePlanCommand, MergesRoutesOfOnePrefix) {
  const std::string plan = Run(
      "MIRROR 10.0.0.0/8 ON [a ->]",
      {"--map", At("square.edges"), "--rate", "1", "--routes", "10.0.0.0/8=b,b 10.0.0.0/8=d,b"});
  EXPECT_NE(plan.find("path:      a b\n"), std::string::npos) << plan;
  EXPECT_NE(plan.find("path:      a d\n"), std::string::npos) << plan;
}

TEST_F(SlicePlanCommand, PrintsWhatTheApiPrints) {
  const std::vector<std::string> options = {"--map", At("square.edges"), "--borders=c", "--rate=1"};
  const std::string campaign = "(name: q) CONFINE 10.0.0.0/8 ON [a b] MIRROR 10.0.0.0/8 ON [a b]";
  const std::string table = Run(campaign, options);
  std::vector<std::string> as_json = options;
  as_json.push_back("--output=json");
  const ApiJson plan = ApiJson::parse(Run(campaign, as_json), nullptr, false);
  ASSERT_TRUE(plan.is_object());
  std::string keys;
  for (const auto& item : plan.items()) keys += item.key() + " ";
  EXPECT_EQ(keys, "explanation slots slot_ms using_bps demands queries links warnings ");
  ASSERT_EQ(plan["queries"].size(), 2u);
  EXPECT_EQ(plan["queries"][0]["name"], "q");
  EXPECT_EQ(plan["queries"][0]["action"], "CONFINE");
  EXPECT_EQ(plan["queries"][0]["locations"], ApiJson::array({"c"}));
  EXPECT_EQ(plan["queries"][1]["path"], ApiJson::array({"a", "b"}));
  EXPECT_EQ(plan["queries"][1]["cost_bps"], 2000000);
  EXPECT_EQ(plan["warnings"].size(), 1u);
  std::vector<std::string> as_yaml = options;
  as_yaml.push_back("--output=yaml");
  EXPECT_NE(Run(campaign, as_yaml).find("using_bps: 10000000\n"), std::string::npos);
  EXPECT_EQ(table.substr(0, 12), "Q1  CONFINE ");
}

}  // namespace
}  // namespace trumpet
