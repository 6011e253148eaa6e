// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/sample_receiver.h"

#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr int kDatagramsAtOnce = 64;
constexpr size_t kMaxDatagram = 65536;
constexpr int kReceiveBytes = 1 << 20;  // what the kernel keeps for us

void Readable(evutil_socket_t socket, short /*what*/, void* receiver) {
  static_cast<SampleReceiver*>(receiver)->OnReadable(socket);
}

// Returns its length, or 0.
int ParseAddress(const std::string& text, sockaddr_storage* address) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return 0;
  std::string host = text.substr(0, colon);
  const bool is_bracketed = host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (!is_bracketed && host.find(':') != host.npos) return 0;
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end) return 0;
  return ToSocketAddress(host, port, address);
}

// IPv4 addresses stay such where a socket of IPv6 takes both.
Prefix AddressOf(const sockaddr_storage& from) {
  Prefix address;
  const auto* const ipv4 = reinterpret_cast<const sockaddr_in*>(&from);
  const auto* const ipv6 = reinterpret_cast<const sockaddr_in6*>(&from);
  const uint8_t* bytes = ipv6->sin6_addr.s6_addr;
  size_t size = 16;
  if (from.ss_family == AF_INET) {
    bytes = reinterpret_cast<const uint8_t*>(&ipv4->sin_addr.s_addr);
    size = 4;
  } else if (IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr)) {
    bytes += 12;
    size = 4;
  }
  ByteCursor cursor(bytes, size);
  while (cursor.left() > 0) address.address = address.address << 8 | cursor.Number(1);
  address.is_ipv6 = size == 16;
  address.length = static_cast<uint8_t>(8 * size);
  return address;
}

bool IsIn(const Prefix& address, const std::vector<Prefix>& prefixes) {
  for (const Prefix& prefix : prefixes) {
    if (prefix.is_ipv6 == address.is_ipv6 && address.address >= FirstOf(prefix) &&
        address.address <= LastOf(prefix)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string SampleListenProblem(const std::string& text) {
  sockaddr_storage address{};
  if (ParseAddress(text, &address) == 0) {
    return "'" + text + "' is not an address and a port; write 192.0.2.1:6343 or [::]:6343";
  }
  return "";
}

Result<std::unique_ptr<SampleReceiver>> SampleReceiver::Open(event_base* base,
                                                             const SamplesConfig& config,
                                                             const WireClock& clock,
                                                             SampledDemand* demand) {
  std::unique_ptr<SampleReceiver> receiver(new SampleReceiver(config, clock, demand));
  for (const std::string& address : config.listen) {
    const Status status = receiver->Listen(base, address);
    if (!status.ok()) return Status::Error("samples at " + address + ": " + status.message());
  }
  return receiver;
}

SampleReceiver::~SampleReceiver() {
  for (const Socket& one : sockets_) {
    event_free(one.readable);
    close(one.descriptor);
  }
}

Status SampleReceiver::Listen(event_base* base, const std::string& text) {
  sockaddr_storage address{};
  const int size = ParseAddress(text, &address);
  if (size == 0) return Status::Error(SampleListenProblem(text));
  const int descriptor = socket(address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return Status::Error(std::strerror(errno));
  sockets_.push_back(
      {descriptor, event_new(base, descriptor, EV_READ | EV_PERSIST, Readable, this)});
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &kReceiveBytes, sizeof kReceiveBytes);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (bind(descriptor, generic, static_cast<socklen_t>(size)) != 0 ||
      getsockname(descriptor, generic, &length) != 0) {
    return Status::Error(std::strerror(errno));
  }
  ports_.push_back(ntohs(address.ss_family == AF_INET
                             ? reinterpret_cast<const sockaddr_in*>(&address)->sin_port
                             : reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port));
  event_add(sockets_.back().readable, nullptr);
  return Status::Ok();
}

uint64_t SampleReceiver::unknown_sets() const {
  uint64_t sets = 0;
  for (const auto& [address, exporter] : exporters_) sets += exporter.decoder.unknown_sets();
  return sets;
}

void SampleReceiver::OnReadable(int socket) {
  uint8_t data[kMaxDatagram];
  for (int i = 0; i < kDatagramsAtOnce; ++i) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    const ssize_t size =
        recvfrom(socket, data, sizeof data, 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) return;
    ++counters_.datagrams;
    Take(data, static_cast<size_t>(size), from);
  }
}

void SampleReceiver::Take(const uint8_t* data, size_t size, const sockaddr_storage& from) {
  const Prefix address = AddressOf(from);
  const std::pair<bool, Uint128> key{address.is_ipv6, address.address};
  auto exporter = exporters_.find(key);
  if (exporter == exporters_.end()) {
    if (exporters_.size() >= kMaxExporters || !IsIn(address, config_.from)) {
      ++counters_.strangers;
      return;
    }
    const auto number = static_cast<uint32_t>(exporters_.size());
    exporter = exporters_.emplace(key, Exporter{number, FlowExportDecoder()}).first;
  }
  samples_.clear();
  const FlowExportResult result = exporter->second.decoder.Decode(data, size, &samples_);
  if (result == FlowExportResult::kMalformed) ++counters_.malformed;
  if (result == FlowExportResult::kUnknown) ++counters_.unknown;
  counters_.samples += samples_.size();
  const Nanos now = clock_.MonotonicNow();
  for (const FlowSample& sample : samples_) demand_->Add(exporter->second.number, sample, now);
}

}  // namespace trumpet
