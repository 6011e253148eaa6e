// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/capture_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trumpet {

namespace {

constexpr size_t kReadBytes = 1024 * 1024;

Status CannotRead(const std::string& name) {
  return Status::Error(name + ": cannot be read: " + std::strerror(errno));
}

// Reads `descriptor` to its end.
Status ReadAll(const std::string& name, int descriptor, std::vector<uint8_t>* bytes) {
  size_t size = 0;
  for (;;) {
    bytes->resize(size + kReadBytes);
    const ssize_t count = read(descriptor, bytes->data() + size, kReadBytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(name);
    size += static_cast<size_t>(count);
    bytes->resize(size);
    if (count == 0) return Status::Ok();
  }
}

Status ReadPipe(const std::string& path, std::vector<uint8_t>* bytes) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return CannotRead(path);
  Status status = ReadAll(path, descriptor, bytes);
  close(descriptor);
  return status;
}

}  // namespace

Result<CaptureSource> CaptureSource::Open(const std::string& path, CaptureOrder order) {
  CaptureSource source;
  source.name_ = path;
  Status status = Status::Ok();
  if (path == "-") {
    source.name_ = "standard input";
    source.is_file_ = false;
    status = ReadAll(source.name_, STDIN_FILENO, &source.image_);
  } else {
    struct stat facts;
    if (stat(path.c_str(), &facts) != 0) return CannotRead(path);
    source.is_file_ = S_ISREG(facts.st_mode);
    if (!source.is_file_) status = ReadPipe(path, &source.image_);
  }
  bool is_in_order = true;
  if (status.ok()) status = source.Validate(&is_in_order);
  if (status.ok() && !is_in_order && order == CaptureOrder::kByTime) {
    status = source.SortInMemory();
  }
  if (!status.ok()) return status;
  if (source.is_sorted_) source.image_ = {};
  return source;
}

Result<PcapReader> CaptureSource::OpenReader() const {
  if (is_file_) return PcapReader::OpenFile(name_);
  return PcapReader::OpenImage(name_, image_.data(), image_.size());
}

// Reads all frames once, for their number, their times and what is wrong with them.
Status CaptureSource::Validate(bool* is_in_order) {
  Result<PcapReader> reader = OpenReader();
  if (!reader.ok()) return reader.status();
  *is_in_order = true;
  TimedFrame frame;
  for (;;) {
    const Result<bool> has_frame = reader->Next(&frame);
    if (!has_frame.ok()) return has_frame.status();
    if (!*has_frame) break;
    if (frame_count_ == 0) first_time_ = last_time_ = frame.time;
    if (frame.time < last_time_) *is_in_order = false;
    first_time_ = std::min(first_time_, frame.time);
    last_time_ = std::max(last_time_, frame.time);
    ++frame_count_;
  }
  return Status::Ok();
}

Status CaptureSource::SortInMemory() {
  Result<PcapReader> reader = OpenReader();
  if (!reader.ok()) return reader.status();
  TimedFrame timed;
  for (;;) {
    const Result<bool> has_frame = reader->Next(&timed);
    if (!has_frame.ok()) return has_frame.status();
    if (!*has_frame) break;
    const Frame& frame = timed.frame;
    frames_.push_back({timed.time, frame_bytes_.size(), frame.captured_length, frame.wire_length});
    frame_bytes_.insert(frame_bytes_.end(), frame.data, frame.data + frame.captured_length);
  }
  std::stable_sort(frames_.begin(), frames_.end(),
                   [](const StoredFrame& a, const StoredFrame& b) { return a.time < b.time; });
  is_sorted_ = true;
  return Status::Ok();
}

TimedFrame CaptureSource::Stored(size_t index) const {
  const StoredFrame& stored = frames_[index];
  return {stored.time,
          {frame_bytes_.data() + stored.offset, stored.captured_length, stored.wire_length}};
}

Result<bool> CaptureSource::Next(TimedFrame* frame) {
  if (is_sorted_) {
    if (next_frame_ == frames_.size()) return false;
    *frame = Stored(next_frame_++);
    return true;
  }
  if (is_exhausted_) return false;
  // Opened only when it is this capture's turn, so that a long row of captures
  // does not hold a descriptor each.
  if (!reader_.has_value()) {
    Result<PcapReader> reader = OpenReader();
    if (!reader.ok()) return reader.status();
    reader_ = std::move(*reader);
  }
  Result<bool> has_frame = reader_->Next(frame);
  if (has_frame.ok() && !*has_frame) {
    is_exhausted_ = true;
    reader_.reset();
  }
  return has_frame;
}

}  // namespace trumpet
