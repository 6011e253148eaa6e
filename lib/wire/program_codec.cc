// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/program_codec.h"

#include <set>
#include <string_view>

#include "lib/wire/limits.h"
#include "lib/wire/measure_codec.h"
#include "lib/wire/message.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

static_assert(pb::CAPABILITY_PROGRAMS == kCapabilityPrograms);
static_assert(pb::CAPABILITY_COLLECT == kCapabilityCollect);

template <typename Named>
bool CheckName(const Named& named, const Place& place, Checker* checker) {
  return checker->Name(place, "name", named.name()) &&
         checker->Range(place, "id", named.id(), 1, UINT32_MAX);
}

// What an address means is checked where it is used.
bool CheckEndpoints(const pb::MeasurePlace& in, const Place& place, Checker* checker) {
  if (!checker->Count(place, "endpoints", in.endpoints_size(), kMaxMeasureNames)) return false;
  std::set<std::string_view> names;
  for (int i = 0; i < in.endpoints_size(); ++i) {
    const pb::MeasureEndpoint& endpoint = in.endpoints(i);
    const Place here(place, "endpoints", i);
    if (!checker->Name(here, "name", endpoint.name()) ||
        !checker->Name(here, "address", endpoint.address())) {
      return false;
    }
    if (!names.insert(endpoint.name()).second) return checker->Fail(here, "name", "stands twice");
  }
  return true;
}

bool Check(const pb::MeasurePlace& in, const Place& place, Checker* checker) {
  if (!checker->Count(place, "edges", in.edges_size(), kMaxEdgePorts)) return false;
  for (int i = 0; i < in.edges_size(); ++i) {
    if (!checker->Name(Place(place, "edges", i), "name", in.edges(i))) return false;
  }
  return checker->Range(place, "number", in.number(), 0, UINT8_MAX) &&
         checker->Range(place, "copies_per_second", in.copies_per_second(), 0,
                        kMaxCopiesPerSecond) &&
         CheckEndpoints(in, place, checker);
}

void Write(const MeasurementPlace& place, pb::MeasurePlace* out) {
  out->set_has_edges(place.edges.has_value());
  if (place.edges) {
    for (const std::string& port : *place.edges) out->add_edges(port);
  }
  out->set_has_number(place.switch_id.has_value());
  out->set_number(place.switch_id.value_or(0));
  out->set_is_lab(place.is_lab);
  for (const auto& [name, address] : place.endpoints) {
    pb::MeasureEndpoint* const endpoint = out->add_endpoints();
    endpoint->set_name(name);
    endpoint->set_address(address);
  }
  // Older agents see what they have always seen.
  const bool is_usual = place.copies_per_second == kDefaultCopiesPerSecond;
  out->set_copies_per_second(is_usual ? 0 : place.copies_per_second);
  out->set_holds_tags(place.holds_tags);
}

MeasurementPlace Read(const pb::MeasurePlace& in) {
  MeasurementPlace place;
  if (in.has_edges()) place.edges.emplace(in.edges().begin(), in.edges().end());
  if (in.has_number()) place.switch_id = static_cast<uint8_t>(in.number());
  place.is_lab = in.is_lab();
  for (const pb::MeasureEndpoint& endpoint : in.endpoints()) {
    place.endpoints.emplace(endpoint.name(), endpoint.address());
  }
  if (in.copies_per_second() != 0) place.copies_per_second = in.copies_per_second();
  place.holds_tags = in.holds_tags();
  return place;
}

bool CheckFields(const pb::CellsRequest& request, const Place& place, Checker* checker) {
  if (request.fields_size() != (request.is_request() ? request.key_size() : 0)) {
    return checker->Fail(place, "fields", "are not as many as values of a request");
  }
  for (int i = 0; i < request.fields_size(); ++i) {
    if (!checker->Range(Place(place, "fields", i), "field", request.fields(i), 0, UINT16_MAX)) {
      return false;
    }
  }
  return true;
}

bool Check(const pb::ProgramCopy& copy, const Place& place, Checker* checker) {
  if (copy.values_size() != __builtin_popcountll(copy.present())) {
    return checker->Fail(place, "values", "are not as many as fields that are present");
  }
  return checker->Range(place, "endpoint", copy.endpoint(), 0, kMaxMeasureNames - 1) &&
         checker->Instant(place, "time_ns", copy.time_ns());
}

void Write(const ProgramCopy& copy, pb::ProgramCopy* out) {
  out->set_time_ns(copy.time_ns);
  out->set_endpoint(copy.endpoint);
  out->set_present(copy.present);
  out->mutable_values()->Add(copy.values.begin(), copy.values.end());
}

ProgramCopy Read(const pb::ProgramCopy& in) {
  return {in.time_ns(), in.endpoint(), in.present(), {in.values().begin(), in.values().end()}};
}

template <typename Named>
void WriteName(const ProgramName& program, Named* out) {
  out->set_name(program.name);
  out->set_id(program.id);
}

template <typename Named>
ProgramName ReadName(const Named& in) {
  return {in.name(), in.id()};
}

}  // namespace

bool Check(const pb::ProgramOn& on, const Place& place, Checker* checker) {
  return CheckName(on, place, checker) && checker->Present(place, "program", on.has_program()) &&
         Check(on.program(), Place(place, "program"), checker) &&
         Check(on.place(), Place(place, "place"), checker);
}

bool Check(const pb::ProgramOff& off, const Place& place, Checker* checker) {
  return CheckName(off, place, checker);
}

bool Check(const pb::ProgramAck& ack, const Place& place, Checker* checker) {
  if (ack.is_on() && !ack.error().empty()) {
    return checker->Fail(place, "error", "stands with a program that is on");
  }
  return CheckName(ack, place, checker) &&
         checker->Text(place, "error", ack.error(), kMaxLongTextBytes);
}

bool Check(const pb::ProgramList& list, const Place& place, Checker* checker) {
  if (!checker->Count(place, "programs", list.programs_size(), kMaxProgramsListed)) return false;
  for (int i = 0; i < list.programs_size(); ++i) {
    if (!CheckName(list.programs(i), Place(place, "programs", i), checker)) return false;
  }
  return true;
}

bool Check(const pb::CellsRequest& request, const Place& place, Checker* checker) {
  return CheckName(request, place, checker) &&
         checker->Range(place, "max_cells", request.max_cells(), 1, kMaxCellsAsked) &&
         checker->Count(place, "key", request.key_size(), kMaxMeasureKeyBytes) &&
         CheckFields(request, place, checker);
}

bool Check(const pb::CellsAnswer& answer, const Place& place, Checker* checker) {
  if (!answer.error().empty() && answer.cells_size() + answer.copies_size() > 0) {
    return checker->Fail(place, "error", "stands with cells");
  }
  if (!checker->Count(place, "copies", answer.copies_size(), kMaxProgramCopies)) return false;
  for (int i = 0; i < answer.copies_size(); ++i) {
    if (!Check(answer.copies(i), Place(place, "copies", i), checker)) return false;
  }
  return checker->Count(place, "cells", answer.cells_size(), kMaxCellsAsked) &&
         checker->Text(place, "error", answer.error(), kMaxLongTextBytes);
}

bool Check(const pb::ProgramCounts& counts, const Place& place, Checker* checker) {
  return CheckName(counts, place, checker) &&
         checker->Instant(place, "since_ns", counts.since_ns()) &&
         checker->Count(place, "endpoints", counts.endpoints_size(), kMaxMeasureNames);
}

void Write(const ProgramOn& on, pb::ProgramOn* out) {
  WriteName(on.program, out);
  out->set_seed(on.seed);
  Write(on.source, out->mutable_program());
  Write(on.place, out->mutable_place());
}

void Write(const ProgramOff& off, pb::ProgramOff* out) { WriteName(off.program, out); }

void Write(const ProgramAck& ack, pb::ProgramAck* out) {
  WriteName(ack.program, out);
  out->set_is_on(ack.is_on);
  out->set_error(ToWireText(ack.error, kMaxLongTextBytes));
}

void Write(const ProgramList& list, pb::ProgramList* out) {
  for (const ProgramName& program : list.programs) WriteName(program, out->add_programs());
}

void Write(const CellsRequest& request, pb::CellsRequest* out) {
  out->set_number(request.number);
  WriteName(request.program, out);
  out->set_variable(request.variable);
  out->set_first(request.first);
  out->set_max_cells(request.max_cells);
  out->mutable_key()->Add(request.key.begin(), request.key.end());
  out->set_wants_keys(request.wants_keys);
  out->set_is_request(request.is_request);
  out->mutable_fields()->Add(request.fields.begin(), request.fields.end());
}

void Write(const CellsAnswer& answer, pb::CellsAnswer* out) {
  out->set_number(answer.number);
  out->mutable_cells()->Add(answer.cells.begin(), answer.cells.end());
  out->set_cell_count(answer.cell_count);
  out->set_error(ToWireText(answer.error, kMaxLongTextBytes));
  for (const ProgramCopy& copy : answer.copies) Write(copy, out->add_copies());
  out->set_left_out(answer.left_out);
}

void Write(const ProgramCounts& counts, pb::ProgramCounts* out) {
  WriteName(counts.program, out);
  out->set_since_ns(counts.since_ns);
  out->set_collected(counts.copies.collected);
  out->set_lost(counts.copies.lost);
  out->set_unbound(counts.copies.unbound);
  for (const EndpointCopies& endpoint : counts.copies.endpoints) {
    pb::EndpointCounts* const one = out->add_endpoints();
    one->set_sent(endpoint.sent);
    one->set_over_rate(endpoint.over_rate);
    one->set_failed(endpoint.failed);
  }
}

ProgramOn Read(const pb::ProgramOn& in) {
  return {ReadName(in), in.seed(), Read(in.program()), Read(in.place())};
}

ProgramOff Read(const pb::ProgramOff& in) { return {ReadName(in)}; }

ProgramAck Read(const pb::ProgramAck& in) { return {ReadName(in), in.is_on(), in.error()}; }

ProgramList Read(const pb::ProgramList& in) {
  ProgramList list;
  for (const pb::ProgramName& program : in.programs()) list.programs.push_back(ReadName(program));
  return list;
}

CellsRequest Read(const pb::CellsRequest& in) {
  return {in.number(),     ReadName(in),    in.variable(),
          in.first(),      in.max_cells(),  {in.key().begin(), in.key().end()},
          in.wants_keys(), in.is_request(), {in.fields().begin(), in.fields().end()}};
}

CellsAnswer Read(const pb::CellsAnswer& in) {
  CellsAnswer answer{
      in.number(), {in.cells().begin(), in.cells().end()}, in.cell_count(), in.error()};
  for (const pb::ProgramCopy& copy : in.copies()) answer.copies.push_back(Read(copy));
  answer.left_out = in.left_out();
  return answer;
}

ProgramCounts Read(const pb::ProgramCounts& in) {
  ProgramCounts counts{ReadName(in), in.since_ns(), {}};
  counts.copies.collected = in.collected();
  counts.copies.lost = in.lost();
  counts.copies.unbound = in.unbound();
  for (const pb::EndpointCounts& one : in.endpoints()) {
    counts.copies.endpoints.push_back({one.sent(), one.over_rate(), one.failed()});
  }
  return counts;
}

}  // namespace trumpet
