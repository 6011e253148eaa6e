// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Codec: messages as bytes of a frame, and back.
//
// Decoding is strict: every number is checked against its range, every size against its limit,
// unknown values of enumerations are refused, and trees have the shape that the event language
// gives them, so that nothing behind this needs to doubt a decoded value.  Errors name the place:
// `trigger_set.changes[3].put.event.predicate.args[0].op is 77; it takes 1 to 18`.
//
// Threads: functions without state; any.  Memory: see limits.h.

#ifndef TRUMPET_LIB_WIRE_CODEC_H
#define TRUMPET_LIB_WIRE_CODEC_H

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "lib/base/status.h"
#include "lib/wire/message.h"

namespace trumpet {

Result<Message> DecodeMessage(std::string_view frame);
// The same without the short way for Partials: its twin.
Result<Message> DecodeByProtobuf(std::string_view frame);

// Appends the frame, without its length, to `frame`.  An error if the message breaks a limit or is
// longer than `max_bytes`; `frame` is as it was then.
Status EncodeMessage(const Message& message, size_t max_bytes, std::string* frame);

// The change as it stands in every TriggerSet, for TriggerSet::encoded_changes.
Result<std::string> EncodeTriggerChange(const TriggerChange& change);

// Cut what can be long into messages whose frames have at most `max_bytes`, and hand them to
// `send`, in order.  An error if one item alone is longer; nothing was sent then.
using SendMessage = std::function<void(Message&&)>;
Status SplitTriggerSet(TriggerSet set, size_t max_bytes, const SendMessage& send);
Status SplitHostFacts(HostFacts facts, size_t max_bytes, const SendMessage& send);

// How many buckets of `key_bytes` at most surely fit into one Partials message; at least 1 for
// every event whose cells fit at all.
size_t MaxBucketsInPartials(uint32_t words_per_bucket, size_t key_bytes, size_t max_bytes);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_CODEC_H
