// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/database_remote.h"

#include <fstream>

#include "lib/ovsdb/ovsdb_remote.h"

namespace trumpet {
namespace {

constexpr size_t kMaxArguments = 1024;

std::string InFolderOf(const std::string& socket, const OvsdbRemote& remote) {
  const bool is_relative = remote.kind == OvsdbRemote::Kind::kUnix && remote.host.front() != '/';
  if (!is_relative) return remote.text;
  return socket.substr(0, socket.rfind('/') + 1) + remote.host;
}

}  // namespace

// Values of options that stand by themselves are files, switches and numbers, never remotes.
std::string DatabaseRemote(const std::vector<std::string>& arguments,
                           const std::string& otherwise) {
  std::string found = otherwise;
  for (const std::string& argument : arguments) {
    const auto remotes = ParseOvsdbRemotes(argument);
    if (!remotes.ok()) continue;
    found.clear();
    for (const OvsdbRemote& remote : *remotes) {
      found += (found.empty() ? "" : ",") + InFolderOf(otherwise, remote);
    }
  }
  return found;
}

std::vector<std::string> ProcessArguments() {
  std::vector<std::string> arguments;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string argument;
  std::getline(file, argument, '\0');
  while (arguments.size() < kMaxArguments && std::getline(file, argument, '\0')) {
    arguments.push_back(argument);
  }
  return arguments;
}

}  // namespace trumpet
