// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/trace_codec.h"

#include "lib/model/slice_spec.h"
#include "lib/wire/limits.h"
#include "lib/wire/message.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {

static_assert(pb::CAPABILITY_TRACES == kCapabilityTraces);
static_assert(pb::CAPABILITY_TRACE_COUNTERS == kCapabilityTraceCounters);
static_assert(pb::CAPABILITY_TRACE_SENT == kCapabilityTraceSent);
static_assert(pb::TraceRequest::WHAT_APP == static_cast<int>(TraceWhat::kApp) + 1);
static_assert(pb::TraceRequest::PACKETS_WHOLE == static_cast<int>(TracePackets::kWhole) + 1);

bool Check(const pb::TraceRequest& request, const Place& place, Checker* checker) {
  if (!checker->Enum(place, "what", request.what(), pb::TraceRequest::WHAT_APP) ||
      !checker->Enum(place, "packets", request.packets(), pb::TraceRequest::PACKETS_WHOLE) ||
      !checker->Count(place, "words", static_cast<size_t>(request.words_size()), kMaxTraceWords)) {
    return false;
  }
  for (int i = 0; i < request.words_size(); ++i) {
    const Place at(place, "words", i);
    const pb::TraceWord& word = request.words(i);
    if (!checker->Name(at, "name", word.name()) ||
        !checker->Text(at, "value", word.value(), kMaxLongTextBytes)) {
      return false;
    }
  }
  return true;
}

bool Check(const pb::TraceAnswer& answer, const Place& place, Checker* checker) {
  if (!checker->Count(place, "records", static_cast<size_t>(answer.records_size()),
                      kMaxTraceRecords) ||
      !checker->Text(place, "error", answer.error(), kMaxLongTextBytes)) {
    return false;
  }
  // Beside records it says what is missing.
  if (answer.is_wrong() && (answer.records_size() > 0 || answer.has_more())) {
    return checker->Fail(Place(place, "is_wrong"), "stands with records");
  }
  if (answer.is_wrong() && answer.error().empty()) {
    return checker->Fail(Place(place, "is_wrong"), "stands without an error");
  }
  for (int i = 0; i < answer.records_size(); ++i) {
    const Place at(place, "records", i);
    if (!checker->Text(at, "text", answer.records(i).text(), kMaxTraceTextBytes)) return false;
  }
  return true;
}

bool Check(const pb::TraceCancel&, const Place&, Checker*) { return true; }

bool Check(const pb::TraceNetwork& network, const Place& place, Checker* checker) {
  return checker->Range(place, "part", network.part(), 0, kMaxNetworkParts - 1) &&
         checker->Count(place, "text", network.text().size(), kMaxNetworkPartBytes);
}

bool Check(const pb::TraceCounters& counters, const Place& place, Checker* checker) {
  return checker->Range(place, "part", counters.part(), 0, kMaxNetworkParts - 1) &&
         checker->Count(place, "text", counters.text().size(), kMaxNetworkPartBytes);
}

bool Check(const pb::TraceSent& sent, const Place& place, Checker* checker) {
  return checker->Range(place, "switch_number", sent.switch_number(), 0, kMaxSwitchNumber) &&
         checker->Range(place, "asked_ago_ns", sent.asked_ago_ns(), 0, kMaxAskedAgo);
}

void Write(const TraceRequest& request, pb::TraceRequest* out) {
  out->set_number(request.number);
  out->set_what(static_cast<pb::TraceRequest::What>(static_cast<int>(request.what) + 1));
  out->set_packets(static_cast<pb::TraceRequest::Packets>(static_cast<int>(request.packets) + 1));
  for (const TraceWord& word : request.words) {
    pb::TraceWord* const one = out->add_words();
    one->set_name(word.name);
    one->set_value(word.value);
  }
}

void Write(const TraceAnswer& answer, pb::TraceAnswer* out) {
  out->set_number(answer.number);
  for (const TraceRecord& record : answer.records) {
    pb::TraceRecord* const one = out->add_records();
    one->set_start_ns(record.start);
    one->set_id(record.id);
    one->set_text(record.text);
  }
  out->set_has_more(answer.has_more);
  out->set_files(answer.files);
  out->set_traces(answer.traces);
  out->set_bytes(answer.bytes);
  out->set_left_out(answer.left_out);
  out->set_error(answer.error);
  out->set_is_wrong(answer.is_wrong);
}

void Write(const TraceCancel& cancel, pb::TraceCancel* out) { out->set_number(cancel.number); }

void Write(const TraceNetwork& network, pb::TraceNetwork* out) {
  out->set_part(network.part);
  out->set_is_last(network.is_last);
  out->set_text(network.text);
}

void Write(const TraceCounters& counters, pb::TraceCounters* out) {
  out->set_part(counters.part);
  out->set_is_last(counters.is_last);
  out->set_text(counters.text);
}

void Write(const TraceSent& sent, pb::TraceSent* out) {
  out->set_switch_number(sent.switch_number);
  out->set_sent(sent.sent);
  out->set_asked_ago_ns(static_cast<uint64_t>(sent.asked_ago));
}

TraceRequest Read(const pb::TraceRequest& in) {
  TraceRequest request{in.number(),
                       static_cast<TraceWhat>(in.what() - 1),
                       static_cast<TracePackets>(in.packets() - 1),
                       {}};
  for (const pb::TraceWord& word : in.words()) {
    request.words.push_back({word.name(), word.value()});
  }
  return request;
}

TraceAnswer Read(const pb::TraceAnswer& in) {
  TraceAnswer answer;
  answer.number = in.number();
  for (const pb::TraceRecord& record : in.records()) {
    answer.records.push_back({record.start_ns(), record.id(), record.text()});
  }
  answer.has_more = in.has_more();
  answer.files = in.files();
  answer.traces = in.traces();
  answer.bytes = in.bytes();
  answer.left_out = in.left_out();
  answer.error = in.error();
  answer.is_wrong = in.is_wrong();
  return answer;
}

TraceCancel Read(const pb::TraceCancel& in) { return {in.number()}; }

TraceNetwork Read(const pb::TraceNetwork& in) { return {in.part(), in.is_last(), in.text()}; }

TraceSent Read(const pb::TraceSent& in) {
  return {static_cast<uint16_t>(in.switch_number()), in.sent(),
          static_cast<Nanos>(in.asked_ago_ns())};
}

TraceCounters Read(const pb::TraceCounters& in) { return {in.part(), in.is_last(), in.text()}; }

}  // namespace trumpet
