// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcapng_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace trumpet {
namespace {

constexpr uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr uint32_t kInterfaceDescription = 1;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr uint16_t kLinkEthernet = 1;
constexpr uint16_t kLinkRawIp = 101;
constexpr uint16_t kOptionEnd = 0;
constexpr uint16_t kOptionComment = 1;
constexpr uint16_t kOptionName = 2;
constexpr uint16_t kOptionTimeResolution = 9;
constexpr char kNanoseconds = 9;
constexpr size_t kMaxOptionBytes = 1024;

// Numbers stand in the byte order of the host, as the format has it.
template <typename Number>
void Put(Number value, std::string* body) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  body->append(bytes, sizeof value);
}

void Pad(std::string* body) { body->append((4 - body->size() % 4) % 4, '\0'); }

void PutOption(uint16_t code, std::string_view value, std::string* body) {
  value = value.substr(0, kMaxOptionBytes);
  Put(code, body);
  Put(static_cast<uint16_t>(value.size()), body);
  body->append(value);
  Pad(body);
}

Status CannotWrite(const std::string& path) {
  return Status::Error("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

Result<PcapngWriter> PcapngWriter::Create(const std::string& path, const std::string& comment) {
  const std::string fresh = path + ".part";
  const int descriptor = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* const file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (file == nullptr) {
    Status status = CannotWrite(path);
    if (descriptor >= 0) close(descriptor);
    return status;
  }
  PcapngWriter writer(path, file);
  std::string body;
  Put(kByteOrderMagic, &body);
  Put(uint16_t{1}, &body);
  Put(uint16_t{0}, &body);
  Put(~uint64_t{0}, &body);  // the section's length is not said
  PutOption(kOptionComment, comment, &body);
  PutOption(kOptionEnd, "", &body);
  writer.WriteBlock(kSectionHeader, std::move(body));
  return writer;
}

PcapngWriter::~PcapngWriter() {
  if (file_ != nullptr) unlink(FreshPath().c_str());
}

uint32_t PcapngWriter::AddInterface(const std::string& name, const std::string& comment,
                                    bool is_ethernet) {
  std::string body;
  Put(is_ethernet ? kLinkEthernet : kLinkRawIp, &body);
  Put(uint16_t{0}, &body);
  Put(uint32_t{0}, &body);  // no limit of bytes
  PutOption(kOptionName, name, &body);
  PutOption(kOptionComment, comment, &body);
  PutOption(kOptionTimeResolution, std::string_view(&kNanoseconds, 1), &body);
  PutOption(kOptionEnd, "", &body);
  WriteBlock(kInterfaceDescription, std::move(body));
  return interface_count_++;
}

void PcapngWriter::AddPacket(uint32_t interface, Nanos time, std::string_view bytes,
                             uint32_t wire_bytes) {
  std::string body;
  body.reserve(24 + bytes.size());
  const auto ticks = static_cast<uint64_t>(time);
  Put(interface, &body);
  Put(static_cast<uint32_t>(ticks >> 32), &body);
  Put(static_cast<uint32_t>(ticks), &body);
  Put(static_cast<uint32_t>(bytes.size()), &body);
  Put(wire_bytes, &body);
  body.append(bytes);
  WriteBlock(kEnhancedPacket, std::move(body));
}

void PcapngWriter::WriteBlock(uint32_t type, std::string body) {
  Pad(&body);
  const auto length = static_cast<uint32_t>(body.size() + 12);
  std::string block;
  block.reserve(length);
  Put(type, &block);
  Put(length, &block);
  block += body;
  Put(length, &block);
  std::fwrite(block.data(), 1, block.size(), file_.get());  // Close() sees what went wrong
  bytes_written_ += length;
}

Status PcapngWriter::Close() {
  const bool is_written = std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0;
  if (!is_written || std::rename(FreshPath().c_str(), path_.c_str()) != 0) {
    return CannotWrite(path_);  // the destructor takes the rest away
  }
  file_.reset();
  return Status::Ok();
}

}  // namespace trumpet
