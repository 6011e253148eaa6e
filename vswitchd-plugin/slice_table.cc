// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/slice_table.h"

#include <arpa/inet.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "lib/tpm/match_terms.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

constexpr size_t kMaxEnds = 4096;  // that nobody has asked for
constexpr size_t kMaxShown = 32;

bool LeadsToAnalyzer(const Port& port) {
  return port.type == "gre" || port.type == "erspan" || port.type == "ip6gre" ||
         port.type == "ip6erspan";
}

// False for "flow" and what else is no address.
bool ReadAddress(const std::string& text, IpBytes* address) {
  *address = {};
  return inet_pton(AF_INET, text.c_str(), address->data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address->data()) == 1;
}

HostSliceEnd EndOf(const LiveSlice& slice, Nanos now) {
  const SliceCounts counts = slice.counts();
  const Nanos lasted = std::max<Nanos>(0, std::min(now, slice.deadline()) - slice.on());
  const Nanos span = counts.packets > 0 ? std::max<Nanos>(0, counts.last - counts.first) : 0;
  return {slice.spec().bridge,
          slice.spec().tag,
          counts.packets,
          counts.bytes,
          counts.withheld,
          lasted,
          span};
}

// No bridge is any of them.
bool IsOneOf(const SliceSpec& slice, const std::string& bridge, uint32_t tag) {
  return slice.tag == tag && (bridge.empty() || slice.bridge == bridge);
}

std::string NameOf(const SliceSpec& slice) {
  const std::string tag = "tag " + std::to_string(slice.tag);
  return slice.bridge.empty() ? tag : tag + " of bridge '" + slice.bridge + "'";
}

}  // namespace

SlicePlaces SlicePlaces::Of(const HostFacts& facts) {
  SlicePlaces places;
  for (const Bridge& bridge : facts.bridges) places.ports_of[bridge.name];
  for (const Port& port : facts.ports) {
    places.ports_of[port.bridge].push_back(port.name);
    IpBytes address;
    if (LeadsToAnalyzer(port) && ReadAddress(port.remote_ip, &address)) {
      places.analyzers.push_back(address);
    }
  }
  return places;
}

SliceTable::SliceTable(const PortTable* ports, std::function<void()> on_change)
    : ports_(ports), on_change_(std::move(on_change)) {}

void SliceTable::Tell(bool was_any_on) const {
  if (was_any_on != is_any_on()) on_change_();
}

void SliceTable::AddThread(ThreadMonitor* thread) {
  const std::lock_guard<std::mutex> lock(mutex_);
  threads_.push_back(thread);
  thread->ShowSlices(set_.get());
}

void SliceTable::RemoveThread(ThreadMonitor* thread) {
  const std::lock_guard<std::mutex> lock(mutex_);
  threads_.erase(std::remove(threads_.begin(), threads_.end(), thread), threads_.end());
}

void SliceTable::SetPlaces(SlicePlaces places) {
  const std::lock_guard<std::mutex> lock(mutex_);
  places_ = std::move(places);
}

void SliceTable::Configure(uint32_t base, const ParseOptions& parse) {
  const std::lock_guard<std::mutex> lock(mutex_);
  mark_base_ = base << kSliceTagBits;
  parse_ = parse;
}

void SliceTable::Allow(bool is_allowed, Nanos now) {
  bool was_any_on = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    was_any_on = is_any_on();
    is_allowed_ = is_allowed;
    if (!is_allowed && !slices_.empty()) Publish({}, now);
  }
  Tell(was_any_on);
}

Status SliceTable::Check(const SliceSpec& spec) const {
  if (!is_allowed_) return Status::Error("the monitor of this switch is off");
  if (spec.tag == 0 || spec.tag > kMaxSliceTag) {
    return Status::Error("tag is " + std::to_string(spec.tag) + "; it takes 1 to " +
                         std::to_string(kMaxSliceTag));
  }
  if (spec.duration <= 0 || static_cast<uint64_t>(spec.duration) > kMaxSliceNs) {
    return Status::Error("a slice lasts more than nothing and at most an hour");
  }
  if (slices_.size() >= kMaxSlices) {
    return Status::Error(std::to_string(kMaxSlices) + " slices are on; that is the most");
  }
  Nanos work = TestWorkOf(spec.filter);
  for (const auto& slice : slices_) work += TestWorkOf(slice->spec().filter);
  if (work > kMaxSliceTestWork) {
    return Status::Error("with it the filters of the slices that are on would take up to " +
                         std::to_string(work) + " ns of every packet; " +
                         std::to_string(kMaxSliceTestWork) +
                         " are the most, of which prefixes, ports and protocols take none");
  }
  for (const auto& slice : slices_) {
    const SliceSpec& other = slice->spec();
    if (IsOneOf(other, spec.bridge, spec.tag) || IsOneOf(spec, other.bridge, other.tag)) {
      return Status::Error(NameOf(other) + " is on already");
    }
  }
  return Status::Ok();
}

Result<std::optional<std::vector<uint32_t>>> SliceTable::PortsOf(const std::string& bridge) const {
  if (bridge.empty()) return std::optional<std::vector<uint32_t>>();
  const auto found = places_.ports_of.find(bridge);
  if (found == places_.ports_of.end()) {
    return Status::Error("no bridge '" + bridge + "' is known");
  }
  const std::vector<std::string>& names = found->second;
  std::vector<uint32_t> numbers;
  for (const PortInfo& port : ports_->List()) {
    if (std::find(names.begin(), names.end(), port.name) != names.end()) {
      numbers.push_back(port.number);
    }
  }
  return std::optional<std::vector<uint32_t>>(std::move(numbers));
}

Status SliceTable::TurnOn(SliceSpec spec, Nanos now) {
  bool was_any_on = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    was_any_on = is_any_on();
    Status status = Check(spec);
    auto ports =
        status.ok() ? PortsOf(spec.bridge) : Result<std::optional<std::vector<uint32_t>>>(status);
    if (!ports.ok()) {
      ++totals_.refused;
      return ports.status();
    }
    Slices next = slices_;
    next.push_back(std::make_shared<LiveSlice>(std::move(spec), std::move(*ports), now));
    Publish(std::move(next), now);
    ++totals_.turned_on;
  }
  Tell(was_any_on);
  return Status::Ok();
}

void SliceTable::TurnOff(const std::string& bridge, uint32_t tag, Nanos now) {
  bool was_any_on = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    was_any_on = is_any_on();
    Slices next;
    for (const auto& slice : slices_) {
      if (!IsOneOf(slice->spec(), bridge, tag)) next.push_back(slice);
    }
    if (next.size() < slices_.size()) Publish(std::move(next), now);
  }
  Tell(was_any_on);
}

void SliceTable::EndDue(Nanos now) {
  if (!is_any_on()) return;
  bool was_any_on = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    was_any_on = is_any_on();
    Slices next;
    for (const auto& slice : slices_) {
      if (now < slice->deadline()) next.push_back(slice);
    }
    if (next.size() < slices_.size()) Publish(std::move(next), now);
  }
  Tell(was_any_on);
}

void SliceTable::Publish(Slices next, Nanos now) {
  std::unique_ptr<const SliceSet> set;
  if (!next.empty()) {
    set = std::make_unique<SliceSet>(next, mark_base_, places_.analyzers, parse_);
    // For what is on, which threads may still use, and for this set when its turn comes: slices
    // that are on can always be taken away, if memory has run out too.
    retired_.reserve(retired_.size() + 2);
  }
  for (ThreadMonitor* thread : threads_) thread->ShowSlices(set.get());
  std::swap(set_, set);
  std::swap(slices_, next);
  if (set != nullptr) retired_.push_back(std::move(set));
  if (WaitUntilLeft(threads_)) retired_.clear();
  is_any_on_.store(!slices_.empty());
  for (const auto& slice : next) {
    if (std::find(slices_.begin(), slices_.end(), slice) != slices_.end()) continue;
    try {
      NoteEnd(*slice, now);
    } catch (const std::exception&) {
      // It is off; there is only no memory to note what it was.
    }
  }
}

void SliceTable::NoteEnd(const LiveSlice& slice, Nanos now) {
  const HostSliceEnd end = EndOf(slice, now);
  totals_.packets += end.packets;
  totals_.bytes += end.bytes;
  totals_.withheld += end.withheld;
  if (totals_.ended.size() == kMaxShown) totals_.ended.pop_front();
  totals_.ended.push_back({end, end.packets > 0 ? slice.counts().first - slice.on() : 0});
  if (ends_.size() == kMaxEnds) ends_.erase(ends_.begin());
  ends_.push_back(end);
}

std::vector<HostSliceEnd> SliceTable::TakeEnds() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(ends_, {});
}

Nanos SliceTable::next_deadline() const {
  if (!is_any_on()) return INT64_MAX;
  const std::lock_guard<std::mutex> lock(mutex_);
  Nanos next = INT64_MAX;
  for (const auto& slice : slices_) next = std::min(next, slice->deadline());
  return next;
}

SliceTableStatus SliceTable::Snapshot(Nanos now) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  SliceTableStatus status = totals_;
  status.mark_base = mark_base_;
  for (const auto& slice : slices_) {
    const Nanos left = std::max<Nanos>(0, slice->deadline() - now);
    status.on.push_back({slice->spec().bridge, slice->spec().tag, left, slice->counts()});
  }
  return status;
}

}  // namespace trumpet
