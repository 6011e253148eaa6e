// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/api_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(ApiTables, PrintsEventsAsATable) {
  const ApiJson events = ApiJson::parse(R"([{"name":"heavy","enabled":true,"problem":"",
      "hosts_wanted":5,"hosts_applied":3,"mode":"partials","counters":{"reports":12},
      "last_report_ns":1000000000,"line":"*, count(packets) > 1, none, 10ms"},
      {"name":"off","enabled":false}])");
  EXPECT_EQ(EventTable(events),
            "name   state     applied  mode      reports  last report               event\n"
            "heavy  enabled   3 of 5   partials       12  1970-01-01T00:00:01.000Z  "
            "*, count(packets) > 1, none, 10ms\n"
            "off    disabled   of                         -\n");
  EXPECT_EQ(EventTable(ApiJson::array()), "no events\n");
}

TEST(ApiTables, SaysHowLongTheInstallationTook) {
  const auto text = [](const char* applied_ns) {
    return EventText(ApiJson::parse(R"({"name":"e","hosts_wanted":5,"hosts_applied":3,
        "sent_ns":1000000000,"applied_ns":)" +
                                    std::string(applied_ns) + "}"),
                     ApiJson::array());
  };
  EXPECT_NE(text("1012500000").find("applied: 3 of 5 hosts, 12.5 ms after it was sent\n"),
            std::string::npos)
      << text("1012500000");
  EXPECT_NE(text("0").find("applied: 3 of 5 hosts\n"), std::string::npos) << text("0");
}

TEST(ApiTables, SaysWhatAnEventReadsOfMeasurements) {
  const std::string text = EventText(
      ApiJson::parse(R"({"name":"e","hosts_wanted":0,"hosts_applied":0,"mode":"controller",
      "reads":["measure(\"a\").x","measure(\"b\").y"]})"),
      ApiJson::array());
  EXPECT_NE(text.find("  reads: measure(\"a\").x measure(\"b\").y\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("applied"), std::string::npos) << text;
  const std::string table = CheckTable(ApiJson::parse(
      R"([{"name":"e","hosts":[],"mode":"controller","reads":["measure(\"a\").x"]}])"));
  EXPECT_NE(table.find("e: the controller reads measure(\"a\").x of all hosts at the end of each "
                       "interval\n"),
            std::string::npos)
      << table;
}

TEST(ApiTables, PrintsAReportInALine) {
  EXPECT_EQ(
      ReportLine(ApiJson::parse(R"({"event":"heavy","bucket":{"srcIP":"10.0.0.1","dstPort":80},
      "end_ns":1000000000,"value":3,"threshold":2,"complete":false,"reasons":["host_silent"]})")),
      "1970-01-01T00:00:01.000Z  heavy  srcIP=10.0.0.1 dstPort=80  value 3, threshold 2  "
      "(incomplete: host_silent)");
  EXPECT_EQ(ReportLine(ApiJson::parse(
                R"({"event":"e","bucket":{},"end_ns":0,"cleared":true,"complete":true})")),
            "1970-01-01T00:00:00.000Z  e  -  (clear)");
}

TEST(ApiTables, PrintsWhatAgentsTellOfTheirSwitch) {
  const std::string text = HostText(ApiJson::parse(R"({"id":"hv1","software":"trumpet 0.1.0",
      "external_ids":{"hostname":"hv1.example"},"port_count":2,
      "bridges":[{"name":"br0","datapath_type":"netdev","datapath_id":"00000a0b0c0d0e0f"}],
      "ports":[{"bridge":"br0","name":"vhu1","of_port":5,"type":"dpdkvhostuserclient",
        "is_uplink":false,"link_state":"up","macs":["52:54:00:00:00:01"],"mac_in_use":"",
        "external_ids":{"iface-id":"vm-1"}},
       {"bridge":"br0","name":"vx0","of_port":6,"type":"vxlan","is_uplink":true,
        "remote_ip":"192.0.2.1"}]})"));
  EXPECT_NE(text.find("hostname: hv1.example\n"), std::string::npos) << text;
  EXPECT_NE(text.find("br0     netdev    00000a0b0c0d0e0f\n"), std::string::npos) << text;
  EXPECT_NE(text.find("br0     vhu1       5  dpdkvhostuserclient  edge    up    52:54:00:00:00:01"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("vm-1"), std::string::npos) << text;
  EXPECT_NE(text.find("uplink"), std::string::npos) << text;
  EXPECT_NE(text.find("192.0.2.1"), std::string::npos) << text;
}

TEST(ApiTables, TellWhereLinksComeFrom) {
  const std::string text = TopologyText(ApiJson::parse(
      R"({"hosts":[],"switches":[{"name":"s1","datapath_id":"0000000000000001",
        "edge_ports":[7,8],"source":"file"}],
       "links":[{"from":"s1","to":"s2","weight":3,"source":"file+lldp","from_port":1,"to_port":2,
                 "age_ms":120}],
       "lost_links":[{"from":"s2","to":"s3","weight":1,"source":"file"}]})"));
  EXPECT_EQ(text,
            "no hosts\n"
            "\n"
            "switch  datapath id       edge ports  source\n"
            "s1      0000000000000001  7 8         file\n"
            "\n"
            "link from  port  to  port  weight  source         age\n"
            "s1            1  s2     2       3  file+lldp   120 ms\n"
            "s2               s3             1  file, lost\n");
}

TEST(ApiTables, BearsAnswersOfOtherShapes) {
  for (const char* text : {"[]", "{}", "null", "3", "\"x\"", "[null,1,[],{}]", "{\"hosts\":3}"}) {
    const ApiJson json = ApiJson::parse(text);
    EventTable(json);
    EventText(json, json);
    CheckTable(json);
    HostTable(json);
    HostText(json);
    TopologyText(json);
    ReportTable(json);
    ReportLine(json);
  }
}

}  // namespace
}  // namespace trumpet
