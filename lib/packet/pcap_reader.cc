// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcap_reader.h"

#include <pcap/pcap.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace trumpet {

namespace {

std::string LinkTypeName(int link_type) {
  const char* name = pcap_datalink_val_to_name(link_type);
  return name != nullptr ? name : "number " + std::to_string(link_type);
}

// Takes over `file` if it succeeds.
Result<pcap*> OpenPcap(const std::string& name, CaptureFile* file) {
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap* capture =
      pcap_fopen_offline_with_tstamp_precision(file->get(), PCAP_TSTAMP_PRECISION_NANO, error);
  if (capture == nullptr) return Status::Error(name + ": not a readable capture: " + error);
  static_cast<void>(file->release());  // pcap_close() closes it
  const int link_type = pcap_datalink(capture);
  if (!LinkKindOf(link_type)) {
    pcap_close(capture);
    return Status::Error(name + ": link type " + LinkTypeName(link_type) +
                         " is not supported; known are " + KnownLinkTypes());
  }
  return capture;
}

// What the link-type word of a pcap file states, in bytes.
uint32_t PcapFcsBytes(pcap* capture) {
  const int extension = pcap_datalink_ext(capture);
  return LT_FCS_LENGTH_PRESENT(extension) ? 2 * LT_FCS_LENGTH(extension) : 0;
}

// libpcap gives pcapng files the version of that format, which is 1; pcap files have 2.
bool IsPcapng(pcap* capture) { return pcap_major_version(capture) == 1; }

// Captures often are; libpcap would call their format unknown.
const char* CompressorOf(const uint8_t* data, size_t size) {
  constexpr struct {
    const char* name;
    std::string_view begin;
  } kKinds[] = {
      {"gzip", "\x1f\x8b"}, {"xz", "\xfd\x37zXZ"}, {"zstd", "\x28\xb5\x2f\xfd"}, {"bzip2", "BZh"}};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& kind : kKinds) {
    if (text.substr(0, kind.begin.size()) == kind.begin) return kind.name;
  }
  return nullptr;
}

Status CannotRead(const std::string& path, int error) {
  return Status::Error(path + ": cannot be read: " + std::strerror(error));
}

// Leaves the file at its begin.
Status CheckNotCompressed(const std::string& name, std::FILE* file) {
  std::array<uint8_t, 8> begin;
  const size_t size = std::fread(begin.data(), 1, begin.size(), file);
  if (std::ferror(file) != 0) return CannotRead(name, errno);
  std::rewind(file);
  const char* compressor = CompressorOf(begin.data(), size);
  if (compressor == nullptr) return Status::Ok();
  return Status::Error(name + ": not a readable capture: it is compressed; decompress it first (" +
                       compressor + " -dc)");
}

}  // namespace

void PcapReader::Closer::operator()(pcap* capture) const { pcap_close(capture); }

PcapReader::PcapReader(std::string name, pcap* capture)
    : name_(std::move(name)),
      capture_(capture),
      fcs_bytes_(PcapFcsBytes(capture)),
      link_(LinkKindOf(pcap_datalink(capture)).value()) {}

Result<PcapReader> PcapReader::OpenFile(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0) return CannotRead(path, errno);
  if (!S_ISREG(facts.st_mode)) return Status::Error(path + ": is not a regular file");
  return Open(path, [&path] { return CaptureFile(std::fopen(path.c_str(), "rb")); });
}

Result<PcapReader> PcapReader::OpenImage(const std::string& name, const uint8_t* data,
                                         size_t size) {
  if (size == 0) return Status::Error(name + ": not a readable capture: it is empty");
  // Opened for reading only, so nothing is written through the pointer.
  return Open(
      name, [data, size] { return CaptureFile(fmemopen(const_cast<uint8_t*>(data), size, "rb")); });
}

Result<PcapReader> PcapReader::Open(const std::string& name,
                                    const std::function<CaptureFile()>& open) {
  CaptureFile file = open();
  if (file == nullptr) return CannotRead(name, errno);
  const Status not_compressed = CheckNotCompressed(name, file.get());
  if (!not_compressed.ok()) return not_compressed;
  const Result<pcap*> capture = OpenPcap(name, &file);
  if (!capture.ok()) return capture.status();
  PcapReader reader(name, *capture);
  if (IsPcapng(*capture)) {
    CaptureFile again = open();
    if (again == nullptr) return CannotRead(name, errno);
    reader.pcapng_.emplace(std::move(again));
  }
  return reader;
}

Status PcapReader::ErrorAt(const std::string& what) const {
  return Status::Error(name_ + ": packet " + std::to_string(frame_count_ + 1) + ": " + what);
}

Result<bool> PcapReader::Next(TimedFrame* frame) {
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int outcome = pcap_next_ex(capture_.get(), &header, &data);
  if (outcome == PCAP_ERROR_BREAK) return false;
  if (outcome != 1) return ErrorAt(pcap_geterr(capture_.get()));

  // The seconds of a pcap file are 32 bits without sign; libpcap reads them with one.
  const int64_t seconds = pcapng_ ? header->ts.tv_sec : static_cast<uint32_t>(header->ts.tv_sec);
  const int64_t nanos = header->ts.tv_usec;  // what the precision asked for makes of it
  if (nanos < 0 || nanos >= kNanosPerSecond) {
    return ErrorAt("the fraction of its time stamp is not below one second");
  }
  if (__builtin_mul_overflow(seconds, kNanosPerSecond, &frame->time) ||
      __builtin_add_overflow(frame->time, nanos, &frame->time)) {
    return ErrorAt("its time stamp lies outside of the years 1678 to 2262");
  }
  const uint32_t fcs_bytes = pcapng_ ? pcapng_->OfNextPacket() : fcs_bytes_;
  const uint32_t wire_length = header->len > fcs_bytes ? header->len - fcs_bytes : 0;
  frame->frame = link_.AsEthernet({data, std::min(header->caplen, wire_length), wire_length});
  ++frame_count_;
  return true;
}

}  // namespace trumpet
