// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// bench-monitor: CPU time per packet of the monitor alone, beside a yardstick, in one interleaved
// run.
//
//   bench-monitor [--triggers N] [--per-packet N] [--flows N,N,...] [--repeats N]
//                 [--order sequential|random|zipf] [--churn FLOWS_PER_SECOND] [--frames
//                 ipv4|ipv6|vxlan]
//
// One JSON object a line on stdout, a table on stderr.  As in the figures of the paper's authors, a
// contender's time contains the writing of the frames, the yardstick's does not; ratio = time of
// the contender / time of the yardstick, both so, minima of the repeats; "own" is the time without
// the frames.
//
// The yardstick does what the program behind the published ratios does, its stall included (see
// contenders.h); "map" is the same without the stall.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "tests/bench/contenders.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {
namespace {

struct Options {
  uint32_t triggers = 4096;
  uint32_t per_packet = 8;
  std::vector<uint32_t> flows{10, 300, 1000, 10000, 30000, 100000};
  uint32_t repeats = 7;
  TrafficSpec traffic;
};

double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// A contender with its own copy of the traffic and its own clock of packets.
struct Lane {
  Lane(std::string the_name, std::unique_ptr<Contender> the_contender, const TrafficSpec& spec)
      : name(std::move(the_name)), contender(std::move(the_contender)), traffic(spec) {}

  // CPU nanoseconds per packet over `epochs` epochs.
  double Run(int epochs) {
    double seconds = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
      seconds += contender->times_frames() ? RunBatches(kEpochPackets) : RunWrittenFrames();
      next_epoch++;
      contender->OutsideEpoch();
    }
    return seconds * 1e9 / (static_cast<double>(epochs) * kEpochPackets);
  }

  double RunBatches(uint32_t packets) {
    const double before = ThreadSeconds();
    for (uint32_t packet = 0; packet < packets; packet += kBatch) {
      contender->OnBatch(traffic.Next(), Now(packet));
    }
    return ThreadSeconds() - before;
  }

  // An epoch, in turns of writing all buffers and reading them; only the reading is timed.
  double RunWrittenFrames() {
    double seconds = 0;
    for (uint32_t packet = 0; packet < kEpochPackets; packet += kBuffers) {
      const uint32_t count = std::min(kBuffers, kEpochPackets - packet);
      written.clear();
      for (uint32_t i = 0; i < count; i += kBatch) written.push_back(traffic.Next());
      const double before = ThreadSeconds();
      for (const Frame* frames : written) contender->OnBatch(frames, Now(packet));
      seconds += ThreadSeconds() - before;
    }
    return seconds;
  }

  Nanos Now(uint32_t packet) const {
    return next_epoch * kEpochNs + static_cast<Nanos>(packet) * kEpochNs / kEpochPackets;
  }

  std::string name;
  std::unique_ptr<Contender> contender;
  Traffic traffic;
  std::vector<const Frame*> written;
  int64_t next_epoch = 0;
  std::vector<double> samples;
};

int BenchFlows(const Options& options, uint32_t flows) {
  TrafficSpec spec = options.traffic;
  spec.flows = flows;
  TriggerSpec triggers{options.triggers, options.per_packet, 32, spec.encapsulation};
  const auto events = options.triggers == 0 ? std::vector<EventSpec>() : MakeEvents(triggers);

  std::vector<Lane> lanes;
  const uint32_t matches = options.triggers == 0 ? 0 : options.per_packet;
  lanes.emplace_back("yardstick", MakeYardstickContender(flows), spec);
  lanes.emplace_back("traffic", MakeTrafficContender(), spec);
  lanes.emplace_back("map", MakeMapContender(flows), spec);
  lanes.emplace_back("parse", MakeParseContender(), spec);
  lanes.emplace_back("monitor", MakeMonitorContender(events, flows, matches), spec);
  if (lanes.back().contender == nullptr) return 1;

  for (Lane& lane : lanes) lane.Run(10);  // warm up
  for (uint32_t repeat = 0; repeat < options.repeats; repeat++) {
    for (Lane& lane : lanes) {
      lane.Run(1);  // its memory comes back into the caches
      lane.samples.push_back(lane.Run(5));
    }
  }

  int status = 0;
  double traffic_ns = 0;
  double yardstick_ns = 0;
  for (Lane& lane : lanes) {
    std::sort(lane.samples.begin(), lane.samples.end());
    const double min = lane.samples.front();
    const double median = lane.samples[lane.samples.size() / 2];
    if (lane.name == "traffic") traffic_ns = min;
    if (lane.name == "yardstick") yardstick_ns = min;
    // Writing costs a contender without it nothing.
    const double own = lane.contender->times_frames() ? min - traffic_ns : min;
    const double ratio = min / (yardstick_ns == 0 ? min : yardstick_ns);
    std::printf(
        "{\"bench\":\"monitor\",\"contender\":\"%s\",\"flows\":%u,\"triggers\":%u,"
        "\"per_packet\":%u,\"ns_min\":%.2f,\"ns_median\":%.2f,\"ns_max\":%.2f,"
        "\"ns_min_without_frames\":%.2f,\"ratio\":%.3f%s}\n",
        lane.name.c_str(), flows, options.triggers, options.per_packet, min, median,
        lane.samples.back(), own, ratio, lane.contender->Facts().c_str());
    std::fprintf(stderr, "%8u  %-10s %8.2f %8.2f %8.2f %8.2f  %6.2f\n", flows, lane.name.c_str(),
                 min, median, lane.samples.back(), own, ratio);
    const std::string problem = lane.contender->Problem();
    if (!problem.empty()) {
      std::fprintf(stderr, "bench-monitor: %u flows: %s: %s\n", flows, lane.name.c_str(),
                   problem.c_str());
      status = 1;
    }
  }
  return status;
}

bool ParseNumbers(const char* text, std::vector<uint32_t>* numbers) {
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

template <typename Value>
bool ParseChoice(const std::string& text, const std::map<std::string, Value>& choices,
                 Value* value) {
  const auto found = choices.find(text);
  if (found == choices.end()) return false;
  *value = found->second;
  return true;
}

bool ParseOption(const std::string& name, const char* value, Options* options) {
  std::vector<uint32_t> numbers;
  if (name == "--order") {
    return ParseChoice<Order>(
        value,
        {{"sequential", Order::kSequential}, {"random", Order::kRandom}, {"zipf", Order::kZipf}},
        &options->traffic.order);
  }
  if (name == "--frames") {
    return ParseChoice<Encapsulation>(value,
                                      {{"ipv4", Encapsulation::kIpv4},
                                       {"ipv6", Encapsulation::kIpv6},
                                       {"vxlan", Encapsulation::kVxlan}},
                                      &options->traffic.encapsulation);
  }
  if (!ParseNumbers(value, &numbers)) return false;
  if (name == "--flows") {
    options->flows = numbers;
    return std::find(numbers.begin(), numbers.end(), 0u) == numbers.end();
  }
  const std::map<std::string, uint32_t*> singles = {
      {"--triggers", &options->triggers},
      {"--per-packet", &options->per_packet},
      {"--repeats", &options->repeats},
      {"--churn", &options->traffic.new_flows_per_second}};
  const auto found = singles.find(name);
  if (found == singles.end() || numbers.size() != 1) return false;
  *found->second = numbers[0];
  return options->per_packet != 0 && options->repeats != 0;
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc || !ParseOption(argv[i], argv[i + 1], &options)) {
      std::fprintf(stderr,
                   "bench-monitor: cannot use %s\n"
                   "usage: bench-monitor [--triggers N] [--per-packet N] [--flows N,N,...]"
                   " [--repeats N]\n"
                   "  [--order sequential|random|zipf] [--churn FLOWS_PER_SECOND]"
                   " [--frames ipv4|ipv6|vxlan]\n",
                   argv[i]);
      return 2;
    }
  }
  std::fprintf(stderr, "%u triggers, %u per packet; CPU ns per packet; ratio to the yardstick\n",
               options.triggers, options.per_packet);
  std::fprintf(stderr, "%8s  %-10s %8s %8s %8s %8s  %6s\n", "flows", "contender", "min", "median",
               "max", "own", "ratio");
  int status = 0;
  for (const uint32_t flows : options.flows) status |= BenchFlows(options, flows);
  return status;
}

}  // namespace
}  // namespace trumpet::bench

int main(int argc, char** argv) { return trumpet::bench::Main(argc, argv); }
