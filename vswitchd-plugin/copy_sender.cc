// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/copy_sender.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/lang/event/diagnostic.h"
#include "lib/wire/address.h"
#include "lib/wire/copy_address.h"
#include "vswitchd-plugin/measurement_table.h"

namespace trumpet {
namespace {

using event_lang::Quote;

// Copies come in heaps, each time the agent looks for them; so many may go at once.
constexpr Nanos kHeap = 20 * kNanosPerMilli;

// A raw socket gets all GRE that comes from the other end, which nobody reads.
void TakeNothing(int socket) {
  sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog filter = {1, &nothing};
  static_cast<void>(setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter));
}

// -1, and errno says why.
int OpenSocket(const CopyAddress& address) {
  sockaddr_storage to;
  const int length = ToSocketAddress(address.host, address.port, &to);
  const int kind = address.is_erspan ? SOCK_RAW : SOCK_DGRAM;
  const int fd = socket(to.ss_family, kind | SOCK_NONBLOCK | SOCK_CLOEXEC,
                        address.is_erspan ? IPPROTO_GRE : 0);
  if (fd < 0) return -1;
  if (address.is_erspan) TakeNothing(fd);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), static_cast<socklen_t>(length)) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

// All names in it are identifiers of the language, so nothing needs quoting.
std::string CopyText(const MeasureProgram& program, const CollectedPacket& copy) {
  std::string text = "{\"time_ns\":" + std::to_string(copy.now) + ",\"endpoint\":\"" +
                     program.endpoints[copy.endpoint] + "\",\"packet\":{";
  size_t at = 0;
  for (uint64_t left = copy.present; left != 0; left &= left - 1) {
    if (at > 0) text += ',';
    text += '"';
    text += MeasureFieldName(program, static_cast<MeasureFieldId>(__builtin_ctzll(left)));
    text += "\":";
    text += std::to_string(copy.values[at++]);
  }
  return text + "}}";
}

Result<std::unique_ptr<CopySender>> CopySender::Open(const std::string& name,
                                                     const CompiledProgram& program,
                                                     const MeasurementPlace& place) {
  if (place.endpoints.empty()) return std::unique_ptr<CopySender>();
  std::unique_ptr<CopySender> sender(new CopySender(program, place));
  sender->start_ =
      "{\"program\":\"" + name + "\",\"switch\":" + std::to_string(sender->switch_id_) + ",";
  sender->ways_.resize(program.source.endpoints.size());
  for (const auto& [endpoint, address] : place.endpoints) {
    Status status = sender->OpenWay(endpoint, address);
    if (!status.ok()) return status;
  }
  return sender;
}

Status CopySender::OpenWay(const std::string& endpoint, const std::string& text) {
  const std::vector<std::string>& names = program_.source.endpoints;
  const auto found = std::find(names.begin(), names.end(), endpoint);
  if (found == names.end()) {
    return Status::Error("the program has no endpoint " + Quote(endpoint));
  }
  const Result<CopyAddress> address = ParseCopyAddress(text);
  if (!address.ok())
    return Status::Error(endpoint + " is " + Quote(text) + "; " + address.message());
  Way& way = ways_[static_cast<size_t>(found - names.begin())];
  way.is_erspan = address->is_erspan;
  way.target = {endpoint, text, {}};
  way.socket = OpenSocket(*address);
  if (way.socket < 0) {
    return Status::Error(endpoint + ": copies cannot go to " + text + ": " + std::strerror(errno));
  }
  return Status::Ok();
}

CopySender::~CopySender() {
  for (const Way& way : ways_) {
    if (way.socket >= 0) close(way.socket);
  }
}

bool CopySender::HasRoom(Nanos now) {
  if (next_ > now + kHeap) return false;
  next_ = std::max(next_, now) + spacing_;
  return true;
}

bool CopySender::Send(const CollectedPacket& copy, Nanos now) {
  Way& way = ways_[copy.endpoint];
  if (way.socket < 0) return false;
  EndpointCopies& copies = way.target.copies;
  if (!HasRoom(now)) {
    ++copies.over_rate;
    return true;
  }
  bool is_sent = false;
  if (way.is_erspan) {
    is_sent = SendFrame(&way, copy);
  } else {
    const std::string datagram = start_ + CopyText(program_.source, copy).substr(1);
    is_sent = send(way.socket, datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0;
  }
  ++(is_sent ? copies.sent : copies.failed);
  return true;
}

bool CopySender::SendFrame(Way* way, const CollectedPacket& copy) {
  const PacketValues packet = FieldsOf(copy);
  const size_t length = WriteCopyFrame(program_, packet, &frame_);
  std::array<uint8_t, kErspan2HeaderBytes> head;
  WriteErspan2Header(
      {way->sequence++, switch_id_, static_cast<uint32_t>(packet.value[kPktInputPort]),
       packet.value[kPktSize] > length},
      head.data());
  std::array<iovec, 2> parts = {{{head.data(), head.size()}, {frame_.data(), length}}};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return sendmsg(way->socket, &message, MSG_NOSIGNAL) >= 0;
}

std::vector<CopyTarget> CopySender::Targets() const {
  std::vector<CopyTarget> targets;
  for (const Way& way : ways_) {
    if (way.socket >= 0) targets.push_back(way.target);
  }
  return targets;
}

std::vector<EndpointCopies> CopySender::Counts() const {
  std::vector<EndpointCopies> counts;
  for (const Way& way : ways_) counts.push_back(way.target.copies);
  return counts;
}

}  // namespace trumpet
