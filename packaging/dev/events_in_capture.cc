// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Finds an event in a capture, with the libraries of libtrumpet-dev:
//
//   g++ -std=c++17 events_in_capture.cc -o events_in_capture $(pkg-config --cflags --libs trumpet)
//   ./events_in_capture '*, count(volume) > 1000, srcIP, 10ms' trace.pcap
//
// Prints each report as a line of JSON, as trumpet-replay does.

#include <cstdio>
#include <memory>
#include <string>

#include "lib/lang/event/event_language.h"
#include "lib/model/report.h"
#include "lib/packet/capture_merge.h"
#include "lib/tpm/offline_run.h"

using namespace trumpet;

namespace {

int Fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return Fail("usage: events_in_capture EVENT CAPTURE");

  auto event = ParseEventLine(argv[1], "event", RefuseMeasured);
  if (!event.ok()) return Fail(event.message());
  event->id = 1;
  event->name = "event";
  event->max_buckets = 1u << 20;

  auto captures = CaptureMerge::Open({argv[2]});
  if (!captures.ok()) return Fail(captures.message());
  OfflineOptions options;
  options.frame_count = captures->frame_count();

  const auto next_frame = [&captures](Nanos* time, Frame* frame) {
    TimedFrame timed;
    Result<bool> has_frame = captures->Next(&timed);
    *time = timed.time;
    *frame = timed.frame;
    return has_frame;
  };
  const auto print = [](const Report& report) {
    std::puts(ToJsonLine(report).c_str());
    return Status::Ok();
  };
  const auto plan = std::make_shared<const TriggerPlan>(MakeTriggerPlan(*event));
  const auto summary = RunOffline({plan}, options, next_frame, print);
  return summary.ok() ? 0 : Fail(summary.message());
}
