// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/sqlite_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace trumpet {

void SqliteFile::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Status SqliteFile::Error(int code) {
  const int kind = code & 0xff;
  if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) is_broken_ = true;
  is_full_ = kind == SQLITE_FULL;
  std::string text = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_.get());
  return Status::Error(path_ + ": " + text);
}

Result<SqliteFile> SqliteFile::Open(const std::string& path, Mode mode) {
  SqliteFile file;
  file.path_ = path;
  sqlite3* handle = nullptr;
  // Each connection has one thread at a time, so SQLite need not lock it.
  const int access =
      mode == Mode::kCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(path.c_str(), &handle, access | SQLITE_OPEN_NOMUTEX, nullptr);
  file.handle_.reset(handle);
  if (code != SQLITE_OK) return file.Error(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 1000);
  return file;
}

Status SqliteFile::Run(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status::Ok() : Error(code);
}

Result<int64_t> SqliteFile::Number(const char* sql, int64_t otherwise) {
  Result<SqliteStatement> statement = SqliteStatement::Prepare(this, sql);
  if (!statement.ok()) return statement.status();
  const Result<bool> has_row = statement->Step();
  if (!has_row.ok()) return has_row.status();
  const bool has_value = *has_row && sqlite3_column_type(statement->handle(), 0) != SQLITE_NULL;
  return has_value ? statement->Number(0) : otherwise;
}

int64_t SqliteFile::changed_rows() const { return sqlite3_changes64(handle_.get()); }

void SqliteFile::LimitSteps(int steps, bool (*may_go_on)(void*), void* argument) {
  limit_ = std::make_unique<Limit>(Limit{may_go_on, argument});
  sqlite3_progress_handler(
      handle_.get(), steps,
      [](void* limit) {
        const auto* asked = static_cast<Limit*>(limit);
        return asked->may_go_on(asked->argument) ? 0 : 1;
      },
      limit_.get());
}

// By SQLite's own descriptor: closing another one of the same file would end the locks that SQLite
// has on it in this process.
void SqliteFile::ReadAhead() {
  constexpr int kOnce = 1 << 20;
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  sqlite3_int64 size = 0;
  if (file == nullptr || file->pMethods == nullptr) return;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) return;
  std::vector<char> piece(kOnce);
  for (sqlite3_int64 at = 0; at < size; at += kOnce) {
    const int bytes = static_cast<int>(std::min<sqlite3_int64>(kOnce, size - at));
    if (file->pMethods->xRead(file, piece.data(), bytes, at) != SQLITE_OK) return;
  }
}

Result<SqliteStatement> SqliteStatement::Prepare(SqliteFile* file, const std::string& sql) {
  SqliteStatement statement;
  statement.file_ = file;
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(file->handle(), sql.c_str(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  statement.statement_.reset(handle);
  if (code != SQLITE_OK) return file->Error(code);
  return statement;
}

void SqliteStatement::Bind(int at, int64_t value) {
  sqlite3_bind_int64(statement_.get(), at, value);
}

void SqliteStatement::Bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

Result<bool> SqliteStatement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return file_->Error(code);
}

void SqliteStatement::Rewind() { sqlite3_reset(statement_.get()); }

Status SqliteStatement::Run() {
  const Result<bool> stepped = Step();
  Rewind();
  return stepped.status();
}

int64_t SqliteStatement::Number(int at) const { return sqlite3_column_int64(statement_.get(), at); }

std::string SqliteStatement::Text(int at) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), at));
  const int size = sqlite3_column_bytes(statement_.get(), at);
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<size_t>(size));
}

}  // namespace trumpet
