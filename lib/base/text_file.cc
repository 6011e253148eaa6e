// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace trumpet {

Result<std::string> ReadTextFile(const std::string& path, size_t max_bytes) {
  constexpr size_t kChunkBytes = 1 << 16;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (!file) return Status::Error(path + ": cannot be read: " + std::strerror(errno));
  std::string text;
  while (text.size() <= max_bytes) {
    const size_t before = text.size();
    text.resize(before + std::min(kChunkBytes, max_bytes + 1 - before));
    text.resize(before + std::fread(text.data() + before, 1, text.size() - before, file.get()));
    if (text.size() == before) break;
  }
  if (std::ferror(file.get())) {
    return Status::Error(path + ": cannot be read: " + std::strerror(errno));
  }
  return text;
}

}  // namespace trumpet
