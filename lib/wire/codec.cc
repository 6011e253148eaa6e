// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/codec.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "lib/wire/check.h"
#include "lib/wire/frame_body.h"
#include "lib/wire/limits.h"
#include "lib/wire/partials_reader.h"

namespace trumpet {
namespace {

bool CheckFrame(const pb::Frame& frame, Checker* checker) {
  if (frame.body_case() == pb::Frame::BODY_NOT_SET) {
    return checker->Fail(Place("frame"), "holds no message that is known");
  }
  const Place place(kFrameBodyNames[KindOfBody(frame.body_case())]);
  return VisitFrameBody(frame, [&](const auto& body) { return Check(body, place, checker); });
}

// One for each message: protobuf's objects come and go with it, those of a small one without any
// other memory, the others in a few large blocks.
class FrameHolder {
 public:
  FrameHolder()
      : arena_(Options(first_block_, sizeof first_block_)),
        frame_(google::protobuf::Arena::CreateMessage<pb::Frame>(&arena_)) {}
  FrameHolder(const FrameHolder&) = delete;
  FrameHolder& operator=(const FrameHolder&) = delete;
  pb::Frame& frame() { return *frame_; }

 private:
  static google::protobuf::ArenaOptions Options(char* first_block, size_t bytes) {
    google::protobuf::ArenaOptions options;
    options.initial_block = first_block;
    options.initial_block_size = bytes;
    options.start_block_size = 4096;
    options.max_block_size = 64 * 1024;
    return options;
  }

  alignas(8) char first_block_[2048];
  google::protobuf::Arena arena_;
  pb::Frame* frame_;
};

}  // namespace

const char* MessageKindName(MessageKind kind) { return kFrameBodyNames[static_cast<size_t>(kind)]; }

size_t EncodedBytes(const Message& message) {
  FrameHolder holder;
  std::visit(FrameBodyWriter{&holder.frame()}, message);
  return holder.frame().ByteSizeLong();
}

Status TooLong(const std::string& what, size_t bytes, size_t max_bytes) {
  return Status::Error(what + " takes " + std::to_string(bytes) + " bytes; at most " +
                       std::to_string(max_bytes) + " are allowed");
}

Result<Message> DecodeMessage(std::string_view bytes) {
  Partials partials;
  if (ReadPartialsFrame(bytes, &partials)) return Message(std::move(partials));
  return DecodeByProtobuf(bytes);
}

Result<Message> DecodeByProtobuf(std::string_view bytes) {
  FrameHolder holder;
  if (bytes.size() > INT_MAX ||
      !holder.frame().ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Status::Error("frame of " + std::to_string(bytes.size()) +
                         " bytes is no protobuf message of this protocol");
  }
  Checker checker;
  if (!CheckFrame(holder.frame(), &checker)) return Status::Error(checker.error());
  std::optional<Message> message;
  VisitFrameBody(holder.frame(), [&](const auto& body) {
    message = Read(body);
    return true;
  });
  return std::move(*message);
}

namespace {

// Behind what the frame says itself: changes are the last field of a set.
Status AppendChanges(const TriggerSet& set, const pb::TriggerSet& head, size_t max_bytes,
                     std::string* frame) {
  using google::protobuf::io::CodedOutputStream;
  if (set.changes.size() + set.encoded_changes.size() > kMaxTriggerChanges) {
    return Status::Error("trigger_set.changes has more than " + std::to_string(kMaxTriggerChanges) +
                         " elements");
  }
  const size_t head_bytes = head.ByteSizeLong();
  size_t bytes = head_bytes;
  for (const auto& change : set.encoded_changes) bytes += change->size();
  if (bytes + kElementHeadBytes > max_bytes) return TooLong("trigger_set", bytes, max_bytes);
  uint8_t tag[kElementHeadBytes];
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray(pb::Frame::kTriggerSet << 3 | 2, tag);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(bytes), end);
  frame->reserve(frame->size() + kElementHeadBytes + bytes);
  frame->append(reinterpret_cast<const char*>(tag), static_cast<size_t>(end - tag));
  const size_t at = frame->size();
  frame->resize(at + head_bytes);
  head.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(&(*frame)[at]));
  for (const auto& change : set.encoded_changes) frame->append(*change);
  return Status::Ok();
}

}  // namespace

Status EncodeMessage(const Message& message, size_t max_bytes, std::string* frame) {
  FrameHolder holder;
  std::visit(FrameBodyWriter{&holder.frame()}, message);
  Checker checker;
  if (!CheckFrame(holder.frame(), &checker)) return Status::Error(checker.error());
  const auto* const set = std::get_if<TriggerSet>(&message);
  if (set != nullptr && !set->encoded_changes.empty()) {
    return AppendChanges(*set, holder.frame().trigger_set(), max_bytes, frame);
  }
  const size_t size = holder.frame().ByteSizeLong();
  if (size > max_bytes) return TooLong(MessageKindName(KindOf(message)), size, max_bytes);
  const size_t at = frame->size();
  frame->resize(at + size);
  holder.frame().SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(&(*frame)[at]));
  return Status::Ok();
}

Result<std::string> EncodeTriggerChange(const TriggerChange& change) {
  FrameHolder holder;
  pb::TriggerSet* const set = holder.frame().mutable_trigger_set();
  TriggerSet one;
  one.generation = 2;
  one.base_generation = 1;  // only a change to a base may remove
  one.changes.push_back(change);
  Write(one, set);
  Checker checker;
  if (!CheckFrame(holder.frame(), &checker)) return Status::Error(checker.error());
  set->set_generation(0);
  set->set_base_generation(0);
  set->set_is_last(false);
  return set->SerializeAsString();
}

}  // namespace trumpet
