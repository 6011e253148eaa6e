// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages that can be long, in parts.
//
// Threads: functions without state; any.

#ifndef TRUMPET_LIB_WIRE_MESSAGE_PARTS_H
#define TRUMPET_LIB_WIRE_MESSAGE_PARTS_H

#include <cstddef>
#include <cstdint>

#include "lib/base/status.h"
#include "lib/wire/codec.h"

namespace trumpet {

// Cut what can be long into messages whose frames have at most `max_bytes`, and hand them to
// `send`, in order.  An error if one item alone is longer; nothing was sent then.
Status SplitTriggerSet(TriggerSet set, size_t max_bytes, const SendMessage& send);
Status SplitHostFacts(HostFacts facts, size_t max_bytes, const SendMessage& send);

// How many buckets of `key_bytes` at most surely fit into one Partials message; at least 1 for
// every event whose cells fit at all.
size_t MaxBucketsInPartials(uint32_t words_per_bucket, size_t key_bytes, size_t max_bytes);

// Makes `with` claim what `range` does, too: of every event, if they are of two.
void JoinRange(const IncompleteRange& range, IncompleteRange* with);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_MESSAGE_PARTS_H
