// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcapng_joiner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "lib/packet/pcapng_writer.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

class PcapngJoinerTest : public testing::Test {
 protected:
  PcapngJoinerTest() {
    std::string folder = testing::TempDir() + "trumpet-XXXXXX";
    if (mkdtemp(folder.data()) != nullptr) folder_ = folder;
  }
  ~PcapngJoinerTest() override { fs::remove_all(folder_); }

  std::string At(const char* name) const { return (folder_ / name).string(); }

  // A file with a packet of each interface.
  std::string File(const std::string& comment, const std::vector<std::string>& interfaces) {
    Result<PcapngWriter> writer = PcapngWriter::Create(At("one.pcapng"), comment);
    EXPECT_TRUE(writer.ok());
    for (const std::string& name : interfaces) writer->AddInterface(name, "", true);
    for (uint32_t i = 0; i < interfaces.size(); ++i) {
      writer->AddPacket(i, Nanos{1700000000} * kNanosPerSecond + i, std::string(61 + i, '\0'), 99);
    }
    EXPECT_TRUE(writer->Close().ok());
    return Read("one.pcapng");
  }
  std::string Read(const char* name) const {
    std::ifstream file(At(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  fs::path folder_;
};

TEST_F(PcapngJoinerTest, MakesOneSectionOfFiles) {
  const std::string files =
      File("slot 0", {"A", "B"}) + File("", {}) + File("slot 1", {"C", "A", "D"});
  std::string joined;
  PcapngJoiner joiner;
  ASSERT_TRUE(joiner.Add(files, &joined).ok());
  EXPECT_TRUE(joiner.is_whole());
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  std::ofstream(At("joined.pcapng"), std::ios::binary) << joined;
  const std::string command = "tshark -r " + At("joined.pcapng") +
                              " -T fields -e frame.interface_name -e frame.interface_description"
                              " -e frame.cap_len -e frame.len >" +
                              At("told");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(Read("told"),
            "A\tslot 0\t61\t99\nB\tslot 0\t62\t99\n"
            "C\tslot 1\t61\t99\nA\tslot 1\t62\t99\nD\tslot 1\t63\t99\n");
}

TEST_F(PcapngJoinerTest, TakesBytesCutAnywhere) {
  const std::string files = File("slot 0", {"A", "B"}) + File("slot 1", {"C"});
  std::string whole;
  ASSERT_TRUE(PcapngJoiner().Add(files, &whole).ok());
  for (size_t size = 1; size < files.size(); ++size) {
    PcapngJoiner joiner;
    std::string joined;
    for (size_t at = 0; at < files.size(); at += size) {
      ASSERT_TRUE(joiner.Add(files.substr(at, size), &joined).ok());
    }
    ASSERT_TRUE(joiner.is_whole());
    ASSERT_TRUE(joined == whole) << size;
  }
}

TEST_F(PcapngJoinerTest, SaysWhatIsNone) {
  const std::string file = File("slot 0", {"A", "B"});
  std::string joined;
  EXPECT_EQ(PcapngJoiner().Add(file.substr(file.size() - 96), &joined).message(),
            "no packet file of ours: it does not begin with a section");
  EXPECT_FALSE(PcapngJoiner().Add(std::string(100, '\0'), &joined).ok());
  EXPECT_FALSE(PcapngJoiner().Add(std::string(100, '\xff'), &joined).ok());
  PcapngJoiner cut;
  ASSERT_TRUE(cut.Add(file.substr(0, file.size() - 1), &joined).ok());
  EXPECT_FALSE(cut.is_whole());
}

// Whatever a file holds, it ends with an error or in bounds.
TEST_F(PcapngJoinerTest, TakesWhateverComes) {
  const std::string file = File("slot 0", {"A", "B"}) + File("slot 1", {"C"});
  std::mt19937_64 random(9);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string changed = file;
    for (uint64_t count = 1 + random() % 4; count > 0; --count) {
      changed[random() % changed.size()] = static_cast<char>(random() >> (random() % 60));
    }
    PcapngJoiner joiner;
    std::string joined;
    refused += joiner.Add(changed, &joined).ok() ? 0 : 1;
    ASSERT_LE(joined.size(), 3 * file.size() + 3 * 65536);
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace trumpet
