// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/known_captures.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

constexpr size_t kPiece = 1 << 20;

Result<uint64_t> HashOf(const std::string& path, std::vector<char>* piece) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::Error(path + ": cannot be read: " + std::strerror(errno));
  uint64_t hash = 0;
  while (file) {
    file.read(piece->data(), kPiece);
    hash = HashBytes(piece->data(), static_cast<size_t>(file.gcount()), hash);
  }
  if (file.bad()) return Status::Error(path + ": cannot be read: " + std::strerror(errno));
  return hash;
}

}  // namespace

Result<KnownCaptures> KnownCaptures::Read(const std::string& folder,
                                          const std::vector<std::string>& paths) {
  KnownCaptures known(folder + "/captures.txt", "");
  if (std::find(paths.begin(), paths.end(), "-") != paths.end()) return known;
  std::vector<char> piece(kPiece);
  std::vector<uint64_t> hashes;
  for (const std::string& path : paths) {
    const auto hash = HashOf(path, &piece);
    if (!hash.ok()) return hash.status();
    hashes.push_back(*hash);
  }
  std::sort(hashes.begin(), hashes.end());
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64,
                HashBytes(hashes.data(), hashes.size() * sizeof hashes[0], 0));
  known.hash_ = text;
  std::ifstream file(known.path_);
  for (std::string line; std::getline(file, line);) {
    known.are_known_ = known.are_known_ || line == known.hash_;
  }
  return known;
}

Status KnownCaptures::Keep() const {
  if (are_known_ || hash_.empty()) return Status::Ok();
  std::ofstream file(path_, std::ios::app);
  file << hash_ << "\n";
  file.close();
  if (file) return Status::Ok();
  return Status::Error(path_ + ": cannot be written: " + std::strerror(errno));
}

}  // namespace trumpet
