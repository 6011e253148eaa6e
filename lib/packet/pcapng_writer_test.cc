// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcapng_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "lib/packet/pcap_reader.h"
#include "lib/packet/test_captures.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

class PcapngWriterTest : public testing::Test {
 protected:
  PcapngWriterTest() {
    std::string folder = testing::TempDir() + "trumpet-XXXXXX";
    if (mkdtemp(folder.data()) != nullptr) folder_ = folder;
  }
  ~PcapngWriterTest() override { fs::remove_all(folder_); }

  std::string path() const { return (folder_ / "slice.pcapng").string(); }

  // What a program prints.
  static std::string OutputOf(const std::string& command) {
    struct Close {
      void operator()(std::FILE* pipe) const { pclose(pipe); }
    };
    const std::unique_ptr<std::FILE, Close> pipe(popen((command + " 2>/dev/null").c_str(), "r"));
    std::string output;
    std::array<char, 4096> some{};
    size_t count = 0;
    while ((count = std::fread(some.data(), 1, some.size(), pipe.get())) > 0) {
      output.append(some.data(), count);
    }
    return output;
  }

  fs::path folder_;
};

constexpr Nanos kTime = 1700000000123456789;

std::string Packet() {
  using namespace test_frames;  // NOLINT: builders of frames
  const Bytes frame = Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(7, 8, {1, 2, 3})));
  return {frame.begin(), frame.end()};
}

Status WriteTwo(const std::string& path) {
  Result<PcapngWriter> writer = PcapngWriter::Create(path, "run 7");
  if (!writer.ok()) return writer.status();
  const uint32_t a = writer->AddInterface("A", "number 1", true);
  const uint32_t b = writer->AddInterface("B", "number 2", false);
  writer->AddPacket(a, kTime, Packet(), 1500);
  writer->AddPacket(b, kTime + 1, Packet().substr(14), 1486);
  return writer->Close();
}

TEST_F(PcapngWriterTest, WritesWhatTsharkReads) {
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  ASSERT_TRUE(WriteTwo(path()).ok());
  EXPECT_EQ(OutputOf("tshark -r " + path() +
                     " -T fields -E separator=, -e frame.interface_name -e frame.time_epoch"
                     " -e frame.len -e frame.cap_len -e udp.dstport"),
            "A,1700000000.123456789,1500,45,8\nB,1700000000.123456790,1486,31,8\n");
  const std::string told = OutputOf("capinfos " + path());
  EXPECT_NE(told.find("run 7"), std::string::npos) << told;
  EXPECT_NE(told.find("Number of interfaces in file: 2"), std::string::npos) << told;
}

TEST_F(PcapngWriterTest, WritesWhatOurReaderReads) {
  Result<PcapngWriter> writer = PcapngWriter::Create(path(), "");
  ASSERT_TRUE(writer.ok()) << writer.message();
  writer->AddInterface("A", "", true);
  writer->AddPacket(0, kTime, Packet(), 1500);
  EXPECT_FALSE(fs::exists(path()));  // not yet
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(fs::file_size(path()), writer->bytes_written());
  Result<PcapReader> reader = PcapReader::OpenFile(path());
  ASSERT_TRUE(reader.ok()) << reader.message();
  TimedFrame timed;
  ASSERT_TRUE(*reader->Next(&timed));
  EXPECT_EQ(timed.time, kTime);
  EXPECT_EQ(timed.frame.wire_length, 1500u);
  EXPECT_FALSE(*reader->Next(&timed));
}

TEST_F(PcapngWriterTest, LeavesNothingOfWhatIsNotComplete) {
  {
    Result<PcapngWriter> writer = PcapngWriter::Create(path(), "");
    ASSERT_TRUE(writer.ok());
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  const Result<PcapngWriter> nowhere = PcapngWriter::Create("/nowhere/x.pcapng", "");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.message(), "cannot write /nowhere/x.pcapng: No such file or directory");
}

TEST_F(PcapngWriterTest, SaysWhenTheDiskIsFull) {
  fs::create_symlink("/dev/full", path() + ".part");
  Result<PcapngWriter> writer = PcapngWriter::Create(path(), "");
  ASSERT_TRUE(writer.ok());
  writer->AddInterface("A", "", true);
  EXPECT_FALSE(writer->Close().ok());
  EXPECT_FALSE(fs::exists(path()));
}

}  // namespace
}  // namespace trumpet
