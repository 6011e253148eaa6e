// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/packet_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

namespace trumpet {
namespace {

namespace fs = std::filesystem;

// A directory with run 7, gone with the test.
class PacketFilesTest : public testing::Test {
 protected:
  PacketFilesTest() {
    char name[] = "/tmp/packet-files-XXXXXX";
    directory_ = mkdtemp(name);
    fs::create_directory(Folder());
  }
  ~PacketFilesTest() override { fs::remove_all(directory_); }

  std::string Folder() const { return directory_ + "/run-7"; }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Folder() + "/" + name, std::ios::binary) << text;
  }
  static PacketFileRequest Request(const PacketFilePlace& from, uint32_t max_bytes) {
    return {3, 7, from, max_bytes};
  }

  std::string directory_;
};

TEST_F(PacketFilesTest, AreReadBySlotAndQueryInPieces) {
  Write("slot-10-query-0.pcapng", "eeee");
  Write("slot-2-query-1.pcapng", "cc");
  Write("slot-2-query-10.pcapng", "ddd");
  Write("slot-0-query-3.pcapng", "aaaaa");
  Write("slot-0-query-4.pcapng", "");
  for (const char* other : {"slot-1-query-0.pcapng.part", "slot-x-query-1.pcapng", "notes",
                            "slot-1-query-99999999999.pcapng"}) {
    Write(other, "zzz");
  }
  for (uint32_t max_bytes = 1; max_bytes < 20; ++max_bytes) {
    PacketFiles files(directory_);
    std::string text;
    PacketFilePiece piece;
    do {
      piece = files.Read(Request(piece.next, max_bytes));
      ASSERT_EQ(piece.error, "");
      ASSERT_EQ(piece.number, 3u);
      ASSERT_LE(piece.bytes.size(), max_bytes);
      ASSERT_TRUE(piece.is_last || !piece.bytes.empty());
      text += piece.bytes;
    } while (!piece.is_last);
    EXPECT_EQ(text, "aaaaaccdddeeee") << max_bytes;
  }
}

TEST_F(PacketFilesTest, OfARunThatKeptNothingAreEmpty) {
  for (const std::string& directory : {directory_, std::string()}) {
    PacketFiles files(directory);
    const PacketFilePiece piece = files.Read(Request({}, 100));
    EXPECT_TRUE(piece.is_last);
    EXPECT_EQ(piece.bytes + piece.error, "");
  }
}

TEST_F(PacketFilesTest, SayThatTheyWentWhileTheyWereRead) {
  Write("slot-1-query-1.pcapng", "aaaa");
  Write("slot-2-query-1.pcapng", "bbbb");
  PacketFiles files(directory_);
  const PacketFilePiece first = files.Read(Request({}, 2));
  ASSERT_EQ(first.bytes, "aa");
  fs::remove(Folder() + "/slot-1-query-1.pcapng");
  EXPECT_EQ(files.Read(Request(first.next, 2)).error, "its packets were removed meanwhile");
  // From between two files, what is there follows.
  EXPECT_EQ(files.Read(Request({1, 1, 0}, 2)).bytes, "bb");
  fs::remove_all(Folder());
  for (const PacketFilePlace& from : {first.next, PacketFilePlace{2, 1, 0}}) {
    const PacketFilePiece piece = files.Read(Request(from, 2));
    EXPECT_EQ(piece.error, "its packets were removed meanwhile");
    EXPECT_TRUE(piece.is_last);
  }
}

TEST_F(PacketFilesTest, TakeAnyPlace) {
  Write("slot-1-query-1.pcapng", "aaaa");
  PacketFiles files(directory_);
  std::mt19937_64 random(5);
  const auto any = [&] { return random() >> (random() % 64); };
  for (int i = 0; i < 2000; ++i) {
    const PacketFilePlace from{static_cast<uint32_t>(any() % 3), static_cast<uint32_t>(any() % 3),
                               any()};
    const PacketFilePiece piece = files.Read(Request(from, 1 + static_cast<uint32_t>(any() % 9)));
    ASSERT_TRUE(piece.is_last || !piece.bytes.empty());
    ASSERT_TRUE(piece.error.empty() || piece.bytes.empty());
  }
}

}  // namespace
}  // namespace trumpet
