// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>
#include <utility>

namespace trumpet {
namespace {

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Without a text the port stays as it is.
Status ReadPort(std::string_view text, uint16_t min, uint16_t* port) {
  if (text.empty()) return Status::Ok();
  const auto end = std::from_chars(text.data(), text.data() + text.size(), *port);
  if (end.ec == std::errc() && end.ptr == text.data() + text.size() && *port >= min) {
    return Status::Ok();
  }
  return Status::Error(Quoted(text) + " is no port; " + std::to_string(min) +
                       " to 65535 are allowed");
}

bool IsLoopback(const std::string& host) {
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

// Takes the brackets of an IPv6 address away; false if they hold something else.
bool ReadHost(std::string_view text, std::string* host) {
  if (text.empty() || text.front() != '[') {
    *host = std::string(text);
    return text.find(':') == std::string_view::npos && text.find(']') == std::string_view::npos;
  }
  if (text.back() != ']') return false;
  *host = std::string(text.substr(1, text.size() - 2));
  in6_addr v6;
  return inet_pton(AF_INET6, host->c_str(), &v6) == 1;
}

// Parts `text` at its first colon outside brackets.
void CutAtColon(std::string_view text, std::string_view* before, std::string_view* after) {
  const size_t bracket = text.find(']');
  const bool has_brackets = !text.empty() && text.front() == '[' && bracket != text.npos;
  const size_t colon = text.find(':', has_brackets ? bracket : 0);
  *before = text.substr(0, colon);
  *after = colon == text.npos ? std::string_view() : text.substr(colon + 1);
}

Status Malformed(std::string_view text, const char* forms) {
  return Status::Error(Quoted(text) + " is no address; write " + forms);
}

Status CheckPlain(const Address& address, std::string_view text) {
  if (address.is_tls || IsLoopback(address.host)) return Status::Ok();
  return Status::Error(Quoted(text) +
                       " would be a connection without encryption; only loopback addresses may "
                       "have one, as 127.0.0.1 or [::1]");
}

constexpr char kActiveForms[] = "ssl:HOST[:PORT] or tcp:127.0.0.1[:PORT]";
constexpr char kPassiveForms[] = "pssl:[PORT][:ADDRESS] or ptcp:[PORT]:127.0.0.1";

}  // namespace

Result<Address> ParseActiveAddress(std::string_view text, uint16_t default_port) {
  Address address;
  address.port = default_port;
  address.is_tls = text.substr(0, 4) == "ssl:";
  if (!address.is_tls && text.substr(0, 4) != "tcp:") return Malformed(text, kActiveForms);
  std::string_view host;
  std::string_view port;
  CutAtColon(text.substr(4), &host, &port);
  if (host.empty() || !ReadHost(host, &address.host)) return Malformed(text, kActiveForms);
  Status status = ReadPort(port, 1, &address.port);
  if (status.ok()) status = CheckPlain(address, text);
  if (!status.ok()) return status;
  return address;
}

Result<std::vector<Address>> ParseActiveAddresses(std::string_view text) {
  std::vector<Address> addresses;
  for (size_t comma = 0; comma != text.npos;
       text.remove_prefix(comma == text.npos ? 0 : comma + 1)) {
    comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    Result<Address> address = ParseActiveAddress(one);
    if (!address.ok()) return address.status();
    addresses.push_back(std::move(*address));
    if (addresses.back().is_tls != addresses.front().is_tls) {
      return Status::Error("some addresses are with TLS and some without");
    }
    if (addresses.size() > kMaxAddresses) {
      return Status::Error("there are more than " + std::to_string(kMaxAddresses) + " addresses");
    }
  }
  return addresses;
}

Result<Address> ParsePassiveAddress(std::string_view text, uint16_t default_port) {
  Address address;
  address.port = default_port;
  address.is_tls = text.substr(0, 5) == "pssl:";
  if (!address.is_tls && text.substr(0, 5) != "ptcp:") return Malformed(text, kPassiveForms);
  std::string_view port;
  std::string_view host;
  CutAtColon(text.substr(5), &port, &host);
  if (!ReadHost(host, &address.host)) return Malformed(text, kPassiveForms);
  sockaddr_storage unused;
  if (!address.host.empty() && ToSocketAddress(address.host, 0, &unused) == 0) {
    return Status::Error(Quoted(host) + " is no address of an interface");
  }
  Status status = ReadPort(port, 0, &address.port);
  if (status.ok()) status = CheckPlain(address, text);
  if (!status.ok()) return status;
  return address;
}

int ToSocketAddress(const std::string& host, uint16_t port, sockaddr_storage* out) {
  std::memset(out, 0, sizeof *out);
  auto* v4 = reinterpret_cast<sockaddr_in*>(out);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return sizeof *v4;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(out);
  if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    return sizeof *v6;
  }
  return 0;
}

std::string ToText(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (address.ss_family != AF_INET6) return "unknown";
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
}

uint16_t LocalPortOf(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

}  // namespace trumpet
