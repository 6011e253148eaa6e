// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Capture files for tests, byte by byte, in the byte order of the host.

#ifndef TRUMPET_LIB_PACKET_TEST_CAPTURES_H
#define TRUMPET_LIB_PACKET_TEST_CAPTURES_H

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "lib/packet/test_frames.h"

namespace trumpet {
namespace test_captures {

using test_frames::Bytes;
using test_frames::Join;
using test_frames::Zeros;

constexpr uint32_t kMicroMagic = 0xa1b2c3d4;
constexpr uint32_t kNanoMagic = 0xa1b23c4d;
constexpr uint32_t kEthernetLink = 1;

inline Bytes Le16(uint32_t value) {
  return {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8)};
}

inline Bytes Le32(uint32_t value) { return Join({Le16(value), Le16(value >> 16)}); }

// Captures of others: a folder, and how many files it has at the least.
struct CaptureFolder {
  std::filesystem::path path;
  size_t least_files;
};

// TRUMPET_CAPTURES of the environment, or what lies beside the source tree.
inline CaptureFolder FindCaptures() {
  const char* const named = std::getenv("TRUMPET_CAPTURES");
  if (named != nullptr) return {named, 1};
  const char* const source_root = std::getenv("srcdir");  // set by make check
  return {std::filesystem::path(source_root != nullptr ? source_root : ".") /
              "../shared/data/pcaps/tcpdump",
          36};
}

// Whether the program that judges captures is installed.
inline bool HasTshark() { return std::system("tshark -v >/dev/null 2>&1") == 0; }

inline std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  return parts;
}

// What it prints of the fields of each packet, all values of each, parted by commas.
template <size_t kCount>
std::vector<std::vector<std::string>> TsharkFields(const std::string& path,
                                                   const char* const (&fields)[kCount],
                                                   const std::string& options = "") {
  std::string command = "tshark -n -r '" + path + "' " + options +
                        " -T fields -E separator='|' -E occurrence=a -E aggregator=,";
  for (const char* field : fields) command += std::string(" -e ") + field;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      popen((command + " 2>/dev/null").c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t size; (size = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
    text.append(buffer.data(), size);
  }
  std::vector<std::vector<std::string>> packets;
  for (const std::string& line : Split(text, '\n')) packets.push_back(Split(line, '|'));
  return packets;
}

// --- pcap ---

inline Bytes PcapHeader(uint32_t magic = kMicroMagic, uint32_t link_type = kEthernetLink) {
  return Join({Le32(magic), Le16(2), Le16(4), Zeros(8), Le32(65535), Le32(link_type)});
}

// `fraction` is in the unit of the file; `wire_length` 0 means that nothing was cut off.
inline Bytes PcapPacket(uint32_t seconds, uint32_t fraction, const Bytes& captured,
                        uint32_t wire_length = 0) {
  const uint32_t length = static_cast<uint32_t>(captured.size());
  return Join({Le32(seconds), Le32(fraction), Le32(length),
               Le32(wire_length == 0 ? length : wire_length), captured});
}

// --- pcapng ---

inline Bytes PcapngBlock(uint32_t type, Bytes body) {
  while (body.size() % 4 != 0) body.push_back(0);
  const uint32_t length = static_cast<uint32_t>(body.size() + 12);
  return Join({Le32(type), Le32(length), body, Le32(length)});
}

inline Bytes PcapngSection() {
  return PcapngBlock(0x0a0d0d0a, Join({Le32(0x1a2b3c4d), Le16(1), Le16(0), Bytes(8, 0xff)}));
}

inline Bytes PcapngOption(uint32_t code, Bytes value) {
  const uint32_t length = static_cast<uint32_t>(value.size());
  while (value.size() % 4 != 0) value.push_back(0);
  return Join({Le16(code), Le16(length), value});
}

inline Bytes PcapngInterface(const Bytes& options, uint32_t link_type = kEthernetLink) {
  return PcapngBlock(1, Join({Le16(link_type), Le16(0), Le32(65535), options}));
}

inline Bytes PcapngPacket(uint64_t ticks, const Bytes& captured, uint32_t wire_length = 0) {
  const uint32_t length = static_cast<uint32_t>(captured.size());
  return PcapngBlock(6, Join({Le32(0), Le32(static_cast<uint32_t>(ticks >> 32)),
                              Le32(static_cast<uint32_t>(ticks)), Le32(length),
                              Le32(wire_length == 0 ? length : wire_length), captured}));
}

// A file that is gone when the test is.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Bytes& bytes) : path_(::testing::TempDir() + "trumpet-XXXXXX") {
    std::FILE* file = fdopen(mkstemp(path_.data()), "wb");
    EXPECT_NE(file, nullptr) << path_;
    if (file == nullptr) return;
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Standard input is that file while this lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : saved_(dup(STDIN_FILENO)) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(dup2(descriptor, STDIN_FILENO), STDIN_FILENO) << path;
    close(descriptor);
  }
  ~StandardInput() {
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  const int saved_;
};

}  // namespace test_captures
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_TEST_CAPTURES_H
