// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/network_file.h"

#include <fstream>

#include "controller/plan/slice/network_files.h"
#include "lib/base/system_error.h"

namespace trumpet {
namespace {

constexpr size_t kMaxMapBytes = 64 * 1024 * 1024;

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Result<std::string> ReadBoundedFile(const std::string& path, size_t most_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return SystemError("cannot read " + path);
  std::string text;
  char chunk[65536];
  while (text.size() <= most_bytes && file.read(chunk, sizeof(chunk)).gcount() > 0) {
    text.append(chunk, static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return SystemError("cannot read " + path);
  if (text.size() <= most_bytes) return text;
  return Status::Error(path + " is larger than " + std::to_string(most_bytes) + " bytes");
}

Result<slice::Network> ReadNetworkFile(const std::string& path) {
  const auto text = ReadBoundedFile(path, kMaxMapBytes);
  if (!text) return text.status();
  if (EndsWith(path, ".edges")) return slice::ParseEdges(*text, path);
  if (EndsWith(path, ".gml")) return slice::ParseGml(*text, path);
  if (!EndsWith(path, ".yaml") && !EndsWith(path, ".yml") && !EndsWith(path, ".json")) {
    return Status::Error(path + " is no map; its name ends in .edges, .gml, .yaml or .json");
  }
  const auto topology = ParseTopology(*text, path);
  if (!topology) return topology.status();
  return slice::NetworkOf(*topology);
}

}  // namespace trumpet
