// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/analyzer_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace trumpet {
namespace {

AnalyzerConfig Default() { return DefaultAnalyzerConfig("/etc/trumpet", "/var/lib/trumpet"); }

std::string ErrorOf(const std::string& text) {
  AnalyzerConfig config = Default();
  const Status read = ReadAnalyzerConfig(text, "a.yaml", &config);
  return read.ok() ? "" : read.message();
}

TEST(AnalyzerConfig, HasDefaults) {
  const AnalyzerConfig config = Default();
  EXPECT_EQ(config.controller, "ssl:127.0.0.1:6651");
  EXPECT_EQ(config.tls.certificate, "/etc/trumpet/analyzer-cert.pem");
  EXPECT_EQ(config.analyzer.archive.directory, "/var/lib/trumpet/packets");
  EXPECT_EQ(config.traces.store.folder, "");
  EXPECT_FALSE(config.analyzer.name.empty());
}

TEST(AnalyzerConfig, IsRead) {
  AnalyzerConfig config = Default();
  const Status read = ReadAnalyzerConfig(
      "name: an1\n"
      "controller: {address: 'ssl:10.0.0.1', name: tem}\n"
      "capture: {interfaces: [eth1, eth2], ring: 8MiB, hardware_stamps: yes,"
      " dpdk: {ports: [net_ring0], eal: '--no-huge -m 64', mtu: 9000, pause: 0s}}\n"
      "packets: {memory: 1GB, snap: 128, directory: '', max_size: 2GB, keep: 1d}\n"
      "traces: {directory: /t, max_size: 3GB, keep: 2d, switches: {leaf1: 7}, all_copies: no,"
      " debug_dscp: 32, wait: 2s, max_traces: 1000, nat: [10.9.0.2=10.3.0.1]}\n",
      "a.yaml", &config);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(config.analyzer.name, "an1");
  EXPECT_EQ(config.controller, "ssl:10.0.0.1");
  EXPECT_EQ(config.analyzer.connector.session.expected_peer_name, "tem");
  EXPECT_EQ(config.interfaces, (std::vector<std::string>{"eth1", "eth2"}));
  EXPECT_EQ(config.receiver.ring_bytes, uint64_t{8} << 20);
  EXPECT_TRUE(config.receiver.wants_hardware_stamps);
  EXPECT_EQ(config.dpdk.ports, (std::vector<std::string>{"net_ring0"}));
  EXPECT_EQ(config.dpdk_eal, "--no-huge -m 64");
  EXPECT_EQ(config.dpdk.ring_bytes, uint64_t{8} << 20);
  EXPECT_EQ(config.dpdk.mtu, 9000u);
  EXPECT_EQ(config.dpdk.pause, 0);
  EXPECT_EQ(config.analyzer.book.max_bytes, 1'000'000'000u);
  EXPECT_EQ(config.analyzer.book.snap_bytes, 128u);
  EXPECT_EQ(config.analyzer.archive.directory, "");
  EXPECT_EQ(config.analyzer.archive.max_bytes, 2'000'000'000u);
  EXPECT_EQ(config.analyzer.archive.keep, 86400 * kNanosPerSecond);
  EXPECT_EQ(config.traces.store.folder, "/t");
  EXPECT_EQ(config.traces.store.max_bytes, 3'000'000'000u);
  EXPECT_EQ(config.traces.store.max_age, 2 * 86400 * kNanosPerSecond);
  EXPECT_EQ(config.traces.switches.NameOf(7), "leaf1");
  EXPECT_FALSE(config.traces.maker.sees_all_copies);
  EXPECT_EQ(config.traces.maker.copies.debug_dscp, 32);
  EXPECT_EQ(config.traces.maker.copies.pairs.size(), 1u);
  EXPECT_EQ(config.traces.maker.table.quiet, 2 * kNanosPerSecond);
  EXPECT_EQ(config.traces.maker.table.retain, 6 * kNanosPerSecond);
  EXPECT_EQ(config.traces.maker.table.max_hops, 4000u);
}

TEST(AnalyzerConfig, ErrorsPointAtTheirPlace) {
  EXPECT_EQ(ErrorOf("capture:\n  rnig: 8MiB\n").substr(0, 12), "a.yaml:2:3: ");
  EXPECT_EQ(ErrorOf("packets:\n  snap: 1\n").substr(0, 13), "a.yaml:2:9: '");
  EXPECT_NE(ErrorOf("controller:\n  address: nowhere\n"), "");
  EXPECT_NE(ErrorOf("name: ''\n"), "");
  EXPECT_EQ(
      ErrorOf("capture: {dpdk: {ports: [a, b, a]}}\n").find("a.yaml:1:25: a port is named twice"),
      0u);
  EXPECT_NE(ErrorOf("capture: {dpdk: {pause: 1s}}\n").find("100ms"), std::string::npos);
  EXPECT_NE(ErrorOf("traces: {switches: {leaf1: 1024}}\n")
                .find("leaf1: '1024' is no number of a switch; 0 to 1023 are"),
            std::string::npos);
  EXPECT_NE(ErrorOf("traces: {switches: {leaf1: 1, leaf2: 1}}\n").find("number 1 is that of leaf1"),
            std::string::npos);
  EXPECT_NE(ErrorOf("traces: {topology: /nowhere.yaml}\n").find("/nowhere.yaml: cannot be read"),
            std::string::npos);
}

// What the commented file shows is what holds without it.
TEST(AnalyzerConfig, TheFileThatIsInstalledIsRight) {
  const char* source_root = std::getenv("srcdir");  // set by make check
  std::ifstream file(std::string(source_root != nullptr ? source_root : ".") +
                     "/controller/daemon/analyzer.yaml");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(ErrorOf(text), "");
  // Without comments, but for the name, which is each host's own.
  const std::string all = std::regex_replace(text, std::regex("\n( *)#([a-z_]+:)"), "\n$1$2");
  EXPECT_EQ(ErrorOf(std::regex_replace(all, std::regex("\nname:[^\n]*"), "\nname: an1")), "");
}

}  // namespace
}  // namespace trumpet
