// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SameMessage: are two messages equal in every field?  Written out field by field, so that what the
// codec forgets is found.

#ifndef TRUMPET_LIB_WIRE_SAME_MESSAGE_TEST_H
#define TRUMPET_LIB_WIRE_SAME_MESSAGE_TEST_H

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "lib/wire/message.h"

namespace trumpet {

namespace same {

template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b);

inline bool Same(uint64_t a, uint64_t b) { return a == b; }
inline bool Same(uint32_t a, uint32_t b) { return a == b; }
inline bool Same(uint16_t a, uint16_t b) { return a == b; }

inline bool Same(const Hello& a, const Hello& b) {
  const auto tie = [](const Hello& x) {
    return std::tie(x.min_version, x.max_version, x.capabilities, x.host_id, x.host_name,
                    x.software, x.epoch_ns, x.process_start_ns, x.set_controller_id,
                    x.set_generation);
  };
  return tie(a) == tie(b);
}

inline bool Same(const HelloReply& a, const HelloReply& b) {
  const auto tie = [](const HelloReply& x) {
    return std::tie(x.version, x.capabilities, x.controller_id, x.controller_name);
  };
  return tie(a) == tie(b);
}

inline bool Same(const Refusal& a, const Refusal& b) {
  return std::tie(a.reason, a.text) == std::tie(b.reason, b.text);
}

inline bool Same(const KeepAlive& a, const KeepAlive& b) {
  const auto tie = [](const KeepAlive& x) {
    return std::tie(x.number, x.is_answer, x.asked_ns, x.received_ns, x.answered_ns);
  };
  return tie(a) == tie(b);
}

inline bool Same(const Bye& a, const Bye& b) {
  return std::tie(a.reason, a.text) == std::tie(b.reason, b.text);
}

inline bool Same(const EventSpec& a, const EventSpec& b) {
  const auto tie = [](const EventSpec& x) {
    return std::tie(x.id, x.name, x.filter, x.predicate, x.granularity, x.interval_ms, x.for_count,
                    x.scope, x.observe, x.severity, x.max_buckets);
  };
  return tie(a) == tie(b);
}

inline bool Same(const TriggerChange& a, const TriggerChange& b) {
  if (a.put.has_value() != b.put.has_value()) return false;
  if (!a.put) return a.remove_event_id == b.remove_event_id;
  return Same(a.put->event, b.put->event) && a.put->mode == b.put->mode &&
         std::tie(a.put->local_predicate, a.put->share_generation, a.put->share_from) ==
             std::tie(b.put->local_predicate, b.put->share_generation, b.put->share_from);
}

inline bool Same(const TriggerSet& a, const TriggerSet& b) {
  const auto tie = [](const TriggerSet& x) {
    return std::tie(x.generation, x.base_generation, x.part, x.is_last);
  };
  return tie(a) == tie(b) && Same(a.changes, b.changes);
}

inline bool Same(const EventError& a, const EventError& b) {
  return std::tie(a.event_id, a.place, a.text) == std::tie(b.event_id, b.place, b.text);
}

inline bool Same(const ShareAck& a, const ShareAck& b) {
  return std::tie(a.event_id, a.generation, a.from) == std::tie(b.event_id, b.generation, b.from);
}

inline bool Same(const TriggerAck& a, const TriggerAck& b) {
  const auto tie = [](const TriggerAck& x) {
    return std::tie(x.generation, x.is_applied, x.applied_ns, x.text, x.has_more,
                    x.flow_timeout_ns);
  };
  return tie(a) == tie(b) && Same(a.errors, b.errors) && Same(a.shares, b.shares);
}

inline bool Same(const KeyValue& a, const KeyValue& b) {
  return std::tie(a.key, a.value) == std::tie(b.key, b.value);
}

inline bool Same(const Bridge& a, const Bridge& b) {
  return std::tie(a.name, a.datapath_id, a.datapath_type) ==
             std::tie(b.name, b.datapath_id, b.datapath_type) &&
         Same(a.external_ids, b.external_ids);
}

inline bool Same(const Port& a, const Port& b) {
  const auto tie = [](const Port& x) {
    return std::tie(x.bridge, x.name, x.of_port, x.type, x.macs, x.is_uplink, x.mac_in_use,
                    x.link_state, x.error, x.remote_ip, x.local_ip);
  };
  return tie(a) == tie(b) && Same(a.external_ids, b.external_ids);
}

inline bool Same(const HostFacts& a, const HostFacts& b) {
  return std::tie(a.part, a.is_last) == std::tie(b.part, b.is_last) &&
         Same(a.external_ids, b.external_ids) && Same(a.bridges, b.bridges) &&
         Same(a.ports, b.ports);
}

inline bool Same(const PollQuestion& a, const PollQuestion& b) {
  return std::tie(a.event_id, a.start_ns, a.bucket_key) ==
         std::tie(b.event_id, b.start_ns, b.bucket_key);
}

inline bool Same(const Poll& a, const Poll& b) {
  return a.number == b.number && Same(a.questions, b.questions);
}

inline bool Same(const PollAnswer& a, const PollAnswer& b) {
  const auto tie = [](const PollAnswer& x) {
    return std::tie(x.question, x.status, x.words, x.is_unscaled, x.incomplete_reasons);
  };
  return tie(a) == tie(b);
}

inline bool Same(const PollReply& a, const PollReply& b) {
  return a.number == b.number && Same(a.answers, b.answers);
}

inline bool Same(const HostReport& a, const HostReport& b) {
  const auto tie = [](const HostReport& x) {
    const Report& r = x.report;
    return std::tie(r.event_id, r.bucket_key, r.start_ns, r.end_ns, r.value, r.threshold,
                    r.is_unscaled, r.incomplete_reasons, r.detected_ns, x.words);
  };
  return tie(a) == tie(b);
}

inline bool Same(const Partials& a, const Partials& b) {
  const auto tie = [](const Partials& x) {
    return std::tie(x.event_id, x.start_ns, x.end_ns, x.words_per_bucket, x.keys, x.key_sizes,
                    x.words, x.unscaled);
  };
  return tie(a) == tie(b);
}

inline bool Same(const std::pair<FlowKey, FlowState>& a, const std::pair<FlowKey, FlowState>& b) {
  const auto tie = [](const FlowState& x) {
    return std::tie(x.ack, x.seq, x.dup, x.last_packet_ns, x.incarnation, x.has_ack, x.has_seq,
                    x.doubts_seq, x.doubts_ack, x.sees_sender, x.sees_receiver, x.sender_ns,
                    x.receiver_ns);
  };
  return a.first == b.first && tie(a.second) == tie(b.second);
}

inline bool Same(const FlowStates& a, const FlowStates& b) {
  return std::tie(a.start_ns, a.end_ns, a.flow_timeout_ns) ==
             std::tie(b.start_ns, b.end_ns, b.flow_timeout_ns) &&
         Same(a.states, b.states);
}

inline bool Same(const HostPlacePart& a, const HostPlacePart& b) {
  const auto tie = [](const HostPlacePart& x) {
    return std::tie(x.generation, x.part, x.is_last, x.own, x.monitored);
  };
  return tie(a) == tie(b);
}

inline bool Same(const SliceOn& a, const SliceOn& b) {
  const auto tie = [](const SliceOn& x) {
    return std::tie(x.slice.tag, x.slice.bridge, x.slice.filter, x.slice.duration,
                    x.slice.max_packets, x.slice.max_bytes, x.slice.packets_per_second,
                    x.slice.snap_bytes, x.slice.mark);
  };
  return tie(a) == tie(b);
}

inline bool Same(const SliceOff& a, const SliceOff& b) {
  return std::tie(a.bridge, a.tag) == std::tie(b.bridge, b.tag);
}

inline bool Same(const SliceAck& a, const SliceAck& b) {
  return std::tie(a.bridge, a.tag, a.is_on, a.error) == std::tie(b.bridge, b.tag, b.is_on, b.error);
}

inline bool Same(const HostSliceEnd& a, const HostSliceEnd& b) {
  const auto tie = [](const HostSliceEnd& x) {
    return std::tie(x.bridge, x.tag, x.packets, x.bytes, x.withheld, x.lasted_ns, x.span_ns);
  };
  return tie(a) == tie(b);
}

inline bool Same(const IncompleteRange& a, const IncompleteRange& b) {
  return std::tie(a.start_ns, a.end_ns, a.reasons, a.event_id) ==
         std::tie(b.start_ns, b.end_ns, b.reasons, b.event_id);
}

inline bool Same(const IntervalEnd& a, const IntervalEnd& b) {
  const auto tie = [](const IntervalEnd& x) {
    return std::tie(x.until_ns, x.dropped_reports, x.dropped_partials, x.is_monitor_off);
  };
  return tie(a) == tie(b) && Same(a.incomplete, b.incomplete);
}

inline bool Same(const ExpectedSlice& a, const ExpectedSlice& b) {
  const auto tie = [](const ExpectedSlice& x) {
    return std::tie(x.tag, x.run, x.slot, x.query, x.name, x.is_confine, x.prefix, x.path,
                    x.locations, x.numbers, x.start, x.end);
  };
  return tie(a) == tie(b);
}

inline bool Same(const ExpectSlices& a, const ExpectSlices& b) { return Same(a.slices, b.slices); }

inline bool Same(const TallyRequest& a, const TallyRequest& b) {
  return std::tie(a.number, a.tags) == std::tie(b.number, b.tags);
}

inline bool Same(const SliceTally& a, const SliceTally& b) {
  const auto tie = [](const SliceTally& x) {
    return std::tie(x.tag, x.switch_name, x.packets, x.bytes, x.copy_bytes, x.first, x.last);
  };
  return tie(a) == tie(b);
}

inline bool Same(const SliceTallies& a, const SliceTallies& b) {
  return std::tie(a.number, a.is_last) == std::tie(b.number, b.is_last) &&
         Same(a.tallies, b.tallies);
}

inline bool Same(const CopyLatency& a, const CopyLatency& b) {
  return std::tie(a.switch_name, a.latency, a.error) == std::tie(b.switch_name, b.latency, b.error);
}

inline bool Same(const FinishRun& a, const FinishRun& b) {
  return a.run == b.run && Same(a.latencies, b.latencies);
}

inline bool Same(const RunAnswer& a, const RunAnswer& b) {
  return std::tie(a.run, a.part, a.is_last, a.text) == std::tie(b.run, b.part, b.is_last, b.text);
}

inline bool Same(const PacketsRequest& a, const PacketsRequest& b) {
  return std::tie(a.number, a.tag, a.first, a.max_packets) ==
         std::tie(b.number, b.tag, b.first, b.max_packets);
}

inline bool Same(const PacketRecord& a, const PacketRecord& b) {
  return std::tie(a.switch_name, a.time, a.wire_bytes, a.is_ethernet, a.bytes) ==
         std::tie(b.switch_name, b.time, b.wire_bytes, b.is_ethernet, b.bytes);
}

inline bool Same(const PacketRecords& a, const PacketRecords& b) {
  return std::tie(a.number, a.first, a.is_last) == std::tie(b.number, b.first, b.is_last) &&
         Same(a.records, b.records);
}

inline bool Same(const PacketFilePlace& a, const PacketFilePlace& b) {
  return std::tie(a.slot, a.query, a.offset) == std::tie(b.slot, b.query, b.offset);
}

inline bool Same(const PacketFileRequest& a, const PacketFileRequest& b) {
  return std::tie(a.number, a.run, a.max_bytes) == std::tie(b.number, b.run, b.max_bytes) &&
         Same(a.from, b.from);
}

inline bool Same(const PacketFilePiece& a, const PacketFilePiece& b) {
  return std::tie(a.number, a.is_last, a.bytes, a.error) ==
             std::tie(b.number, b.is_last, b.bytes, b.error) &&
         Same(a.next, b.next);
}

inline bool Same(const TraceWord& a, const TraceWord& b) {
  return std::tie(a.name, a.value) == std::tie(b.name, b.value);
}

inline bool Same(const TraceRequest& a, const TraceRequest& b) {
  return std::tie(a.number, a.what, a.packets) == std::tie(b.number, b.what, b.packets) &&
         Same(a.words, b.words);
}

inline bool Same(const TraceRecord& a, const TraceRecord& b) {
  return std::tie(a.start, a.id, a.text) == std::tie(b.start, b.id, b.text);
}

inline bool Same(const TraceAnswer& a, const TraceAnswer& b) {
  return std::tie(a.number, a.has_more, a.files, a.traces, a.bytes, a.left_out, a.error,
                  a.is_wrong) == std::tie(b.number, b.has_more, b.files, b.traces, b.bytes,
                                          b.left_out, b.error, b.is_wrong) &&
         Same(a.records, b.records);
}

inline bool Same(const TraceCancel& a, const TraceCancel& b) { return a.number == b.number; }

inline bool Same(const TraceCounters& a, const TraceCounters& b) {
  return std::tie(a.part, a.is_last, a.text) == std::tie(b.part, b.is_last, b.text);
}

inline bool Same(const TraceSent& a, const TraceSent& b) {
  return std::tie(a.switch_number, a.sent, a.asked_ago) ==
         std::tie(b.switch_number, b.sent, b.asked_ago);
}

inline bool Same(const TraceNetwork& a, const TraceNetwork& b) {
  return std::tie(a.part, a.is_last, a.text) == std::tie(b.part, b.is_last, b.text);
}

inline bool Same(const std::string& a, const std::string& b) { return a == b; }

inline bool Same(const ProgramName& a, const ProgramName& b) {
  return std::tie(a.name, a.id) == std::tie(b.name, b.id);
}

inline bool Same(const MeasureParam& a, const MeasureParam& b) {
  return std::tie(a.name, a.value.numerator, a.value.denominator, a.is_bound) ==
         std::tie(b.name, b.value.numerator, b.value.denominator, b.is_bound);
}

inline bool Same(const MeasureRole& a, const MeasureRole& b) {
  return std::tie(a.name, a.kind) == std::tie(b.name, b.kind);
}

inline bool Same(const MeasureKey& a, const MeasureKey& b) {
  return std::tie(a.name, a.role, a.fields, a.bytes) == std::tie(b.name, b.role, b.fields, b.bytes);
}

inline bool Same(const MeasureHeader& a, const MeasureHeader& b) {
  return std::tie(a.name, a.guard, a.offset, a.bytes) ==
         std::tie(b.name, b.guard, b.offset, b.bytes);
}

inline bool Same(const MeasureHeaderField& a, const MeasureHeaderField& b) {
  return std::tie(a.name, a.header, a.offset, a.bits) ==
         std::tie(b.name, b.header, b.offset, b.bits);
}

inline bool Same(const MeasureVariable& a, const MeasureVariable& b) {
  const auto tie = [](const MeasureVariable& x) {
    return std::tie(x.name, x.kind, x.merge, x.evicts, x.bits, x.hashes, x.size, x.key, x.role,
                    x.window);
  };
  return tie(a) == tie(b);
}

inline bool Same(const MeasureWindow& a, const MeasureWindow& b) {
  return std::tie(a.duration, a.quantum, a.mode, a.role, a.task, a.variables) ==
         std::tie(b.duration, b.quantum, b.mode, b.role, b.task, b.variables);
}

inline bool Same(const MeasureStream& a, const MeasureStream& b) { return a.name == b.name; }

inline bool Same(const MeasureTask& a, const MeasureTask& b) {
  return std::tie(a.role, a.stream, a.window, a.root) ==
         std::tie(b.role, b.stream, b.window, b.root);
}

inline bool Same(const MeasureNode& a, const MeasureNode& b) {
  return std::tie(a.kind, a.update, a.field, a.target, a.expr, a.children) ==
         std::tie(b.kind, b.update, b.field, b.target, b.expr, b.children);
}

inline bool Same(const MeasureExpr& a, const MeasureExpr& b) {
  const auto tie = [](const MeasureExpr& x) {
    return std::tie(x.kind, x.op, x.aggregate, x.field, x.variable, x.a, x.b, x.value,
                    x.denominator);
  };
  return tie(a) == tie(b);
}

// Without what stays behind: places and diagnostics.
inline bool Same(const MeasureProgram& a, const MeasureProgram& b) {
  return a.name == b.name && Same(a.params, b.params) && Same(a.endpoints, b.endpoints) &&
         Same(a.roles, b.roles) && Same(a.keys, b.keys) && Same(a.headers, b.headers) &&
         Same(a.header_fields, b.header_fields) && Same(a.variables, b.variables) &&
         Same(a.windows, b.windows) && Same(a.streams, b.streams) && Same(a.tasks, b.tasks) &&
         Same(a.nodes, b.nodes) && Same(a.exprs, b.exprs);
}

inline bool Same(const ProgramOn& a, const ProgramOn& b) {
  return Same(a.program, b.program) && a.seed == b.seed && Same(a.source, b.source) &&
         a.place.holds_tags == b.place.holds_tags &&
         std::tie(a.place.edges, a.place.switch_id, a.place.is_lab, a.place.endpoints,
                  a.place.copies_per_second) == std::tie(b.place.edges, b.place.switch_id,
                                                         b.place.is_lab, b.place.endpoints,
                                                         b.place.copies_per_second);
}

inline bool Same(const ProgramOff& a, const ProgramOff& b) { return Same(a.program, b.program); }

inline bool Same(const ProgramAck& a, const ProgramAck& b) {
  return Same(a.program, b.program) && std::tie(a.is_on, a.error) == std::tie(b.is_on, b.error);
}

inline bool Same(const ProgramList& a, const ProgramList& b) {
  return Same(a.programs, b.programs);
}

inline bool Same(const CellsRequest& a, const CellsRequest& b) {
  const auto tie = [](const CellsRequest& x) {
    return std::tie(x.number, x.variable, x.first, x.max_cells, x.key, x.wants_keys, x.is_request,
                    x.fields);
  };
  return Same(a.program, b.program) && tie(a) == tie(b);
}

inline bool Same(const ProgramCopy& a, const ProgramCopy& b) {
  return std::tie(a.time_ns, a.endpoint, a.present, a.values) ==
         std::tie(b.time_ns, b.endpoint, b.present, b.values);
}

inline bool Same(const CellsAnswer& a, const CellsAnswer& b) {
  return std::tie(a.number, a.cells, a.cell_count, a.error, a.left_out) ==
             std::tie(b.number, b.cells, b.cell_count, b.error, b.left_out) &&
         Same(a.copies, b.copies);
}

inline bool Same(const ProgramCounts& a, const ProgramCounts& b) {
  return Same(a.program, b.program) && a.since_ns == b.since_ns && a.copies == b.copies;
}

template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return Same(x, y); });
}

}  // namespace same

inline bool SameMessage(const Message& a, const Message& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) { return same::Same(left, std::get<std::decay_t<decltype(left)>>(b)); },
      a);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SAME_MESSAGE_TEST_H
