// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/options.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/bench/matrix.h"

namespace trumpet::bench {

const char kUsage[] =
    "usage: bench-monitor [OPTION VALUE]...\n"
    "  --matrix quick|full      the cases of `make bench-quick` or `make bench`\n"
    "  --run packets|reports|install|matcher   what to measure (packets)\n"
    "  --flows N,N,...          active flows (10 to 1,000,000)\n"
    "  --order sequential|random|burst16|zipf\n"
    "  --frames ipv4|ipv6|vxlan\n"
    "  --churn N                new flows per second at 14.88 million packets per second\n"
    "  --attack SHARE           of the packets open a flow each: 0 to 0.99\n"
    "  --triggers N             (4096); 0: none\n"
    "  --per-packet N           triggers that each packet matches (8)\n"
    "  --patterns N             distinct masks, at most 64 (32)\n"
    "  --granularity none|dst24|5-tuple   of the triggers (none)\n"
    "  --batch N                frames per call: 1, 2, 4, 8, 16 or 32 (32)\n"
    "  --strawmen yes|no        match-first and match-later, too (no)\n"
    "  --repeats N              samples per contender (7)\n"
    "  --epochs N               of 148,800 packets per sample (5)\n"
    "  --warm N                 epochs before the first sample, at least (10)\n"
    "  --json FILE              JSON there instead of on stdout\n";

namespace {

bool ParseNumbers(const std::string& text, std::vector<uint32_t>* numbers) {
  numbers->clear();
  std::istringstream stream(text);
  std::string item;
  while (std::getline(stream, item, ',')) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(item.c_str(), &end, 10);
    if (item.empty() || *end != '\0' || value > 4000000) return false;
    numbers->push_back(static_cast<uint32_t>(value));
  }
  return !numbers->empty();
}

bool ParseShare(const std::string& text, double* share) {
  char* end = nullptr;
  *share = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && *share >= 0 && *share <= 0.99;
}

template <typename Value>
bool ParseChoice(const std::string& text, const std::map<std::string, Value>& choices,
                 Value* value) {
  const auto found = choices.find(text);
  if (found == choices.end()) return false;
  *value = found->second;
  return true;
}

bool ParseWord(const std::string& name, const std::string& value, Options* options) {
  BenchCase& base = options->base;
  if (name == "--matrix") {
    return ParseChoice<MatrixKind>(
        value, {{"quick", MatrixKind::kQuick}, {"full", MatrixKind::kFull}}, &options->matrix);
  }
  if (name == "--run") {
    return ParseChoice<RunKind>(value,
                                {{"packets", RunKind::kPackets},
                                 {"reports", RunKind::kReports},
                                 {"install", RunKind::kInstall},
                                 {"matcher", RunKind::kMatcher}},
                                &options->run);
  }
  if (name == "--order") {
    return ParseChoice<Order>(value,
                              {{"sequential", Order::kSequential},
                               {"random", Order::kRandom},
                               {"burst16", Order::kBurst16},
                               {"zipf", Order::kZipf}},
                              &base.traffic.order);
  }
  if (name == "--frames") {
    const bool is_known = ParseChoice<Encapsulation>(value,
                                                     {{"ipv4", Encapsulation::kIpv4},
                                                      {"ipv6", Encapsulation::kIpv6},
                                                      {"vxlan", Encapsulation::kVxlan}},
                                                     &base.traffic.encapsulation);
    base.triggers.encapsulation = base.traffic.encapsulation;
    return is_known;
  }
  if (name == "--granularity") {
    return ParseChoice<Buckets>(
        value,
        {{"none", Buckets::kNone}, {"dst24", Buckets::kDst24}, {"5-tuple", Buckets::kFiveTuple}},
        &base.triggers.buckets);
  }
  if (name == "--strawmen") {
    return ParseChoice<bool>(value, {{"yes", true}, {"no", false}}, &base.with_strawmen);
  }
  if (name == "--attack") return ParseShare(value, &base.traffic.attack_share);
  options->json_file = value;
  return name == "--json" && !value.empty();
}

bool IsNumeric(const std::string& name) {
  return name == "--flows" || name == "--triggers" || name == "--per-packet" ||
         name == "--patterns" || name == "--repeats" || name == "--epochs" || name == "--warm" ||
         name == "--churn" || name == "--batch";
}

bool ParseNumeric(const std::string& name, const std::string& value, Options* options) {
  std::vector<uint32_t> numbers;
  if (!ParseNumbers(value, &numbers)) return false;
  if (name == "--flows") {
    options->flows = numbers;
    return std::find(numbers.begin(), numbers.end(), 0u) == numbers.end();
  }
  BenchCase& base = options->base;
  const std::map<std::string, uint32_t*> singles = {
      {"--triggers", &base.triggers.triggers},
      {"--per-packet", &base.triggers.per_packet},
      {"--patterns", &base.triggers.patterns},
      {"--batch", &base.batch},
      {"--repeats", &base.repeats},
      {"--epochs", &base.epochs},
      {"--warm", &base.warm_epochs},
      {"--churn", &base.traffic.new_flows_per_second}};
  if (numbers.size() != 1) return false;
  *singles.at(name) = numbers[0];
  if (name == "--batch" && (numbers[0] == 0 || kBatch % numbers[0] != 0)) return false;
  return numbers[0] != 0 || name == "--triggers" || name == "--churn" || name == "--warm";
}

// Groups of triggers must tile the destinations.
bool IsTiling(const TriggersSpec& spec) {
  if (spec.triggers == 0) return true;
  return spec.patterns <= 64 && spec.triggers % spec.per_packet == 0 &&
         kDestinations % spec.groups() == 0;
}

}  // namespace

bool ParseOptions(int argc, char** argv, Options* options, std::string* bad) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    *bad = name;
    if (i + 1 == argc) return false;
    const bool is_good = IsNumeric(name) ? ParseNumeric(name, argv[i + 1], options)
                                         : ParseWord(name, argv[i + 1], options);
    if (!is_good) return false;
  }
  *bad =
      "these triggers: groups of --per-packet of them must divide 65,536 addresses, with at "
      "most 64 --patterns";
  if (!IsTiling(options->base.triggers)) return false;
  if (!options->flows.empty()) return true;
  const uint32_t churned = FlowsOfChurn(options->base.traffic.new_flows_per_second);
  if (churned != 0) options->flows = {churned};
  return true;
}

}  // namespace trumpet::bench
