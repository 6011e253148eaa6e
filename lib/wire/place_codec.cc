// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/place_codec.h"

#include <string>
#include <utility>
#include <vector>

#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

constexpr size_t kIpv6Bytes = 16;
constexpr uint64_t kLargestMac = (uint64_t{1} << 48) - 1;

static_assert(pb::CAPABILITY_PLACE == kCapabilityPlace);

uint8_t LengthAt(const std::string& lengths, int i) {
  return static_cast<uint8_t>(lengths[static_cast<size_t>(i)]);
}

Uint128 LoadAddress(const std::string& bytes, size_t index) {
  Uint128 address = 0;
  for (size_t i = 0; i < kIpv6Bytes; ++i) {
    address = address << 8 | static_cast<uint8_t>(bytes[index * kIpv6Bytes + i]);
  }
  return address;
}

void AppendAddress(Uint128 address, std::string* bytes) {
  for (int shift = 120; shift >= 0; shift -= 8) {
    bytes->push_back(static_cast<char>(static_cast<uint8_t>(address >> shift)));
  }
}

bool CheckLengths(const std::string& lengths, size_t count, uint8_t most, const char* name,
                  const Place& place, Checker* checker) {
  if (lengths.size() != count) {
    return checker->Fail(place, name,
                         "has " + std::to_string(lengths.size()) + " bytes for " +
                             std::to_string(count) + " addresses");
  }
  for (const char length : lengths) {
    if (!checker->Range(place, name, static_cast<uint8_t>(length), 0, most)) return false;
  }
  return true;
}

Status CheckSize(const AddressSet& set, const char* whose) {
  if (set.prefixes.size() > kMaxPlacePrefixes) {
    return Status::Error("a place has " + std::to_string(set.prefixes.size()) + " " + whose +
                         " prefixes; at most " + std::to_string(kMaxPlacePrefixes) +
                         " are allowed");
  }
  if (set.macs.size() > kMaxPlaceMacs) {
    return Status::Error("a place has " + std::to_string(set.macs.size()) + " " + whose +
                         " MACs; at most " + std::to_string(kMaxPlaceMacs) + " are allowed");
  }
  return Status::Ok();
}

// Hands out parts as they fill up.
class PartSender {
 public:
  PartSender(uint64_t generation, size_t max_bytes, const SendMessage& send)
      : room_(max_bytes - kHeadBytes), send_(send) {
    part_.generation = generation;
    part_.is_last = false;
  }

  void Add(const AddressSet& set, AddressSet HostPlacePart::*into) {
    for (const Prefix& prefix : set.prefixes) {
      Take(prefix.is_ipv6 ? kIpv6Bytes + 1 : sizeof(uint32_t) + 1);
      (part_.*into).prefixes.push_back(prefix);
    }
    for (const uint64_t mac : set.macs) {
      Take(sizeof(uint64_t));
      (part_.*into).macs.push_back(mac);
    }
  }

  void Finish() {
    part_.is_last = true;
    send_(std::move(part_));
  }

 private:
  static constexpr size_t kHeadBytes = 256;  // numbers; tags and lengths of two sets

  void Take(size_t bytes) {
    if (used_ + bytes > room_) {
      HostPlacePart next;
      next.generation = part_.generation;
      next.part = part_.part + 1;
      next.is_last = false;
      send_(std::move(part_));
      part_ = std::move(next);
      used_ = 0;
    }
    used_ += bytes;
  }

  const size_t room_;
  const SendMessage& send_;
  HostPlacePart part_;
  size_t used_ = 0;
};

void Append(AddressSet&& from, AddressSet* into) {
  into->prefixes.insert(into->prefixes.end(), from.prefixes.begin(), from.prefixes.end());
  into->macs.insert(into->macs.end(), from.macs.begin(), from.macs.end());
}

}  // namespace

bool Check(const pb::AddressSet& set, const Place& place, Checker* checker) {
  if (set.ipv6().size() % kIpv6Bytes != 0) {
    return checker->Fail(place, "ipv6",
                         "has " + std::to_string(set.ipv6().size()) + " bytes, not 16 for each");
  }
  const size_t ipv4_count = static_cast<size_t>(set.ipv4_size());
  const size_t ipv6_count = set.ipv6().size() / kIpv6Bytes;
  if (!checker->Count(place, "ipv4", ipv4_count, kMaxPlacePrefixes) ||
      !checker->Count(place, "ipv6", ipv6_count, kMaxPlacePrefixes) ||
      !checker->Count(place, "macs", set.macs_size(), kMaxPlaceMacs) ||
      !CheckLengths(set.ipv4_lengths(), ipv4_count, 32, "ipv4_lengths", place, checker) ||
      !CheckLengths(set.ipv6_lengths(), ipv6_count, 128, "ipv6_lengths", place, checker)) {
    return false;
  }
  for (const uint64_t mac : set.macs()) {
    if (!checker->Range(place, "macs", mac, 0, kLargestMac)) return false;
  }
  return true;
}

void Write(const AddressSet& set, pb::AddressSet* out) {
  for (const Prefix& prefix : set.prefixes) {
    const auto length = static_cast<char>(prefix.length);
    if (prefix.is_ipv6) {
      AppendAddress(prefix.address, out->mutable_ipv6());
      out->mutable_ipv6_lengths()->push_back(length);
    } else {
      out->add_ipv4(static_cast<uint32_t>(prefix.address));
      out->mutable_ipv4_lengths()->push_back(length);
    }
  }
  out->mutable_macs()->Add(set.macs.begin(), set.macs.end());
}

AddressSet Read(const pb::AddressSet& in) {
  AddressSet set;
  set.prefixes.reserve(in.ipv4_lengths().size() + in.ipv6_lengths().size());
  for (int i = 0; i < in.ipv4_size(); ++i) {
    set.prefixes.push_back({false, in.ipv4(i), LengthAt(in.ipv4_lengths(), i)});
  }
  for (size_t i = 0; i < in.ipv6_lengths().size(); ++i) {
    set.prefixes.push_back(
        {true, LoadAddress(in.ipv6(), i), LengthAt(in.ipv6_lengths(), static_cast<int>(i))});
  }
  set.macs.assign(in.macs().begin(), in.macs().end());
  return set;
}

bool Check(const pb::HostPlace& part, const Place& place, Checker* checker) {
  return checker->Range(place, "generation", part.generation(), 1, UINT64_MAX) &&
         checker->Count(place, "part", part.part(), kMaxPlaceParts) &&
         Check(part.own(), Place(place, "own"), checker) &&
         Check(part.monitored(), Place(place, "monitored"), checker);
}

void Write(const HostPlacePart& part, pb::HostPlace* out) {
  out->set_generation(part.generation);
  out->set_part(part.part);
  out->set_is_last(part.is_last);
  Write(part.own, out->mutable_own());
  Write(part.monitored, out->mutable_monitored());
}

HostPlacePart Read(const pb::HostPlace& in) {
  return {in.generation(), in.part(), in.is_last(), Read(in.own()), Read(in.monitored())};
}

Status SplitHostPlace(const HostPlace& place, uint64_t generation, size_t max_bytes,
                      const SendMessage& send) {
  if (Status status = CheckSize(place.own, "own"); !status.ok()) return status;
  if (Status status = CheckSize(place.monitored, "monitored"); !status.ok()) return status;
  PartSender sender(generation, max_bytes, send);
  sender.Add(place.own, &HostPlacePart::own);
  sender.Add(place.monitored, &HostPlacePart::monitored);
  sender.Finish();
  return Status::Ok();
}

Result<std::optional<HostPlaceParts::Whole>> HostPlaceParts::Add(HostPlacePart part) {
  if (part.part == 0) Forget();
  const bool is_next =
      part.part == next_part_ && (part.part == 0 || part.generation == whole_.generation);
  if (!is_next) {
    Forget();
    return Status::Error("part " + std::to_string(part.part) + " of place " +
                         std::to_string(part.generation) + " does not follow what came before");
  }
  ++next_part_;
  whole_.generation = part.generation;
  Append(std::move(part.own), &whole_.place.own);
  Append(std::move(part.monitored), &whole_.place.monitored);
  Status size = CheckSize(whole_.place.own, "own");
  if (size.ok()) size = CheckSize(whole_.place.monitored, "monitored");
  if (!size.ok()) {
    Forget();
    return size;
  }
  if (!part.is_last) return std::optional<Whole>();
  std::optional<Whole> whole(std::move(whole_));
  Forget();
  return whole;
}

}  // namespace trumpet
