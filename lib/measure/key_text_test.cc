// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/key_text.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

MeasureProgram Flows() {
  MeasureProgram program;
  program.name = "hh";
  program.keys.push_back({"flow", kNoIndex, {kIpv4Src, kEthDst, kTcpDst}, 12});
  program.variables.resize(2);
  program.variables[1].name = "size";
  return program;
}

std::string KeyOf(const std::string& text) {
  const MeasureProgram program = Flows();
  const auto key = ReadMeasureKey(program, program.keys[0], text);
  if (!key.ok()) return key.message();
  std::string numbers;
  for (const uint64_t value : *key) numbers += std::to_string(value) + " ";
  return numbers;
}

TEST(KeyText, ReadsAddressesAndNumbers) {
  EXPECT_EQ(KeyOf("10.0.0.1,00:00:00:00:01:02,80"), "167772161 258 80 ");
  EXPECT_EQ(KeyOf("167772161,0x102,0x50"), "167772161 258 80 ");
}

TEST(KeyText, WritesWhatItReads) {
  const MeasureProgram program = Flows();
  EXPECT_EQ(FormatMeasureKey(program.keys[0], {167772161, 258, 80}),
            "10.0.0.1,00:00:00:00:01:02,80");
}

TEST(KeyText, SaysWhatAKeyTakes) {
  EXPECT_EQ(KeyOf("10.0.0.1,1"),
            "the key is '10.0.0.1,1'; it takes values of "
            "ipv4.src,eth.dst,tcp.dst");
  EXPECT_EQ(KeyOf(",,,,,,,"), "the key is ',,,,,,,'; it takes values of ipv4.src,eth.dst,tcp.dst");
  EXPECT_EQ(KeyOf("10.0.0.1,1,65536"), "tcp.dst is '65536'; it takes a number of 16 bits");
  EXPECT_EQ(KeyOf("10.0.0.1,1,"), "tcp.dst is ''; it takes a number of 16 bits");
  EXPECT_EQ(KeyOf("10.0.0.1,1,8 "), "tcp.dst is '8 '; it takes a number of 16 bits");
}

TEST(KeyText, FindsFieldsOfTheTableAndOfHeaders) {
  MeasureProgram program = Flows();
  program.header_fields.push_back({"control.request", 0, 0, 16});
  EXPECT_EQ(*FindMeasureField(program, "ipv4.src"), kIpv4Src);
  const auto field = FindMeasureField(program, "control.request");
  ASSERT_TRUE(field.ok()) << field.message();
  EXPECT_EQ(*field, kMeasureFieldCount);
  EXPECT_EQ(*ReadMeasureFieldValue(program, *field, "0xffff"), 65535u);
  EXPECT_EQ(ReadMeasureFieldValue(program, *field, "65536").message(),
            "control.request is '65536'; it takes a number of 16 bits");
  EXPECT_EQ(*ReadMeasureFieldValue(program, kIpv4Src, "10.0.0.1"), 167772161u);
  EXPECT_EQ(FindMeasureField(program, "ip.v4").message(),
            "the program 'hh' knows no field 'ip.v4'");
}

TEST(KeyText, FindsVariables) {
  EXPECT_EQ(*FindMeasureVariable(Flows(), "size"), 1u);
  EXPECT_EQ(FindMeasureVariable(Flows(), "sizes").message(),
            "the program 'hh' has no variable 'sizes'");
}

}  // namespace
}  // namespace trumpet
