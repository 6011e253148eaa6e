// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "controller/daemon/slice_part.h"
#include "lib/model/slice_spec.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr Nanos kSecond = kNanosPerSecond;

void ReadDatapath(ConfigSection* section, std::vector<DatapathSwitchConfig>* switches) {
  DatapathSwitchConfig one;
  size_t number = 0;
  section->Text("name", &one.name);
  section->Text("host", &one.place.host);
  section->Text("bridge", &one.place.bridge);
  section->Count("number", 1, kMaxSwitchNumber, &number);
  one.place.number = static_cast<uint16_t>(number);
  if (one.name.empty()) section->Complain("a switch needs a name");
  if (one.place.host.empty()) section->Complain("the switch needs a host");
  if (number == 0) section->Complain("the switch needs a number");
  for (const DatapathSwitchConfig& other : *switches) {
    if (other.name == one.name) section->ComplainOf("name", "another switch has this name");
    if (other.place.number == one.place.number) {
      section->ComplainOf("number", "another switch has this number");
    }
  }
  switches->push_back(std::move(one));
}

void ReadSamples(ConfigSection* section, SamplesConfig* samples) {
  section->Texts("listen", &samples->listen);
  for (const std::string& text : samples->listen) {
    const std::string problem = SampleListenProblem(text);
    if (!problem.empty()) section->ComplainOf("listen", problem);
  }
  std::vector<std::string> from;
  section->Texts("from", &from);
  samples->from.clear();
  for (const std::string& text : from) {
    const auto prefix = ParsePrefix(text);
    if (!prefix.ok()) {
      section->ComplainOf("from", prefix.message());
    } else {
      samples->from.push_back(*prefix);
    }
  }
  if (!samples->listen.empty() && samples->from.empty()) {
    section->Complain("samples need 'from': the routers they are taken from");
  }
}

}  // namespace

void ReadAnalyzers(ConfigSection* section, AnalyzersConfig* config) {
  section->Texts("listen", &config->listen);
  for (const std::string& text : config->listen) {
    const auto address = ParsePassiveAddress(text, kDefaultAnalyzerPort);
    if (!address.ok()) section->ComplainOf("listen", address.message());
  }
  section->Text("private_key", &config->tls.private_key);
  section->Text("certificate", &config->tls.certificate);
  section->Text("ca_certificate", &config->tls.ca_certificate);
  section->Bool("check_certificates", &config->checks_certificates);
}

void ReadSlices(ConfigSection* section, SlicesConfig* config) {
  CampaignOptions* const campaigns = &config->campaigns;
  size_t budget = static_cast<size_t>(campaigns->budget_bps / 1'000'000);
  section->Count("budget_mbps", 0, 1'000'000, &budget);
  campaigns->budget_bps = static_cast<int64_t>(budget) * 1'000'000;
  section->Count("max", 1, 65536, &campaigns->max_campaigns);
  section->Count("max_per_tenant", 1, 65536, &campaigns->max_campaigns_per_tenant);
  section->Count("max_running", 1, 1000, &campaigns->max_running);
  section->Text("analyzer_at", &campaigns->analyzer_at);
  section->Duration("demand_memory", kSecond, 86400 * kSecond, &campaigns->demand_memory);
  SliceRunOptions& run = campaigns->run;
  section->Duration("shortest_slice", kNanosPerMilli, 10 * kSecond, &run.shortest_slice);
  section->Duration("longest_path", 0, 10 * kSecond, &run.longest_path);
  section->Duration("least_spacing", 0, 10 * kSecond, &run.least_spacing);
  section->Section("samples", [&](ConfigSection* one) { ReadSamples(one, &config->samples); });
  config->switches.clear();
  section->Sections("switches", [&](ConfigSection* one) { ReadDatapath(one, &config->switches); });
}

}  // namespace trumpet
