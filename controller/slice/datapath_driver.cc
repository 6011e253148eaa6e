// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/datapath_driver.h"

#include <variant>

namespace trumpet {

struct DatapathDriver::Slice {
  std::string switch_name;
  Nanos duration = 0;
  Done on;                // until it is answered
  std::vector<Done> off;  // likewise
  std::unique_ptr<LoopEvent> timer;
};

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
  return place && manager_->TakesSlices(place->host);
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
  SliceOn order{slice};
  order.slice.bridge = place->bridge;
  if (Find(switch_name, slice.tag) != slices_.end()) return refuse("the tag is in use");
  const Result<std::string> host = manager_->SendSlice(place->host, order);
  if (!host.ok()) return refuse(host.message());
  const Key key{*host, slice.tag};
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
  const Result<std::string> sent = manager_->SendSlice(at->first.first, SliceOff{tag});
  if (sent.ok()) {
    at->second->off.push_back(std::move(done));
  } else {
    Later([done = std::move(done), why = sent.message() + "; the slice ends by itself"] {
      done(Status::Error(why));
    });
  }
}

DatapathDriver::Slices::iterator DatapathDriver::Find(const std::string& switch_name,
                                                      uint32_t tag) {
  for (auto at = slices_.begin(); at != slices_.end(); ++at) {
    if (at->first.second == tag && at->second->switch_name == switch_name) return at;
  }
  return slices_.end();
}

void DatapathDriver::OnMessage(const std::string& host, const Message* message) {
  if (message == nullptr) return OnHostGone(host);
  if (const auto* ack = std::get_if<SliceAck>(message)) return OnAck({host, ack->tag}, *ack);
  const auto* told = std::get_if<HostSliceEnd>(message);
  if (told == nullptr) return;
  const auto at = slices_.find({host, told->tag});
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
    if (at->first.first == host && at->second->on != nullptr) Refuse(at, "its host has gone");
    at = next;
  }
}

void DatapathDriver::OnTime(const Key& key) {
  const auto at = slices_.find(key);
  if (at == slices_.end()) return;
  if (at->second->on == nullptr) return End(at, {at->second->switch_name, key.second, 0, 0, 0, 0});
  static_cast<void>(manager_->SendSlice(key.first, SliceOff{key.second}));
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
