// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/clickhouse_place.h"

#include <algorithm>
#include <sstream>

#include "controller/store/http_client.h"
#include "lib/base/hash.h"

namespace trumpet {
namespace {

Status Take(const std::string& item, ClickHousePlace* place) {
  if (item.rfind("http", 0) == 0) {
    const Status checked = CheckHttpUrl(item);
    if (!checked.ok()) return checked;
    std::string server = item;
    if (server.back() == '/') server.pop_back();
    const auto& known = place->servers;
    if (std::find(known.begin(), known.end(), server) != known.end()) {
      return Status::Error("'" + server + "' is there twice");
    }
    place->servers.push_back(server);
    return Status::Ok();
  }
  const size_t equals = item.find('=');
  const std::string name = item.substr(0, equals);
  const std::string value = equals == item.npos ? "" : item.substr(equals + 1);
  if (value.empty()) return Status::Error("'" + item + "' is neither a URL nor NAME=VALUE");
  if (name == "database") {
    place->database = value;
  } else if (name == "user") {
    place->user = value;
  } else if (name == "password_file") {
    place->password_file = value;
  } else if (name == "ca_certificate") {
    place->ca_file = value;
  } else {
    return Status::Error("'" + name +
                         "' is not known; database, user, password_file and ca_certificate are");
  }
  return Status::Ok();
}

bool IsName(const std::string& text) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !text.empty() && text.size() <= 256 && text.find_first_not_of(kLetters) == text.npos &&
         (text[0] < '0' || text[0] > '9');
}

}  // namespace

size_t ClickHouseServerOf(uint64_t trace_id, size_t servers) { return MixBits(trace_id) % servers; }

std::string DatabaseOfAnalyzer(const std::string& name) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string database = "trumpet_";
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter != '_' && IsName("x" + std::string(1, letter))) {
      database += letter;
    } else {
      database.append("_").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    }
  }
  return database;
}

bool IsClickHousePlace(const std::string& text) { return text.rfind(kClickHousePrefix, 0) == 0; }

Result<ClickHousePlace> ParseClickHousePlace(const std::string& text) {
  if (!IsClickHousePlace(text)) {
    return Status::Error("'" + text + "' does not begin with clickhouse:");
  }
  ClickHousePlace place;
  std::istringstream items(text.substr(sizeof kClickHousePrefix - 1));
  for (std::string item; std::getline(items, item, ',');) {
    const Status taken = Take(item, &place);
    if (!taken.ok()) return Status::Error("clickhouse: " + taken.message());
  }
  const auto wrong = [](const std::string& why) { return Status::Error("clickhouse: " + why); };
  if (place.servers.empty()) return wrong("no server is named; clickhouse:http://HOST:8123 is one");
  if (place.servers.size() > kMaxClickHouseServers) return wrong("at most 64 servers are taken");
  if (!IsName(place.database)) {
    return wrong("'" + place.database + "' is no name of a database; letters, digits and _ are");
  }
  if (place.user.find_first_of("\r\n") != place.user.npos) return wrong("a user has one line");
  return place;
}

}  // namespace trumpet
