// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/config.h"

#include <gtest/gtest.h>

#include <string>

#include "controller/daemon/config_reader.h"

namespace trumpet {
namespace {

std::string Read(const std::string& text, ControllerConfig* config) {
  const Status status = ReadConfig(text, "c.yaml", config);
  return status.ok() ? "" : status.message();
}

std::string ErrorOf(const std::string& text) {
  ControllerConfig config = DefaultConfig("/etc/trumpet", "/var/lib/trumpet", "/run/openvswitch");
  return Read(text, &config);
}

TEST(Config, HasDefaultsForAll) {
  ControllerConfig config = DefaultConfig("/etc/trumpet", "/var/lib/trumpet", "/run/openvswitch");
  EXPECT_EQ(Read("{}", &config), "");
  EXPECT_EQ(config.agents.listen, std::vector<std::string>{"pssl:6650:127.0.0.1"});
  EXPECT_EQ(config.agents.tls.private_key, "/etc/trumpet/controller-privkey.pem");
  EXPECT_EQ(config.reports.database, "/var/lib/trumpet/reports.db");
}

TEST(Config, ReadsItsSections) {
  ControllerConfig config;
  EXPECT_EQ(
      Read("name: tem-1\n"
           "database: 'memory:'\n"
           "agents:\n"
           "  listen: ['pssl:0', 'ptcp:0:127.0.0.1']\n"
           "  check_certificates: no\n"
           "  forget_after: 2h\n"
           "events: {max: 10, report_rate: 5}\n"
           "reports: {keep: 30d, max_size: 2GiB}\n"
           "rest: {listen: 'pssl:0', tokens: /t.yaml, metrics_need_token: no, max_streams: 7}\n",
           &config),
      "");
  EXPECT_EQ(config.manager.name, "tem-1");
  EXPECT_EQ(config.agents.listen.size(), 2u);
  EXPECT_FALSE(config.manager.binds_hosts_to_certificates);
  EXPECT_EQ(config.manager.forget_hosts_after_ns, 7200 * kNanosPerSecond);
  EXPECT_EQ(config.manager.max_events, 10u);
  EXPECT_EQ(config.manager.event.reports_per_second, 5u);
  EXPECT_EQ(config.reports.max_bytes, uint64_t{2} << 30);
  EXPECT_EQ(config.rest.listen, std::vector<std::string>{"pssl:0"});
  EXPECT_EQ(config.rest.access.token_file, "/t.yaml");
  EXPECT_FALSE(config.rest.metrics_need_token);
  EXPECT_EQ(config.rest.max_streams, 7u);
}

TEST(Config, NamesThePlaceOfEachError) {
  EXPECT_EQ(ErrorOf("agents:\n  lisen: x\n"),
            "c.yaml:2:3: 'lisen' is not a key of 'agents'; did you mean 'listen'?");
  EXPECT_EQ(ErrorOf("databse: x\nevents: {max: 0}\n"),
            "c.yaml:2:15: 'max' is '0'; it takes 1 to 65536\n"
            "c.yaml:1:1: 'databse' is not a key of the configuration; did you mean 'database'?");
  EXPECT_EQ(ErrorOf("reports: {keep: 7 days}\n"),
            "c.yaml:1:17: 'keep' is '7 days'; it takes 1s to 3650d, in us, ms, s, m, h or d");
  EXPECT_EQ(ErrorOf("reports: {max_size: 1KB}\n"),
            "c.yaml:1:21: 'max_size' is '1KB'; it takes 1MB to 1000000GB, with a unit as in 512MB");
  EXPECT_EQ(ErrorOf("agents: {check_certificates: maybe}\n"),
            "c.yaml:1:30: 'check_certificates' is 'maybe'; it takes yes or no");
  EXPECT_EQ(ErrorOf("agents: [x]\n"), "c.yaml:1:9: 'agents' must be a map of keys");
  EXPECT_EQ(ErrorOf("name: a\nname: b\n"), "c.yaml:2:1: 'name' stands twice");
}

TEST(Config, ReadsSwitchesWhoseDatabasesAreFollowed) {
  ControllerConfig config;
  EXPECT_EQ(Read("ovsdb:\n"
                 "  private_key: /k.pem\n"
                 "  switches: [{name: s1, database: 'ssl:192.0.2.1:6640'}]\n",
                 &config),
            "");
  ASSERT_EQ(config.ovsdb.switches.size(), 1u);
  EXPECT_EQ(config.ovsdb.switches[0].database, "ssl:192.0.2.1:6640");
  EXPECT_EQ(config.ovsdb.tls.private_key, "/k.pem");
  EXPECT_EQ(ErrorOf("ovsdb: {switches: [{name: a, database: 'tcp:h'}, {name: a, database: "
                    "'tcp:h'}]}\n"),
            "c.yaml:1:57: another switch has this name");
  EXPECT_NE(ErrorOf("ovsdb: {switches: [{name: a, database: x}]}\n").find("c.yaml:1:40: "),
            std::string::npos);
}

TEST(Config, ReadsSwitchesThatSpeakOpenflow) {
  ControllerConfig config;
  EXPECT_EQ(Read("ovsdb: {switches: [{name: s1, database: 'tcp:h'}]}\n"
                 "openflow:\n"
                 "  listen: ['pssl:0', 'ptcp:0:127.0.0.1']\n"
                 "  max_switches: 7\n"
                 "  probe_rate: 50\n"
                 "  analyzers: [192.0.2.9, '2001:db8::/64']\n"
                 "  switches:\n"
                 "  - {name: a, datapath_id: 'ab', connect: 'ssl:192.0.2.1',\n"
                 "     copies: {port: 11, number: 5}}\n"
                 "  - {name: b, datapath_id: '00000000000000ac',\n"
                 "     copies: {analyzer: '2001:db8::9', number: 6, tunnel: erspan}}\n"
                 "  - {name: c, datapath_id: 'ad'}\n",
                 &config),
            "");
  EXPECT_EQ(config.openflow.listen.size(), 2u);
  EXPECT_EQ(config.openflow.max_switches, 7u);
  EXPECT_EQ(config.openflow.probe_rate, 50u);
  ASSERT_EQ(config.openflow.analyzers.size(), 2u);
  EXPECT_EQ(PrintPrefix(config.openflow.analyzers[1]), "2001:db8::/64");
  const std::vector<OpenflowSwitchConfig>& switches = config.openflow.switches;
  ASSERT_EQ(switches.size(), 3u);
  EXPECT_EQ(switches[0].datapath_id, 0xabu);
  EXPECT_EQ(switches[0].connect, "ssl:192.0.2.1");
  EXPECT_EQ(switches[0].copy.port, 11u);
  EXPECT_FALSE(switches[0].copy.is_erspan);
  EXPECT_EQ(switches[1].analyzer, "2001:db8::9");
  EXPECT_EQ(switches[1].copy.switch_number, 6u);
  EXPECT_TRUE(switches[1].copy.is_erspan);
  EXPECT_EQ(switches[2].copy.switch_number, 0u);
}

TEST(Config, NamesThePlaceOfErrorsOfSwitchesThatSpeakOpenflow) {
  const std::string head = "openflow: {switches: [{name: a, datapath_id: '1', ";
  const std::string wrong_copies =
      "c.yaml:1:59: copies need a number, and a port or the address of an analyzer";
  EXPECT_EQ(ErrorOf(head + "copies: {port: 5}}]}\n"), wrong_copies);
  EXPECT_EQ(ErrorOf(head + "copies: {number: 5}}]}\n"), wrong_copies);
  EXPECT_EQ(ErrorOf(head + "copies: {number: 5, port: 5, analyzer: 192.0.2.9}}]}\n").substr(0, 75),
            wrong_copies);
  EXPECT_EQ(ErrorOf(head + "copies: {number: 5, analyzer: an1}}]}\n").substr(0, 55),
            "c.yaml:1:81: 'an1' is no IPv4 or IPv6 address\nc.yaml:1:");
  EXPECT_EQ(ErrorOf(head + "copies: {number: 5, analyzer: 192.0.2.9}}]}\n"),
            "c.yaml:1:22: the port of 'a' to its analyzer is made in the switch's database, and "
            "'ovsdb: switches' names none");
  EXPECT_EQ(ErrorOf(head + "connect: 'tcp:192.0.2.9'}]}\n").substr(0, 13), "c.yaml:1:60: ");
  EXPECT_EQ(ErrorOf(head + "copies: {port: 5, number: 1024}}]}\n").substr(0, 40),
            "c.yaml:1:77: 'number' is '1024'; it take");
  EXPECT_EQ(ErrorOf(head + "connect: ''}, {name: b, datapath_id: '01'}]}\n"),
            "c.yaml:1:88: another switch has this id");
  EXPECT_EQ(ErrorOf(head + "connect: ''}, {name: a, datapath_id: '2'}]}\n"),
            "c.yaml:1:72: another switch has this name");
  EXPECT_EQ(ErrorOf("openflow: {switches: [{name: a, datapath_id: xyz}]}\n").substr(0, 13),
            "c.yaml:1:46: ");
  EXPECT_EQ(ErrorOf("openflow: {analyzers: [nobody]}\n").substr(0, 13), "c.yaml:1:23: ");
  EXPECT_EQ(ErrorOf("openflow: {listen: 'ptcp:6653:192.0.2.1'}\n").substr(0, 13), "c.yaml:1:20: ");
}

TEST(Config, TakesTheFlowsThatCopyForOursWhereBothSectionsNameTheSwitch) {
  const auto text = [](int number) {
    return "openflow:\n  switches:\n"
           "    - {name: a, datapath_id: '1', copies: {port: 3, number: " +
           std::to_string(number) +
           "}}\n"
           "    - {name: b, datapath_id: '2', copies: {port: 3, number: 6}}\n"
           "    - {name: c, datapath_id: '3'}\n"
           "slices: {switches: [{name: a, host: h, bridge: br-a, number: 5},"
           " {name: c, host: h, number: 7}]}\n";
  };
  ControllerConfig config;
  EXPECT_EQ(Read(text(5), &config), "");
  ASSERT_EQ(config.openflow.switches.size(), 3u);
  EXPECT_TRUE(config.openflow.switches[0].is_marked);
  EXPECT_FALSE(config.openflow.switches[1].is_marked);
  EXPECT_FALSE(config.openflow.switches[2].is_marked);
  EXPECT_EQ(ErrorOf(text(4)),
            "c.yaml:1:1: copies of switch 'a' have the number 4 under openflow and 5 under slices");
  EXPECT_EQ(Read("ovsdb: {switches: [{name: s1, database: 'tcp:h'}]}\n"
                 "openflow: {switches: [{name: a, datapath_id: '1', "
                 "copies: {analyzer: 192.0.2.9, number: 5}}]}\n"
                 "slices: {switches: [{name: a, host: h, number: 5}]}\n",
                 &config),
            "");
  EXPECT_TRUE(config.openflow.switches[0].is_marked);
}

TEST(Config, ReadsWhereSamplesOfTrafficComeFrom) {
  ControllerConfig config;
  EXPECT_EQ(Read("slices: {samples: {listen: ['127.0.0.1:6343', '[::]:2055'],"
                 " from: [192.0.2.0/24, '::1']}}\n",
                 &config),
            "");
  EXPECT_EQ(config.slices.samples.listen.size(), 2u);
  EXPECT_EQ(config.slices.samples.from.size(), 2u);
  EXPECT_EQ(ErrorOf("slices: {samples: {listen: '127.0.0.1:6343'}}\n"),
            "c.yaml:1:19: samples need 'from': the routers they are taken from");
  EXPECT_EQ(ErrorOf("slices: {samples: {listen: ['6343'], from: '1.2.3.4'}}\n"),
            "c.yaml:1:28: '6343' is not an address and a port; write 192.0.2.1:6343 or [::]:6343");
}

TEST(Config, ReadsReceiversOfReports) {
  ControllerConfig config;
  EXPECT_EQ(
      Read("notify:\n"
           "  receivers:\n"
           "  - {name: a, url: 'http://127.0.0.1/x', events: ['web-*'], timeout: 3s}\n"
           "  - {name: b, url: 'http://127.0.0.1/', format: alertmanager, headers: {X-Y: z}}\n",
           &config),
      "");
  ASSERT_EQ(config.notify.receivers.size(), 2u);
  EXPECT_EQ(config.notify.receivers[0].timeout, 3 * kNanosPerSecond);
  EXPECT_EQ(config.notify.receivers[1].format, NotifyFormat::kAlertmanager);
  EXPECT_EQ(config.notify.receivers[1].headers[0].second, "z");
  EXPECT_EQ(ErrorOf("notify:\n  receivers:\n  - {name: a, url: 'gopher://x'}\n").substr(0, 14),
            "c.yaml:3:5: ur");
}

TEST(Config, ChangesNothingIfAnythingIsWrong) {
  ControllerConfig config;
  config.manager.name = "before";
  EXPECT_NE(Read("name: after\nevents: {max: 0}\n", &config), "");
  EXPECT_EQ(config.manager.name, "before");
}

TEST(Config, PrintsDurationsAsTheyAreWritten) {
  for (const char* text : {"1ms", "90s", "2m", "3h", "7d"}) {
    Nanos value = 0;
    ASSERT_TRUE(ParseDuration(text, &value));
    EXPECT_EQ(PrintDuration(value), text);
  }
  Nanos value = 0;
  EXPECT_FALSE(ParseDuration("99999999999d", &value));
  EXPECT_FALSE(ParseDuration("5", &value));
}

TEST(Config, ReadsReshufflersAndTheirAnalyzers) {
  ControllerConfig config = DefaultConfig("/c", "/s", "/r");
  const char* const text =
      "openflow: {switches: [{name: shuf1, datapath_id: 'c1'}]}\n"
      "reshufflers:\n"
      "  bridges: [{switch: shuf1, port: 7, address: 192.0.2.9}]\n"
      "  analyzers: [{name: an1, address: 192.0.2.21}, {name: an2, address: 192.0.2.22, weight: "
      "0}]\n"
      "  silence: 300ms\n";
  const Status read = ReadConfig(text, "c.yaml", &config);
  ASSERT_TRUE(read.ok()) << read.message();
  ASSERT_EQ(config.reshufflers.bridges.size(), 1u);
  EXPECT_EQ(config.reshufflers.bridges[0].bridge.port, 7u);
  ASSERT_EQ(config.reshufflers.analyzers.size(), 2u);
  EXPECT_EQ(config.reshufflers.analyzers[1].member.weight, 0u);
  EXPECT_EQ(config.analyzers.ask_interval, 50 * kNanosPerMilli);
}

TEST(Config, SaysWhatIsWrongWithReshufflers) {
  const std::string head = "openflow: {switches: [{name: s, datapath_id: '1'}]}\nreshufflers:\n";
  const std::string an1 = "  analyzers: [{name: an1, address: 192.0.2.21}]\n";
  const auto bridge = [](const std::string& text) { return "  bridges: [{" + text + "}]\n"; };
  EXPECT_EQ(ErrorOf(head + an1 + bridge("switch: x, port: 1, address: 192.0.2.9")),
            "c.yaml:1:1: reshuffler 'x' is none of 'openflow: switches'");
  EXPECT_EQ(ErrorOf(head + bridge("switch: s, port: 1, address: 192.0.2.9")),
            "c.yaml:3:3: reshufflers need analyzers");
  EXPECT_EQ(ErrorOf(head + an1 + bridge("switch: s, port: 1, address: fd00::1")),
            "c.yaml:4:43: 'fd00::1' is no IPv4 address");
  EXPECT_EQ(ErrorOf(head + an1 + bridge("switch: s, address: 192.0.2.9")),
            "c.yaml:4:13: a reshuffler needs a switch and the port of its tunnel");
}

TEST(Config, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(ReadConfigText("/nonexistent/c.yaml", true).message(),
            "/nonexistent/c.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(ReadConfigText("/dev", true).message(), "/dev: cannot be read: Is a directory");
  EXPECT_EQ(*ReadConfigText("/nonexistent/c.yaml", false), "{}");
}

}  // namespace
}  // namespace trumpet
