// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/slice_commands.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

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
    for (const char* name : {"square.edges", "net.yaml", "net.json", "c.slices"}) {
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
    if (!invocation) return invocation.message();
    std::ostringstream out, err;
    CtlTerminal terminal;
    terminal.out = &out;
    terminal.err = &err;
    const int status = RunCtl(*invocation, terminal);
    EXPECT_EQ(status == 0, err.str().empty());
    std::string text = status == 0 ? out.str() : err.str();
    for (const std::string& noise : {std::string("trumpetctl: "), directory_ + "/"}) {
      for (size_t at; (at = text.find(noise)) != text.npos;) text.erase(at, noise.size());
    }
    return text;
  }

  std::string directory_;
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
}

TEST_F(SlicePlanCommand, SaysWhatIsWrong) {
  const std::string map = At("square.edges");
  const std::string good = "MIRROR 10.0.0.0/8 ON [a b]";
  EXPECT_EQ(Run(good, {}), "slice plan needs --map=FILE, the network to plan on\n");
  EXPECT_EQ(Run(good, {"--map", At("none.edges")}),
            "cannot read none.edges: No such file or directory\n");
  EXPECT_EQ(Run(good, {"--map", At("c.slices")}),
            "c.slices is no map; its name ends in .edges, .gml, .yaml or .json\n");
  EXPECT_EQ(Run("MIRROR 10.0.0.0/8 ON [a nowhere]", {"--map", map}),
            "c.slices:1:25: 'nowhere' is no router of the network\n");
  EXPECT_EQ(Run("MIRROR ON [a]", {"--map", map}),
            "c.slices:1:8: expected a prefix such as 10.1.0.0/16 or 2001:db8::/32\n");
  EXPECT_EQ(Run(good, {"--map", map, "--borders", "a,x"}), "'x' is no router of the network\n");
  EXPECT_EQ(Run(good, {"--map", map, "--routes", "10.0.0.0/8"}),
            "--routes: '10.0.0.0/8' names no router; write PREFIX=ROUTER\n");
  EXPECT_EQ(Run(good, {"--map", map, "--rate", "fast"}),
            "--rate is 'fast'; it takes 1e-06 to 1e+06\n");
}

}  // namespace
}  // namespace trumpet
