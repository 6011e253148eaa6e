// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SqliteFile, SqliteStatement: SQLite with owners and errors of ours.
//
// Threads: one at a time each.  Lifetime: a file outlives its statements.

#ifndef TRUMPET_CONTROLLER_STORE_SQLITE_FILE_H
#define TRUMPET_CONTROLLER_STORE_SQLITE_FILE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace trumpet {

class SqliteFile {
 public:
  enum class Mode : uint8_t { kCreate, kRead };

  static Result<SqliteFile> Open(const std::string& path, Mode mode);

  // Of statements without parameters and rows.
  Status Run(const char* sql);
  // The number that the statement gives, or `otherwise` if there is no row or it is NULL.
  Result<int64_t> Number(const char* sql, int64_t otherwise);

  // What is wrong with the file rather than with the disk: it has to be given up.
  bool is_broken() const { return is_broken_; }
  // The last error was that there is no room.
  bool is_full() const { return is_full_; }
  int64_t changed_rows() const;
  // A statement that has run for so many steps of SQLite's is asked whether it may go on.
  void LimitSteps(int steps, bool (*may_go_on)(void*), void* argument);

  // Reads all of the file in order, so that the kernel has it in memory when it is wanted page by
  // page.
  void ReadAhead();

  sqlite3* handle() { return handle_.get(); }
  // Of the last call, which returned `code`; notes whether the file is broken.
  Status Error(int code);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  struct Limit {
    bool (*may_go_on)(void*);
    void* argument;
  };

  std::unique_ptr<sqlite3, Close> handle_;
  std::unique_ptr<Limit> limit_;
  std::string path_;
  bool is_broken_ = false;
  bool is_full_ = false;
};

class SqliteStatement {
 public:
  static Result<SqliteStatement> Prepare(SqliteFile* file, const std::string& sql);

  // Parameters from 1.  Texts must live until the next Rewind().
  void Bind(int at, int64_t value);
  void Bind(int at, std::string_view text);

  // True: there is a row to read.
  Result<bool> Step();
  void Rewind();
  // Runs to the end and rewinds.
  Status Run();

  // Columns from 0.
  int64_t Number(int at) const;
  std::string Text(int at) const;
  sqlite3_stmt* handle() { return statement_.get(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  SqliteFile* file_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_SQLITE_FILE_H
