// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PcapngWriter: a pcapng file of packets that were seen at several places, an interface for each.
//
// The file has another name until Close(): who looks finds a whole one or none.
//
// Threads: one.

#ifndef TRUMPET_LIB_PACKET_PCAPNG_WRITER_H
#define TRUMPET_LIB_PACKET_PCAPNG_WRITER_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

class PcapngWriter {
 public:
  // `comment` describes all of the file.
  static Result<PcapngWriter> Create(const std::string& path, const std::string& comment);
  PcapngWriter(PcapngWriter&&) = default;
  PcapngWriter& operator=(PcapngWriter&&) = default;
  ~PcapngWriter();

  // All of them before the first packet.  Returns its number, from 0.
  uint32_t AddInterface(const std::string& name, const std::string& comment, bool is_ethernet);
  void AddPacket(uint32_t interface, Nanos time, std::string_view bytes, uint32_t wire_bytes);
  // The file is complete, or why it is not; then nothing is left of it.
  Status Close();

  uint64_t bytes_written() const { return bytes_written_; }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  PcapngWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  std::string FreshPath() const { return path_ + ".part"; }
  void WriteBlock(uint32_t type, std::string body);

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  uint32_t interface_count_ = 0;
  uint64_t bytes_written_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PCAPNG_WRITER_H
