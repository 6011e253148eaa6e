// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For conformance_test.py.  Without arguments: one line for each kind of message that we send, its
// version, name and bytes in hexadecimal.  With files: reads each as one message, and prints its
// name and what became of it, "ok" or the error.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "controller/openflow/openflow_message.h"

namespace trumpet {
namespace {

void Print(uint8_t version, const char* name, const std::string& bytes) {
  std::printf("%d %s ", version, name);
  for (const char byte : bytes) std::printf("%02x", static_cast<unsigned char>(byte));
  std::printf("\n");
}

bool PrintRule(uint8_t version, const char* name, trumpet_of_change change,
               const OpenflowRule& rule) {
  const Result<std::string> bytes = EncodeRule(version, change, rule, 7);
  if (!bytes.ok()) std::fprintf(stderr, "%s\n", bytes.message().c_str());
  if (bytes.ok()) Print(version, name, *bytes);
  return bytes.ok();
}

bool PrintSamples(uint8_t version) {
  using Kind = OpenflowRule::Kind;
  const OpenflowRule flow = {Kind::kFlow,
                             "table=3,priority=7,hard_timeout=2,tcp,nw_dst=10.1.0.0/16,tp_dst=80,"
                             "actions=set_field:74565->tun_id,output(port=11,max_len=64)",
                             0x7472000000000005, true};
  const OpenflowRule plain = {Kind::kFlow, "table=2,priority=5,in_port=1,actions=output:2",
                              0x7472000000000006, true};
  const OpenflowRule meter = {
      Kind::kMeter, "meter=60001,pktps,burst,band=type=drop,rate=10,burst_size=5", 0, true};
  const OpenflowRule group = {Kind::kGroup, "group_id=60002,type=all,bucket=output:1", 0, true};
  bool is_good = PrintRule(version, "flow_add", TRUMPET_OF_ADD, flow) &&
                 PrintRule(version, "flow_plain", TRUMPET_OF_ADD, plain) &&
                 PrintRule(version, "flow_delete", TRUMPET_OF_DELETE, plain) &&
                 PrintRule(version, "meter_add", TRUMPET_OF_ADD, meter) &&
                 PrintRule(version, "meter_delete", TRUMPET_OF_DELETE, meter) &&
                 PrintRule(version, "group_add", TRUMPET_OF_ADD, group) &&
                 PrintRule(version, "group_delete", TRUMPET_OF_DELETE, group);
  Print(version, "role", EncodeRoleRequest(version, 2, 9, 7));
  Print(version, "flow_purge", EncodeFlowPurge(version, 0x7472000000000000, 0xffff000000000000, 7));
  Print(version, "flow_stats", EncodeFlowStatsRequest(version, false, kAllTables, 5, 7, 7));
  Print(version, "flow_sum", EncodeFlowStatsRequest(version, true, kAllTables, 5, 7, 7));
  Print(version, "packet_out", *EncodePacketOut(version, 0, std::string(60, 'x'), "output:2", 7));
  const char* const asks[] = {"features",    "echo",         "barrier",
                              "port_desc",   "port_stats",   "table_stats",
                              "meter_stats", "meter_config", "group_desc"};
  for (int what = 0; what <= TRUMPET_OF_GROUP_DESC_REQUEST; ++what) {
    Print(version, asks[what], EncodeSimple(version, static_cast<trumpet_of_ask>(what), 7));
  }
  Print(version, "bundle_open", EncodeBundleControl(version, 3, TRUMPET_OF_BUNDLE_OPEN, 7));
  Print(version, "bundle_commit", EncodeBundleControl(version, 3, TRUMPET_OF_BUNDLE_COMMIT, 7));
  Print(version, "bundle_add",
        EncodeBundleAdd(version, 3, *EncodeRule(version, TRUMPET_OF_ADD, plain, 7)));
  return is_good;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) {
  bool is_good = true;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const auto message = trumpet::DecodeOpenflow(bytes);
    std::printf("%s\t%s\n", argv[i], message.ok() ? "ok" : message.message().c_str());
  }
  for (int version = TRUMPET_OF_13; argc == 1 && version <= TRUMPET_OF_15; ++version) {
    is_good = trumpet::PrintSamples(static_cast<uint8_t>(version)) && is_good;
  }
  return is_good ? 0 : 1;
}
