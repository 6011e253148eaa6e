// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RowSpool: batches of rows for servers that are away, in files of a folder.
//
// A batch is a file: it is on the disk when Put() returns, and gone when Remove() is told that a
// server has it.  What lies there from an earlier life is found again, the oldest first; what is
// broken is set aside (`.broken`).  The folder belongs to one spool at a time.
//
// Threads: one at a time; calls wait for the disk.

#ifndef TRUMPET_CONTROLLER_STORE_ROW_SPOOL_H
#define TRUMPET_CONTROLLER_STORE_ROW_SPOOL_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/status.h"

namespace trumpet {

struct SpooledBatch {
  bool is_links = false;  // else traces
  uint64_t row_count = 0;
  std::string rows;
};

class RowSpool {
 public:
  // Batches of servers that are not among `servers` any more are the first one's.
  static Result<std::unique_ptr<RowSpool>> Open(const std::string& folder,
                                                const std::vector<std::string>& servers,
                                                uint64_t max_bytes);

  // All or none.
  Status Put(size_t server, const SpooledBatch& batch);
  bool is_empty(size_t server) const { return files_[server].empty(); }
  // The oldest batch of a server that has one.  An error: it was broken, is set aside, and had so
  // many rows (lost_rows() counts them).
  Result<SpooledBatch> First(size_t server);
  void RemoveFirst(size_t server);

  uint64_t bytes() const { return bytes_; }
  uint64_t lost_rows() const { return lost_rows_; }

 private:
  struct File {
    std::string name;
    uint64_t bytes = 0;
    bool is_links = false;
    uint64_t row_count = 0;
  };

  RowSpool(std::string folder, const std::vector<std::string>& servers, uint64_t max_bytes);
  Status FindOld();
  void Forget(size_t server);

  const std::string folder_;
  const uint64_t max_bytes_;
  std::vector<std::string> keys_;        // of the servers, in names of files
  std::vector<std::deque<File>> files_;  // by server, the oldest first
  uint64_t next_number_ = 1;
  uint64_t bytes_ = 0;
  uint64_t lost_rows_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_ROW_SPOOL_H
