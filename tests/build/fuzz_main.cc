// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// main() for a fuzz target without libFuzzer: runs every file named on the
// command line, and every file below a directory named there, once.
//
// It makes the corpora, crashes of the past among them, part of `make check`
// in any build and with any compiler.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

// The copy is as long as the input and not a byte longer, so that AddressSanitizer sees a read past
// its end.
bool RunFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::unique_ptr<uint8_t[]> bytes(new uint8_t[text.size()]);
  text.copy(reinterpret_cast<char*>(bytes.get()), text.size());
  LLVMFuzzerTestOneInput(bytes.get(), text.size());
  return true;
}

void AddFiles(const fs::path& path, std::vector<fs::path>* files) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    files->push_back(path);
    return;
  }
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file()) files->push_back(entry.path());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) AddFiles(argv[i], &files);
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s FILE|DIRECTORY...  (at least one file)\n", argv[0]);
    return 2;
  }
  for (const fs::path& path : files) {
    if (!RunFile(path)) return 1;
  }
  std::printf("%zu inputs\n", files.size());
  return 0;
}
