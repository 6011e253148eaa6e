// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/slice_commands.h"

#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "controller/plan/slice/plan_json.h"
#include "controller/plan/slice/planner.h"
#include "utilities/ctl/ctl_run.h"
#include "utilities/ctl/network_file.h"
#include "utilities/ctl/slice_cases.h"

namespace trumpet {
namespace {

// A command under way; the first mistake in its options stays.
class SliceRun {
 public:
  SliceRun(const CtlInvocation& invocation, const CtlTerminal& terminal)
      : invocation_(invocation), terminal_(terminal), run_{invocation, terminal, nullptr} {}

  int Solve();
  int Plan();

 private:
  int Fail(const std::string& text) { return run_.Fail(text); }
  void Complain(const std::string& text) {
    if (error_.empty()) error_ = text;
  }
  int Print(const slice::SlicePlan& plan, const SliceCampaign& campaign,
            const slice::Network& network);
  std::vector<int> Routers(const std::string& list, const slice::Network& network);
  std::vector<slice::RoutedPrefix> Routes(const slice::Network& network);
  slice::SlicePlanOptions TimesAndRates();

  const CtlInvocation& invocation_;
  const CtlTerminal& terminal_;
  CtlRun run_;
  std::string error_;
};

// Each once.
std::vector<int> SliceRun::Routers(const std::string& list, const slice::Network& network) {
  std::vector<int> routers;
  std::set<int> known;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto router = network.Find(name);
    if (router && known.insert(*router).second) routers.push_back(*router);
    if (!router) Complain(slice::QuoteName(name) + " is no router of the network");
  }
  return routers;
}

// A prefix that stands twice leaves at the routers of both.
std::vector<slice::RoutedPrefix> SliceRun::Routes(const slice::Network& network) {
  std::vector<slice::RoutedPrefix> routes;
  std::map<std::string, std::string> lists;
  std::istringstream words(invocation_.Get("routes"));
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const auto prefix = ParsePrefix(word.substr(0, equals));
    if (!prefix || equals == word.npos || equals + 1 == word.size()) {
      Complain("--routes: " +
               (prefix ? slice::QuoteName(word) + " names no router; write PREFIX=ROUTER"
                       : prefix.message()));
      continue;
    }
    std::string& list = lists[PrintPrefix(*prefix)];
    list += (list.empty() ? "" : ",") + word.substr(equals + 1);
  }
  for (const auto& [prefix, list] : lists) {
    routes.push_back({*ParsePrefix(prefix), Routers(list, network)});
  }
  return routes;
}

slice::SlicePlanOptions SliceRun::TimesAndRates() {
  slice::SlicePlanOptions options;
  options.rate_bps = std::llround(invocation_.Decimal("rate", 50) * 1e6);
  options.longest_path_ms = invocation_.Decimal("path-ms", 0);
  options.shortest_slice_ms = invocation_.Decimal("slice-ms", 25);
  options.spacing_ms = invocation_.Decimal("spacing-ms", 0);
  options.seconds = invocation_.Decimal("seconds", 5);
  return options;
}

int SliceRun::Print(const slice::SlicePlan& plan, const SliceCampaign& campaign,
                    const slice::Network& network) {
  const std::string explanation = slice::ExplainPlan(plan, campaign, network);
  if (invocation_.output != OutputFormat::kTable) {
    return run_.Print(slice::PlanJson(plan, campaign, network, explanation), nullptr);
  }
  *terminal_.out << explanation;
  return 0;
}

int SliceRun::Plan() {
  if (!invocation_.Has("map")) {
    return run_.Misuse("slice plan needs --map=FILE, the network to plan on");
  }
  slice::SlicePlanOptions options = TimesAndRates();
  const std::string& file = invocation_.arguments[0];
  const auto text = ReadBoundedFile(file, kMaxSliceTextBytes);
  if (!text) return Fail(text.message());
  const auto campaign = ParseSlices(*text, file);
  if (!campaign) return Fail(campaign.message());
  const auto network = ReadNetworkFile(invocation_.Get("map"));
  if (!network) return Fail(network.message());
  options.borders = Routers(invocation_.Get("borders"), *network);
  options.routes = Routes(*network);
  if (!error_.empty()) return run_.Misuse(error_);
  const auto plan = slice::PlanSlices(*campaign, {file, *text}, *network, options);
  if (!plan) return Fail(plan.message());
  return Print(*plan, *campaign, *network);
}

int SliceRun::Solve() {
  SliceCaseOptions options;
  options.topologies = invocation_.Get("topologies", ".");
  options.source_name = "cases";
  options.seconds = invocation_.Decimal("seconds", 5);
  const uint64_t wrong = AnswerSliceCases(*terminal_.in, *terminal_.out, options);
  if (wrong == 0) return 0;
  return Fail(std::to_string(wrong) + " lines are no cases; their answers say why");
}

}  // namespace

int RunSliceCommand(const CtlInvocation& invocation, const CtlTerminal& terminal) {
  SliceRun run(invocation, terminal);
  return std::string(invocation.command->name) == "slice plan" ? run.Plan() : run.Solve();
}

}  // namespace trumpet
