// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/random_message_test.h"

#include <algorithm>
#include <utility>

#include "lib/model/bucket_key.h"
#include "lib/model/filter.h"
#include "lib/model/slice_spec.h"
#include "lib/wire/check.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

bool IsAddress(Field field) { return field == Field::kSrcIp || field == Field::kDstIp; }
bool IsMac(Field field) { return field == Field::kSrcMac || field == Field::kDstMac; }

bool ConflictsWithRtt(Field field) {
  return field == Field::kTtl || field == Field::kEcn || field == Field::kDscp ||
         field == Field::kTcpFlags;
}

}  // namespace

uint64_t RandomMessages::Number() {
  switch (Below(4)) {
    case 0:
      return Below(3);
    case 1:
      return ~Below(3);
    default:
      return random_() >> Below(64);
  }
}

Nanos RandomMessages::Instant() {
  return static_cast<Nanos>(std::min<uint64_t>(Number() >> 1, kMaxInstant - 1));
}

Nanos RandomMessages::Length() {
  return 1 + static_cast<Nanos>(Below(uint64_t{kMaxIntervalMs} * kNanosPerMilli));
}

std::string RandomMessages::Text(size_t max_bytes) {
  static const std::vector<std::string> kPieces = {
      "a", "Z", "0", "-", " ", "\"", "\\", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  std::string text;
  const size_t wanted = Below(4) == 0 ? max_bytes : Below(20);
  while (text.size() + 4 <= wanted) text += kPieces[Below(kPieces.size())];
  return text;
}

std::string RandomMessages::Name() { return "n" + Text(kMaxTextBytes - 1); }

std::string RandomMessages::Bytes(size_t max_bytes) {
  std::string bytes(Below(max_bytes + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_());
  return bytes;
}

std::vector<uint64_t> RandomMessages::Words(size_t max_count) {
  std::vector<uint64_t> words(Below(max_count + 1));
  for (uint64_t& word : words) word = Number();
  return words;
}

std::vector<KeyValue> RandomMessages::KeyValues() {
  std::vector<KeyValue> pairs(Below(4));
  for (KeyValue& pair : pairs) pair = {Name(), Text(kMaxLongTextBytes)};
  return pairs;
}

trumpet::Number RandomMessages::AnyNumber() {
  switch (Below(4)) {
    case 0:
      return trumpet::Number::Integer(static_cast<int64_t>(Number()));
    case 1: {
      const Uint128 wide = Uint128{Number()} << 64 | Number();
      return trumpet::Number::Integer(static_cast<Int128>(wide));
    }
    case 2:
      return trumpet::Number::Real(static_cast<double>(random_()) / 1e9 - 1e9);
    default:
      return trumpet::Number::Real(0.1);
  }
}

FieldRef RandomMessages::Ref(bool may_conflict_with_rtt) {
  FieldRef ref;
  do {
    ref.field = static_cast<Field>(Below(kFieldCount));
  } while (!may_conflict_with_rtt && ConflictsWithRtt(ref.field));
  ref.level = static_cast<Level>(Below(3));
  return ref;
}

FieldTest RandomMessages::Test() {
  FieldTest test;
  test.ref = Ref(!allows_rtt_);
  if (Below(8) == 0) {
    test.is_any = true;
    return test;
  }
  if (test.ref.field == Field::kTcpFlags && Coin()) {
    test.is_masked = true;
    test.mask = static_cast<uint16_t>(Below(4096));
    test.expected = static_cast<uint16_t>(Below(4096)) & test.mask;
    return test;
  }
  test.ranges.resize(1 + Below(3));
  for (ValueRange& range : test.ranges) {
    range.kind = ValueKind::kNumber;
    if (IsMac(test.ref.field)) range.kind = ValueKind::kMac;
    if (IsAddress(test.ref.field)) range.kind = Coin() ? ValueKind::kIpv4 : ValueKind::kIpv6;
    const int width = FieldWidth(test.ref.field, range.kind);
    const Uint128 largest = width == 128 ? ~Uint128{0} : (Uint128{1} << width) - 1;
    range.low = (Uint128{Number()} << 64 | Number()) & largest;
    range.high = Coin() ? range.low : range.low | (Number() & largest);
  }
  return test;
}

FilterExpr RandomMessages::Filter(int height, FilterOp parent) {
  FilterExpr filter;
  if (height <= 1 || Below(3) == 0) {
    filter.op = Below(6) == 0 ? FilterOp::kTrue : FilterOp::kTest;
    if (filter.op == FilterOp::kTest) filter.test = Test();
    return filter;
  }
  const FilterOp other = parent == FilterOp::kAnd ? FilterOp::kOr : FilterOp::kAnd;
  filter.op = Coin() ? other : FilterOp::kNot;
  const size_t count = filter.op == FilterOp::kNot ? 1 : 2 + Below(2);
  for (size_t i = 0; i < count; ++i) filter.args.push_back(Filter(height - 1, filter.op));
  return filter;
}

Expr RandomMessages::Leaf(bool in_aggregate, bool is_five_tuple) {
  Expr expr;
  if (in_aggregate && Below(4) != 0) {
    expr.op = ExprOp::kVariable;
    do {
      expr.variable = static_cast<Variable>(Below(static_cast<int>(Variable::kAckLastEpoch)));
    } while (expr.variable == Variable::kRtt && !allows_rtt_);
  } else if (!in_aggregate && is_five_tuple && Coin()) {
    expr.op = ExprOp::kVariable;
    const int first = static_cast<int>(Variable::kAck);
    expr.variable = static_cast<Variable>(first + Below(kVariableCount - first));
  } else {
    expr.number = AnyNumber();
  }
  return expr;
}

Expr RandomMessages::Predicate(int height, bool in_aggregate, bool is_five_tuple) {
  if (height <= 1) return Leaf(in_aggregate, is_five_tuple);
  Expr expr;
  size_t count = 2;
  do {
    expr.op = static_cast<ExprOp>(2 + Below(static_cast<int>(ExprOp::kOr) - 1));
  } while (in_aggregate && expr.op == ExprOp::kAggregate);
  if (expr.op == ExprOp::kAggregate) {
    expr.aggregate = static_cast<AggregateKind>(Below(6));
    in_aggregate = true;
  }
  if (expr.op == ExprOp::kAggregate || expr.op == ExprOp::kNegate || expr.op == ExprOp::kNot) {
    count = 1;
  }
  for (size_t i = 0; i < count; ++i) {
    const int below = static_cast<int>(Below(static_cast<uint64_t>(height)));
    expr.args.push_back(Predicate(below, in_aggregate, is_five_tuple));
  }
  return expr;
}

Granularity RandomMessages::AnyGranularity() {
  Granularity granularity;
  granularity.is_five_tuple = Coin();
  if (granularity.is_five_tuple) return granularity;
  const size_t wanted = Below(8);
  while (granularity.fields.size() < wanted) {
    GranularityField field;
    field.ref = Ref(!allows_rtt_);
    const auto is_same = [&](const GranularityField& other) { return other.ref == field.ref; };
    if (std::any_of(granularity.fields.begin(), granularity.fields.end(), is_same)) continue;
    const int width = IsAddress(field.ref.field) ? 128
                      : IsMac(field.ref.field)   ? 48
                                                 : FieldWidth(field.ref.field, ValueKind::kNumber);
    if (Coin()) field.prefix_length = static_cast<uint8_t>(Below(width + 1));
    granularity.fields.push_back(field);
  }
  return granularity;
}

EventSpec RandomMessages::Event() {
  EventSpec event;
  allows_rtt_ = Coin();
  event.id = Id();
  event.name = Name();
  event.severity = Text(kMaxTextBytes);
  event.filter = Filter(static_cast<int>(1 + Below(5)), FilterOp::kTrue);
  event.granularity = AnyGranularity();
  const int height = static_cast<int>(1 + Below(7));
  event.predicate = Predicate(height, false, event.granularity.is_five_tuple);
  event.interval_ms = static_cast<uint32_t>(1 + Below(kMaxIntervalMs));
  event.for_count = Id();
  event.scope = static_cast<Scope>(Below(2));
  event.observe = static_cast<Observe>(Below(3));
  event.max_buckets = static_cast<uint32_t>(Below(kMaxEventBuckets + 1));
  return event;
}

TriggerSet RandomMessages::AnyTriggerSet() {
  TriggerSet set;
  set.generation = 1 + (Number() >> 1);
  set.base_generation = Coin() ? 0 : Below(set.generation);
  set.part = static_cast<uint32_t>(Below(kMaxTriggerChanges));
  set.is_last = Coin();
  set.changes.resize(Below(5));
  for (TriggerChange& change : set.changes) {
    if (set.base_generation != 0 && Coin()) {
      change.remove_event_id = Id();
      continue;
    }
    Trigger& trigger = change.put.emplace();
    trigger.event = Event();
    trigger.mode = static_cast<TriggerMode>(Below(3));
    if (trigger.mode != TriggerMode::kThreshold) continue;
    trigger.local_predicate = Predicate(4, false, trigger.event.granularity.is_five_tuple);
    trigger.share_generation = 1 + (Number() >> 1);
    trigger.share_from = Instant();
  }
  return set;
}

HostFacts RandomMessages::AnyHostFacts() {
  HostFacts facts;
  facts.part = static_cast<uint32_t>(Below(kMaxPorts));
  facts.is_last = Coin();
  facts.external_ids = KeyValues();
  facts.bridges.resize(Below(4));
  for (Bridge& bridge : facts.bridges) bridge = {Name(), Number(), KeyValues(), Name()};
  facts.ports.resize(Below(8));
  for (Port& port : facts.ports) {
    port.bridge = Name();
    port.name = Name();
    port.of_port = static_cast<uint32_t>(Number());
    port.type = Text(kMaxTextBytes);
    port.external_ids = KeyValues();
    port.is_uplink = Coin();
    port.mac_in_use = Number() >> 16;
    for (std::string* text : {&port.link_state, &port.error, &port.remote_ip, &port.local_ip}) {
      *text = Text(kMaxTextBytes);
    }
    port.macs = Words(3);
    for (uint64_t& mac : port.macs) mac >>= 16;
  }
  return facts;
}

// IPv4 first, as messages have them.
AddressSet RandomMessages::AnyAddressSet() {
  AddressSet set;
  for (const bool is_ipv6 : {false, true}) {
    for (uint64_t count = Below(5); count > 0; --count) {
      const Uint128 wide = Uint128{Number()} << 64 | Number();
      const auto length = static_cast<uint8_t>(Below(is_ipv6 ? 129 : 33));
      set.prefixes.push_back({is_ipv6, is_ipv6 ? wide : static_cast<uint32_t>(wide), length});
    }
  }
  set.macs = Words(5);
  for (uint64_t& mac : set.macs) mac >>= 16;
  return set;
}

HostReport RandomMessages::AnyReport() {
  HostReport report;
  report.report.event_id = Id();
  report.report.bucket_key = Bytes(kMaxBucketKeyBytes);
  report.report.start_ns = Instant() / 2;
  report.report.end_ns = report.report.start_ns + Length();
  if (Coin()) report.report.value = AnyNumber();
  if (Coin()) report.report.threshold = AnyNumber();
  report.report.is_unscaled = Coin();
  report.report.incomplete_reasons = Reasons();
  report.report.detected_ns = Instant();
  report.words = Words(12);
  return report;
}

Partials RandomMessages::AnyPartials() {
  Partials partials;
  partials.event_id = Id();
  partials.start_ns = Instant() / 2;
  partials.end_ns = partials.start_ns + Length();
  partials.words_per_bucket = static_cast<uint32_t>(1 + Below(9));
  const size_t count = Below(50);
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint64_t> words(partials.words_per_bucket);
    for (uint64_t& word : words) word = Number();
    partials.Add(Bytes(40), words.data(), Below(5) == 0);
  }
  return partials;
}

FlowStates RandomMessages::AnyFlowStates() {
  FlowStates states;
  states.start_ns = Instant() / 2;
  states.end_ns = states.start_ns + Length();
  states.states.resize(Below(6));
  for (auto& [flow, state] : states.states) {
    flow.ip_family = Coin() ? 4 : 6;
    for (size_t i = 0; i < (flow.ip_family == 4 ? 4u : 16u); ++i) {
      flow.src_ip[i] = static_cast<uint8_t>(random_());
      flow.dst_ip[i] = static_cast<uint8_t>(random_());
    }
    flow.src_port = static_cast<uint16_t>(random_());
    flow.dst_port = static_cast<uint16_t>(random_());
    flow.protocol = static_cast<uint8_t>(random_());
    flow.zone = static_cast<uint16_t>(random_());
    const auto count = [&] { return Coin() ? Instant() : -Instant(); };
    state = {count(), count(), count(), Instant(), Instant(), Coin(),   Coin(),
             Coin(),  Coin(),  Coin(),  Coin(),    Instant(), Instant()};
  }
  return states;
}

IntervalEnd RandomMessages::AnyIntervalEnd() {
  IntervalEnd end;
  end.until_ns = Instant();
  end.incomplete.resize(Below(5));
  for (IncompleteRange& range : end.incomplete) {
    range.start_ns = Instant() / 2;
    range.end_ns = range.start_ns + Instant() / 2;
    range.reasons = 1 + static_cast<uint32_t>(Below(kAllIncompleteReasons));
    range.event_id = Coin() ? 0 : Id();
  }
  end.dropped_reports = Number();
  end.dropped_partials = Number();
  end.is_monitor_off = Coin();
  return end;
}

PollReply RandomMessages::AnyPollReply() {
  PollReply reply;
  reply.number = Number();
  reply.answers.resize(Below(5));
  for (PollAnswer& answer : reply.answers) {
    answer.question = static_cast<uint32_t>(Below(kMaxPollQuestions));
    answer.status = static_cast<PollStatus>(Below(4));
    if (answer.status == PollStatus::kValues) {
      answer.words = Words(6);
      answer.words.push_back(Number());
    }
    answer.is_unscaled = Coin();
    answer.incomplete_reasons = Reasons();
  }
  return reply;
}

Message RandomMessages::Any() { return Of(static_cast<MessageKind>(Below(kMessageKindCount))); }

Message RandomMessages::Of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kHello: {
      const auto version = static_cast<uint32_t>(1 + Below(5));
      return Hello{version,
                   version + static_cast<uint32_t>(Below(5)),
                   Number(),
                   Name(),
                   Text(kMaxTextBytes),
                   Text(kMaxTextBytes),
                   static_cast<Nanos>(Below(uint64_t{kMaxIntervalMs} * kNanosPerMilli)),
                   Instant(),
                   Number(),
                   Number()};
    }
    case MessageKind::kHelloReply:
      return HelloReply{Id(), Number(), 1 + (Number() >> 1), Text(kMaxTextBytes)};
    case MessageKind::kRefusal:
      return Refusal{static_cast<RefusalReason>(Below(5)), Text(kMaxTextBytes)};
    case MessageKind::kKeepAlive:
      return KeepAlive{static_cast<uint32_t>(Number()), Coin(), Instant(), Instant(), Instant()};
    case MessageKind::kBye:
      return Bye{static_cast<ByeReason>(Below(5)), Text(kMaxTextBytes)};
    case MessageKind::kTriggerSet:
      return AnyTriggerSet();
    case MessageKind::kTriggerAck: {
      TriggerAck ack{1 + (Number() >> 1), Coin(), Instant(), {}, Text(kMaxTextBytes), {}, Coin()};
      ack.errors.resize(Below(4));
      for (EventError& error : ack.errors) {
        error = {Id(), Text(kMaxTextBytes), Text(kMaxLongTextBytes)};
      }
      ack.shares.resize(Below(4));
      for (ShareAck& share : ack.shares) share = {Id(), 1 + (Number() >> 1), Instant()};
      return ack;
    }
    case MessageKind::kHostFacts:
      return AnyHostFacts();
    case MessageKind::kPoll: {
      Poll poll{Number(), {}};
      poll.questions.resize(Below(5));
      for (PollQuestion& question : poll.questions) {
        question = {Id(), Instant(), Bytes(kMaxBucketKeyBytes)};
      }
      return poll;
    }
    case MessageKind::kPollReply:
      return AnyPollReply();
    case MessageKind::kReport:
      return AnyReport();
    case MessageKind::kPartials:
      return AnyPartials();
    case MessageKind::kFlowStates:
      return AnyFlowStates();
    case MessageKind::kIntervalEnd:
      return AnyIntervalEnd();
    case MessageKind::kHostPlace:
      return HostPlacePart{1 + (Number() >> 1), static_cast<uint32_t>(Below(kMaxPlaceParts)),
                           Coin(), AnyAddressSet(), AnyAddressSet()};
    default:
      return AnyOfAnalyzers(kind);
  }
}

uint32_t RandomMessages::Tag() { return static_cast<uint32_t>(1 + Below(kMaxSliceTag)); }

ExpectedSlice RandomMessages::AnySlice() {
  ExpectedSlice slice;
  slice.tag = Tag();
  slice.run = Number();
  slice.slot = static_cast<uint32_t>(Number());
  slice.query = static_cast<uint32_t>(Number());
  slice.name = Text(kMaxTextBytes);
  slice.is_confine = Coin();
  slice.prefix.is_ipv6 = Coin();
  slice.prefix.length = static_cast<uint8_t>(Below(slice.prefix.is_ipv6 ? 129 : 33));
  slice.prefix.address = slice.prefix.is_ipv6 ? Uint128{Number()} << 64 | Number()
                                              : Uint128{static_cast<uint32_t>(Number())};
  slice.path.resize(Below(6));
  for (std::string& router : slice.path) router = Name();
  slice.locations.resize(Below(4));
  for (std::string& router : slice.locations) {
    router = Name();
    slice.numbers.push_back(static_cast<uint16_t>(Below(kMaxSwitchNumber + 1)));
  }
  slice.start = Instant();
  slice.end = Instant();
  return slice;
}

Message RandomMessages::AnyOfAnalyzers(MessageKind kind) {
  const size_t count = Below(4);
  switch (kind) {
    case MessageKind::kExpectSlices: {
      ExpectSlices expect;
      for (size_t i = 0; i < count; ++i) expect.slices.push_back(AnySlice());
      return expect;
    }
    case MessageKind::kTallyRequest: {
      TallyRequest request{Number(), {}};
      for (size_t i = 0; i < count; ++i) request.tags.push_back(Tag());
      return request;
    }
    case MessageKind::kSliceTallies: {
      SliceTallies tallies{Number(), Coin(), {}};
      for (size_t i = 0; i < count; ++i) {
        tallies.tallies.push_back(
            {Tag(), Name(), Number(), Number(), Number(), Instant(), Instant()});
      }
      return tallies;
    }
    case MessageKind::kFinishRun: {
      FinishRun finish{Number(), {}};
      for (size_t i = 0; i < count; ++i) finish.latencies.push_back({Name(), Instant(), Instant()});
      return finish;
    }
    case MessageKind::kRunAnswer:
      return RunAnswer{Number(), static_cast<uint32_t>(Below(kMaxAnswerParts)), Coin(),
                       Text(kMaxLongTextBytes)};
    case MessageKind::kPacketsRequest:
      return PacketsRequest{Number(), Tag(), Number(),
                            static_cast<uint32_t>(1 + Below(kMaxPacketsAsked))};
    case MessageKind::kPacketRecords: {
      PacketRecords records{Number(), Number(), Coin(), {}};
      for (size_t i = 0; i < count; ++i) {
        records.records.push_back(
            {Name(), Instant(), static_cast<uint32_t>(Number()), Coin(), Bytes(300)});
      }
      return records;
    }
    case MessageKind::kPacketFileRequest:
      return PacketFileRequest{Number(), Number(), FilePlace(),
                               static_cast<uint32_t>(1 + Below(kMaxPacketFileBytes))};
    case MessageKind::kPacketFilePiece:
      if (Coin()) {
        return PacketFilePiece{Number(), FilePlace(), Coin(), Bytes(300) + "x", ""};
      }
      return PacketFilePiece{Number(), FilePlace(), true, "", Text(kMaxLongTextBytes)};
    case MessageKind::kSliceOn:
      return AnySliceOn();
    case MessageKind::kSliceOff:
      return SliceOff{Text(kMaxTextBytes), Tag()};
    case MessageKind::kSliceAck:
      return AnySliceAck();
    case MessageKind::kSliceEnd:
      return HostSliceEnd{Text(kMaxTextBytes),
                          Tag(),
                          Number(),
                          Number(),
                          Number(),
                          static_cast<Nanos>(Below(kMaxSliceNs + 1)),
                          static_cast<Nanos>(Below(kMaxSliceNs + 1))};
    case MessageKind::kTraceCounters:
      return TraceCounters{static_cast<uint32_t>(Below(kMaxNetworkParts)), Coin(), Bytes(300)};
    case MessageKind::kTraceRequest:
      return AnyTraceRequest();
    case MessageKind::kTraceAnswer:
      return AnyTraceAnswer();
    case MessageKind::kTraceCancel:
      return TraceCancel{Number()};
    case MessageKind::kTraceNetwork:
      return TraceNetwork{static_cast<uint32_t>(Below(kMaxNetworkParts)), Coin(), Bytes(300)};
    default:
      return AnyOfPrograms(kind);
  }
}

PacketFilePlace RandomMessages::FilePlace() {
  return {static_cast<uint32_t>(Number()), static_cast<uint32_t>(Number()), Number()};
}

TraceRequest RandomMessages::AnyTraceRequest() {
  TraceRequest request{
      Number(), static_cast<TraceWhat>(Below(7)), static_cast<TracePackets>(Below(3)), {}};
  for (size_t i = Below(4); i > 0; --i) request.words.push_back({Name(), Text(kMaxLongTextBytes)});
  return request;
}

TraceAnswer RandomMessages::AnyTraceAnswer() {
  TraceAnswer answer;
  answer.number = Number();
  if (Coin()) {
    answer.error = Name();
    answer.is_wrong = Coin();
    return answer;
  }
  for (size_t i = Below(4); i > 0; --i) {
    answer.records.push_back({Instant(), Number(), Text(kMaxLongTextBytes)});
  }
  answer.has_more = Coin();
  answer.files = Number();
  answer.traces = Number();
  answer.bytes = Number();
  answer.left_out = Number();
  return answer;
}

SliceAck RandomMessages::AnySliceAck() {
  SliceAck ack{Text(kMaxTextBytes), Tag(), Coin(), ""};
  if (!ack.is_on) ack.error = Text(kMaxLongTextBytes);
  return ack;
}

SliceOn RandomMessages::AnySliceOn() {
  SliceOn on;
  on.slice.tag = Tag();
  on.slice.bridge = Text(kMaxTextBytes);
  on.slice.filter = Filter(3, FilterOp::kTrue);
  on.slice.duration = static_cast<Nanos>(1 + Below(kMaxSliceNs));
  on.slice.max_packets = Number();
  on.slice.max_bytes = Number();
  on.slice.packets_per_second = static_cast<uint32_t>(Number());
  on.slice.snap_bytes = static_cast<uint16_t>(Number());
  on.slice.mark = static_cast<uint16_t>(Below(kMaxSliceMark + 1));
  return on;
}

MeasurementPlace RandomMessages::AnyPlace() {
  MeasurementPlace place;
  if (Coin()) {
    place.edges.emplace(Below(4));
    for (std::string& port : *place.edges) port = Name();
  }
  if (Coin()) place.switch_id = static_cast<uint8_t>(Number());
  place.is_lab = Coin();
  for (size_t i = Below(4); i > 0; --i) place.endpoints.emplace(Name(), Name());
  if (Coin()) place.copies_per_second = static_cast<uint32_t>(1 + Below(kMaxCopiesPerSecond));
  return place;
}

Message RandomMessages::AnyOfPrograms(MessageKind kind) {
  const bool has_failed = Coin();
  switch (kind) {
    case MessageKind::kProgramOn:
      return ProgramOn{AnyProgramName(), Number(), AnyProgram(), AnyPlace()};
    case MessageKind::kProgramOff:
      return ProgramOff{AnyProgramName()};
    case MessageKind::kProgramAck:
      return ProgramAck{AnyProgramName(), !has_failed, has_failed ? Text(kMaxLongTextBytes) : ""};
    case MessageKind::kProgramList: {
      ProgramList list;
      list.programs.resize(Below(4));
      for (ProgramName& program : list.programs) program = AnyProgramName();
      return list;
    }
    case MessageKind::kCellsRequest:
      return AnyCellsRequest();
    case MessageKind::kCellsAnswer:
      if (has_failed) return CellsAnswer{Number(), {}, 0, Text(kMaxLongTextBytes)};
      return AnyCellsAnswer();
    case MessageKind::kProgramCounts: {
      ProgramCounts counts{AnyProgramName(), Instant(), {Number(), Number(), Number(), {}}};
      counts.copies.endpoints.resize(Below(4));
      for (EndpointCopies& one : counts.copies.endpoints) one = {Number(), Number(), Number()};
      return counts;
    }
    default:
      return KeepAlive();
  }
}

CellsRequest RandomMessages::AnyCellsRequest() {
  CellsRequest request{Number(),
                       AnyProgramName(),
                       static_cast<uint32_t>(Number()),
                       static_cast<uint32_t>(Number()),
                       static_cast<uint32_t>(1 + Below(kMaxCellsAsked)),
                       Words(5),
                       Coin()};
  request.is_request = Coin();
  if (!request.is_request) return request;
  for (size_t i = 0; i < request.key.size(); ++i) {
    request.fields.push_back(static_cast<MeasureFieldId>(random_()));
  }
  return request;
}

CellsAnswer RandomMessages::AnyCellsAnswer() {
  CellsAnswer answer{Number(), Words(50), static_cast<uint32_t>(Number()), ""};
  answer.left_out = static_cast<uint32_t>(Number());
  answer.copies.resize(Below(4));
  for (ProgramCopy& copy : answer.copies) {
    copy = {Instant(), static_cast<MeasureIndex>(Below(kMaxMeasureNames)), Number(), {}};
    for (uint64_t left = copy.present; left != 0; left &= left - 1) {
      copy.values.push_back(Number());
    }
  }
  return answer;
}

// Not a sound one: whatever has the form of a program.
MeasureProgram RandomMessages::AnyProgram() {
  MeasureProgram program;
  const auto index = [this] { return static_cast<MeasureIndex>(Number()); };
  const auto field = [this] { return static_cast<MeasureFieldId>(random_()); };
  const auto some = [this](auto* list, size_t count) { list->resize(Below(count)); };
  program.name = Text(kMaxTextBytes);
  some(&program.params, 3);
  for (MeasureParam& param : program.params) param = {Name(), {Number(), 1 + Below(1000)}, Coin()};
  some(&program.endpoints, 3);
  for (std::string& endpoint : program.endpoints) endpoint = Name();
  some(&program.roles, 4);
  for (MeasureRole& role : program.roles) role = {Name(), static_cast<MeasureRoleKind>(Below(5))};
  some(&program.keys, 4);
  for (MeasureKey& key : program.keys) {
    key = {Name(), index(), std::vector<MeasureFieldId>(Below(5)), index()};
    for (MeasureFieldId& one : key.fields) one = field();
  }
  some(&program.headers, 3);
  for (MeasureHeader& header : program.headers) header = {Name(), index(), index(), index()};
  some(&program.header_fields, 3);
  for (MeasureHeaderField& one : program.header_fields) {
    one = {Name(), index(), index(), static_cast<uint8_t>(Below(65))};
  }
  some(&program.variables, 4);
  for (MeasureVariable& variable : program.variables) {
    variable = {Name(),
                static_cast<MeasureKind>(Below(10)),
                static_cast<MeasureMerge>(Below(5)),
                Coin(),
                static_cast<uint8_t>(Below(65)),
                index(),
                Number(),
                index(),
                index(),
                index(),
                {}};
  }
  some(&program.windows, 3);
  for (MeasureWindow& window : program.windows) {
    window = {1 + static_cast<Nanos>(Below(static_cast<uint64_t>(kMaxMeasureWindow))),
              index(),
              Coin() ? MeasureWindowMode::kFlip : MeasureWindowMode::kReset,
              index(),
              index(),
              std::vector<MeasureIndex>(Below(4), index())};
  }
  some(&program.streams, 4);
  for (MeasureStream& stream : program.streams) stream.name = Name();
  some(&program.tasks, 4);
  for (MeasureTask& task : program.tasks) task = {index(), index(), index(), index(), {}};
  some(&program.nodes, 8);
  for (MeasureNode& node : program.nodes) {
    node = {static_cast<MeasureNodeKind>(Below(8)),
            static_cast<MeasureUpdate>(Below(6)),
            field(),
            index(),
            index(),
            std::vector<MeasureIndex>(Below(4), index()),
            {}};
  }
  some(&program.exprs, 8);
  for (MeasureExpr& expr : program.exprs) {
    expr = {static_cast<MeasureExprKind>(Below(12)),
            static_cast<MeasureOp>(Below(20)),
            static_cast<MeasureAggregate>(Below(7)),
            field(),
            index(),
            index(),
            index(),
            Number(),
            std::max<uint64_t>(1, Number())};
  }
  return program;
}

}  // namespace trumpet
