// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/bench_traces.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace trumpet::bench {
namespace {

constexpr size_t kHeaderBytes = 54;  // Ethernet, IPv4, TCP
constexpr size_t kMaxPayload = 74;   // of which an analyzer keeps as much

uint64_t IdOf(uint64_t number) { return number * 0x9e3779b97f4a7c15; }

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// Headers of the flow with numbers by chance; every second has data, which does not compress.
std::string PacketOf(uint64_t number, const FlowKey& flow) {
  std::string packet(kHeaderBytes, '\0');
  packet[12] = '\x08';
  packet[14] = '\x45';
  for (size_t i = 0; i < 4; ++i) {
    packet[26 + i] = static_cast<char>(flow.src_ip[i]);
    packet[30 + i] = static_cast<char>(flow.dst_ip[i]);
  }
  uint64_t some = Mix(number);
  const size_t payload = number % 2 == 0 ? 0 : some % (kMaxPayload + 1);
  packet.resize(kHeaderBytes + payload);
  // Sequence and acknowledgement, then data.
  for (size_t at = 38; at < packet.size(); ++at) {
    if (at == 46) at = kHeaderBytes;
    if (at % 8 == 0) some = Mix(some + at);
    if (at < packet.size()) packet[at] = static_cast<char>(some >> (8 * (at % 8)));
  }
  return packet;
}

}  // namespace

bool IsThrough(uint64_t number, uint16_t switch_number) {
  for (uint64_t hop = 0; hop < kHops; ++hop) {
    if (SwitchOf(number, hop) == switch_number) return true;
  }
  return false;
}

FlowKey FlowOf(uint64_t number) {
  const uint64_t some = IdOf(number % kFlows);
  FlowKey flow;
  flow.ip_family = 4;
  flow.protocol = 6;
  flow.src_ip[0] = flow.dst_ip[0] = 10;
  for (size_t i = 1; i < 4; ++i) {
    flow.src_ip[i] = static_cast<uint8_t>(some >> (8 * i));
    flow.dst_ip[i] = static_cast<uint8_t>(some >> (24 + 8 * i));
  }
  flow.src_port = static_cast<uint16_t>(1024 + number % 50000);
  flow.dst_port = 443;
  return flow;
}

StoredTrace TraceOf(uint64_t number, Nanos step) {
  StoredTrace trace;
  trace.id = IdOf(number + 1);
  trace.start = kBegin + static_cast<Nanos>(number) * step;
  trace.flow = FlowOf(number);
  trace.packet = PacketOf(number, trace.flow);
  trace.wire_bytes = static_cast<uint32_t>(trace.packet.size() + number % 1386);
  trace.marks = IsMarked(number) ? kDebug : kConnection;
  trace.fault = IsLost(number) ? kDropped : 0;
  trace.drop_ppm = IsLost(number) ? 999000 : 0;
  trace.revision = number % 50 == 7 ? 1 : 0;
  trace.last_switch = SwitchOf(number, kHops - 1);
  if (IsLost(number)) {
    trace.evidence = R"({"expected_next":["leaf)" + std::to_string(number % 97) + "\"]}";
  } else {
    trace.evidence = "{}";
  }
  for (uint64_t i = 0; i < kHops; ++i) {
    trace.hops.push_back({trace.start + static_cast<Nanos>(20000 * i + Mix(number + i) % 10000),
                          static_cast<uint32_t>(7 + Mix(number) % 4), SwitchOf(number, i),
                          static_cast<uint8_t>(64 - i)});
  }
  return trace;
}

std::vector<StoredTrace> TracesOf(uint64_t first, uint64_t until, Nanos step) {
  std::vector<StoredTrace> traces;
  for (uint64_t number = first; number < until; ++number) traces.push_back(TraceOf(number, step));
  return traces;
}

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double MedianOf(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(SecondsOf(work));
  return MedianOf(std::move(times));
}

void Check(bool is_right, const std::string& what) {
  if (is_right) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void Check(const Status& status) { Check(status.ok(), status.ok() ? "" : status.message()); }

}  // namespace trumpet::bench
