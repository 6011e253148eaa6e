// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HostPlace on the wire: checked, written and read; cut into parts and put together again.

#ifndef TRUMPET_LIB_WIRE_PLACE_CODEC_H
#define TRUMPET_LIB_WIRE_PLACE_CODEC_H

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/base/status.h"
#include "lib/model/host_place.h"
#include "lib/wire/check.h"
#include "lib/wire/codec.h"
#include "lib/wire/message.h"

namespace trumpet {

namespace pb {
class AddressSet;
class HostPlace;
}  // namespace pb

bool Check(const pb::AddressSet& set, const Place& place, Checker* checker);
void Write(const AddressSet& set, pb::AddressSet* out);
AddressSet Read(const pb::AddressSet& in);

bool Check(const pb::HostPlace& part, const Place& place, Checker* checker);
void Write(const HostPlacePart& part, pb::HostPlace* out);
HostPlacePart Read(const pb::HostPlace& in);

// Hands `place` to `send` in parts whose frames have at most `max_bytes`, which must be 4096 or
// more.  An error, and nothing is sent, if it is larger than the protocol allows.
Status SplitHostPlace(const HostPlace& place, uint64_t generation, size_t max_bytes,
                      const SendMessage& send);

// What an agent does with the parts.
//
// Threads: one.  Memory: one place within the limits.
class HostPlaceParts {
 public:
  struct Whole {
    uint64_t generation = 0;
    HostPlace place;
  };

  // The place, when `part` was its last one.  An error if the part is not the next one or there is
  // too much; what was collected is forgotten then.
  Result<std::optional<Whole>> Add(HostPlacePart part);
  // The session has ended.
  void Forget() { *this = HostPlaceParts(); }

 private:
  uint32_t next_part_ = 0;
  Whole whole_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_PLACE_CODEC_H
