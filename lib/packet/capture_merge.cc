// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/capture_merge.h"

#include <algorithm>
#include <utility>

namespace trumpet {

Result<CaptureMerge> CaptureMerge::Open(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    return Status::Error("standard input (-) is given twice; it can be read only once");
  }
  CaptureMerge merge;
  for (size_t i = 0; i < paths.size(); ++i) {
    Result<CaptureSource> source = CaptureSource::Open(paths[i]);
    if (!source.ok()) return source.status();
    if (source->frame_count() > 0) merge.Add(std::move(*source), i);
  }
  return merge;
}

void CaptureMerge::Add(CaptureSource source, size_t argument) {
  const bool is_first = frame_count_ == 0;
  first_time_ = is_first ? source.first_time() : std::min(first_time_, source.first_time());
  last_time_ = is_first ? source.last_time() : std::max(last_time_, source.last_time());
  frame_count_ += source.frame_count();
  Push({source.first_time(), streams_.size()});
  streams_.push_back({std::move(source), TimedFrame(), false, argument});
}

bool CaptureMerge::IsLater(const Head& a, const Head& b) {
  return a.time != b.time ? a.time > b.time : a.stream > b.stream;
}

void CaptureMerge::Push(const Head& head) {
  heads_.push_back(head);
  std::push_heap(heads_.begin(), heads_.end(), IsLater);
}

CaptureMerge::Head CaptureMerge::Pop() {
  std::pop_heap(heads_.begin(), heads_.end(), IsLater);
  const Head head = heads_.back();
  heads_.pop_back();
  return head;
}

Result<bool> CaptureMerge::Advance(size_t stream) {
  Result<bool> outcome = streams_[stream].source.Next(&streams_[stream].frame);
  streams_[stream].has_frame = outcome.ok() && *outcome;
  return outcome;
}

Result<bool> CaptureMerge::Next(TimedFrame* frame) {
  // Only now: reading on overwrites what the caller held until this call.
  if (borrowed_.has_value()) {
    const size_t stream = *std::exchange(borrowed_, std::nullopt);
    const Result<bool> outcome = Advance(stream);
    if (!outcome.ok()) return outcome.status();
    if (*outcome) Push({streams_[stream].frame.time, stream});
  }
  while (!heads_.empty()) {
    const Head head = Pop();
    Stream& stream = streams_[head.stream];
    if (!stream.has_frame) {
      const Result<bool> outcome = Advance(head.stream);
      if (!outcome.ok()) return outcome.status();
      if (!*outcome) continue;
    }
    *frame = stream.frame;
    borrowed_ = head.stream;
    return true;
  }
  return false;
}

}  // namespace trumpet
