// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What programs of the table collect, and requests that they answer.

#include <optional>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/measure/cell.h"
#include "lib/measure/request_frame.h"
#include "lib/measure/request_run.h"
#include "vswitchd-plugin/measurement_table.h"

namespace trumpet {
namespace {

using event_lang::Quote;

constexpr size_t kMostRequestsAtOnce = 16;
constexpr int kMostCopiesAtOnce = 4096;  // of a thread

}  // namespace

// --- what is collected -------------------------------------------------------

void MeasurementTable::TakeCollected(Nanos now, Measurement* measurement) {
  for (const auto& replica : measurement->replicas) {
    replica.state->ClearRetired();
    CollectedPacket packet;
    for (int i = 0; i < kMostCopiesAtOnce && replica.state->ReadCollected(&packet); ++i) {
      Keep(packet, now, measurement);
    }
  }
}

void MeasurementTable::Keep(const CollectedPacket& packet, Nanos now, Measurement* measurement) {
  const bool is_bound = measurement->sender != nullptr && measurement->sender->Send(packet, now);
  if (!is_bound) ++measurement->unbound;
  if (measurement->copies.size() == kKeptCopies) measurement->copies.pop_front();
  measurement->copies.push_back(packet);
}

std::vector<MeasurementCopies> MeasurementTable::Copies() const {
  std::vector<MeasurementCopies> all;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& measurement : measurements_) {
    MeasurementCopies one{measurement->name, measurement->origin, measurement->since, {}};
    one.copies.collected = measurement->answered;
    one.copies.unbound = measurement->unbound;
    if (measurement->sender != nullptr) one.copies.endpoints = measurement->sender->Counts();
    for (const auto& replica : measurement->replicas) {
      const ProgramState::Counters& counters = replica.state->counters();
      one.copies.collected += counters.collected.load(std::memory_order_relaxed);
      one.copies.lost += counters.lost.load(std::memory_order_relaxed);
    }
    all.push_back(std::move(one));
  }
  return all;
}

// --- requests ----------------------------------------------------------------

// Packets go on meanwhile, and other commands: cells are copied without the lock.
Result<std::vector<CollectedPacket>> MeasurementTable::Ask(const std::string& name,
                                                           const PacketValues& request,
                                                           Nanos unix_now, Nanos now) {
  Result<std::vector<CollectedPacket>> copies = std::vector<CollectedPacket>();
  const Result<MeasurementView> view = Find(name);
  if (view.ok()) {
    PacketValues values = request;
    values.value[kSwitchId] = view->measurement->way.switch_id;
    copies = RunRequest(view->states, values, static_cast<uint64_t>(unix_now));
  } else {
    copies = view.status();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++(copies.ok() ? requests_ : refused_requests_);
  if (!copies.ok()) return copies;
  const auto measurement = FindLocked(name);
  if (measurement != view->measurement) return copies;  // removed meanwhile
  for (const CollectedPacket& copy : *copies) Keep(copy, now, measurement.get());
  measurement->answered += copies->size();
  return copies;
}

void MeasurementTable::AnswerRequests(Nanos unix_now, Nanos now) {
  if (!is_any_on()) return;
  std::vector<std::vector<uint8_t>> frames;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<uint8_t> frame;
    for (const Thread& thread : threads_) {
      while (frames.size() < kMostRequestsAtOnce && thread.monitor->ReadRequest(&frame)) {
        frames.push_back(frame);
      }
    }
  }
  for (const std::vector<uint8_t>& frame : frames) {
    const Status status = AnswerFrame(frame, unix_now, now);
    if (!status.ok()) host_->Warn("a request by packet-out: " + status.message());
  }
}

Status MeasurementTable::AnswerFrame(const std::vector<uint8_t>& frame, Nanos unix_now, Nanos now) {
  const std::optional<RequestFrame> request = ReadRequestFrame(frame.data(), frame.size());
  PacketValues values;
  std::string problem = request ? "" : "it is malformed";
  for (size_t i = 0; request && i < request->fields.size() && problem.empty(); ++i) {
    const auto& [name, value] = request->fields[i];
    const auto field = MeasureFieldByName(name);
    if (!field || value > BitMask(kMeasureFields[*field].bits)) {
      problem = "it has no field " + Quote(name) + " of that value";
    } else {
      values.Set(*field, value);
    }
  }
  if (problem.empty()) return Ask(request->program, values, unix_now, now).status();
  const std::lock_guard<std::mutex> lock(mutex_);
  ++refused_requests_;
  return Status::Error(problem);
}

}  // namespace trumpet
