// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/local_facts.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "lib/ovsdb/ovsdb_value.h"
#include "lib/wire/codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/message_parts.h"

namespace trumpet {
namespace {

// A host with a bridge of each datapath; interfaces are added to them by Plug().
class FactsOfDatabase : public ::testing::Test {
 protected:
  FactsOfDatabase() {
    tables_["Open_vSwitch"]["o"] = ParseJson(R"({"bridges": ["set", [["uuid","b0"],["uuid","b1"]]],
        "external_ids": ["map", [["system-id","id-1"],["hostname","hv1"]]],
        "ssl": ["set", []]})");
    tables_["Bridge"]["b0"] = ParseJson(R"({"name": "br-int", "datapath_type": "netdev",
        "datapath_id": "00000a0b0c0d0e0f", "external_ids": ["map", [["role","edge"]]]})");
    tables_["Bridge"]["b1"] = ParseJson(R"({"name": "br-old", "datapath_type": "",
        "datapath_id": ["set", []], "external_ids": ["map", []]})");
    Refer();
  }

  void Plug(const std::string& name, const std::string& columns, int bridge = 0) {
    Json row = ParseJson("{" + columns + "}");
    ASSERT_FALSE(row.is_discarded()) << columns;
    row["name"] = name;
    tables_["Interface"]["i-" + name] = row;
    tables_["Port"]["p-" + name] = Json{{"interfaces", OvsdbUuid("i-" + name)}};
    ports_[bridge].push_back(OvsdbUuid("p-" + name));
    Refer();
  }
  void Refer() {
    for (int i : {0, 1}) {
      tables_["Bridge"]["b" + std::to_string(i)]["ports"] = OvsdbSet(ports_[i]);
    }
  }
  LocalFacts Read() const { return ReadLocalFacts(tables_, uplinks_); }
  Port Only() const {
    const LocalFacts read = Read();
    return read.facts.ports.size() == 1 ? read.facts.ports[0] : Port();
  }

  OvsdbTables tables_;
  std::vector<Json> ports_[2];
  std::vector<std::string> uplinks_;
};

TEST_F(FactsOfDatabase, NameTheHostAndItsBridges) {
  const LocalFacts read = Read();
  EXPECT_EQ(read.system_id, "id-1");
  ASSERT_EQ(read.facts.external_ids.size(), 2u);
  EXPECT_EQ(read.facts.external_ids[0].key, "hostname");
  ASSERT_EQ(read.facts.bridges.size(), 2u);
  const Bridge& bridge = read.facts.bridges[0];
  EXPECT_EQ(bridge.name, "br-int");
  EXPECT_EQ(bridge.datapath_id, 0x0a0b0c0d0e0fu);
  EXPECT_EQ(bridge.datapath_type, "netdev");
  ASSERT_EQ(bridge.external_ids.size(), 1u);
  EXPECT_EQ(read.facts.bridges[1].datapath_type, "system") << "that is what the empty text means";
  EXPECT_EQ(read.facts.bridges[1].datapath_id, 0u);
  EXPECT_EQ(read.left_out, 0u);
}

TEST_F(FactsOfDatabase, HaveNothingOfAnEmptyDatabase) {
  for (const OvsdbTables& tables : {OvsdbTables(), OvsdbTables{{"Open_vSwitch", {}}}}) {
    const LocalFacts read = ReadLocalFacts(tables, {});
    EXPECT_TRUE(read.system_id.empty() && read.facts.bridges.empty());
  }
}

TEST_F(FactsOfDatabase, TakeTheWorkloadsMacFromWhoPluggedItIn) {
  Plug("vhu1", R"("type": "dpdkvhostuserclient", "ofport": 5, "link_state": "up",
      "mac_in_use": "00:00:00:00:00:00", "options": ["map", [["vhost-server-path","/x"]]],
      "external_ids": ["map", [["attached-mac","52:54:00:00:00:01"],["iface-id","vm-1"]]])");
  const Port port = Only();
  EXPECT_EQ(port.bridge, "br-int");
  EXPECT_EQ(port.name, "vhu1");
  EXPECT_EQ(port.of_port, 5u);
  EXPECT_EQ(port.type, "dpdkvhostuserclient");
  EXPECT_EQ(port.link_state, "up");
  EXPECT_EQ(port.macs, std::vector<uint64_t>{0x525400000001});
  EXPECT_EQ(port.external_ids.size(), 2u);
  EXPECT_FALSE(port.is_uplink);
}

TEST_F(FactsOfDatabase, KnowTheMacOfTheHostsOwnStack) {
  Plug("br-int", R"("type": "internal", "ofport": 65534, "mac_in_use": "aa:00:00:00:00:01")");
  EXPECT_EQ(Only().macs, std::vector<uint64_t>{0xaa0000000001});
}

TEST_F(FactsOfDatabase, DoNotTakeThisEndOfAVethForTheWorkload) {
  Plug("veth0", R"("type": "", "mac_in_use": "aa:00:00:00:00:02")");
  const Port port = Only();
  EXPECT_TRUE(port.macs.empty());
  EXPECT_EQ(port.mac_in_use, 0xaa0000000002u);
  EXPECT_EQ(port.type, "system");
}

TEST_F(FactsOfDatabase, LeaveOutMacsThatTheMonitorDoesNotSee) {
  Plug("br-old", R"("type": "internal", "mac_in_use": "aa:00:00:00:00:03")", 1);
  const Port port = Only();
  EXPECT_TRUE(port.macs.empty());
  EXPECT_EQ(port.bridge, "br-old");
}

TEST_F(FactsOfDatabase, TellUplinksFromEdgePorts) {
  uplinks_ = {"eth*"};
  Plug("eth7", R"("type": "internal", "mac_in_use": "aa:00:00:00:00:04")");
  Plug("vx0", R"("type": "vxlan", "mac_in_use": "aa:00:00:00:00:05",
      "options": ["map", [["remote_ip","192.0.2.1"],["local_ip","192.0.2.2"],["key","flow"]]])");
  Plug("patch0", R"("type": "patch", "options": ["map", [["peer","patch1"]]])");
  Plug("tap0", R"("type": "tap", "mac_in_use": "aa:00:00:00:00:06")");
  const LocalFacts read = Read();
  ASSERT_EQ(read.facts.ports.size(), 4u);
  for (const Port& port : read.facts.ports) {
    EXPECT_EQ(port.is_uplink, port.name != "tap0") << port.name;
    EXPECT_EQ(port.macs.empty(), port.is_uplink) << port.name;
  }
  EXPECT_EQ(read.facts.ports[3].name, "vx0");
  EXPECT_EQ(read.facts.ports[3].remote_ip, "192.0.2.1");
  EXPECT_EQ(read.facts.ports[3].local_ip, "192.0.2.2");
}

TEST_F(FactsOfDatabase, SayWhatIsWrongWithAPort) {
  Plug("gone", R"("type": "dpdk", "ofport": -1, "error": "could not open network device gone")");
  EXPECT_EQ(Only().of_port, 0u);
  EXPECT_EQ(Only().error, "could not open network device gone");
}

TEST_F(FactsOfDatabase, HaveTheSwitchsKeys) {
  tables_["Open_vSwitch"]["o"]["ssl"] = OvsdbUuid("s");
  tables_["SSL"]["s"] = Json{{"private_key", "/k"}, {"certificate", "/c"}, {"ca_cert", "/ca"}};
  const LocalFacts read = Read();
  EXPECT_EQ(read.ssl.private_key, "/k");
  EXPECT_EQ(read.ssl.certificate, "/c");
  EXPECT_EQ(read.ssl.ca_certificate, "/ca");
}

TEST_F(FactsOfDatabase, DoNotCountRowsThatNobodyRefersTo) {
  tables_["Interface"]["stray"] = Json{{"name", "stray"}};
  tables_["Bridge"]["stray"] = Json{{"name", "stray"}};
  EXPECT_EQ(Read().facts.bridges.size(), 2u);
  EXPECT_TRUE(Read().facts.ports.empty());
}

// The bytes of all messages, which the codec on the other side must take.
size_t SentBytes(const HostFacts& facts) {
  size_t bytes = 0;
  const Status sent = SplitHostFacts(facts, kMaxFrameToController, [&](Message&& part) {
    std::string frame;
    const Status encoded = EncodeMessage(part, kMaxFrameToController, &frame);
    EXPECT_TRUE(encoded.ok()) << encoded.message();
    EXPECT_TRUE(DecodeMessage(frame).ok());
    bytes += frame.size();
  });
  EXPECT_TRUE(sent.ok()) << sent.message();
  return bytes;
}

TEST_F(FactsOfDatabase, AreBoundedAndCountWhatIsLeftOut) {
  Json ids = Json::array();
  for (int i = 0; i < 20; ++i) {
    ids.push_back(Json::array({"key" + std::to_string(i), std::string(2000, 'x')}));
  }
  const std::string text = R"("external_ids": ["map", )" + PrintJson(ids) + "]";
  for (int i = 0; i < 200; ++i) Plug("p" + std::to_string(i), text);
  const LocalFacts read = Read();
  const size_t ports = read.facts.ports.size();
  EXPECT_LT(ports, 200u);
  const size_t ids_each = read.facts.ports[0].external_ids.size();
  EXPECT_LT(ids_each, 20u);
  const size_t bridges = read.facts.bridges.size();
  EXPECT_EQ(read.left_out, (2 - bridges) + (200 - ports) + ports * (20 - ids_each));
  EXPECT_LE(SentBytes(read.facts), kMaxFactsBytes + kMaxFactsBytes / 4);
}

TEST_F(FactsOfDatabase, AreWhatTheWireTakesWhateverTheTextsAre) {
  Plug("a\n\xff" + std::string(400, 'b'), R"("type": "in\nternal", "error": "\u0001")");
  Plug("", R"("type": "internal")");
  EXPECT_EQ(Read().facts.ports.size(), 1u);
  EXPECT_GT(SentBytes(Read().facts), 0u);
}

// Values of every shape at every place: whatever a server sends.
Json AnyValue(std::mt19937_64* random) {
  static const std::vector<Json> values = {
      Json(),
      1,
      -1,
      true,
      "",
      "netdev",
      "b0",
      "aa:00:00:00:00:01",
      1e300,
      Json::array(),
      Json::object(),
      OvsdbUuid("b0"),
      OvsdbUuid("p"),
      OvsdbUuid("i"),
      OvsdbUuid("s"),
      OvsdbSet({OvsdbUuid("b0"), OvsdbUuid("b0")}),
      OvsdbSet({"x", 2}),
      OvsdbMap({{"remote_ip", "x"}, {"system-id", "\n"}, {"attached-mac", "zz"}}),
      ParseJson(R"(["map", [["a"], 3]])"),
      ParseJson(R"(["set", {"a": 1}])")};
  return values[(*random)() % values.size()];
}

TEST_F(FactsOfDatabase, OutliveMalformedRows) {
  std::mt19937_64 random(20261122);
  for (int round = 0; round < 20000; ++round) {
    OvsdbTables tables;
    for (const auto& [table, columns] : LocalFactsColumns()) {
      for (const char* uuid : {"b0", "p", "i", "s"}) {
        Json row = Json::object();
        for (const std::string& column : columns) {
          if (random() % 8 != 0) row[column] = AnyValue(&random);
        }
        if (random() % 8 != 0) tables[table][uuid] = row;
      }
    }
    const LocalFacts read = ReadLocalFacts(tables, {"*"});
    SentBytes(read.facts);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

}  // namespace
}  // namespace trumpet
