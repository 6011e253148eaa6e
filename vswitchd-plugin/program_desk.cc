// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/program_desk.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/measure/cell.h"
#include "lib/measure/packet_values.h"
#include "lib/measure/read_state.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

static_assert(kMaxMeasurements <= kMaxProgramsListed);

bool HasCellsOfKeys(const MeasureVariable& variable) {
  return variable.key != kNoIndex && variable.kind != MeasureKind::kPcsa &&
         variable.kind != MeasureKind::kHyperLogLog;
}

// False: they are not values of the fields of the key.
bool SetKey(const MeasureProgram& program, const MeasureKey& key,
            const std::vector<uint64_t>& values, PacketValues* packet) {
  if (values.size() != key.fields.size()) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] > BitMask(FieldBits(program, key.fields[i]))) return false;
    packet->Set(key.fields[i], values[i]);
  }
  return true;
}

// False: a field is none of the program's, or has no such value.
bool SetFields(const MeasureProgram& program, const CellsRequest& request, PacketValues* packet) {
  const size_t count = kMeasureFieldCount + program.header_fields.size();
  for (size_t i = 0; i < request.fields.size(); ++i) {
    const MeasureFieldId field = request.fields[i];
    if (field >= count || request.key[i] > BitMask(FieldBits(program, field))) return false;
    packet->Set(field, request.key[i]);
  }
  return true;
}

void ReadOfKey(const MeasurementView& view, const CellsRequest& request, CellsAnswer* answer) {
  const MeasureProgram& program = view.program().source;
  const MeasureVariable& variable = program.variables[request.variable];
  PacketValues packet;
  if (!HasCellsOfKeys(variable)) {
    answer->error = "the variable " + variable.name + " has no cells of a key";
  } else if (!SetKey(program, program.keys[variable.key], request.key, &packet)) {
    answer->error = "the key has other fields";
  } else {
    answer->cells = ReadKeyCells(view.states, request.variable, packet);
    answer->cell_count = static_cast<uint32_t>(answer->cells.size());
  }
}

void ReadInOrder(const MeasurementView& view, const CellsRequest& request, CellsAnswer* answer) {
  answer->cell_count = view.program().variables[request.variable].cell_count;
  const uint32_t first = std::min(request.first, answer->cell_count);
  const uint32_t last = first + std::min(request.max_cells, answer->cell_count - first);
  answer->cells.reserve(last - first);
  for (uint32_t i = first; i < last; ++i) {
    answer->cells.push_back(ReadMergedCell(view.states, request.variable, i));
  }
}

// Keys of the packets that were collected last, the newest first, each once.
void ReadKeys(const MeasurementStatus& status, const CellsRequest& request, CellsAnswer* answer) {
  const MeasureProgram& program = status.view.program().source;
  const MeasureVariable& variable = program.variables[request.variable];
  if (!HasCellsOfKeys(variable)) {
    answer->error = "the variable " + variable.name + " has no cells of a key";
    return;
  }
  const MeasureKey& key = program.keys[variable.key];
  std::set<std::vector<uint64_t>> seen;
  for (auto copy = status.copies.rbegin(); copy != status.copies.rend(); ++copy) {
    const PacketValues packet = FieldsOf(*copy);
    std::vector<uint64_t> values;
    for (const MeasureFieldId field : key.fields) values.push_back(packet.value[field]);
    if (answer->cells.size() + values.size() > request.max_cells) break;
    if (!seen.insert(values).second) continue;
    answer->cells.insert(answer->cells.end(), values.begin(), values.end());
  }
  answer->cell_count = static_cast<uint32_t>(answer->cells.size());
}

}  // namespace

ProgramList ProgramDesk::BeginSession(uint64_t controller_id) {
  if (controller_id != std::exchange(controller_id_, controller_id)) {
    for (const ProgramName& program : List().programs) {
      static_cast<void>(table_->Remove(program.name, program.id));
    }
  }
  told_.clear();
  return List();
}

std::optional<Message> ProgramDesk::Take(const Message& message, Nanos unix_now, Nanos now) {
  if (const auto* on = std::get_if<ProgramOn>(&message)) return TurnOn(*on, unix_now);
  if (const auto* off = std::get_if<ProgramOff>(&message)) return TurnOff(*off);
  if (const auto* request = std::get_if<CellsRequest>(&message)) {
    return request->is_request ? Ask(*request, unix_now, now) : Read(*request);
  }
  return std::nullopt;
}

ProgramAck ProgramDesk::TurnOn(const ProgramOn& on, Nanos now) {
  ProgramAck ack{on.program, true, ""};
  if (Runs(on.program)) {
    if (!on.place.holds_tags) table_->ReleaseTags(on.program.name, on.program.id);
    return ack;
  }
  const Status status =
      table_->Add(on.program.name, on.source, now, on.place, {on.program.id, on.seed});
  ack.is_on = status.ok();
  if (!status.ok()) ack.error = status.message();
  return ack;
}

ProgramAck ProgramDesk::TurnOff(const ProgramOff& off) {
  static_cast<void>(table_->Remove(off.program.name, off.program.id));
  return {off.program, false, ""};
}

CellsAnswer ProgramDesk::Read(const CellsRequest& request) const {
  CellsAnswer answer;
  answer.number = request.number;
  if (!Runs(request.program)) {
    answer.error = "the program " + event_lang::Quote(request.program.name) + " is not installed";
    return answer;
  }
  const Result<MeasurementStatus> status = table_->Show(request.program.name);
  const MeasurementView* const view = status.ok() ? &status->view : nullptr;
  if (view == nullptr) {
    answer.error = status.message();
  } else if (view->states.empty()) {
    answer.error = "the switch has no packet thread yet";
  } else if (request.variable >= view->program().variables.size()) {
    answer.error = "the program has no variable " + std::to_string(request.variable);
  } else if (request.wants_keys) {
    ReadKeys(*status, request, &answer);
  } else if (!request.key.empty()) {
    ReadOfKey(*view, request, &answer);
  } else {
    ReadInOrder(*view, request, &answer);
  }
  return answer;
}

CellsAnswer ProgramDesk::Ask(const CellsRequest& request, Nanos unix_now, Nanos now) {
  CellsAnswer answer;
  answer.number = request.number;
  const Result<MeasurementStatus> status = table_->Show(request.program.name);
  if (!Runs(request.program) || !status.ok()) {
    answer.error = "the program " + event_lang::Quote(request.program.name) + " is not installed";
    return answer;
  }
  PacketValues packet;
  if (!SetFields(status->view.program().source, request, &packet)) {
    answer.error = "the program has no fields of these values";
    return answer;
  }
  const auto copies = table_->Ask(request.program.name, packet, unix_now, now);
  if (!copies.ok()) {
    answer.error = copies.message();
    return answer;
  }
  for (const CollectedPacket& copy : *copies) {
    if (answer.copies.size() == kMaxProgramCopies) {
      ++answer.left_out;
      continue;
    }
    answer.copies.push_back(
        {static_cast<Nanos>(copy.now), copy.endpoint, copy.present, copy.values});
  }
  return answer;
}

std::vector<ProgramCounts> ProgramDesk::TakeCounts() {
  std::vector<ProgramCounts> changed;
  std::map<uint32_t, ProgramCopies> known;
  for (MeasurementCopies& one : table_->Copies()) {
    if (!one.origin.is_controller()) continue;
    const auto told = told_.find(one.origin.id);
    if (told == told_.end() || !(told->second == one.copies)) {
      changed.push_back({{one.name, one.origin.id}, one.since, one.copies});
    }
    known.emplace(one.origin.id, std::move(one.copies));
  }
  told_ = std::move(known);
  return changed;
}

bool ProgramDesk::Runs(const ProgramName& program) const {
  const Result<MeasurementStatus> status = table_->Show(program.name);
  return status.ok() && status->view.measurement->origin.id == program.id;
}

ProgramList ProgramDesk::List() const {
  ProgramList list;
  for (const MeasurementStatus& status : table_->Snapshot().programs) {
    const Measurement& measurement = *status.view.measurement;
    if (!measurement.origin.is_controller()) continue;
    list.programs.push_back({measurement.name, measurement.origin.id});
  }
  return list;
}

}  // namespace trumpet
