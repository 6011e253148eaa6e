// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/datapath_driver.h"

#include <variant>

#include "controller/slice/copy_flows.h"

namespace trumpet {

struct DatapathDriver::Slice {
  std::string switch_name;
  Nanos duration = 0;
  Done on;                // until it is answered
  std::vector<Done> off;  // likewise
  std::unique_ptr<LoopEvent> timer;
};

namespace {

Status CheckCopies(const DatapathPlace& place, const SliceSpec& slice) {
  if (place.flow == CopyFlowState::kMissing) {
    return Status::Error("the flows that copy what it marks are not there; openflow/list says why");
  }
  const bool can_cut = slice.snap_bytes == 0 || slice.snap_bytes == kSliceSnapBytes;
  if (place.flow == CopyFlowState::kOurs && !can_cut) {
    return Status::Error("it copies packets whole or their first " +
                         std::to_string(kSliceSnapBytes) + " bytes, not " +
                         std::to_string(slice.snap_bytes));
  }
  return Status::Ok();
}

}  // namespace

DatapathDriver::DatapathDriver(event_base* base, EventManager* manager, FindPlace find_place)
    : base_(base),
      manager_(manager),
      find_place_(std::move(find_place)),
      later_event_(base, [this] {
        for (const auto& action : std::exchange(later_, {})) action();
      }) {
  manager_->ListenToSlices(
      [this](const std::string& host, const Message* message) { OnMessage(host, message); });
}

DatapathDriver::~DatapathDriver() { manager_->ListenToSlices(nullptr); }

void DatapathDriver::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

bool DatapathDriver::Serves(const std::string& switch_name) const {
  const std::optional<DatapathPlace> place = find_place_(switch_name);
  return place && place->flow != CopyFlowState::kMissing && manager_->TakesSlices(place->host);
}

uint16_t DatapathDriver::NumberOf(const std::string& switch_name) const {
  const std::optional<DatapathPlace> place = find_place_(switch_name);
  return place.has_value() ? place->number : 0;
}

void DatapathDriver::TurnOn(const std::string& switch_name, const SliceSpec& slice, Done done) {
  const auto refuse = [&](const std::string& why) {
    Later([done = std::move(done), why = "switch '" + switch_name + "': " + why] {
      done(Status::Error(why));
    });
  };
  const std::optional<DatapathPlace> place = find_place_(switch_name);
  if (!place) return refuse("its host is not known");
  if (const Status status = CheckCopies(*place, slice); !status.ok()) {
    return refuse(status.message());
  }
  SliceOn order{slice};
  order.slice.bridge = place->bridge;
  if (place->flow == CopyFlowState::kOurs) {
    order.slice.mark = slice.snap_bytes == 0 ? kWholeMark : kBeginningMark;
  }
  if (Find(switch_name, slice.tag) != slices_.end()) return refuse("the tag is in use");
  const Result<std::string> host = manager_->SendSlice(place->host, order);
  if (!host.ok()) return refuse(host.message());
  const Key key{*host, place->bridge, slice.tag};
  auto one = std::make_unique<Slice>();
  one->switch_name = switch_name;
  one->duration = slice.duration;
  one->on = std::move(done);
  one->timer = std::make_unique<LoopEvent>(base_, [this, key] { OnTime(key); });
  one->timer->RunAfter(kPatience);
  slices_[key] = std::move(one);
}

void DatapathDriver::TurnOff(const std::string& switch_name, uint32_t tag, Done done) {
  const auto at = Find(switch_name, tag);
  if (at == slices_.end()) return Later([done = std::move(done)] { done(Status::Ok()); });
  const Result<std::string> sent = SendOff(at->first);
  if (sent.ok()) {
    at->second->off.push_back(std::move(done));
  } else {
    Later([done = std::move(done), why = sent.message() + "; the slice ends by itself"] {
      done(Status::Error(why));
    });
  }
}

Result<std::string> DatapathDriver::SendOff(const Key& key) {
  const auto& [host, bridge, tag] = key;
  return manager_->SendSlice(host, SliceOff{bridge, tag});
}

DatapathDriver::Slices::iterator DatapathDriver::Find(const std::string& switch_name,
                                                      uint32_t tag) {
  for (auto at = slices_.begin(); at != slices_.end(); ++at) {
    if (std::get<uint32_t>(at->first) == tag && at->second->switch_name == switch_name) return at;
  }
  return slices_.end();
}

void DatapathDriver::OnMessage(const std::string& host, const Message* message) {
  if (message == nullptr) return OnHostGone(host);
  if (const auto* ack = std::get_if<SliceAck>(message)) {
    return OnAck({host, ack->bridge, ack->tag}, *ack);
  }
  const auto* told = std::get_if<HostSliceEnd>(message);
  if (told == nullptr) return;
  const auto at = slices_.find({host, told->bridge, told->tag});
  if (at == slices_.end()) return;
  End(at, {at->second->switch_name, told->tag, told->packets, told->bytes, told->withheld,
           told->lasted_ns});
}

void DatapathDriver::OnAck(const Key& key, const SliceAck& ack) {
  const auto at = slices_.find(key);
  if (at == slices_.end()) return;
  Slice* const slice = at->second.get();
  if (slice->on == nullptr) return;
  if (!ack.is_on) return Refuse(at, ack.error.empty() ? "was turned off" : ack.error);
  slice->timer->RunAfter(slice->duration + kPatience);
  Later([done = std::exchange(slice->on, nullptr)] { done(Status::Ok()); });
}

// What is on ends at its deadline, told or not.  What was not answered may be on.
void DatapathDriver::OnHostGone(const std::string& host) {
  for (auto at = slices_.begin(); at != slices_.end();) {
    const auto next = std::next(at);
    if (std::get<0>(at->first) == host && at->second->on != nullptr)
      Refuse(at, "its host has gone");
    at = next;
  }
}

void DatapathDriver::OnTime(const Key& key) {
  const auto at = slices_.find(key);
  if (at == slices_.end()) return;
  if (at->second->on == nullptr) {
    return End(at, {at->second->switch_name, std::get<uint32_t>(key), 0, 0, 0, 0});
  }
  static_cast<void>(SendOff(key));
  Refuse(at, "its host does not answer");
}

void DatapathDriver::Refuse(Slices::iterator at, const std::string& why) {
  Later([slice = std::shared_ptr<Slice>(std::move(at->second)), why] {
    slice->on(Status::Error("switch '" + slice->switch_name + "': " + why));
    for (const Done& done : slice->off) done(Status::Ok());
  });
  slices_.erase(at);
}

// The end may overtake the answer to a slice that was short; it was on all the same.
void DatapathDriver::End(Slices::iterator at, SliceEnd end) {
  Later([this, slice = std::shared_ptr<Slice>(std::move(at->second)), end = std::move(end)] {
    if (slice->on != nullptr) slice->on(Status::Ok());
    if (ended_ != nullptr) ended_(end);
    for (const Done& done : slice->off) done(Status::Ok());
  });
  slices_.erase(at);
}

}  // namespace trumpet
