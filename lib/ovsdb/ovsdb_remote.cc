// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_remote.h"

#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace trumpet {
namespace {

Status Malformed(std::string_view text, const char* why) {
  return Status::Error("'" + std::string(text) + "' is no address of a database: " + why +
                       "; write unix:PATH, tcp:HOST[:PORT] or ssl:HOST[:PORT]");
}

bool ReadPort(std::string_view text, uint16_t* port) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), *port);
  return end.ec == std::errc() && end.ptr == text.data() + text.size() && *port > 0;
}

Status ReadHostAndPort(std::string_view rest, std::string_view text, OvsdbRemote* remote) {
  std::string_view after;
  if (!rest.empty() && rest.front() == '[') {
    const size_t close = rest.find(']');
    if (close == rest.npos) return Malformed(text, "the bracket is not closed");
    remote->host = std::string(rest.substr(1, close - 1));
    after = rest.substr(close + 1);
  } else {
    const size_t colon = rest.find(':');
    remote->host = std::string(rest.substr(0, colon));
    if (colon != rest.npos) after = rest.substr(colon);
  }
  if (remote->host.empty()) return Malformed(text, "there is no host");
  remote->port = kDefaultOvsdbPort;
  if (after.empty()) return Status::Ok();
  if (after.front() != ':' || !ReadPort(after.substr(1), &remote->port)) {
    return Malformed(text, "the port is not a number from 1 to 65535");
  }
  return Status::Ok();
}

Result<OvsdbRemote> ParseOne(std::string_view text) {
  OvsdbRemote remote;
  remote.text = std::string(text);
  const std::string_view method = text.substr(0, text.find(':'));
  const std::string_view rest = text.substr(std::min(text.size(), method.size() + 1));
  if (method == "unix") {
    if (rest.empty()) return Malformed(text, "there is no path");
    if (rest.size() >= sizeof sockaddr_un::sun_path) return Malformed(text, "the path is too long");
    remote.host = std::string(rest);
    return remote;
  }
  if (method != "tcp" && method != "ssl") return Malformed(text, "of an unknown kind");
  remote.kind = method == "ssl" ? OvsdbRemote::Kind::kTls : OvsdbRemote::Kind::kTcp;
  const Status status = ReadHostAndPort(rest, text, &remote);
  if (!status.ok()) return status;
  return remote;
}

}  // namespace

Result<std::vector<OvsdbRemote>> ParseOvsdbRemotes(std::string_view text) {
  std::vector<OvsdbRemote> remotes;
  while (true) {
    const size_t comma = text.find(',');
    Result<OvsdbRemote> remote = ParseOne(text.substr(0, comma));
    if (!remote.ok()) return remote.status();
    remotes.push_back(std::move(*remote));
    if (comma == text.npos) return remotes;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace trumpet
