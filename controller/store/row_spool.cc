// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/row_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace trumpet {
namespace {

namespace fs = std::filesystem;

// FNV-1a: of what a disk may have mixed up, and of names.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

std::string Hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, value);
  return text;
}

std::string Errno(const std::string& path) { return path + ": " + std::strerror(errno); }

Status WriteAll(int fd, const std::string& bytes, const std::string& path) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(fd, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Status::Error(Errno(path));
    done += static_cast<size_t>(written);
  }
  return fsync(fd) == 0 ? Status::Ok() : Status::Error(Errno(path));
}

Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Status::Error(Errno(folder));
  const bool is_synced = fsync(fd) == 0;
  const Status status = is_synced ? Status::Ok() : Status::Error(Errno(folder));
  close(fd);
  return status;
}

Status WriteFile(const std::string& path, const std::string& bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Status::Error(Errno(path));
  Status status = WriteAll(fd, bytes, path);
  if (close(fd) != 0 && status.ok()) status = Status::Error(Errno(path));
  return status;
}

}  // namespace

RowSpool::RowSpool(std::string folder, const std::vector<std::string>& servers, uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes), files_(servers.size()) {
  for (const std::string& server : servers) keys_.push_back(Hex(HashOf(server)));
}

Result<std::unique_ptr<RowSpool>> RowSpool::Open(const std::string& folder,
                                                 const std::vector<std::string>& servers,
                                                 uint64_t max_bytes) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status::Error(folder + ": " + error.message());
  std::unique_ptr<RowSpool> spool(new RowSpool(folder, servers, max_bytes));
  const Status status = spool->FindOld();
  if (!status.ok()) return status;
  return spool;
}

// KEY-NUMBER-KIND-ROWS.rows
Status RowSpool::FindOld() {
  std::map<uint64_t, std::pair<size_t, File>> found;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    File file;
    file.name = at->path().filename();
    if (at->path().extension() == ".new") {
      std::error_code ignored;  // it is written over
      fs::remove(at->path(), ignored);
    }
    char key[17] = "";
    char kind = 0;
    uint64_t number = 0;
    int read = 0;
    std::sscanf(file.name.c_str(), "%16[0-9a-f]-%20" SCNu64 "-%c-%20" SCNu64 ".rows%n", key,
                &number, &kind, &file.row_count, &read);
    if (read == 0 || static_cast<size_t>(read) != file.name.size()) continue;
    std::error_code gone;
    file.bytes = fs::file_size(at->path(), gone);
    if (gone) continue;
    file.is_links = kind == 'l';
    const auto known = std::find(keys_.begin(), keys_.end(), key);
    const size_t server = known == keys_.end() ? 0 : static_cast<size_t>(known - keys_.begin());
    found[number] = {server, std::move(file)};
  }
  if (error) return Status::Error(folder_ + ": " + error.message());
  for (auto& [number, place] : found) {
    next_number_ = number + 1;
    bytes_ += place.second.bytes;
    files_[place.first].push_back(std::move(place.second));
  }
  return Status::Ok();
}

Status RowSpool::Put(size_t server, const SpooledBatch& batch) {
  const std::string bytes = Hex(HashOf(batch.rows)) + batch.rows;
  if (bytes.size() > max_bytes_ || bytes_ > max_bytes_ - bytes.size()) {
    return Status::Error(folder_ + ": there is no room for more");
  }
  File file;
  file.bytes = bytes.size();
  file.is_links = batch.is_links;
  file.row_count = batch.row_count;
  file.name = keys_[server] + "-" + std::to_string(next_number_++) +
              (batch.is_links ? "-l-" : "-t-") + std::to_string(batch.row_count) + ".rows";
  const std::string path = folder_ + "/" + file.name;
  const std::string fresh = path + ".new";
  Status status = WriteFile(fresh, bytes);
  if (status.ok() && rename(fresh.c_str(), path.c_str()) != 0) status = Status::Error(Errno(path));
  if (status.ok()) status = SyncFolder(folder_);
  if (!status.ok()) {
    unlink(fresh.c_str());
    unlink(path.c_str());
    return status;
  }
  bytes_ += file.bytes;
  files_[server].push_back(std::move(file));
  return status;
}

Result<SpooledBatch> RowSpool::First(size_t server) {
  const File& file = files_[server].front();
  const std::string path = folder_ + "/" + file.name;
  std::ifstream stream(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  SpooledBatch batch;
  batch.is_links = file.is_links;
  batch.row_count = file.row_count;
  if (bytes.size() >= 16) batch.rows = bytes.substr(16);
  if (bytes.size() >= 16 && bytes.compare(0, 16, Hex(HashOf(batch.rows))) == 0) return batch;
  std::error_code ignored;  // then it is found again, and set aside again
  fs::rename(path, path + ".broken", ignored);
  lost_rows_ += file.row_count;
  Forget(server);
  return Status::Error(path + ": is broken");
}

void RowSpool::RemoveFirst(size_t server) {
  unlink((folder_ + "/" + files_[server].front().name).c_str());
  Forget(server);
}

void RowSpool::Forget(size_t server) {
  bytes_ -= files_[server].front().bytes;
  files_[server].pop_front();
}

}  // namespace trumpet
