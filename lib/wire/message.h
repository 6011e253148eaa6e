// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Message: what agents and the controller tell each other, as values.
//
// lib/wire/trumpet.proto is the protocol's document: it says what each message is for and what its
// numbers mean.  Instants are Unix time on the sender's clock.

#ifndef TRUMPET_LIB_WIRE_MESSAGE_H
#define TRUMPET_LIB_WIRE_MESSAGE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/event_spec.h"
#include "lib/model/expr.h"
#include "lib/model/flow_state.h"
#include "lib/model/host_place.h"
#include "lib/model/report.h"
#include "lib/wire/program_message.h"
#include "lib/wire/slice_message.h"
#include "lib/wire/slice_order.h"
#include "lib/wire/trace_message.h"

namespace trumpet {

constexpr uint32_t kMinProtocolVersion = 1;
constexpr uint32_t kMaxProtocolVersion = 1;

// Bits of Hello::capabilities.
constexpr uint64_t kCapabilityPartials = 1;
constexpr uint64_t kCapabilityPoll = 2;
constexpr uint64_t kCapabilityFlowStates = 4;
constexpr uint64_t kCapabilityPlace = 8;
constexpr uint64_t kCapabilitySlices = 32;
constexpr uint64_t kCapabilityPrograms = 64;
constexpr uint64_t kCapabilityCollect = 128;
constexpr uint64_t kCapabilityAnalyzer = 1024;
constexpr uint64_t kCapabilityPacketFiles = 2048;
constexpr uint64_t kCapabilityTraces = 4096;
constexpr uint64_t kCapabilityTraceCounters = 8192;
constexpr uint64_t kCapabilityTraceSent = 16384;

struct Hello {
  uint32_t min_version = kMinProtocolVersion;
  uint32_t max_version = kMaxProtocolVersion;
  uint64_t capabilities = 0;
  std::string host_id;
  std::string host_name;
  std::string software;
  Nanos epoch_ns = 0;  // 0: no events
  Nanos process_start_ns = 0;
  uint64_t set_controller_id = 0;  // of the set that runs; 0: none
  uint64_t set_generation = 0;
};

struct HelloReply {
  uint32_t version = 0;
  uint64_t capabilities = 0;
  uint64_t controller_id = 0;
  std::string controller_name;
};

enum class RefusalReason : uint8_t {
  kVersion,
  kNotAllowed,
  kDuplicateHost,
  kTooMany,
  kShuttingDown,
};

struct Refusal {
  RefusalReason reason = RefusalReason::kVersion;
  std::string text;
};

struct KeepAlive {
  uint32_t number = 0;
  bool is_answer = false;
  Nanos asked_ns = 0;
  Nanos received_ns = 0;
  Nanos answered_ns = 0;
};

enum class ByeReason : uint8_t {
  kShuttingDown,
  kReconfigured,
  kReplaced,
  kProtocol,
  kTooSlow,
};

struct Bye {
  ByeReason reason = ByeReason::kShuttingDown;
  std::string text;
};

enum class TriggerMode : uint8_t {
  kHost,       // the host decides
  kThreshold,  // it reports by the local predicate, the controller polls for the rest
  kPartials,   // it sends the cells of all buckets
};

// An event as one host runs it.
struct Trigger {
  EventSpec event;
  TriggerMode mode = TriggerMode::kHost;
  std::optional<Expr> local_predicate;  // kThreshold, and only there, as the two below
  uint64_t share_generation = 0;
  Nanos share_from = 0;  // 0: at once
};

// Adds or replaces, or if there is no trigger, removes the event of that id.
struct TriggerChange {
  std::optional<Trigger> put;
  uint32_t remove_event_id = 0;
};

struct TriggerSet {
  uint64_t generation = 0;
  uint64_t base_generation = 0;  // 0: all of the set
  uint32_t part = 0;
  bool is_last = true;
  std::vector<TriggerChange> changes;
  // More of them, only to be sent, and shared by the sets of all hosts: EncodeTriggerChange().
  std::vector<std::shared_ptr<const std::string>> encoded_changes;
};

struct EventError {
  uint32_t event_id = 0;
  std::string place;
  std::string text;
};

// What EventFeed::SetShare() said (lib/verdict/event_feed.h).
struct ShareAck {
  uint32_t event_id = 0;
  uint64_t generation = 0;
  Nanos from = 0;
};

struct TriggerAck {
  uint64_t generation = 0;
  bool is_applied = false;
  Nanos applied_ns = 0;
  std::vector<EventError> errors;
  std::string text;
  std::vector<ShareAck> shares;
  bool has_more = false;
  Nanos flow_timeout_ns = 0;  // the host's; 0: not told
};

struct KeyValue {
  std::string key;
  std::string value;
};

struct Bridge {
  std::string name;
  uint64_t datapath_id = 0;
  std::vector<KeyValue> external_ids;
  std::string datapath_type;
};

struct Port {
  std::string bridge;
  std::string name;
  uint32_t of_port = 0;
  std::string type;
  std::vector<uint64_t> macs;
  std::vector<KeyValue> external_ids;
  bool is_uplink = false;
  uint64_t mac_in_use = 0;
  std::string link_state;
  std::string error;
  std::string remote_ip;
  std::string local_ip;
};

struct HostFacts {
  uint32_t part = 0;
  bool is_last = true;
  std::vector<KeyValue> external_ids;
  std::vector<Bridge> bridges;
  std::vector<Port> ports;
};

// Of a HostPlace; see place_codec.h.
struct HostPlacePart {
  uint64_t generation = 0;
  uint32_t part = 0;
  bool is_last = true;
  AddressSet own;
  AddressSet monitored;
};

struct PollQuestion {
  uint32_t event_id = 0;
  Nanos start_ns = 0;
  std::string bucket_key;
};

struct Poll {
  uint64_t number = 0;
  std::vector<PollQuestion> questions;
};

enum class PollStatus : uint8_t { kValues, kNoPackets, kNoLongerKnown, kUnknownEvent };

struct PollAnswer {
  uint32_t question = 0;
  PollStatus status = PollStatus::kValues;
  std::vector<uint64_t> words;  // kValues
  bool is_unscaled = false;
  uint32_t incomplete_reasons = 0;
};

struct PollReply {
  uint64_t number = 0;
  std::vector<PollAnswer> answers;
};

// `report` without what the receiver knows by the event's id: name, severity, bucket_json.
struct HostReport {
  Report report;
  std::vector<uint64_t> words;
};

struct Partials {
  uint32_t event_id = 0;
  Nanos start_ns = 0;
  Nanos end_ns = 0;
  uint32_t words_per_bucket = 0;
  std::string keys;
  std::vector<uint16_t> key_sizes;
  std::vector<uint64_t> words;
  std::vector<uint32_t> unscaled;  // positions of buckets, rising

  size_t bucket_count() const { return key_sizes.size(); }

  void Add(std::string_view key, const uint64_t* bucket_words, bool is_unscaled) {
    if (is_unscaled) unscaled.push_back(static_cast<uint32_t>(bucket_count()));
    keys.append(key);
    key_sizes.push_back(static_cast<uint16_t>(key.size()));
    words.insert(words.end(), bucket_words, bucket_words + words_per_bucket);
  }

  // Calls visit(key, words, is_unscaled) for every bucket, in order.
  template <typename Visitor>
  void Visit(const Visitor& visit) const {
    const char* key = keys.data();
    const uint64_t* bucket_words = words.data();
    size_t next_unscaled = 0;
    for (size_t i = 0; i < key_sizes.size(); ++i) {
      const bool is_unscaled = next_unscaled < unscaled.size() && unscaled[next_unscaled] == i;
      if (is_unscaled) ++next_unscaled;
      visit(std::string_view(key, key_sizes[i]), bucket_words, is_unscaled);
      key += key_sizes[i];
      bucket_words += words_per_bucket;
    }
  }
};

struct IncompleteRange {
  Nanos start_ns = 0;
  Nanos end_ns = 0;
  uint32_t reasons = 0;
  uint32_t event_id = 0;  // 0: every event
};

struct IntervalEnd {
  Nanos until_ns = 0;
  std::vector<IncompleteRange> incomplete;
  uint64_t dropped_reports = 0;  // to these two the session adds what it drops
  uint64_t dropped_partials = 0;
  bool is_monitor_off = false;  // nothing is counted from until_ns on
};

struct FlowStates {
  Nanos start_ns = 0;
  Nanos end_ns = 0;
  std::vector<std::pair<FlowKey, FlowState>> states;
  Nanos flow_timeout_ns = 0;  // the host's; 0: not told
};

using Message =
    std::variant<Hello, HelloReply, Refusal, KeepAlive, Bye, TriggerSet, TriggerAck, HostFacts,
                 Poll, PollReply, HostReport, Partials, FlowStates, IntervalEnd, HostPlacePart,
                 ExpectSlices, TallyRequest, SliceTallies, FinishRun, RunAnswer, PacketsRequest,
                 PacketRecords, SliceOn, SliceOff, SliceAck, HostSliceEnd, PacketFileRequest,
                 PacketFilePiece, ProgramOn, ProgramOff, ProgramAck, ProgramList, CellsRequest,
                 CellsAnswer, ProgramCounts, TraceCounters, TraceRequest, TraceAnswer, TraceCancel,
                 TraceNetwork, TraceSent>;

// In the order of Message.
enum class MessageKind : uint8_t {
  kHello,
  kHelloReply,
  kRefusal,
  kKeepAlive,
  kBye,
  kTriggerSet,
  kTriggerAck,
  kHostFacts,
  kPoll,
  kPollReply,
  kReport,
  kPartials,
  kFlowStates,
  kIntervalEnd,
  kHostPlace,
  kExpectSlices,
  kTallyRequest,
  kSliceTallies,
  kFinishRun,
  kRunAnswer,
  kPacketsRequest,
  kPacketRecords,
  kSliceOn,
  kSliceOff,
  kSliceAck,
  kSliceEnd,
  kPacketFileRequest,
  kPacketFilePiece,
  kProgramOn,
  kProgramOff,
  kProgramAck,
  kProgramList,
  kCellsRequest,
  kCellsAnswer,
  kProgramCounts,
  kTraceCounters,
  kTraceRequest,
  kTraceAnswer,
  kTraceCancel,
  kTraceNetwork,
  kTraceSent,
};
constexpr size_t kMessageKindCount = 41;
static_assert(std::variant_size_v<Message> == kMessageKindCount);

inline MessageKind KindOf(const Message& message) {
  return static_cast<MessageKind>(message.index());
}

// "keep_alive", "report", ...
const char* MessageKindName(MessageKind kind);

// `text` as the protocol takes it: UTF-8 without control characters, cut at `max_bytes`.
std::string ToWireText(std::string_view text, size_t max_bytes);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_MESSAGE_H
