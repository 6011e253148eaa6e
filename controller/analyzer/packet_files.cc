// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/packet_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "lib/wire/limits.h"
#include "lib/wire/message.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

constexpr char kHasGone[] = "its packets were removed meanwhile";

bool TakeText(std::string_view text, std::string_view* rest) {
  if (rest->substr(0, text.size()) != text) return false;
  rest->remove_prefix(text.size());
  return true;
}

bool TakeNumber(std::string_view* rest, uint32_t* number) {
  const auto read = std::from_chars(rest->data(), rest->data() + rest->size(), *number);
  if (read.ec != std::errc()) return false;
  rest->remove_prefix(static_cast<size_t>(read.ptr - rest->data()));
  return true;
}

// "slot-3-query-2.pcapng"; none: it is no whole file of ours.
std::optional<std::pair<uint32_t, uint32_t>> ParseName(std::string_view name) {
  std::pair<uint32_t, uint32_t> numbers;
  if (TakeText("slot-", &name) && TakeNumber(&name, &numbers.first) && TakeText("-query-", &name) &&
      TakeNumber(&name, &numbers.second) && name == ".pcapng") {
    return numbers;
  }
  return std::nullopt;
}

Nanos ChangeOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return -1;
  return status.st_mtim.tv_sec * kNanosPerSecond + status.st_mtim.tv_nsec;
}

// As many as there are, up to `bytes`.
Status ReadAt(int file, uint64_t offset, std::string* bytes) {
  size_t count = 0;
  while (count < bytes->size()) {
    const ssize_t some = pread(file, bytes->data() + count, bytes->size() - count,
                               static_cast<off_t>(offset + count));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return Status::Error(std::strerror(errno));
    if (some == 0) break;
    count += static_cast<size_t>(some);
  }
  bytes->resize(count);
  return Status::Ok();
}

}  // namespace

std::string PacketFiles::FolderOf(uint64_t run) const {
  return directory_ + "/run-" + std::to_string(run);
}

const std::vector<PacketFiles::Name>& PacketFiles::NamesOf(uint64_t run) {
  const std::string folder = FolderOf(run);
  const Nanos change = ChangeOf(folder);
  if (run == listed_run_ && change == listed_change_) return names_;
  listed_run_ = run;
  listed_change_ = change;
  names_.clear();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (const auto name = ParseName(entry.path().filename().string())) names_.push_back(*name);
  }
  std::sort(names_.begin(), names_.end());
  return names_;
}

Result<std::string> PacketFiles::ReadFrom(const std::string& path, uint64_t offset,
                                          size_t max_bytes, uint64_t* size) const {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Status::Error(errno == ENOENT ? kHasGone
                                         : "cannot read " + path + ": " + std::strerror(errno));
  }
  struct stat status {};
  std::string bytes;
  Status read = Status::Ok();
  if (fstat(file, &status) == 0) {
    *size = static_cast<uint64_t>(status.st_size);
    bytes.resize(std::min<uint64_t>(max_bytes, *size - std::min(*size, offset)));
    const size_t wanted = bytes.size();
    read = ReadAt(file, offset, &bytes);
    if (read.ok() && bytes.size() < wanted) read = Status::Error("it is being changed");
  } else {
    read = Status::Error(std::strerror(errno));
  }
  close(file);
  if (read.ok()) return bytes;
  return Status::Error("cannot read " + path + ": " + read.message());
}

PacketFilePiece PacketFiles::Read(const PacketFileRequest& request) {
  PacketFilePiece piece{request.number, request.from, true, "", ""};
  if (directory_.empty()) return piece;
  const std::vector<Name>& names = NamesOf(request.run);
  const Name from{request.from.slot, request.from.query};
  const bool is_beginning = from == Name{0, 0} && request.from.offset == 0;
  auto name = std::lower_bound(names.begin(), names.end(), from);
  const bool is_there = name != names.end() && *name == from;
  if ((names.empty() && !is_beginning) || (!is_there && request.from.offset > 0)) {
    piece.error = kHasGone;
    return piece;
  }
  const size_t max_bytes = std::min(request.max_bytes, kMaxPacketFileBytes);
  while (name != names.end() && piece.bytes.size() < max_bytes) {
    const uint64_t offset = *name == from ? request.from.offset : 0;
    const std::string path = FolderOf(request.run) + "/slot-" + std::to_string(name->first) +
                             "-query-" + std::to_string(name->second) + ".pcapng";
    uint64_t size = 0;
    const auto bytes = ReadFrom(path, offset, max_bytes - piece.bytes.size(), &size);
    if (!bytes.ok()) {
      piece.bytes.clear();
      piece.error = ToWireText(bytes.message(), kMaxLongTextBytes);
      return piece;
    }
    piece.bytes += *bytes;
    piece.next = {name->first, name->second, offset + bytes->size()};
    if (piece.next.offset < size) break;
    ++name;
  }
  piece.is_last = name == names.end();
  return piece;
}

}  // namespace trumpet
