// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/copy_frame.h"

#include <gtest/gtest.h>

#include <random>

#include "lib/measure/header_fields.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/test_programs.h"
#include "lib/packet/mirror_copy.h"
#include "lib/packet/mirror_header.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;

// With a header of its own: control.value, two bytes at byte 4 of what is sent to UDP port 4242.
std::unique_ptr<const CompiledProgram> ProgramWithHeader() {
  MeasureProgram program = TestProgram();
  MeasureExpr port;
  port.kind = MeasureExprKind::kField;
  port.field = kUdpDst;
  MeasureExpr is_control;
  is_control.kind = MeasureExprKind::kBinary;
  is_control.op = MeasureOp::kEqual;
  is_control.a = static_cast<MeasureIndex>(program.exprs.size());
  is_control.b = is_control.a + 1;
  program.exprs.insert(program.exprs.end(), {port, TestConstant(4242), is_control});
  program.headers.push_back({"control", is_control.b + 1, 3, 3});
  program.header_fields.push_back({"control.value", 0, 1, 16});
  auto loaded = LoadMeasureProgram(program, MeasureLoadOptions());
  EXPECT_TRUE(loaded.ok()) << loaded.message();
  return std::move(*loaded);
}

Bytes FrameOf(const CompiledProgram& program, const PacketValues& packet) {
  std::array<uint8_t, kMaxCopyFrameBytes> frame;
  const size_t length = WriteCopyFrame(program, packet, &frame);
  return Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
}

PacketValues ValuesOf(const CompiledProgram& program, const Bytes& frame) {
  PacketValues values;
  ReadPacketValues(
      {frame.data(), static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(frame.size())},
      &values);
  ReadHeaderFields(program, &values);
  return values;
}

TEST(CopyFrame, HasAllFieldsThatLieInPackets) {
  const auto program = ProgramWithHeader();
  std::mt19937_64 random(20261123);
  const uint64_t of_packets = kTableFieldBits & ~(uint64_t{1} << kPktSize);
  for (int round = 0; round < 2000; ++round) {
    Bytes payload;
    for (uint64_t left = random() % 16; left > 0; --left) {
      payload.push_back(static_cast<uint8_t>(random()));
    }
    const uint16_t port = std::array<uint16_t, 3>{4242, 30000, 53}[random() % 3];
    Ipv4Header ip;
    ip.protocol = round % 3 == 0 ? kProtocolTcp : round % 3 == 1 ? kProtocolUdp : 47;
    const Bytes l4 = ip.protocol == kProtocolTcp   ? Tcp({}, payload)
                     : ip.protocol == kProtocolUdp ? Udp(7, port, payload)
                                                   : payload;
    const Bytes frame =
        round % 50 == 0 ? Ethernet(0x0806, payload) : Ethernet(0x0800, Ipv4(ip, l4));
    PacketValues packet = ValuesOf(*program, frame);
    // Tags of any value, in any field that it has.
    for (uint64_t left = packet.present & of_packets; left != 0; left &= left - 1) {
      const auto field = static_cast<MeasureFieldId>(__builtin_ctzll(left));
      const bool is_shape = field == kEthType || field == kIpv4Proto || field == kUdpDst;
      if (is_shape || random() % 2 == 0) continue;
      packet.value[field] = random() & ((uint64_t{1} << (kMeasureFields[field].bits - 1)) - 1);
    }
    const PacketValues read = ValuesOf(*program, FrameOf(*program, packet));
    ASSERT_EQ(read.present, packet.present) << "round " << round;
    for (uint32_t field = 0; field < program->field_count; ++field) {
      if (field == kPktSize) continue;
      ASSERT_EQ(read.value[field], packet.value[field]) << "field " << field << " round " << round;
    }
  }
}

TEST(CopyFrame, IsReadBackOutOfItsTunnel) {
  const auto program = ProgramWithHeader();
  const Bytes frame = Ethernet(0x0800, Ipv4({}, Tcp({}, Zeros(40))));
  const Bytes copied = FrameOf(*program, ValuesOf(*program, frame));
  Bytes tunnel(kErspan2HeaderBytes);
  WriteErspan2Header({9, 3, 77, true}, tunnel.data());
  Ipv4Header outer;
  outer.protocol = 47;
  const Bytes whole = Ethernet(0x0800, Ipv4(outer, Join({tunnel, copied})));
  MirrorCopy copy;
  const auto size = static_cast<uint32_t>(whole.size());
  ASSERT_EQ(ReadMirrorCopy({whole.data(), size, size}, &copy), CopyVerdict::kCopy);
  EXPECT_EQ(copy.kind, CopyKind::kErspan2);
  EXPECT_EQ(copy.sequence, 9u);
  EXPECT_EQ(copy.session, 3);
  EXPECT_EQ(copy.index, 77u);
  EXPECT_TRUE(copy.is_truncated);
  EXPECT_EQ(Bytes(copy.inner, copy.inner + copy.inner_captured), copied);
  EXPECT_EQ(copy.inner_bytes, frame.size()) << "of the packet, not of what is left of it";
}

}  // namespace
}  // namespace trumpet
