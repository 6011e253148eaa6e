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

// What the frame of the message takes, as far as it is encoded here (not encoded_changes).
size_t EncodedBytes(const Message& message);

// Takes messages that go out, one after the other.
using SendMessage = std::function<void(Message&&)>;

// Room for what stands before an element of a list: its tag and length.
inline constexpr size_t kElementHeadBytes = 8;

// The error of what is too long for a frame.
Status TooLong(const std::string& what, size_t bytes, size_t max_bytes);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_CODEC_H
