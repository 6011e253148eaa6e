// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketFiles: what PacketArchive has kept of a run, read piece by piece as one text: its files by
// slot and query, one after the other.  Each is a section of pcapng of its own, so all of them
// together are a pcapng file, too.
//
// A reader holds nothing between two pieces but the place where it goes on, so readers may come and
// go as they like.
//
// Threads: one.  Blocks for the time that a piece takes to read.

#ifndef TRUMPET_CONTROLLER_ANALYZER_PACKET_FILES_H
#define TRUMPET_CONTROLLER_ANALYZER_PACKET_FILES_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/wire/slice_message.h"

namespace trumpet {

class PacketFiles {
 public:
  // `directory` of the archive; empty: there are no files.
  explicit PacketFiles(std::string directory) : directory_(std::move(directory)) {}

  // The answer to `request`.  A run of which nothing was kept has no bytes; that its files went
  // while they were read is an error.
  PacketFilePiece Read(const PacketFileRequest& request);

 private:
  using Name = std::pair<uint32_t, uint32_t>;  // slot and query

  // The files of a run, rising; read again only when the folder has changed.
  const std::vector<Name>& NamesOf(uint64_t run);
  std::string FolderOf(uint64_t run) const;
  // Of one file; its size, too.
  Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max_bytes,
                               uint64_t* size) const;

  const std::string directory_;
  uint64_t listed_run_ = 0;
  Nanos listed_change_ = -1;  // of the folder
  std::vector<Name> names_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_PACKET_FILES_H
