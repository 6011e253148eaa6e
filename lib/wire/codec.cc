// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/codec.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "lib/wire/check.h"
#include "lib/wire/count_codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/order_codec.h"
#include "lib/wire/partials_reader.h"
#include "lib/wire/place_codec.h"
#include "lib/wire/program_codec.h"
#include "lib/wire/slice_codec.h"
#include "lib/wire/trace_codec.h"
#include "lib/wire/trigger_codec.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

constexpr const char* kKindNames[kMessageKindCount] = {
    "hello",
    "hello_reply",
    "refusal",
    "keep_alive",
    "bye",
    "trigger_set",
    "trigger_ack",
    "host_facts",
    "poll",
    "poll_reply",
    "report",
    "partials",
    "flow_states",
    "interval_end",
    "host_place",
    "expect_slices",
    "tally_request",
    "slice_tallies",
    "finish_run",
    "run_answer",
    "packets_request",
    "packet_records",
    "slice_on",
    "slice_off",
    "slice_ack",
    "slice_end",
    "packet_file_request",
    "packet_file_piece",
    "program_on",
    "program_off",
    "program_ack",
    "program_list",
    "cells_request",
    "cells_answer",
    "program_counts",
    "trace_counters",
    "trace_request",
    "trace_answer",
    "trace_cancel",
    "trace_network",
};

static_assert(pb::Frame::kHello == static_cast<int>(MessageKind::kHello) + 1);
static_assert(pb::Frame::kBye == static_cast<int>(MessageKind::kBye) + 1);
static_assert(pb::Frame::kHostFacts == static_cast<int>(MessageKind::kHostFacts) + 1);
static_assert(pb::Frame::kReport == static_cast<int>(MessageKind::kReport) + 1);
static_assert(pb::Frame::kIntervalEnd == static_cast<int>(MessageKind::kIntervalEnd) + 1);
static_assert(pb::Frame::kHostPlace == static_cast<int>(MessageKind::kHostPlace) + 1);

// The kinds up to kHostPlace are numbered from 1, those of slices in the datapath from 40, those of
// analyzers from 50, those of measurement programs from 70, those of files from 80, and those of
// traces from 88 and 90.
constexpr size_t KindOfBody(int number) {
  const auto from = [number](int first, MessageKind kind) {
    return static_cast<size_t>(number - first) + static_cast<size_t>(kind);
  };
  return number < pb::Frame::kSliceOn        ? from(pb::Frame::kHello, MessageKind::kHello)
         : number < pb::Frame::kExpectSlices ? from(pb::Frame::kSliceOn, MessageKind::kSliceOn)
         : number < pb::Frame::kProgramOn
             ? from(pb::Frame::kExpectSlices, MessageKind::kExpectSlices)
         : number < pb::Frame::kPacketFileRequest
             ? from(pb::Frame::kProgramOn, MessageKind::kProgramOn)
         : number < pb::Frame::kTraceCounters
             ? from(pb::Frame::kPacketFileRequest, MessageKind::kPacketFileRequest)
         : number < pb::Frame::kTraceRequest
             ? from(pb::Frame::kTraceCounters, MessageKind::kTraceCounters)
             : from(pb::Frame::kTraceRequest, MessageKind::kTraceRequest);
}
static_assert(KindOfBody(pb::Frame::kSliceEnd) == static_cast<size_t>(MessageKind::kSliceEnd));
static_assert(KindOfBody(pb::Frame::kPacketRecords) ==
              static_cast<size_t>(MessageKind::kPacketRecords));
static_assert(KindOfBody(pb::Frame::kPacketFilePiece) ==
              static_cast<size_t>(MessageKind::kPacketFilePiece));
static_assert(KindOfBody(pb::Frame::kTraceNetwork) ==
              static_cast<size_t>(MessageKind::kTraceNetwork));
static_assert(KindOfBody(pb::Frame::kProgramCounts) ==
              static_cast<size_t>(MessageKind::kProgramCounts));

// Calls `visit` with the message that the frame holds; false if there is none.
template <typename Visitor>
bool VisitBody(const pb::Frame& frame, const Visitor& visit) {
  switch (frame.body_case()) {
    case pb::Frame::kHello:
      return visit(frame.hello());
    case pb::Frame::kHelloReply:
      return visit(frame.hello_reply());
    case pb::Frame::kRefusal:
      return visit(frame.refusal());
    case pb::Frame::kKeepAlive:
      return visit(frame.keep_alive());
    case pb::Frame::kBye:
      return visit(frame.bye());
    case pb::Frame::kTriggerSet:
      return visit(frame.trigger_set());
    case pb::Frame::kTriggerAck:
      return visit(frame.trigger_ack());
    case pb::Frame::kHostFacts:
      return visit(frame.host_facts());
    case pb::Frame::kPoll:
      return visit(frame.poll());
    case pb::Frame::kPollReply:
      return visit(frame.poll_reply());
    case pb::Frame::kReport:
      return visit(frame.report());
    case pb::Frame::kPartials:
      return visit(frame.partials());
    case pb::Frame::kFlowStates:
      return visit(frame.flow_states());
    case pb::Frame::kIntervalEnd:
      return visit(frame.interval_end());
    case pb::Frame::kHostPlace:
      return visit(frame.host_place());
    case pb::Frame::kExpectSlices:
      return visit(frame.expect_slices());
    case pb::Frame::kTallyRequest:
      return visit(frame.tally_request());
    case pb::Frame::kSliceTallies:
      return visit(frame.slice_tallies());
    case pb::Frame::kFinishRun:
      return visit(frame.finish_run());
    case pb::Frame::kRunAnswer:
      return visit(frame.run_answer());
    case pb::Frame::kPacketsRequest:
      return visit(frame.packets_request());
    case pb::Frame::kPacketRecords:
      return visit(frame.packet_records());
    case pb::Frame::kSliceOn:
      return visit(frame.slice_on());
    case pb::Frame::kSliceOff:
      return visit(frame.slice_off());
    case pb::Frame::kSliceAck:
      return visit(frame.slice_ack());
    case pb::Frame::kSliceEnd:
      return visit(frame.slice_end());
    case pb::Frame::kPacketFileRequest:
      return visit(frame.packet_file_request());
    case pb::Frame::kPacketFilePiece:
      return visit(frame.packet_file_piece());
    case pb::Frame::kProgramOn:
      return visit(frame.program_on());
    case pb::Frame::kProgramOff:
      return visit(frame.program_off());
    case pb::Frame::kProgramAck:
      return visit(frame.program_ack());
    case pb::Frame::kProgramList:
      return visit(frame.program_list());
    case pb::Frame::kCellsRequest:
      return visit(frame.cells_request());
    case pb::Frame::kCellsAnswer:
      return visit(frame.cells_answer());
    case pb::Frame::kProgramCounts:
      return visit(frame.program_counts());
    case pb::Frame::kTraceCounters:
      return visit(frame.trace_counters());
    case pb::Frame::kTraceRequest:
      return visit(frame.trace_request());
    case pb::Frame::kTraceAnswer:
      return visit(frame.trace_answer());
    case pb::Frame::kTraceCancel:
      return visit(frame.trace_cancel());
    case pb::Frame::kTraceNetwork:
      return visit(frame.trace_network());
    case pb::Frame::BODY_NOT_SET:
      break;
  }
  return false;
}

struct BodyWriter {
  pb::Frame* frame;

  void operator()(const Hello& hello) const { Write(hello, frame->mutable_hello()); }
  void operator()(const HelloReply& reply) const { Write(reply, frame->mutable_hello_reply()); }
  void operator()(const Refusal& refusal) const { Write(refusal, frame->mutable_refusal()); }
  void operator()(const KeepAlive& alive) const { Write(alive, frame->mutable_keep_alive()); }
  void operator()(const Bye& bye) const { Write(bye, frame->mutable_bye()); }
  void operator()(const TriggerSet& set) const { Write(set, frame->mutable_trigger_set()); }
  void operator()(const TriggerAck& ack) const { Write(ack, frame->mutable_trigger_ack()); }
  void operator()(const HostFacts& facts) const { Write(facts, frame->mutable_host_facts()); }
  void operator()(const Poll& poll) const { Write(poll, frame->mutable_poll()); }
  void operator()(const PollReply& reply) const { Write(reply, frame->mutable_poll_reply()); }
  void operator()(const HostReport& report) const { Write(report, frame->mutable_report()); }
  void operator()(const Partials& partials) const { Write(partials, frame->mutable_partials()); }
  void operator()(const FlowStates& states) const { Write(states, frame->mutable_flow_states()); }
  void operator()(const IntervalEnd& end) const { Write(end, frame->mutable_interval_end()); }
  void operator()(const HostPlacePart& part) const { Write(part, frame->mutable_host_place()); }
  void operator()(const ExpectSlices& body) const { Write(body, frame->mutable_expect_slices()); }
  void operator()(const TallyRequest& body) const { Write(body, frame->mutable_tally_request()); }
  void operator()(const SliceTallies& body) const { Write(body, frame->mutable_slice_tallies()); }
  void operator()(const FinishRun& body) const { Write(body, frame->mutable_finish_run()); }
  void operator()(const RunAnswer& body) const { Write(body, frame->mutable_run_answer()); }
  void operator()(const PacketsRequest& body) const {
    Write(body, frame->mutable_packets_request());
  }
  void operator()(const PacketRecords& body) const { Write(body, frame->mutable_packet_records()); }
  void operator()(const SliceOn& body) const { Write(body, frame->mutable_slice_on()); }
  void operator()(const SliceOff& body) const { Write(body, frame->mutable_slice_off()); }
  void operator()(const SliceAck& body) const { Write(body, frame->mutable_slice_ack()); }
  void operator()(const HostSliceEnd& body) const { Write(body, frame->mutable_slice_end()); }
  void operator()(const PacketFileRequest& body) const {
    Write(body, frame->mutable_packet_file_request());
  }
  void operator()(const PacketFilePiece& body) const {
    Write(body, frame->mutable_packet_file_piece());
  }
  void operator()(const ProgramOn& body) const { Write(body, frame->mutable_program_on()); }
  void operator()(const ProgramOff& body) const { Write(body, frame->mutable_program_off()); }
  void operator()(const ProgramAck& body) const { Write(body, frame->mutable_program_ack()); }
  void operator()(const ProgramList& body) const { Write(body, frame->mutable_program_list()); }
  void operator()(const CellsRequest& body) const { Write(body, frame->mutable_cells_request()); }
  void operator()(const CellsAnswer& body) const { Write(body, frame->mutable_cells_answer()); }
  void operator()(const ProgramCounts& body) const { Write(body, frame->mutable_program_counts()); }
  void operator()(const TraceCounters& body) const { Write(body, frame->mutable_trace_counters()); }
  void operator()(const TraceRequest& body) const { Write(body, frame->mutable_trace_request()); }
  void operator()(const TraceAnswer& body) const { Write(body, frame->mutable_trace_answer()); }
  void operator()(const TraceCancel& body) const { Write(body, frame->mutable_trace_cancel()); }
  void operator()(const TraceNetwork& body) const { Write(body, frame->mutable_trace_network()); }
};

bool CheckFrame(const pb::Frame& frame, Checker* checker) {
  if (frame.body_case() == pb::Frame::BODY_NOT_SET) {
    return checker->Fail(Place("frame"), "holds no message that is known");
  }
  const Place place(kKindNames[KindOfBody(frame.body_case())]);
  return VisitBody(frame, [&](const auto& body) { return Check(body, place, checker); });
}

// One for each message: protobuf's objects come and go with it, those of a small one without any
// other memory, the others in a few large blocks.
class FrameHolder {
 public:
  FrameHolder()
      : arena_(Options(first_block_, sizeof first_block_)),
        frame_(google::protobuf::Arena::CreateMessage<pb::Frame>(&arena_)) {}
  FrameHolder(const FrameHolder&) = delete;
  FrameHolder& operator=(const FrameHolder&) = delete;
  pb::Frame& frame() { return *frame_; }

 private:
  static google::protobuf::ArenaOptions Options(char* first_block, size_t bytes) {
    google::protobuf::ArenaOptions options;
    options.initial_block = first_block;
    options.initial_block_size = bytes;
    options.start_block_size = 4096;
    options.max_block_size = 64 * 1024;
    return options;
  }

  alignas(8) char first_block_[2048];
  google::protobuf::Arena arena_;
  pb::Frame* frame_;
};

size_t EncodedBytes(const Message& message) {
  FrameHolder holder;
  std::visit(BodyWriter{&holder.frame()}, message);
  return holder.frame().ByteSizeLong();
}

// Room beside the elements of a list: the frame's head and what else the message has.
constexpr size_t kElementHeadBytes = 8;  // tag and length of an element

}  // namespace

const char* MessageKindName(MessageKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

Result<Message> DecodeMessage(std::string_view bytes) {
  Partials partials;
  if (ReadPartialsFrame(bytes, &partials)) return Message(std::move(partials));
  return DecodeByProtobuf(bytes);
}

Result<Message> DecodeByProtobuf(std::string_view bytes) {
  FrameHolder holder;
  if (bytes.size() > INT_MAX ||
      !holder.frame().ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Status::Error("frame of " + std::to_string(bytes.size()) +
                         " bytes is no protobuf message of this protocol");
  }
  Checker checker;
  if (!CheckFrame(holder.frame(), &checker)) return Status::Error(checker.error());
  std::optional<Message> message;
  VisitBody(holder.frame(), [&](const auto& body) {
    message = Read(body);
    return true;
  });
  return std::move(*message);
}

namespace {

Status TooLong(const std::string& what, size_t bytes, size_t max_bytes) {
  return Status::Error(what + " takes " + std::to_string(bytes) + " bytes; at most " +
                       std::to_string(max_bytes) + " are allowed");
}

// Behind what the frame says itself: changes are the last field of a set.
Status AppendChanges(const TriggerSet& set, const pb::TriggerSet& head, size_t max_bytes,
                     std::string* frame) {
  using google::protobuf::io::CodedOutputStream;
  if (set.changes.size() + set.encoded_changes.size() > kMaxTriggerChanges) {
    return Status::Error("trigger_set.changes has more than " + std::to_string(kMaxTriggerChanges) +
                         " elements");
  }
  const size_t head_bytes = head.ByteSizeLong();
  size_t bytes = head_bytes;
  for (const auto& change : set.encoded_changes) bytes += change->size();
  if (bytes + kElementHeadBytes > max_bytes) return TooLong("trigger_set", bytes, max_bytes);
  uint8_t tag[kElementHeadBytes];
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray(pb::Frame::kTriggerSet << 3 | 2, tag);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(bytes), end);
  frame->reserve(frame->size() + kElementHeadBytes + bytes);
  frame->append(reinterpret_cast<const char*>(tag), static_cast<size_t>(end - tag));
  const size_t at = frame->size();
  frame->resize(at + head_bytes);
  head.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(&(*frame)[at]));
  for (const auto& change : set.encoded_changes) frame->append(*change);
  return Status::Ok();
}

}  // namespace

Status EncodeMessage(const Message& message, size_t max_bytes, std::string* frame) {
  FrameHolder holder;
  std::visit(BodyWriter{&holder.frame()}, message);
  Checker checker;
  if (!CheckFrame(holder.frame(), &checker)) return Status::Error(checker.error());
  const auto* const set = std::get_if<TriggerSet>(&message);
  if (set != nullptr && !set->encoded_changes.empty()) {
    return AppendChanges(*set, holder.frame().trigger_set(), max_bytes, frame);
  }
  const size_t size = holder.frame().ByteSizeLong();
  if (size > max_bytes) return TooLong(MessageKindName(KindOf(message)), size, max_bytes);
  const size_t at = frame->size();
  frame->resize(at + size);
  holder.frame().SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(&(*frame)[at]));
  return Status::Ok();
}

Result<std::string> EncodeTriggerChange(const TriggerChange& change) {
  FrameHolder holder;
  pb::TriggerSet* const set = holder.frame().mutable_trigger_set();
  TriggerSet one;
  one.generation = 2;
  one.base_generation = 1;  // only a change to a base may remove
  one.changes.push_back(change);
  Write(one, set);
  Checker checker;
  if (!CheckFrame(holder.frame(), &checker)) return Status::Error(checker.error());
  set->set_generation(0);
  set->set_base_generation(0);
  set->set_is_last(false);
  return set->SerializeAsString();
}

namespace {

// Cuts lists of elements into parts.  Each element's size is known; a part is closed when the next
// one would not fit.
class Parts {
 public:
  Parts(size_t head_bytes, size_t max_bytes)
      : head_bytes_(head_bytes), max_bytes_(max_bytes), used_(head_bytes) {}

  bool Fits(size_t element_bytes) const { return used_ + element_bytes <= max_bytes_; }
  bool FitsAlone(size_t element_bytes) const { return head_bytes_ + element_bytes <= max_bytes_; }
  void Take(size_t element_bytes) { used_ += element_bytes; }
  void Begin() { used_ = head_bytes_; }

 private:
  const size_t head_bytes_;
  const size_t max_bytes_;
  size_t used_;
};

std::string NameOf(const TriggerChange& change) {
  return change.put ? "event '" + change.put->event.name + "'" : "removal of an event";
}

// The size of a message with this one element, which is more than the element adds to another.
size_t BytesOf(const TriggerChange& change) {
  TriggerSet set;
  set.generation = set.base_generation = UINT64_MAX;
  set.changes.push_back(change);
  return EncodedBytes(set);
}

size_t BytesOf(const Bridge& bridge) {
  HostFacts facts;
  facts.bridges.push_back(bridge);
  return EncodedBytes(facts);
}

size_t BytesOf(const Port& port) {
  HostFacts facts;
  facts.ports.push_back(port);
  return EncodedBytes(facts);
}

constexpr size_t kHeadBytes = 64;  // of a part: numbers, tags and lengths

// Collects HostFacts part by part.
class FactsParts {
 public:
  explicit FactsParts(size_t head_bytes, size_t max_bytes) : parts_(head_bytes, max_bytes) {}

  template <typename Element>
  void Add(Element&& element, std::vector<std::decay_t<Element>> HostFacts::*list) {
    const size_t bytes = BytesOf(element);
    if (!parts_.Fits(bytes)) {
      done_.push_back(std::move(part_));
      part_ = HostFacts();
      parts_.Begin();
    }
    (part_.*list).push_back(std::forward<Element>(element));
    parts_.Take(bytes);
  }

  void SetIds(std::vector<KeyValue> ids) { part_.external_ids = std::move(ids); }

  std::vector<HostFacts> Finish() {
    done_.push_back(std::move(part_));
    for (size_t i = 0; i < done_.size(); ++i) {
      done_[i].part = static_cast<uint32_t>(i);
      done_[i].is_last = i + 1 == done_.size();
    }
    return std::move(done_);
  }

 private:
  Parts parts_;
  HostFacts part_;
  std::vector<HostFacts> done_;
};

}  // namespace

Status SplitTriggerSet(TriggerSet set, size_t max_bytes, const SendMessage& send) {
  if (set.changes.size() > kMaxTriggerChanges) {
    return Status::Error("a trigger set has " + std::to_string(set.changes.size()) +
                         " changes; at most " + std::to_string(kMaxTriggerChanges) +
                         " are allowed");
  }
  std::vector<size_t> bytes;
  bytes.reserve(set.changes.size());
  Parts parts(kHeadBytes, max_bytes);
  for (const TriggerChange& change : set.changes) {
    bytes.push_back(BytesOf(change));
    if (!parts.FitsAlone(bytes.back())) return TooLong(NameOf(change), bytes.back(), max_bytes);
  }
  TriggerSet part;
  part.generation = set.generation;
  part.base_generation = set.base_generation;
  part.is_last = false;
  for (size_t i = 0; i < set.changes.size(); ++i) {
    if (!parts.Fits(bytes[i])) {
      const uint32_t number = part.part;
      TriggerSet done = std::move(part);
      part = TriggerSet{set.generation, set.base_generation, number + 1, false, {}, {}};
      send(std::move(done));
      parts.Begin();
    }
    part.changes.push_back(std::move(set.changes[i]));
    parts.Take(bytes[i]);
  }
  part.is_last = true;
  send(std::move(part));
  return Status::Ok();
}

Status SplitHostFacts(HostFacts facts, size_t max_bytes, const SendMessage& send) {
  HostFacts head;
  head.external_ids = facts.external_ids;
  const size_t head_bytes = EncodedBytes(head) + kHeadBytes;
  Parts limit(head_bytes, max_bytes);
  for (const Bridge& bridge : facts.bridges) {
    const size_t bytes = BytesOf(bridge);
    if (!limit.FitsAlone(bytes)) return TooLong("bridge " + bridge.name, bytes, max_bytes);
  }
  for (const Port& port : facts.ports) {
    const size_t bytes = BytesOf(port);
    if (!limit.FitsAlone(bytes)) return TooLong("port " + port.name, bytes, max_bytes);
  }
  if (!limit.FitsAlone(0)) return TooLong("external_ids", head_bytes, max_bytes);
  FactsParts parts(head_bytes, max_bytes);
  parts.SetIds(std::move(facts.external_ids));
  for (Bridge& bridge : facts.bridges) parts.Add(std::move(bridge), &HostFacts::bridges);
  for (Port& port : facts.ports) parts.Add(std::move(port), &HostFacts::ports);
  for (HostFacts& part : parts.Finish()) send(std::move(part));
  return Status::Ok();
}

size_t MaxBucketsInPartials(uint32_t words_per_bucket, size_t key_bytes, size_t max_bytes) {
  constexpr size_t kVarintBytes = 10;  // of a word; a position or size takes less
  constexpr size_t kSmallVarintBytes = 5;
  const size_t bucket_bytes =
      key_bytes + 2 * kSmallVarintBytes + size_t{words_per_bucket} * kVarintBytes;
  constexpr size_t kListHeads = 4 * kElementHeadBytes;
  const size_t room = max_bytes - std::min(max_bytes, kHeadBytes + kListHeads);
  return std::max<size_t>(1, room / bucket_bytes);
}

}  // namespace trumpet
